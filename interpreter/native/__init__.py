"""Native code of functions that are hot."""
