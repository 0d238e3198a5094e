"""Plans of code that is not trusted count what the machine counts, and are refused where it is."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import pytest

import rushlight as torch
from rushlight.interpreter.bounds.guard import Bounds, Guard
from rushlight.interpreter.code.calls import Calls
from rushlight.interpreter.code.machine import Machine
from rushlight.interpreter.plans import plan
from rushlight.interpreter.plans.plan import make_plan
from rushlight.interpreter.running.invoking import code_of, invoke, tiers_of
from rushlight.ops.memory.allocation import is_counting
from rushlight.serialization.files.limits import Limits

pytestmark = pytest.mark.skipif(not is_counting(), reason="without a ledger the machine runs it")


def numbers(n: int) -> int:
    total, k = 0, n
    for i in range(n):
        if i % 3 == 0:
            total += (i // 2) * k
        elif i > 7:
            for j in range(i % 4):
                total -= j
    while k > 0:
        k = k // 2 - 1
        if total > 100:
            break
    return total


def texts(n: int) -> int:
    found: dict[str, int] = {}
    for i in range(n):
        key = str(i % 5) + "a"
        found[key] = len(key) + max(i, 3)
    return len(found) + found.get("3a", 5)


def tensors(n: int) -> torch.Tensor:
    x = torch.ones(n, 3)
    for i in range(n):
        x = torch.tanh(x + i) if bool(x.sum() > 2) else x[:, 0].unsqueeze(1)
    return x


def counted(run: Any, guard: Guard, arguments: Sequence[Any]) -> tuple[Any, int]:
    with guard.entered():
        result = run(arguments)
        return result, guard._uses.use.instructions


@pytest.mark.parametrize("function", [numbers, texts, tensors])
@pytest.mark.parametrize("n", [0, 1, 12])
def test_plan_and_machine_count_the_same(function: Any, n: int) -> None:
    code = code_of(torch.jit.script(function)._rushlight_function)
    guard = Guard(Bounds())
    made = make_plan(code, invoke, Calls(guard=guard))
    assert made is not None
    expected, used = counted(Machine(code, invoke, Calls(guard=guard)).run, guard, [n])
    found, planned = counted(lambda values: made.run(*values), guard, [n])
    assert str(found) == str(expected)
    assert planned == used > 0


class Programs(torch.nn.Module):
    def forward(self, n: int) -> int:
        total = 0
        for i in range(n):
            total += i % 7
        return total

    @torch.jit.export
    def joined(self, n: int) -> int:
        text = "ab"
        for _ in range(n):
            text = text + text
        return len(text)

    @torch.jit.export
    def product(self, x: torch.Tensor, n: int) -> torch.Tensor:
        for _ in range(n):
            x = x.expand(40_000, 40_000)
            x = torch.mm(x, x)
        return x

    @torch.jit.export
    def index(self, values: list[int], n: int) -> int:
        total = 0
        for i in range(n):
            total += values[i]
        return total

    @torch.jit.export
    def sums(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(1000):
            x = torch.cumsum(x, 0)
        return x


def untrusted(**bounds: Any) -> Any:
    data = torch.jit.script(Programs()).save_to_buffer()
    limits = Limits(running=Bounds(**bounds))
    return torch.jit.load(io.BytesIO(data), trust="none", limits=limits)


def has_plan(module: Any, name: str) -> bool:
    return tiers_of(module._c._get_method(name)._rushlight_function).way().plan is not None


@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [
        ("forward", (10**9,), "more than 100000 instructions have run"),
        ("joined", (40,), "bytes of memory"),
        ("product", (torch.ones(1, 1), 1), "steps, more than can be done"),
    ],
)
def test_a_plan_is_refused_what_passes_its_bounds(
    name: str, arguments: tuple[Any, ...], text: str
) -> None:
    module = untrusted(instructions=100_000, memory=1 << 24, seconds=5.0)
    for _ in range(2):
        with pytest.raises(RuntimeError, match=text) as caught:
            getattr(module, name)(*arguments)
        assert has_plan(module, name)
        (diagnostic,) = caught.value.diagnostics  # type: ignore[attr-defined]
        assert diagnostic.code == "limit-exceeded"
        assert "<--- HERE" in str(caught.value)


def test_what_a_plan_ends_well_or_by_its_own_fault_is_told_as_ever() -> None:
    module = untrusted()
    assert module(20) == sum(i % 7 for i in range(20))
    assert module.index([1, 2], 2) == 3
    with pytest.raises(RuntimeError, match="list index out of range"):
        module.index([1, 2], 3)
    assert has_plan(module, "index")


def test_code_too_long_for_a_guarded_plan_stays_on_the_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    code, calls = (
        code_of(torch.jit.script(tensors)._rushlight_function),
        Calls(guard=Guard(Bounds())),
    )
    monkeypatch.setattr(plan, "LONGEST_GUARDED", code.operand_count)
    assert make_plan(code, invoke, calls) is not None
    monkeypatch.setattr(plan, "LONGEST_GUARDED", code.operand_count - 1)
    assert make_plan(code, invoke, calls) is None


@pytest.mark.parametrize("plans", ["now", "off"])
def test_what_runs_out_of_time_is_told_with_its_place(
    plans: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUSHLIGHT_PLAN", plans)
    module = untrusted(seconds=0.2)
    with pytest.raises(RuntimeError, match="seconds") as caught:
        module.sums(torch.ones(1_000_000))
    (diagnostic,) = caught.value.diagnostics  # type: ignore[attr-defined]
    assert diagnostic.code == "limit-exceeded"
    assert "torch.cumsum(x, 0)" in str(caught.value)
    assert "test_guarded_plans.py" in str(caught.value)
