"""What the kernels of attention have in common: their arguments, and where a head's numbers lie.

All of them go through the keys once, some at a time.  Of each query they keep the largest score so
far, the sum of exponentials, and the sum of values that these weigh; both sums are scaled down when
a larger score comes (M. Milakov and N. Gimelshein, "Online normalizer calculation for softmax",
2018; T. Dao et al., "FlashAttention", 2022).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, nan
from typing import Final, NamedTuple

from ..functions.formulas import stored_kind
from ..language.named_counts import named_counts
from ..language.target import Target
from ..language.text import BYTE, DOUBLE, FLOAT, INT64, POINTER, Code, Kind, Value

__all__ = ["ARRAYS", "COUNTS", "KEYS", "Attention", "Form", "Head", "larger"]

KEYS: Final = 128
"""Keys that are met at a time."""
ARRAYS: Final = ("q", "k", "v", "mask", "out", "sums")
_SHARED: Final = ("k", "v", "dk", "dv")
"""Arrays with what belongs to keys."""
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


Head = Mapping[str, Value]
"""Where the numbers of a head begin in each array; those of queries from a first one on."""


class Attention:
    """A kernel's code: what all of them do; `counts` are sizes and steps, which come in an array
    of int64 behind the others."""

    def __init__(
        self,
        target: Target,
        form: Form,
        arrays: Sequence[str] = ARRAYS,
        counts: Sequence[str] = COUNTS,
    ) -> None:
        self.code = code = Code(target)
        self.form, self.number, self.lanes = form, form.number, form.lanes
        self.arrays = arrays
        self.vector = self.number.of_lanes(self.lanes)
        self.stored = FLOAT if form.letter == "p" else stored_kind(form.letter)
        place = code.argument(POINTER, "counts")
        self.count = named_counts(code, place, counts)
        self.zero = code.constant(INT64, 0)
        scale = code.argument(DOUBLE, "scale")
        self.scale = scale if self.number == DOUBLE else scale.converted("fptrunc", FLOAT)

    def at(self, address: Value, index: Value | int) -> Value:
        """The address of a number."""
        return self.code.at(address, index, self.number)

    def head(self, batch: Value, head: Value, row: Value) -> dict[str, Value]:
        """That of a batch, from a row on."""
        count, made = self.count, dict[str, Value]()
        for name in self.arrays:
            if name == "sums":
                far = (batch * count["heads"] + head) * count["rows"] + row
            else:
                is_shared = name in _SHARED
                own = head / count["group"] if is_shared else head
                far = batch * count[f"{name}_outer"] + own * count[f"{name}_inner"]
                far = far if is_shared else far + row * count[f"{name}_row"]
            kind = self._kinds.get(name, self.number)
            made[name] = self.code.at(self.code.argument(POINTER, name), far, kind)
        return made

    @property
    def _kinds(self) -> dict[str, Kind]:
        """What arrays hold that do not hold what is computed with."""
        return {"k": self.stored, "v": self.stored, "mask": self.form.mask_kind}

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
        places = [(POINTER, name) for name in self.arrays]
        return self.code.kernel("attention", [*places, (DOUBLE, "scale"), (POINTER, "counts")])


def larger(one: Value, other: Value) -> Value:
    """The larger of two numbers, or the other one if one is NaN."""
    return one.code.choose(one > other, one, other)
