"""Log likelihoods of targets over all their alignments with rows of log probabilities, in float32.

Places are those of a target with blanks around each label (Graves and others, ICML 2006); sixteen
of them are a vector, whose sums of three exponentials are taken relative to the largest.
"""

from __future__ import annotations

from functools import cache
from math import inf
from typing import Final

import numpy as np

from ....memory.dtype import Array
from ...flags import new_flag
from ..calls.run import run
from ..functions.scalars import exp, log
from ..language.target import Target
from ..language.text import FLOAT, FLOATS, INT32, INT64, LANES, POINTER, Code, Value
from ..loading.objects import kernel

__all__ = ["likelihoods"]

_PER_THREAD: Final = 1 << 10
"""Places at some time that are worth another thread."""
_COUNTS: Final = ("steps", "batch", "classes", "longest", "blank")
_ARRAYS: Final = (
    *("logs", "targets", "begins", "inputs", "sizes"),
    *("labels", "skips", "alphas", "losses", "wrong"),
)
_WORDS: Final = INT32.of_lanes(LANES)


def likelihoods(
    logs: Array, targets: Array, begins: Array, inputs: Array, sizes: Array, blank: int
) -> tuple[Array, Array] | None:
    """Minus the log likelihoods of samples, and log alpha [N, T, 2 S + 1], S the largest size.

    `logs` are float32 [T, N, C]; the target of a sample is `sizes` of the int64 `targets` from its
    `begins` on, and its first `inputs` rows of `logs` are looked at.  None if a target is no class.
    """
    logs, targets = logs[...], targets[...]  # which no other thread can change
    steps, batch, classes = logs.shape
    longest = int(sizes.max(initial=0))
    places = 2 * longest + 1
    labels, skips = np.empty((batch, places), np.int32), np.empty((batch, places), np.float32)
    alphas, losses = np.empty((batch, steps, places), np.float32), np.empty(batch, np.float32)
    wrong = new_flag()
    run(
        *(_kernel(), batch, _PER_THREAD // (steps * places) + 1),
        *(steps, batch, classes, longest, blank),
        *(logs, targets, begins, inputs, sizes, labels, skips, alphas, losses, wrong),
    )
    return None if wrong[0] else (losses, alphas)


@cache
def _kernel() -> int:
    return kernel("alignments", (), alignments_text)


def alignments_text(target: Target) -> str:
    """The module of the kernel; its range is one of samples."""
    code = Code(target)
    made = _Alignments(code)
    with code.units() as sample:
        made.sample(sample)
    words = [*((INT64, name) for name in _COUNTS), *((POINTER, name) for name in _ARRAYS)]
    return code.kernel("alignments", words)


class _Alignments:
    """The parts of the kernel."""

    def __init__(self, code: Code) -> None:
        self.code = code
        self.steps, self.batch, self.classes, self.longest, self.blank = (
            code.argument(INT64, name) for name in _COUNTS
        )
        self.array = {name: code.argument(POINTER, name) for name in _ARRAYS}
        self.zero = code.constant(INT64, 0)
        self.places = self.longest * 2 + 1

    def number(self, name: str, index: Value) -> Value:
        """A whole number of an array."""
        return self.code.load(INT64, self.code.at(self.array[name], index, INT64))

    def sample(self, sample: Value) -> None:
        """All times of one sample, one after the other."""
        code = self.code
        self.write_labels(sample)
        line = sample * self.places
        with code.counted(self.zero, self.steps) as time:
            now = (sample * self.steps + time) * self.places
            emitted = (time * self.batch + sample) * self.classes

            def visit(columns: list[Value], mask: Value | None) -> None:
                at = columns[0]
                chosen = code.load_if(_WORDS, code.at(self.array["labels"], line + at, INT32), mask)
                start = code.at(self.array["logs"], emitted, FLOAT)
                seen = code.gathered(FLOATS, start, chosen << 2, mask)
                before = code.variable(code.constant(FLOATS, 0.0))
                with code.when(time.equals(0)):
                    is_first = code.order(_WORDS) + code.spread(at.converted("trunc", INT32)) < 2
                    before.set(code.choose(is_first, 0.0, code.constant(FLOATS, -inf)))
                with code.when(time > 0):
                    before.set(self.reached(now - self.places, line, at, mask))
                goal = code.at(self.array["alphas"], now + at, FLOAT)
                code.store_if(before.now + seen, goal, mask)

            code.vectors(self.zero, self.places, 1, visit)
        self.write_loss(sample)

    def write_labels(self, sample: Value) -> None:
        """What stands at the places, and where the blank before a label may be left out."""
        code, line = self.code, sample * self.places
        begin, size = self.number("begins", sample), self.number("sizes", sample)
        blank = self.blank.converted("trunc", INT32)
        self.put(line, blank, code.constant(FLOAT, -inf))
        last = code.variable(self.blank)
        with code.counted(self.zero, self.longest) as place:
            label = code.variable(self.zero)
            with code.when(place < size):
                label.set(self.number("targets", begin + place))
            with code.when(label.now.below(self.classes).equals(0), rarely=True):
                code.store(code.constant(INT64, 1), self.array["wrong"])
                label.set(self.zero)
            known = label.now
            may_skip = known.differs(self.blank) & known.differs(last.now) & (place > 0)
            skip = code.choose(may_skip, code.constant(FLOAT, 0.0), -inf)
            here = line + place * 2 + 1
            self.put(here, known.converted("trunc", INT32), skip)
            self.put(here + 1, blank, code.constant(FLOAT, -inf))
            last.set(known)

    def put(self, place: Value, label: Value, skip: Value) -> None:
        """Write the label of a place, and zero or less than all there for what may be skipped."""
        code = self.code
        code.store(label, code.at(self.array["labels"], place, INT32))
        code.store(skip, code.at(self.array["skips"], place, FLOAT))

    def reached(self, before: Value, line: Value, at: Value, mask: Value | None) -> Value:
        """The logarithm of the paths that reach places: stayed, from the last, or over a blank."""
        code = self.code
        column = code.order(_WORDS) + code.spread(at.converted("trunc", INT32))

        def from_behind(by: int) -> Value:
            exists = column >= by
            exists = exists if mask is None else exists & mask
            place = code.at(self.array["alphas"], before + at - by, FLOAT)
            return code.load_if(FLOATS, place, exists, -inf)

        place = code.at(self.array["skips"], line + at, FLOAT)
        may_skip = code.load_if(FLOATS, place, mask, -inf).equals(0.0)
        skipped = code.choose(may_skip, from_behind(2), code.constant(FLOATS, -inf))
        return _log_sum([from_behind(0), from_behind(1), skipped])

    def write_loss(self, sample: Value) -> None:
        """Minus the logarithm of the paths that end with the last label, or the blank after it."""
        code = self.code
        inputs, size = self.number("inputs", sample), self.number("sizes", sample)
        loss = code.variable(
            code.choose(size.equals(0), code.constant(FLOAT, 0.0), code.constant(FLOAT, inf))
        )
        with code.when(inputs > 0):
            end = (sample * self.steps + inputs - 1) * self.places + size * 2
            last = code.load(FLOAT, code.at(self.array["alphas"], end, FLOAT))
            other = code.variable(code.constant(FLOAT, -inf))
            with code.when(size > 0):
                place = code.at(self.array["alphas"], end - 1, FLOAT)
                other.set(code.load(FLOAT, place))
            pair = _log_sum([code.spread(last), code.spread(other.now)])
            loss.set(-code.alone(code.shuffled(pair, pair, [0])))
        code.store(loss.now, code.at(self.array["losses"], sample, FLOAT))


def _log_sum(parts: list[Value]) -> Value:
    """The logarithm of a sum of exponentials; minus infinity for nothing but that."""
    largest = parts[0]
    for part in parts[1:]:
        largest = largest.code.choose(largest < part, part, largest)
    base = largest.code.choose(largest > -inf, largest, 0.0)
    total = exp(parts[0] - base)
    for part in parts[1:]:
        total = total + exp(part - base)
    return log(total) + base
