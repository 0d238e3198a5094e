"""Derivatives of functions, places in histories, modes over generators; texts are torch 2.13's."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight as torch
from rushlight.autograd import forward_ad
from rushlight.autograd.functional import hessian, hvp, jacobian, jvp, vhp, vjp
from rushlight.autograd.graph import GradientEdge, get_gradient_edge

X = torch.tensor([1.0, 2.0])


def cubed(x: Any) -> Any:
    return (x**3).sum()


@pytest.mark.parametrize("function", [jacobian, hessian, vjp, jvp, vhp, hvp])
def test_only_tensors_are_taken_and_given(function: Any) -> None:
    who = function.__name__
    message = f"^The inputs given to {who} must be either a Tensor or a tuple of Tensors but the "
    with pytest.raises(TypeError, match=message + "given inputs has type <class 'int'>.$"):
        function(cubed, 3)
    with pytest.raises(TypeError, match=message + "value at index 1 has type <class 'list'>.$"):
        function(cubed, (X, []))
    with pytest.raises(TypeError, match=f"outputs of the user-provided function given to {who} "):
        function(lambda x: 3, torch.ones(1))


def test_vectors_have_the_sizes_of_what_they_are_multiplied_with() -> None:
    with pytest.raises(RuntimeError, match=r"^v has invalid size: should be .*2.* but got .*3"):
        jvp(cubed, X, torch.ones(3))
    with pytest.raises(RuntimeError, match=r"should be 1 but got 2.$"):
        vhp(lambda x: x.sum(), (X,), (X, X))
    with pytest.raises(RuntimeError, match=r"^The given v should contain a single Tensor.$"):
        hvp(cubed, X, (X, X))
    with pytest.raises(RuntimeError, match="v can only be None if the user-provided function ret"):
        vjp(lambda x: x * 2, X)


@pytest.mark.parametrize(
    ("function", "given", "message"),
    [
        (vjp, lambda x: X.sum(), "Output 0 of the user-provided function does not require grad"),
        (jvp, lambda x: x.detach().sum(), "Output 0 of the user-provided function does not"),
        (vhp, lambda x: x.sum(), "found that the jacobian .* respect to input 0 is independent"),
        (hvp, lambda x: x.sum(), "found that the jacobian .* respect to input 0 is independent"),
        (hessian, lambda x: x.sum(), "found that the jacobian .* respect to input 0 is indepen"),
        (jacobian, lambda x: X.requires_grad_().sum(), "Output 0 .* is independent of input 0"),
    ],
)
def test_independence_is_an_error_in_strict_mode(function: Any, given: Any, message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        function(given, torch.ones(1), strict=True)
    function(given, torch.ones(1))


def test_products_keep_their_history_where_asked() -> None:
    x = X.detach().clone().requires_grad_()
    for function in (vhp, hvp):
        value, product = function(cubed, x, torch.ones(2), create_graph=True)
        assert product.tolist() == [6, 12]
        assert (value.grad_fn is None, product.grad_fn is None) == (False, False)
        assert hvp(cubed, x, torch.ones(2))[1].grad_fn is None
    assert hessian(lambda a, b: (a * b).sum(), (X, X))[0][1].tolist() == [[1, 0], [0, 1]]
    assert hessian(lambda a: a * a, torch.ones(1)).tolist() == [[2]]


def test_places_are_equal_and_members_of_sets() -> None:
    x = torch.ones(4, requires_grad=True)
    left, right = (x * 2).chunk(2)
    assert get_gradient_edge(left) == get_gradient_edge(left)
    edges = {get_gradient_edge(each) for each in (left, right, left, x, x)}
    assert len(edges) == 3
    assert get_gradient_edge(left) in edges
    assert left.grad_fn is not None
    assert GradientEdge(left.grad_fn, 0) == get_gradient_edge(left) != get_gradient_edge(right)


def test_places_stand_for_tensors_as_inputs_and_outputs() -> None:
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    s = (y * 3).sum()
    place = get_gradient_edge(y)
    y *= 1
    assert torch.autograd.grad(s, (place, get_gradient_edge(x)), retain_graph=True)[0].tolist() == [
        3,
        3,
    ]
    assert torch.autograd.grad(place, x, torch.ones(2), retain_graph=True)[0].tolist() == [2, 2]
    torch.autograd.backward(s, inputs=(get_gradient_edge(x), GradientEdge(*place[:2])))
    assert x.grad is not None
    assert x.grad.tolist() == [6, 6]
    with pytest.raises(RuntimeError, match="can be implicitly created only for scalar outputs"):
        torch.autograd.grad(place, x)
    with pytest.raises(RuntimeError, match="materialize_grads cannot be used when the given input"):
        torch.autograd.grad(
            x.sum(), get_gradient_edge(X.clone().requires_grad_()), materialize_grads=True
        )
    with pytest.raises(RuntimeError, match="can't retain_grad on Tensor that has requires_grad="):
        torch.autograd.backward(x.sum(), inputs=torch.ones(1))


class Several(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 2, "no tensor", x * 3

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        ctx.seen = grads
        return grads[0] + grads[2]


def test_results_that_are_no_tensors_have_places_among_gradients() -> None:
    first, _, last = Several.apply(torch.ones(1, requires_grad=True))
    node = first.grad_fn
    seen: list[Any] = []
    node.register_prehook(seen.append)
    assert (first.output_nr, last.output_nr) == (0, 2)
    first.sum().backward()
    assert seen == [(torch.ones(1), None, None)]
    assert [None if g is None else g.tolist() for g in node.seen] == [[1], None, [0]]


def test_hooks_of_a_node_may_take_themselves_away() -> None:
    y = torch.ones(1, requires_grad=True) * 2
    seen: list[int] = []
    handles = [y.grad_fn.register_prehook(lambda _: handles[0].remove()) for _ in range(2)]
    y.grad_fn.register_prehook(lambda _: seen.append(1))
    y.backward()
    assert seen == [1]


def test_the_steps_of_a_generator_run_in_its_mode() -> None:
    @torch.no_grad()
    def steps() -> Any:
        seen = [torch.is_grad_enabled()]
        try:
            seen.append((yield torch.is_grad_enabled()))
            yield torch.is_grad_enabled()
        except ValueError:
            seen.append(torch.is_grad_enabled())
        return seen

    running = steps()
    assert next(running) is False
    assert torch.is_grad_enabled()
    assert running.send("given") is False
    with pytest.raises(StopIteration) as end:
        running.throw(ValueError())
    assert end.value.value == [False, "given", False]
    assert torch.is_grad_enabled()


def test_modes_as_decorators() -> None:
    @torch.set_grad_enabled(False)
    def inside() -> bool:
        return torch.is_grad_enabled()

    assert torch.is_grad_enabled()
    assert inside() is False
    assert torch.inference_mode(mode=True)(torch.is_inference_mode_enabled)() is True
    with pytest.warns(FutureWarning, match="^Decorating classes is deprecated"):
        torch.no_grad()(Several)
    with pytest.raises(TypeError, match=r"'enabled' .position 1. must be bool, not int"):
        torch.set_grad_enabled(1)


def test_the_level_of_directions_has_a_number() -> None:
    assert forward_ad._current_level == -1
    with forward_ad.dual_level():
        assert forward_ad._current_level == 0
    assert forward_ad._current_level == -1


def test_gradients_of_a_function_go_where_they_are_asked_for() -> None:
    class Given(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor, steps: torch.Tensor, factor: float) -> torch.Tensor:
            return x * factor

    def gradient(given: object, *, of_steps: bool = False) -> torch.Tensor:
        body = {"backward": staticmethod(lambda ctx, g: given)}
        x, steps = torch.ones(3, requires_grad=True), torch.ones(5, requires_grad=of_steps)
        type("Known", (Given,), body).apply(x, steps, 2.0).sum().backward()
        return x.grad

    g = torch.full((3,), 2.0)
    assert gradient((g, torch.zeros(2), None)).tolist() == g.tolist()  # nobody asks for its sizes
    for told, message in {
        (g, torch.zeros(2), 1.0): "different than None at position 3, but",
        (g, 3, None): r"expected Variable or None \(got int\)",
        (g, None): r"incorrect number of gradients \(expected 3, got 2\)",
    }.items():
        with pytest.raises(RuntimeError, match=message):
            gradient(told)
    with pytest.raises(RuntimeError, match=r"invalid gradient at index 1 - got \[2\]"):
        gradient((g, torch.zeros(2), None), of_steps=True)
    with pytest.raises(RuntimeError, match="incorrect number of gradients"):
        gradient([g, None, None])
