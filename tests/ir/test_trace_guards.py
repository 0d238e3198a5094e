"""Traces with guards: what Python decides on values and sizes is compared, or traced when met."""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch
from rushlight import Tensor, nn


def branch(x: Tensor) -> Tensor:
    if x.sum() > 0:
        return x + 1
    return x * 2


def rounds(x: Tensor) -> Tensor:
    y = x[0]
    for i in range(1, x.shape[0]):
        y = y + x[i] * i
    return y


def rows(x: Tensor) -> Tensor:
    total = torch.zeros(2)
    for row in x:
        total = total + row
    return total


def whole(x: Tensor) -> Tensor:
    return x + int(x.max())


def element(x: Tensor) -> Tensor:
    return x * x[0].item()


def ranks(x: Tensor) -> Tensor:
    return x.sum() if x.dim() == 2 else x * 3


def lengths(x: Tensor) -> Tensor:
    return x * len(x)


def elements(x: Tensor) -> Tensor:
    return x * sum(x.tolist())


def members(x: Tensor) -> Tensor:
    return -x if 3.0 in x else x


def equality(x: Tensor) -> Tensor:
    return x + 1 if torch.equal(x, torch.ones(2)) else x - 1


def parts(x: Tensor) -> Tensor:
    return sum(x.split(2), torch.zeros(2))  # type: ignore[arg-type]


def nested(x: Tensor) -> Tensor:
    if x[0] > 0:
        x = x * 2 if x[1] > 0 else x * 3
    elif x[1] > 5:
        x = x * 4
    return x + 1


def v(*numbers: float) -> Tensor:
    return torch.tensor([float(n) for n in numbers])


CASES: dict[Callable[[Tensor], Tensor], list[Tensor]] = {
    branch: [v(1, 2), v(-1, -2)],
    rounds: [torch.ones(3, 2), torch.ones(1, 2), torch.ones(5, 2)],
    rows: [torch.ones(3, 2), torch.ones(0, 2)],
    whole: [v(1.2, 1.7), v(2.5, 1), v(-1.5, -3)],
    element: [v(1, 2), v(3, 2), v(math.nan, 1)],
    ranks: [torch.ones(2, 2), torch.ones(2)],
    lengths: [torch.ones(2), torch.ones(3)],
    elements: [v(1, 2), v(1, 3), v(1, math.nan)],
    members: [v(1, 2), v(3, 1)],
    equality: [v(1, 1), v(1, 2)],
    parts: [torch.ones(6), torch.ones(2), torch.ones(8)],
    nested: [v(1, 1), v(1, -1), v(-1, 9), v(-1, 0)],
}


def _is_same(one: Tensor, other: Tensor) -> bool:
    return torch.allclose(one, other, equal_nan=True)


def _loaded(traced: Any) -> Any:
    buffer = io.BytesIO()
    torch.jit.save(traced, buffer)
    buffer.seek(0)
    return torch.jit.load(buffer)


@pytest.mark.parametrize("function", CASES)
def test_other_decisions_raise(function: Callable[[Tensor], Tensor]) -> None:
    example, *others = CASES[function]
    with warnings.catch_warnings():
        warnings.simplefilter("error", torch.jit.TracerWarning)
        traced = torch.jit.trace(function, (example,), guards=True)
    for program in (traced, _loaded(traced)):
        assert _is_same(program(example), function(example))
        for other in others:
            with pytest.raises(
                torch.jit.Error, match=f"test_trace_guards.py:.*{function.__name__}"
            ):
                program(other)


def test_sizes_are_told_of_as_long_as_all_examples_have_them() -> None:
    traced = torch.jit.trace(lengths, (torch.ones(2),), guards="retrace")
    assert "graph(%x : Float(2, strides=[1]" in str(traced.graph)
    traced(torch.ones(3))
    assert "graph(%x : Tensor)" in str(traced.graph)
    assert "strides" not in str(traced.graph)


@pytest.mark.parametrize("function", CASES)
def test_other_decisions_are_traced_when_met(function: Callable[[Tensor], Tensor]) -> None:
    example, *others = CASES[function]
    traced = torch.jit.trace(function, (example,), guards="retrace")
    for other in (*others, example, *others):
        assert _is_same(traced(other), function(other))
    loaded = _loaded(traced)
    for each in (example, *others):
        assert _is_same(loaded(each), function(each))


