"""Numba kernels: arrays in, arrays out; they know nothing of files, roles or engines."""
