"""Calls of kernels: on several threads, in rows, and such as are known beforehand."""