@pytest.mark.parametrize("function", CASES)
def test_inputs_that_decide_alike_run(function: Callable[[Tensor], Tensor]) -> None:
    example = CASES[function][0]
    if function in (elements, equality, element):  # which read the very elements
        return
    traced = torch.jit.trace(function, (example,), guards=True)
    other = example + 0.125
    assert _is_same(traced(other), function(other))


def test_without_guards_traces_are_as_they_were() -> None:
    with pytest.warns(torch.jit.TracerWarning, match="Python boolean"):
        plain = torch.jit.trace(branch, (v(1, 2),))
    assert torch.equal(plain(v(-1, -2)), v(0, -1))
    assert "RaiseException" not in plain.code


def test_reads_that_torch_warns_of() -> None:
    def complexes(x: Tensor) -> Tensor:
        return x + complex(x.sum())

    with pytest.warns(torch.jit.TracerWarning, match="Python complex"):
        traced = torch.jit.trace(complexes, (v(1, 2),))
    assert "prim::Constant[value={(3,0)}]" in str(traced.graph)
    with pytest.warns(torch.jit.TracerWarning, match="Python number"):
        torch.jit.trace(members, (v(1, 2),))


def test_guards_is_one_of_three() -> None:
    with pytest.raises(ValueError, match="guards is False, True or"):
        torch.jit.trace(branch, (v(1, 2),), guards="again")  # type: ignore[call-overload]


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(3, 3)
        self.norm = nn.BatchNorm1d(3)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x: Tensor, flip: Tensor) -> Tensor:
        self.calls += 1
        y = self.first(x)
        if flip > 0:
            y = self.norm(y)
        return torch.dropout(y, 0.5, True) + self.calls


def test_modules_raise_below_their_methods() -> None:
    net = Net()
    example = torch.ones(4, 3), torch.ones(())
    traced = torch.jit.trace(net, example, guards=True, check_trace=False)
    assert "(a).forward" not in traced.code
    assert "(first).forward" in traced.code
    with pytest.raises(torch.jit.Error, match="if flip > 0"):
        traced(example[0], -example[1])
    with pytest.raises(torch.jit.Error, match=r"self\.norm"):  # one value a channel
        traced(torch.ones(1, 3), example[1])


def test_what_a_run_has_written_and_drawn_is_undone_before_another_trace() -> None:
    net = Net()
    example = torch.ones(4, 3), torch.ones(())
    traced = torch.jit.trace(net, example, guards="retrace", check_trace=False)
    other = torch.ones(4, 3), -torch.ones(())
    for given in (example, other, other, example):
        before = net.calls.clone(), net.norm.running_mean.clone()
        torch.manual_seed(3)
        found = traced(*given)
        state = net.calls.clone(), net.norm.running_mean.clone()
        drawn = torch.rand(1)
        net.calls.copy_(before[0])
        net.norm.running_mean.copy_(before[1])
        torch.manual_seed(3)
        assert _is_same(found, net(*given))
        assert torch.equal(torch.rand(1), drawn)
        assert torch.equal(net.calls, state[0])
        assert _is_same(net.norm.running_mean, state[1])
    loaded = _loaded(traced)
    assert loaded(*other).shape == (4, 3)


def test_written_arguments_are_restored() -> None:
    def writes(x: Tensor) -> Tensor:
        x.add_(1)
        return x * 2 if x.sum() > 0 else x * 3

    traced = torch.jit.trace(writes, (v(1, 1),), guards="retrace", check_trace=False)
    given = v(-5, -5)
    assert torch.equal(traced(given), v(-12, -12))
    assert torch.equal(given, v(-4, -4))


def test_arguments_by_name_and_in_containers() -> None:
    def pair(x: Tensor, parts: tuple[Tensor, dict[str, Tensor]]) -> Tensor:
        return x + parts[0] if parts[1]["flag"].item() else x

    def given(flag: bool) -> tuple[Tensor, dict[str, Tensor]]:
        return v(1, 2), {"flag": torch.tensor(flag)}

    traced = torch.jit.trace(pair, (v(1, 2), given(True)), guards="retrace")
    assert torch.equal(traced(v(1, 2), given(False)), v(1, 2))
    assert torch.equal(traced(parts=given(True), x=v(1, 2)), v(2, 4))
    named = torch.jit.trace(
        pair, example_kwarg_inputs={"x": v(1, 2), "parts": given(True)}, guards="retrace"
    )
    assert torch.equal(named(parts=given(False), x=v(1, 2)), v(1, 2))


