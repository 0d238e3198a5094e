"""The operators of special functions, by the names that pickles of torch's have for them."""

from __future__ import annotations

from .operator_names import operators_named

__all__: list[str] = []

__getattr__ = operators_named(__name__, "special_")
