"""Source texts, the places in them, and the lines of live functions."""
