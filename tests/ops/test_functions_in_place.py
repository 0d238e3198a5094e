"""Functions with gradients of one's own that write in place, and what leaves get."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight as torch


class Double(torch.autograd.Function):
    """Doubles in place."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
        return grad * 2


class Times(torch.autograd.Function):
    """Multiplies in place; only the factor has a gradient."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, factor: torch.Tensor) -> torch.Tensor:
        ctx.mark_dirty(x)
        ctx.save_for_backward(x.clone())
        return x.mul_(factor)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[None, torch.Tensor]:
        return None, grad * ctx.saved_tensors[0]


def test_a_part_written_in_place_passes_gradients_on() -> None:
    leaf = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    whole = leaf.clone()
    part = whole[:2]
    assert Double.apply(part) is part
    assert type(whole.grad_fn).__name__ == "CopySlices"
    whole.sum().backward()
    assert leaf.grad.tolist() == [2, 2, 1]


def test_a_part_of_what_had_no_history() -> None:
    leaf = torch.tensor([3.0, 4.0], requires_grad=True)
    whole = torch.tensor([5.0, 6.0, 7.0])
    Times.apply(whole[:2], leaf * 1)
    assert whole.requires_grad
    whole.sum().backward()
    assert leaf.grad.tolist() == [5, 6]


def test_two_parts_one_after_the_other() -> None:
    leaf = torch.ones(2, 2, dtype=torch.double, requires_grad=True)

    def both(x: torch.Tensor) -> torch.Tensor:
        whole = x.clone()
        Double.apply(whole[0])
        Double.apply(whole[:, 1])
        return whole

    assert torch.autograd.gradcheck(both, (leaf,))


class Forgets(Double):
    """Writes in place and gives a copy."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.mark_dirty(x)
        return x.clone()


class Several(Double):
    """Writes in place and has two results."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:  # type: ignore[override]
        ctx.mark_dirty(x)
        return x.mul_(2), x.sum()


def test_what_is_written_is_checked() -> None:
    leaf = torch.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad has been used in"):
        Double.apply(leaf)
    with pytest.raises(RuntimeError, match="Some elements marked as dirty"):
        Forgets.apply(leaf.clone())
    with pytest.raises(RuntimeError, match="your Function cannot return more than one Tensor"):
        Several.apply(leaf.clone()[:2])


class Power(torch.autograd.Function):
    """Its exponent may be left out."""

    @staticmethod
    def forward(x: torch.Tensor, exponent: int = 3) -> torch.Tensor:
        return x**exponent

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
        x, ctx.exponent = inputs
        ctx.save_for_backward(x)

    @staticmethod
    def vjp(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, None]:
        (x,) = ctx.saved_tensors
        return grad * ctx.exponent * x ** (ctx.exponent - 1), None


def test_defaults_reach_the_context_and_vjp_is_backward() -> None:
    leaf = torch.tensor([2.0], requires_grad=True)
    Power.apply(leaf).backward()
    assert leaf.grad.tolist() == [12]


def test_results_without_gradients_can_stay_none() -> None:
    seen = []

    class Pair(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            first, second = x.clone(), x.clone()
            ctx.mark_non_differentiable(second)
            ctx._materialize_non_diff_grads = False
            return first, second

        @staticmethod
        def backward(ctx: Any, first: Any, second: Any) -> Any:
            seen.append(second)
            return first

    leaf = torch.tensor(1.0, requires_grad=True)
    Pair.apply(leaf)[0].backward()
    assert seen == [None]


@pytest.mark.filterwarnings("ignore:Using backward")
@pytest.mark.parametrize("create", [False, True])
def test_gradients_are_added_in_place_unless_they_have_gradients(create: bool) -> None:
    leaf = torch.ones(2, requires_grad=True)
    result = (leaf + 2).sum()
    result.backward(retain_graph=True)
    first = leaf.grad
    result.backward(create_graph=create)
    assert leaf.grad.tolist() == [2, 2]
    assert first.tolist() == ([1, 1] if create else [2, 2])


@pytest.mark.parametrize("name", ["median", "nanmedian", "max", "min"])
def test_equal_elements_share_a_gradient(name: str) -> None:
    for values in ([2.0, 2.0, 2.0], [float("nan")] * 3):
        leaf = torch.tensor(values, requires_grad=True)
        getattr(torch, name)(leaf).backward()
        torch.testing.assert_close(leaf.grad, torch.full((3,), 1 / 3))


def test_the_spread_may_be_written_over_when_the_mean_is_kept() -> None:
    leaf = torch.arange(4.0, requires_grad=True)
    variance, mean = torch.var_mean(leaf, dim=0)
    variance.mul_(2)
    (variance + mean).backward()
    torch.testing.assert_close(leaf.grad, 4 / 3 * (leaf.detach() - 1.5) + 0.25)


@pytest.mark.parametrize("base", [-1.0, torch.tensor([-1.0], dtype=torch.double)])
def test_complex_powers_of_what_is_below_zero(base: Any) -> None:
    exponent = torch.tensor([0.3 - 1j], dtype=torch.cdouble, requires_grad=True)
    assert torch.autograd.gradcheck(lambda e: torch.pow(base, e), (exponent,))


def times_itself(x: torch.Tensor) -> torch.Tensor:
    y = x * 3.0
    return y.mul_(y)


def times_a_view(x: torch.Tensor) -> torch.Tensor:
    y = x * 3.0
    return y.mul_(y.view(-1))


@pytest.mark.parametrize("function", [times_itself, times_a_view])
@pytest.mark.parametrize("scripted", [False, True])
def test_what_an_operator_reads_and_writes_is_told(function: Any, scripted: bool) -> None:
    """Its gradient would be computed of what is there afterwards."""
    called = torch.jit.script(function) if scripted else function
    for _ in range(5):
        x = torch.tensor([1.0, 2.0, -3.0], requires_grad=True)
        with pytest.raises(RuntimeError, match="is at version 1; expected version 0 instead"):
            called(x).sum().backward()
