"""Tensors and the operator table.

Importing this part fills the table: each family file declares its operators there.
"""

from . import (
    activation,
    comparison,
    containers,
    convert,
    creation,
    elementwise,
    index,
    join,
    linalg,
    maths,
    query,
    reduce,
    scalar,
    scalar_maths,
    shape,
    strings,
)

__all__ = [
    "activation",
    "comparison",
    "containers",
    "convert",
    "creation",
    "elementwise",
    "index",
    "join",
    "linalg",
    "maths",
    "query",
    "reduce",
    "scalar",
    "scalar_maths",
    "shape",
    "strings",
]
