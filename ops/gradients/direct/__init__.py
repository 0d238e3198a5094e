"""Gradients in forms of their own, for where they need no gradients themselves."""
