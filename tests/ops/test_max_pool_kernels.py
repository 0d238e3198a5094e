"""Maxima of windows by kernels: those of NumPy's way, bit for bit, and their places."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rushlight as torch
from rushlight.ops.kernels import family
from rushlight.ops.pooling import max_pool
from rushlight.ops.pooling.pool_checks import pool_geometry
from tests.ops.test_products import before_a_wall

pytestmark = pytest.mark.skipif(family("windows.max_pools") is None, reason="no native code here")
F = torch.nn.functional
PAIRS = st.tuples(st.integers(1, 4), st.integers(1, 4)).map(list)
SIZES = st.sampled_from([[2, 2], [3, 3]]) | PAIRS


def _wild(shape: tuple[int, ...]) -> Any:
    """Few values, so that many are equal, zeros of both signs, NaN and infinities."""
    x = np.random.default_rng(sum(shape)).integers(-3, 4, shape).astype(np.float32)
    x.reshape(-1)[::97] = np.nan
    x.reshape(-1)[5::31] = -np.inf
    x.reshape(-1)[::2] *= -1
    return x


@settings(deadline=None, max_examples=60)
@given(SIZES, PAIRS, PAIRS, st.booleans(), st.integers(1, 45), st.integers(1, 70), st.data())
def test_maxima_and_places(
    size: list[int],
    stride: list[int],
    dilation: list[int],
    ceil_mode: bool,
    height: int,
    width: int,
    data: st.DataObject,
) -> None:
    pads = [data.draw(st.integers(0, k // 2)) for k in size]
    x = before_a_wall(_wild((2, -(-8192 // (2 * height * width)), height, width)))
    try:
        g = pool_geometry(x, 2, "max_pool2d", size, stride, pads, dilation, ceil_mode)
    except Exception:
        return
    found = max_pool._natively(x, g, True)
    if found is not None:
        values, places = max_pool._with_places(x, g)
        np.testing.assert_array_equal(found[0], values)
        np.testing.assert_array_equal(found[1], places)
        alone = max_pool._natively(x, g, False)[0]
        assert alone.tobytes() == found[0].tobytes()


TRIPLES = st.tuples(*[st.integers(1, 3)] * 3).map(list)


@settings(deadline=None, max_examples=40)
@given(TRIPLES, TRIPLES, TRIPLES, st.booleans(), st.data())
def test_maxima_of_volumes(
    size: list[int], stride: list[int], dilation: list[int], ceil_mode: bool, data: st.DataObject
) -> None:
    pads = [data.draw(st.integers(0, k // 2)) for k in size]
    space = [data.draw(st.integers(1, 20)) for _ in size]
    x = _wild((2, 3, *space))
    try:
        g = pool_geometry(x, 3, "max_pool3d", size, stride, pads, dilation, ceil_mode)
    except Exception:
        return
    found = max_pool._natively(x, g, False)
    if found is not None:
        np.testing.assert_array_equal(found[0], max_pool._with_places(x, g)[0])


def test_lines_and_gradients() -> None:
    x = torch.randn(3, 40, 100)
    pooled = F.max_pool1d(x, 3, 2, 1)
    parts = [F.max_pool1d(x[:1, i : i + 1], 3, 2, 1) for i in range(40)]  # too small for kernels
    assert torch.equal(pooled[:1], torch.cat(parts, 1))
    planes = torch.randn(1, 4, 60, 60, requires_grad=True)
    values, places = F.max_pool2d(planes, 3, 2, return_indices=True)
    values.sum().backward()
    counts = torch.zeros(4, 3600).scatter_add_(1, places.flatten(2)[0], torch.ones(4, 29 * 29))
    assert torch.equal(planes.grad.reshape(4, 3600), counts)


@pytest.mark.parametrize("wrong", [-1, 400])
def test_gradients_refuse_places_outside_of_their_plane(wrong: int) -> None:
    x = torch.randn(2, 20, 20)
    values, places = F.max_pool2d(x, 2, return_indices=True)
    places[1, 9, 9] = wrong
    settings = [2, 2], [2, 2], [0, 0], [1, 1], False
    with pytest.raises(IndexError, match="leaves its plane"):
        torch.ops.aten.max_pool2d_with_indices_backward(values, x, *settings, places)


def test_an_empty_batch_in_one_dimension() -> None:
    x = torch.ones(0, 3, 8, requires_grad=True)
    made = torch.nn.functional.max_pool1d(x, 3, 2)
    made.sum().backward()
    assert made.shape == (0, 3, 3)
    assert x.grad is not None
    assert x.grad.shape == x.shape
    with pytest.raises(RuntimeError, match="optional 0 dim batch size"):
        torch.nn.functional.max_pool1d(torch.ones(2, 0, 8, requires_grad=True), 3, 2)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize(("dims", "sizes"), [(1, (3, 4, 17)), (2, (2, 3, 9, 8))])
def test_sixteen_bits_have_the_places_of_float32(
    dims: int, sizes: tuple[int, ...], dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = torch.from_numpy(_wild(sizes)).to(dtype)
    pool = getattr(F, f"max_pool{dims}d")
    values, places = pool(x, 3, 2, 1, return_indices=True)
    wide, wanted = pool(x.float(), 3, 2, 1, return_indices=True)
    assert values.dtype is dtype
    assert values.float().numpy().tobytes() == wide.numpy().tobytes()
    assert torch.equal(places, wanted)

    def never(*args: object) -> object:
        raise AssertionError("by NumPy")

    monkeypatch.setattr(max_pool, "_with_places", never)
    leaf = x.detach().nan_to_num().requires_grad_()
    pool(leaf, 2).sum().backward()
    assert leaf.grad.dtype is dtype
    assert leaf.grad.float().sum() == pool(leaf, 2).numel()
