"""Operators that keep quantized values in ordinary tensors give the numbers of torch 2.13."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch
from rushlight.ao.quantization.fx import _decomposed

Q = torch.ops.quantized_decomposed
X = torch.tensor([[0.5, -1.25, 3.0], [-0.75, 2.5, 0.1]])
SCALES, POINTS = torch.tensor([0.1, 0.05]), torch.tensor([1, -3])
BYTES = (-128, 127, torch.int8)
WHOLE = torch.tensor([[13, -22, 63], [-12, 53, 5]], dtype=torch.int8)

GIVEN: dict[str, tuple[Callable[[], Any], list[float]]] = {
    "whole": (lambda: Q.quantize_per_tensor(X, 0.05, 3, *BYTES), [13, -22, 63, -12, 53, 5]),
    "of halves": (
        lambda: Q.quantize_per_tensor(X.half(), 0.05, 3, *BYTES),
        [13, -22, 63, -12, 53, 5],
    ),
    "by tensors": (
        lambda: Q.quantize_per_tensor.tensor(X, torch.tensor(0.05), torch.tensor(3), *BYTES),
        [13, -22, 63, -12, 53, 5],
    ),
    "and back": (
        lambda: Q.dequantize_per_tensor(WHOLE, 0.05, 3, *BYTES),
        [0.5, -1.25, 3.0, -0.75, 2.5, 0.1],
    ),
    "channels": (
        lambda: Q.quantize_per_channel(X, SCALES, POINTS, 0, *BYTES),
        [6, -11, 31, -18, 47, -1],
    ),
    "channels and back": (
        lambda: Q.dequantize_per_channel(WHOLE, SCALES, None, 0, *BYTES),
        [1.3, -2.2, 6.3, -0.6, 2.65, 0.25],
    ),
    "groups": (
        lambda: Q.quantize_per_channel_group(
            X.reshape(1, 6)[:, :4], SCALES, POINTS, -8, 7, torch.int8, 2
        ),
        [6, -8, 7, -8],
    ),
    "converted": (lambda: Q.convert_element_type.no_fuse(X, torch.int32), [0, -1, 3, 0, 2, 0]),
}


@pytest.mark.parametrize("name", GIVEN)
def test_numbers(name: str) -> None:
    program, expected = GIVEN[name]
    assert program().flatten().tolist() == pytest.approx(expected)


def test_rows_have_scales_of_their_own() -> None:
    scales, points = Q.choose_qparams_per_token_asymmetric(X, torch.int8)
    assert (scales.dtype, points.dtype) == (torch.float64, torch.int64)
    assert scales.flatten().tolist() == pytest.approx([4.25 / 255, 3.25 / 255])
    assert points.flatten().tolist() == [-53, -69]
    whole = Q.quantize_per_token(X, scales, points, *BYTES)
    back = Q.dequantize_per_token(whole, scales, points, *BYTES, torch.float32)
    torch.testing.assert_close(back, X, atol=0.009, rtol=0)
    scales, points = Q.choose_qparams_per_token(X, torch.int8)
    assert scales.flatten().tolist() == pytest.approx([3 / 127, 2.5 / 127])


def test_scales_of_all_and_tensors_without_data() -> None:
    scale, point = Q.choose_qparams.tensor(X, 0, 255, 1e-5, torch.uint8)
    assert (scale.tolist(), point.tolist()) == ([pytest.approx(4.25 / 255)], [75])
    made = Q.quantize_per_channel(*(each.to("meta") for each in (X, SCALES, POINTS)), 0, *BYTES)
    assert (made.shape, made.dtype, made.is_meta) == (X.shape, torch.int8, True)
    with pytest.raises(AssertionError, match=r"torch\.float32, but got dtype: torch\.float64"):
        Q.quantize_per_tensor(X.double(), 0.05, 3, *BYTES)
    with pytest.raises(AssertionError, match="num_tokens: 2"):
        _decomposed._per_token_quant_qparam_dim_check(X, torch.ones(3), torch.ones(3))
