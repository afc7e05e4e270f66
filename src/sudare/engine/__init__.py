"""Where heavy work runs: expressions for engines and databases, numba kernels over arrays."""
