"""Conjugates and negatives that share the memory of what they are of."""
