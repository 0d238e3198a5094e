"""`torch.func.rearrange`: dimensions moved, joined and split by a pattern, "b (h w) -> b h w".

The language is that of einops (Rogozhnikov, "Einops", ICLR 2022).
"""

from __future__ import annotations

import keyword
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import Final

from ..ops.eager.dispatch import eager_function
from ..ops.tensors.tensor import Tensor

__all__ = ["rearrange"]

Group = list[str]
"""The names of one dimension; none for one of size 1."""

_DOTS: Final = "..."
_stack: Callable[..., Tensor] = eager_function("aten::stack")


def rearrange(
    tensor: Tensor | list[Tensor] | tuple[Tensor, ...], pattern: str, **axes_lengths: int
) -> Tensor:
    """A tensor with its dimensions in another order, joined or split.

    Args:
        tensor: any, or several of one shape, which become the first dimension.
        pattern: names of the dimensions before `->` and after it; in brackets those that are one
            dimension, `...` for all others, `1` or `()` for one of size 1.
        axes_lengths: sizes of names that are split off.

    Raises:
        ValueError: the pattern is none, or does not fit the tensor.
    """
    if not isinstance(tensor, Tensor):
        tensor = _stack(list(tensor))
    left, right = _sides(pattern)
    _check(pattern, left, right, tensor.ndim, axes_lengths)
    rest = [f"{_DOTS}{i}" for i in range(tensor.ndim - len(left) + 1)]
    before = _spread(left, rest)
    sizes = _sizes(before, tensor.shape, axes_lengths)
    names = [name for group in before for name in group]
    after = _spread(right, rest)
    order = [names.index(name) for group in after for name in group]
    split = tensor.reshape([sizes[name] for name in names]).permute(order)
    made: Tensor = split.reshape([prod(sizes[name] for name in group) for group in after])
    return made


# --------------------------------------------------------------------------- the pattern


def _sides(pattern: str) -> tuple[list[Group], list[Group]]:
    sides = pattern.split("->")
    if len(sides) != 2:
        raise ValueError("Pattern must contain a single '->' separator")
    return _side(sides[0]), _side(sides[1])


def _side(text: str) -> list[Group]:
    dots = text.count(".")
    if dots and (_DOTS not in text or dots != 3):
        more = "" if _DOTS not in text else "; only one ellipsis for tensor "
        raise ValueError(f"Expression may contain dots only inside ellipsis (...){more}")
    groups, joined, seen = list[Group](), None, set[str]()
    for word in _words(text):
        if word in "()":
            if (word == "(") == (joined is not None):
                raise ValueError(
                    "Axis composition is one-level (brackets inside brackets not allowed)"
                    if word == "("
                    else "Brackets are not balanced"
                )
            joined = list[str]() if word == "(" else None
            if joined is not None:
                groups.append(joined)
            continue
        if word in seen:
            raise ValueError(f"Indexing expression contains duplicate dimension '{word}'")
        names = [] if word == "1" else [word]
        seen.update(names)
        if joined is None:
            groups.append(names)
        else:
            joined += names
    if joined is not None:
        raise ValueError("Brackets are not balanced")
    return groups


def _words(text: str) -> Iterator[str]:
    for word in re.findall(r"\.\.\.|[()]|[^\s().]+", text):
        if word not in ("(", ")", _DOTS):
            _check_name(word)
        yield word


def _check_name(word: str) -> None:
    unknown = re.search(r"[^A-Za-z0-9_]", word)
    if unknown:
        raise ValueError(f"Unknown character '{unknown[0]}'")
    if word.isdecimal():
        if word != "1":
            raise ValueError("rearrange only supports unnamed axes of size 1")
        return
    reason = "" if word.isidentifier() else "not a valid python identifier"
    if not reason and (word[0] == "_" or word[-1] == "_"):
        reason = "axis name should should not start or end with underscore"
    if reason:
        raise ValueError(f"Invalid axis identifier: {word}\n{reason}")
    if keyword.iskeyword(word):
        warnings.warn(
            f"It is discouraged to use axes names that are keywords: {word}",
            RuntimeWarning,
            stacklevel=6,
        )


def _check(
    pattern: str, left: list[Group], right: list[Group], dims: int, lengths: dict[str, int]
) -> None:
    if [_DOTS] not in left and any(_DOTS in group for group in left):
        raise ValueError(f"Ellipsis is parenthesis in the left side is not allowed: {pattern}")
    if [_DOTS] not in left and any(_DOTS in group for group in right):
        raise ValueError(f"Ellipsis found in right side, but not left side of a pattern {pattern}")
    before, after = ({name for group in side for name in group} for side in (left, right))
    if before ^ after:
        raise ValueError(
            "Identifiers only on one side of rearrange expression (should be on both): "
            f"{before ^ after}"
        )
    if lengths.keys() - before:
        raise ValueError(
            f"Identifiers not found in rearrange expression: {lengths.keys() - before}"
        )
    if [_DOTS] in left:
        if dims < len(left) - 1:
            raise ValueError(
                f"Number of dimensions in pattern ({len(left) - 1}) must be less than or equal to "
                f"the number of dimensions in the tensor ({dims})"
            )
    elif dims != len(left):
        raise ValueError(
            f"Number of dimensions in pattern ({len(left)}) must be equal to the number of "
            f"dimensions in the tensor ({dims})"
        )


def _spread(groups: list[Group], rest: Sequence[str]) -> list[Group]:
    """The groups with names for what the dots stand for."""
    spread = list[Group]()
    for group in groups:
        if group == [_DOTS]:
            spread += [[name] for name in rest]
        else:
            spread.append([n for name in group for n in (rest if name == _DOTS else (name,))])
    return spread


def _sizes(groups: list[Group], shape: Sequence[int], lengths: dict[str, int]) -> dict[str, int]:
    """The size of each name.

    Raises:
        ValueError: sizes are missing, or do not fit.
    """
    sizes = dict(lengths)
    for group, size in zip(groups, shape, strict=True):
        open_names = [name for name in group if name not in sizes]
        known = prod(sizes[name] for name in group if name in sizes)
        if len(open_names) > 1:
            raise ValueError(f"cannot infer the sizes of two dimensions at once {open_names}")
        if size % known if open_names and known else known != size:
            raise ValueError(
                f"the sizes {[sizes.get(name, '?') for name in group]} do not fill a dimension of "
                f"size {size}"
            )
        for name in open_names:
            sizes[name] = size // known
    return sizes
