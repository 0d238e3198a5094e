"""torch's sentences where functions of dtypes are given something else."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import rushlight as torch


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: torch.promote_types(1, 2),
            "promote_types(): argument 'type1' (position 1) must be torch.dtype, not int",
        ),
        (
            lambda: torch.promote_types(torch.int, "a"),
            "promote_types(): argument 'type2' (position 2) must be torch.dtype, not str",
        ),
        (
            lambda: torch.can_cast(torch.int, "a"),
            "can_cast(): argument 'to' (position 2) must be torch.dtype, not str",
        ),
        (
            lambda: torch.finfo(1),
            "finfo(): argument 'type' (position 1) must be torch.dtype, not int",
        ),
        (
            lambda: torch.finfo(torch.int),
            "torch.finfo() requires a floating point input type. Use torch.iinfo to handle "
            "'torch.finfo'",
        ),
        (
            lambda: torch.iinfo(None),
            "iinfo(): argument 'type' (position 1) must be torch.dtype, not NoneType",
        ),
        (
            lambda: torch.iinfo(torch.float),
            "torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.iinfo'",
        ),
    ],
)
def test_what_is_no_dtype_is_named(call: Callable[[], object], sentence: str) -> None:
    with pytest.raises(TypeError) as caught:
        call()
    assert str(caught.value) == sentence


def test_types_of_python_are_dtypes() -> None:
    assert torch.promote_types(float, int) == torch.float64
    assert torch.finfo(float).bits == 64


def test_limits_of_one_dtype_are_equal() -> None:
    assert torch.finfo() == torch.finfo(torch.float32) == torch.finfo(torch.complex64)
    assert torch.finfo() != torch.finfo(torch.float64)
    assert torch.iinfo(torch.int8) == torch.iinfo(torch.int8) != torch.iinfo(torch.uint8)


@pytest.mark.parametrize("dtype", [torch.bool, torch.int64, torch.float8_e4m3fn])
def test_not_every_dtype_has_a_complex_one(dtype: torch.dtype) -> None:
    assert torch.bfloat16.to_complex() == torch.complex64
    with pytest.raises(RuntimeError, match="Unknown Complex ScalarType for"):
        dtype.to_complex()


@pytest.mark.parametrize(("sizes", "dims"), [((1, 1, 2, 2), 4), ((1, 1, 2), 5)])
def test_grids_are_asked_for_as_many_dimensions_as_images_have(
    sizes: tuple[int, ...], dims: int
) -> None:
    grid = torch.ones(1, 2, len(sizes) - 2)
    with pytest.raises(RuntimeError, match=rf"expected {dims}D input and grid with same number"):
        torch.nn.functional.grid_sample(torch.ones(sizes), grid, align_corners=False)


def test_resolutions_are_whole_digits() -> None:
    dtypes = (torch.float16, torch.bfloat16, torch.float64, torch.float8_e5m2, torch.float8_e4m3fn)
    assert [torch.finfo(dtype).resolution for dtype in dtypes] == [1e-3, 1e-2, 1e-15, 1, 1]


def test_short_names() -> None:
    names = "uint8 int64 float16 bfloat16 complex64 bool float8_e4m3fn quint4x2"
    short = [getattr(torch, name).abbr for name in names.split()]
    assert short == ["u8", "i64", "f16", "bf16", "c64", "b8", "f8e4m3fn", "quint4x2"]
