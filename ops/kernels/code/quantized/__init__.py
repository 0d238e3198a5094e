"""Products and convolutions of bytes, and the grids that floats are rounded to."""
