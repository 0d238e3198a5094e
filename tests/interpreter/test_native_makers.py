"""Tensors that native code makes of sizes and numbers, or pads: as operators do it."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight as torch
from rushlight.interpreter.native.native import NEVER, ROUNDS, STRAIGHT, is_native_possible
from rushlight.interpreter.native.program import compile_native
from rushlight.interpreter.native.source import write_native
from rushlight.interpreter.running.executable import executable_of
from tests.interpreter.test_islands import assert_natively_as_by_operators, fresh

pytestmark = pytest.mark.skipif(not is_native_possible(), reason="there is no native code here")

Tensor = torch.Tensor
F = torch.nn.functional


def collated(batch: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    xs: list[Tensor] = []
    lengths: list[int] = []
    longest = 0
    for sample in batch:
        lengths.append(sample["x"].size(0))
        longest = max(longest, sample["x"].size(0))
    for sample in batch:
        x = sample["x"]
        xs.append(F.pad(x, [0, 0, 0, longest - x.size(0)]))
    size = torch.tensor(lengths)
    mask = torch.arange(longest).unsqueeze(0) < size.unsqueeze(1)
    labels = torch.stack([sample["y"] for sample in batch])
    return {"x": torch.stack(xs), "lengths": size, "mask": mask, "y": labels}


def padded(xs: list[Tensor], pad: list[int], value: float) -> list[Tensor]:
    found: list[Tensor] = []
    for x in xs:
        found.append(F.pad(x, pad, value=value))
        found.append(F.pad(x, pad))
        found.append(F.pad(x, [0, 0], "constant", 1.0))
    return found


def ranges(sizes: list[int], x: Tensor) -> list[Tensor]:
    found: list[Tensor] = []
    for n in sizes:
        found.append(torch.arange(n))
        found.append(torch.arange(2, n, device=x.device))
        found.append(torch.arange(-1, n) * n)
        found.append(torch.ones(n, 2))
        found.append(torch.ones([n], dtype=torch.long) + n)
        found.append(torch.ones([2, n], dtype=torch.bool))
        found.append(torch.ones([], dtype=torch.float64))
    return found


def reflected(xs: list[Tensor]) -> list[Tensor]:
    found: list[Tensor] = []
    for x in xs:
        found.append(F.pad(x, [1, 1], "reflect"))
    return found


X = torch.arange(6.0).view(2, 3)
BATCH = [{"x": torch.ones(n, 2) * n, "y": torch.tensor(n)} for n in (2, 1, 3)]
CALLS: list[tuple[Any, tuple[Any, ...]]] = [
    (collated, (BATCH,)),
    (collated, ([{"x": torch.ones(1, 2).long(), "y": torch.tensor(0.5)}],)),
    (padded, ([X, X.t(), X[:, ::2], X.double()], [1, 0, 0, 2], 0.1)),
    (padded, ([X, X.t(), X[:, ::2]], [0, 0], -1.5)),
    (padded, ([X, X[:1, :1]], [-1, 2], 2.0)),
    (padded, ([X.long(), X > 2], [1, 1], 1.0)),
    (padded, ([X[0], X.view(1, 2, 3), X.half()], [2, 1], float("nan"))),
    (padded, ([X, torch.zeros(0, 3)], [0, 1, 1], 0.5)),
    (padded, ([torch.zeros(0, 3)], [0, 1], 0.5)),
    (padded, ([X], [0, 1, 0, 0, 0, 0], 0.5)),
    (padded, ([X, X.double(), X[0]], [1, 2], 0.1)),
    (ranges, ([2, 5], X)),
    (ranges, ([3, 1], X)),
    (ranges, ([-1], X)),
    (reflected, ([X],)),
]


def told(function: Any, given: tuple[Any, ...]) -> str:
    try:
        found = function(*given)
    except Exception as error:
        return f"raised {str(error).partition('error[')[2]}"[:40]
    parts = found.values() if isinstance(found, dict) else found
    return f"{found} {[(each.dtype, each.stride()) for each in parts]}"


@pytest.mark.parametrize("number", range(len(CALLS)))
@pytest.mark.parametrize("way", ["whole", "islands"])
def test_natively_as_by_operators(monkeypatch: pytest.MonkeyPatch, number: int, way: str) -> None:
    assert_natively_as_by_operators(monkeypatch, told, *CALLS[number], way=way)


@pytest.mark.parametrize("number", [10, 11])
def test_they_are_native(number: int) -> None:
    function, given = CALLS[number]
    unit = torch.jit.script(fresh(function))._rushlight_function
    code = executable_of(unit, None).code
    run = compile_native(write_native(code, [each.type for each in unit.signature.arguments]))
    assert isinstance(run(ROUNDS, NEVER, STRAIGHT, *given), list)
