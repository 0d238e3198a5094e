"""Random numbers: the streams of torch's CPU generator, bit for bit.

The engine is mt19937 (Matsumoto and Nishimura 1998), its raw draws come from NumPy.  Normal numbers
are made by Box and Muller's method: singly in double, or 16 at a time in float32 with polynomials
of Cephes (logf, sinf, cosf by Stephen Moshier; the 8-lane arrangement is the one of avx_mathfun,
zlib licence).  There the last bit depends on which products and sums are fused, so these are fused
as in torch's AVX2 build.
"""

from __future__ import annotations

import math
import os
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import get_ident
from types import ModuleType
from typing import Any, Final

import numpy as np

from ...frontend.foundations.locks import fork_safe_lock
from ..arithmetic.fused import fused_double, fused_float
from ..kernels import cast_by_kernel, family, written_by_numpy
from ..kernels.flags import new_stream
from ..memory.dtype import CPU, Array, Device, Dtype
from ..memory.storage import address
from .cephes import log, sine_and_cosine
from .engine import WORDS, Engine

__all__ = [
    *("Generator", "default_generator", "draws_noted", "manual_seed", "natively", "normal"),
    *("single_normals", "uniform"),
]

F: Final = np.float32
D: Final = np.float64
_FLOAT32: Final = np.dtype(F)
_LOW_WORD: Final = 0xFFFFFFFF
_STATE_BYTES: Final = 5056
_LOW_24: Final = np.uint64((1 << 24) - 1)
_LOW_53: Final = np.uint64((1 << 53) - 1)
_LARGE: Final = 1 << 15
"""So many draws are made for themselves; fewer come out of what was drawn ahead, up to as many."""


_FEW: Final = 1 << 12
"""So many draws at most are learned with the calls that make something of them."""

_DRAWN: Final[dict[int, bool]] = {}
"""Threads that want to know whether they draw, and whether they did."""


@contextmanager
def draws_noted() -> Iterator[Callable[[], bool]]:
    """A block, and what tells whether its thread has drawn random numbers in it."""
    thread = get_ident()
    outside = _DRAWN.get(thread)
    _DRAWN[thread] = False
    default_generator.keep()
    try:
        yield lambda: _DRAWN[thread]
    finally:
        inside = _DRAWN.pop(thread)
        if outside is not None:
            _DRAWN[thread] = outside or inside


Place = tuple[int, bool, float | None, Array | None, tuple[Array, int, Array | None]]
"""The seed of a generator, what else it holds, its engine's state, and what was drawn ahead."""


