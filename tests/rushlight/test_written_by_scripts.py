"""What scripts write is known to gradients and to `inference_mode`, where nothing is recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

import rushlight as torch

Tensor = torch.Tensor


def filled(out: Tensor, n: int) -> int:
    for i in range(n):
        out[i] = 2.0
    return n


def doubled(out: Tensor, n: int) -> int:
    y = out.view(-1)
    for _ in range(n):
        y = y[:].mul_(2.0)
    return n


def chosen(out: Tensor, n: int) -> int:
    y = out if n > 1 else torch.zeros(3)
    y.add_(1.0)
    return n


def untouched(out: Tensor, n: int) -> int:
    y = out + 1
    y.mul_(2.0)
    y[0] = out[1]
    return n


class Holder(torch.nn.Module):
    def forward(self, out: Tensor, n: int) -> int:
        out[0] = 4.0
        return n


class Shifted(torch.nn.Module):
    """Writes its buffer in training alone."""

    shift: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("shift", torch.ones(3))

    def forward(self, x: Tensor) -> Tensor:
        if self.training:
            self.shift.add_(1.0)
        return x + self.shift


class Outer(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = Shifted()

    def forward(self, x: Tensor) -> Tensor:
        return self.inner(x) if x.dim() > 0 else x


class Pair(NamedTuple):
    first: Tensor
    second: Tensor


def of_list(given: list[Tensor]) -> None:
    given[1].mul_(2.0)


def of_each(given: list[Tensor]) -> None:
    for each in given:
        each[0] = 3.0


def of_dict(given: dict[str, Tensor]) -> None:
    given["b"].zero_()


def of_values(given: dict[str, Tensor]) -> None:
    for key, each in given.items():
        if key != "":
            each.zero_()


def of_tuple(given: tuple[Tensor, Tensor]) -> None:
    first, second = given
    both = [first, second]
    both[1] += 1.0


def of_pair(given: Pair) -> None:
    given.second.add_(1.0)


def of_optional(given: Tensor | None) -> None:
    if given is not None:
        given.add_(1.0)


def into_out(given: Tensor) -> None:
    torch.add(torch.ones(3), 1.0, out=given)


def if_asked(given: Tensor, is_asked: bool = True, times: int = 2) -> None:
    if is_asked and times % 2 == 0:
        given.add_(1.0)


@torch.jit.interface
class Step(torch.nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        pass


class ByInterface(torch.nn.Module):
    """Its call of a step stays a call."""

    step: Step

    def __init__(self) -> None:
        super().__init__()
        self.step = Shifted()

    def forward(self, x: Tensor) -> Tensor:
        return self.step.forward(x)


def scripted(target: Any) -> Any:
    return torch.jit.script(target() if isinstance(target, type) else target)


@pytest.mark.parametrize("target", [filled, doubled, chosen, Holder])
@pytest.mark.parametrize("calls", [1, 60])
def test_gradients_are_refused_of_what_scripts_have_written(
    target: Callable[..., Any], calls: int
) -> None:
    call, leaf = scripted(target), torch.ones(3, requires_grad=True)
    for _ in range(calls - 1):
        call(torch.ones(3), 3)
    out = torch.ones(3)
    product = (leaf * out).sum()
    call(out, 3)
    assert out._version > 0
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.backward()


@pytest.mark.parametrize("calls", [1, 60])
def test_what_is_read_alone_counts_as_unwritten(calls: int) -> None:
    call, leaf, out = scripted(untouched), torch.ones(3, requires_grad=True), torch.ones(3)
    product = (leaf * out).sum()
    for _ in range(calls):
        call(out, 3)
    assert out._version == 0
    product.backward()
    assert leaf.grad is not None
    assert leaf.grad.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("calls", [1, 60])
def test_tensors_for_inference_are_not_written_outside(calls: int) -> None:
    call = scripted(filled)
    for _ in range(calls - 1):
        call(torch.ones(3), 3)
    with torch.inference_mode():
        kept = torch.zeros(3)
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
        call(kept, 3)
    assert kept.tolist() == [0.0, 0.0, 0.0]
    with torch.inference_mode():
        call(kept, 3)
    assert kept.tolist() == [2.0, 2.0, 2.0]


def test_nothing_in_the_place_of_a_tensor_is_told_where_it_is_used() -> None:
    with pytest.raises(RuntimeError, match=r"out\[i\] = 2.0"):
        scripted(filled)(None, 3)


GIVEN: dict[Callable[..., Any], Callable[[Tensor, Tensor], Any]] = {
    of_list: lambda a, b: [a, b],
    of_each: lambda a, b: [b, b],
    of_dict: lambda a, b: {"a": a, "b": b},
    of_values: lambda a, b: {"b": b},
    of_tuple: lambda a, b: (a, b),
    of_pair: Pair,
    of_optional: lambda a, b: b,
    into_out: lambda a, b: b,
    if_asked: lambda a, b: b,
}


@pytest.mark.parametrize("calls", [1, 60])
@pytest.mark.parametrize("target", GIVEN, ids=lambda each: each.__name__)
def test_what_is_written_inside_arguments_counts(target: Callable[..., Any], calls: int) -> None:
    call, make = scripted(target), GIVEN[target]
    for _ in range(calls - 1):
        call(make(torch.ones(3), torch.ones(3)))
    a, b = torch.ones(3), torch.ones(3)
    call(make(a, b))
    assert a._version == 0
    assert b._version > 0


@pytest.mark.parametrize("given", [(False, 2), (True, 3)])
def test_what_conditions_keep_from_being_written_does_not_count(given: tuple[bool, int]) -> None:
    call, out = scripted(if_asked), torch.ones(3)
    for _ in range(60):
        call(out, *given)
    assert out._version == 0
    call(out, True, 4)
    assert out._version == 1


def test_calls_that_stay_calls_count_what_they_write() -> None:
    module = scripted(ByInterface)
    for count in range(1, 41):
        module(torch.ones(3))
        assert module.step.shift._version == count


@pytest.mark.parametrize("calls", [1, 60])
@pytest.mark.parametrize("make", [Shifted, Outer])
def test_buffers_that_scripts_write_count(make: type[Any], calls: int) -> None:
    module, leaf = scripted(make), torch.ones(3, requires_grad=True)
    shift = module.shift if make is Shifted else module.inner.shift
    with torch.no_grad():
        for _ in range(calls - 1):
            module(torch.ones(3))
    product = (leaf * shift).sum()
    with torch.no_grad():
        module(torch.ones(3))
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.backward()


@pytest.mark.parametrize("make", [Shifted, Outer])
def test_buffers_that_scripts_only_read_do_not_count(make: type[Any]) -> None:
    module, leaf = scripted(make).eval(), torch.ones(3, requires_grad=True)
    shift = module.shift if make is Shifted else module.inner.shift
    product = (leaf * shift).sum()
    with torch.no_grad():
        for _ in range(60):
            module(torch.ones(3))
    product.backward()
    assert leaf.grad is not None
    assert leaf.grad.tolist() == [1.0, 1.0, 1.0]


def test_conditions_of_many_parts_are_not_looked_at() -> None:
    lines = [f"    n = n + n  # {at}" for at in range(400)]
    source = "\n".join(["def f(x: Tensor, n: int):", *lines, "    if n == 0:", "        x.add_(1)"])
    call = torch.jit.CompilationUnit(source).f
    for _ in range(20):
        out = torch.ones(3)
        call(out, 1)
        assert out.tolist() == [2.0] * 3
        assert out._version == 1


def test_writes_in_branches_of_branches_count() -> None:
    lines = ["    if n == 0:", "        x.add_(1)"]
    for number in range(1, 200):
        lines += [f"    elif n == {number}:", f"        x.add_({number})"]
    call = torch.jit.CompilationUnit("\n".join(["def f(x: Tensor, n: int):", *lines])).f
    for number in (0, 3, 199):
        out = torch.zeros(2)
        call(out, number)
        assert out._version > 0
        assert out.tolist() == [float(number or 1)] * 2
