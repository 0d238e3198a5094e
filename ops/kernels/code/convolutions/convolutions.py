"""Convolutions of float32 over up to three dimensions.

`convolution_sums` does most of them; `convolution_strips` those over planes whose groups make too
few channels to fill a vector, `convolution_planes` those of them that are depthwise and keep the
sizes of small planes, and `convolution_descents` depthwise squares; `convolution_points` those of
windows of one number that lie side by side, and `convolution_squares` those of three by three that
step by one over many channels.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from types import ModuleType
from typing import Final, NamedTuple

import numpy as np

from ....memory.dtype import Array, Dtype
from ....memory.remembered import Recent, remembered
from ...precision import PRECISION
from ...threads import get_threads
from ..calls.run import run
from ..elementwise.loops import shown
from ..language.target import host
from ..loading.objects import is_kept, kernel
from ..products import pairs
from . import descents, planes, points, squares, strips, sums
from .frame import PLAIN, PLAIN_HALVES, After
from .padded_planes import Ints, Pads, padded_planes
from .plans import (
    WORDS,
    Windows,
    are_descents,
    are_planes,
    descents_plan,
    filled_plan,
    planes_plan,
    strips_plan,
    sums_plan,
)
from .point_plans import are_gathered, are_points, points_plan
from .square_plans import are_squares, squares_plan

__all__ = ["UNFIT", "Convolution", "Settled", "settled", "shortness"]

F: Final = np.dtype(np.float32)
_COLUMNS: Final = (4, 8)
"""Bytes between windows that have kernels of their own: most are neighbours, or step over one."""
_FEW: Final = 8
"""With fewer channels a group, strips are quicker."""
_PLANES: Final = 32
"""Planes of the input that a deep window of strips sees, at most."""


_NO_MEMORY: Final = np.zeros(1, F)
_NO_MEMORY.setflags(write=False)


class Settled(NamedTuple):
    """What is known of a convolution by the shapes and settings alone; the kernel's numbers hold
    the sizes and, from `begun` on, the offsets."""

    form: ModuleType
    numbers: Array
    begun: int
    items: int
    slot: int
    padded: tuple[Ints, Pads] | None
    made: tuple[int, ...]
    no_bias: Array
    words: int
    """If the input has to be words of two channels, the groups that these are of; else 0."""
    are_wide: bool
    """Whether bfloat16 has to be float32."""

    @property
    def nbytes(self) -> int:
        return int(self.numbers.nbytes + self.no_bias.nbytes)

    @property
    def written_for(self) -> tuple[int, ...]:
        """What the kernel is one for, of those of its form: so many bytes to the next window in a
        row, or some other number if that is 0, or windows of some size and step."""
        if self.form is descents:
            window, step = (int(self.numbers[descents.SIZES.index(n)]) for n in ("window", "step"))
            return window, step
        if self.form is not sums:
            return ()
        far = int(self.numbers[sums.SIZES.index("next_column")])
        return (far if far in _COLUMNS else 0,)

    @staticmethod
    def by(
        form: ModuleType,
        numbers: Array,
        padded: tuple[Ints, Pads] | None,
        made: tuple[int, ...],
        channels: int,
        words: int = 0,
        *,
        are_wide: bool = False,
    ) -> Settled:
        """One of so many channels whose kernel is given these numbers, which nobody writes to."""
        numbers.setflags(write=False)
        no_bias = np.zeros(channels, F)
        no_bias.setflags(write=False)
        slot = int(numbers[form.SIZES.index("slot")])
        begun, items = len(form.SIZES), int(numbers[0])
        return Settled(form, numbers, begun, items, slot, padded, made, no_bias, words, are_wide)

    def seen(self, x: Array) -> Array:
        """What the kernel reads of an input: float32 or bfloat16, or words of these."""
        if not self.words:
            return self.weights_seen(x)
        batch, channels, *space = x.shape
        groups = self.words
        planes = pairs.across(x.reshape(batch * groups, channels // groups, prod(space)))
        return planes.reshape(batch, groups * planes.shape[1], *space)

    def weights_seen(self, weight: Array) -> Array:
        """What it reads of weights: float32 or bfloat16."""
        return pairs.widened(weight) if self.are_wide and weight.itemsize == 2 else weight


UNFIT: Final = Settled(sums, np.zeros(0), 0, 0, 0, None, (), np.zeros(0), 0, are_wide=False)
"""What does not fit together."""


@remembered(12 << 20)
def settled(
    shape: tuple[int, ...],
    weight: Sequence[int],
    output: Sequence[int],
    stride: Sequence[int],
    pads: Pads,
    dilation: Sequence[int],
    groups: int,
    short: str = "",
) -> Settled:
    """The convolution of arrays of these shapes, of (batch, channels) and one to three dimensions.

    `output` are the sizes of the result.  What does not fit together is settled without `items`.
    What is multiplied may be `short`, as `shortness` says.
    """
    more = 5 - len(shape)
    # what nothing depends on may be larger than any memory
    stride = [step if count > 1 else 1 for step, count in zip(stride, output, strict=True)]
    dilation = [d if k > 1 else 1 for d, k in zip(dilation, weight[2:], strict=True)]
    stride, dilation, space = ((1,) * more + tuple(each) for each in (stride, dilation, output))
    shape, weight = ((*each[:2], *(1,) * more, *each[2:]) for each in (shape, weight))
    pads = ((0, 0),) * more + tuple(pads)
    reach = [
        (o - 1) * s + d * (k - 1)
        for o, s, d, k in zip(space, stride, dilation, weight[2:], strict=True)
    ]
    fits = all(r < n + sum(p) for r, n, p in zip(reach, shape[2:], pads, strict=True))
    if not fits or shape[1] != weight[1] * groups or weight[0] % groups:
        return UNFIT
    made = shape[0], weight[0], *output
    what = Windows(shape, weight, prod(weight[1:]), space, stride, pads, dilation, groups)
    are_pixels = groups == prod(weight[2:]) == 1 and tuple(space) == tuple(shape[2:])
    is_flat = weight[2] == 1 or prod(weight[1:3]) <= _PLANES
    if weight[0] // groups < _FEW and is_flat and not are_pixels:
        form, numbers = _for_few_channels(what, short)
        return Settled.by(form, numbers, None, made, weight[0], are_wide=form is strips)
    form, numbers, padded, words = _for_many_channels(what, short)
    return Settled.by(form, numbers, padded, made, weight[0], words, are_wide=short == "alone")


def _for_few_channels(what: Windows, short: str) -> tuple[ModuleType, Array]:
    """The kernel that fills no vectors with channels, and its numbers."""
    shape, weight, space, stride = what.shape, what.weight, what.output, what.stride
    before = what.pads[0][0], what.pads[1][0], what.pads[2][0]
    if are_descents(what):
        return descents, descents_plan(what)
    if weight[2] == shape[2] == space[0] == 1 and are_planes(shape, weight, space, stride):
        return planes, planes_plan(shape, weight, before, what.dilation, short)
    return strips, strips_plan(shape, weight, space, stride, before, what.dilation, what.groups)


def _for_many_channels(
    what: Windows, short: str
) -> tuple[ModuleType, Array, tuple[Ints, Pads] | None, int]:
    """The kernel for vectors of channels, its numbers, how its input is padded before, and of how
    many groups words are, if it reads words."""
    together = 2 if short in WORDS else 1
    are_seen = are_points(what) and not prod(what.weight[1:]) % 2  # whose weights are words already
    if short != "halves" and are_squares(what, together):
        return squares, squares_plan(what, together), None, 0
    if are_seen if short == "halves" else are_points(what) or are_gathered(what):
        return points, points_plan(what, short), None, 0
    padded = (what.shape[2:], what.pads) if any(map(any, what.pads)) else None
    words = what.groups if together > 1 else 0
    what = what.in_pairs() if words else what
    filled = filled_plan(what)
    if filled is not None:
        return sums, filled, None, words
    return sums, sums_plan(what, bool(padded)), padded, words


def shortness(x: Array, weight: Array, groups: int) -> str:
    """Whether what is multiplied is short: `halves` if arrays are bfloat16, `numbers` if they are
    float32 that may be rounded; where arrays do not fit, or have few channels, `alone` if they are
    bfloat16, which is multiplied as float32; else nothing."""
    if x.itemsize == 4 and not (PRECISION.convolutions_may_be_short and host().has_pairs):
        return ""
    made, inside = weight.shape[:2]
    fits = inside * groups == x.shape[1] and not made % groups
    takes = fits and inside > 1 and made // groups >= _FEW
    if x.itemsize == 2:
        return "halves" if takes else "alone"
    return "numbers" if takes else ""


class Convolution:
    """A convolution that can be computed: `fill` writes it to `out`."""

    __slots__ = ("_given", "_plain", "_short", "_written_for", "out", "settled")

    def __init__(
        self,
        settled: Settled,
        x: Array,
        weight: Array,
        bias: Array | None,
        short: str = "",
        dtype: Dtype = F,
    ) -> None:
        """The arrays are in one piece, of the shapes that it was settled for, and no other thread
        can change them; x is what has been `seen`.  Without a bias it is None.  What is multiplied
        may be `short`, as `shortness` says of the arrays.  The result is of a dtype, float32 or
        bfloat16.

        Raises:
            ValueError: the bias has another shape.
        """
        if bias is None:
            bias = settled.no_bias
        elif bias.shape != settled.no_bias.shape:
            raise ValueError("the bias does not fit the channels")
        self.out = np.empty(settled.made, dtype)
        self._plain = PLAIN if dtype is F else PLAIN_HALVES
        self.settled, self._given = settled, (x, weight, bias)
        self._written_for, self._short = settled.written_for, short

    @property
    def is_alone_at_hand(self) -> bool:
        """Whether the kernel with nothing after the sums need not be compiled."""
        return self.is_at_hand(self._plain, ())

    def is_at_hand(self, after: After, operands: object) -> bool:
        """Whether the kernel with something after the sums need not be compiled."""
        return is_kept(self.settled.form.NAME, self._parameters(after))

    def prepare(self, after: After, operands: object) -> None:
        """Compile that kernel if need be.

        Raises:
            OSError, RuntimeError: it cannot be.
        """
        self._kernel(after)

    def _kernel(self, after: After) -> int:
        form = self.settled.form
        which = form.NAME, self._short, self._written_for, id(after)
        known = _KERNELS.get(which)
        if known is not None:
            return known[1]
        short = (self._short,) if form is not strips else ()
        more = *short, *self._written_for
        parameters = self._parameters(after)
        found = kernel(form.NAME, parameters, lambda target: form.text(target, after, *more))
        _KERNELS.keep(which, (after, found))
        return found

    def _parameters(self, after: After) -> tuple[str | int, ...]:
        shape = () if after is PLAIN else (shown(after.expression), after.places)
        return (self._short, *self._written_for, *shape)

    def fill(self, after: After = PLAIN, operands: Sequence[object] = ()) -> None:
        """Compute: threads take items of the work, each with a slot of memory."""
        _, numbers, begun, items, slot, padded, *_ = self.settled
        after = after if after.expression.steps else self._plain
        x, *others = self._given
        if padded is not None:
            x = padded_planes(x, *padded)
        slots = min(items, get_threads())
        memory = np.empty(slots * slot, F) if slot else _NO_MEMORY
        least = 2 if slots == 1 else 1
        turn, offsets, out = np.zeros(1, np.uint64), numbers[begun:], self.out[...]
        words = turn, numbers, offsets, x, *others, out, memory, *operands
        run(self._kernel(after), slots, least, *words)


_KERNELS: Final[Recent[tuple[str, str, tuple[int, ...], int], tuple[After, int]]] = Recent(500)
"""Addresses by the identity of what comes after the sums, which lives as long as it is known."""
