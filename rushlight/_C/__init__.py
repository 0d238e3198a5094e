"""Operators under the names that torch gives its compiled part."""
