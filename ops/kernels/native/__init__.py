"""Kernels compiled by numba; only `ops.kernels.family` imports these files."""
