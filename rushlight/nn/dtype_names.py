"""Dtypes and memory formats that functions of layers name.

A global may change; what a module holds is a constant in script.
"""

from __future__ import annotations

from ..ops.memory.dtype import DTYPES, MEMORY_FORMATS

__all__ = ["bfloat16", "boolean", "contiguous_format", "float16", "int64"]

bfloat16 = DTYPES["bfloat16"]
boolean = DTYPES["bool"]
float16 = DTYPES["float16"]
int64 = DTYPES["int64"]
contiguous_format = MEMORY_FORMATS["contiguous_format"]
