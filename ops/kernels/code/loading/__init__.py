"""Texts into objects, and objects into memory: compiled, from disk, or of the C library."""
