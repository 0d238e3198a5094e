"""Which values may be the same object or share memory, and what changes them."""
