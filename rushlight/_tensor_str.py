"""`torch._tensor_str`: the text of tensors, as packages ask for it."""

from __future__ import annotations

from .ops.tensors.display import PRINT_OPTIONS as PRINT_OPTS
from .ops.tensors.display import format_elements, set_printoptions
from .ops.tensors.tensor import Tensor

__all__ = ["PRINT_OPTS", "set_printoptions"]


def _tensor_str(self: Tensor, indent: int) -> str:
    """The elements of a tensor in nested brackets, lines after the first indented so far."""
    array = self.detach().resolve_conj()._array
    return format_elements(array, indent) if array.size else "[]"


def _str(self: Tensor, *, tensor_contents: str | None = None) -> str:
    """What `repr(tensor)` gives."""
    return repr(self)
