"""Bounds on what code that is not trusted may use up: instructions, memory and time.

Guarded code runs on the machine alone, never as a plan.  A count is kept wherever code can jump to,
so every loop passes one; operators are looked at before they run (do the sizes asked for fit?) and
after (is the result too large?), and the memory of the process is watched.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ..ops.errors import OperatorError
from ..ops.table import Operator
from ..typecheck.schema import Signature

__all__ = ["Bounds", "Guard", "LimitExceeded", "active_guard"]


class LimitExceeded(OperatorError):
    """Code that is not trusted went beyond a bound."""

    def __init__(self, what: str) -> None:
        super().__init__(what, code="limit-exceeded", headline=what)


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much one call of guarded code may use: instructions, bytes of memory, seconds."""

    instructions: int = 20_000_000
    memory: int = 1 << 31
    seconds: float = 60.0


class _Active(threading.local):
    guard: Guard | None = None


_ACTIVE = _Active()

_TICK = 64
"""Instructions that are counted at once."""


def active_guard() -> Guard | None:
    """The guard under which this thread runs code, if any."""
    return _ACTIVE.guard


class _Use(threading.local):
    """What the running call of a thread has used."""

    depth = 0
    instructions = 0
    checked = 0
    until = 0.0
    memory = 0


class Guard:
    """The bounds of one archive's code."""

    def __init__(self, bounds: Bounds) -> None:
        self.bounds = bounds
        self._use = _Use()

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Code runs under this guard; the outermost call begins to count anew."""
        use, before = self._use, _ACTIVE.guard
        if use.depth == 0:
            use.instructions = use.checked = 0
            use.until = time.monotonic() + self.bounds.seconds
            use.memory = _resident() + self.bounds.memory
        if use.depth > 200:
            raise LimitExceeded("calls lie more than 200 deep in each other")
        use.depth += 1
        _ACTIVE.guard = self
        try:
            yield
        finally:
            use.depth -= 1
            _ACTIVE.guard = before

    # -- counting

    def count(self, instructions: int = _TICK) -> None:
        """Note that so many instructions have run.

        Raises:
            LimitExceeded: they, or the time, or the memory, are too many.
        """
        use = self._use
        use.instructions += instructions
        if use.instructions > self.bounds.instructions:
            raise LimitExceeded(f"more than {self.bounds.instructions} instructions have run")
        if use.instructions - use.checked >= 4096:
            use.checked = use.instructions
            self._watch()

    def _watch(self) -> None:
        if time.monotonic() > self._use.until:
            raise LimitExceeded(f"it has run for more than {self.bounds.seconds:g} seconds")
        if _resident() > self._use.memory:
            raise LimitExceeded(f"it has taken more than {self.bounds.memory} bytes of memory")

    # -- operators

    def forward(self, operator: Operator, plain: Callable[..., Any]) -> Callable[..., Any]:
        """An operator's forward with the checks around it."""

        def forward(*values: Any) -> Any:
            self.before(operator.signature, values)
            result = plain(*values)
            self.after(result)
            return result

        return forward

    def scalar(self, compute: Callable[[Any, Any], Any], is_product: bool) -> Callable[..., Any]:
        """A sum or product of numbers, strings or lists with the checks before it."""

        def checked(left: Any, right: Any) -> Any:
            if not isinstance(left, float):
                claimed = _sequences((left, right), is_product) * 8
                if claimed > self.bounds.memory:
                    raise LimitExceeded(f"a string or list would have {claimed:.3g} bytes")
                if claimed > 1 << 20:
                    self._watch()
            return compute(left, right)

        return checked

    def before(self, signature: Signature, values: Sequence[Any]) -> None:
        """Refuse an operator that asks for too much.

        Raises:
            LimitExceeded: it does.
        """
        claimed = _claimed(signature, values)
        if claimed > self.bounds.memory:
            raise LimitExceeded(
                f"`{signature.name}` asks for about {claimed:.3g} bytes "
                f"(the limit is {self.bounds.memory})"
            )

    def after(self, result: Any) -> None:
        """Refuse a result that is too large.

        Raises:
            LimitExceeded: it is.
        """
        size = _size(result)
        if size > self.bounds.memory:
            raise LimitExceeded(f"a result has {size} bytes (the limit is {self.bounds.memory})")
        if size > 1 << 20:
            self._watch()
        self.count(8)


