"""Convolutions and linear layers of bytes by native code: the numbers of exact sums."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops.kernels import family
from rushlight.ops.kernels.code.language.target import Target, host
from rushlight.ops.kernels.code.loading import elf
from rushlight.ops.memory.dtype import Array, dtype_by_name
from rushlight.ops.memory.errors import OperatorError
from rushlight.ops.quantized_tensors import convolution, linear
from rushlight.ops.quantized_tensors.arrays import (
    Quantizer,
    dequantize,
    numbers_of,
    per_tensor,
    quantized_array,
)
from rushlight.ops.quantized_tensors.packed_weights import PackedConvolution, PackedLinear
from rushlight.ops.quantized_tensors.patches import wholes_by_patches

pytestmark = pytest.mark.skipif(
    family("quantized.patches") is None, reason="there is no native code"
)


def image(*sizes: int, seed: int = 0, zero_point: int = 37) -> Array:
    numbers = np.random.default_rng(seed).integers(0, 256, sizes, np.uint8)
    return quantized_array(numbers, dtype_by_name("quint8"), per_tensor(0.1, zero_point))


def packed_linear(inputs: int, outs: int, has_bias: bool = True) -> PackedLinear:
    draw = np.random.default_rng(2)
    numbers = draw.integers(-128, 128, (outs, inputs), np.int8)
    quantizer = Quantizer(draw.random(outs) / 50, np.zeros(outs, np.int64), 0)
    weight = quantized_array(numbers, dtype_by_name("qint8"), quantizer)
    bias = draw.standard_normal(outs).astype(np.float32) if has_bias else None
    return PackedLinear(weight, bias)


def packed(
    outs: int,
    inputs: int,
    kernel: tuple[int, int],
    groups: int = 1,
    stride: tuple[int, int] = (1, 1),
    padding: tuple[int, int] = (0, 0),
    dilation: tuple[int, int] = (1, 1),
    has_bias: bool = True,
) -> PackedConvolution:
    draw = np.random.default_rng(1)
    numbers = draw.integers(-128, 128, (outs, inputs // groups, *kernel), np.int8)
    scales = draw.random(outs) / 50
    quantizer = Quantizer(scales, np.zeros(outs, np.int64), 0)
    weight = quantized_array(numbers, dtype_by_name("qint8"), quantizer)
    bias = draw.standard_normal(outs).astype(np.float32) if has_bias else None
    sizes = [list(each) for each in (stride, padding, dilation, (0, 0))]
    return PackedConvolution(weight, bias, *sizes, groups, False)


CASES = [
    ((2, 8, 7, 9), packed(16, 8, (3, 3), padding=(1, 1))),
    ((1, 3, 11, 13), packed(5, 3, (5, 3), stride=(2, 3), padding=(2, 0))),
    ((1, 6, 9, 8), packed(33, 6, (2, 2), dilation=(2, 3), padding=(0, 2), has_bias=False)),
    ((2, 16, 5, 6), packed(70, 16, (1, 1))),
    ((1, 16, 5, 6), packed(8, 16, (1, 1), stride=(2, 2))),
    ((1, 12, 6, 7), packed(6, 12, (3, 3), groups=3, padding=(1, 1))),
    ((2, 6, 6, 7), packed(4, 6, (3, 2), groups=2, padding=(1, 1), stride=(1, 2))),
    ((1, 20, 6, 7), packed(20, 20, (3, 3), groups=20, padding=(1, 1))),
    ((1, 4, 6, 7), packed(8, 4, (3, 3), groups=4, dilation=(1, 2))),
    ((1, 1, 4, 30), packed(1, 1, (2, 2))),
    ((1, 144, 5, 13), packed(144, 144, (3, 3), groups=144, padding=(1, 1))),
    ((1, 40, 5, 11), packed(40, 40, (2, 3), groups=40, stride=(1, 2))),
    ((2, 3, 5, 45), packed(96, 3, (3, 3), padding=(1, 1), has_bias=False)),
    ((1, 4, 5, 21), packed(24, 4, (1, 1))),
    ((1, 112, 5, 45), packed(112, 112, (5, 5), groups=112, padding=(2, 2), has_bias=False)),
    ((2, 32, 1, 6), packed(32, 32, (3, 4), groups=32, padding=(1, 2))),
    ((1, 16, 6, 3), packed(16, 16, (3, 3), groups=16, padding=(1, 1))),
    ((2, 20, 8, 9), packed(5, 20, (1, 1))),
]


@pytest.mark.parametrize(("sizes", "weights"), CASES)
@pytest.mark.parametrize("is_last", [False, True])
def test_sums_and_bytes_are_exact(
    sizes: tuple[int, ...],
    weights: PackedConvolution,
    is_last: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    check_sums_and_bytes(image(*sizes), weights, is_last, monkeypatch)


@pytest.mark.skipif(not elf.is_known(), reason="code for x86-64")
@pytest.mark.parametrize(("sizes", "weights"), CASES)
def test_cpus_without_instructions_for_bytes_give_the_same(
    sizes: tuple[int, ...], weights: PackedConvolution, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not host().has_fma:
        pytest.skip("this CPU cannot run it")
    for module in (family("quantized.integers"), family("quantized.patches")):
        monkeypatch.setattr(module, "kernel", for_haswell)
    check_sums_and_bytes(image(*sizes), copy.deepcopy(weights), False, monkeypatch)


_MADE: dict[tuple[object, ...], int] = {}


def for_haswell(name: str, parameters: tuple[str | int, ...], text: Callable[[Target], str]) -> int:
    from rushlight.ops.kernels.code.loading.assemble import assembled, placed

    target, key = Target("haswell", True, False, False, "haswell", ""), (name, *parameters)
    if key not in _MADE:
        _MADE[key] = placed(assembled(text(target), target), (name,))[name]
    return _MADE[key]


def check_sums_and_bytes(
    x: Array, weights: PackedConvolution, is_last: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if is_last:
        last = np.ascontiguousarray(numbers_of(x).transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
        x = quantized_array(last, dtype_by_name("quint8"), per_tensor(0.1, 37))
    sums = wholes_by_patches(numbers_of(x), 37, weights)
    assert sums is not None
    exact = convolution._sums(
        linear.centred(x, "")[0], linear.centred(weights.weight, "")[0], weights
    )
    assert np.array_equal(sums, exact)
    for relu in (False, True):
        made = convolution._static(x, weights, 0.7, 90, relu)
        with monkeypatch.context() as without:
            without.setattr(convolution, "bytes_by_patches", lambda *given: None)
            without.setattr(convolution, "wholes_by_patches", lambda *given: None)
            wanted = convolution._static(x, weights, 0.7, 90, relu)
        assert np.array_equal(numbers_of(made), numbers_of(wanted))
        assert len(np.unique(numbers_of(made))) > 3


def test_results_lie_with_their_channels_last() -> None:
    made = convolution._static(image(1, 8, 5, 5), CASES[0][1], 0.7, 90, False)
    assert numbers_of(made).transpose(0, 2, 3, 1).flags.c_contiguous
    again = convolution._static(made, packed(4, 16, (3, 3)), 0.5, 3, False)
    numbers = numbers_of(made).copy("C")
    whole = quantized_array(numbers, dtype_by_name("quint8"), per_tensor(0.7, 90))
    other = convolution._static(whole, packed(4, 16, (3, 3)), 0.5, 3, False)
    assert np.array_equal(numbers_of(again), numbers_of(other))


@pytest.mark.parametrize(
    ("rows", "inputs", "outs"), [(1, 5, 3), (7, 64, 33), (4, 130, 64), (9, 12, 250)]
)
@pytest.mark.parametrize("has_bias", [False, True])
def test_linear_layers_give_the_bytes_of_exact_sums(
    rows: int, inputs: int, outs: int, has_bias: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    layer = packed_linear(inputs, outs, has_bias)
    x = image(rows, inputs)
    for relu in (False, True):
        made = linear._static(layer, x, 0.3, 100, relu)
        with monkeypatch.context() as without:
            without.setattr(linear, "bytes_by_panels", lambda *given: None)
            wanted = linear._static(layer, x, 0.3, 100, relu)
        assert np.array_equal(numbers_of(made), numbers_of(wanted))


def test_what_is_not_for_native_code_is_computed_otherwise() -> None:
    weights = packed(4, 4, (2, 2))
    weights.weight.quantizer = per_tensor(0.1, 3)  # a zero point
    assert wholes_by_patches(numbers_of(image(1, 4, 5, 5)), 37, weights) is None
    assert convolution._static(image(1, 4, 5, 5), weights, 0.7, 90, False).shape == (1, 4, 4, 4)


def test_images_that_are_too_small_are_refused_as_before() -> None:
    layer = torch.ao.nn.quantized.Conv2d(4, 4, 3)
    x = torch.quantize_per_tensor(torch.ones(1, 4, 2, 2), 0.1, 0, torch.quint8)
    with pytest.raises(RuntimeError):
        layer(x)
    with pytest.raises(RuntimeError):
        layer(torch.quantize_per_tensor(torch.ones(1, 5, 4, 4), 0.1, 0, torch.quint8))


@pytest.mark.parametrize(("sizes", "weights"), CASES)
def test_calls_that_are_known_beforehand_give_the_same_bytes(
    sizes: tuple[int, ...], weights: PackedConvolution, monkeypatch: pytest.MonkeyPatch
) -> None:
    for turn in range(6):
        x = image(*sizes, seed=turn)
        made = convolution._static(x, weights, 0.7, 90, False)
        with monkeypatch.context() as without:
            without.setattr(convolution, "bytes_by_patches", lambda *given: None)
            without.setattr(convolution, "wholes_by_patches", lambda *given: None)
            wanted = convolution._static(x, weights, 0.7, 90, False)
        assert np.array_equal(numbers_of(made), numbers_of(wanted))
    wanted_zero = convolution._static(image(*sizes, zero_point=11), weights, 0.7, 90, False)
    fresh = PackedConvolution(
        weights.weight,
        weights.bias,
        *(weights.stride, weights.padding, weights.dilation, weights.output_padding),
        *(weights.groups, False),
    )
    again = convolution._static(image(*sizes, zero_point=11), fresh, 0.7, 90, False)
    assert np.array_equal(numbers_of(wanted_zero), numbers_of(again))


def test_layers_ask_again_where_ranges_or_sizes_are_others() -> None:
    filters, layer = packed(20, 20, (3, 3), groups=20, padding=(1, 1)), packed_linear(64, 33)
    convolve, product = torch.ops.quantized.conv2d.new, torch.ops.quantized.linear
    for sizes, weights, call, slow in (
        ((2, 20, 6, 7), filters, convolve, convolution._static),
        ((2, 64), layer, product, lambda x, *given: linear._static(layer, x, *given[1:])),
    ):
        for turn, (zero_point, scale, wanted_zero, first) in enumerate(
            [(37, 0.7, 90, 2)] * 4 + [(11, 0.7, 90, 2), (11, 0.7, 3, 2), (11, 0.4, 3, 2)]
            + [(11, 0.4, 3, 1)] * 2 + [(37, 0.7, 90, 2)]
        ):  # fmt: skip
            x = image(first, *sizes[1:], seed=turn, zero_point=zero_point)
            made = call(torch.Tensor._of(x), weights, scale, wanted_zero)
            wanted = slow(x, copy.deepcopy(weights), scale, wanted_zero, False)
            assert np.array_equal(numbers_of(made._array), numbers_of(wanted))
            assert (made.q_scale(), made.q_zero_point()) == (scale, wanted_zero)
        signed = numbers_of(image(*sizes)).view(np.int8)
        other = quantized_array(signed, dtype_by_name("qint8"), per_tensor(0.1, 37))
        if call is product:
            with pytest.raises(RuntimeError, match="QUInt8"):
                call(torch.Tensor._of(other), weights, 0.7, 90)
        with pytest.raises(RuntimeError):
            call(torch.Tensor._of(image(2, 3, *sizes[2:])), weights, 0.7, 90)


@pytest.mark.parametrize("inputs", [64, 61])
def test_dynamic_calls_that_are_known_beforehand(
    inputs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    layer = packed_linear(inputs, 33)
    draw = np.random.default_rng(4)
    for turn in range(6):
        x = (draw.standard_normal((5, inputs)) * (turn + 1)).astype(np.float32)
        made = linear.dynamic_linear(x, layer, False)
        with monkeypatch.context() as without:
            without.setattr(linear, "floats_by_panels", lambda *given: None)
            wanted = linear.dynamic_linear(x, layer, False)
        assert np.allclose(made, wanted, rtol=1e-5, atol=1e-5)
    x[3, 7] = np.nan
    with pytest.raises(OperatorError, match="NaN"):
        linear.dynamic_linear(x, layer, False)
    x[3, 7] = 0.5
    assert np.isfinite(linear.dynamic_linear(x, layer, False)).all()


def test_the_range_of_many_elements_is_found_in_parts() -> None:
    layer = packed_linear(64, 3)
    x = np.random.default_rng(5).random((1100, 64)).astype(np.float32)
    for place, number in ((0, -3.0), (-1, 9.0), (-1, np.nan)):
        x.reshape(-1)[place] = number
        if np.isnan(number):
            with pytest.raises(OperatorError, match="NaN"):
                linear.dynamic_linear(x, layer, False)
        else:
            wanted = x @ dequantize(layer.weight).T + layer.bias
            assert np.abs(linear.dynamic_linear(x, layer, False) - wanted).max() < 0.5


def test_copies_hold_nothing_of_native_code() -> None:
    weights, layer = packed(8, 4, (3, 3)), packed_linear(8, 4)
    convolution._static(image(1, 4, 6, 6), weights, 0.7, 90, False)
    linear._static(layer, image(2, 8), 0.3, 100, False)
    for each in (weights, layer):
        assert each.panels
        assert each.kept
        for other in (copy.deepcopy(each), pickle.loads(pickle.dumps(each))):
            assert other.panels is None
            assert other.kept is None
            assert np.array_equal(numbers_of(other.weight), numbers_of(each.weight))
