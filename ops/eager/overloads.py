"""What an overload's record says about its calls from Python."""

from __future__ import annotations

from typing import Final

from ...typecheck.types.types import INT, TENSOR, ListType
from ..table.table import Operator

__all__ = ["gives_list", "is_for_python"]


def _is_about_tensors(entry: Operator) -> bool:
    """Whether an overload takes or gives tensors: others belong to script alone."""
    types = [a.type.inner for a in (*entry.signature.arguments, *entry.signature.returns)]
    return any((type.list_of or type).inner == TENSOR for type in types)


_SCRIPT_ONLY: Final = ("hacked_twin", "list_Tensor", "Tensor_list", "prim_")


def is_for_python(entry: Operator) -> bool:
    if any(word in entry.overload for word in _SCRIPT_ONLY) or entry.is_out_form:
        return False
    first = entry.signature.arguments[:1]
    if first and first[0].type.list_of == TENSOR:
        return entry.overload not in ("Tensor", "el")
    if first and (first[0].type.is_variable or first[0].type.list_of is not None):
        return not first or first[0].type == ListType(INT)
    return _is_about_tensors(entry) or entry.name.startswith("quantized::")  # packed weights


def gives_list(entry: Operator) -> bool:
    """Whether the one result is a list: with `out=` such functions give nothing back."""
    returned = entry.signature.returns
    return len(returned) == 1 and returned[0].type.list_of is not None
