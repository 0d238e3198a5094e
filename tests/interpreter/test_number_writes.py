"""Numbers written to tensors by plans, without a tensor of the number: as the machine does it."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight as torch
from rushlight.interpreter.running.invoking import tiers_of

Tensor = torch.Tensor


def whole(x: Tensor, i: int, n: int) -> Tensor:
    x[i] = n
    x[-1, 0] = 7
    x[:, 1] = 16777217
    return x


def real(x: Tensor, i: int, n: float) -> Tensor:
    x[i] = n
    x[-1, 0] = 0.1
    x[:, 1] = 1e39
    return x


def truth(x: Tensor, i: int, n: bool) -> Tensor:
    x[i] = n
    x[:, 1] = True
    return x


def fate(call: Any, make: Any, *given: Any) -> tuple[str, list[Any]]:
    """What became of a tensor, and the error if there was one."""
    x, said = make(), ""
    try:
        with torch.no_grad():
            call(x, *given)
    except RuntimeError as error:
        said = str(error).splitlines()[-1]
    return said, [repr(each) for each in x.contiguous().flatten().tolist()]


MAKES = [
    *(lambda d=d: torch.zeros(3, 4, dtype=d) for d in (torch.float32, torch.float64, torch.int64)),
    *(lambda d=d: torch.zeros(3, 4, dtype=d) for d in (torch.bool, torch.int32, torch.bfloat16)),
    lambda: torch.zeros(4, 3).t(),
    lambda: torch.zeros(3, 1).expand(3, 4),
    lambda: torch.zeros(6, 8)[::2, ::2],
]


@pytest.mark.parametrize("make", MAKES)
@pytest.mark.parametrize(
    ("function", "numbers"),
    [
        (whole, [3, -(1 << 24), (1 << 24) + 1, (1 << 62) + 1]),
        (real, [0.1, 3.4e38, -1e300, float("nan"), float("inf"), 2.5]),
        (truth, [True, False]),
    ],
)
def test_plans_write_what_the_machine_writes(
    function: Any, numbers: list[Any], make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted = torch.jit.script(function)
    found = [fate(scripted, make, i, n) for _ in range(3) for n in numbers for i in (1, 5)]
    plan = tiers_of(scripted._rushlight_function).way(False).plan
    assert plan is not None
    assert "[...] = " in plan.text
    monkeypatch.setenv("RUSHLIGHT_PLAN", "off")
    scripted = torch.jit.script(torch.jit.CompilationUnit(unit_of(function)).f)
    assert found == [fate(scripted, make, i, n) for _ in range(3) for n in numbers for i in (1, 5)]


def unit_of(function: Any) -> str:
    """The same function once more, under another name."""
    import inspect

    name = f"def {function.__name__}("
    return inspect.getsource(function).replace(name, "def f(")
