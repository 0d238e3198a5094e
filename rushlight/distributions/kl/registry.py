"""Which function gives the divergence of a pair of laws."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TypeVar

from ...ops.tensors.tensor import Tensor
from ..distribution import Distribution

__all__ = ["kl_divergence", "register_kl"]

Pair = tuple[type, type]
Divergence = Callable[..., Tensor]
F = TypeVar("F", bound=Divergence)

_KL_REGISTRY: dict[Pair, Divergence] = {}
_KL_MEMOIZE: dict[Pair, Divergence] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[F], F]:
    """A decorator: the function gives KL(p || q) for p and q of these classes and theirs below.

    Raises:
        TypeError: not classes.
    """
    if not (isinstance(type_p, type) and isinstance(type_q, type)):
        raise TypeError("issubclass() arg 1 must be a class")

    def register(function: F) -> F:
        _KL_REGISTRY[type_p, type_q] = function
        _KL_MEMOIZE.clear()  # answers may be others now
        return function

    return register


def _most_special(pairs: list[Pair], first: int) -> Pair:
    """The pair whose class at `first` comes before the others' in every order of inheritance,
    then the other one's."""

    def is_below(a: Pair, b: Pair) -> bool:
        for place in (first, 1 - first):
            if a[place] is not b[place]:
                return issubclass(a[place], b[place])
        return True

    for pair in pairs:
        if all(is_below(pair, other) for other in pairs):
            return pair
    return pairs[0]


def _dispatch_kl(type_p: type, type_q: type) -> Divergence:
    """The function for the nearest classes that have one.

    Raises:
        NotImplementedError: none has.
    """
    fitting = [
        pair for pair in _KL_REGISTRY if issubclass(type_p, pair[0]) and issubclass(type_q, pair[1])
    ]
    if not fitting:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {type_p.__name__} "
            f"and q type {type_q.__name__}"
        )
    by_p, by_q = _most_special(fitting, 0), _most_special(fitting, 1)
    if _KL_REGISTRY[by_p] is not _KL_REGISTRY[by_q]:
        warnings.warn(
            f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). "
            f"Please register_kl({by_p[0].__name__}, {by_q[1].__name__})",
            RuntimeWarning,
            stacklevel=3,
        )
    return _KL_REGISTRY[by_p]


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """The mean under p of log p(x) - log q(x), of the shape of the batch.

    Raises:
        NotImplementedError: no formula is registered for the classes.
    """
    pair = (type(p), type(q))
    found = _KL_MEMOIZE.get(pair)
    if found is None:
        found = _KL_MEMOIZE[pair] = _dispatch_kl(*pair)
    return found(p, q)
