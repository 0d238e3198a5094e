"""Where torch refuses a name: where it stands, before arguments, and whatever is asked of it."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable
from typing import Any, List

import pytest

import rushlight as torch
from rushlight import nn
from rushlight.jit.frontend import UnsupportedNodeError

# ruff: noqa: UP006, UP035

NOTHING: Any = None


def asks_nothing(x):  # type: ignore[no-untyped-def]
    return NOTHING is None


def attribute_of_nothing(x):  # type: ignore[no-untyped-def]
    return NOTHING.part


def named_attribute_of_nothing(x):  # type: ignore[no-untyped-def]
    return getattr(NOTHING, "part")  # noqa: B009


def calls_nothing(x):  # type: ignore[no-untyped-def]
    return NOTHING(x.no_such_method())


def first_of(x):  # type: ignore[no-untyped-def]
    return next(x.no_such_method())


def opens(x):  # type: ignore[no-untyped-def]
    return open(x.no_such_method())


def delayed(x):  # type: ignore[no-untyped-def]
    return next(lambda: x)  # type: ignore[call-overload]


def all_of(x):  # type: ignore[no-untyped-def]
    return set(x.no_such_method())


def has_part_of_library(x):  # type: ignore[no-untyped-def]
    return hasattr(math, "pi")


def has_part_of_function(x):  # type: ignore[no-untyped-def]
    return hasattr(opens, "part")


def calls_a_tensor(x, n: int):  # type: ignore[no-untyped-def]
    return x(n)


def of_a_generator(x: List[int]):  # type: ignore[no-untyped-def]
    return tuple(i for i in range(len(x)))


@pytest.mark.parametrize(
    ("function", "told", "shown"),
    [
        (asks_nothing, "undefined value NOTHING:", "NOTHING"),
        (attribute_of_nothing, "undefined value NOTHING:", "NOTHING"),
        (named_attribute_of_nothing, "undefined value NOTHING:", "NOTHING"),
        (calls_nothing, "undefined value NOTHING:", "NOTHING"),
        (first_of, "Python builtin <built-in function next> is currently not sup", "next"),
        (opens, "Python builtin <built-in function open> is currently not sup", "open"),
        (delayed, "Lambda aren't supported", "l"),
        (all_of, "'Tensor (inferred)' object has no attribute", "x.no_such_method"),
        (has_part_of_library, "attribute lookup is not defined on python value of", "math"),
        (has_part_of_function, "attribute lookup is not defined on function:", "opens"),
        (calls_a_tensor, "cannot call a value of type 'Tensor':", "x"),
        (of_a_generator, "cannot statically infer", "tuple(i for i in range(len(x"),
    ],
)
def test_names_are_refused_in_the_order_of_torch(
    function: Callable[..., Any], told: str, shown: str
) -> None:
    with pytest.raises((RuntimeError, UnsupportedNodeError), match=re.escape(told)) as caught:
        torch.jit.script(function)
    lines = str(caught.value).splitlines()
    assert any(line.startswith(told) for line in lines[:2])
    at = next(i for i, line in enumerate(lines) if line.endswith("<--- HERE"))
    begin, count = lines[at].index("~"), lines[at].count("~")
    assert lines[at - 1][begin : begin + count] == shown


def chooses(x: List[float]) -> torch.dtype:
    dtype = torch.float32
    if len(x) > 2:
        dtype = torch.float64
    return dtype


def test_a_constant_stands_where_it_is_written() -> None:
    first = chooses.__code__.co_firstlineno
    text = str(torch.jit.script(chooses).graph)
    assert f".py:{first + 1}:12" in text
    assert f".py:{first + 3}:16" in text


class Quantizer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.ones(4, 4))

    def quantized(self, x):  # type: ignore[no-untyped-def]
        return x @ self.table

    def shifted(self, x, by: int):  # type: ignore[no-untyped-def]
        return self.quantized(x + by)

    def forward(self, x):  # type: ignore[no-untyped-def]
        return self.shifted(x, 2)


def test_frames_of_archives_name_the_methods_they_are_in() -> None:
    buffer = io.BytesIO()
    torch.jit.save(torch.jit.script(Quantizer()), buffer)
    buffer.seek(0)
    loaded = torch.jit.load(buffer)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="cannot be multiplied") as caught:
            loaded(torch.ones(4, 3))
        frames = [line for line in str(caught.value).splitlines() if line.startswith("  File ")]
        names = [frame.rpartition("in ")[2] for frame in frames]
        assert names == ["forward", "shifted", "quantized"] * 2
