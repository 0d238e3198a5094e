"""`export_modules_as_functions`: calls of modules as functions of the file."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight import nn

onnx = pytest.importorskip("onnx")
reference = pytest.importorskip("onnx.reference")


def exported(program: Any, *given: torch.Tensor, **options: Any) -> Any:
    """The message, which ONNX's checker takes and its reference computes as the program does."""
    file = io.BytesIO()
    torch.onnx.export(program, given, file, **options)
    onnx.checker.check_model(file.getvalue(), full_check=True)
    model = onnx.load_from_string(file.getvalue())
    names = [each.name for each in model.graph.input]
    arrays = dict(zip(names, [x.numpy() for x in given], strict=True))
    with torch.no_grad():
        wanted = program(*given)
        found = reference.ReferenceEvaluator(model).run(None, arrays)
        back = torch.onnx.load(io.BytesIO(file.getvalue()))(*given)
    for a, b, c in zip(*map(_listed, (wanted, found, back)), strict=True):
        np.testing.assert_allclose(b, np.asarray(a), rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(np.asarray(c), np.asarray(a), rtol=1e-5, atol=1e-6)
    return model


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.linear = nn.Linear(3, width)
        self.norm = nn.LayerNorm(width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(self.norm(self.linear(x)))
        if bool(y.sum() > 3):
            y = y * 2
        return y


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.one, self.two, self.three = Block(3), Block(3), Block(5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(2):
            x = self.two(self.one(x))
        return self.three(x)


def test_equal_modules_share_a_function() -> None:
    model = exported(torch.jit.script(Net()), torch.rand(2, 3), export_modules_as_functions=True)
    domains = [(each.domain.rpartition(".")[2], each.name) for each in model.functions]
    assert sorted(domains) == [
        *[("linear", "Linear"), ("normalization", "LayerNorm")],
        *[("test_functions", "Block"), ("test_functions", "Block_1")],  # `If` says its sizes
    ]
    weights = {each.name for each in model.graph.initializer}
    assert {"one.linear.weight", "two.norm.bias", "three.linear.bias"} <= weights


def test_functions_of_some_classes() -> None:
    net = torch.jit.script(Net())
    model = exported(net, torch.rand(2, 3), export_modules_as_functions={nn.Linear})
    assert [each.name for each in model.functions] == ["Linear"]
    calls = [node for node in model.graph.node if node.op_type == "Linear"]
    assert len(calls) >= 1
    assert not exported(net, torch.rand(2, 3)).functions


def test_traced_modules_have_functions() -> None:
    class Stack(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.Sequential(nn.Linear(3, 3), nn.Dropout(), nn.Linear(3, 3), nn.Tanh())

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.layers(x)

    model = exported(Stack().eval(), torch.rand(2, 3), export_modules_as_functions=True)
    assert {each.name for each in model.functions} == {"Linear", "Tanh", "Sequential"}


class Kept(nn.Module):
    count: int

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.count += 1
        return x + self.count


class Turned(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x * 1).t()


class Signs(nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[bool, torch.Tensor | None]:
        is_small = not bool(x.sum() > 5)
        return is_small, None if is_small else x


class Users(nn.Module):
    """Of what a function gives: a view, the opposite of a bool, a value or None."""

    def __init__(self) -> None:
        super().__init__()
        self.kept, self.turned, self.signs = Kept(), Turned(), Signs()

    def forward(self, x: torch.Tensor) -> list[torch.Tensor]:
        y = self.turned(x)
        y += 1
        small, maybe = self.signs(x)
        z = x if small else x * 3
        if maybe is not None:
            z = z + maybe
        return [self.kept(self.kept(x)), y, z]


@pytest.mark.parametrize("scale", [0.1, 10.0])
def test_what_functions_give_is_used_in_all_ways(scale: float) -> None:
    x = torch.ones(2, 3) * scale
    script = torch.jit.script(Users())
    script.kept.count = 0
    with torch.no_grad():
        wanted = [each.numpy().copy() for each in script(x)]
    script.kept.count = 0
    file = io.BytesIO()
    torch.onnx.export(script, (x,), file, export_modules_as_functions=True)
    model = onnx.load_from_string(file.getvalue())
    onnx.checker.check_model(model, full_check=True)
    assert {each.name for each in model.functions} == {"Turned", "Signs"}  # Kept changes itself
    found = reference.ReferenceEvaluator(model).run(None, {"x": x.numpy()})
    for a, b in zip(wanted, found, strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-6)
