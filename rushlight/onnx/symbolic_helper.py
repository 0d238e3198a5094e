"""`torch.onnx.symbolic_helper`: decorators of functions that say how operators are exported."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ..module_names import names_of

__all__ = ["parse_args", "quantized_args"]

Symbolic = TypeVar("Symbolic", bound=Callable[..., object])


def parse_args(*arg_descriptors: str) -> Callable[[Symbolic], Symbolic]:
    """Say which arguments are values (`v`), numbers (`i`, `f`), texts (`s`) or lists (`is`)."""

    def note(function: Symbolic) -> Symbolic:
        function._arg_descriptors = arg_descriptors  # type: ignore[attr-defined]
        return function

    return note


def quantized_args(*arg_q_descriptors: bool, **options: object) -> Callable[[Symbolic], Symbolic]:
    """Say which arguments may be quantized."""

    def note(function: Symbolic) -> Symbolic:
        function._quantized_arguments = arg_q_descriptors, options  # type: ignore[attr-defined]
        return function

    return note


__getattr__ = names_of(__name__)
