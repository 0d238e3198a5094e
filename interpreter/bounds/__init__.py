"""Bounds on what untrusted code may use up."""
