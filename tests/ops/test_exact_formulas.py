"""Formulas that must give NumPy's bits: quotients, signs, thresholds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops import kernels

pytestmark = pytest.mark.skipif(
    kernels.family("elementwise.arrays") is None, reason="no native code here"
)

F = np.float32
WHOLE = [0, 1, -1, 2, -2, 7, -7, 255, 2**31, -(2**31), 2**51 - 1, -(2**51), 2**51, 2**53 + 1]
WHOLE += [-(2**53) - 1, 2**62 + 1, 2**63 - 1, -(2**63), -(2**63) + 1]
REAL = [0.0, -0.0, 1e-45, 0.5, -0.5, 1, -1, 3, -3, 0.7, 1e10, -1e10, 3e38, math.inf, -math.inf]
REAL += [math.nan, 16777217.0, 5.9999995]


def apply(name: str, *operands: Any) -> Any:
    return kernels.family("elementwise.arrays").apply(name, operands)


def pairs(numbers: list[Any], dtype: Any) -> tuple[Any, Any]:
    """Every number with every other one, and some thousands at random."""
    random = np.random.default_rng(3)
    edges = [each.ravel() for each in np.meshgrid(*2 * [np.array(numbers, dtype)])]
    if dtype is F:
        more = [9 * random.standard_normal(9000).astype(F) for _ in range(2)]
    else:
        ends = np.iinfo(dtype)
        more = [random.integers(ends.min, ends.max, 9000, dtype) >> np.int8(3) for _ in range(2)]
    joined = [np.concatenate(each) for each in zip(edges, more, strict=True)]
    return joined[0], joined[1]


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.int8])
def test_whole_numbers_are_divided_as_by_numpy(dtype: Any) -> None:
    ends = np.iinfo(dtype)
    x, y = pairs([each for each in WHOLE if ends.min <= each <= ends.max], dtype)
    x, y = x[y != 0], y[y != 0]
    with np.errstate(all="ignore"):
        floor, rest = np.floor_divide(x, y), np.remainder(x, y)
        cut = floor + ((rest != 0) & ((x < 0) != (y < 0)))
        left = np.fmod(x, y)
    assert np.array_equal(apply("floor_divide", x, y), floor)
    assert np.array_equal(apply("remainder", x, y), rest)
    assert np.array_equal(apply("trunc_divide", x, y), cut.astype(dtype))
    assert np.array_equal(apply("fmod", x, y), left)


def test_floats_are_divided_and_rounded_down_as_by_numpy() -> None:
    x, y = pairs(REAL, F)
    with np.errstate(all="ignore"):
        want = np.floor_divide(x, y)
    made = apply("floor_divide", x, y)
    assert np.array_equal(made, want, equal_nan=True)
    assert np.array_equal(np.signbit(made[want == 0]), np.signbit(want[want == 0]))


SLOPES = {
    **{"tanh": (), "sigmoid": (), "threshold": (0.7,), "leaky_relu": (0.2, False)},
    **{"hardtanh": (-1, 3), "hardshrink": (0.7,), "hardsigmoid": (), "hardswish": ()},
}


@pytest.mark.parametrize("name", SLOPES)
def test_slopes_are_the_same_in_large_tensors_and_small_ones(name: str) -> None:
    run = getattr(torch.ops.aten, f"{name}_backward")
    g, x = map(torch.from_numpy, pairs(REAL, F))
    made = run(g, x, *SLOPES[name])
    parts = [run(*two, *SLOPES[name]) for two in zip(g.split(999), x.split(999), strict=True)]
    assert np.array_equal(made.numpy(), torch.cat(parts).numpy(), equal_nan=True)


def test_float64_leaves_rests_as_numpy_does() -> None:
    """Of quotients that are small, large, and beyond all numbers."""
    random = np.random.default_rng(5)
    ends = [0.0, -0.0, 1.0, -3.0, math.inf, -math.inf, math.nan, 5e-324, 1e308, -1e308, 1e-308, 0.7]
    edges = [each.ravel() for each in np.meshgrid(ends, ends)]
    wide = [np.exp(random.uniform(-700, 700, 9000)) * random.choice([-1, 1], 9000) for _ in "xy"]
    near = [random.standard_normal(9000) * factor for factor in (50, 3)]
    x, y = (np.concatenate(each) for each in zip(edges, wide, near, strict=True))
    with np.errstate(all="ignore"):
        wanted = {"fmod": np.fmod(x, y), "floor_divide": np.floor_divide(x, y)}
    for name, want in wanted.items():
        made = apply(name, x, y)
        if made is None:  # there is no fused operation
            continue
        assert np.array_equal(made, want, equal_nan=True)
        is_number = ~np.isnan(want)
        assert np.array_equal(np.signbit(made)[is_number], np.signbit(want)[is_number])


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 60, reason="nothing to compare with")
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_sizes_of_complex_numbers_are_rounded_once(dtype: type[np.complexfloating]) -> None:
    random = np.random.default_rng(6)
    parts = random.standard_normal((2, 5003)) * 10.0 ** random.integers(-30, 30, 5003)
    z = (parts[0] + 1j * parts[1]).astype(dtype)
    exact = np.hypot(z.real.astype(np.longdouble), z.imag.astype(np.longdouble))
    made = torch.from_numpy(z).abs().numpy()
    assert (np.abs(made - exact) / np.spacing(made)).max() < 0.501
    assert torch.equal(torch.from_numpy(z[:3]).abs(), torch.from_numpy(made[:3]))


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128])
def test_complex_numbers_are_close_up_to_the_bound(dtype: torch.dtype) -> None:
    x = torch.tensor([2 + 4j, 2 + 4j, 3 - 3j], dtype=dtype)
    other = torch.tensor([1 + 8.8523607j, 1 + 8.8523617j, 1.5 - 1.5j], dtype=dtype)
    assert torch.isclose(x, other, atol=0.5, rtol=0.5).tolist() == [True, False, False]


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 60, reason="nothing to compare with")
@pytest.mark.parametrize("name", ["hypot", "atan2", "logaddexp"])
def test_functions_of_two_float64_are_right(name: str) -> None:
    random = np.random.default_rng(6)
    ends = [0.0, -0.0, 1.0, -3.0, math.inf, -math.inf, math.nan, 5e-324, 1e300, -1e300, 1e-308]
    edges = [each.ravel() for each in np.meshgrid(ends, ends)]
    x, y = (np.concatenate([each, 5 * random.standard_normal(20_000)]) for each in edges)
    kernel = {"hypot": np.hypot, "atan2": np.arctan2, "logaddexp": np.logaddexp}[name]
    with np.errstate(all="ignore"):
        exact = kernel(x.astype(np.longdouble), y.astype(np.longdouble))
        want, made = exact.astype(float), apply(name, x, y)
        apart = np.abs(made - exact) / np.spacing(np.maximum(np.abs(want), 1e-300))
    plain = np.isfinite(want)
    if name == "logaddexp":  # near 0 what is left of a difference has no digits
        plain &= np.abs(want) > 0.5
    assert np.array_equal(made[~np.isfinite(want)], want[~np.isfinite(want)], equal_nan=True)
    assert apart[plain].max() < (0.501 if name == "hypot" else 2.5)
    assert np.array_equal(np.signbit(made[plain]), np.signbit(want[plain]))


@pytest.mark.parametrize(
    "call",
    [
        "torch.sign(x)",
        "torch.sgn(x)",
        "torch.frac(x)",
        "torch.copysign(x, x.flip(0))",
        "torch.copysign(x, -2.0)",
        "torch.deg2rad(x)",
        "torch.rad2deg(x)",
        "torch.threshold(x, 0.1, 20.0)",
        "torch.nn.functional.softshrink(x, 0.3)",
        "torch.nn.functional.hardshrink(x, 0.3)",
        "torch.nan_to_num(x, 1.5)",
        "torch.selu(x)",
        "torch.celu(x, 0.3)",
        "torch.logit(x, 0.01)",
        "torch.pow(x, 3.0)",
        "torch.pow(x, -1.0)",
        "torch.pow(x, -0.5)",
        "torch.pow(x, 2.5)",
        "torch.pow(2.0, x)",
        "torch.floor_divide(x, x.flip(0))",
    ],
)
def test_calls_that_are_learned_give_the_bits_of_the_first(call: str) -> None:
    edges = torch.tensor([*REAL, 0.25, 0.75, -0.25])
    x = torch.cat([torch.linspace(-3, 3, 12_000), edges])
    run = eval(f"lambda x: {call}", {"torch": torch})
    first = run(x).numpy().copy()
    for _ in range(70):
        again = run(x)
    assert again.numpy().tobytes() == first.tobytes()
    part = run(x[-64:])
    if "flip" not in call:
        same = np.array_equal(part.numpy(), first[-64:], equal_nan=True)
        assert same, "sizes differ in bits"


@pytest.mark.parametrize("name", ["exp", "expm1", "log", "log1p", "special_expit", "special_exp2"])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_few_16_bit_floats_are_computed_the_same_once_learned(name: str, dtype: Any) -> None:
    x = torch.cat([torch.linspace(-3, 9, 500), torch.tensor([0.0, -0.0, math.inf, math.nan])])
    x, run = x.to(dtype), getattr(torch.ops.aten, name).default
    eager = getattr(torch.special if "special" in name else torch, name.removeprefix("special_"))
    first = run(x).float().numpy()
    for _ in range(70):
        again = eager(x)
    assert np.array_equal(again.float().numpy(), first, equal_nan=True)


def test_an_operator_of_a_second_name_is_called_as_the_first_is() -> None:
    from rushlight.ops.table.direct import by_first_name, has_direct_form
    from rushlight.ops.table.table import TABLE

    for second, first in [
        ("true_divide.Tensor", "div.Tensor"),
        ("special_exp2", "exp2"),
        ("subtract_.Tensor", "sub_.Tensor"),
    ]:
        entry = TABLE.operator(f"aten::{second}")
        assert entry is not None
        assert has_direct_form(entry)
        assert by_first_name(entry) is TABLE.operator(f"aten::{first}")
    entry = TABLE.operator("aten::swapaxes")  # whose arguments have other names
    assert entry is not None
    assert by_first_name(entry) is entry
