"""What is known of values while a program is written: tensors, numbers and containers."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..ops.memory.dtype import Array
from ..ops.table.listed import listed
from ..ops.table.table import Operator
from .program import Place, Scalar

__all__ = [
    *("CannotCompile", "Known", "Tensor", "as_kind_of_number", "as_word", "flattened"),
    *("machine_value", "of_listed", "scalars_of", "tensors_of"),
]


class CannotCompile(Exception):
    """Something has no form ahead of time; the text says what and where."""


@dataclass(frozen=True)
class Tensor:
    """A tensor of the trial, and where its first element is in a run."""

    array: Array
    place: Place


Known = Any
"""A `Tensor`, a `Scalar`, a number or text that is known, None, or a list or tuple of these."""


def flattened(values: Sequence[Known]) -> list[Known]:
    found: list[Known] = []
    for each in values:
        found += flattened(each) if isinstance(each, (list, tuple)) else [each]
    return found


def tensors_of(values: Sequence[Known]) -> Iterator[Tensor]:
    return (each for each in flattened(values) if isinstance(each, Tensor))


def scalars_of(values: Sequence[Known]) -> list[Scalar]:
    return [each for each in flattened(values) if isinstance(each, Scalar)]


def machine_value(value: Known) -> object:
    """What an operator's forward is given."""
    if isinstance(value, Tensor):
        return value.array
    if isinstance(value, Scalar):
        return value.example
    if isinstance(value, (list, tuple)):
        return type(value)(map(machine_value, value))
    return value


def of_listed(entry: Operator, values: Sequence[Known]) -> list[Known]:
    """Arguments with an operator's lists of tensors taken apart, as `known_call` counts them."""
    form = listed(entry)
    return list(values) if form is None else form.apart(values)


def as_kind_of_number(kind: str, number: object) -> Any:
    return {"i1": bool, "i64": int, "double": float}[kind](number)


def as_word(number: object) -> int:
    """The word that a kernel is given for a number."""
    if isinstance(number, int):
        return int(number)
    return int.from_bytes(struct.pack("<d", number), "little", signed=True)
