"""What torch looks at first where several things are wrong, and how it sorts what has no order."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import List, NamedTuple

import numpy as np
import pytest

import rushlight as torch
from rushlight import nn
from rushlight.jit.frontend import NotSupportedError

# ruff: noqa: UP006, UP035


class Place(NamedTuple):
    x: int
    y: float = 1.5


def with_text(n: int):  # type: ignore[no-untyped-def]
    return Place("s")  # type: ignore[arg-type]


def test_constructors_of_named_tuples_are_told_without_a_result() -> None:
    with pytest.raises(RuntimeError, match=r"Place\(int x, float y=1.5\) -> \(\):"):
        torch.jit.script(with_text)


def falling(x: List[float], reverse: bool) -> List[float]:
    x.sort(reverse=reverse)
    return x


@pytest.mark.parametrize(
    ("given", "reverse", "told"),
    [
        ([0.5, math.nan], True, [math.nan, 0.5]),
        ([2.0, math.nan, 1.0], False, [1.0, 2.0, math.nan]),
        ([2.0, math.nan, 3.0, 2.5], False, [2.0, math.nan, 2.5, 3.0]),
    ],
)
def test_lists_with_a_nan_are_sorted_as_in_torch(
    given: List[float], reverse: bool, told: List[float]
) -> None:
    assert repr(torch.jit.script(falling)(given, reverse)) == repr(told)


def step(s: str) -> str:
    return s[::0]


def masked(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return x[mask]


def test_steps_and_masks_that_fit_nothing() -> None:
    with pytest.raises(RuntimeError, match="List slice should have non-zero step"):
        torch.jit.script(step)("abc")
    with pytest.raises(RuntimeError, match=r"in range of \[-1, 0\], but got 1"):
        torch.jit.script(masked)(torch.ones(3), torch.ones(3, 2) > 0)
    with pytest.raises(IndexError, match="too many indices for tensor of dimension 1"):
        masked(torch.ones(3), torch.ones(3, 2) > 0)


@pytest.mark.parametrize("name", ["remainder", "fmod", "floor_divide"])
def test_shapes_are_looked_at_before_dtypes_and_zeros(name: str) -> None:
    for dtype in (torch.bool, torch.int64):
        with pytest.raises(RuntimeError, match=r"size of tensor a \(3\) must match"):
            getattr(torch, name)(torch.ones(3).to(dtype), torch.zeros(6).to(dtype))


def sure(x: int) -> int:
    assert x is not None, nonsense(1)  # noqa: F821
    return x


def test_the_message_of_an_assertion_that_holds_is_not_compiled() -> None:
    assert torch.jit.script(sure)(3) == 3


def in_parts(n: int):  # type: ignore[no-untyped-def]
    return torch.chunk(n, 2)  # type: ignore[arg-type]


def test_schemas_say_what_the_elements_of_a_list_share() -> None:
    with pytest.raises(RuntimeError, match=r"int dim=0\) -> Tensor\(a\)\[\]:"):
        torch.jit.script(in_parts)
    for dim, told in ((1, "but got 1"), (0, "tensor has no dimensions")):
        with pytest.raises(IndexError, match=told):
            torch.tensor(2.5).unbind(dim)


def plain(x, k=3):  # type: ignore[no-untyped-def]
    return x.no_such_method()


def calls_plain(x):  # type: ignore[no-untyped-def]
    return plain(x)


def plain_and_shared(x, k=3, parts=[]):  # type: ignore[no-untyped-def] # noqa: B006
    return x.no_such_method()


@pytest.mark.parametrize("function", [plain, calls_plain, plain_and_shared])
def test_defaults_are_looked_at_after_the_body(function: Callable[..., object]) -> None:
    with pytest.raises(RuntimeError, match="has no attribute or method 'no_such_method'") as caught:
        torch.jit.script(function)
    told = [each.code for each in caught.value.diagnostics]  # type: ignore[attr-defined]
    assert told[0] == "missing-attribute"
    assert told[1:] == {plain_and_shared: ["argument-type", "mutable-default"]}.get(
        function, ["argument-type"]
    )


class Held(NamedTuple):
    x: np.ndarray  # type: ignore[type-arg]


def of_an_array(x):  # type: ignore[no-untyped-def]
    return Held(x)


def fails_before(x):  # type: ignore[no-untyped-def]
    x.no_such_method()
    return of_an_array(x)


def test_an_annotation_that_stops_all_hides_nothing_before_it() -> None:
    with pytest.raises(RuntimeError, match="has no attribute or method 'no_such_method'"):
        torch.jit.script(fails_before)
    with pytest.raises(ValueError, match="Unknown type annotation"):
        torch.jit.script(of_an_array)


class Inner(nn.Module):
    def forward(self, x):  # type: ignore[no-untyped-def]
        return x.no_such_method()


class Outer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = Inner()


class Variadic(Outer):
    def forward(self, x, **named):  # type: ignore[no-untyped-def]
        return self.inner(x)


class Generator(Outer):
    def forward(self, x):  # type: ignore[no-untyped-def]
        yield self.inner(x)


class Exporting(Outer):
    def forward(self, x):  # type: ignore[no-untyped-def]
        return self.inner(x)

    @torch.jit.export
    def delayed(self, x):  # type: ignore[no-untyped-def]
        return lambda: x


class Getting(Outer):
    @property
    def parts(self):  # type: ignore[no-untyped-def]
        yield self.inner

    def forward(self, x):  # type: ignore[no-untyped-def]
        return self.inner(x)


@pytest.mark.parametrize(
    ("module", "told"),
    [
        (Variadic, "can't take variable number of arguments"),
        (Generator, "Yield aren't supported"),
        (Exporting, "Lambda aren't supported"),
        (Getting, "Yield aren't supported"),
    ],
)
def test_methods_are_parsed_before_inner_modules_are_compiled(
    module: type[nn.Module], told: str
) -> None:
    with pytest.raises(NotSupportedError, match=told) as caught:
        torch.jit.script(nn.Sequential(module()))
    told_next = caught.value.diagnostics[1]  # type: ignore[attr-defined]
    assert told_next.code == "missing-attribute"


def given_to_another(x, y):  # type: ignore[no-untyped-def]
    return torch.add(*y)


def test_what_is_unpacked_is_underlined_with_its_star() -> None:
    with pytest.raises(RuntimeError) as caught:
        torch.jit.script(given_to_another)
    lines = str(caught.value).splitlines()
    assert lines[1] == "Tensor (inferred) cannot be used as a tuple:"
    assert lines[5].index("~") == lines[4].index("*y")
    assert lines[5].count("~") == 2


def every_second(x: List[int], y: List[int]) -> None:
    x[1 : : 2] = y  # fmt: skip


def all_of_it(x: List[int], y: List[int]) -> None:
    x[:] = y


@pytest.mark.parametrize(("function", "shown"), [(every_second, "x[1 : : 2"), (all_of_it, "x")])
def test_slices_that_are_assigned_to_are_underlined_up_to_their_last_number(
    function: Callable[..., object], shown: str
) -> None:
    with pytest.raises(RuntimeError, match="Sliced expression not yet supported") as caught:
        torch.jit.script(function)
    assert f"    {'~' * len(shown)} <--- HERE" in str(caught.value).splitlines()
