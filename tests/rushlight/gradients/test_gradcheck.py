"""What `gradcheck` finds, and what it lets pass."""

from __future__ import annotations

import pytest

import rushlight as torch
from rushlight.autograd import Function, GradcheckError, gradcheck, gradgradcheck

BOTH = pytest.mark.parametrize("fast", [False, True])


def _wanted(*sizes: int, dtype: torch.dtype = torch.double) -> torch.Tensor:
    return torch.rand(*sizes, dtype=dtype).add(0.5).requires_grad_()


@BOTH
@pytest.mark.parametrize("dtype", [torch.double, torch.cdouble])
def test_right_gradients_pass_every_check(fast: bool, dtype: torch.dtype) -> None:
    inputs = (_wanted(2, 3, dtype=dtype), _wanted(3, 2, dtype=dtype))

    def several(one: torch.Tensor, other: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return one @ other, one.sin()

    assert gradcheck(
        several, inputs, check_forward_ad=True, check_batched_grad=True,
        check_batched_forward_grad=True, fast_mode=fast,
    )  # fmt: skip
    assert gradgradcheck(several, inputs, check_fwd_over_rev=True, fast_mode=fast)
    assert gradcheck(lambda one: (), inputs[:1], fast_mode=fast)


def _hooked(hook: object, value: torch.Tensor) -> torch.Tensor:
    made = value.clone()
    made.register_hook(hook)
    return made


@BOTH
def test_wrong_gradients_are_found(fast: bool) -> None:
    tensor = _wanted(2)
    with pytest.raises(GradcheckError, match="mismatch for output 0 with respect to input 0"):
        gradcheck(lambda x: _hooked(lambda g: g + 0.01, x), tensor, fast_mode=fast)
    assert not gradcheck(
        lambda x: _hooked(lambda g: g + 0.01, x), tensor, fast_mode=fast, raise_exception=False
    )
    with pytest.raises(GradcheckError, match="backward not multiplied by grad_output"):
        gradcheck(lambda x: _hooked(lambda g: g + 0.01, x), tensor, atol=0.1, fast_mode=fast)
    with pytest.raises(GradcheckError, match="Backward is not reentrant"):
        gradcheck(lambda x: _hooked(lambda g: g * (1 + torch.rand(2) * 1e-6), x), tensor,
                  fast_mode=fast)  # fmt: skip
    with pytest.raises(GradcheckError, match="expected to be zero"):
        gradcheck(lambda x: x.detach() * 2, tensor, fast_mode=fast)

    def fails_for_none(gradient: torch.Tensor | None) -> None:
        if gradient is None:
            raise RuntimeError("there is none")

    with (
        pytest.warns(UserWarning, match="check_undefined_grad=False"),
        pytest.raises(GradcheckError, match="handle undefined output grads"),
    ):
        gradcheck(lambda x: _hooked(fails_for_none, x), tensor, fast_mode=fast)


@BOTH
def test_wrong_directions_are_found(fast: bool) -> None:
    class Doubled(Function):
        @staticmethod
        def forward(ctx: object, x: torch.Tensor, factor: float) -> torch.Tensor:
            ctx.factor = factor
            return x * 2

        @staticmethod
        def backward(ctx: object, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:
            return gradient * 2, None

        @staticmethod
        def jvp(ctx: object, direction: torch.Tensor, _: None) -> torch.Tensor:
            return direction * ctx.factor

    tensor = _wanted(3)
    assert gradcheck(lambda x: Doubled.apply(x, 2), tensor, check_forward_ad=True, fast_mode=fast)
    assert gradcheck(lambda x: Doubled.apply(x, 3), tensor, fast_mode=fast)
    with pytest.raises(GradcheckError, match="computed with forward mode mismatch for output 0"):
        gradcheck(lambda x: Doubled.apply(x, 3), tensor, check_forward_ad=True, fast_mode=fast)


@BOTH
def test_all_inputs_have_directions(fast: bool) -> None:
    ways = torch.autograd.forward_ad

    def wrong(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        if ways._current_level >= 0:
            value, way = ways.unpack_dual(y)
            y = ways.make_dual(value, way * 1.1)
        return x + y

    with pytest.raises(GradcheckError, match="for output 0 with respect to input 1"):
        gradcheck(wrong, (_wanted(2), _wanted(2)), check_forward_ad=True, fast_mode=fast)


@BOTH
def test_sparse_inputs_are_checked_by_their_elements_or_as_wholes(fast: bool) -> None:
    sparse = torch.tensor([[0.0, 2.0], [3.0, 0.0]], dtype=torch.double).to_sparse()
    sparse.requires_grad_()
    assert gradcheck(lambda s: s.to_dense() * 2, sparse, masked=True, fast_mode=fast)
    assert gradcheck(
        lambda s: s.to_dense(masked_grad=False) * 2, sparse, masked=False, fast_mode=fast
    )


def test_contradictions_and_inputs_that_cannot_be_checked() -> None:
    with pytest.raises(AssertionError, match="at least one of check_forward_ad"):
        gradcheck(torch.sin, _wanted(1), check_backward_ad=False)
    with pytest.raises(AssertionError, match="check_batched_grad=True requires"):
        gradcheck(torch.sin, _wanted(1), check_backward_ad=False, check_forward_ad=True,
                  check_batched_grad=True)  # fmt: skip
    with pytest.raises(ValueError, match="at least one input tensor to require gradient"):
        gradcheck(torch.sin, torch.rand(2))
    with pytest.raises(RuntimeError, match="0th input has a dimension with stride 0"):
        gradcheck(torch.sin, _wanted(1).expand(2, 2))
    with pytest.warns(UserWarning, match="Input #0 requires gradient and is not a double"):
        gradcheck(torch.sin, torch.rand(1, requires_grad=True), atol=1e-1)
    with pytest.raises(AssertionError, match="same shape when inputs are perturbed"):
        gradcheck(
            lambda x: x if (x > 0.5).all() else torch.cat([x, x]),
            torch.full((1,), 0.5, dtype=torch.double, requires_grad=True),
        )


def test_gradients_of_sparse_tensors_are_asked_for() -> None:
    sparse = torch.eye(2).to_sparse().requires_grad_()
    (found,) = torch.autograd.grad((sparse.to_dense() * 3).sum(), sparse)
    assert found.is_sparse
    assert torch.equal(found.to_dense(), 3 * torch.eye(2))


def test_gradients_of_sparse_tensors_are_checked_at_once() -> None:
    x = torch.rand(4, dtype=torch.double, requires_grad=True).to_sparse()
    given = {"masked": True, "check_batched_grad": True}
    assert gradcheck(lambda x: x.to_dense(), (x,), **given)
    starts = torch.eye(4, dtype=torch.double)
    (found,) = torch.autograd.grad(x.to_dense(), x, starts, is_grads_batched=True)
    assert torch.equal(found.to_dense(), starts)


def test_second_gradients_begin_with_numbers_that_the_seed_decides() -> None:
    torch.manual_seed(0)
    assert gradgradcheck(torch.exp, torch.randn(3, dtype=torch.double, requires_grad=True))
    drawn = [round(each, 4) for each in torch.randn(3).tolist()]
    assert drawn == [0.5684, -0.7831, 1.0622]  # torch's
