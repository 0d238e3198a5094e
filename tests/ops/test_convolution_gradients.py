"""Gradients of convolutions' weights by kernels, against those of float64 by NumPy."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rushlight as torch
from rushlight.ops.kernels import family
from rushlight.ops.layers.convolution_gradients import weight_gradient

pytestmark = pytest.mark.skipif(
    family("convolutions.gradients") is None, reason="no native code here"
)
F = torch.nn.functional
SMALL = st.integers(1, 3)


def _gradients(
    dtype: torch.dtype,
    sizes: tuple[int, ...],
    made: int,
    size: list[int],
    settings: tuple[int, ...],
) -> tuple[torch.Tensor, torch.Tensor]:
    """Of the weight, and of the same with the gradient's own graph."""
    torch.manual_seed(3)
    x = torch.randn(*sizes).to(dtype)
    weight = torch.randn(made, sizes[1] // settings[3], *size).to(dtype).requires_grad_()
    convolve = F.conv1d if len(size) == 1 else F.conv2d
    y = convolve(x, weight, None, *settings)
    g = torch.randn(*y.shape).to(dtype)
    (quick,) = torch.autograd.grad(y, [weight], [g], retain_graph=True)
    (slow,) = torch.autograd.grad(y, [weight], [g], create_graph=True)
    return quick, slow.detach()


@settings(deadline=None, max_examples=15)
@given(
    st.sampled_from([1, 2, 5, 6]),
    st.tuples(SMALL, st.integers(1, 9), st.sampled_from([8, 17, 50])),
    st.lists(SMALL, min_size=1, max_size=2),
    st.tuples(SMALL, st.integers(0, 2), st.integers(1, 2)),
)
def test_gradients_of_weights(
    batch: int, channels: tuple[int, int, int], size: list[int], given: tuple[int, int, int]
) -> None:
    groups, inside, outside = channels
    sizes = batch, groups * inside, *(25, 40)[-len(size) :]
    call = sizes, groups * outside, size, (*given, groups)
    found, _ = _gradients(torch.float32, *call)
    _, wanted = _gradients(torch.float64, *call)
    torch.testing.assert_close(found.double(), wanted, rtol=1e-4, atol=2e-3)


def test_what_is_computed_natively() -> None:
    x, grad = torch.randn(6, 16, 20, 20), torch.randn(6, 24, 20, 20)
    given = [1, 1], [1, 1], [1, 1]
    threads, found = torch.get_num_threads(), []
    try:
        for count in (1, 2, 3):
            torch.set_num_threads(count)
            found.append(weight_gradient(x.numpy(), grad.numpy(), (24, 16, 3, 3), *given, 1))
    finally:
        torch.set_num_threads(threads)
    assert found[0] is not None
    assert found[0].tobytes() == found[1].tobytes() == found[2].tobytes()
    few = torch.randn(6, 4, 20, 20).numpy()
    assert weight_gradient(x.numpy(), few, (4, 16, 3, 3), *given, 1) is not None
    assert weight_gradient(x.numpy(), few, (4, 16, 9, 3), *given, 1) is None
    assert weight_gradient(x.numpy(), grad.numpy(), (24, 16, 9, 3), *given, 1) is None


@pytest.mark.parametrize("step", [1, 2])
@pytest.mark.parametrize(
    ("sizes", "window", "padding", "dilation"),
    [
        ((4, 16, 9, 9), (3, 3), (1, 1), (1, 1)),
        ((2, 8, 20, 33), (5, 3), (2, 0), (1, 2)),
        ((1, 6, 7, 40), (3, 7), (0, 3), (2, 1)),
        ((2, 3, 5, 5), (5, 5), (6, 6), (1, 1)),
        ((2, 4, 50), (3,), (1,), (1,)),
    ],
)
def test_planes_with_filters_of_their_own(
    sizes: tuple[int, ...], window: Any, padding: Any, dilation: Any, step: int
) -> None:
    """Of float32, which has kernels in steps of 1, beside float64."""
    torch.manual_seed(1)
    channels, convolution = sizes[1], F.conv1d if len(sizes) == 3 else F.conv2d
    given = [torch.randn(*sizes), torch.randn(channels, 1, *window), torch.randn(channels)]
    found, slope = [], None
    for kind in (torch.float32, torch.float64):
        tensors = [each.to(kind).requires_grad_() for each in given]
        made = convolution(*tensors, step, padding, dilation, channels)
        slope = torch.randn_like(made) if slope is None else slope.to(kind)
        found.append(torch.autograd.grad(made, tensors, slope))
    for first, wide in zip(*found, strict=True):
        torch.testing.assert_close(first.double() / wide.abs().max(), wide / wide.abs().max(),
                                   rtol=0, atol=3e-6)  # fmt: skip
        assert first.stride() == wide.stride()


@pytest.mark.parametrize("sizes", [(3, 9, 14, 11), (2, 8, 5, 6, 7)])
def test_pixels_with_channels_last_are_products(sizes: tuple[int, ...]) -> None:
    torch.manual_seed(5)
    wanted, found = [], []
    for dtype, made in ((torch.float64, wanted), (torch.float32, found)):
        torch.manual_seed(5)
        last = torch.channels_last if len(sizes) == 4 else torch.channels_last_3d
        x = torch.randn(*sizes).to(dtype).contiguous(memory_format=last).requires_grad_()
        weight = torch.randn(40, sizes[1], *[1] * (len(sizes) - 2)).to(dtype).requires_grad_()
        y = (F.conv2d if len(sizes) == 4 else F.conv3d)(x, weight)
        g = torch.randn(*y.shape).to(dtype).contiguous(memory_format=last)
        for options in ({}, {"create_graph": True}):
            made += torch.autograd.grad(y, [x, weight], [g], retain_graph=True, **options)
        made += torch.autograd.grad(made[-2].sum(), [weight])
    assert found[0].is_contiguous(memory_format=last)
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one.double(), other, rtol=1e-4, atol=1e-3)


