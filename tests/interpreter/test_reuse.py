"""Plans write large results over operands that nobody else can see, and over no others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.interpreter.code import reuse


def _argument(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    x = x * y
    return x


def _argument_again(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    z = x + y
    x = x - y
    return x, z


def _view(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    z = x + y
    row = z[0]
    z = z * y
    return row, z


def _listed(x: torch.Tensor, y: torch.Tensor) -> list[torch.Tensor]:
    found: list[torch.Tensor] = []
    z = x + y
    for _ in range(3):
        found.append(z)
        z = z * y
    found.append(z)
    return found


def _itself(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    z = x - y
    z = z + z
    z = z * z
    return z / 3.0


def _larger(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    z = x[0] + y[0]
    z = z * x
    z = z + y[:, :1]
    return z - y[0]


def _branches(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    z = x + y
    kept = z
    if bool((x > 100.0).any()):
        kept = y
    z = z * 2.0
    return kept, z


class _Kept(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.last = torch.zeros(1)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        z = x + y
        self.last = z
        z = z * y
        return self.last, z


def _numbers(value: Any) -> list[Any]:
    parts = value if isinstance(value, (list, tuple)) else [value]
    return [part.numpy().copy() for part in parts]


FORMS: list[Callable[..., Any]] = [
    *(_argument, _argument_again, _view, _listed, _itself, _larger, _branches)
]


def _name(made: Any) -> str:
    """The name of a case: the same in every process that collects it."""
    return str(getattr(made, "__name__", type(made).__name__))


@pytest.mark.parametrize("made", [*FORMS, _Kept()], ids=_name)
def test_results_are_those_of_the_eager_form(made: Any) -> None:
    rng = np.random.default_rng(1)
    x, y = (torch.from_numpy(rng.standard_normal((300, 200), np.float32)) for _ in range(2))
    before = x.numpy().copy(), y.numpy().copy()
    expected = _numbers(made(x, y))
    scripted = torch.jit.script(made)
    for _ in range(3):  # the machine, then the plan
        for one, other in zip(_numbers(scripted(x, y)), expected, strict=True):
            assert one.tobytes() == other.tobytes()
        assert x.numpy().tobytes() == before[0].tobytes()
        assert y.numpy().tobytes() == before[1].tobytes()


def test_an_array_alone_is_written_over() -> None:
    space: dict[str, Any] = {"reuse": reuse.reuse, "add": np.add, "make": np.ones, "id": id}
    text = "def plan(r1):\n r0 = make((9, 5))\n was = id(r0)\n r0 = reuse(add, r0, r1)\n"
    exec(text + " return was == id(r0), r0\n", space)
    same, result = space["plan"](np.arange(5.0))
    assert same
    np.testing.assert_array_equal(result, 1 + np.tile(np.arange(5.0), (9, 1)))
    same, result = space["plan"](np.zeros((2, 1, 1)))
    assert not same
    assert result.shape == (2, 9, 5)


def test_results_lie_as_new_ones_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUSHLIGHT_NATIVE", "off")
    source = "def f(x, y):\n  x = x * 2.0\n  x = x + y\n  return x\n"
    function = torch.jit.CompilationUnit(source).f
    x = torch.ones(2, 16, 40, 41).contiguous(memory_format=torch.channels_last)
    for y in (torch.ones(2, 16, 40, 41), x + 0.0, torch.ones(16, 1, 1)):
        with torch.no_grad():
            assert len({function(x, y).stride() for _ in range(4)}) == 1
