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
    grad_mode,
    index,
    join,
    linalg,
    maths,
    output,
    query,
    random_ops,
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
    "grad_mode",
    "index",
    "join",
    "linalg",
    "maths",
    "output",
    "query",
    "random_ops",
    "reduce",
    "scalar",
    "scalar_maths",
    "shape",
    "strings",
]
