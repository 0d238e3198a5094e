"""Bounds on what is asked for, and the clock by which code that is not trusted is read."""
