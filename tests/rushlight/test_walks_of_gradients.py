"""What `torch.autograd` is asked for: refusals, warnings, hooks of several tensors, `Function`s."""

from __future__ import annotations

import gc
import sys
import weakref
from typing import Any

import pytest

import rushlight as torch
from rushlight.autograd.function import InplaceFunction
from rushlight.ops.gradients.nodes.walk import _Walk
from rushlight.ops.memory.warned import GIVEN

graph = torch.autograd.graph


def test_gradients_of_nothing() -> None:
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"`inputs` argument to `grad\(\)` cannot be empty"):
        torch.autograd.grad(x.sum(), [])
    with pytest.raises(RuntimeError, match="interpret the first dimension of each grad_output"):
        torch.autograd.grad(x * 2, x, torch.ones(3), is_grads_batched=True)
    rows = torch.autograd.grad(x * 2, x, torch.eye(2), is_grads_batched=True)
    assert rows[0].tolist() == [[2, 0], [0, 2]]


def test_the_gradient_of_what_is_no_leaf_is_told_of() -> None:
    x = torch.ones(2, requires_grad=True)
    assert x.grad is None
    y = x * 2
    with pytest.warns(UserWarning, match="not a leaf Tensor is being accessed"):
        assert y.grad is None
    y.retain_grad()
    assert y.grad is None
    y.sum().backward()
    assert y.grad is not None
    assert (x.detach() * 2).grad is None


def test_graphs_of_backward_are_told_of_once() -> None:
    GIVEN.difference_update([each for each in GIVEN if "create_graph" in each])
    x = torch.ones(2, requires_grad=True)
    with pytest.warns(UserWarning, match=r"backward\(\) with create_graph=True"):
        (x * x).sum().backward(create_graph=True)
    (x * x).sum().backward(create_graph=True)
    x.grad = None


def test_data_of_a_dtype_without_gradients() -> None:
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="must be floating point or complex dtype"):
        x.data = torch.tensor([1, 2])
    x.data = torch.ones(3)
    y = torch.ones(2)
    y.data = torch.tensor([1, 2])
    assert y.dtype is torch.int64


@pytest.mark.parametrize("mode", ["all", "any"])
def test_hooks_of_several_are_called_for_each_walk(mode: str) -> None:
    several = [torch.full((1,), float(n), requires_grad=True) for n in range(4)]
    log: list[Any] = []

    def note(found: Any) -> None:
        """Numbers, as what is added up later may be the same tensor."""
        one = isinstance(found, torch.Tensor)
        log.append(found.item() if one else [None if g is None else g.item() for g in found])

    handle = graph.register_multi_grad_hook(several, note, mode=mode)
    assert isinstance(handle, torch.utils.hooks.RemovableHandle)
    product = (several[1] * several[2]).sum()
    product.backward(inputs=several[1:3], retain_graph=True)
    product.backward(retain_graph=True)
    torch.autograd.grad(product, several[1], retain_graph=True)
    (several[0] + several[1] + several[2] * 2 + several[3]).sum().backward()
    if mode == "any":
        assert len(log) == 4
        assert all(isinstance(each, float) for each in log)
    else:
        pair = [None, 2.0, 1.0, None]
        assert log == [pair, pair, [None, 2.0, None, None], [1, 1, 2, 1]]
    handle.remove()
    product.backward()
    assert len(log) == 4


def test_hooks_of_several_wait_for_nothing_that_is_asked_for_but_not_reached() -> None:
    a, b, c = (torch.ones(1, requires_grad=True) for _ in range(3))
    log: list[Any] = []
    graph.register_multi_grad_hook((a, b), lambda found: log.append([g is None for g in found]))
    product = b * c
    product.backward(inputs=(a, b), retain_graph=True)
    product.backward(inputs=(a, c))
    assert log == [[True, False]]


