"""The typed tree, its text, and what exists only while checking."""
