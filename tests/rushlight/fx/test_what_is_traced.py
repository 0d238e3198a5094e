"""Decorated functions, modules as arguments, compiled modules below, and what copies keep."""

from __future__ import annotations

import functools
import io
import typing
from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch
from rushlight import fx, nn


def and_relu(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return torch.relu(function(*args, **kwargs))

    return wrapper


class Decorated(nn.Module):
    @and_relu
    def forward(self, x: Any, *, w: Any) -> Any:
        return x @ w


@and_relu
def of_several(*args: Any) -> Any:
    return args[0]


def test_decorators_are_traced() -> None:
    traced = fx.symbolic_trace(Decorated())
    assert [node.name for node in traced.graph.nodes] == ["x", "w", "matmul", "relu", "output"]
    x, w = torch.randn(2, 3), torch.randn(3, 2)
    assert torch.equal(traced(x, w=w), torch.relu(x @ w))
    with pytest.raises(fx.proxy.TraceError, match="has a decorator and takes"):
        fx.symbolic_trace(of_several)


@fx.wrap
def applied(x: Any, module: Any) -> Any:
    return module(x)


class Holder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.BatchNorm1d(2, affine=False)
        self.compiled: Any = torch.jit.script(nn.Linear(2, 2))

    def forward(self, x: Any) -> Any:
        return self.compiled(applied(x, self.layer))


def test_modules_are_arguments_and_compiled_ones_are_nodes() -> None:
    module = Holder().eval()
    traced = fx.symbolic_trace(module)
    kinds = [(node.op, node.name) for node in traced.graph.nodes]
    assert kinds == [
        ("placeholder", "x"),
        ("get_attr", "layer"),
        ("call_function", "applied"),
        ("call_module", "compiled"),
        ("output", "output"),
    ]
    x = torch.randn(3, 2)
    assert torch.equal(traced(x), module(x))


def test_files_keep_what_the_graph_does_not_need() -> None:
    traced = fx.symbolic_trace(nn.ReLU())
    traced.add_submodule("other", nn.Linear(1, 1))
    traced.register_parameter("extra", nn.Parameter(torch.ones(1)))
    traced.register_buffer("more", torch.zeros(1))
    file = io.BytesIO()
    torch.save(traced, file)
    file.seek(0)
    again = torch.load(file, weights_only=False)
    assert isinstance(again.other, nn.Linear)
    assert again.extra.tolist() == [1]
    assert again.more.tolist() == [0]


def test_transformers_keep_notes() -> None:
    traced = fx.symbolic_trace(Holder())
    for node in traced.graph.nodes:
        node.meta["mine"] = node.name
        node.meta["nn_module_stack"] = node.name
    made = fx.Transformer(traced).transform()
    noted = [n.meta.get("nn_module_stack") for n in made.graph.nodes if n.op != "placeholder"]
    assert noted == ["layer", "applied", "compiled", "output"]


def test_what_is_no_function_of_python_is_refused() -> None:
    for callee in (torch.add, len, torch.nn.functional.conv2d):
        with pytest.raises(AssertionError, match="Expected FunctionType, got <class '"):
            fx.symbolic_trace(callee)


def test_functions_are_annotations_of_generated_code() -> None:
    def measured(
        x: torch.Tensor,
        near: Callable[[torch.Tensor, int], torch.Tensor] | None = None,
        far: Callable[..., int] | None = None,
    ) -> Any:
        return x + 1

    measured.__annotations__ = typing.get_type_hints(measured, localns=locals())
    code = fx.symbolic_trace(measured).code
    assert "Callable[[torch.Tensor,int],torch.Tensor]" in code
    assert "Callable[_,int]" in code
