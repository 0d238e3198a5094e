"""Calls, and the forms that are called."""
