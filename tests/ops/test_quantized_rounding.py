"""Ties and last steps of quantized numbers, which one rounding too many would move."""

from __future__ import annotations

import pytest

import rushlight as torch
from rushlight import ops


def quantized(numbers: list[int], zero_point: int = 0, scale: float = 0.1) -> torch.Tensor:
    values = torch.tensor(numbers, dtype=torch.float32) - zero_point
    return torch.quantize_per_tensor(values * scale, scale, zero_point, torch.quint8)


def test_means_of_numbers_round_ties_with_the_zero_point() -> None:
    for zero_point in (0, 1):
        x = quantized([1, 2, 3, 4], zero_point).reshape(1, 1, 2, 2)
        pooled = torch.nn.functional.avg_pool2d(x, 2)
        assert pooled.int_repr().tolist() == [[[[2]]]]
        assert pooled.q_zero_point() == zero_point
    x = quantized([10, 11, 20, 21], 3).reshape(1, 1, 2, 2)
    wide = torch.nn.functional.interpolate(x, size=(2, 3), mode="bilinear", align_corners=True)
    assert wide.int_repr().tolist() == [[[[10, 10, 11], [20, 20, 21]]]]


def test_quantized_tensors_have_no_history() -> None:
    x = torch.ones(2, 3, requires_grad=True) * 2
    made = [
        torch.quantize_per_tensor(x, 0.1, 0, torch.quint8),
        torch.quantize_per_channel(x, torch.ones(2), torch.zeros(2), 0, torch.qint8),
        torch.quantize_per_tensor_dynamic(x, torch.quint8, False),
    ]
    assert not any(each.requires_grad or each.dequantize().requires_grad for each in made)


def test_values_are_scaled_and_moved_in_one_step() -> None:
    scale, values = 0.023966941801448594, torch.tensor([[0.44338855147361755] * 2])
    assert torch.quantize_per_tensor(values, scale, 94, torch.quint8).int_repr().tolist() == [
        [113, 113]
    ]
    scales, zeros = torch.tensor([scale]).double(), torch.tensor([94])
    rows = torch.quantize_per_channel(values, scales, zeros, 0, torch.quint8)
    assert rows.int_repr().tolist() == [[112, 112]]


def test_operators_of_quantized_tensors_by_name() -> None:
    x = quantized([1, 2, 3])
    assert ops.quantized.add(x, x, 0.2, 5).int_repr().tolist() == [6, 7, 8]
    assert torch.ops.quantized.mul_scalar(x, 2.0).q_scale() == 0.2


def by_name(x: torch.Tensor, scale: float) -> torch.Tensor:
    return torch.ops.quantized.add(x, x, scale, 5)


def test_operators_of_quantized_tensors_in_scripts() -> None:
    made = torch.jit.script(by_name)(quantized([1, 2, 3]), 0.2)
    assert made.int_repr().tolist() == [6, 7, 8]


def test_a_number_that_moves_the_zero_point_out_of_range() -> None:
    made = torch.ops.quantized.add_scalar(quantized([0, 100, 255], 10), 3.0)
    assert made.q_zero_point() == 0
    assert made.int_repr().tolist() == [19, 111, 255]


def test_there_is_a_scale_for_each_channel() -> None:
    numbers, one, none = torch.ones(4, 2), torch.ones(1), torch.zeros(1, dtype=torch.int64)
    for make in (
        lambda: torch._make_per_channel_quantized_tensor(numbers.char(), one, none, 0),
        lambda: torch.quantize_per_channel(numbers, one, none, 0, torch.qint8),
    ):
        with pytest.raises(RuntimeError, match="must equal to channel, expected 4 got, 1"):
            make()
