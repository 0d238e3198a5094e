"""What scripts write is known to gradients and to `inference_mode`, where nothing is recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch

Tensor = torch.Tensor


def filled(out: Tensor, n: int) -> int:
    for i in range(n):
        out[i] = 2.0
    return n


def doubled(out: Tensor, n: int) -> int:
    y = out.view(-1)
    for _ in range(n):
        y = y[:].mul_(2.0)
    return n


def chosen(out: Tensor, n: int) -> int:
    y = out if n > 1 else torch.zeros(3)
    y.add_(1.0)
    return n


def untouched(out: Tensor, n: int) -> int:
    y = out + 1
    y.mul_(2.0)
    y[0] = out[1]
    return n


class Holder(torch.nn.Module):
    def forward(self, out: Tensor, n: int) -> int:
        out[0] = 4.0
        return n


def scripted(target: Any) -> Any:
    return torch.jit.script(target() if isinstance(target, type) else target)


@pytest.mark.parametrize("target", [filled, doubled, chosen, Holder])
@pytest.mark.parametrize("calls", [1, 60])
def test_gradients_are_refused_of_what_scripts_have_written(
    target: Callable[..., Any], calls: int
) -> None:
    call, leaf = scripted(target), torch.ones(3, requires_grad=True)
    for _ in range(calls - 1):
        call(torch.ones(3), 3)
    out = torch.ones(3)
    product = (leaf * out).sum()
    call(out, 3)
    assert out._version > 0
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.backward()


@pytest.mark.parametrize("calls", [1, 60])
def test_what_is_read_alone_counts_as_unwritten(calls: int) -> None:
    call, leaf, out = scripted(untouched), torch.ones(3, requires_grad=True), torch.ones(3)
    product = (leaf * out).sum()
    for _ in range(calls):
        call(out, 3)
    assert out._version == 0
    product.backward()
    assert leaf.grad is not None
    assert leaf.grad.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("calls", [1, 60])
def test_tensors_for_inference_are_not_written_outside(calls: int) -> None:
    call = scripted(filled)
    for _ in range(calls - 1):
        call(torch.ones(3), 3)
    with torch.inference_mode():
        kept = torch.zeros(3)
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
        call(kept, 3)
    assert kept.tolist() == [0.0, 0.0, 0.0]
    with torch.inference_mode():
        call(kept, 3)
    assert kept.tolist() == [2.0, 2.0, 2.0]


def test_nothing_in_the_place_of_a_tensor_is_told_where_it_is_used() -> None:
    with pytest.raises(RuntimeError, match=r"out\[i\] = 2.0"):
        scripted(filled)(None, 3)
