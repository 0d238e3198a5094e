"""Calling functions, and modules as a whole."""
