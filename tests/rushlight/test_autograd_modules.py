"""`autograd.graph`, `autograd.forward_ad` and `autograd.functional.jvp`."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight as torch
from rushlight.autograd import forward_ad, functional, graph


def test_kept_tensors_go_through_hooks() -> None:
    met: list[str] = []

    def pack(tensor: torch.Tensor) -> list[Any]:
        met.append("packed")
        return [tensor.detach() * 2]

    def unpack(packed: list[Any]) -> torch.Tensor:
        met.append("unpacked")
        halved: torch.Tensor = packed[0] / 2
        return halved

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with graph.saved_tensors_hooks(pack, unpack):
        y = (x * x).exp()
    assert met == ["packed"] * 3
    (gradient,) = torch.autograd.grad(y.sum(), x)
    assert met == ["packed"] * 3 + ["unpacked"] * 3
    assert torch.allclose(gradient, 2 * x * (x * x).exp())
    with graph.save_on_cpu():
        z = (x * x).sum()
    assert torch.autograd.grad(z, x)[0].tolist() == [2.0, 4.0]
    (x * x).sum()
    assert len(met) == 6


def test_hooks_of_kept_tensors_can_be_refused() -> None:
    with (
        graph.disable_saved_tensors_hooks("not here"),
        pytest.raises(RuntimeError, match="not here"),
        graph.saved_tensors_hooks(lambda t: t, lambda t: t),
    ):
        pass


def test_a_hook_of_several_gradients() -> None:
    a, b = (torch.ones(2, requires_grad=True) for _ in range(2))
    met: list[Any] = []
    with graph.register_multi_grad_hook((a, b), met.append):
        (a * b * 3).sum().backward()
        (a * b).sum().backward()
    (a * b).sum().backward()
    assert [[each.tolist() for each in grads] for grads in met] == [
        [[3.0] * 2] * 2,
        [[1.0] * 2] * 2,
    ]


def test_changes_of_memory_can_be_counted() -> None:
    x = torch.ones(2)
    before = x._version
    graph.increment_version([x])
    assert x._version == before + 1


def test_directions_are_carried_along() -> None:
    x, direction = torch.tensor([1.0, 2.0]), torch.tensor([1.0, -1.0])
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, direction)
        primal, tangent = forward_ad.unpack_dual(dual**2 * 3)
        assert [primal.tolist(), tangent.tolist()] == [[3.0, 12.0], [6.0, -12.0]]
        assert forward_ad.unpack_dual(dual).tangent is direction
        assert forward_ad.unpack_dual(x).tangent is None
        with pytest.raises(RuntimeError, match=r"Tensor is of size \[2\] while the given"):
            forward_ad.make_dual(x, torch.ones(3))
    with pytest.raises(RuntimeError, match="but no level exists"):
        forward_ad.make_dual(x, direction)


def test_products_of_jacobians_with_vectors() -> None:
    x = torch.tensor([1.0, 2.0])
    value, product = functional.jvp(lambda a: a**3, x, torch.ones(2))
    assert [value.tolist(), product.tolist()] == [[1.0, 8.0], [3.0, 12.0]]
    both = functional.jvp(lambda a, b: (a * b, a), (x, x), (x, x))[1]
    assert [each.tolist() for each in both] == [[2.0, 8.0], [1.0, 2.0]]
    with pytest.raises(RuntimeError, match="The vector v can only be None if the input"):
        functional.jvp(lambda a: a, x)
    with pytest.raises(RuntimeError, match="Output 0 of the user-provided function does not req"):
        functional.jacobian(lambda a: a.detach(), x, strict=True)
    with pytest.raises(RuntimeError, match="given to hessian should contain a single element"):
        functional.hessian(lambda a: a, x)
    with pytest.raises(AssertionError, match="Expected strategy to be either"):
        functional.jacobian(lambda a: a, x, strategy="neither")
