"""Numbers of tensors whose kind shows when code runs, in native loops: as the plan has them."""

from __future__ import annotations

import math
import types
from typing import Any

import pytest

import rushlight as torch
from rushlight.interpreter.native.native import is_native_possible
from rushlight.interpreter.running.invoking import tiers_of

pytestmark = pytest.mark.skipif(not is_native_possible(), reason="there is no native code here")

Tensor = torch.Tensor


def penalized(x: Tensor, by: float) -> tuple[Tensor, list[float]]:
    y = torch.softmax(x.float(), 0)
    found: list[float] = []
    for i in range(x.size(0)):
        v = x[i].item()
        w = v / by if v > 0 else v * by
        found.append(float(w))
    return y, found


def extremes(x: Tensor) -> tuple[Tensor, list[str], list[float]]:
    y = torch.softmax(x.float(), 0)
    told: list[str] = []
    found: list[float] = []
    for i in range(x.size(0) - 1):
        v = x[i].item()
        w = x[i + 1].item()
        most = max(v, w)
        least = min(v, w)
        told.append("above" if most > least else "equal")
        found.append(float(most) * 2.0 - float(least))
    return y, told, found


def functions(x: Tensor) -> tuple[Tensor, list[float]]:
    y = torch.softmax(x.float(), 0)
    found: list[float] = []
    for i in range(x.size(0)):
        v = x[i].item()
        e = math.exp(v)
        found.append(float(e))
        found.append(float(math.tanh(v)))
        found.append(float(math.sqrt(v * v)))
    return y, found


def fresh(function: Any) -> Any:
    """The same function, which nobody has scripted yet."""
    return types.FunctionType(function.__code__, function.__globals__, function.__name__)


GIVEN = {
    "float32": torch.tensor([0.5, -1.5, 3.25, -0.0, 2.0]),
    "float64": torch.tensor([0.1, -1.5, 1e3, 7.0], dtype=torch.float64),
    "int64": torch.tensor([3, -2, 0, 2**40 + 1]),
    "bool": torch.tensor([True, False, True]),
}


@pytest.mark.parametrize("dtype", GIVEN)
@pytest.mark.parametrize("function", [penalized, extremes, functions])
def test_native_loops_over_numbers_of_tensors(
    function: Any, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = (GIVEN[dtype], 1.25) if function is penalized else (GIVEN[dtype],)
    found = []
    for native in ("off", "now"):
        monkeypatch.setenv("RUSHLIGHT_NATIVE", native)
        scripted = torch.jit.script(fresh(function))
        found.append([str([*map(repr, scripted(*given))]) for _ in range(3)])
        way = tiers_of(scripted._rushlight_function).way(False)
        if native == "now" and dtype != "bool":
            islands = [] if way.plan is None else [each.is_native for each in way.plan.islands]
            assert way.tier == "native" or islands == [True]
    assert found[0] == found[1]
