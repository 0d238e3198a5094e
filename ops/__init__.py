"""Tensors and the operator table.

Importing this part fills the table: each family file declares its operators there.
"""

from . import (
    containers,
    convert,
    elementwise,
    scalar,
    scalar_maths,
    strings,
)

__all__ = ["containers", "convert", "elementwise", "scalar", "scalar_maths", "strings"]
