"""Sizes that vary, as `torch.export` says them; the forms are those that torch 2.13 takes."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight as torch
from rushlight.export import Dim, dims

pytest.importorskip("onnx")

B = Dim("batch")


class Two(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x * 2 + y.sum()


def sizes(said: object, **more: Any) -> dict[str, list[Any]]:
    program = torch.onnx.export(
        Two(), (torch.ones(3, 4), torch.ones(3)), dynamic_shapes=said, **more
    )
    found = program.model_proto.graph.input
    return {
        each.name: [size.dim_param or size.dim_value for size in each.type.tensor_type.shape.dim]
        for each in found
    }


@pytest.mark.parametrize(
    ("said", "x", "y"),
    [
        ({"x": {0: B}, "y": {0: B}}, ["batch", 4], ["batch"]),
        (({0: B}, None), ["batch", 4], [3]),
        ({"x": (B, None)}, ["batch", 4], [3]),
        ({"x": ["s", "t"], "y": None}, ["s", "t"], [3]),
        ({"x": {0: Dim.DYNAMIC, 1: Dim.STATIC}}, ["x_dim_0", 4], [3]),
        ({"x": {-1: Dim.AUTO}}, [3, "x_dim_1"], [3]),
        ({"x": {0: 2 * B + 1, 1: 4}}, ["2*batch + 1", 4], [3]),
        ({}, [3, 4], [3]),
    ],
)
def test_sizes_have_names(said: object, x: list[Any], y: list[Any]) -> None:
    assert sizes(said) == {"x": x, "y": y}


def test_inputs_with_other_names() -> None:
    assert sizes({"y": {0: "n"}}, input_names=["a", "b"]) == {"a": [3, 4], "b": ["n"]}


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"w": {0: B}}, "there is no parameter `w`"),
        ({"x": {5: B}}, "`x` has no axis 5"),
        ({"x": {0: 1.5}}, "1.5 is no size"),
        (3, "by parameters, or in their order"),
    ],
)
def test_what_says_no_sizes(said: object, told: str) -> None:
    with pytest.raises(torch.onnx.OnnxExporterError, match=told):
        sizes(said)


def test_tensors_in_lists() -> None:
    class Joined(torch.nn.Module):
        def forward(self, parts: list[torch.Tensor]) -> torch.Tensor:
            return torch.cat(parts)

    program = torch.onnx.export(
        Joined(), ([torch.ones(2), torch.ones(3)],), dynamic_shapes={"parts": [{0: "n"}, None]}
    )
    found = [each.type.tensor_type.shape.dim[0] for each in program.model_proto.graph.input]
    assert [size.dim_param or size.dim_value for size in found] == ["n", 3]


def test_names_and_bounds() -> None:
    size = Dim("b", min=2, max=8)
    assert (repr(size), size.min, size.max) == ("Dim('b', max=8)", 2, 8)
    assert repr(Dim("b")) == "Dim('b', min=0)"
    assert repr(Dim("b").max) == "int_oo"
    assert [repr(each) for each in dims("a", "b", min=3)] == ["Dim('a', min=3)", "Dim('b', min=3)"]
    assert repr(Dim.DYNAMIC(max=5)) == "DimHint(DYNAMIC, max=5)"
    assert Dim.AUTO() == Dim.AUTO != Dim.STATIC
    with pytest.raises(AssertionError, match="must be a valid identifier, got 1x"):
        Dim("1x")
    with pytest.raises(AssertionError, match="inconsistent min=9, max=3"):
        Dim("b", min=9, max=3)


def test_sizes_that_follow_others() -> None:
    size = Dim("b", min=2, max=8)
    other = (2 * size + 1) * 3
    assert (str(other), other.min, other.max, other.fn(5), other.root) == (
        "6*b + 3",
        15,
        51,
        33,
        size,
    )
    assert str(size + 1 - 1) == "b"
    with pytest.raises(AssertionError, match="derived min value of a - 1 to be >= 0"):
        Dim("a") - 1


@pytest.mark.parametrize(
    ("step", "told"),
    [
        (lambda size: size + size, "add Dim\\('b', max=8\\) to b, where an integer"),
        (lambda size: size * 1.5, "multiply 1.5 with b, where a positive integer"),
        (lambda size: size - True, "subtract True from b, where an integer"),
        (lambda size: 1 - size, "negate b"),
    ],
)
def test_what_sizes_do_not_follow(step: Any, told: str) -> None:
    with pytest.raises(NotImplementedError, match=f"Attempted to {told}"):
        step(Dim("b", min=2, max=8))
