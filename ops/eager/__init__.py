"""Eager calls: Python's arguments to operators, and the names under which they are found."""
