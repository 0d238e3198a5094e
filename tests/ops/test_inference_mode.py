"""`inference_mode`: what is made inside is never written in place or kept for gradients outside."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight import nn

NOT_WRITTEN = "Inplace update to inference tensor outside InferenceMode is not allowed"
NOT_KEPT = "Inference tensors cannot be saved for backward"


def made(*sizes: int) -> Any:
    with torch.inference_mode():
        return torch.ones(sizes or (2,))


def are(*tensors: Any) -> list[bool]:
    return [each.is_inference() for each in tensors]


def test_what_is_made_inside_and_its_views_are_for_inference() -> None:
    x, n = made(), torch.ones(2)
    assert are(x, x.view(2), x[0], x.detach(), x.data, x.t(), *x.split(1)) == [True] * 8
    assert are(x + 1, x.clone(), x * n, x.to(torch.float64), torch.cat([x, x])) == [False] * 5
    with torch.inference_mode():
        assert torch.is_inference_mode_enabled()
        assert are(n, n.view(2), n[0], n.detach(), n.add_(0), n.contiguous()) == [False] * 6
        several = torch.ones(2, 2).max(0)
        rows = torch.tensor([1, 2]), torch.rand(2), torch.from_numpy(np.ones(2))
        assert are(n + 1, n.clone(), copy.deepcopy(n), *several, *rows) == [True] * 8
        with torch.inference_mode(False):
            assert are(torch.ones(2), x * 2) == [False] * 2
        sparse = torch.eye(2).to_sparse()
    assert not torch.is_inference_mode_enabled()
    assert are(sparse, torch.from_numpy(x.numpy()), torch.ones(2)) == [True, False, False]


def test_layers_scripts_and_decorated_functions() -> None:
    layer = nn.Linear(2, 2)
    script = torch.jit.script(layer)
    run = torch.inference_mode()(lambda x: torch.relu(layer(x)))
    for _ in range(3):
        y = run(torch.ones(1, 2))
        assert (y.is_inference(), y.requires_grad) == (True, False)
        with torch.inference_mode():
            assert script(torch.ones(1, 2)).is_inference()
    assert are(script(y), layer.weight) == [False, False]


def test_the_mode_belongs_to_a_thread() -> None:
    found: list[bool] = []

    def ask() -> None:
        found.extend((torch.ones(1).is_inference(), torch.is_inference_mode_enabled()))

    with torch.inference_mode():
        thread = threading.Thread(target=ask)
        thread.start()
        thread.join()
    assert found == [False, False]


WRITES: dict[str, Callable[[Any], object]] = {
    "add_": lambda x: x.add_(1),
    "item": lambda x: x.__setitem__(0, 3.0),
    "a view": lambda x: x.view(2).mul_(2),
    "out": lambda x: torch.add(torch.ones(2), 1, out=x),
    "copy_": lambda x: x.copy_(torch.ones(2)),
    "relu_": torch.relu_,
    "normal_": lambda x: x.normal_(),
    "a list": lambda x: torch._foreach_add_([x], 1.0),
    "without gradients": torch.no_grad()(lambda x: x.add_(1)),
}


@pytest.mark.parametrize("name", WRITES)
def test_nothing_is_written_in_place_outside(name: str) -> None:
    x = made()
    with pytest.raises(RuntimeError, match=NOT_WRITTEN):
        WRITES[name](x)
    with torch.inference_mode():
        WRITES[name](x)
    n = torch.zeros(2)
    n.copy_(x)
    n.add_(x)
    WRITES[name](n)


def test_nothing_is_kept_for_gradients_outside() -> None:
    p, x = torch.ones(2, requires_grad=True), made()
    for call in (lambda: p * x, lambda: torch.dot(p, x), lambda: nn.functional.linear(p, x)):
        with pytest.raises(RuntimeError, match=NOT_KEPT):
            call()
        with torch.no_grad():
            call()
    (p + x).sum().backward()
    assert p.grad.tolist() == [1, 1]
    (p * x.clone()).sum().backward()


def test_gradients_and_versions() -> None:
    x = made()
    for ask in (lambda: x.requires_grad_(), lambda: nn.Parameter(x)):
        with pytest.raises(RuntimeError, match="Setting requires_grad=True on inference tensor"):
            ask()
    with pytest.raises(RuntimeError, match="Inference tensors do not track version counter"):
        print(x._version)
    assert torch.func.grad(lambda y: (y * 2).sum())(x).tolist() == [2, 2]
    with torch.inference_mode():
        leaf = torch.ones(2, requires_grad=True)
    (leaf + 2).sum().backward()
    assert leaf.grad.tolist() == [1, 1]


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return grads[0] * 2


def test_functions_keep_nothing_where_nobody_wants_gradients() -> None:
    assert Double.apply(made()).tolist() == [2, 2]
    with torch.inference_mode():
        assert Double.apply(torch.ones(2, requires_grad=True)).is_inference()


def test_memory_is_counted_in_the_mode_too() -> None:
    from rushlight.ops.memory.allocation import current_ledger, is_counting

    if not is_counting():
        pytest.skip("memory is not counted here")
    ledger = current_ledger()
    for before in (True, False):
        with torch.inference_mode(before):
            ledger.open(1 << 24, 100)
            try:
                with torch.inference_mode(not before), pytest.raises(RuntimeError, match="memory"):
                    torch.zeros(1 << 24)
                assert torch.ones(3).is_inference() is before
            finally:
                ledger.close()


def test_views_outside_require_no_gradients() -> None:
    x, wanted = made(), torch.ones(2, requires_grad=True)
    assert not x.view_as(wanted).requires_grad
    assert x[0].grad_fn is None
    with torch.inference_mode():
        assert not torch.ones(2, requires_grad=True).view(-1).requires_grad
