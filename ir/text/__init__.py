"""Graphs as text and as data, and back."""
