"""`torch.quasirandom`: Sobol's sequences of points that fill the unit cube evenly.

Directions: Joe and Kuo, "Constructing Sobol sequences with better two-dimensional projections",
SIAM J. Sci. Comput. 30(5), 2008; `sobol_numbers.txt` has their first numbers for 1,111 dimensions,
the others follow from primitive polynomials.  Scrambling: Owen, "Scrambling Sobol' and
Niederreiter-Xing Points", J. Complexity 14(4), 1998, by matrices as Matousek has it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import chain, count
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from .ops.eager.aten import aten
from .ops.memory.dtype import DType, get_default_dtype
from .ops.random_numbers.random import Generator
from .ops.tensors.tensor import Tensor

__all__ = ["SobolEngine"]

_BITS: Final = 30
_FILE: Final = Path(__file__).with_name("sobol_numbers.txt")
Ints = npt.NDArray[np.int64]


class SobolEngine:
    """A sequence of points of the unit cube, scrambled or not.

    Args:
        dimension: of the cube, up to 1,111.
        scramble: whether bits are mixed at random.
        seed: of that mixing; the default generator is asked where there is none.

    Raises:
        ValueError: `dimension` is below 1 or above `MAXDIM`.
        NotImplementedError: it is above 1,111.
    """

    MAXBIT = _BITS
    MAXDIM = 21201

    def __init__(self, dimension: int, scramble: bool = False, seed: int | None = None) -> None:
        if dimension > self.MAXDIM or dimension < 1:
            raise ValueError(
                f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}]"
            )
        self.seed = seed
        self.scramble = scramble
        self.dimension = dimension
        directions = _directions(dimension)
        self.shift = Tensor._of(np.zeros(dimension, np.int64))
        if scramble:
            directions = self._scrambled(directions)
        self.sobolstate = Tensor._of(directions)
        self.quasi: Tensor = self.shift.clone()
        self.num_generated = 0

    def draw(self, n: int = 1, out: Tensor | None = None, dtype: DType | None = None) -> Tensor:
        """The next points.

        Args:
            n: how many.
            out: where to.
            dtype: of the points, the default one if None.

        Returns:
            (n, dimension), from 0 on and below 1.

        Raises:
            RuntimeError: `n` is negative, or 0 at the beginning.
        """
        kind = get_default_dtype() if dtype is None else dtype
        made = Tensor._of(self._next(n)).to(kind) * 2.0**-_BITS
        if out is None:
            return made
        out.resize_as_(made).copy_(made)
        return out

    def draw_base2(self, m: int, out: Tensor | None = None, dtype: DType | None = None) -> Tensor:
        """The next `2**m` points.

        Raises:
            ValueError: with those before they are no power of two.
        """
        n = 2**m
        total = self.num_generated + n
        if total & (total - 1):
            raise ValueError(
                "The balance properties of Sobol' points require n to be a power of 2. "
                f"{self.num_generated} points have been previously generated, then: "
                f"n={self.num_generated}+2**{m}={total}. If you still want to do this, please use "
                "'SobolEngine.draw()' instead."
            )
        return self.draw(n=n, out=out, dtype=dtype)

    def reset(self) -> SobolEngine:
        """Begin anew; the engine is returned."""
        self.quasi.copy_(self.shift)
        self.num_generated = 0
        return self

    def fast_forward(self, n: int) -> SobolEngine:
        """Leave out the next `n` points; the engine is returned."""
        if n:
            self._next(n)
        return self

    def _next(self, n: int) -> Ints:
        """The next points as whole numbers; the engine goes on behind them."""
        first = self.num_generated
        if n < 0 or n == first == 0:
            raise RuntimeError(
                f"Trying to create tensor with negative dimension {n - (first == 0)}: "
                f"[{n - (first == 0)}, {self.dimension}]"
            )
        steps = np.arange(max(first - 1, 0), first + n - 1, dtype=np.int64)
        zeros = np.bitwise_count(steps & ~(steps + 1))  # the last bit not set: where a step goes
        moves = self.sobolstate._array[:, zeros].T
        start = self.quasi._array[None]
        points = np.bitwise_xor.accumulate(np.concatenate([start, moves]), axis=0)
        if n:
            self.quasi._array[...] = points[-1]
        self.num_generated += n
        return points[:n] if first == 0 else points[1:]

    def _scrambled(self, directions: Ints) -> Ints:
        """The directions mixed by lower triangular matrices of bits; the shift is drawn too."""
        generator = None
        if self.seed is not None:
            generator = Generator()
            generator.manual_seed(self.seed)
        draw = aten.randint
        sizes = (self.dimension, _BITS)
        powers = 1 << np.arange(_BITS, dtype=np.int64)
        shift = draw(2, sizes, generator=generator)._array
        self.shift = Tensor._of((shift * powers).sum(-1))
        lower = np.tril(draw(2, (*sizes, _BITS), generator=generator)._array)
        lower[:, range(_BITS), range(_BITS)] = 1
        rows = (lower * powers[::-1]).sum(-1)
        mixed = np.zeros_like(directions)
        for place in range(_BITS):
            odd = np.bitwise_count(rows[:, place, None] & directions).astype(np.int64) & 1
            mixed |= odd << (_BITS - 1 - place)
        return mixed

    def __repr__(self) -> str:
        said = [f"dimension={self.dimension}"]
        if self.scramble:
            said.append("scramble=True")
        if self.seed is not None:
            said.append(f"seed={self.seed}")
        return f"{type(self).__name__}({', '.join(said)})"


@cache
def _words() -> list[str]:
    """The bits of the first numbers of each dimension but the first."""
    return _FILE.read_text(encoding="ascii").split()


def _directions(dimension: int) -> Ints:
    """The directions (dimension, 30) as whole numbers of 30 bits.

    Raises:
        NotImplementedError: the numbers of so many dimensions are not kept.
    """
    words = _words()
    if dimension > len(words) + 1:
        raise NotImplementedError(
            f"SobolEngine: numbers for {len(words) + 1} dimensions are kept here, not for "
            f"{dimension}"
        )
    rows = [[1 << (_BITS - 1 - place) for place in range(_BITS)]]
    for word, (degree, inner) in zip(words[: dimension - 1], _polynomials(), strict=False):
        rows.append(_row(int(word, 16), degree, inner))
    return np.array(rows, np.int64)


def _row(bits: int, degree: int, inner: int) -> list[int]:
    """The directions of a dimension: some are given, others follow by its polynomial."""
    row = list[int]()
    for place in reversed(range(degree)):
        number = (bits & ((1 << place) - 1)) << 1 | 1
        bits >>= place
        row.insert(0, number << (_BITS - 1 - place))
    for place in range(degree, _BITS):
        number = row[place - degree] ^ row[place - degree] >> degree
        for back in range(1, degree):
            if inner >> (degree - 1 - back) & 1:
                number ^= row[place - back]
        row.append(number)
    return row


# --------------------------------------------------------------------------- polynomials


def _polynomials() -> Iterator[tuple[int, int]]:
    """Primitive polynomials over two elements: degree, and coefficients without first and last."""
    return chain([(1, 0)], ((degree, inner) for degree in count(2) for inner in _inner(degree)))


@cache
def _inner(degree: int) -> list[int]:
    order = (1 << degree) - 1
    factors = [p for p in range(2, order + 1) if order % p == 0 and _is_prime(p)]
    found = []
    for inner in range(1 << (degree - 1)):
        whole = 1 << degree | inner << 1 | 1
        if _power(order, whole, degree) == 1 and all(
            _power(order // p, whole, degree) != 1 for p in factors
        ):
            found.append(inner)
    return found


def _is_prime(number: int) -> bool:
    return all(number % p for p in range(2, int(number**0.5) + 1))


def _power(exponent: int, whole: int, degree: int) -> int:
    """`x**exponent` modulo a polynomial."""
    made, square = 1, 2
    while exponent:
        if exponent & 1:
            made = _product(made, square, whole, degree)
        square = _product(square, square, whole, degree)
        exponent >>= 1
    return made


def _product(a: int, b: int, whole: int, degree: int) -> int:
    made = 0
    while b:
        if b & 1:
            made ^= a
        a <<= 1
        if a >> degree:
            a ^= whole
        b >>= 1
    return made
