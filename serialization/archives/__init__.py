"""Opening a file of any kind, and telling what it could do."""
