"""Every way out: files are written whole or not at all."""

SIDECAR = ".sudare.json"  # what a release says of itself, in a file beside it
