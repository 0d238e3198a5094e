"""How operators run on all slices at once: families of them, by what their records say.

What is in no family runs slice by slice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Literal

from ..table.elements import is_by_elements
from ..table.record import Operator
from ..table.table import TABLE
from ..tensors.tensor import Tensor
from .views import VIEWS

__all__ = ["Family", "family_of", "is_random", "replaces", "sizes_depend_on_data"]

Family = Literal[
    "",
    "elements",
    "dims",
    "folds",
    "sizes",
    "views",
    "products",
    "samples",
    "convolutions",
    "losses",
    "refused",
    "matrices",
    "pictures",
    "borders",
    "norms",
    "groups",
    "lookups",
    "einsum",
    "made",
    "repeats",
    "classes",
    "places",
    "rows",
    "joined",
]
"""`elements`: each element by itself; `dims`: along dimensions that arguments name; `folds`: the
same, or of all; `sizes`: views of given sizes; `views`: other ones; `products`: of matrices, which
broadcast; `samples`: each sample by itself; `convolutions`: with weights; `losses`: of elements,
which are reduced; `refused`: told where in memory elements lie; `matrices`, `pictures`: with any
dimensions in front of two or three; `borders`: around the last dimensions; `norms`, `groups`: of
the last dimensions, or of channels; `lookups`: rows of a table; `einsum`: by letters; `made`: new
tensors of given sizes; `repeats`: several times; `classes`: losses of scores by class; `places`,
`rows`: elements and parts along a dimension at places that a tensor names; `joined`: lists of
tensors."""


@cache
def family_of(name: str) -> Family:
    """The family of an operator, `aten::add`."""
    short = name.removeprefix("aten::")
    said = TABLE.said(name, lambda each: each.on_slices)
    if said is not None:
        return said
    if short in VIEWS:
        return "views"
    entries = TABLE.operators(name)
    if short.endswith("_") and not short.startswith("_"):
        of_twin = family_of(f"aten::{short[:-1]}") if TABLE.operators(f"aten::{short[:-1]}") else ""
        return "elements" if of_twin == "elements" else ""
    on_tensors = [each for each in entries if _takes_tensors(each)]
    if on_tensors and all(map(is_by_elements, on_tensors)):
        return "elements"
    found = {_of_samples(entry) for entry in entries if not entry.is_out_form}
    return found.pop() if len(found) == 1 else ""


def _takes_tensors(entry: Operator) -> bool:
    """Whether an overload is one for tensors, and gives sizes that do not depend on numbers."""
    kinds = [str(each.type) for each in entry.signature.arguments]
    return any(kind.rstrip("?") == "Tensor" for kind in kinds) and entry.data_dependent is None


def _of_samples(entry: Operator) -> Family:
    """The family of a layer or a loss, by where it stands and what its record says."""
    forward = entry.on_arrays or entry.forward
    _, _, room, *file = f"{forward.__module__}..".split(".")
    names = [each.name for each in entry.signature.arguments]
    has_rank = entry.name.removesuffix("_with_indices")[-2:] in ("1d", "2d", "3d")
    if room == "pooling" and has_rank and entry.rows is not None and entry.rows.dim is None:
        return "samples"
    if names[:3] == ["input", "weight", "bias"] and "groups" in names and has_rank:
        return "convolutions"
    is_of_pair = names[:2] == ["self", "target"] and "reduction" in names
    return "losses" if room == "losses" and file[0] == "losses" and is_of_pair else ""


@cache
def replaces(name: str) -> bool:
    """Whether an operator makes a tensor another one, of other sizes or memory."""
    return any(entry.written == "replaced" for entry in TABLE.operators(name))


@cache
def is_random(name: str) -> bool:
    """Whether an operator draws random numbers."""
    return any(entry.random or entry.name.endswith("dropout") for entry in TABLE.operators(name))


@cache
def _dependent(name: str) -> tuple[Operator, ...]:
    return tuple(e for e in TABLE.operators(name) if e.data_dependent is not None)


def sizes_depend_on_data(name: str, args: Sequence[object], kwargs: Mapping[str, object]) -> bool:
    """Whether the sizes of the results for these arguments depend on what tensors hold."""
    return any(_depends(entry, args, kwargs) for entry in _dependent(name))


def _depends(entry: Operator, args: Sequence[object], kwargs: Mapping[str, object]) -> bool:
    arguments = entry.signature.arguments
    names = (each.name for each in arguments)
    given = {**dict(zip(names, args, strict=False)), **kwargs}
    if len(args) > len(arguments) or len(given) != len(args) + len(kwargs):
        return False
    values = []
    for each in arguments:
        if each.name not in given and not each.has_default:
            return False
        value = given.get(each.name, each.default if each.has_default else None)
        if isinstance(value, Tensor) != (str(each.type) == "Tensor"):
            return False
        values.append(value)
    return entry.data_dependent is not None and entry.data_dependent(*values)
