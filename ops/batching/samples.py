"""The rules of layers over samples, and of losses: slices are samples of one call, or groups of its
channels, and what is reduced is reduced for each slice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from ..eager.dispatch import EagerFunction
from ..tensors.tensor import Tensor
from .opened import NotTogetherError, Opened

__all__ = [
    "class_losses",
    "convolutions",
    "count_of",
    "for_each",
    "given_by_name",
    "losses",
    "samples",
    "whole_of",
]

_MEAN: Final = 1
_SUM: Final = 2


def given_by_name(
    func: EagerFunction, args: Sequence[object], kwargs: Mapping[str, object]
) -> dict[str, Any]:
    """All arguments by name, defaults too; of the one form that there is for tensors."""
    for form in func.forms:
        names = [each.name for each in form.entry.signature.arguments]
        if len(args) > len(names) or not set(kwargs) <= set(names[len(args) :]):
            continue
        found: dict[str, Any] = dict(zip(names, args, strict=False)) | dict(kwargs)
        for argument in form.entry.signature.arguments:
            if argument.name not in found and argument.has_default:
                found[argument.name] = argument.default
        if len(found) == len(names) and not isinstance(found.get("padding"), str):
            return found
    raise NotTogetherError


def whole_of(value: Tensor | Opened) -> Tensor:
    return value[0] if isinstance(value, Opened) else value


def _unfolded(result: Any, count: int) -> object:
    """Results with the slices in front, of those that have them among the samples."""
    if isinstance(result, (tuple, list)):
        return type(result)(_unfolded(each, count) for each in result)
    return result.reshape([count, -1 if result.numel() else 0, *result.shape[1:]])


def count_of(values: Iterable[object]) -> int:
    """How many slices there are, of which one of the values at least has some."""
    return next(each[0].shape[0] for each in values if type(each) is Opened)


def samples(func: EagerFunction, args: list[object], kwargs: dict[str, object]) -> object:
    """Samples of all slices are samples of one call; slices without samples are samples."""
    others = (*args[1:], *kwargs.values())
    if not args or type(args[0]) is not Opened or any(type(each) is Opened for each in others):
        raise NotTogetherError
    whole, rank = args[0][0], int(next(filter(str.isdigit, func.__name__)))
    if whole.dim() == rank + 2:
        return func(whole, *args[1:], **kwargs)
    if whole.dim() != rank + 3 or not whole.shape[0] or not whole.shape[1]:
        raise NotTogetherError
    return _unfolded(func(whole.flatten(0, 1), *args[1:], **kwargs), whole.shape[0])


def convolutions(func: EagerFunction, args: list[object], kwargs: dict[str, object]) -> object:
    """Where weights are those of each slice, slices are groups of channels."""
    given = given_by_name(func, args, kwargs)
    weight, bias = given["weight"], given["bias"]
    if type(weight) is not Opened and type(bias) is not Opened:
        return samples(func, args, kwargs)
    own = [each for each in (given["input"], weight, bias) if type(each) is Opened]
    count = own[0][0].shape[0]
    rank = whole_of(weight).dim() - 2 - (type(weight) is Opened)
    x = whole_of(given["input"])
    if type(given["input"]) is not Opened:
        x = x.expand([count, *x.shape])
    is_alone = x.dim() == rank + 2
    x = x.unsqueeze(1) if is_alone else x
    if x.dim() != rank + 3 or 0 in x.shape:
        raise NotTogetherError
    weight = for_each(weight, count)
    given["weight"] = weight.flatten(0, 1)
    given["bias"] = None if bias is None else for_each(bias, count).flatten(0, 1)
    given["input"] = x.transpose(0, 1).flatten(1, 2)
    given["groups"] = given["groups"] * count
    made = func(**given)
    made = made.reshape([made.shape[0], count, -1, *made.shape[2:]]).transpose(0, 1)
    return made.squeeze(1) if is_alone else made


def for_each(value: Tensor | Opened, count: int) -> Tensor:
    """A tensor of slices, the same for all if there is one."""
    return value[0] if isinstance(value, Opened) else value.expand([count, *value.shape])


def losses(func: EagerFunction, args: list[object], kwargs: dict[str, object]) -> object:
    """Losses of elements, which are reduced for each slice."""
    given = given_by_name(func, args, kwargs)
    names = list(given)
    one, other = given[names[0]], given[names[1]]
    how = given["reduction"]
    tensors = [given[name] for name in names[2:] if isinstance(given[name], (Tensor, Opened))]
    if tensors or how not in (0, _MEAN, _SUM):
        raise NotTogetherError
    pair = [whole_of(one), whole_of(other)]
    opened = [type(each) is Opened for each in (one, other)]
    if pair[0].dim() - opened[0] != pair[1].dim() - opened[1]:
        raise NotTogetherError
    count = count_of((one, other))
    given[names[0]], given[names[1]] = for_each(one, count), for_each(other, count)
    if given[names[0]].shape != given[names[1]].shape:
        raise NotTogetherError
    given["reduction"] = 0
    made = func(given.pop(names[0]), given.pop(names[1]), **given)
    if how == 0:
        return made
    flat = made.reshape([count, -1])
    return flat.mean(1) if how == _MEAN else flat.sum(1)


def class_losses(func: EagerFunction, args: list[object], kwargs: dict[str, object]) -> object:
    """Losses of scores by class, which are reduced for each slice."""
    given = given_by_name(func, args, kwargs)
    pair = given["self"], given["target"]
    how = given["reduction"]
    if given["weight"] is not None or how not in (0, _MEAN, _SUM):
        raise NotTogetherError
    count = count_of(pair)
    scores, target = (for_each(each, count) for each in pair)
    is_named = not target.dtype.is_floating_point
    sizes = list(scores.shape)
    wanted = [*sizes[:2], *sizes[3:]] if len(sizes) > 2 else sizes[:1]  # of classes by number
    if 0 in sizes or len(sizes) < 2 or list(target.shape) != (wanted if is_named else sizes):
        raise NotTogetherError
    if len(sizes) > 2:
        scores, target = scores.flatten(0, 1), target.flatten(0, 1)
    rest = {name: each for name, each in given.items() if name not in ("self", "target")}
    made = func(scores, target, **rest | {"reduction": 0}).reshape(wanted)
    if how == 0:
        return made
    flat = made.reshape([count, -1])
    if how == _SUM:
        return flat.sum(1)
    if not is_named:
        return flat.mean(1)
    counted = (target != given["ignore_index"]).reshape([count, -1]).sum(1)
    return flat.sum(1) / counted