def test_hooks_of_several_keep_no_walk_alive() -> None:
    x, y = (torch.ones(2, requires_grad=True) for _ in range(2))
    log: list[Any] = []
    graph.register_multi_grad_hook([x, y], lambda grads: log.append(len(grads)))
    product = x * y
    node = weakref.ref(product.grad_fn)
    product.sum().backward()
    del product
    gc.collect()
    assert log == [2]
    assert node() is None


class Doubled(InplaceFunction):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad * 2


class Careless(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        made = x * 3
        ctx.mark_dirty(made)
        return made

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad * 3


def test_functions_that_write_in_place() -> None:
    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        assert Doubled(True).inplace
    x = torch.ones(2, requires_grad=True)
    Doubled.apply(x.clone()).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [2, 2]
    with pytest.warns(UserWarning, match="received a tensor that was not an input"):
        Careless.apply(x)


def test_nodes_are_called_with_gradients() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = torch.tensor([3.0, 4.0], requires_grad=True)
    ones = torch.ones(2)
    torch.testing.assert_close(x.sin().grad_fn(ones), x.cos())
    node = (x * y).grad_fn
    to_x, to_y = node(ones)
    assert (to_x.tolist(), to_y.tolist()) == ([3.0, 4.0], [1.0, 2.0])
    assert to_x.requires_grad
    assert node(ones)[0].tolist() == [3.0, 4.0]
    assert node(None) == (None, None)
    assert (x * y.detach()).grad_fn(ones)[1] is None
    rows = torch.stack([x, y]).unbind(0)[0].grad_fn(ones, 2 * ones)
    assert rows.tolist() == [[1.0, 1.0], [2.0, 2.0]]
    leaf = node.next_functions[0][0]
    assert leaf(ones) == ()
    assert x.grad is not None
    assert x.grad.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("given", "named", "message"),
    [
        ((), {}, "expected 1 arguments, got 0 instead"),
        ((torch.ones(2), torch.ones(2)), {}, "expected 1 arguments, got 2 instead"),
        ((1,), {}, "argument 0 is not a Variable"),
        ((), {"grad": torch.ones(2)}, "keyword arguments are not supported"),
    ],
)
def test_what_nodes_are_not_called_with(given: Any, named: Any, message: str) -> None:
    node = (torch.ones(2, requires_grad=True) * 2).grad_fn
    with pytest.raises(TypeError, match=message):
        node(*given, **named)


def test_callbacks_come_when_the_walk_has_ended() -> None:
    engine = torch.autograd.Variable._execution_engine
    heard: list[object] = []
    x = torch.ones(2, requires_grad=True)

    def later() -> None:
        heard.append((x.grad is not None, torch.is_grad_enabled()))
        if len(heard) == 1:
            engine.queue_callback(later)

    y = x * 2
    y.register_hook(lambda grad: engine.queue_callback(later))
    y.sum().backward()
    assert heard == [(True, False), (True, False)]
    with pytest.raises(RuntimeError, match="can only be installed during backward pass"):
        engine.queue_callback(later)


def test_walks_within_walks_have_callbacks_of_their_own() -> None:
    engine = torch.autograd.Variable._execution_engine
    heard: list[str] = []

    def within(grad: torch.Tensor) -> None:
        engine.queue_callback(lambda: heard.append("outer"))
        with torch.enable_grad():
            inner = torch.ones(1, requires_grad=True) * 2
            inner.register_hook(lambda grad: engine.queue_callback(lambda: heard.append("inner")))
            inner.backward()
        heard.append("between")

    y = torch.ones(1, requires_grad=True) * 2
    y.register_hook(within)
    y.backward()
    assert heard == ["inner", "between", "outer"]


def test_a_callback_that_fails_is_told_of() -> None:
    engine = torch.autograd.Variable._execution_engine
    y = torch.ones(1, requires_grad=True) * 2
    y.register_hook(lambda grad: engine.queue_callback(lambda: [][0]))
    with pytest.raises(IndexError):
        y.backward()
    y = torch.ones(1, requires_grad=True) * 2
    y.backward()


