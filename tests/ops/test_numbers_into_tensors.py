"""What becomes of a Python number that is put into a tensor: it fits, overflows or is refused."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import rushlight as torch

INF = float("inf")
PLACES: tuple[Any, ...] = (0, (0, 1), slice(None), [0, 1], torch.tensor([True, False]))


@pytest.mark.parametrize("place", PLACES, ids=str)
@pytest.mark.parametrize("gradient", [False, True])
def test_elements_of_16_bits_overflow(place: Any, gradient: bool) -> None:
    for dtype, number, wanted in (
        (torch.float16, 1e6, INF),
        (torch.float16, -(2**40), -INF),
        (torch.float16, 65519.0, 65504.0),
        (torch.bfloat16, 1e39, INF),
    ):
        x = torch.zeros(2, 2, dtype=dtype, requires_grad=gradient) * 1
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            x[place] = number
        assert wanted in x.flatten().tolist()
        with pytest.raises(RuntimeError, match="type double without overflow"):
            x[place] = 1j
        with pytest.raises(RuntimeError, match="without overflow"):
            x.fill_(1e39)


@pytest.mark.parametrize("place", PLACES, ids=str)
def test_elements_of_other_dtypes_are_refused(place: Any) -> None:
    for dtype, number, name in (
        (torch.float32, 1e39, "float"),
        (torch.int8, 300, "int8_t"),
        (torch.uint8, -1.0, "uint8_t"),
        (torch.int32, INF, "int"),
        (torch.int64, 1j, "int64_t"),
    ):
        x = torch.zeros(2, 2, dtype=dtype)
        with pytest.raises(RuntimeError, match=f"^value cannot be converted to type {name} with"):
            x[place] = number
        assert not x.any()
    x = torch.zeros(2, 2, dtype=torch.uint8)
    x[place] = -1
    assert 255 in x.flatten().tolist()
    with pytest.raises(ValueError, match="Overflow when unpacking long long"):
        x[place] = 2**63


def scripted_tensor(x: float):
    return torch.tensor(x, dtype=torch.float64)


def test_tensors_of_numbers() -> None:
    scripted = torch.jit.script(scripted_tensor)
    assert scripted(0.1).item() == np.float32(0.1)
    with pytest.raises(RuntimeError, match="value cannot be converted to type float without over"):
        scripted(1e39)
    with pytest.raises(RuntimeError, match="type c10::complex<float> without overflow"):
        torch.ones(1, dtype=torch.complex64).fill_(1e39)
    assert torch.full([1], 1j, dtype=torch.bool).tolist() == [True]
    with pytest.raises(TypeError, match="must be real number, not complex"):
        torch.tensor([1j], dtype=torch.float16)
    with pytest.raises(TypeError, match="'complex' object cannot be interpreted as an integer"):
        torch.tensor(1j, dtype=torch.int8)
    with pytest.raises(RuntimeError, match="Converting complex Scalar to non-complex type"):
        torch.ones(1).index_fill(0, torch.tensor([0]), 2 + 0j)


def test_one_number_goes_where_a_mask_says_whatever_its_dtype() -> None:
    x, mask = torch.zeros(2, 2), torch.tensor([[True, False], [False, True]])
    for value in (
        torch.tensor(3),
        torch.tensor([[3.0]], dtype=torch.float64),
        torch.tensor(3 + 0j),
    ):
        x.zero_()
        x[mask] = value
        assert x.tolist() == [[3, 0], [0, 3]]
    with pytest.raises(RuntimeError, match="Index put requires the source and destination dtypes"):
        x[torch.tensor([0])] = torch.tensor(3)
    with pytest.raises(RuntimeError, match="value cannot be converted to type int8_t without over"):
        x.char()[mask] = torch.tensor(300)


def test_clamp_in_place_names_the_type_of_the_compiler() -> None:
    for dtype, name in (
        (torch.int8, "signed char"),
        (torch.bool, "bool"),
        (torch.int64, "long int"),
    ):
        x = torch.ones(2, dtype=dtype)
        told = f"^result type Float can't be cast to the desired output type {name}$"
        for call, bounds in ((x.clamp_, (None, 0.5)), (x.clamp_min_, (0.5,)), (x.clip_, (0, 2.5))):
            with pytest.raises(RuntimeError, match=told):
                call(*bounds)
    assert torch.ones(1).clamp(max=0.5 + 0j).tolist() == [0.5]


NARROW = (torch.float16, torch.bfloat16)


@pytest.mark.parametrize("dtype", NARROW)
def test_one_element_of_16_bits_is_filled_with_any_number(dtype: torch.dtype) -> None:
    one, two = torch.zeros(1, dtype=dtype), torch.zeros(2, dtype=dtype)
    for made in (one.fill_(1e300), torch.full([], 1e300, dtype=dtype), one.new_full((1,), 1e300)):
        assert made.item() == float("inf")
    with pytest.raises(RuntimeError, match="type double without overflow"):
        one.fill_(2 + 1j)
    for fill in (two.fill_, lambda n: torch.full_like(two, n), lambda n: two.new_full((2,), n)):
        with pytest.raises(RuntimeError, match=r"type c10::\w+ without overflow"):
            fill(1e300)


def test_a_diagonal_refuses_numbers_that_do_not_fit() -> None:
    with pytest.raises(RuntimeError, match="type float without overflow"):
        torch.zeros(2, 2).fill_diagonal_(2 + 1j)
    with pytest.raises(RuntimeError, match="type int8_t without overflow"):
        torch.zeros(2, 2, dtype=torch.int8).fill_diagonal_(300)


def test_arange_refuses_what_it_cannot_count_in() -> None:
    for dtype, name in ((torch.int8, "int64_t"), (torch.int64, "int64_t"), (torch.half, "float")):
        with pytest.raises(RuntimeError, match=f"type {name} without overflow"):
            torch.arange(0, 3, 1e300, dtype=dtype)
    assert torch.arange(0, 3, 1e300).tolist() == [0]


def test_alpha_fits_the_dtypes() -> None:
    x = torch.ones(2)
    for add in (x.add, x.add_, x.sub, x.sub_):
        with pytest.raises(RuntimeError, match="argument alpha must not be a complex number"):
            add(x, alpha=1 + 0j)
    for add in (x.add, x.add_, x.sub):
        with pytest.raises(RuntimeError, match="Boolean alpha only supported for Boolean results"):
            add(x, alpha=True)
    z = torch.ones(2, dtype=torch.complex64)
    assert z.add(x, alpha=2j).tolist() == torch.add(z, z, alpha=2j).tolist() == [1 + 2j] * 2


def of_lists(x: list[int], y: list[float], z: list[bool]):
    return torch.tensor(x), torch.tensor(y), torch.tensor(z), torch.tensor(x, dtype=torch.float64)


@pytest.mark.parametrize("length", [1, 15, 16, 40])
def test_tensors_of_lists_of_any_length_may_be_written(length: int) -> None:
    numbers = [*range(2**62, 2**62 + length)]
    found = torch.jit.script(of_lists)(numbers, [0.1] * length, [True] * length)
    wanted = of_lists(numbers, [0.1] * length, [True] * length)
    for one, other in zip(found, wanted, strict=True):
        assert one.dtype == other.dtype
        assert torch.equal(one, other)
        one[0] = 0
