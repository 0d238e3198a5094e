"""The rules of operators that let other dimensions stand in front of what they work on."""

from __future__ import annotations

from string import ascii_letters
from typing import Any, Final

from ..eager.dispatch import EagerFunction
from ..tensors.tensor import Tensor
from .families import Family
from .opened import NotTogetherError, Opened, Rule
from .samples import given_by_name, whole_of

__all__ = ["LEADING", "aligned", "at_rank", "rank_of"]


def rank_of(value: Tensor | Opened) -> int:
    """How many dimensions a slice has."""
    return value[0].dim() - 1 if isinstance(value, Opened) else value.dim()


def at_rank(value: Opened, rank: int) -> Tensor:
    """All slices with ones in front of each, so that they have `rank` dimensions."""
    whole = value[0]
    missing = rank + 1 - whole.dim()
    sizes = [whole.shape[0], *[1] * missing, *whole.shape[1:]]
    return whole if missing <= 0 else whole.reshape(sizes)


def aligned(value: object, rank: int) -> object:
    """The same of what stands for slices; anything else as it is."""
    return at_rank(value, rank) if type(value) is Opened else value


def _in_front(
    func: EagerFunction, args: list[object], kwargs: dict[str, object], least: int
) -> object:
    """The operator itself, where slices have all the dimensions that it works on."""
    tensors = [each for each in (*args, *kwargs.values()) if isinstance(each, (Opened, Tensor))]
    ranks = [rank_of(each) for each in tensors]
    if not ranks or min(ranks) < least or any(type(each) is list for each in args[:1]):
        raise NotTogetherError
    rank = max(ranks)
    named = {key: aligned(each, rank) for key, each in kwargs.items()}
    return func(*[aligned(each, rank) for each in args], **named)


def matrices(func: EagerFunction, args: list[object], kwargs: dict[str, object]) -> object:
    """What works on matrices, or pairs of them."""
    return _in_front(func, args, kwargs, 2)


def pictures(func: EagerFunction, args: list[object], kwargs: dict[str, object]) -> object:
    """What works on channels of rows and columns."""
    return _in_front(func, args, kwargs, 3)


def borders(func: EagerFunction, args: list[Any], kwargs: dict[str, Any]) -> object:
    """What is put around the last dimensions, a number alone."""
    mode = args[2] if len(args) > 2 and isinstance(args[2], str) else kwargs.get("mode", "constant")
    pad = args[1] if len(args) > 1 else kwargs.get("pad")
    is_known = type(args[0]) is Opened and isinstance(pad, (list, tuple)) and mode == "constant"
    if not is_known or len(pad) > 2 * rank_of(args[0]):  # type: ignore[arg-type]
        raise NotTogetherError
    return func(args[0][0], *args[1:], **kwargs)


def norms(func: EagerFunction, args: list[object], kwargs: dict[str, object]) -> object:
    """The last dimensions normalised; weights of each slice are multiplied by behind that."""
    given = given_by_name(func, args, kwargs)
    x, shape = given["input"], list(given["normalized_shape"])
    if type(x) is not Opened or not shape or list(x[0].shape[1:])[-len(shape) :] != shape:
        raise NotTogetherError
    names = [each for each in ("weight", "bias") if type(given.get(each)) is Opened]
    own = {each: given[each] for each in names}
    if any(list(each[0].shape[1:]) != shape for each in own.values()):
        raise NotTogetherError
    if own and "bias" in given:  # a bias is added to what was multiplied
        own = {each: given[each] for each in ("weight", "bias") if given[each] is not None}
    given |= dict.fromkeys(own) | {"input": x[0]}
    made = func(**given)
    for name, each in own.items():
        other = aligned(each, rank_of(x))
        made = made * other if name == "weight" else made + other
    return made


def groups(func: EagerFunction, args: list[object], kwargs: dict[str, object]) -> object:
    """Groups of channels normalised: samples of all slices are those of one call."""
    given = given_by_name(func, args, kwargs)
    x = given["input"]
    is_alone = type(x) is Opened and not any(
        type(given[each]) is Opened for each in ("weight", "bias")
    )
    if not is_alone or rank_of(x) < 2 or 0 in x[0].shape:
        raise NotTogetherError
    given["input"] = x[0].flatten(0, 1)
    return func(**given).reshape(x[0].shape)


def rows_of_table(func: EagerFunction, args: list[object], kwargs: dict[str, object]) -> object:
    """Rows of one table at the places that each slice names."""
    given = given_by_name(func, args, kwargs)
    if type(given["weight"]) is Opened:
        raise NotTogetherError
    given["indices"] = whole_of(given["indices"])
    return func(**given)


def sums_of_products(func: EagerFunction, args: list[Any], kwargs: dict[str, object]) -> object:
    """One letter more, of the slices."""
    fits = len(args) == 2 and isinstance(args[0], str) and isinstance(args[1], list)
    if not fits or "." in args[0] or kwargs:
        raise NotTogetherError
    terms, arrow, result = args[0].replace(" ", "").partition("->")
    if not arrow:
        result = "".join(sorted(each for each in {*terms} - {","} if terms.count(each) == 1))
    new = next((each for each in ascii_letters if each not in terms), "")
    parts = terms.split(",")
    if not new or len(parts) != len(args[1]):
        raise NotTogetherError
    pairs = zip(parts, args[1], strict=True)
    spread = [new + term if type(each) is Opened else term for term, each in pairs]
    return func(f"{','.join(spread)}->{new}{result}", [whole_of(each) for each in args[1]])


def made_like(func: EagerFunction, args: list[Any], kwargs: dict[str, Any]) -> object:
    """New tensors of given sizes, one for each slice."""
    rest = args[1:]
    others = (*rest, *kwargs.values())
    if type(args[0]) is not Opened or any(isinstance(each, (Opened, Tensor)) for each in others):
        raise NotTogetherError
    kwargs = dict(kwargs)
    if "size" in kwargs:
        sizes = kwargs.pop("size")
    elif rest and isinstance(rest[0], (list, tuple)):
        sizes, rest = rest[0], rest[1:]
    elif func.__name__ != "new_full":
        sizes, rest = rest, []
    else:
        raise NotTogetherError
    if any(type(each) is not int for each in sizes):
        raise NotTogetherError
    whole = args[0][0]
    return func(whole, [whole.shape[0], *sizes], *rest, **kwargs)


def repeated(func: EagerFunction, args: list[Any], kwargs: dict[str, object]) -> object:
    """Slices several times, along their dimensions."""
    if type(args[0]) is not Opened or kwargs or len(args) < 2:
        raise NotTogetherError
    counts = list(args[1]) if isinstance(args[1], (list, tuple)) else args[1:]
    rank = rank_of(args[0])
    if any(type(each) is not int for each in counts):
        raise NotTogetherError
    if func.__name__ == "tile":
        counts = [1] * (rank - len(counts)) + counts
    if len(counts) < rank:
        raise NotTogetherError
    return at_rank(args[0], len(counts)).repeat([1, *counts])


LEADING: Final[dict[Family, Rule]] = {
    "matrices": matrices,
    "pictures": pictures,
    "borders": borders,
    "norms": norms,
    "groups": groups,
    "lookups": rows_of_table,
    "einsum": sums_of_products,
    "made": made_like,
    "repeats": repeated,
}
"""These rules, by their families."""