def test_gradients_that_cannot_be_differentiated_say_so() -> None:
    class Product(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            ctx.save_for_backward(x, y)
            return x * y

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx: Any, grad: torch.Tensor) -> Any:
            _, y = ctx.saved_tensors
            return grad * y, None

    x = torch.ones(2, requires_grad=True)
    y = torch.full((2,), 3.0)
    (plain,) = torch.autograd.grad(Product.apply(x, y).sum(), x, create_graph=True)
    assert not plain.requires_grad
    weight = torch.ones((), requires_grad=True)
    (found,) = torch.autograd.grad(Product.apply(x, y).sum(), x, weight, create_graph=True)
    assert found.tolist() == [3.0, 3.0]
    assert found.grad_fn.name() == "Error"
    with pytest.raises(RuntimeError, match=r"differentiate twice .* @once_differentiable"):
        found.sum().backward()


def test_changes_of_inference_tensors_are_not_counted() -> None:
    with torch.inference_mode():
        tensor = torch.rand(2)
        graph.increment_version(tensor)
    graph.increment_version(tensor)
    other = torch.rand(2)
    graph.increment_version([other])
    assert other._version == 1
    with pytest.raises(RuntimeError, match="expects each element of the iterable to be a tensor"):
        graph.increment_version([other, 3])  # type: ignore[list-item]


@pytest.mark.filterwarnings("ignore:Using backward")
def test_first_gradients_that_have_a_history_are_copies_of_what_arrived() -> None:
    x = torch.ones(2, 3, requires_grad=True)
    (x.t() * x.t()).sum().backward(create_graph=True)
    assert x.grad.grad_fn.name() == "torch::autograd::CopyBackwards"
    assert x.grad.grad_fn.next_functions[0] == (None, 0)
    assert x.grad.stride() == (3, 1)
    (second,) = torch.autograd.grad(x.grad.sum(), x)
    assert second.tolist() == [[2.0] * 3] * 2


def test_what_lies_behind_a_target_is_not_walked(monkeypatch: pytest.MonkeyPatch) -> None:
    seen, arrived = list[object](), _Walk._arrived
    monkeypatch.setattr(
        _Walk, "_arrived", lambda self, node: seen.append(node) or arrived(self, node)
    )
    before = torch.ones(3, requires_grad=True)
    for _ in range(10):
        before = before * 2
    after = before * 3
    (found,) = torch.autograd.grad(after.sum() + before.sum(), before)
    assert found.tolist() == [4, 4, 4]
    assert len(seen) == 5
    assert seen[-1] is before.grad_fn


class Deeper(torch.autograd.Function):
    """The way back of x walks back from x - 1, and so on down to 0."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        with torch.enable_grad():
            ctx.x = x.detach().requires_grad_() - 1
        result: torch.Tensor = ctx.x.detach()
        return result

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
        if ctx.x < 0:
            return grad
        with torch.enable_grad():
            Deeper.apply(ctx.x).sum().backward()
        return grad


def test_walks_lie_in_each_other_deeper_than_frames_do() -> None:
    limit = sys.getrecursionlimit()
    x = torch.tensor(float(limit), requires_grad=True)
    Deeper.apply(x).sum().backward()
    assert x.grad == 1
    assert sys.getrecursionlimit() == limit


def test_what_calls_itself_for_ever_in_a_deep_walk_ends() -> None:
    limit = sys.getrecursionlimit()
    x = torch.tensor(float("inf"), requires_grad=True)
    with pytest.raises(RecursionError):
        Deeper.apply(x).sum().backward()
    assert sys.getrecursionlimit() == limit


def test_hooks_of_several_results_of_known_scripted_calls() -> None:
    call = torch.jit.script(_sin_times)
    for _ in range(5):
        x = torch.ones(3, requires_grad=True)
        a, b = call(x, x), call(x, x * 2)
        log: list[Any] = []
        graph.register_multi_grad_hook((a, b), lambda found, log=log: log.append(len(found)))
        (a.sum() + b.sum()).backward()
        assert log == [2]


def _sin_times(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.sin(x) * y + x