class Generator:
    """A stream of random numbers.  Threads may share one: a draw has it for itself.

    Args:
        device: must be the CPU.
    """

    __slots__ = (
        *("_ahead", "_at", "_before", "_is_started", "_made", "_seed", "cached_normal", "fresh"),
        *("_is_lent", "_is_withheld", "_stream", "lock"),
    )

    def __init__(self, device: object = "cpu") -> None:
        if str(device) != "cpu":
            raise RuntimeError(f"Device type {device} is not supported for torch.Generator() api.")
        self.lock = fork_safe_lock(of_object=True)
        self._made: Engine | None = None
        self._stream: Array | None = None
        self._is_lent = self._is_withheld = False
        self._start(67280421310721)

    def _start(self, seed: int) -> None:
        """Put the generator to the beginning of a seed's stream."""
        with self.lock:
            self._take_back()
            self._seed = seed
            self._is_started = False
            self._forget_ahead()
            self.cached_normal: float | None = None
            self.fresh = True

    def _lend(self) -> None:
        """Let native code draw what was drawn ahead by itself, if it has learned calls that do, and
        nobody wants to know who draws, nor is amid several draws that belong together.

        Whoever calls this, or `_take_back`, holds the lock.
        """
        if self._stream is not None and not (_DRAWN or self._is_withheld):
            normal = self.cached_normal
            begin, left = address(self._ahead) + 8 * self._at, self._ahead.size - self._at
            self._stream.view(D)[4] = normal or 0.0
            self._stream[3] = normal is not None
            self._stream[:2] = begin, left
            self._is_lent = True  # no call before this, where an interrupt could come

    def _take_back(self) -> None:
        """Have native code draw no more; what it drew is used."""
        if self._is_lent:
            assert self._stream is not None
            self._at = self._ahead.size - int(self._stream[1])
            self.cached_normal = float(self._stream.view(D)[4]) if self._stream[3] else None
            self._stream[1] = self._stream[3] = 0
            self._is_lent = False

    def keep(self) -> None:
        """Have native code draw nothing until there are draws again."""
        with self.lock:
            self._take_back()

    def _may_be_learned(self) -> bool:
        """Whether kernels may take draws themselves, for somebody who learns calls that do."""
        is_free = self is default_generator and not (_DRAWN or self._is_withheld)
        return is_free and bool(family("calls.run").learns_draws())

    def _is_done(self, count: int, kernel: Callable[[Array], bool]) -> bool:
        """Whether a kernel took draws out of the stream, which holds so many at least.

        It says itself whether there were enough: calls that are known may draw meanwhile, in other
        threads, which need no lock.
        """
        while self._may_be_learned():
            self._take_back()
            if self._stream is None:
                self._stream = new_stream()
            if self._ahead.size - self._at < count:
                self._draw_ahead(count)
            self._lend()
            if kernel(self._stream):
                return True
        return False

    def take_normal(self) -> float | None:
        """The normal number that is kept, which is kept no longer; whoever takes it holds the lock
        until he has called `keep_normal`, and nobody else draws."""
        self._take_back()
        self._is_withheld = True
        found, self.cached_normal = self.cached_normal, None
        return found

    def keep_normal(self, number: float | None) -> None:
        """Keep a normal number, or none, for the next draw of some."""
        self._take_back()
        self.cached_normal, self._is_withheld = number, False
        self._lend()

    def are_normals_learned(self, native: ModuleType, mean: float, std: float, out: Array) -> bool:
        """Whether few float32 or float64 in one piece were filled with normal numbers by a kernel
        that draws itself, since somebody learns such calls."""
        with self.lock:
            is_done = self._is_done(
                2 * out.size + 2, lambda stream: native.are_normals(stream, mean, std, out)
            )
            self.fresh = self.fresh and not is_done
            return is_done

    def _forget_ahead(self) -> None:
        self._ahead: Array = np.empty(0, np.uint64)
        self._at = 0
        self._before: Array | None = None

    def _engine(self) -> Engine:
        """The engine, made and seeded when first drawn from; only 32 bits of the seed reach it.

        Whoever calls this holds the lock.
        """
        if self._made is None:
            self._made = Engine()
        if not self._is_started:
            self._made.seed(self._seed & _LOW_WORD)
            self._is_started = True
        return self._made

    def _set_engine(self, key: Array, position: int) -> None:
        if self._made is None:
            self._made = Engine()
        self._made.state = np.append(key, np.uint32(position))
        self._is_started = True
        self._forget_ahead()

    def manual_seed(self, seed: int) -> Generator:
        """Start the stream of a seed; negative seeds count from 2**64 down.

        Raises:
            RuntimeError: it is no whole number.
            ValueError: it does not fit into 64 bits.
        """
        if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
            raise RuntimeError(f"manual_seed expected a long, but got {type(seed).__name__}")
        seed = int(seed)
        if not -(1 << 63) <= seed < 1 << 64:
            raise ValueError("Overflow when unpacking long long")
        self._start(seed % (1 << 64))
        return self

    def initial_seed(self) -> int:
        """The seed the stream was started with."""
        return self._seed

    def seed(self) -> int:
        """Start the stream of a seed taken from the operating system, which is returned."""
        seed = int.from_bytes(os.urandom(8), "little")
        self._start(seed)
        return seed

    def words(self, count: int) -> Array:
        """`count` draws of 32 bits, not to be written to.

        NumPy lets other threads run while it draws, but too briefly for one that waits to wake up,
        and the wait begins anew: few large draws let it in, where many small ones would not.
        """
        with self.lock:
            self._take_back()
            if count:
                self.fresh = False
                if _DRAWN:
                    self._note()
                native = family("calls.run")
                if native is not None:
                    engines = family("drawing.engines") if count <= _FEW else None
                    if engines is not None and self._may_be_learned():
                        drawn = np.empty(count, np.uint64)
                        if self._is_done(count, lambda stream: engines.are_taken(stream, drawn)):
                            return drawn
                    native.unforeseen()
            begin, end = self._at, self._at + count
            if end > self._ahead.size:
                found = self._more(count)
            else:
                self._at, found = end, self._ahead[begin:end]
            self._lend()
            return found

    def _more(self, count: int) -> Array:
        """The rest of what was drawn ahead and new draws, more of them every time."""
        engine, rest = self._engine(), self._ahead[self._at :]
        missing = count - rest.size
        size = min(max(2 * self._ahead.size, 4 * missing, WORDS), _LARGE)
        self._forget_ahead()
        if 2 * missing > size:
            drawn = new = engine.draw(missing)
        else:
            self._before = engine.state
            drawn = engine.draw(size)
            new, self._ahead, self._at = drawn[:missing], drawn, missing
        return np.concatenate([rest, new]) if rest.size else np.asarray(new, np.uint64)

    def use(self, least: int, take: Callable[[Array, Array], int]) -> None:
        """Hand out draws, at least so many, and go on behind those that are said to be taken.

        `take` is given the kept normal number too, and whether there is one, and may change both.
        """
        with self.lock:
            self._take_back()
            rest = self._ahead.size - self._at
            if rest < least:
                self._draw_ahead(least)
            kept = self.cached_normal
            normal = np.array([kept is not None, kept or 0.0], D)
            taken = take(self._ahead[self._at :], normal)
            if taken:
                self.fresh = False
                self._note()
            self._at += taken
            self.cached_normal = float(normal[1]) if normal[0] else None

    def _draw_ahead(self, least: int) -> None:
        """Have so many draws at hand, those that are already among them."""
        before, rest = self._standing(), self._ahead[self._at :]
        size = max(min(max(2 * self._ahead.size, WORDS), _LARGE), least - rest.size)
        self._ahead, self._at = np.concatenate([rest, self._engine().draw(size)]), 0
        self._before = before

    def _note(self) -> None:
        """Note that numbers are drawn, for who wants to know."""
        if _DRAWN and get_ident() in _DRAWN:
            _DRAWN[get_ident()] = True

    def _standing(self) -> Array:
        """The engine's 624 words and how many of them are used, as if nothing were drawn ahead."""
        engine = self._engine()
        if self._at < self._ahead.size:
            engine = Engine(self._before)
            engine.skip(self._at)
        return engine.state

    def long_words(self, count: int) -> Array:
        """`count` draws of 64 bits, the high word drawn first."""
        pairs = self.words(2 * count).reshape(count, 2)
        return (pairs[:, 0] << np.uint64(32)) | pairs[:, 1]

    def floats(self, count: int) -> Array:
        """`count` float32 numbers in [0, 1)."""
        return _units(self.words(count))

    def doubles(self, count: int) -> Array:
        """`count` float64 numbers in [0, 1)."""
        native = family("drawing.draws") if count else None
        if native is not None:
            made: Array = native.doubles(self.words(2 * count), 0.0, 1.0)
            return made
        found = (self.long_words(count) & _LOW_53).astype(D)
        return np.multiply(found, 2.0**-53, out=found)

    def place(self) -> Place:
        """Where the generator stands, for `return_to`."""
        with self.lock:
            self._take_back()
            state = self._engine().state if self._is_started else None
            ahead = self._ahead, self._at, self._before
            return self._seed, self.fresh, self.cached_normal, state, ahead

    def return_to(self, place: Place) -> None:
        """Go back to where the generator stood."""
        seed, fresh, cached, state, ahead = place
        with self.lock:
            self._start(seed)
            self.fresh, self.cached_normal = fresh, cached
            if state is not None:
                self._is_started = True
                self._engine().state = state
                self._ahead, self._at, self._before = ahead

    def state_bytes(self) -> bytes:
        """The state as torch lays it out, 5056 bytes."""
        with self.lock:
            self._take_back()
            state = self._standing()
            seed, fresh, cached = self._seed, self.fresh, self.cached_normal
        key, position = state[:WORDS], int(state[WORDS])
        left, place = (1, 0) if fresh else (625 - position, position)
        normal = 0.0 if cached is None else cached
        head = struct.pack("<QiiQ", seed, left, 1, place)
        tail = struct.pack("<dddiixxxxxxxx", 0.0, normal, 0.0, cached is not None, 0)
        return head + key.astype("<u8").tobytes() + tail

    def set_state_bytes(self, data: bytes) -> None:
        """Go back to a state that `state_bytes` gave.

        Raises:
            RuntimeError: the data is of another size, or no engine can stand where it says.
        """
        if len(data) != _STATE_BYTES:
            raise RuntimeError(
                f"Expected a CPUGeneratorImplState of size {_STATE_BYTES} but found the input RNG "
                f"state size to be {len(data)}"
            )
        seed, left, is_seeded, place = struct.unpack_from("<QiiQ", data)
        stands = place <= WORDS if left == 1 else 1 < left <= WORDS and place == WORDS + 1 - left
        if not is_seeded or not stands:
            raise RuntimeError("Invalid mt19937 state")
        fresh = left == 1 and place == 0
        key = np.frombuffer(data, "<u8", WORDS, 24).astype(np.uint32)
        _, cached, _, valid, _ = struct.unpack_from("<dddii", data, 24 + WORDS * 8)
        with self.lock:
            self._take_back()
            self._set_engine(key, WORDS if left == 1 else place)
            self._seed, self.fresh = seed, fresh
            self.cached_normal = cached if valid else None

    @property
    def device(self) -> Device:
        """Where its numbers are made: the CPU."""
        return CPU

    def clone_state(self) -> Generator:
        """Another generator that stands where this one does."""
        copy = Generator()
        copy.set_state_bytes(self.state_bytes())
        return copy

    def __reduce__(self) -> tuple[object, ...]:
        return _restored, (self.state_bytes(),)

    def __setstate__(self, state: tuple[int, int | None, Any]) -> None:
        """Stand where a pickle of PyTorch says: seed, offset, and the state as a tensor."""
        self.set_state_bytes(bytes(state[2].tolist()))

    def __repr__(self) -> str:
        return f"<torch._C.Generator object at {id(self):#x}>"


