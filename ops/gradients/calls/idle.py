"""Which notes of a long call leave nothing.

What a call computes of whole numbers, or of tensors without a history (places that are looked for,
neighbours that are sorted), is noted with all else, since a note is made before anybody knows.
Long calls are known as a whole where what is left is short.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from ...memory.dtype import Array
from ...memory.versions import owner_of
from ...table.noticing import arrays_in
from ...tensors.tensor import Tensor
from ..nodes.autograd import is_wanted
from ..nodes.bound import Bound
from ..recording.noted import Noted, Step

__all__ = ["without_idle"]


def without_idle(record: Noted, steps: Sequence[Step], pending: Sequence[Tensor]) -> list[Step]:
    """The notes without those that are given nothing that may require gradients and give nothing
    that goes out, is written in place or has views: they make no node."""
    ends = {id(each._array) for each in pending}
    live = {number for number, each in record.known.items() if number in ends or is_wanted(each)}
    written = {id(owner_of(args[0])) for bound, args, _, _ in steps if bound.in_place}
    reached = set[int]()
    kept = list[Step]()
    for step in steps:
        bound, args, result, _ = step
        if _holds(args, live, reached):
            live.update(map(id, arrays_in(result)))
            if bound.in_place:
                reached.add(id(owner_of(args[0])))
        elif not (bound.in_place or _is_seen(bound, result, ends, written)):
            continue
        kept.append(step)
    return kept


def _holds(values: Sequence[object], live: set[int], reached: set[int]) -> bool:
    """Whether there is one of the `live` arrays among values, or one whose memory is `reached`."""
    for each in values:
        kind = type(each)
        if kind is np.ndarray:
            if id(each) in live or (reached and id(owner_of(cast(Array, each))) in reached):
                return True
        elif kind in (list, tuple) and _holds(cast(Sequence[object], each), live, reached):
            return True
    return False


def _is_seen(bound: Bound, result: object, ends: set[int], written: set[int]) -> bool:
    """Whether something besides further notes may look at a result, or change it."""
    if not bound.watched:
        return True
    for made in arrays_in(result):
        if id(made) in ends:
            return True
        if made.dtype.kind in "biu":
            continue  # it has no history, nor have its views
        if bound.is_view or (written and id(owner_of(made)) in written):
            return True
    return False
