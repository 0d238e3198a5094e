"""Rows to come."""
