"""Diagnostics, the table of their codes, and the forms they are shown in."""
