"""Groups of channels that lie last, normalised as they lie."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.nn import functional
from rushlight.ops import kernels

pytestmark = pytest.mark.skipif(
    kernels.family("rows.last_groups") is None, reason="no native code here"
)

SHAPES = [(2, 32, 5, 7), (3, 6, 4, 4), (1, 320, 3, 3), (2, 80, 9, 9), (2, 16, 3, 4, 5)]
ERRORS = {"float32": 2e-6, "bfloat16": 5e-3, "float16": 7e-4, "float64": 1e-13}


def last(x: torch.Tensor) -> torch.Tensor:
    format = torch.channels_last if x.dim() == 4 else torch.channels_last_3d
    return x.contiguous(memory_format=format)


@pytest.mark.parametrize("name", ERRORS)
@pytest.mark.parametrize("shape", SHAPES)
def test_they_lie_as_they_did_and_have_the_values(shape: tuple[int, ...], name: str) -> None:
    torch.manual_seed(0)
    dtype, channels = getattr(torch, name), shape[1]
    x = (torch.randn(shape) * 3 + 5).to(dtype)
    both = [torch.randn(channels).to(dtype) for _ in range(2)]
    for weight, bias in ((None, None), both, (both[0], None), (None, both[1])):
        wide = [None if each is None else each.double() for each in (weight, bias)]
        for groups in (1, 2, channels):
            made = functional.group_norm(last(x), groups, weight, bias)
            wanted = functional.group_norm(x.double(), groups, *wide)
            assert made.stride() == last(x).stride()
            error = ((made.double() - wanted).abs() / (1 + wanted.abs())).max().item()
            assert error < ERRORS[name]


def test_they_are_not_turned_around(monkeypatch: pytest.MonkeyPatch) -> None:
    from rushlight.ops.layers import normalize

    def turn(*_: Any) -> None:
        raise AssertionError

    monkeypatch.setattr(normalize, "in_order", turn)
    monkeypatch.setattr(normalize, "channels_last", turn)
    x = last(torch.arange(96.0).view(2, 12, 2, 2).sin())
    assert functional.group_norm(x, 3).mean().abs() < 1e-6


def test_channels_of_one_number_are_what_they_are() -> None:
    """Of large numbers that do not differ nothing is left but the bias."""
    numbers = torch.tensor([1e6, 3.0, -1e-20, 12345.678]).view(1, 4, 1, 1)
    x = last(numbers.expand(2, 4, 5, 5).contiguous())
    made = functional.group_norm(x, 4, torch.ones(4), torch.arange(4.0))
    assert torch.equal(made, torch.arange(4.0).view(1, 4, 1, 1).expand(2, 4, 5, 5))
    x[1, 2, 3, 3] = float("inf")
    made = functional.group_norm(x, 2)
    assert made[0].isfinite().all()
    assert made[1, :2].isfinite().all()
    assert made[1, 2:].isnan().all()


def test_threads_and_batches_change_no_bit() -> None:
    torch.manual_seed(1)
    x = last(torch.randn(3, 96, 40, 40))
    before, found = torch.get_num_threads(), list[Any]()
    try:
        for count in (1, 2, 3):
            torch.set_num_threads(count)
            found.append(functional.group_norm(x, 8).numpy().tobytes())
    finally:
        torch.set_num_threads(before)
    assert len({*found}) == 1
    alone = np.concatenate([functional.group_norm(each, 8).numpy() for each in x.split(1)])
    assert np.array_equal(alone, functional.group_norm(x, 8).numpy())


def test_gradients_are_those_of_other_layouts() -> None:
    torch.manual_seed(2)
    x, weight, grad = torch.randn(2, 6, 3, 4), torch.randn(6), torch.randn(2, 6, 3, 4)
    found = []
    for each in (x.clone(), last(x)):
        leaves = each.requires_grad_(), weight.clone().requires_grad_()
        functional.group_norm(leaves[0], 3, leaves[1]).backward(grad)
        found.append([leaf.grad for leaf in leaves])
        each.requires_grad_(False)
    for one, other in zip(*found, strict=True):
        assert torch.allclose(one, other, atol=1e-5)


@pytest.mark.parametrize("is_last", [False, True])
@pytest.mark.parametrize("parameters", ["", "weight", "weight bias"])
def test_gradients_are_as_exact_as_sums(parameters: str, is_last: bool) -> None:
    torch.manual_seed(3)
    for shape, groups in (((2, 8, 5, 7), 2), ((1, 32, 16, 16), 32), ((3, 6, 4, 4), 1)):
        x, grad = torch.randn(shape) * 2 + 3, torch.randn(shape)
        x = last(x) if is_last else x
        given = [x, *(torch.randn(shape[1]) for _ in parameters.split())]
        found = []
        for dtype in (torch.float32, torch.float64):
            leaves = [each.detach().to(dtype).requires_grad_() for each in given]
            for _ in range(3):
                made = functional.group_norm(leaves[0], groups, *leaves[1:])
                slopes = torch.autograd.grad(made, leaves, grad.to(dtype))
            assert slopes[0].stride() == x.stride()
            found.append(slopes)
        for one, wide in zip(*found, strict=True):
            assert ((one.double() - wide).abs() / (1 + wide.abs())).max() < 2e-5
