"""The table of functions that modules of old held, which pickles ask for by name."""

from __future__ import annotations


def _get_thnn_function_backend() -> None:
    """Nothing: modules look for their functions elsewhere."""
