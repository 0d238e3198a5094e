"""Calls beside the recorded ones: each argument in turn is another one, mostly a wrong one.

The samples are those of `recorded_operators`.  `outcomes` runs all calls of a function; what torch
makes of them is in data/perturbed.json.gz, which `tools/record_perturbed.py` writes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import Any, Final

import recorded_operators

import rushlight as torch

DROPPED: Final = object()
"""In the place of an argument that is not given."""

LEFT_OUT: Final = re.compile(
    r"empty|bernoulli|multinomial|rand|lowrank|normal|dropout|exponential|geometric|cauchy|rrelu"
    r"|uniform|gumbel|storage|data_ptr|fractional|resize|lstsq|eigvals|ldl|lu_unpack|batch_norm"
    r"|segment_reduce|Tensor\.(tolist|numpy)"
)
"""Functions that give what is random or undefined, or that wrong arguments crash in torch."""

_DTYPES: Final = "float32 float64 int64 int32 bool uint8 complex64 bfloat16 float16".split()

Sample = dict[str, Any]


def others(value: Any) -> Iterator[tuple[str, Any]]:
    """What else may stand in the place of an argument, by name."""
    if isinstance(value, torch.Tensor):
        yield from _other_tensors(value)
    elif isinstance(value, bool):
        yield from (("not", not value), ("none", None))
    elif isinstance(value, int):
        numbers = dict.fromkeys((0, -1, 1, value + 1, -value - 1, 7))
        yield from ((f"{number}", number) for number in numbers if number != value)
        yield from (("none", None), ("half", value + 0.5), ("text", "2"))
    elif isinstance(value, float):
        for number in (0.0, -1.0, math.nan, math.inf):
            yield f"{number}", number
        yield from (("whole", 2), ("none", None), ("complex", 1 + 2j))
    elif isinstance(value, str):
        yield from (("another", "another"), ("none", None))
    elif isinstance(value, (list, tuple)):
        yield from _other_lists(value)
    elif isinstance(value, torch.dtype):
        yield from ((name, getattr(torch, name)) for name in _DTYPES[1::2])
    elif value is None:
        yield from (("0", 0), ("1", 1), ("tensor", torch.ones(2)), ("true", True))


def _other_tensors(value: Any) -> Iterator[tuple[str, Any]]:
    flat = value.reshape(-1)
    if value.numel():
        yield "of no dimensions", flat[0].clone()
    if value.dim():
        yield "no rows", value[:0].clone()
        yield "one row", value[:1].clone()
        yield "no columns", value[..., :0].clone()
        yield "one column", value[..., :1].clone()
    yield "a batch", value.clone().unsqueeze(0)
    yield "of more dimensions", value.clone().unsqueeze(-1)
    if value.dim() > 1:
        yield "turned", value.clone().transpose(0, -1)
        yield "flat", flat.clone()
    for name in _DTYPES:
        if getattr(torch, name) != value.dtype:
            yield name, value.to(getattr(torch, name))
    yield from (("none", None), ("2", 2), ("0.5", 0.5))
    if value.numel() and value.is_floating_point():
        yield "negative", -value
        yield "zeros", value * 0
    elif value.numel() and value.dtype == torch.int64:
        for number in (-1, 99):
            changed = flat.clone()
            changed[0] = number
            yield f"{number} first", changed.reshape(value.shape)


def _other_lists(value: Any) -> Iterator[tuple[str, Any]]:
    kind = type(value)
    yield "nothing", kind()
    if value:
        yield "one less", kind(value[:-1])
        yield "one more", kind([*value, value[-1]])
        yield "alone", value[0]
        for name, first in list(others(value[0]))[:9]:
            yield f"{name}, and more", kind([first, *value[1:]])


def _sample(samples: list[Sample]) -> Sample | None:
    """The first sample that is no error."""
    return next((each for each in samples if "e" not in each), None)


def outcomes(name: str, samples: list[Sample]) -> Iterator[tuple[str, str]]:
    """What each call gives, by its name: an exception and the first line of what it says, or the
    dtypes and sizes of the result."""
    sample = None if LEFT_OUT.search(name) else _sample(samples)
    if sample is None:
        return
    args, kwargs = recorded_operators.arguments(sample)
    function = recorded_operators.resolve(name)
    for place in (*range(len(args)), *kwargs):
        given = args[place] if isinstance(place, int) else kwargs[place]
        for word, other in _others_at(place, given, len(args)):
            yield f"{place}: {word}", outcome(function, *_call(sample, place, other))


def _others_at(place: int | str, given: Any, count: int) -> Iterator[tuple[str, Any]]:
    yield from others(given)
    if place == count - 1 or isinstance(place, str):
        yield "left out", DROPPED


def _call(sample: Sample, place: int | str, other: Any) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of a sample, made anew, with another one."""
    args, kwargs = recorded_operators.arguments(sample)
    if isinstance(place, str):
        kwargs[place] = other
    else:
        args[place] = other
    named = {key: value for key, value in kwargs.items() if value is not DROPPED}
    return [each for each in args if each is not DROPPED], named


def outcome(function: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]) -> str:
    """What one call gives."""
    try:
        return _told(function(*args, **kwargs))
    except Exception as error:
        said = str(error).splitlines() or [""]
        return f"{type(error).__name__.lstrip('_')}: {said[0]}"


def _told(result: Any) -> str:
    if isinstance(result, torch.Tensor):
        return f"{str(result.dtype).removeprefix('torch.')} {list(result.shape)}"
    if isinstance(result, (list, tuple)):
        return f"({', '.join(map(_told, result))})"
    return type(result).__name__
