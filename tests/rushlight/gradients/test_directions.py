"""Levels of `forward_ad`, and `jvp`: what carries a direction, and where it ends."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import rushlight as torch
from rushlight.autograd import forward_ad, grad
from rushlight.func import hessian, jacfwd, jvp

Tensor = torch.Tensor
ONE = torch.ones(2)


def _dual(*numbers: float) -> Tensor:
    return forward_ad.make_dual(torch.tensor(numbers), torch.ones(len(numbers)))


def _directions(tensor: Tensor) -> list[float]:
    tangent = forward_ad.unpack_dual(tensor).tangent
    assert tangent is not None
    return tangent.tolist()


def test_what_is_written_in_place_has_a_direction_from_then_on() -> None:
    with forward_ad.dual_level():
        dual = _dual(1.0, 2.0)
        assert _directions(dual.mul_(2)) == _directions(dual) == [2.0, 2.0]
        other = torch.zeros(2)
        other[1:] = dual[1:] * 2
        assert _directions(other) == [0.0, 4.0]
        part = _dual(1.0, 2.0)
        part[0].mul_(3)
        assert _directions(part) == [3.0, 1.0]
        assert forward_ad.unpack_dual(_dual(1.0, 2.0).eq_(1)).primal.tolist() == [1.0, 0.0]
        with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
            torch.ones(2, requires_grad=True).mul_(dual)


@pytest.mark.parametrize("inside", [True, False])
def test_directions_go_on_under_no_grad_and_gradients_do_not(inside: bool) -> None:
    weight = torch.full((2,), 3.0, requires_grad=True)
    other = torch.ones(2, requires_grad=True)

    def run() -> Tensor:
        dual = _dual(1.0, 2.0)
        with torch.no_grad():
            assert not torch.is_grad_enabled()
            made = weight * dual * dual
            assert other.mul_(2).is_leaf
        assert not made.requires_grad
        assert _directions(made) == [6.0, 12.0]
        return made

    if inside:
        with forward_ad.dual_level():
            made = run()
            assert grad((made * weight).sum(), weight)[0].tolist() == [3.0, 12.0]
    else:
        with torch.no_grad():
            with forward_ad.dual_level():
                run()
            assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled()


def test_scripts_give_directions_under_no_grad() -> None:
    @torch.jit.script
    def square(x: Tensor) -> Tensor:
        return x * x

    for _ in range(3):
        with forward_ad.dual_level(), torch.no_grad():
            assert _directions(square(_dual(1.0, 2.0))) == [2.0, 4.0]
            assert not square(ONE).requires_grad


def _with_constant(x: Tensor) -> Tensor:
    with torch.no_grad():
        constant = x * x
    return constant * x


def test_transforms_that_go_forwards_see_through_no_grad_and_writes() -> None:
    x = torch.tensor([1.0, 2.0])
    assert jvp(_with_constant, (x,), (ONE,))[1].tolist() == [3.0, 12.0]
    assert jacfwd(_with_constant)(x).tolist() == [[3.0, 0.0], [0.0, 12.0]]
    # walked back through, what was made under no_grad is a constant, which has a direction
    assert hessian(lambda x: _with_constant(x).sum())(x).tolist() == [[2.0, 0.0], [0.0, 4.0]]
    assert jvp(lambda x: x.mul_(3) * x, (torch.ones(2),), (ONE,))[1].tolist() == [18.0, 18.0]
    wanted: list[bool] = []
    jvp(lambda x: wanted.append(x.requires_grad) or x * 2, (x,), (ONE,))  # type: ignore[func-returns-value]
    assert wanted == [False]


def test_only_what_requires_gradients_besides_is_told_to() -> None:
    leaf = torch.ones(2, requires_grad=True)
    with forward_ad.dual_level():
        dual, both = _dual(1.0, 2.0), forward_ad.make_dual(leaf, ONE)
        assert repr(dual) == "tensor([1., 2.], tangent=tensor([1., 1.]))"
        assert (dual * 2).numpy().tolist() == [2.0, 4.0]
        assert "grad_fn=<MulBackward0>, tangent=" in repr(both * 2).replace("\n      ", "")
        primal, tangent = forward_ad.unpack_dual(both * both)
        assert forward_ad.unpack_dual(primal).tangent is None
        assert grad(primal.sum(), leaf)[0].tolist() == [2.0, 2.0]
        assert grad(tangent.sum(), leaf)[0].tolist() == [2.0, 2.0]
        dual.requires_grad_()
        (dual**3).sum().backward()
        assert dual.grad.tolist() == [3.0, 12.0]
        made = _dual(1.0, 2.0) * 2
    assert not made.requires_grad


@pytest.mark.parametrize("compare", [Tensor.eq_, Tensor.ge_, Tensor.not_equal_])
def test_truths_written_in_place_have_no_gradient(compare: Callable[..., Tensor]) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    compare(x * 1, 1.0).sum().backward()
    assert x.grad.tolist() == [0.0, 0.0]


def test_views_that_lost_their_history_lead_nowhere() -> None:
    leaf = torch.ones(2, 3, requires_grad=True)
    with forward_ad.dual_level():
        forward_ad.make_dual(torch.ones(2), torch.ones(2))
        with torch.no_grad():
            view = leaf[0]
            view.add_(1)
        assert str(view) == "tensor([2., 2., 2.], grad_fn=<Invalid>)"


@pytest.mark.parametrize(
    "name", ["bernoulli", "sgn", "sign", "ceil", "zero_", "normal_", "cauchy_", "uniform_"]
)
def test_what_does_not_change_with_its_argument_stands_still(name: str) -> None:
    with forward_ad.dual_level():
        made = getattr(_dual(0.5, 0.25).clone(), name)()
        assert _directions(made) == [0.0, 0.0]
        assert _directions(made + _dual(1.0, 2.0)) == [1.0, 1.0]
        assert forward_ad.unpack_dual(made.detach()).tangent is None
        leaf = torch.ones(2, requires_grad=True)
        assert forward_ad.unpack_dual(leaf.sign()).tangent is None
