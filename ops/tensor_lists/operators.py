"""The operators `_foreach_...` of `torch.ops.aten`: the functions, each by its schemas."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ..eager.open_operators import OpenOperator
from ..table.table import TABLE
from .functions import ONE, foreach_function

__all__: list[str] = []

_BOUNDS: Final = "clamp_max clamp_min maximum minimum"

_SCHEMAS: Final = (
    ("(Tensor[] self) -> Tensor[]", f"{' '.join(ONE)} max"),
    ("(Tensor[] self, *, MemoryFormat? memory_format=None) -> Tensor[]", "clone"),
    ("(Tensor[] self, Tensor[] mat2) -> Tensor[]", "mm"),
    (".Scalar(Tensor[] self, Scalar ord=2, ScalarType? dtype=None) -> Tensor[]", "norm powsum"),
    (".Scalar(Tensor[] self, Scalar scalar) -> Tensor[]", f"{_BOUNDS} add div mul sub"),
    (".List(Tensor[] self, Tensor[] other) -> Tensor[]", f"{_BOUNDS} div mul"),
    (".List(Tensor[] self, Tensor[] other, *, Scalar alpha=1) -> Tensor[]", "add sub"),
    (".List(Tensor[] self, Tensor[] tensors1, Tensor[] weights) -> Tensor[]", "lerp"),
    (".List(Tensor[] self, Tensor[] exponent) -> Tensor[]", "pow"),
    (".Scalar(Tensor[] self, Tensor[] tensors1, Scalar weight) -> Tensor[]", "lerp"),
    (".Scalar(Tensor[] self, Scalar exponent) -> Tensor[]", "pow"),
    (
        ".Scalar(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar value=1) -> Tensor[]",
        "addcdiv addcmul",
    ),
    (".ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]", f"{_BOUNDS} add div mul sub"),
    (".ScalarList(Tensor[] self, Tensor[] tensors1, Scalar[] weight) -> Tensor[]", "lerp"),
    (".ScalarList(Tensor[] self, Scalar[] exponent) -> Tensor[]", "pow"),
    (
        ".ScalarList(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar[] scalars)"
        " -> Tensor[]",
        "addcdiv addcmul",
    ),
    (".ScalarAndTensor(Scalar self, Tensor[] exponent) -> Tensor[]", "pow"),
    (".Tensor(Tensor[] self, Tensor other) -> Tensor[]", "div mul"),
    (".Tensor(Tensor[] self, Tensor other, *, Scalar alpha=1) -> Tensor[]", "add"),
    (
        ".Tensor(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Tensor scalars) -> Tensor[]",
        "addcdiv addcmul",
    ),
    ("(Tensor(a!)[] self) -> ()", "zero_"),
    ("(Tensor(a!)[] self, Tensor[] src, bool non_blocking=False) -> ()", "copy_"),
)
"""Overloads, and the functions that have them; those of new tensors have twins that write."""


def _declare(name: str, schema: str) -> None:
    function = foreach_function(name)
    assert function is not None
    kernel: Callable[..., object] = function
    if schema.endswith("()"):
        kernel = _silent(function)
    entry = OpenOperator(f"aten::{name}{schema}", face="operator")
    entry.kernels["CompositeImplicitAutograd"] = kernel
    TABLE.add(entry)


def _silent(function: Callable[..., object]) -> Callable[..., object]:
    """The function, which writes its tensors, without what Python gets for it."""

    def run(*args: object, **kwargs: object) -> None:
        function(*args, **kwargs)

    return run


for _schema, _names in _SCHEMAS:
    for _name in _names.split():
        _declare(f"_foreach_{_name}", _schema)
        if foreach_function(f"_foreach_{_name}_") is not None and "(Scalar self" not in _schema:
            _written = _schema.replace("(Tensor[] self", "(Tensor(a!)[] self")
            _declare(f"_foreach_{_name}_", _written.replace("-> Tensor[]", "-> ()"))
