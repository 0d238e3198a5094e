"""Expressions over arrays, element by element."""