def _units(draws: Array) -> Array:
    """The float32 numbers in [0, 1) of draws."""
    found = (draws & _LOW_24).astype(F)
    return np.multiply(found, F(2.0**-24), out=found)


def natively(name: str = "drawing.normals") -> Any:
    """The kernels that make float32 numbers of draws, or others; None without instructions that
    they need."""
    native = family("language.target")
    return family(name) if native is not None and native.host().has_fma else None


def _restored(state: bytes) -> Generator:
    """The generator that was pickled or copied."""
    made = Generator()
    made.set_state_bytes(state)
    return made


default_generator: Final = Generator()
"""What is drawn from when no generator is named; a new process begins with a random seed."""
default_generator.seed()


def manual_seed(seed: int) -> Generator:
    """Start the stream of a seed in the default generator, which is returned."""
    return default_generator.manual_seed(int(seed))


# --------------------------------------------------------------------------- uniform numbers


def uniform(g: Generator, count: int, dtype: Dtype, low: float, high: float) -> Array:
    """`count` numbers in [low, high), in the given float dtype."""
    if dtype == D:
        native = natively("drawing.draws") if count else None
        if native is not None:
            made: Array = native.doubles(g.words(2 * count), low, high - low)
            return made
        return fused_double(g.doubles(count), high - low, low)
    if dtype == F:
        return _single(g, count, low, high)
    rounded = cast_by_kernel(_single(g, count, low, high), dtype)
    limit, start = np.asarray(high, F).astype(dtype), np.asarray(low, F).astype(dtype)
    np.putmask(rounded, cast_by_kernel(rounded, _FLOAT32) >= limit.astype(F), start)
    return rounded