def _resident() -> int:
    """The bytes of memory of the process; 0 where the system does not tell."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * 4096
    except (OSError, IndexError, ValueError):
        return 0


def _size(value: Any) -> int:
    if isinstance(value, np.ndarray):
        return value.nbytes if value.base is None else 0
    if isinstance(value, str):
        return len(value)
    if isinstance(value, list | tuple):
        return 8 * len(value) + sum(map(_size, value[:16]))
    return 0


_SIZES = frozenset(
    """size sizes repeats pad output_size shape end steps n N num_classes repeat reps diagonal
    minlength padding scale_factors output_padding kernel_size n_fft M""".split()
)
"""Arguments that say how large a result becomes."""


@lru_cache(maxsize=4096)
def _size_arguments(full_name: str, names: tuple[str, ...]) -> tuple[int, ...]:
    return tuple(i for i, name in enumerate(names) if name in _SIZES)


def _claimed(signature: Signature, values: Sequence[Any]) -> float:
    """About how many bytes the result will have, guessed from above where it matters."""
    name = signature.name
    arrays = [v for v in values if isinstance(v, np.ndarray)]
    most = max((float(a.size) for a in arrays), default=1.0)
    claimed = 0.0
    names = tuple(argument.name for argument in signature.arguments)
    for place in _size_arguments(signature.full_name, names):
        value = values[place] if place < len(values) else None
        if isinstance(value, list) and all(isinstance(v, int) for v in value):
            product = math.prod(max(abs(float(v)), 1.0) for v in value) if value else 1.0
            grows = name.endswith(("repeat", "tile", "pad_nd", "pad", "one_hot", "interleave"))
            claimed = max(claimed, product * (most if grows else 1.0))
        elif isinstance(value, int | float) and not isinstance(value, bool):
            claimed = max(claimed, abs(float(value)) * (most if name in _SQUARES else 1.0))
    if len(arrays) > 1:
        claimed = max(claimed, _joint(name, arrays))
    return float(max(claimed, _sequences(values, name == "aten::mul")) * 8)


def _sequences(values: Sequence[Any], is_product: bool) -> float:
    """The elements of what strings and lists make together, added or repeated."""
    found = [v for v in values if isinstance(v, str | list)]
    size = float(sum(len(v) if isinstance(v, str) else 16 * len(v) for v in found))
    if is_product and found:
        return size * float(max((v for v in values if isinstance(v, int)), default=1))
    return size


_SQUARES = frozenset({"aten::eye", "aten::one_hot", "aten::repeat_interleave"})


def _joint(name: str, arrays: Sequence[np.ndarray[Any, Any]]) -> float:
    """The elements of what several arrays make together."""
    if name in ("aten::outer", "aten::ger", "aten::kron", "aten::cartesian_prod", "aten::einsum"):
        return math.prod(float(max(a.size, 1)) for a in arrays)
    if name in ("aten::matmul", "aten::mm", "aten::bmm", "aten::linear", "aten::cdist"):
        a, b = arrays[0], arrays[1]
        if not a.ndim or not b.ndim:
            return 1.0
        last = (
            b.shape[-2] if name in ("aten::linear", "aten::cdist") and b.ndim > 1 else (b.shape[-1])
        )
        rows = float(a.size // max(a.shape[-1], 1))
        batches: int = b.size // max(math.prod(b.shape[-2:]), 1)
        return rows * float(last) * max(1, batches)
    shape = [1] * max(a.ndim for a in arrays)
    for array in arrays:
        for place, length in enumerate(reversed(array.shape), 1):
            shape[-place] = max(shape[-place], length)
    joint = math.prod(map(float, shape))
    together = sum(float(a.size) for a in arrays)
    return joint if _broadcast(arrays) else together


def _broadcast(arrays: Sequence[np.ndarray[Any, Any]]) -> bool:
    try:
        np.broadcast_shapes(*(a.shape for a in arrays))
    except ValueError:
        return False
    return True
