"""Operators, attributes, displays, conditions, and what loops run over."""
