"""Forks and functions of one's own in traces: what they are there, and how they run and leave."""

from __future__ import annotations

import io
from typing import Any

import pytest

import rushlight as torch
from rushlight import Tensor


class Swapped(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, by: float, y: Tensor) -> tuple[Tensor, Tensor]:
        return y * by, x

    @staticmethod
    def backward(ctx: Any, a: Tensor, b: Tensor) -> tuple[Tensor, None, Tensor]:
        return b * 10, None, a * 100


class Steep(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x.sin()

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Tensor:
        return g * 7


class InPlace(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.mark_dirty(x)
        return x.add_(1)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Tensor:
        return g


class Layer(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(2))

    def forward(self, x: Tensor) -> Tensor:
        a, b = Swapped.apply(x, 3.0, self.weight)
        return Steep.apply(a) + b


def test_functions_are_called_by_traces() -> None:
    traced = torch.jit.trace(Layer(), (torch.ones(2),))
    swapped, steep = traced.graph.findAllNodes("prim::PythonOp")
    text = str(swapped)
    assert f'^Swapped[inplace=0, module="{__name__}", Subgraph=<Graph>](3.0)(%x, %weight)' in text
    assert (swapped.pyname(), swapped.pyobj(), swapped.scalar_args()) == (
        *("Swapped", Swapped.apply, [3.0]),
    )
    assert "aten::sin" in str(steep.g("Subgraph"))
    assert "^Swapped(3.0)(x, weight)" in traced.code
    assert "^Steep()(a)" in traced.code


def test_gradients_are_those_of_the_function() -> None:
    layer = Layer()
    traced = torch.jit.trace(layer, (torch.ones(2),))
    x = torch.zeros(2, requires_grad=True)
    y = traced(x)
    assert torch.equal(y, layer(x))
    y.sum().backward()
    assert x.grad.tolist() == [10.0, 10.0]
    assert traced.weight.grad.tolist() == [700.0, 700.0]


def test_functions_cannot_be_saved() -> None:
    traced = torch.jit.trace(Layer(), (torch.ones(2),))
    with pytest.raises(RuntimeError, match="Could not export Python function call 'Swapped'"):
        torch.jit.save(traced, io.BytesIO())


@pytest.mark.parametrize("outplace", [False, True])
def test_functions_that_write_cannot_be_run(outplace: bool) -> None:
    traced = torch.jit.trace(
        InPlace.apply, (torch.ones(2),), check_trace=False, _force_outplace=outplace
    )
    with pytest.raises(RuntimeError, match="inplace InPlace not supported in the JIT"):
        traced(torch.ones(2))


def test_views_that_functions_give_need_gradients_only_if_something_does() -> None:
    class Same(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Tensor) -> Tensor:
            return x

    assert not Same.apply(torch.ones(2)).requires_grad
    with torch.no_grad():
        assert Same.apply(torch.ones(2, requires_grad=True)).requires_grad


def test_what_a_task_makes_is_known_behind_waiting() -> None:
    leaked: list[Tensor] = []

    def body(x: Tensor) -> Tensor:
        leaked.append(x + 1)
        return x + 1

    def leaking(x: Tensor) -> Tensor:
        torch.jit.wait(torch.jit.fork(body, x))
        return leaked[0]

    with pytest.raises(RuntimeError, match="did not have observable data dependence"):
        torch.jit.trace(leaking, (torch.ones(2),), check_trace=False)

    def number(x: Tensor) -> Tensor:
        return x + torch.jit.wait(torch.jit.fork(lambda _: 3, x))

    with pytest.raises(RuntimeError, match="cannot set value trace for type Int"):
        torch.jit.trace(number, (torch.ones(2),))


def test_modules_are_called_in_tasks() -> None:
    class Both(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.one = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
            self.other = torch.nn.Linear(2, 2)

        def forward(self, x: Tensor) -> Tensor:
            task = torch.jit.fork(lambda y: self.one(y) + 1, x)
            return self.other(x) * torch.jit.wait(task)

    both = Both()
    traced = torch.jit.trace(both, (torch.ones(2),))
    assert traced.code.splitlines()[2:8] == [
        "  other = self.other",
        "  def __forked_function():",
        "    one = self.one",
        "    _0 = torch.add((one).forward(x, ), CONSTANTS.c0)",
        "    return _0",
        "  _1 = fork(__forked_function)",
    ]
    file = io.BytesIO()
    torch.jit.save(traced, file)
    file.seek(0)
    x = torch.rand(2)
    assert torch.equal(torch.jit.load(file)(x), both(x))


def test_tasks_that_are_waited_for_can_be_written_out() -> None:
    def program(x: Tensor) -> Tensor:
        task = torch.jit.fork(lambda y: (y.sin(), torch.jit.wait(torch.jit.fork(torch.neg, y))), x)
        return task.wait()[1] + 1

    traced = torch.jit.trace(program, (torch.ones(2),))
    assert [n.kind() for n in traced.graph.nodes() if "Constant" not in n.kind()] == [
        *("prim::fork", "aten::wait", "prim::TupleUnpack", "aten::add"),
    ]
    torch._C._jit_pass_inline_fork_wait(traced.graph)
    text = str(traced.graph)
    assert "fork" not in text
    assert "wait" not in text
    torch._C._jit_pass_lint(traced.graph)
    run = torch._C._create_function_from_graph("f", traced.graph)
    assert torch.equal(run(torch.ones(2)), torch.zeros(2))


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (object(), "instead got value of type object"),
        ([], "List trace inputs must have elements"),
    ],
)
def test_results_without_a_type_are_told_of(result: object, words: str) -> None:
    with pytest.raises(RuntimeError, match=rf"Tracer cannot infer type of .*\n:.*{words}"):
        torch.jit.trace(lambda x: result, (torch.ones(1),))


def test_a_trace_that_does_not_run_is_told_of() -> None:
    calls = [0]

    def program(x: Tensor) -> Tensor:
        calls[0] += 1
        if calls[0] == 3:
            raise ValueError("no\nmore")
        return x + 1

    with pytest.raises(
        torch.jit.TracingCheckError,
        match=r"the Python function with test inputs\.\nException:\n\tno\n\tmore\n",
    ):
        torch.jit.trace(program, (torch.ones(1),))


@pytest.mark.parametrize("cell", [torch.nn.GRUCell, torch.nn.LSTMCell, torch.nn.RNNCell])
@pytest.mark.parametrize("bias", [True, False])
def test_cells_compute_in_traces_what_they_compute(cell: Any, bias: bool) -> None:
    torch.manual_seed(1)
    module, x = cell(3, 4, bias=bias), torch.randn(2, 3)
    state = (
        (torch.randn(2, 4), torch.randn(2, 4)) if cell is torch.nn.LSTMCell else torch.randn(2, 4)
    )
    traced = torch.jit.trace(module, (x, state))
    for want, have in zip(module(x, state), traced(x, state), strict=True):
        assert torch.allclose(want, have, atol=1e-6)


class TwoTasks(torch.nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        task = torch.jit.fork(torch.neg, x)
        return x + torch.jit.wait(task)


class Around(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = torch.jit.script(TwoTasks())

    def forward(self, x: Tensor) -> Tensor:
        return self.inner(x) * 2


def test_tasks_of_scripts_are_inlined_into_traces() -> None:
    before = torch._C._jit_get_inline_everything_mode()
    torch._C._jit_set_inline_everything_mode(True)
    try:
        traced = torch.jit.trace(Around(), (torch.ones(2),))
    finally:
        torch._C._jit_set_inline_everything_mode(before)
    assert [node.kind() for node in traced.graph.findAllNodes("prim::fork")] == ["prim::fork"]
    assert traced(torch.ones(2)).tolist() == [0.0, 0.0]
