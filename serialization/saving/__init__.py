"""Writing archives."""
