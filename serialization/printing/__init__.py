"""Graphs and classes as source text, as archives hold it."""