def test_check_inputs_become_branches() -> None:
    traced = torch.jit.trace(branch, v(1, 2), guards="retrace", check_inputs=[v(-1, -2)])
    assert "RaiseException" not in traced.code
    assert "torch.mul" in traced.code


def test_what_depends_on_no_input_is_told() -> None:
    count = [0]

    def counting(x: Tensor) -> Tensor:
        count[0] += 1
        x = x * count[0]
        return x + 1 if x.sum() > 0 else x

    traced = torch.jit.trace(counting, (v(1, 2),), guards="retrace", check_trace=False)
    with pytest.raises(RuntimeError, match="depends on something that is no input"):
        traced(v(-1, -2))
    assert torch.equal(traced(v(1, 2)), v(2, 3))


def test_branches_of_other_types_are_refused() -> None:
    def mixed(x: Tensor) -> Any:
        return (x, x) if x.sum() > 0 else x

    traced = torch.jit.trace(mixed, (v(1, 2),), guards="retrace", check_trace=False)
    with pytest.raises(RuntimeError, match="a graph needs one type"):
        traced(v(-1, -2))


def test_there_are_not_too_many_branches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rushlight.jit.retraced._MOST", 4)

    def reads(x: Tensor) -> Tensor:
        return x * x[0].item()

    traced = torch.jit.trace(reads, (v(0, 1),), guards="retrace", check_trace=False)
    for number in range(1, 4):
        traced(v(number, 1))
    with pytest.raises(RuntimeError, match="traced 4 times"):
        traced(v(4, 1))
    assert torch.equal(traced(v(3, 1)), v(9, 3))


def test_errors_of_the_program_stay_what_they_are() -> None:
    traced = torch.jit.trace(branch, (v(1, 2),), guards="retrace")
    with pytest.raises(RuntimeError, match="Tensor"):
        traced("abc")


def test_other_methods_are_guarded_too() -> None:
    net = Net()
    example = torch.ones(4, 3), torch.ones(())
    traced = torch.jit.trace_module(net, {"forward": example}, guards=True, check_trace=False)
    with pytest.raises(torch.jit.Error, match="trace guard"):
        traced(example[0], -example[1])


@pytest.mark.parametrize("function", [element, elements])
def test_numbers_of_another_dtype_are_others(function: Callable[[Tensor], Tensor]) -> None:
    whole_numbers = torch.tensor([1, 2])
    traced = torch.jit.trace(function, (whole_numbers,), guards=True)
    with pytest.raises(torch.jit.Error, match=r"the dtype torch\.int64"):
        traced(v(1, 2))
    growing = torch.jit.trace(function, (whole_numbers,), guards="retrace")
    for given in (v(1, 2), v(1.5, 2), whole_numbers):
        assert _is_same(growing(given), function(given))
        assert growing(given).dtype == function(given).dtype


def by_dtype(x: Tensor) -> Tensor:
    return x * 2 if x.dtype == torch.float32 else x * 3


def test_branches_on_a_dtype_are_guarded() -> None:
    given = torch.ones(3, dtype=torch.float64)
    with pytest.raises(
        torch.jit.Error, match=r"`return x \* 2 if x\.dtype.*the dtype torch\.float32"
    ):
        torch.jit.trace(by_dtype, (torch.ones(3),), guards=True)(given)
    growing = torch.jit.trace(by_dtype, (torch.ones(3),), guards="retrace")
    assert growing(given).tolist() == by_dtype(given).tolist()
    assert growing(torch.ones(3)).tolist() == [2, 2, 2]
    plain = torch.jit.trace(by_dtype, (torch.ones(3),))
    assert "prim::dtype" not in str(plain.graph)


def test_a_trace_within_a_trace_follows_no_new_decision() -> None:
    inner = torch.jit.trace(branch, (v(1, 2),), guards="retrace")

    def outer(x: Tensor) -> Tensor:
        return inner(x) + 10

    for guards in (False, True):
        with pytest.raises(torch.jit.Error, match=r"trace guard: .*in branch"):
            torch.jit.trace(outer, (v(-1, -2),), guards=guards)
        traced = torch.jit.trace(outer, (v(1, 2),), guards=guards)
        assert _is_same(traced(v(2, 1)), outer(v(2, 1)))
        with pytest.raises(torch.jit.Error, match=r"trace guard: .*in branch"):
            traced(v(-1, -2))
    assert _is_same(inner(v(-1, -2)), branch(v(-1, -2)))  # which is followed outside
    assert _is_same(torch.jit.trace(outer, (v(-1, -2),))(v(-2, -3)), outer(v(-2, -3)))
