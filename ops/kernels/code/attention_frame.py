"""What the kernels of attention have in common: their arguments, and where a head's numbers lie.

All of them go through the keys once, some at a time.  Of each query they keep the largest score so
far, the sum of exponentials, and the sum of values that these weigh; both sums are scaled down when
a larger score comes (M. Milakov and N. Gimelshein, "Online normalizer calculation for softmax",
2018; T. Dao et al., "FlashAttention", 2022).
"""

from __future__ import annotations

from math import inf, nan
from typing import Final, NamedTuple

from .formulas import stored_kind
from .target import Target
from .text import BYTE, DOUBLE, FLOAT, INT64, POINTER, Code, Kind, Value

__all__ = ["COUNTS", "KEYS", "Attention", "Form", "Head", "larger"]

KEYS: Final = 128
"""Keys that are met at a time."""
_ARRAYS: Final = ("q", "k", "v", "mask", "out", "sums")
COUNTS: Final = (
    *("heads", "group", "rows", "keys", "depth", "width", "block"),
    *("q_outer", "q_inner", "q_row", "k_outer", "k_inner", "k_row", "k_column"),
    *("v_outer", "v_inner", "v_row", "v_column", "out_outer", "out_inner", "out_row"),
    *("mask_outer", "mask_inner", "mask_row", "mask_column"),
)
"""Sizes, and steps in elements: a batch has so many `heads`, and a `group` of them the same keys;
`block` rows of queries are a unit.  Columns of `q` and `out` lie side by side."""


class Form(NamedTuple):
    """What kernels are written for.

    The letter is that of the dtype of keys and values, or "p" for words of two bfloat16:
    neighbours of a row of queries and keys, and of two rows of values.  The mask is "none"; "line"
    where it is the same for all queries of a head; or "whole", with columns side by side.  It holds
    bytes, or the numbers that are computed with, which are `added` to scores.  What is hidden from
    queries does not count whatever it is, if `hides`, and those who see nothing get NaN then; else
    a NaN that is hidden stays one, and they get 0.  With `sums` the logarithms of sums are wanted.
    """

    letter: str
    mask: str = "none"
    added: bool = False
    is_causal: bool = False
    hides: bool = False
    sums: bool = False

    @property
    def number(self) -> Kind:
        """What is computed with."""
        return DOUBLE if self.letter == "d" else FLOAT

    @property
    def lanes(self) -> int:
        """Numbers of a vector of 64 bytes."""
        return 8 if self.letter == "d" else 16

    @property
    def mask_kind(self) -> Kind:
        """What the mask holds."""
        return self.number if self.added else BYTE


class Head(NamedTuple):
    """Where the numbers of a head begin; the places of its mask and results are for a first row."""

    q: Value
    k: Value
    v: Value
    mask: Value
    out: Value
    sums: Value


class Attention:
    """A kernel's code: what all of them do."""

    def __init__(self, target: Target, form: Form) -> None:
        self.code = code = Code(target)
        self.form, self.number, self.lanes = form, form.number, form.lanes
        self.vector = self.number.of_lanes(self.lanes)
        self.stored = FLOAT if form.letter == "p" else stored_kind(form.letter)
        counts = code.argument(POINTER, "counts")
        self.count = {
            name: code.load(INT64, code.at(counts, place, INT64))
            for place, name in enumerate(COUNTS)
        }
        self.zero = code.constant(INT64, 0)
        scale = code.argument(DOUBLE, "scale")
        self.scale = scale if self.number == DOUBLE else scale.converted("fptrunc", FLOAT)

    def at(self, address: Value, index: Value | int) -> Value:
        """The address of a number."""
        return self.code.at(address, index, self.number)

    def head(self, batch: Value, head: Value, row: Value) -> Head:
        """That of a batch, from a row on."""
        count, far = self.count, dict[str, Value]()
        for name, own in (("q", head), ("k", head / count["group"]), ("v", head / count["group"])):
            far[name] = batch * count[f"{name}_outer"] + own * count[f"{name}_inner"]
        for name in ("mask", "out"):
            far[name] = batch * count[f"{name}_outer"] + head * count[f"{name}_inner"]
        for name in ("q", "mask", "out"):
            far[name] = far[name] + row * count[f"{name}_row"]
        far["sums"] = (batch * count["heads"] + head) * count["rows"] + row
        return Head(**{name: self._place(name, far[name]) for name in _ARRAYS})

    def _place(self, name: str, index: Value) -> Value:
        kinds = {"k": self.stored, "v": self.stored, "mask": self.form.mask_kind}
        return self.code.at(self.code.argument(POINTER, name), index, kinds.get(name, self.number))

    def added(self, seen: Value) -> Value:
        """What is added to scores for numbers of a mask: minus infinity for a byte that is 0."""
        if self.form.added:
            return seen
        kind = self.number.of_lanes(seen.kind.lanes)
        shown, hidden = (self.code.constant(kind, number) for number in (0.0, -inf))
        return self.code.choose(seen.differs(0), shown, hidden)

    def masked(self, score: Value, added: Value) -> Value:
        """A score beside what is added for a mask."""
        if not self.form.hides:
            return score + added
        return self.code.choose(added.equals(-inf), -inf, score + added)

    def base(self, top: Value) -> Value:
        """What is subtracted from scores of which the largest is known."""
        return self.code.choose(top.equals(-inf), 0.0, top)

    def divided(self, total: Value) -> Value:
        """What sums are multiplied with in the end: 0 or NaN where nothing was seen."""
        nothing = nan if self.form.hides else 0.0
        return self.code.choose(total.equals(0.0), nothing, 1.0 / total)

    def text(self) -> str:
        """The text of the kernel."""
        places = [(POINTER, name) for name in _ARRAYS]
        return self.code.kernel("attention", [*places, (DOUBLE, "scale"), (POINTER, "counts")])


def larger(one: Value, other: Value) -> Value:
    """The larger of two numbers, or the other one if one is NaN."""
    return one.code.choose(one > other, one, other)
