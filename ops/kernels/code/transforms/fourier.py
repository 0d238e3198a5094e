"""Discrete Fourier transforms of contiguous arrays, along any dimension.

Sizes whose prime factors are small are made in stages.  Long ones, and those of which there are
few, are taken as matrices: transforms of the columns are turned, and transforms of the rows follow.
"""

from __future__ import annotations

from functools import cache, lru_cache, partial
from math import isqrt, prod
from typing import Any, Final, NamedTuple

import numpy as np

from ....memory.dtype import Array
from ....memory.remembered import remembered
from ... import threads
from ..calls.run import run
from ..language.named_counts import counts_of
from ..language.text import LANES
from ..loading.objects import kernel
from .fourier_text import STAGE, fourier_text

__all__ = ["along", "of_half", "of_real"]

_LARGEST_PRIME: Final = 127
_FEW: Final = 8
"""Transforms that leave most lanes empty."""
_LONG: Final = 480
"""Points of a transform that is taken as a matrix if it can be."""
_ALONE: Final = 4096
"""Points of a transform that is not."""
_LONGEST: Final = 1 << 18
_WORK: Final = 1 << 14
"""Points that are worth another thread."""
_NOTHING: Final = np.empty(0, np.float32)
_NOTHING.setflags(write=False)
_REALS: Final = {"f4": np.float32, "f8": np.float64, "c8": np.float32, "c16": np.float64}


def along(x: Array, dim: int, scale: float, *, inverse: bool, last: bool = False) -> Array | None:
    """The transforms of a contiguous array along a dimension, which lies as the last one if that is
    asked for; None of sizes that are left to others."""
    x = x[...]  # which no other thread can change
    real, points = _REALS.get(x.dtype.str[1:]), x.shape[dim]
    if real is None or not x.size or not _is_possible(points):
        return None
    outer, inner = prod(x.shape[:dim]), prod(x.shape[dim + 1 :])
    out = np.empty(x.shape, np.complex64 if real is np.float32 else np.complex128)
    kind = "real " if x.dtype.kind == "f" else ""
    across = _split(points) if inner == 1 and (outer < _FEW or points > _LONG) else None
    if across is not None:
        begun = np.empty(x.shape, out.dtype)
        turns = _turns(*across, real)
        _run(
            f"{kind}columns",
            "turned",
            _Call(outer, across[1], across[0], 1.0, inverse),
            x,
            begun,
            turns,
        )
        _run("rows", "columns", _Call(outer, *across, scale, inverse), begun, out, _NOTHING)
        return out
    if points > _ALONE:
        return None
    call = _Call(outer, inner, points, scale, inverse)
    if inner == 1:
        _run(f"{kind}rows", "rows", call._replace(outer=1, inner=outer), x, out, _NOTHING)
    elif last:
        laid = out.reshape(*x.shape[:dim], *x.shape[dim + 1 :], points)
        _run(f"{kind}columns", "rows", call, x, laid, _NOTHING)
        out = np.moveaxis(laid, -1, dim)
    else:
        _run(f"{kind}columns", "columns", call, x, out, _NOTHING)
    return out


def of_real(x: Array, scale: float) -> Array | None:
    """The first half of the transforms of rows of real numbers; None of other sizes."""
    x = x[...]
    real, size = _REALS.get(x.dtype.str[1:]), x.shape[-1]
    points = size if size % 2 else size // 2
    if real is None or not x.size or points > _ALONE or not _is_possible(points):
        return None
    rows, half = prod(x.shape[:-1]), size // 2 + 1
    out = np.empty((*x.shape[:-1], half), np.complex64 if real is np.float32 else np.complex128)
    call = _Call(1, rows, points, scale, False)
    if size % 2:
        _run("real rows", "rows", call._replace(written=half), x, out, _NOTHING)
    else:
        _run("rows", "half", call._replace(written=half), x, out, _half_turns(points, real))
    return out


def of_half(x: Array, size: int, scale: float) -> Array | None:
    """The real numbers, so many in a row, of whose transforms this is the first half."""
    x = x[...]
    real = _REALS.get(x.dtype.str[1:])
    points = size if size % 2 else size // 2
    if x.shape[-1] != size // 2 + 1:
        raise ValueError(f"half of {size} points are not {x.shape[-1]}")
    if real is None or not x.size or points > _ALONE or not _is_possible(points):
        return None
    rows, half = prod(x.shape[:-1]), size // 2 + 1
    out = np.empty((*x.shape[:-1], size), real)
    call = _Call(1, rows, points, scale, True, read=half)
    if size % 2:
        _run("odd half", "real rows", call, x, out, _NOTHING)
    else:
        _run("half", "rows", call, x, out, _half_turns(points, real))
    return out


