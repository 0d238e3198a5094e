"""The rules of operators that take several tensors along one dimension of each."""

from __future__ import annotations

from typing import Any, Final

from ..eager.dispatch import EagerFunction
from ..tensors.tensor import Tensor
from .families import Family
from .leading import rank_of
from .opened import NotTogetherError, Opened, Rule
from .samples import count_of, for_each, given_by_name

__all__ = ["ALONG", "behind"]


def behind(dim: object, rank: int) -> int:
    """A dimension of a slice as one of all slices."""
    if type(dim) is not int or not -max(rank, 1) <= dim < max(rank, 1):
        raise NotTogetherError
    return dim % max(rank, 1) + 1


def places(func: EagerFunction, args: list[Any], kwargs: dict[str, Any]) -> object:
    """Elements at places along a dimension, which each slice may name for itself."""
    tensors = [each for each in (*args, *kwargs.values()) if isinstance(each, (Opened, Tensor))]
    ranks = {rank_of(each) for each in tensors}
    at = 2 if func.__name__ == "take_along_dim" else 1
    dim = args[at] if len(args) > at else kwargs.get("dim")
    if len(ranks) > 1 or 0 in ranks or dim is None:
        raise NotTogetherError
    count, rank = count_of(tensors), ranks.pop()

    def seen(each: object) -> object:
        return for_each(each, count) if isinstance(each, (Opened, Tensor)) else each

    args, kwargs = list(map(seen, args)), {key: seen(each) for key, each in kwargs.items()}
    if len(args) > at:
        args[at] = behind(dim, rank)
    else:
        kwargs["dim"] = behind(dim, rank)
    return func(*args, **kwargs)


def rows(func: EagerFunction, args: list[object], kwargs: dict[str, object]) -> object:
    """Parts along a dimension, by numbers that slices share or name for themselves."""
    given = given_by_name(func, args, kwargs)
    x, dim, index = given["self"], given["dim"], given["index"]
    rank = rank_of(x)
    if not rank or rank_of(index) != 1:
        raise NotTogetherError
    at = behind(dim, rank)
    if type(index) is not Opened:
        return func(x[0], at, index)
    count = index[0].shape[0]
    whole = for_each(x, count)
    sizes = list(whole.shape)
    sizes[at] = index[0].shape[1]
    shape = [count, *[1] * rank]
    shape[at] = -1
    if 0 in sizes:
        raise NotTogetherError
    return whole.gather(at, index[0].long().reshape(shape).expand(sizes))


def joined(func: EagerFunction, args: list[Any], kwargs: dict[str, Any]) -> object:
    """Tensors one behind the other, or as parts of a new dimension."""
    name = next((each for each in ("dim", "axis") if each in kwargs), "")
    fits = args and isinstance(args[0], list) and len(args) + len(kwargs) <= 2
    if not fits or (kwargs and not name):
        raise NotTogetherError
    tensors = args[0]
    dim = kwargs[name] if name else args[1] if len(args) > 1 else 0
    ranks = {rank_of(each) for each in tensors}
    rank = max(ranks) + (func.__name__ == "stack")
    if len(ranks) > 1 or not rank:
        raise NotTogetherError
    count = count_of(tensors)
    return func([for_each(each, count) for each in tensors], behind(dim, rank))


ALONG: Final[dict[Family, Rule]] = {"places": places, "rows": rows, "joined": joined}
"""These rules, by their families."""
