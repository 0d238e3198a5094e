"""What native code is told of the calls of an overload, to leave their nodes itself.

A recorder that was written in Python (`recording.py`) describes what its nodes keep; this is put
into words that `kernels/code/fronts/records_text.py` reads.  The nodes are the same, whoever makes
them.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import numpy as np

from ...kernels import family
from ...memory.dtype import Array
from ...memory.inference import MADE
from ...memory.slots import places_within
from ...memory.storage import address
from ...memory.versions import version_to_keep
from ...table.grad_mode import ANOMALY, BOUNDED, RUNNING
from ...tensors.differentiable import BEHIND
from ..nodes.autograd import ENDING, SOON, TURN, AccumulateGrad, Saved, edge_within
from ..nodes.bound import Bound, RowNode
from ..nodes.packing import PACKED, PACKING
from ..nodes.pooled import are_parts_pooled, pooled
from ..nodes.removable import SEQUENCE
from ..nodes.view_nodes import CopySlices
from ..table.rules import Meta
from .writes import copied_before

__all__ = ["Described", "Told", "told_of", "told_of_silent"]

_VIEW, _SEVERAL, _SILENT, _CONSTANT, _OF_LIST, _LISTED, _WRITES = (1 << bit for bit in range(7))
_MOST: Final = 24
"""Arguments of an operator that native code makes nodes of."""


class Described(NamedTuple):
    """What nodes keep of the calls of an overload with arguments of some types."""

    bound: Bound
    ends: Sequence[int]
    """The arguments that have gradients, in their order."""
    tensors: Sequence[int]
    arity: int
    places: list[tuple[int, int | None]]
    back: Any
    unread: Meta
    """Stands for a tensor that is not kept, of which nothing is read."""
    chooser: Callable[..., type] | None
    """Gives the class of a node by the arguments, if that depends on them."""
    of_sizes: bool
    """Whether it depends on the sizes of those that have gradients alone."""
    finished: Callable[..., object]
    """Ends a call that gave no new tensor of floats."""
    listed: int | None
    """The argument that is a list of tensors, if one is."""
    is_of_list: bool
    """Whether those are what has gradients."""
    whole: frozenset[int] = frozenset()
    """The arguments that hold whole numbers, where those with gradients depend on that."""
    others: Mapping[frozenset[int], Callable[..., object]] = MappingProxyType({})
    """What records calls with whole numbers at other places, by these."""


class Told(NamedTuple):
    """Words for native code, and what they are about."""

    address: int
    held: Sequence[object]


def told_of(described: Described, length: int) -> Told | None:
    """What native code is told of calls with a list of that length, if with one; None if it cannot
    make these nodes."""
    told = _told_of(described, length, None)
    for recorder in described.others.values():
        other = described.bound.records.get(recorder)
        if told is not None and other is not None:
            told = _told_of(other, length, told) or told
    return told


def _told_of(described: Described, length: int, before: Told | None) -> Told | None:
    """The same of one kind of calls, and of others that were told before."""
    book = _book(described.unread)
    bound, listed = described.bound, described.listed
    ends: Sequence[int] = described.ends
    if book is None or max(described.arity, length) > _MOST:
        return None
    if bound.is_view and (described.tensors[:1] != [0] or described.chooser is not None):
        return None
    if bound.gives_several and bound.row is not None and bound.row.apart:
        return None
    is_of_list, places, keeps = described.is_of_list, described.places, 0
    if is_of_list:
        assert listed is not None
        ends, keeps = [*range(length)], int(listed in bound.keeps[listed])
        places = [(listed, number) for number in ends]
        is_read = bound.keeps_result[listed]
    shift = _shifted(None if is_of_list else listed)
    mixed: Iterable[int] = ()
    if bound.shared is not None:
        mixed = ends if is_of_list else (at for at in bound.order if at in described.tensors)
        mixed = [at for at in mixed if at not in described.whole]
    kept_for = [at for at in ends if (is_read if is_of_list else bound.keeps_result[at])]
    if listed is not None and not is_of_list:
        keeps = _mask(shift(end) for end in ends if listed in bound.keeps[end])
    arguments = np.array(
        [_argument(described, at, shift) for at in range(described.arity)], np.int64
    )
    ends_at = np.array([shift(at) for at in ends], np.int64)
    text = family("fronts.records_text")
    keys = np.zeros((1 << text.SHAPES_BITS, max(len(ends), 1) * text.SHAPES_WORDS), np.int64)
    known = [None] * (2 * len(keys))
    looks = None if bound.looks is None else _looker(bound.looks)
    late = _ender(described.finished)
    among = bound.node_class.__name__.removesuffix("Backward0") if bound.forbids_writes else None
    own = [*ends].index(0) if bound.in_place and 0 in ends else None
    words = [
        *(address(book), _flags(bound, listed, is_of_list), _mask(map(shift, mixed)), len(ends)),
        *(address(ends_at), described.arity),
        *(address(arguments), _mask(map(shift, kept_for)), id(pooled(bound.node_class)), id(bound)),
        *(id(places), id(described.back), id(late), _id(described.chooser), _id(looks)),
        *(_read_mask(bound), listed or 0, keeps, _id(among), length),
        *(_mask(map(shift, described.whole)), 0 if before is None else before.address),
        *(address(keys), id(known), int(described.of_sizes), id(own)),
        _mask(shift(at) for at in bound.refuses if at in described.tensors),
    ]
    table = np.array(words, np.int64)
    held = described, table, ends_at, places, arguments, looks, late, among, before, keys, known
    return Told(address(table), (*held, own))


def _flags(bound: Bound, listed: int | None, is_of_list: bool) -> int:
    """What is said of the operator and its lists."""
    found = _VIEW * bound.is_view + _SEVERAL * bound.gives_several + _WRITES * bound.in_place
    return found + (0 if listed is None else _OF_LIST if is_of_list else _LISTED)


def told_of_silent(bound: Bound, finished: Callable[..., object]) -> Told | None:
    """The same of an operator that leaves nothing behind; one without a row may give floats, which
    nobody has a gradient of."""
    count = len(bound.entry.signature.arguments)
    if count > _MOST:
        return None
    late = _ender(finished)
    flags = _SILENT if bound.row is None else _CONSTANT
    words = [*(0, flags, 0, 0, 0, count), *([0] * 6), id(late), *([0] * 9)]
    table = np.array(words, np.int64)
    return Told(address(table), (table, late))


def _shifted(listed: int | None) -> Callable[[int], int]:
    """Where an argument lies among those that are no list."""
    return lambda at: at - (listed is not None and at > listed)


def _argument(
    described: Described, at: int, shift: Callable[[int], int]
) -> tuple[int, int, int, int]:
    """The four words of an argument."""
    bound, ends = described.bound, described.ends
    if at not in described.tensors:
        return -1, 0, 0, -1
    mask = _mask(shift(end) for end in ends if at in bound.keeps[end])
    number = [*ends].index(at) if at in ends else -1
    return mask, int(at in bound.described), int(at in bound.laid), number


def _read_mask(bound: Bound) -> int:
    """A bit for each of several results that formulas read."""
    found = [number for number in bound.read_results if number is not None]
    return -1 if None in bound.read_results else _mask(found)


def _mask(places: Iterable[int]) -> int:
    return sum(1 << place for place in places)


def _id(value: object) -> int:
    return 0 if value is None else id(value)


def _arrays(args: Sequence[object]) -> list[Any]:
    return [getattr(each, "_array", each) for each in args]


def _looker(looks: Callable[[Sequence[object]], object]) -> Callable[..., object]:
    return lambda *args: looks(_arrays(args))


def _ender(finished: Callable[..., object]) -> Callable[..., object]:
    return lambda result, *args: finished([*args], _arrays(args), result)


def _is_plain() -> bool:
    """Whether in this thread no hook packs tensors, and no bounds hold."""
    return not (PACKING.used or RUNNING.bounds)


def _describe(array: Array) -> Meta:
    return Meta(array, True)


_NAMES: Final = tuple(
    map(sys.intern, ("_accumulator", "_grad_node", "_output_number", "_view_version"))
)
_RETAINS: Final = sys.intern("_retains_grad")
_NO_BOUNDS: Final[tuple[object, ...]] = ()


@cache
def _book(unread: Meta) -> Array | None:
    """The book, which is kept as long as the process lives; None where objects do not lie as native
    code takes them to."""
    saved = _slots(Saved, ("array", "edge", "handle", "number", "packed", "version"))
    meta = _slots(Meta, ("columns", "kind", "sizes"))
    node = _slots(
        RowNode,
        (
            *("attached", "bounds", "edges", "sequence", "_arguments", "_bound", "_places"),
            *("_results", "_shapes", "back", "count", "lie"),
        ),
    )
    end = _slots(AccumulateGrad, ("attached", "bounds", "edges", "sequence", "variable"))
    if saved is None or meta is None or node is None or end is None or node[:4] != end[:4]:
        return None
    part = pooled(CopySlices)
    whole = _slots(part, ("attached", "bounds", "edges", "sequence", "inner", "lies", "own"))
    writes = _slots(RowNode, ("writes_for",))
    if whole is None or writes is None or whole[:4] != node[:4]:
        return None
    if not _is_counted(family("calls.run").HEAD) or not are_parts_pooled():
        return None
    objects: Sequence[object] = (
        *(TURN, ANOMALY, MADE, PACKED, BOUNDED, _is_plain, SEQUENCE),
        *(edge_within, version_to_keep, _describe, Saved, Meta, unread),
        *(ENDING, AccumulateGrad, *_NAMES, _NO_BOUNDS, 0, 1, _RETAINS, copied_before),
        *(part, BEHIND),
    )
    return np.array(
        [*map(id, objects), *saved, *meta, *node, end[4], *whole[4:], *writes, SOON], np.int64
    )


def _is_counted(head: int) -> bool:
    """Whether dicts have their length where native code looks for it."""
    return ctypes.c_int64.from_address(id({1: 2, 3: 4, 5: 6}) + head).value == 3


def _slots(kind: type, names: Sequence[str]) -> list[int] | None:
    """How far behind the beginning of an object of a class its slots lie."""
    made: Any = object.__new__(kind)
    marks = [object() for _ in names]
    for name, mark in zip(names, marks, strict=True):
        setattr(made, name, mark)
    return places_within(made, marks)
