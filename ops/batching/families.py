"""How operators run on all slices at once: families of them, by what their records say.

What is in no family runs slice by slice.
"""

from __future__ import annotations

from functools import cache
from typing import Final, Literal

from ..table.record import Operator
from ..table.table import TABLE

__all__ = ["Family", "family_of", "is_random", "sizes_depend_on_data"]

Family = Literal["", "elements", "dims", "sizes", "products", "rows"]
"""`elements`: each element by itself; `dims`: along dimensions that arguments name; `sizes`: views
of given sizes; `products`: of matrices, which broadcast; `rows`: of each row along the last
dimension."""

_OF_ELEMENTS: Final = ("special_functions", "arithmetic")
_PLAIN: Final = ("Tensor", "Scalar", "int", "float", "bool", "str", "Layout", "Device")
_DIMS: Final = frozenset(
    """sum mean prod amax amin argmax argmin all any logsumexp softmax log_softmax cumsum cumprod
    std var nansum nanmean logcumsumexp count_nonzero argsort sort topk cummax cummin median
    nanmedian mode kthvalue select narrow transpose swapaxes swapdims unsqueeze flip unbind chunk
    split split_with_sizes tensor_split movedim moveaxis diff flatten glu unflatten index_select
    linalg_vector_norm norm permute squeeze max min diagonal gather take_along_dim""".split()
)
_PRODUCTS: Final = frozenset("matmul mm bmm mv dot linear inner".split())
_SIZES: Final = frozenset("view reshape expand".split())


@cache
def family_of(name: str) -> Family:
    """The family of an operator, `aten::add`."""
    short = name.removeprefix("aten::")
    if short in _DIMS:
        return "dims"
    if short in _PRODUCTS:
        return "products"
    if short in _SIZES:
        return "sizes"
    entries = TABLE.operators(name)
    if short.endswith("_") and not short.startswith("_"):
        of_twin = family_of(f"aten::{short[:-1]}") if TABLE.operators(f"aten::{short[:-1]}") else ""
        return "elements" if of_twin == "elements" else ""
    return "elements" if entries and all(map(_by_elements, entries)) else ""


def _by_elements(entry: Operator) -> bool:
    """Whether an overload computes each element by itself."""
    if entry.formula or entry.is_out_form:
        return True
    room = f"{entry.forward.__module__}...".split(".")[2]
    returned = entry.signature.returns
    return (
        room in _OF_ELEMENTS
        and [str(each.type) for each in returned] == ["Tensor"]
        and all(str(each.type).rstrip("?") in _PLAIN for each in entry.signature.arguments)
        and not any("dim" in each.name for each in entry.signature.arguments)
    )


@cache
def is_random(name: str) -> bool:
    """Whether an operator draws random numbers."""
    return any(entry.random or entry.name.endswith("dropout") for entry in TABLE.operators(name))


@cache
def sizes_depend_on_data(name: str, count: int) -> bool:
    """Whether the sizes of the results, of so many arguments, depend on what tensors hold."""
    entries = [e for e in TABLE.operators(name) if e.data_dependent is not None]
    return any(len(entry.signature.arguments) == count for entry in entries)
