"""Statements, bodies of functions, and the checker of a whole one."""
