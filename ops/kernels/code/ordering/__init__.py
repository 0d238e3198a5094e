"""Orders, counts and searches."""
