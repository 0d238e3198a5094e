"""Products of 8-bit floats with scales; formulas and errors are torch 2.13's."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight as torch

F8 = torch.float8_e4m3fn
ONE = (torch.arange(6.0).reshape(2, 3) - 2).to(F8)
OTHER = (torch.arange(12.0).reshape(3, 4) / 4).to(F8)
PRODUCT = ONE.float() @ OTHER.float()
HALF, TWO = torch.tensor(0.5), torch.tensor(2.0)


def scaled(*more: Any, **named: Any) -> Any:
    return torch._scaled_mm(ONE, OTHER, *more, **named)


def test_one_scale_of_each() -> None:
    made = scaled(HALF, torch.tensor([3.0]), out_dtype=torch.float32)
    assert torch.equal(made, PRODUCT * 1.5)
    assert scaled(HALF, TWO).dtype is F8
    assert torch.equal(scaled(HALF, TWO, out_dtype=torch.bfloat16), PRODUCT.bfloat16())
    assert torch.equal(scaled(HALF, HALF).float(), (PRODUCT / 4).to(F8).float())


def test_a_scale_of_each_row_and_column() -> None:
    rows, columns = torch.tensor([[0.5], [3.0]]), torch.tensor([[1.0, 2.0, 4.0, 0.25]])
    bias = torch.tensor([1.0, 2.0, 3.0, 4.0])
    made = scaled(rows, columns, bias=bias, out_dtype=torch.float32)
    assert torch.equal(made, PRODUCT * rows * columns + bias)


def test_results_of_8_bits_are_divided() -> None:
    four = torch.tensor(4.0)
    made = scaled(TWO, TWO, scale_result=four)
    assert torch.equal(made.float(), PRODUCT.to(F8).float())
    wide = scaled(TWO, TWO, scale_result=four, out_dtype=torch.float32)
    assert torch.equal(wide, PRODUCT * 4)


def test_results_are_written_elsewhere() -> None:
    out = torch.empty(2, 4)
    scaled(HALF, TWO, out_dtype=torch.float32, out=out)
    assert torch.equal(out, PRODUCT)


def test_one_scale_may_have_any_dimensions() -> None:
    made = torch._scaled_mm(ONE, OTHER, HALF.reshape(1, 1, 1), TWO, out_dtype=torch.float32)
    assert torch.equal(made, PRODUCT)


@pytest.mark.parametrize(
    ("given", "error", "told"),
    [
        ((ONE.float(), OTHER, HALF, TWO), ValueError, "Invalid scaling configuration."),
        ((ONE, OTHER, torch.ones(2), TWO), ValueError, "Invalid scaling configuration."),
        ((ONE, OTHER, HALF.double(), TWO), ValueError, "Invalid scaling configuration."),
        (
            (ONE, OTHER, torch.ones(2, 2)[:, :1], torch.ones(1, 4)),
            ValueError,
            r"scale_a.size\(\)=\[2, 1\], scale_a.stride\(\)=\[2, 1\], mat_b.dtype",
        ),
        (
            (ONE, OTHER, torch.ones(1, 2).t(), torch.ones(1, 4)),
            ValueError,
            r"expected scale_a.stride\(1\) to be 1, but got 2",
        ),
        ((ONE[0], OTHER, HALF, TWO), RuntimeError, "mat1 must be a matrix"),
        ((ONE, OTHER.t(), HALF, TWO), RuntimeError, r"cannot be multiplied \(2x3 and 4x3\)"),
        ((ONE, OTHER, HALF, TWO, torch.ones(3)), RuntimeError, "Bias must be size 4 but got 3"),
    ],
)
def test_what_is_not_multiplied(given: Any, error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        torch._scaled_mm(*given)