def test_rows_that_lie_in_another_order_have_one_kernel() -> None:
    x, g = torch.randn(2, 6, 9, 7, requires_grad=True), torch.randn(2, 6, 9, 7)
    weight, bias = (torch.randn(6, requires_grad=True) for _ in range(2))
    made = F.layer_norm(x.permute(0, 2, 3, 1), (6,), weight, bias).permute(0, 3, 1, 2)
    found = torch.autograd.grad(made, [x, weight, bias], [g], retain_graph=True)
    wanted = torch.autograd.grad(made, [x, weight, bias], [g], create_graph=True)
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other.detach(), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("convolve", "sizes", "shape"),
    [
        (lambda *a: F.conv1d(*a, padding=2, dilation=2), (1, 4, 12), (6, 4, 3)),
        (lambda *a: F.conv2d(*a, stride=2, padding=1), (2, 4, 8, 8), (6, 4, 3, 3)),
        (lambda *a: F.conv2d(*a), (2, 4, 5, 5), (6, 4, 1, 1)),
        (lambda *a: F.conv2d(*a, padding="same"), (2, 4, 8, 8), (6, 4, 4, 4)),
        (lambda *a: F.conv2d(*a, padding=1, groups=2), (2, 4, 8, 8), (6, 2, 3, 3)),
        (lambda *a: F.conv2d(*a, padding=1, groups=6), (2, 6, 8, 8), (6, 1, 3, 3)),
        (lambda *a: F.conv2d(*a, stride=2, padding=1, groups=2), (3, 8, 9, 9), (6, 4, 3, 3)),
        (lambda *a: F.conv2d(*a, padding=1), (3, 16, 20, 20), (6, 16, 3, 3)),
        (lambda *a: F.conv1d(*a), (4, 12), (6, 4, 3)),
        (lambda *a: F.conv3d(*a, padding=1), (1, 2, 4, 4, 4), (6, 2, 3, 3, 3)),
        (lambda *a: F.conv_transpose1d(*a, 4, 2), (1, 4, 6), (4, 6, 8)),
        (lambda *a: F.conv_transpose2d(*a, 2, 1), (2, 4, 5, 5), (4, 6, 4, 4)),
    ],
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_calls_that_are_learned_give_the_bits_of_the_first(
    convolve: Any, sizes: tuple[int, ...], shape: tuple[int, ...], dtype: torch.dtype
) -> None:
    torch.manual_seed(5)
    given = [torch.randn(each).to(dtype) for each in (sizes, shape, (6,))]
    g = torch.randn(convolve(*given).shape).to(dtype)
    near = 1e-4 if dtype is torch.float32 else 3e-2
    for wanted in ((0, 1, 2), (0,), (1, 2)):
        asked = [each.detach().requires_grad_(at in wanted) for at, each in enumerate(given)]
        made, leaves = convolve(*asked), [asked[at] for at in wanted]
        plainly = torch.autograd.grad(made, leaves, g, create_graph=True)
        bits = set()
        for _ in range(5):
            found = torch.autograd.grad(made, leaves, g, retain_graph=True)
            bits.add(b"".join(each.double().numpy().tobytes() for each in found))
        assert len(bits) == 1
        for one, other in zip(found, plainly, strict=True):
            assert one.is_contiguous()
            torch.testing.assert_close(one, other.detach(), rtol=near, atol=near)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize(
    ("groups", "stride", "size"), [(1, 1, 3), (1, 2, 3), (4, 1, 3), (16, 1, 3), (1, 1, 1)]
)
def test_large_gradients_of_16_bits_are_rounded_once(
    groups: int, stride: int, size: int, dtype: torch.dtype
) -> None:
    """Sums are of float32: near those of float64 of the same numbers."""
    torch.manual_seed(6)
    sizes, shape = (4, 16, 24, 24), (16, 16 // groups, size, size)
    given = [torch.randn(each).to(dtype) for each in (sizes, shape)]
    found, wanted = [], []
    for made, wide in ((found, dtype), (wanted, torch.float64)):
        leaves = [each.to(wide).requires_grad_() for each in given]
        y = F.conv2d(*leaves, None, stride, size // 2, 1, groups)
        torch.manual_seed(7)
        made += torch.autograd.grad(y, leaves, torch.randn(y.shape).to(dtype).to(wide))
    for one, other in zip(found, wanted, strict=True):
        assert one.dtype == dtype
        scale = other.abs().max()
        near = 1e-5 if dtype is torch.float32 else 2**-8
        torch.testing.assert_close(one.double() / scale, other / scale, rtol=near, atol=near)
