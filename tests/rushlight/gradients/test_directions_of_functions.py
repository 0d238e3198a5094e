"""Functions of users on tensors with directions: `jvp` runs where the function does."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight as torch
from rushlight.autograd import Function

ways = torch.autograd.forward_ad


class First(Function):
    """A view of the first element; its `jvp` may get views wrong."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, wrong: int) -> torch.Tensor:
        ctx.wrong = wrong
        return x.narrow(0, 0, 1)

    @staticmethod
    def jvp(ctx: Any, way: torch.Tensor, _: None) -> torch.Tensor:
        made = way.narrow(0, 0, 1)
        if ctx.wrong:
            made = made.clone()
        return made.view_as(made) if ctx.wrong > 1 else made


class Doubled(Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, in_place: bool) -> torch.Tensor:
        ctx.mark_dirty(x)
        ctx.in_place = in_place
        return x.mul_(2)

    @staticmethod
    def jvp(ctx: Any, way: torch.Tensor, _: None) -> torch.Tensor:
        return way.mul_(2) if ctx.in_place else way * 2

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:
        return gradient * 2, None


class Left(Doubled):
    @staticmethod
    def jvp(ctx: Any, way: torch.Tensor, _: None) -> torch.Tensor:
        return way


class Pair(Function):
    calls = 0

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, y: torch.Tensor, materialize: bool) -> Any:
        ctx.set_materialize_grads(materialize)
        return x.clone(), y.clone()

    @staticmethod
    def jvp(ctx: Any, first: Any, second: Any, _: None) -> Any:
        Pair.calls += 1
        return first, second


def test_results_carry_what_jvp_gives_and_more_is_made_of_it() -> None:
    x, way = torch.rand(3), torch.rand(3)
    with ways.dual_level():
        dual = ways.make_dual(x, way)
        view = First.apply(dual, 0)
        torch.testing.assert_close(ways.unpack_dual(view).tangent, way[:1])
        beyond = view.sin() + dual
        expected = x[:1].cos() * way[:1] + way
        torch.testing.assert_close(ways.unpack_dual(beyond).tangent, expected)
        written = Doubled.apply(dual.clone(), True)
        torch.testing.assert_close(ways.unpack_dual(written * 3).tangent, way * 6)


def test_jvp_runs_once_and_gets_zeros_or_none_for_other_arguments() -> None:
    Pair.calls = 0
    with ways.dual_level():
        dual = ways.make_dual(torch.rand(2), torch.rand(2))
        _, second = Pair.apply(dual, torch.rand(2), True)
        assert Pair.calls == 1
        assert ways.unpack_dual(second).tangent.tolist() == [0.0, 0.0]
        _, second = Pair.apply(dual, torch.rand(2), False)
        assert ways.unpack_dual(second).tangent is None
        assert ways.unpack_dual(second * 2).tangent is None
        Pair.apply(torch.rand(2), torch.rand(2), True)
    assert Pair.calls == 2


def test_results_that_are_not_differentiable_have_no_direction() -> None:
    seen: list[Any] = []

    class Both(Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor, y: torch.Tensor, wrong: bool) -> Any:
            made = y.clone()
            ctx.mark_non_differentiable(made)
            ctx.wrong = wrong
            return x.clone(), made

        @staticmethod
        def jvp(ctx: Any, first: torch.Tensor, second: Any, _: None) -> Any:
            seen.append(second)
            return first, first.clone() if ctx.wrong else None

    with ways.dual_level():
        dual = ways.make_dual(torch.rand(2), torch.rand(2))
        first, second = Both.apply(dual, torch.tensor(3), False)
        assert ways.unpack_dual(first).tangent is not None
        assert (ways.unpack_dual(second).tangent, seen) == (None, [None])
        for other in (torch.tensor([3, 4]), torch.tensor([3.0, 4.0])):
            with pytest.raises(RuntimeError, match="should return None at that position"):
                Both.apply(dual, other, True)


def test_wrong_directions_are_refused_where_the_function_is_called() -> None:
    class Without(Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            return x.clone()

    with ways.dual_level():
        dual = ways.make_dual(torch.rand(3), torch.rand(3))
        for wrong, said in ((1, "the jvp is not returning a view"), (2, "of the given grad input")):
            with pytest.raises(RuntimeError, match=said):
                First.apply(dual, wrong)
        with pytest.raises(RuntimeError, match="is not modifying the forward mode gradients"):
            Doubled.apply(dual.clone(), False)
        with pytest.raises(RuntimeError, match="is not modifying the forward mode gradients"):
            Left.apply(dual.clone(), True)
        with pytest.raises(NotImplementedError, match="must implement the jvp function"):
            Without.apply(dual)
        with pytest.raises(RuntimeError, match="forward gradient at the same level"):
            ways.make_dual(torch.rand(3), dual)


def test_zeros_in_the_place_of_no_gradient_have_gradients_themselves() -> None:
    x, a = torch.tensor(0.5, requires_grad=True), torch.tensor(1.0, requires_grad=True)
    first = torch.autograd.grad(x * a, x, create_graph=True)
    given = {"create_graph": True, "allow_unused": True, "materialize_grads": True}
    (second,) = torch.autograd.grad(first, x, **given)
    assert second.requires_grad
    assert torch.autograd.grad(second, x, materialize_grads=True)[0].item() == 0


@pytest.mark.parametrize(("of_view", "of"), [(False, "the given"), (True, "the same base as the")])
def test_a_direction_that_is_a_view_of_something_else(of_view: bool, of: str) -> None:
    class Narrowed(Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            return x.narrow(0, 0, 2)

        @staticmethod
        def jvp(ctx: Any, way: torch.Tensor) -> torch.Tensor:
            return way.narrow(0, 0, 2).clone().view(2)

    with ways.dual_level():
        dual = ways.make_dual(torch.ones(4), torch.ones(4))
        with pytest.raises(RuntimeError, match=f"the jvp is not returning a view of {of}"):
            Narrowed.apply(dual.view(4) if of_view else dual)
