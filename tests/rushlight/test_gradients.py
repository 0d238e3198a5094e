"""Programs about gradients, eager and scripted, print what torch prints.

The programs stand in `gradients/*.txt`; `*.torch.txt` is what real torch printed.
"""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

import rushlight as torch
from rushlight.interpreter.running.invoking import tiers_of

FOLDER = Path(__file__).parent / "gradients"
PROGRAMS = [p for p in sorted(FOLDER.glob("*.txt")) if not p.name.endswith(".torch.txt")]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.stem)
def test_prints_what_torch_prints(
    program: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / f"{program.stem}.py"
    text = program.read_text(encoding="utf-8")
    file.write_text(text.replace("import torch\n", "import rushlight as torch\n"), encoding="utf-8")
    runpy.run_path(str(file))
    expected = program.with_suffix(".torch.txt").read_text(encoding="utf-8")
    assert capsys.readouterr().out == expected


def test_running_without_gradients_leaves_no_history() -> None:
    model = torch.nn.Linear(2, 2)
    script = torch.jit.script(model)
    x = torch.ones(1, 2)
    with torch.no_grad():
        assert script(x).grad_fn is None
    model.requires_grad_(False)
    assert script(x).grad_fn is None
    model.bias.requires_grad_()
    assert script(x).grad_fn is not None


def test_parameters_written_between_a_run_and_the_walk_back_are_noticed() -> None:
    weight = torch.ones(3, requires_grad=True)
    square = torch.jit.script(_times)
    result = square(weight, weight)
    with torch.no_grad():
        weight.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        result.sum().backward()


def _times(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x * y


def test_state_of_optimizers_goes_over() -> None:
    first, second = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)
    second.load_state_dict(first.state_dict())
    one = torch.optim.Adam(first.parameters(), lr=0.1)
    _train(first, one, 3)
    other = torch.optim.Adam(second.parameters(), lr=0.5)
    other.load_state_dict(one.state_dict())
    second.load_state_dict(first.state_dict())
    _train(first, one, 2)
    _train(second, other, 2)
    assert torch.equal(first.weight, second.weight)


def _train(model: torch.nn.Module, optimizer: torch.optim.Optimizer, steps: int) -> None:
    for _ in range(steps):
        optimizer.zero_grad()
        model(torch.ones(4, 2)).square().sum().backward()
        optimizer.step()


def make_leaf(value: float) -> torch.Tensor:
    leaf = torch.tensor([value], requires_grad=True)
    return leaf * 2


def make_constant(value: float) -> torch.Tensor:
    return torch.tensor([value]) * 2


@pytest.mark.parametrize(("function", "makes"), [(make_leaf, True), (make_constant, False)])
def test_what_makes_no_leaves_is_not_recorded(function: Any, makes: bool) -> None:
    scripted = torch.jit.script(function)
    assert scripted(3.0).requires_grad == makes
    assert tiers_of(scripted._rushlight_function).way().executable.traits.makes_leaves == makes


def test_a_script_makes_leaves() -> None:
    result = torch.jit.script(make_leaf)(3.0)
    assert result.requires_grad
    with torch.no_grad():
        assert torch.jit.script(make_leaf)(3.0).item() == 6


@pytest.mark.parametrize("name", ["dropout", "alpha_dropout", "feature_alpha_dropout", "dropout1d"])
def test_dropout_in_place_has_the_gradient_of_dropout(name: str) -> None:
    found = []
    for inplace in (False, True):
        torch.manual_seed(0)
        x = torch.ones(2, 8, 3, requires_grad=True)
        function = getattr(torch.nn.functional, name)
        function(x * 1.0, 0.4, training=True, inplace=inplace).sum().backward()
        found.append(x.grad.tolist())
    assert found[0] == found[1] != torch.ones(2, 8, 3).tolist()
