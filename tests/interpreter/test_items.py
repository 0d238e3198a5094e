"""`x.item()` in native code: a number as it is when it is asked for, compared as its kind tells."""

from __future__ import annotations

import inspect

import pytest

import rushlight as torch
from rushlight.interpreter.running.invoking import tiers_of

Tensor = torch.Tensor


@pytest.fixture(autouse=True)
def native_now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUSHLIGHT_NATIVE", "now")


def is_native(scripted: object) -> bool:
    plan = tiers_of(scripted._rushlight_function).way(False).plan  # type: ignore[attr-defined]
    return plan is None or all(each.is_native for each in plan.islands)


def read_then_written(x: Tensor) -> tuple[float, int]:
    total, whole = 0.0, 0
    for i in range(x.size(0)):
        number = x[i].item()
        x[i] = 0
        total += float(number)
        whole += int(number)
    return total, whole


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64, torch.int32])
def test_a_number_stays_when_its_tensor_is_written(dtype: object) -> None:
    scripted = torch.jit.script(read_then_written)
    for _ in range(4):
        x, y = torch.arange(6).to(dtype), torch.arange(6).to(dtype)
        assert scripted(x) == read_then_written(y)
        assert x.tolist() == y.tolist()


def compared(x: Tensor, y: Tensor, near: float, count: int) -> list[int]:
    found: list[int] = []
    for i in range(x.size(0)):
        a, b = x[i].item(), y[i].item()
        bits = 0
        if a > near:
            bits += 1
        if a <= count:
            bits += 2
        if near >= a:
            bits += 4
        if count == a:
            bits += 8
        if a != b:
            bits += 16
        if a < b:
            bits += 32
        found.append(bits)
    return found


@pytest.mark.parametrize("one", [torch.float32, torch.int64, torch.bool, torch.uint8])
@pytest.mark.parametrize("other", [torch.float64, torch.int64])
def test_numbers_of_tensors_are_compared(one: object, other: object) -> None:
    scripted = torch.jit.script(compared)
    x, y = torch.arange(8).remainder(3).to(one), torch.arange(8).remainder(5).to(other)
    for near, count in ((0.5, 2), (1.0, 1), (float("nan"), 0)):
        assert scripted(x, y, near, count) == compared(x, y, near, count)
    assert is_native(scripted)


def test_mixed_numbers_are_compared_as_floats_whatever_does_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    large = torch.tensor([2**53 + 1, 2**53, -(2**62)])
    odd = torch.tensor([float("nan"), 1.0, float("inf")])
    calls = ((large, large + 1, 2.0**53, 2**53), (odd, odd, 1.0, 1))
    found = [torch.jit.script(compared)(*each) for each in calls]
    monkeypatch.setenv("RUSHLIGHT_NATIVE", "off")
    in_plan = torch.jit.CompilationUnit(inspect.getsource(compared)).compared
    assert found == [in_plan(*each) for each in calls]


def computed(x: Tensor, y: Tensor) -> list[float]:
    found: list[float] = []
    for i in range(x.size(0)):
        a, b = x[i].item(), y[i].item()
        found.append(float(a * 2 + 1 - b))
        found.append(float(-a * b) + a / 4 + (a + 0.5) / (b * b + 1))
        if 3 - a > b * 0.25:
            found.append(float(int(a * 7) + int(0.5 * b)))
    return found


@pytest.mark.parametrize("one", [torch.float32, torch.int64, torch.bool])
@pytest.mark.parametrize("other", [torch.float64, torch.int32])
def test_numbers_of_tensors_are_computed_with(one: object, other: object) -> None:
    scripted = torch.jit.script(computed)
    x, y = torch.arange(8).remainder(3).to(one), (torch.arange(8) * 0.3 - 1).to(other)
    assert scripted(x, y) == computed(x, y)
    assert is_native(scripted)


def test_whole_numbers_of_tensors_wrap(monkeypatch: pytest.MonkeyPatch) -> None:
    x = torch.tensor([2**62, -(2**63), 3])
    found = torch.jit.script(computed)(x, x)
    monkeypatch.setenv("RUSHLIGHT_NATIVE", "off")
    assert found == torch.jit.CompilationUnit(inspect.getsource(computed)).computed(x, x)
