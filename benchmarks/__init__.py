"""Side by side with the peers: one module per idea, each with its WORKS; `python -m benchmarks` runs them all."""