def _single(g: Generator, count: int, low: float, high: float) -> Array:
    """`count` float32 numbers from `low` to `high`."""
    native = natively() if count else None
    if native is None:
        return fused_float(g.floats(count), F(high) - F(low), F(low))
    return native.uniforms(g.words(count), low, high, np.empty(count, F))  # type: ignore[no-any-return]


# --------------------------------------------------------------------------- normal numbers


def single_normals(g: Generator, count: int, mean: float, std: float) -> Array:
    """Numbers made one by one, in double; an odd one out is kept for the next call."""
    written_by_numpy()  # a number is kept, or is not
    if not count:
        return np.empty(0)
    with g.lock:
        kept, last = g.take_normal(), None
        parts = [] if kept is None else [fused_double(np.array([kept]), std, mean)]
        missing = count - len(parts)
        if missing:
            made, behind = _in_pairs(g, missing + missing % 2, mean, std)
            parts.append(made[:missing])
            last = behind if missing % 2 else None
        g.keep_normal(last)
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _in_pairs(g: Generator, count: int, mean: float, std: float) -> tuple[Array, float]:
    """So many normal numbers, and the last one as it is without mean and `std`."""
    native = natively("drawing.single_normals")
    if native is None or not native.is_possible():
        return _pairs(g.doubles(count), mean, std)
    made, last = native.single_normals(g.words(2 * count), mean, std)
    return made, last


