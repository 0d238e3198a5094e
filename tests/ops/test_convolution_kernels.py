"""Convolutions in native code: exact where sums are, and the same bits however they are shared."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rushlight.ops import kernels
from rushlight.ops.kernels import threads
from rushlight.ops.kernels.code.convolutions import convolutions, transposed
from rushlight.ops.kernels.code.convolutions import descents as convolution_descents
from rushlight.ops.kernels.code.convolutions import plans as convolution_plans
from rushlight.ops.kernels.code.convolutions import point_plans as convolution_point_plans
from rushlight.ops.kernels.code.convolutions import square_plans as convolution_square_plans
from rushlight.ops.kernels.code.convolutions import squares as convolution_squares
from rushlight.ops.kernels.code.convolutions import strips as convolution_strips
from rushlight.ops.kernels.code.language.target import Target, host
from rushlight.ops.kernels.code.language.tiles import Tile
from rushlight.ops.kernels.code.loading import elf
from rushlight.ops.layers import convolution, plain_convolution, transposed_convolution
from rushlight.ops.memory.dtype import DTYPES
from rushlight.ops.memory.errors import OperatorError

pytestmark = pytest.mark.skipif(
    kernels.family("elementwise.arrays") is None, reason="no native code here"
)

F = np.float32
PLAIN = Target("plain", False, False, False, "x86-64", "+sse2")
HASWELL = Target("haswell", True, False, False, "haswell", "")
UNREMEMBERED = convolutions.settled._make


def convolved(*given: Any) -> Any:
    return convolution._filled(convolution._natively(*given))


@st.composite
def settings_of_convolutions(draw: st.DrawFn) -> dict[str, Any]:
    small = st.integers(1, 3)
    kernel = (draw(st.sampled_from((1, 1, 2, 3))), draw(small), draw(st.integers(1, 5)))
    stride, dilation = (draw(st.tuples(small, small, small)) for _ in range(2))
    pads = tuple((draw(st.integers(0, 2)), draw(st.integers(0, 3))) for _ in range(3))
    pads = pads if kernel[0] > 1 else ((0, 0), *pads[1:])
    output = (
        draw(small) if kernel[0] > 1 else 1,
        draw(st.integers(1, 11)),
        draw(st.integers(1, 40)),
    )
    space = [
        (o - 1) * s + d * (k - 1) + 1 - sum(p)
        for o, s, d, k, p in zip(output, stride, dilation, kernel, pads, strict=True)
    ]
    groups, made = draw(small), draw(st.sampled_from((1, 3, 7, 8, 16, 33, 50)))
    channels = draw(st.integers(1, 5))
    return {
        "x": (draw(small), channels * groups, *(max(1, size) for size in space)),
        "weight": (made * groups, channels, *kernel),
        "stride": stride,
        "pads": pads,
        "dilation": dilation,
        "groups": groups,
    }


def whole_numbers(shape: Any, seed: int = 0) -> Any:
    """Small ones, whose sums of products are exact in whatever order."""
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(F)


@settings(max_examples=80, deadline=None)
@given(settings_of_convolutions())
def test_all_settings(given: dict[str, Any]) -> None:
    x, weight, stride, pads, dilation, groups = given.values()
    x, weight = whole_numbers(x), whole_numbers(weight, 1)
    bias = whole_numbers(weight.shape[0], 2)
    output = plain_convolution.sizes_of(x, weight.shape[2:], stride, pads, dilation)
    if min(output) < 1:
        return
    made = convolved(x, weight, bias, output, stride, pads, dilation, groups)
    wide = x.astype(np.float64), weight.astype(np.float64)
    wanted = plain_convolution.forward(*wide, stride, pads, dilation, groups)
    assert np.array_equal(made, wanted + bias.reshape(-1, 1, 1, 1))


def test_deep_windows_of_few_channels_are_strips() -> None:
    ones, pads = (1, 1, 1), ((1, 1),) * 3
    for channels, made, groups, is_strip in ((16, 16, 16, 1), (4, 2, 1, 1), (16, 16, 1, 0)):
        weight = (made, channels // groups, 3, 3, 3)
        found = convolutions.settled(
            (1, channels, 6, 9, 20), weight, (6, 9, 20), ones, pads, ones, groups
        )
        assert (found.form is convolution_strips) == is_strip


def test_planes_before_and_behind_the_input_are_zeros() -> None:
    x, weight = whole_numbers((2, 3, 4, 5, 18)), whole_numbers((6, 1, 3, 2, 3), 1)
    bias, ones = whole_numbers(6, 2), (1, 1, 1)
    pads, stride, dilation = ((5, 3), (1, 0), (1, 1)), (2, 1, 1), (2, 1, 1)
    output = plain_convolution.sizes_of(x, (3, 2, 3), stride, pads, dilation)
    made = convolved(x, weight, bias, output, stride, pads, dilation, 3)
    wide_ones = x.astype(np.float64), weight.astype(np.float64)
    wanted = plain_convolution.forward(*wide_ones, stride, pads, dilation, 3)
    assert np.array_equal(made, wanted + bias.reshape(-1, *ones))


@settings(max_examples=60, deadline=None)
@given(
    *(st.integers(1, 3), st.integers(1, 3), st.integers(1, 2), st.sampled_from((3, 5, 7))),
    *(st.integers(1, 2), st.tuples(*[st.integers(0, 8)] * 4), st.integers(1, 60)),
    st.integers(9, 40),
)
def test_depthwise_squares(
    samples: int,
    groups: int,
    made: int,
    window: int,
    step: int,
    pads: tuple[int, int, int, int],
    high: int,
    wide: int,
) -> None:
    space = [(n - 1) * step + window for n in (high, wide)]
    each = [(min(a, b), c) for a, b, c in zip(pads[:2], space, pads[2:], strict=True)]
    rows, columns = (max(1, n - sum(p)) for n, p in zip(space, each, strict=True))
    x, weight = (samples, groups, 1, rows, columns), (made * groups, 1, 1, window, window)
    x, weight = whole_numbers(x), whole_numbers(weight, 1)
    bias, steps, ones = whole_numbers(made * groups, 2), (1, step, step), (1, 1, 1)
    around = (0, 0), *each
    output = plain_convolution.sizes_of(x, (1, window, window), steps, around, ones)
    found = convolved(x, weight, bias, output, steps, around, ones, groups)
    numbers = x.astype(np.float64), weight.astype(np.float64)
    wanted = plain_convolution.forward(*numbers, steps, around, ones, groups)
    assert np.array_equal(found, wanted + bias.reshape(-1, *ones))


def test_depthwise_squares_go_down_the_rows_where_they_fill_vectors() -> None:
    if not host().has_scaling:
        pytest.skip("vectors are short here")
    for wide, window, step, goes in ((9, 3, 1, 1), (8, 3, 1, 0), (7, 5, 1, 1), (7, 3, 2, 1)):
        steps, pads = (1, step, step), ((0, 0), *((window // 2,) * 2,) * 2)
        output = (1, *(-(-n // step) for n in (10, wide * step)))
        x, weight = (1, 6, 1, 10, wide * step), (6, 1, 1, window, window)
        found = convolutions.settled(x, weight, output, steps, pads, (1, 1, 1), 6)
        assert (found.form is convolution_descents) == goes


@settings(max_examples=60, deadline=None)
@given(
    *(st.integers(1, 3), st.integers(1, 7), st.integers(1, 20), st.integers(1, 40)),
    *(st.integers(1, 4), st.integers(1, 3), st.integers(1, 3), st.integers(1, 2)),
)
def test_planes_that_keep_their_sizes(
    samples: int, groups: int, high: int, wide: int, tall: int, across: int, far: int, made: int
) -> None:
    """Depthwise, as many zeros around them as windows reach; the ends need not be equal."""
    x, weight = (samples, groups, 1, high, wide), (made * groups, 1, 1, tall, 2 * across - 1)
    x, weight = whole_numbers(x), whole_numbers(weight, 1)
    bias, ones = whole_numbers(weight.shape[0], 2), (1, 1, 1)
    reach = far * (tall - 1), far * (across - 1)
    pads = (0, 0), (reach[0] // 2, reach[0] - reach[0] // 2), (reach[1], reach[1])
    given = (1, high, wide), ones, pads, (1, far, far), groups
    wide_ones = x.astype(np.float64), weight.astype(np.float64)
    wanted = plain_convolution.forward(*wide_ones, ones, pads, (1, far, far), groups)
    assert np.array_equal(convolved(x, weight, bias, *given), wanted + bias.reshape(-1, 1, 1, 1))


def test_planes_with_numbers_that_are_not_finite_touch_no_others() -> None:
    x, weight = np.ones((1, 8, 1, 7, 7), F), np.ones((8, 1, 1, 3, 3), F)
    x[0, 2], weight[5, 0, 0, 0, 0] = np.nan, np.inf
    ones, pads = (1, 1, 1), ((0, 0), (1, 1), (1, 1))
    made = convolved(x, weight, None, (1, 7, 7), ones, pads, ones, 8)
    assert np.isnan(made[0, 2]).all()
    assert np.isfinite(made[0, [0, 1, 3, 4, 6, 7]]).all()
    assert np.isnan(made[0, 5, 0, 0]).all()  # zeros around the plane times what is infinite
    assert np.isinf(made[0, 5, 0, 1:, 1:]).all()


@settings(max_examples=60, deadline=None)
@given(
    *(st.integers(1, 3), st.integers(1, 3), st.integers(1, 420), st.integers(8, 27)),
    *(st.integers(1, 7), st.integers(32, 90), st.integers(1, 2), st.integers(0, 1)),
)
def test_single_numbers(
    samples: int, groups: int, depth: int, made: int, high: int, wide: int, stride: int, pad: int
) -> None:
    """Windows of one number: in their places, and where padding or strides move them."""
    x, weight = (samples, depth * groups, high, wide), (made * groups, depth, 1, 1)
    x, weight = whole_numbers(x), whole_numbers(weight, 1)
    bias = whole_numbers(weight.shape[0], 2)
    pads, steps = ((pad, pad),) * 2, (stride,) * 2
    output = plain_convolution.sizes_of(x, (1, 1), steps, pads, (1, 1))
    made_of = convolved(x, weight, bias, output, steps, pads, (1, 1), groups)
    wide_ones = x.astype(np.float64), weight.astype(np.float64)
    wanted = plain_convolution.forward(*wide_ones, steps, pads, (1, 1), groups)
    assert np.array_equal(made_of, wanted + bias.reshape(-1, 1, 1))


def test_single_numbers_that_are_not_finite_stay_in_their_places() -> None:
    x, weight = np.ones((1, 5, 6, 11), F), np.ones((9, 5, 1, 1), F)
    x[0, 1, 2, 3], x[0, 4, 0, 0], x[0, 0, 5, 10], weight[7, 2] = np.inf, np.nan, -np.inf, np.inf
    made = convolved(x, weight, None, (6, 11), (1, 1), ((0, 0),) * 2, (1, 1), 1)
    wanted = np.einsum("ochw,nchw->nohw", weight[:, :, :1] * np.ones((6, 11), F), x)
    assert np.array_equal(made, wanted, equal_nan=True)
    assert np.isfinite(made[0, :7]).sum() == 7 * 63


def squared(x: Any, weight: Any, bias: Any, pads: Any, groups: int = 1, far: Any = (1, 1)) -> Any:
    """The convolution, made in squares."""
    ones, pads, far = (1, 1, 1), ((0, 0), *pads), (1, *far)
    x, weight = x[:, :, None], weight[:, :, None]
    output = plain_convolution.sizes_of(x, weight.shape[2:], ones, pads, far)
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(convolutions, "are_squares", lambda *_: True)
        changed.setattr(convolutions, "settled", UNREMEMBERED)
        made = convolution._natively(x, weight, bias, output, ones, pads, far, groups)
    assert made.settled.form is convolution_squares
    return convolution._filled(made)[:, :, 0]


@settings(max_examples=80, deadline=None)
@given(
    *(st.integers(1, 3), st.integers(1, 2), st.integers(1, 40), st.integers(8, 70)),
    *(st.integers(3, 21), st.integers(3, 41)),
    *(st.tuples(st.integers(0, 3), st.integers(0, 2)) for _ in range(2)),
    st.one_of(st.just((1, 1)), st.tuples(st.integers(1, 7), st.integers(1, 20))),
)
def test_squares(
    samples: int,
    groups: int,
    depth: int,
    made: int,
    high: int,
    wide: int,
    above: Any,
    beside: Any,
    far: Any,
) -> None:
    """All sizes, and zeros on all sides; halves and quarters of small whole numbers are exact."""
    high, wide = high + 2 * far[0] - 2, wide + 2 * far[1] - 2
    x = whole_numbers((samples, depth * groups, high, wide))
    weight, bias = whole_numbers((made * groups, depth, 3, 3), 1), whole_numbers(made * groups, 2)
    found = squared(x, weight, bias, (above, beside), groups, far)
    wide_ones = x.astype(np.float64), weight.astype(np.float64)
    wanted = plain_convolution.forward(*wide_ones, (1, 1), (above, beside), far, groups)
    assert np.array_equal(found, wanted + bias.reshape(-1, 1, 1))


def test_squares_are_made_where_they_are_less_work() -> None:
    def form(x: Any, weight: Any, stride: int, far: int) -> Any:
        output = tuple((n + stride - 1) // stride for n in x[2:])
        pads, steps, ways = ((0, 0), (far, far), (far, far)), (1, stride, stride), (1, far, far)
        return convolutions.settled(x, weight, output, steps, pads, ways, 1).form

    assert form((1, 64, 1, 14, 14), (32, 64, 1, 3, 3), 1, 1) is convolution_squares
    assert form((9, 64, 1, 14, 14), (32, 64, 1, 3, 3), 1, 1) is convolution_squares
    assert form((1, 64, 1, 24, 24), (32, 64, 1, 3, 3), 1, 6) is convolution_squares
    others = [
        ((1, 64, 1, 14, 14), (32, 64, 1, 3, 3), 2, 1),
        ((1, 64, 1, 14, 14), (8, 64, 1, 3, 3), 1, 1),
        ((1, 8, 1, 14, 14), (32, 8, 1, 3, 3), 1, 1),
        ((9, 64, 1, 3, 3), (32, 64, 1, 3, 3), 1, 1),
        ((1, 64, 1, 14, 14), (32, 64, 1, 3, 3), 1, 10),
        ((1, 64, 2, 14, 14), (32, 64, 1, 3, 3), 1, 1),
    ]
    assert all(form(*each) is not convolution_squares for each in others)


def test_squares_are_no_less_exact_than_chains() -> None:
    x, weight = _drawn((1, 128, 20, 20)), _drawn((64, 128, 3, 3))
    pads = ((1, 1), (1, 1))
    wide_ones = x.astype(np.float64), weight.astype(np.float64)
    wanted = plain_convolution.forward(*wide_ones, (1, 1), pads, (1, 1), 1)
    chains = np.zeros(wanted.shape, F)
    around = np.pad(x, ((0, 0), (0, 0), *pads))
    for c in range(128):
        for i in range(3):
            for j in range(3):
                seen = around[:, c : c + 1, i : i + 20, j : j + 20]
                chains += weight[None, :, c, i, j, None, None] * seen
    found = squared(x, weight, None, pads)
    assert np.abs(found - wanted).max() < np.abs(chains - wanted).max()


@pytest.mark.parametrize("far", [(1, 1), (2, 3)])
@pytest.mark.parametrize(
    ("number", "place"), [(np.inf, (0, 0)), (-np.inf, (9, 14)), (np.nan, (4, 7)), (3e38, (5, 5))]
)
def test_squares_with_numbers_that_are_not_finite(
    number: float, place: tuple[int, int], far: Any
) -> None:
    """What a window does not see changes nothing, and what it sees gives what a sum would."""
    x, weight = np.ones((2, 20, 10, 15), F), np.ones((35, 20, 3, 3), F)
    x[1, 3, place[0], place[1]], weight[7] = number, -1.0
    pads = ((1, 1), (1, 1))
    found = squared(x, weight, None, pads, far=far)
    wanted = plain_convolution.forward(x, weight, (1, 1), pads, far, 1)
    assert np.array_equal(found, wanted, equal_nan=True)
    assert np.isfinite(found[0]).all()


def test_squares_with_weights_that_are_not_finite() -> None:
    x, weight = np.ones((1, 16, 9, 9), F), np.ones((40, 16, 3, 3), F)
    weight[5, 2, 0, 0], weight[33, 7, 1, 1] = np.inf, np.nan
    pads = ((1, 1), (1, 1))
    found = squared(x, weight, None, pads)
    assert np.isnan(found[0, 33]).all()
    assert np.isnan(found[0, 5, 0]).all()  # zeros around the plane times what is infinite
    assert np.isposinf(found[0, 5, 1:, 1:]).all()
    others = [n for n in range(40) if n not in (5, 33)]
    assert np.isfinite(found[0, others]).all()


@settings(max_examples=120, deadline=None)
@given(settings_of_convolutions(), st.integers(0, 2), st.booleans(), st.booleans())
def test_all_transposed_settings(
    given: dict[str, Any], extra: int, in_parts: bool, has_bias: bool
) -> None:
    x, weight, stride, pads, dilation, groups = given.values()
    padding = [before for before, _ in pads]
    extras = [min(extra, max(each) - 1) for each in zip(stride, dilation, strict=True)]
    x, weight = whole_numbers((x[0], weight[0], *x[2:])), whole_numbers(weight, 1)
    bias = whole_numbers(weight.shape[1] * groups, 2) if has_bias else None
    given_as = (bias, stride, padding, extras, groups, dilation)
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(transposed, "planned", transposed.planned.__wrapped__)
        changed.setattr(transposed, "_LEAST", 1 if in_parts else 1 << 60)
        changed.setattr(transposed, "_PIXELS", 1)
        try:
            made = convolution._filled(convolution._later_transposed(x, weight, *given_as))
        except OperatorError:
            return
    if made is None:
        return  # nothing is left of it
    rest = stride, padding, dilation, extras, groups, np.dtype(np.float64)
    wanted = convolution._transposed(x.astype(np.float64), weight.astype(np.float64), *rest)
    if bias is not None:
        wanted += bias.reshape(-1, 1, 1, 1)
    assert made.dtype == F
    assert np.array_equal(made, wanted)


@settings(max_examples=40, deadline=None)
@given(settings_of_convolutions(), st.integers(0, 2), st.sampled_from((np.float32, np.float64)))
def test_columns_are_put_back_as_numpy_adds_them(
    given: dict[str, Any], extra: int, dtype: type[np.generic]
) -> None:
    x, weight, stride, pads, dilation, groups = given.values()
    padding = [before for before, _ in pads]
    extras = [min(extra, max(each) - 1) for each in zip(stride, dilation, strict=True)]
    numbers = np.random.default_rng(1)
    x = numbers.standard_normal((x[0], weight[0], *x[2:])).astype(dtype)
    weight = numbers.standard_normal(weight).astype(dtype)
    rest = stride, padding, dilation, extras, groups, np.dtype(dtype)
    with pytest.MonkeyPatch.context() as changed:
        try:
            made = convolution._transposed(x, weight, *rest)
        except OperatorError:
            return
        changed.setattr(transposed_convolution, "family", lambda _: None)
        assert made.tobytes() == convolution._transposed(x, weight, *rest).tobytes()


CASES = [  # input, weights, stride, groups; chunks, panels and tiles of all sizes among them
    ((2, 5, 5, 20, 21), (9, 5, 3, 3, 3), 1, 1),
    ((1, 17, 1, 1, 3000), (20, 17, 1, 1, 5), 2, 1),
    ((1, 200, 1, 14, 14), (130, 100, 1, 3, 3), 1, 2),
    ((2, 50, 1, 7, 7), (203, 50, 1, 3, 3), 1, 1),
    ((2, 50, 1, 13, 13), (203, 50, 1, 3, 3), 2, 1),
    ((2, 300, 1, 7, 7), (70, 300, 1, 1, 1), 1, 1),
    ((3, 40, 1, 5, 10), (410, 20, 1, 3, 3), 1, 2),
    ((3, 20, 1, 37, 41), (83, 20, 1, 3, 3), 1, 1),
    ((2, 600, 1, 7, 7), (70, 600, 1, 3, 3), 2, 1),
    ((2, 6, 1, 70, 90), (12, 1, 1, 5, 3), 2, 6),
    ((2, 24, 1, 9, 300), (3, 24, 1, 3, 5), 1, 1),
    ((1, 300, 1, 6, 9), (260, 300, 1, 3, 3), 1, 1),
    ((2, 430, 1, 7, 29), (38, 215, 1, 1, 1), 1, 2),
    ((1, 9, 1, 50, 70), (107, 9, 1, 1, 1), 1, 1),
    ((2, 21, 1, 14, 13), (42, 1, 1, 3, 3), 1, 21),
    ((3, 40, 1, 7, 7), (40, 1, 1, 3, 3), 1, 40),
    ((2, 9, 1, 30, 61), (9, 1, 1, 3, 3), 1, 9),
    ((3, 34, 1, 15, 70), (51, 34, 1, 3, 3), 1, 1),
    ((5, 36, 1, 4, 9), (130, 18, 1, 3, 3), 1, 2),
    ((2, 340, 1, 11, 10), (250, 340, 1, 3, 3), 1, 1),
]


def _convolved(x: Any, weight: Any, stride: int, groups: int) -> Any:
    bias = np.linspace(-1, 1, weight.shape[0], dtype=F)
    around = int(weight.shape[-1] > 1)
    pads, steps = ((0, 0), (around, around), (around, around)), (1, stride, stride)
    output = plain_convolution.sizes_of(x, weight.shape[2:], steps, pads, (1, 1, 1))
    return convolved(x, weight, bias, output, steps, pads, (1, 1, 1), groups)


def _drawn(shape: Any) -> Any:
    return np.random.default_rng(0).standard_normal(shape, F)


@pytest.mark.usefixtures("any_threads")
@pytest.mark.parametrize(
    ("shape", "weight", "stride", "padding"),
    [
        ((2, 20, 16, 16), (20, 24, 4, 4), 2, 1),
        ((1, 40, 9, 40), (40, 24, 5, 5), 2, 3),
        ((1, 32, 500), (32, 16, 16), 8, 4),
        ((1, 16, 24, 24), (16, 32, 3, 3), 1, 1),
        ((3, 8, 5, 5), (8, 6, 2, 2), 2, 0),
    ],
)
def test_parts_and_columns_of_transposed_convolutions_are_shared_as_bits(
    shape: Any, weight: Any, stride: int, padding: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = np.random.default_rng(2)
    x, w = (numbers.standard_normal(each).astype(F) for each in (shape, weight))
    bias = numbers.standard_normal(weight[1]).astype(F)
    monkeypatch.setattr(transposed, "planned", transposed.planned.__wrapped__)
    for least in (1, 1 << 60):
        monkeypatch.setattr(transposed, "_LEAST", least)
        found = set()
        for count in (1, 2, 3):
            threads.set_threads(count)
            given_as = bias, [stride], [padding], [0], 1, [1]
            made = convolution._filled(convolution._later_transposed(x, w, *given_as))
            found.add(made.tobytes())
        assert len(found) == 1


@pytest.mark.usefixtures("any_threads")
@pytest.mark.parametrize(("shape", "weights", "stride", "groups"), CASES)
def test_threads_and_batches_change_no_bit(
    shape: Any, weights: Any, stride: int, groups: int
) -> None:
    x, weight = _drawn(shape), _drawn(weights)
    found = []
    for count in (1, 2, 3):
        threads.set_threads(count)
        found.append(_convolved(x, weight, stride, groups).tobytes())
    alone = [_convolved(x[n : n + 1], weight, stride, groups).tobytes() for n in range(len(x))]
    assert found == [b"".join(alone)] * 3


def _for_target(monkeypatch: pytest.MonkeyPatch, target: Target) -> None:
    """Let convolutions run by code for another CPU, whose instructions this one has too."""
    from rushlight.ops.kernels.code.loading.assemble import assembled, placed

    @cache
    def address(form: Any, after: Any, *more: Any) -> int:
        text = form.text(target, after, *more)
        return placed(assembled(text, target), (form.NAME,))[form.NAME]

    def kernel(self: Any, after: Any) -> int:
        more = self.settled.written_for
        form = self.settled.form
        short = (self._short,) if form is not convolution_strips else ()
        return address(form, after, *short, *more)

    monkeypatch.setattr(convolutions.Convolution, "_kernel", kernel)
    for plans in (convolution_plans, convolution_point_plans, convolution_square_plans):
        monkeypatch.setattr(plans, "host", lambda: target)
    monkeypatch.setattr(convolutions, "settled", UNREMEMBERED)


@pytest.mark.skipif(not elf.is_known(), reason="code for x86-64")
def test_cpus_with_shorter_vectors_give_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    if not host().has_fma:
        pytest.skip("this CPU cannot run it")
    given = [(_drawn(shape), _drawn(weights), *rest) for shape, weights, *rest in CASES]
    found = [_convolved(*each) for each in given]
    for target, error in ((HASWELL, 0.0), (PLAIN, 1e-4)):
        _for_target(monkeypatch, target)
        for each, wanted in zip(given, found, strict=True):
            np.testing.assert_allclose(_convolved(*each), wanted, error, error)


@pytest.mark.skipif(not elf.is_known(), reason="code for x86-64")
@pytest.mark.parametrize("target", [HASWELL, PLAIN])
def test_cpus_without_pairs_compute_bfloat16(
    monkeypatch: pytest.MonkeyPatch, target: Target
) -> None:
    if not host().has_fma:
        pytest.skip("this CPU cannot run it")
    kind = DTYPES["bfloat16"].numpy
    given = [
        (_drawn(shape).astype(kind), _drawn(weights).astype(kind), *rest)
        for shape, weights, *rest in CASES
    ]
    found = [_convolved(*each).astype(F) for each in given]
    _for_target(monkeypatch, target)
    for each, wanted in zip(given, found, strict=True):
        made = _convolved(*each)
        assert made.dtype is kind
        np.testing.assert_allclose(made.astype(F), wanted, 2**-7, 1e-3)


@pytest.mark.skipif(not elf.is_known(), reason="code for x86-64")
@pytest.mark.parametrize("tile", [Tile(8, 3), Tile(3, 2)])
def test_tiles_change_no_bit(tile: Tile, monkeypatch: pytest.MonkeyPatch) -> None:
    if not host().has_fma:
        pytest.skip("this CPU cannot run it")
    cases = [*CASES[:9], *CASES[-2:]]
    given = [(_drawn(shape), _drawn(weights), *rest) for shape, weights, *rest in cases]
    found = [_convolved(*each) for each in given]
    monkeypatch.setattr(Tile, "of", staticmethod(lambda _: tile))
    _for_target(monkeypatch, HASWELL)
    for each, wanted in zip(given, found, strict=True):
        assert np.array_equal(_convolved(*each), wanted)


def test_what_does_not_fit_is_refused() -> None:
    x, weight, three = _drawn((1, 4, 1, 9, 9)), _drawn((6, 2, 1, 3, 3)), (1, 1, 1)
    none = ((0, 0),) * 3
    assert convolution._natively(x, weight, None, (1, 7, 7), three, none, three, 1) is None
    assert convolution._natively(x, weight, None, (1, 7, 8), three, none, three, 2) is None
    with pytest.raises(ValueError, match="bias does not fit"):
        convolution._natively(x, weight, _drawn(5), (1, 7, 7), three, none, three, 2)