class _Call(NamedTuple):
    """`outer` times `inner` transforms of so many points; `read` and `written` are there if they
    are others."""

    outer: int
    inner: int
    points: int
    scale: float
    inverse: bool
    read: int = 0
    written: int = 0


def _run(load: str, store: str, call: _Call, x: object, out: Array, turns: object) -> None:
    real = _REALS[out.dtype.str[1:]]
    plan, factors = _plan(call.points), _factors(call.points, real)
    blocks = call.outer * -(-call.inner // LANES)
    slots = min(blocks, threads.get_threads())
    room = 2 * (call.points + LANES) * 2 * LANES + LANES
    memory = np.empty(slots * room + LANES, real)
    is_shared = blocks * LANES * call.points > _WORK
    run(
        *(_kernel("float" if real is np.float32 else "double", load, store), slots),
        *(1 if is_shared else slots, -(-blocks // slots), blocks, call.points),
        *(call.read or call.points, call.written or call.points, call.inner, int(call.inverse)),
        *(len(plan) // STAGE, float(call.scale), plan, factors, turns, memory, x, out),
    )


@cache
def _kernel(element: str, load: str, store: str) -> int:
    text = partial(fourier_text, element=element, load=load, store=store)
    return kernel("fourier", (element, load, store), text)


@lru_cache(1024)
def _is_possible(points: int) -> bool:
    return 0 < points <= _LONGEST and max(_radices(points), default=1) <= _LARGEST_PRIME


@lru_cache(1024)
def _radices(points: int) -> tuple[int, ...]:
    """Fours, a two, and other primes, the large ones first."""
    found = list[int]()
    for prime in (4, 2, 3, 5):
        while points % prime == 0:
            found.append(prime)
            points //= prime
    prime = 7
    while points > 1:
        if prime * prime > points:
            prime = points
        while points % prime == 0:
            found.append(prime)
            points //= prime
        prime += 2
    return tuple(sorted(found, reverse=True))


@lru_cache(1024)
def _split(points: int) -> tuple[int, int] | None:
    """Two factors, the second at least as large, that fill vectors; None where there are none."""
    for first in range(isqrt(points), _FEW - 1, -1):
        if points % first == 0 and points // first <= _ALONE:
            return first, points // first
    return None


@remembered(1 << 20)
def _plan(points: int) -> Array:
    """The stages, and where the factors of each begin."""
    words, left, beside, begin = list[int](), points, 1, 1
    for radix in _radices(points):
        part = left // radix
        words += [radix, part, beside, begin]
        begin += part * (radix - 1) if radix <= 5 else (part + 1) * radix
        left, beside = part, beside * radix
    return counts_of(*words)


@remembered(1 << 22)
def _factors(points: int, real: object) -> Array:
    """By what points are turned between stages, as pairs of parts."""
    found, left = [np.ones(1)], points
    for radix in _radices(points):
        part = left // radix
        first = 1 if radix <= 5 else 0
        found.append(_roots(np.outer(np.arange(part), np.arange(first, radix)), left).reshape(-1))
        if radix > 5:
            found.append(_roots(np.arange(radix), radix))
        left = part
    return _as_pairs(np.concatenate(found), real)


def _roots(numbers: Array, count: int) -> Any:
    """Powers of a root of 1, the first one clockwise."""
    return np.exp(-2j * np.pi * (numbers % count) / count)


def _as_pairs(numbers: Array, real: Any) -> Array:
    made = np.stack((numbers.real, numbers.imag), -1).astype(real)
    made.setflags(write=False)
    return made


@remembered(1 << 22)
def _half_turns(points: int, real: object) -> Array:
    return _as_pairs(_roots(np.arange(points // 2 + 1), 2 * points), real)


@remembered(1 << 24)
def _turns(first: int, second: int, real: Any) -> Array:
    """By what the transforms of columns are turned: all real parts, then all imaginary ones."""
    roots = _roots(np.outer(np.arange(first), np.arange(second)), first * second)
    made = np.stack((roots.real, roots.imag)).astype(real)
    made.setflags(write=False)
    return made
