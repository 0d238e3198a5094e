"""What nodes keep, what walks back tell of themselves, and views that no gradient follows."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight as torch
from rushlight.autograd import Function


class Kept(Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x, None)
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        return gradient


def _plus_one(tensor: torch.Tensor) -> torch.Tensor:
    tensor += 1
    return tensor


def test_hooks_are_put_on_what_a_node_keeps() -> None:
    a = torch.randn(3, requires_grad=True)
    made = a * a
    kept = made.grad_fn._raw_saved_self
    assert isinstance(kept, torch._C._autograd.SavedTensor)
    kept.register_hooks(lambda x: 2 * x, lambda x: x)
    assert torch.equal(made.grad_fn._saved_self, 2 * a)
    with pytest.raises(RuntimeError, match="hooks have already been set"):
        kept.register_hooks(lambda x: x, lambda x: x)
    with pytest.raises(TypeError, match="incompatible function arguments"):
        made.grad_fn._raw_saved_other.register_hooks(1, 1)
    made.sum().backward()
    torch.testing.assert_close(a.grad, 3 * a)
    with pytest.raises(RuntimeError, match="after it has been freed"):
        kept.register_hooks(lambda x: x, lambda x: x)
    with pytest.raises(RuntimeError, match="modifying its input in place"):
        a.exp().grad_fn._raw_saved_result.register_hooks(_plus_one, lambda x: x)
    with pytest.raises(RuntimeError, match="create a SavedTensor object from Python"):
        torch.autograd.SavedTensor()


def test_what_functions_of_users_keep_is_seen_until_it_is_released() -> None:
    a = torch.randn(3, requires_grad=True)
    made = Kept.apply(a)
    _, nothing = made.grad_fn._raw_saved_tensors
    with pytest.raises(RuntimeError, match="None is forbidden"):
        nothing.register_hooks(lambda x: x, lambda x: x)
    made.sum().backward()
    for name in ("saved_tensors", "_raw_saved_tensors"):
        with pytest.raises(RuntimeError, match="after they have already been freed"):
            getattr(made.grad_fn, name)


def test_a_walk_tells_of_itself() -> None:
    seen: list[Any] = []
    a = torch.ones(2, requires_grad=True)
    made, beside = a * 2, a * 3

    def hook(gradient: torch.Tensor) -> None:
        inner = torch._C
        seen.append((inner._current_graph_task_id(), inner._current_autograd_node()))
        seen.append(inner._will_engine_execute_node(beside.grad_fn))
        seen.append(inner._autograd._get_current_graph_task_keep_graph())

    made.register_hook(hook)
    made.sum().backward(retain_graph=True)
    made.sum().backward()
    (first, node), reaches, keeps, (second, _), *_, last = seen
    assert (second - first, node, reaches, keeps, last) == (1, made.grad_fn, False, True, False)
    assert torch._C._current_graph_task_id() == -1
    assert torch._C._current_autograd_node() is None
    with pytest.raises(RuntimeError, match="during the backward pass"):
        torch._C._will_engine_execute_node(made.grad_fn)


def test_nodes_of_higher_numbers_are_walked_first() -> None:
    order: list[str] = []
    x = torch.ones(2, requires_grad=True)
    one, other = x * 2, x * 3
    one.grad_fn._set_sequence_nr(other.grad_fn._sequence_nr() + 100)
    one.register_hook(lambda g: order.append("one"))
    other.register_hook(lambda g: order.append("other"))
    total = one + other
    total.grad_fn._set_sequence_nr(one.grad_fn._sequence_nr())
    total.sum().backward()
    assert order == ["one", "other"]


def test_hooks_and_functions_hear_of_gradients_that_are_lost() -> None:
    heard: list[Any] = []

    class Doubled(Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            return x * 2

        @staticmethod
        def backward(ctx: Any, gradient: torch.Tensor) -> None:
            heard.append(gradient.tolist())

    a = torch.ones(2, requires_grad=True)
    first = Doubled.apply(a)
    first.register_hook(heard.append)
    torch._C._functions.UndefinedGrad()(first).sum().backward()
    assert heard == [None, [0.0, 0.0]]
    heard.clear()
    one, other = a.clone().unbind()
    one.register_hook(heard.append)
    other.backward()
    assert (heard, a.grad.tolist()) == ([None], [0.0, 1.0])
    heard.clear()
    torch.autograd.grad((first * 2).sum(), first)
    assert len(heard) == 1
    heard.clear()
    beside = a * 2
    beside.register_hook(heard.append)
    torch.autograd.grad((first + beside).sum(), first)
    assert len(heard) == 1  # of what is asked for: nothing else is on the way
    with pytest.raises(RuntimeError, match="Boom"):
        torch._C._functions.DelayedError("Boom", 1)(a).sum().backward()


def test_views_of_functions_and_modes_are_not_written() -> None:
    base = torch.rand(2, 3, requires_grad=True).clone()
    with pytest.raises(RuntimeError, match="Output 0 of Kept is a view and is being modified"):
        Kept.apply(base).add_(1)
    with pytest.raises(RuntimeError, match="created inside a custom Function"):
        Kept.apply(torch.rand(3)).add_(torch.rand(3, requires_grad=True))
    view = Kept.apply(base)
    with torch.inference_mode():
        inside = base.view_as(base)
    with pytest.raises(RuntimeError, match=r"in inference mode .* in normal mode"):
        inside.add_(1)
    base.add_(1)
    with pytest.raises(RuntimeError, match="its base or another view of its base has been"):
        view.grad_fn  # noqa: B018


def test_the_mode_in_which_a_view_was_made_is_named_first() -> None:
    base = torch.rand(4, requires_grad=True).clone()
    ambiguous = "Given that this use case is ambiguous and error-prone"
    with torch.no_grad():
        one, *_ = base.split(2)
    with pytest.raises(RuntimeError, match=f"created in no_grad mode .* {ambiguous}"):
        one.add_(1)
    with torch.inference_mode():
        inside = base[:2]
    with torch.no_grad():
        later = inside.view(-1)
    with pytest.raises(RuntimeError, match=f"^A view was created in inference mode .* {ambiguous}"):
        later.add_(1)
    with pytest.raises(RuntimeError, match="Split is a view of a view which was created in inf"):
        inside.split(1)[1].add_(1)


def test_hooks_that_come_while_a_node_runs_are_called_after_it() -> None:
    a = torch.ones(2, requires_grad=True)

    def unpack(tensor: torch.Tensor) -> torch.Tensor:
        node = torch._C._current_autograd_node()
        assert node is not None
        node.register_hook(lambda results, grads: tuple(each * 10 for each in results))
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(lambda x: x, unpack):
        made = a.sin()
    made.sum().backward()
    torch.testing.assert_close(a.grad, 10 * torch.ones(2).cos())


def test_blocks_that_hooks_enter_or_leave_on_the_way_end_with_it() -> None:
    a = torch.ones(2, requires_grad=True)
    blocks = torch.autograd.graph.saved_tensors_hooks

    def enter(tensor: torch.Tensor) -> torch.Tensor:
        blocks(lambda x: x * 2, lambda x: x).__enter__()
        return tensor

    with blocks(lambda x: x, enter):
        made = a.sin()
    made.sum().backward()
    assert torch.equal(a.exp().grad_fn._saved_result, a.exp())

    def leave(tensor: torch.Tensor) -> torch.Tensor:
        outer.__exit__()
        return tensor

    outer = blocks(lambda x: x, leave)
    with outer:
        a.sin().sum().backward()
    a.exp().grad_fn._raw_saved_result.register_hooks(lambda x: x, lambda x: x)

    def again(tensor: torch.Tensor) -> torch.Tensor:
        block.__enter__()
        return tensor

    block = blocks(lambda x: x, again)
    with block:
        a.sin().sum().backward()
    a.exp().grad_fn._raw_saved_result.register_hooks(lambda x: x, lambda x: x)


def test_gradients_to_begin_with_are_complex_where_results_are() -> None:
    a = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="required to have the same dtype"):
        torch.autograd.grad(a * 2, a, torch.ones(2, dtype=torch.complex64))


def test_old_ways_of_calling_functions_are_refused() -> None:
    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        made = Kept()
    with pytest.raises(RuntimeError, match="Legacy autograd function"):
        made(torch.ones(1))


def test_hooks_of_kept_tensors_are_refused_where_some_are_entered() -> None:
    inner = torch._C._autograd
    with (
        torch.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x),
        pytest.raises(RuntimeError, match="not here"),
        torch.autograd.graph.disable_saved_tensors_hooks("not here"),
    ):
        pass
    with torch.autograd.graph.disable_saved_tensors_hooks("not here"):
        assert not inner._saved_tensors_hooks_is_enabled()
        assert inner._saved_tensors_hooks_get_disabled_error_message() == "not here"
    assert inner._saved_tensors_hooks_is_enabled()


class Given(Function):
    seen: list[torch.Tensor]

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        ctx.save_for_backward(x)
        return x, x * 2

    @staticmethod
    def backward(ctx: Any, one: torch.Tensor, two: torch.Tensor) -> torch.Tensor:
        Given.seen = list(ctx.saved_tensors)
        return one + 2 * two


def test_an_input_that_is_a_result_is_kept_as_an_input() -> None:
    x = torch.ones(2, requires_grad=True)
    sum(Given.apply(x)).sum().backward()
    assert Given.seen[0] is x


def test_what_a_hook_gives_back_for_a_constant_is_that_itself() -> None:
    constant = torch.tensor([2.0, 3.0])
    seen = []

    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor, by: torch.Tensor) -> torch.Tensor:
            ctx.save_for_backward(by)
            return x * by

        @staticmethod
        def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, None]:
            seen.extend(ctx.saved_tensors)
            return grad * ctx.saved_tensors[0], None

    x = torch.ones(2, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda kept: kept, lambda kept: kept):
        made = Scaled.apply(x, constant)
    made.sum().backward()
    assert seen[0] is constant
    assert x.grad.tolist() == [2, 3]


def test_a_result_tells_its_history_to_a_function_that_is_not_recorded() -> None:
    seen = []

    class Root(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            made = x.sqrt()
            ctx.save_for_backward(made)
            return made

        @staticmethod
        def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
            (root,) = ctx.saved_tensors
            seen.append(root)
            with torch.enable_grad():  # how the square of it changes with the root itself
                (slope,) = torch.autograd.grad((root * root).sum(), root)
            return grad / slope

    x = torch.tensor([4.0, 9.0], requires_grad=True)
    made = Root.apply(x)
    made.sum().backward()
    assert seen[0].requires_grad
    assert seen[0].grad_fn is made.grad_fn
    assert torch.allclose(x.grad, torch.tensor([1 / 4, 1 / 6]))
    kept = x.exp()
    with torch.no_grad():
        assert kept.grad_fn._saved_result.requires_grad
