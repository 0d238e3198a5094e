"""Expressions over arrays against NumPy, bit by bit: formulas, dtypes, casts, layouts, threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from inspect import signature
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rushlight as torch
from rushlight.ops import kernels
from rushlight.ops.kernels import threads

arrays = kernels.family("elementwise.arrays")
pytestmark = pytest.mark.skipif(arrays is None, reason="no native code here")

LETTERS = "fdbhilB?"


def remainder(x: Any, y: Any) -> Any:
    """As torch has it: a zero has the sign of the dividend, where NumPy's has the divisor's."""
    rest = np.fmod(x, y)
    other = (rest != 0) & ((rest < 0) != (y < 0))
    return np.where(other, rest + y, rest) if x.dtype.kind == "f" else np.remainder(x, y)


BINARY = {
    **{"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.true_divide},
    **{"equal": np.equal, "not_equal": np.not_equal, "less": np.less, "greater": np.greater},
    **{"less_equal": np.less_equal, "greater_equal": np.greater_equal},
    **{"both": np.bitwise_and, "either": np.bitwise_or, "only_one": np.bitwise_xor},
    **{"shift_left": np.left_shift, "shift_right": np.right_shift},
    **{"maximum": np.maximum, "minimum": np.minimum, "clamp_low": lambda x, y: np.maximum(y, x)},
    **{"clamp_high": lambda x, y: np.minimum(y, x), "subtract_from": lambda x, y: y - x},
    **{"floor_divide": np.floor_divide, "remainder": remainder, "fmod": np.fmod},
    "leaky_relu": lambda x, y: np.where(x > 0, x, x * y),
    "nextafter": np.nextafter,
}
UNARY = {
    **{"negate": np.negative, "absolute": np.absolute, "reciprocal": np.reciprocal},
    **{"sqrt": np.sqrt, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "rint": np.rint},
    **{"isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite, "invert": np.invert},
    **{"isposinf": np.isposinf, "isneginf": np.isneginf},
    **{"is_zero": np.logical_not, "square": lambda x: x * x, "cube": lambda x: x * x * x},
    **{"rsqrt": lambda x: np.reciprocal(np.sqrt(x)), "relu": lambda x: np.maximum(x * 0, x)},
    "hardsigmoid": lambda x: np.minimum(np.maximum(x + 3, 0), 6) / 6,
    "hardswish": lambda x: x * np.minimum(np.maximum(x + 3, 0), 6) / 6,
}
TERNARY = {
    "clamp": lambda x, y, z: np.minimum(z, np.maximum(y, x)),
    "add_products": lambda x, y, z: x + y * z,
    "add_quotients": lambda x, y, z: x + y / z,
}
TERNARY["add_scaled"] = lambda x, y, z: x + y * z
TERNARY["subtract_scaled"] = lambda x, y, z: x - y * z
SCALED = {
    "add_scaled_products": lambda x, y, z, w: x + y * w * z,
    "add_scaled_quotients": lambda x, y, z, w: x + y * w / z,
}
UNARY["relu6"] = lambda x: np.minimum(x.dtype.type(6), np.maximum(x.dtype.type(0), x))
UNARY["relu"] = lambda x: np.maximum(x.dtype.type(0), x)
REFERENCES: dict[str, tuple[Callable[..., Any], str]] = {
    **{name: (call, "x") for name, call in UNARY.items()},
    **{name: (call, "xy") for name, call in BINARY.items()},
    **{name: (call, "xyz") for name, call in TERNARY.items()},
    **{name: (call, "xyzy") for name, call in SCALED.items()},
    "choose": (np.where, "mxy"),
    "fill": (lambda x, m, y: np.where(m, y, x), "xmy"),
    "same": (lambda x: x, "x"),
}
BY_OPERATORS = frozenset(
    """copysign deg2rad frac gcd hardshrink hardsigmoid_slope hardswish_slope hardtanh_slope lcm
    leaky_relu_slope rad2deg scaled_by_two shrink_slope sigmoid_slope sign softshrink tanh_slope
    threshold threshold_slope trunc_divide without_nan""".split()
)
"""Formulas whose bits `test_exact_formulas.py` compares with what the operators give."""


def numbers(letter: str, shape: tuple[int, ...], seed: int = 0) -> Any:
    """Random numbers, the odd ones among them."""
    random = np.random.default_rng(seed)
    if letter == "?":
        return random.random(shape) < 0.5
    dtype = np.dtype(letter)
    if letter in "fd":
        made = (random.standard_normal(shape) * 4).astype(dtype)
        odd = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e30, -1e-40, 2.5, 1.0]
    else:
        limits = np.iinfo(dtype)
        made = random.integers(-20 if limits.min else 0, 20, shape).astype(dtype)
        odd = [limits.min, limits.max, limits.max - 1, 0, 1]
    flat = made.reshape(-1)
    flat[random.integers(0, flat.size, 4 * len(odd))] = np.array(odd * 4, dtype)
    return made


def run(steps: list[tuple[Any, ...]], operands: list[Any], wants: list[Any], last: int) -> None:
    """Compute the last steps into arrays like `wants`, and compare the bits."""
    letters = "".join("L" if isinstance(x, int) else arrays.LETTERS[x.dtype] for x in operands)
    numbers = range(len(steps) - last, len(steps))
    made = tuple(arrays.LETTERS[want.dtype] for want in wants)
    results = tuple(zip(numbers, made, strict=True))
    expression = arrays.Expression(letters, tuple(arrays.Step(*step) for step in steps), results)
    outs, shape = [np.empty_like(want) for want in wants], wants[0].shape
    seen = tuple(
        (x.itemsize, np.broadcast_to(x, shape).strides) if isinstance(x, np.ndarray) else None
        for x in operands
    )
    arrays.compute(expression, arrays.way_of(shape, wants[0].strides, seen), operands, outs)
    for out, want, step in zip(outs, wants, steps[-last:], strict=True):
        assert bits(out) == bits(want), step


def bits(array: Any) -> bytes:
    """What an array holds; all NaN are one."""
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), array.dtype.type(np.nan), array)
    return array.astype(array.dtype, "C").tobytes()


@pytest.mark.parametrize("letter", LETTERS)
def test_formulas_give_the_bits_of_numpy(letter: str) -> None:
    known = {name for name, each in arrays.FORMULAS.items() if each.is_exact}
    assert known == {*REFERENCES, *BY_OPERATORS, "lerp"}
    shape = (70, 90)
    x, y, z = numbers(letter, shape), numbers(letter, (70, 1), 1), numbers(letter, shape, 2)
    m = numbers("?", shape, 3)
    names = [name for name in REFERENCES if letter in arrays.FORMULAS[name].of]
    divisor = np.where(y == 0, np.ones_like(y), y)
    for begin in range(0, len(names), 12):
        steps, wants = [], []
        for name in names[begin : begin + 12]:
            call, places = REFERENCES[name]
            if name in ("floor_divide", "remainder") or (name == "fmod" and letter not in "fd"):
                places = "xd"
            operands = {"x": x, "y": y, "z": z, "m": m, "d": divisor}
            steps.append((name, letter, tuple("xyzmd".index(place) for place in places)))
            with np.errstate(all="ignore"):
                want = call(*(operands[place] for place in places))
            wants.append(np.ascontiguousarray(np.broadcast_to(want, shape)))
        run(steps, [x, y, z, m, divisor], wants, len(steps))


@pytest.mark.parametrize("letter", LETTERS)
def test_casts_give_the_bits_of_numpy(letter: str) -> None:
    x = numbers(letter, (3000,))
    with np.errstate(all="ignore"):
        wants = [x.astype(np.dtype(other)) for other in LETTERS]
    run([("same", other, (0,)) for other in LETTERS], [x], wants, len(wants))


HALVES = {"e": np.dtype(np.float16), "E": torch.zeros(0).bfloat16()._array.dtype}


def every(letter: str) -> Any:
    """All numbers of 16 bits."""
    return np.arange(1 << 16, dtype=np.uint16).view(HALVES[letter])


def bits_of_half(array: Any) -> bytes:
    """What an array of 16-bit floats holds; all NaN are one."""
    words = array.view(np.uint16).copy()
    words[np.isnan(array.astype(np.float32))] = 0x7FFF
    return words.tobytes()


@pytest.mark.parametrize("letter", HALVES)
@pytest.mark.parametrize("other", [*LETTERS, "e", "E"])
def test_sixteen_bits_are_cast_as_by_numpy(letter: str, other: str) -> None:
    wide = HALVES.get(other) or np.dtype("int64" if other == "l" else other)
    with np.errstate(all="ignore"):
        there = every(letter).astype(wide)
        back = numbers(other, (3000,)) if other in LETTERS else every(other)
        if (other, letter) == ("d", "e"):  # by way of float32, as torch does
            wanted = back.astype(np.float32).astype(HALVES[letter])
        else:
            wanted = back.astype(HALVES[letter])
    for source, want, into in ((every(letter), there, other), (back, wanted, letter)):
        made = np.empty_like(want)
        way = arrays.way_of(source.shape, (1,), ((source.itemsize, source.strides),))
        own = arrays.LETTERS[source.dtype]
        step = arrays.Step("same", into, (0,))
        arrays.compute(arrays.Expression(own, (step,), ((0, into),)), way, [source], [made])
        same = bits_of_half if into in HALVES else bits
        assert same(made) == same(want)


@pytest.mark.parametrize("letter", HALVES)
def test_formulas_of_sixteen_bits_are_those_of_float32_rounded_once(letter: str) -> None:
    x = every(letter)
    given = [x, x[::-1].copy(), np.roll(x, 12345), np.arange(x.size) % 3 == 0]
    wide = [each.astype(np.float32) for each in given[:3]] + given[3:]
    formulas = [(n, each) for n, each in arrays.FORMULAS.items() if letter in each.of]
    for begin in range(0, len(formulas), 12):
        steps, found = [], []
        for name, formula in formulas[begin : begin + 12]:
            numbers = iter((0, 1, 2, 1))
            count = len(signature(formula.compute).parameters)
            places = [3 if at in formula.masks else next(numbers) for at in range(count)]
            steps.append((name, tuple(places)))
        for own, values in ((letter, given), ("f", wide)):
            made = [np.empty(x.size, values[0].dtype) for _ in steps]
            expression = arrays.Expression(
                f"{own * 3}?",
                tuple(arrays.Step(name, own, places) for name, places in steps),
                tuple((number, own) for number in range(len(steps))),
            )
            way = arrays.way_of(x.shape, (1,), tuple((v.itemsize, v.strides) for v in values))
            arrays.compute(expression, way, values, made)
            found.append(made)
        for (name, _), one, other in zip(steps, *found, strict=True):
            with np.errstate(all="ignore"):
                assert bits_of_half(one) == bits_of_half(other.astype(x.dtype)), name


@pytest.mark.parametrize("letter", HALVES)
def test_steps_of_sixteen_bits_round_each(letter: str) -> None:
    x = np.linspace(-3, 3, 1001).astype(HALVES[letter])
    wide = x.astype(np.float32)
    third, rough = np.float32(1 / 3), np.float32(1 / 3).astype(x.dtype).astype(np.float32)
    by_whole = (wide * third).astype(x.dtype)
    want = (by_whole.astype(np.float32) + rough).astype(x.dtype)
    steps = (arrays.Step("multiply", letter, (0, 1)), arrays.Step("add", letter, (2, 1)))
    made = np.empty_like(x)
    way = arrays.way_of(x.shape, (1,), ((2, x.strides), None))
    expression = arrays.Expression(letter + "D", steps, ((1, letter),))
    arrays.compute(expression, way, [x, 1 / 3], [made])
    assert bits_of_half(made) == bits_of_half(want)


@pytest.mark.parametrize("letter", "fdbhilB?")
def test_single_elements_and_rows_have_one_kernel(letter: str) -> None:
    x = numbers(letter, (40,))
    rows = arrays.way_of(x.shape, x.strides, ((x.itemsize, x.strides), None))
    for shape in ((), (1,), (1, 1, 1)):
        one = x[2:3].reshape(shape)
        way = arrays.way_of(shape, one.strides, ((one.itemsize, one.strides), None))
        assert (way.places, way.rank, way.size) == (rows.places, rows.rank, 1)
        made = np.full((3,), x[1])
        steps = (arrays.Step("same", letter, (0,)),)
        expression = arrays.Expression(f"{letter}D", steps, ((0, letter),))
        arrays.compute(expression, way, [one, 0.5], [made[1:2]])
        assert bits(made) == bits(x[[1, 2, 1]])


def test_what_only_moves_has_one_kernel_for_elements_of_a_size() -> None:
    for one, other in ("fi", "dl", "Bb"):
        x = numbers(one, (4, 30))[:, ::2]
        kernel = arrays._casting(one, one, "s", 2)
        assert kernel == arrays._casting(other, other, "s", 2)
        assert bits(arrays.in_order(x)) == bits(x.copy())


def test_numbers_of_python_are_operands() -> None:
    x = numbers("l", (1000,))
    steps = [("floor_divide", "l", (0, 1)), ("remainder", "l", (0, 2)), ("add", "f", (3, 1))]
    with np.errstate(all="ignore"):
        quotient = x // -7
        wants = [quotient, x % (1 << 60), quotient.astype("f4") + np.float32(-7)]
    run(steps, [x, -7, 1 << 60], wants, 3)


def lying(layout: str, shape: tuple[int, ...], seed: int) -> Any:
    """Numbers that lie in some way and broadcast to a shape."""
    if layout == "whole":
        return numbers("f", shape, seed)
    if layout == "turned":
        return numbers("f", shape[::-1], seed).T
    if layout == "last":
        shape = (*shape[:-2], *shape[-2:][::-1])
        return (
            numbers("f", shape, seed).swapaxes(-1, -2)
            if len(shape) > 1
            else lying("gaps", shape, seed)
        )
    if layout == "gaps":
        return numbers("f", tuple(2 * n for n in shape), seed)[
            tuple(slice(1, None, 2) for n in shape)
        ]
    if layout == "part":
        return numbers("f", tuple(n + 1 for n in shape), seed)[tuple(slice(n) for n in shape)]
    if layout == "backwards":
        return numbers("f", shape, seed)[tuple(slice(None, None, -1) for n in shape)]
    if layout == "row":
        return numbers("f", shape[-1:], seed)
    if layout == "column":
        return numbers("f", (*shape[:-1], 1), seed)
    return np.asarray(numbers("f", (1,), seed)[0])


LAYOUTS = ("whole", "turned", "last", "gaps", "part", "backwards", "row", "column", "number")


@pytest.fixture(params=[1, 3])
def crew(request: pytest.FixtureRequest) -> Iterator[int]:
    before = threads.get_threads()
    threads.set_threads(request.param)
    yield request.param
    threads.set_threads(before)


@settings(max_examples=25, deadline=None)
@given(
    layouts=st.tuples(st.sampled_from(LAYOUTS), st.sampled_from(LAYOUTS)),
    shape=st.lists(st.sampled_from([1, 2, 3, 4, 8, 17, 40, 65]), min_size=1, max_size=3),
    turned=st.booleans(),
)
def test_arrays_are_taken_as_they_lie(
    layouts: tuple[str, str], shape: list[int], turned: bool
) -> None:
    sizes = tuple(shape)
    x, y = lying(layouts[0], sizes, 1), lying(layouts[1], sizes, 2)
    with np.errstate(all="ignore"):
        want = np.array(np.broadcast_to(x * y + x, sizes), order="F" if turned else "C")
    run([("multiply", "f", (0, 1)), ("add", "f", (2, 0))], [x, y], [want], 1)


@pytest.mark.parametrize("layout", ["gaps", "part", "turned"])
@pytest.mark.parametrize("shape", [(40,), (70, 3), (9, 4, 70), (1, 1)])
def test_results_are_written_where_they_lie(shape: tuple[int, ...], layout: str) -> None:
    x, out = lying("whole", shape, 1), lying(layout, shape, 2)
    around, memory = out.copy(), out if out.base is None else out.base
    before = memory.copy()
    way = arrays.way_of(shape, out.strides, ((4, x.strides),), (4, out.strides))
    step = arrays.Step("negate", "f", (0,))
    arrays.compute(arrays.Expression("f", (step,), ((0, "f"),)), way, [x], [out])
    assert bits(out) == bits(-x)
    out[...] = around
    assert memory.tobytes() == before.tobytes()


@pytest.mark.parametrize("letter", [*LETTERS, *HALVES])
def test_squares_of_every_dtype_are_turned(letter: str) -> None:
    x = (
        numbers(letter, (3, 33, 50))
        if letter in LETTERS
        else every(letter)[:4950].reshape(3, 33, 50)
    )
    way = arrays.way_of(
        (3, 50, 33),
        (1650 * x.itemsize, 33 * x.itemsize, x.itemsize),
        ((x.itemsize, x.swapaxes(1, 2).strides),),
    )
    assert way.places == "m"
    made = arrays.in_order(x.swapaxes(1, 2))
    assert made.flags.c_contiguous
    assert made.tobytes() == x.swapaxes(1, 2).tobytes()


@pytest.mark.parametrize("layout", ["turned", "gaps", "column", "short"])
def test_threads_share_rows_and_tiles(layout: str, crew: int) -> None:
    shape = (2110, 3) if layout == "short" else (211, 401)
    x, y = lying("whole", shape, 1), lying("row" if layout == "short" else layout, shape, 2)
    with np.errstate(all="ignore"):
        want = x * y + x
    for least in (1 << 15, 1):
        way = arrays.way_of(
            want.shape, want.strides, ((4, x.strides), (4, np.broadcast_to(y, x.shape).strides))
        )
        steps = (arrays.Step("multiply", "f", (0, 1)), arrays.Step("add", "f", (2, 0)))
        out = np.empty_like(want)
        arrays.compute(
            arrays.Expression("ff", steps, ((1, "f"),)), way._replace(least=least), [x, y], [out]
        )
        assert bits(out) == bits(want)


@pytest.mark.parametrize("name", ["tanh", "gelu"])
@pytest.mark.parametrize("layout", ["turned", "gaps"])
def test_layouts_change_no_bit(name: str, layout: str) -> None:
    x = lying(layout, (3, 500, 9), 1)
    made = arrays.apply(name, (x,))
    with np.errstate(all="ignore"):
        assert made.strides == np.exp(x).strides
    assert bits(made) == bits(arrays.apply(name, (np.ascontiguousarray(x),)))


@pytest.mark.parametrize(("name", "turned"), [("choose", False), ("fill", True)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_a_mask_says_nothing_of_the_dtype(name: str, turned: bool, dtype: Any) -> None:
    x, y = np.arange(100).astype(dtype), -np.arange(100).astype(dtype)
    mask = x % 3 == 0
    made = arrays.apply(name, (x, mask, y) if turned else (mask, x, y))
    assert bits(made) == bits(np.where(mask, *((y, x) if turned else (x, y))))


@pytest.mark.parametrize("letter", "fdeEli")
@pytest.mark.parametrize("length", [1023, 3000])
def test_what_is_written_may_begin_anywhere_in_a_line(letter: str, length: int) -> None:
    names = {"f": "float32", "d": "float64", "e": "float16", "E": "bfloat16", "l": "int64"}
    dtype = getattr(torch, names.get(letter, "int32"))
    memory = (torch.arange(length + 80) % 7).to(dtype)
    wanted = memory + 2
    for begin in range(34):
        part = memory.clone()
        part[begin : begin + length].add_(2)
        assert torch.equal(part[:begin], memory[:begin])
        assert torch.equal(part[begin : begin + length], wanted[begin : begin + length])
        assert torch.equal(part[begin + length :], memory[begin + length :])
