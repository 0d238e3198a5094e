"""Whole calls of scripted code: what they did, as one node, and the way back through them."""
