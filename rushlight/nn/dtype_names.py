"""Dtypes that functions of layers name.  A global may change; what a module holds is a constant."""

from __future__ import annotations

from ..ops.dtype import DTYPES

__all__ = ["boolean", "int64"]

boolean = DTYPES["bool"]
int64 = DTYPES["int64"]