def _pairs(units: Array, mean: float, std: float) -> tuple[Array, float]:
    """The same of numbers in [0, 1), two of each two."""
    first, second = units[::2], units[1::2]
    radius, angle = np.sqrt(-2.0 * from_libm("log1p", -second)), 2.0 * math.pi * first
    pair = radius * from_libm("cos", angle), radius * from_libm("sin", angle)
    made = np.stack(pair, 1).reshape(-1)
    return fused_double(made, std, mean), float(made[-1])


def _sixteens(draws: Array, mean: float, std: float) -> Array:
    """Groups of 16 float32: the first 8 give the radius, the last 8 the angle."""
    native = natively()
    if native is not None:
        made: Array = native.normals(draws, mean, std)
        return made
    groups = _units(draws).reshape(-1, 2, 8)
    radius = np.sqrt(F(-2) * log(np.ascontiguousarray(F(1) - groups[:, 0])))
    sine, cosine = sine_and_cosine(F(2 * math.pi) * groups[:, 1])
    pair = np.stack([radius * cosine, radius * sine], 1).reshape(-1)
    return pair + F(mean) if std == 1.0 else fused_float(pair, F(std), F(mean))


def from_libm(name: str, values: Array) -> Array:
    """A function of the C library, element by element: NumPy's own differ in the last bit."""
    native = family("drawing.draws") if values.size else None
    if native is not None and native.is_possible():
        made: Array = native.apply_c(name, np.ascontiguousarray(values, D))
        return made
    function = np.frompyfunc(getattr(math, name), 1, 1)
    return np.asarray(function(values), D)


def _long_sixteens(draws: Array, mean: float, std: float) -> Array:
    """The same of float64, each of two draws."""
    native = natively("drawing.draws")
    if native is not None and native.is_possible():
        made: Array = native.normals(draws, mean, std)
        return made
    high, low = draws[::2] << np.uint64(32), draws[1::2]
    groups = (((high | low) & _LOW_53).astype(D) * 2.0**-53).reshape(-1, 2, 8)
    radius = np.sqrt(-2 * from_libm("log", 1 - groups[:, 0]))
    angle = 2.0 * math.pi * groups[:, 1]
    pair = [
        fused_double(radius * from_libm("cos", angle), std, mean),
        fused_double(radius * from_libm("sin", angle), std, mean),
    ]
    return np.stack(pair, 1).reshape(-1)


def normal(g: Generator, count: int, dtype: Dtype, mean: float, std: float) -> Array:
    """`count` normal numbers for a contiguous tensor of a float dtype."""
    with g.lock:
        return _normal(g, count, dtype, mean, std)


def _normal(g: Generator, count: int, dtype: Dtype, mean: float, std: float) -> Array:
    if count < 16:
        return single_normals(g, count, mean, std).astype(F if dtype != D else D).astype(dtype)
    whole = count // 16 * 16
    if dtype not in (np.dtype(D), np.dtype(F)):  # 16-bit floats draw whole groups only
        draws = g.words(whole if whole == count else whole + 16)
        return _overlapped(_sixteens(draws, mean, std), count).astype(dtype)
    each, compute = (2, _long_sixteens) if dtype == D else (1, _sixteens)
    draws = g.words(each * count)
    if whole < count:
        draws = np.concatenate([draws[: each * whole], g.words(each * 16)])
    return _overlapped(compute(draws, mean, std), count)


def _overlapped(groups: Array, count: int) -> Array:
    """`count` numbers of groups of 16, the last of which ends with them, over the one before."""
    if groups.size == count:
        return groups
    return np.concatenate([groups[: count - 16], groups[-16:]])
