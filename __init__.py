"""The checkout of rushlight: its parts, its tests and its tools.  The package is `rushlight/`."""
