"""Random numbers against the bytes torch draws."""

from __future__ import annotations

import contextlib
import re
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recorded import NAMES, TORCH, load

import rushlight as torch
from rushlight.ops import kernels
from rushlight.ops.arithmetic.fused import fused_double, fused_float
from rushlight.ops.random_numbers.engine import WORDS, Engine
from rushlight.ops.random_numbers.random import Generator
from rushlight.ops.table.direct import listen


def bytes_of(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [bytes_of(each) for each in value]
    array = value._array
    if value.dtype.name == "bfloat16":
        array = array.astype(np.float32)
    return [value.dtype.name, list(array.shape), array.tobytes().hex()]


@pytest.mark.parametrize(("expression", "expected"), load("rng.json"))
def test_the_bytes_are_torchs(expression: str, expected: Any) -> None:
    names = dict(NAMES)
    exec(expression, names)
    assert bytes_of(names["r"]) == expected


@pytest.mark.parametrize("draws", [0, 1, 623, 624, 625])
def test_a_state_brings_back_the_stream(draws: int) -> None:
    generator = Generator().manual_seed(11)
    generator.words(draws)
    state = generator.state_bytes()
    first = generator.words(700)
    other = Generator()
    other.set_state_bytes(state)
    assert len(state) == 5056
    assert other.initial_seed() == 11
    np.testing.assert_array_equal(first, other.words(700))


@pytest.mark.parametrize(
    ("left", "seeded", "place"),
    [
        *((0, 1, 0), (1, 0, 0), (625, 1, 0), (1, 1, 625), (100, 1, 625), (-1, 1, 1)),
        *((5, 1, 3), (624, 1, 624), (5, 1, 2**31 - 5), (5, 1, 2**64 - 9)),
    ],
)
def test_a_state_that_no_engine_can_be_in_is_refused(left: int, seeded: int, place: int) -> None:
    generator = Generator().manual_seed(11)
    state = generator.state_bytes()
    odd = state[:8] + struct.pack("<iiQ", left, seeded, place) + state[24:]
    with pytest.raises(RuntimeError, match="Invalid mt19937 state"):
        generator.set_state_bytes(odd)
    assert generator.state_bytes() == state


def test_a_state_whose_words_are_used_up_draws_new_ones() -> None:
    generator, other = Generator().manual_seed(11), Generator()
    state = generator.state_bytes()
    other.set_state_bytes(state[:8] + struct.pack("<iiQ", 1, 1, 7) + state[24:])
    np.testing.assert_array_equal(generator.words(700), other.words(700))


_COUNTS = st.sampled_from([0, 1, 2, 10, 623, 625, 3000, 40_000])


@settings(max_examples=30)
@given(st.lists(st.tuples(_COUNTS, st.booleans(), st.booleans()), max_size=12))
def test_drawing_ahead_changes_nothing(counts: list[tuple[int, bool, bool]]) -> None:
    engine: Any = np.random.RandomState(5)
    generator = Generator().manual_seed(5)
    for count, look, swap in counts:
        copy = generator.clone_state() if look else generator
        expected = engine.randint(0, 1 << 32, count, np.uint64)
        np.testing.assert_array_equal(generator.words(count), expected)
        if look:
            np.testing.assert_array_equal(copy.words(count), expected)
        generator = copy if swap else generator


@pytest.mark.parametrize("draws", [0, 1, 5, 700, 40_000])
def test_a_generator_returns_to_its_place(draws: int) -> None:
    generator = Generator()
    generator.manual_seed(5)
    generator.words(draws)
    generator.cached_normal = 0.5
    place = generator.place()
    expected, state = generator.words(900).tolist(), generator.state_bytes()
    for away in (lambda: None, lambda: generator.manual_seed(7), lambda: generator.words(3)):
        away()
        generator.return_to(place)
        assert generator.cached_normal == 0.5
        assert generator.words(900).tolist() == expected
        assert generator.state_bytes() == state


def test_many_small_draws_are_few_large_ones() -> None:
    class Counting:
        def __init__(self, engine: Any) -> None:
            self.engine, self.calls = engine, 0
            self.state = engine.state

        def draw(self, count: int) -> Any:
            self.calls += 1
            return self.engine.draw(count)

    generator = Generator()
    generator._made = Counting(generator._engine())
    for _ in range(5000):
        generator.floats(10)
    assert generator._made.calls == 7


@pytest.mark.parametrize("is_known", [True, False])
def test_states_are_those_of_numpy(is_known: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rushlight.ops.random_numbers.engine._is_as_known", lambda: is_known)
    engine, numpy = Engine(), np.random.RandomState(7)
    engine.seed(7)
    assert engine.draw(700).tolist() == [
        numpy.randint(0, 1 << 32, dtype=np.uint32) for _ in range(700)
    ]
    state = engine.state
    _, key, position, *_ = numpy.get_state()
    assert state[:WORDS].tolist() == key.tolist()
    assert state[WORDS] == position
    draws = engine.draw(5).tolist()
    other = Engine(state)
    other.skip(2)
    assert other.draw(3).tolist() == draws[2:]


def test_gumbel_softmax_to_the_last_bit() -> None:
    for seed, bits in (
        (0, "3636bb3d4674853e827c053f508a013e"),
        (42, "a8e4923efb72873e986e053e11f1a23e"),
    ):
        TORCH.manual_seed(seed)
        drawn = torch.nn.functional.gumbel_softmax(torch.zeros(4))
        assert drawn.numpy().tobytes().hex() == bits


def test_an_odd_count_keeps_its_second_normal() -> None:
    TORCH.manual_seed(3)
    one, two = TORCH.randn(1), TORCH.randn(1)
    TORCH.manual_seed(3)
    assert TORCH.equal(TORCH.randn(2), TORCH.cat([one, two]))


def test_seeds_must_fit_64_bits() -> None:
    with pytest.raises(ValueError, match="Overflow when unpacking"):
        TORCH.manual_seed(2**64)


FLOATS = st.floats(-1e6, 1e6, width=32)


@given(FLOATS, FLOATS, FLOATS)
def test_fused_float_rounds_once(a: float, b: float, c: float) -> None:
    from fractions import Fraction

    exact = Fraction(a) * Fraction(b) + Fraction(c)
    found = float(fused_float(a, b, c))
    near = [found, *(float(np.nextafter(np.float32(found), np.float32(d))) for d in (-1e38, 1e38))]
    assert min(abs(Fraction(n) - exact) for n in near) == abs(Fraction(found) - exact)


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
def test_fused_double_rounds_once(a: float, b: float, c: float) -> None:
    from fractions import Fraction

    exact = float(Fraction(a) * Fraction(b) + Fraction(c))
    assert float(fused_double(np.array([a]), b, c)[0]) == exact


def test_a_scripted_generator_draws_what_an_eager_one_does() -> None:
    def drawn(seed: int, given: torch.Generator) -> Any:
        own = torch.Generator()
        own.manual_seed(seed)
        return torch.rand([2], generator=own), torch.randn([3], generator=given)

    drawn.__annotations__ = {"seed": int, "given": torch.Generator}
    scripted = torch.jit.script(drawn)
    assert 'torch.Generator(device="cpu", seed=67280421310721)' in scripted.code
    first, second = scripted(3, torch.Generator().manual_seed(4))
    eager = torch.Generator()
    assert torch.equal(first, torch.rand(2, generator=eager.manual_seed(3)))
    assert torch.equal(second, torch.randn(3, generator=eager.manual_seed(4)))


def test_draws_of_chances_go_into_any_dtype() -> None:
    for dtype in (torch.bool, torch.int16, torch.uint8):
        drawn = torch.bernoulli(torch.ones(4), out=torch.zeros(4, dtype=dtype))
        assert drawn.dtype is dtype
        assert drawn.sum() == 4


def test_an_empty_range_is_told_of_before_its_bounds() -> None:
    for dtype in (torch.bool, torch.int8, torch.uint32):
        with pytest.raises(RuntimeError, match="random_ expects 'from' to be less than 'to'"):
            torch.empty(3, dtype=dtype).random_(-(2**40), -(2**40))
    with pytest.raises(RuntimeError, match="from is out of bounds for signed char"):
        torch.empty(3, dtype=torch.int8).random_(-(2**40), 1)


@pytest.mark.parametrize("steps", [1, 2])
def test_both_parts_of_complex_normals_have_the_mean(steps: int) -> None:
    """As torch draws them: the parts are numbers beside each other, each of half the variance."""
    torch.manual_seed(0)
    made = torch.empty(3 * steps, dtype=torch.complex128)[::steps].normal_(2.0, 3.0)
    wanted = [
        5.268946393764326 + 1.3775432928208593j,
        -2.621910240526501 + 3.2058248324110723j,
        -0.30061930802903214 - 0.9668688646090822j,
    ]
    assert made.tolist() == wanted


def test_normal_numbers_are_the_same_without_native_code(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(77)
    natively = [torch.randn(16), torch.randn(48), torch.empty(1003).normal_(0.5, 3.0)]
    monkeypatch.setitem(kernels._FAMILIES, "language.target", None)
    torch.manual_seed(77)
    plainly = [torch.randn(16), torch.randn(48), torch.empty(1003).normal_(0.5, 3.0)]
    assert all(torch.equal(one, other) for one, other in zip(natively, plainly, strict=True))


def _drawn(monkeypatch: pytest.MonkeyPatch, draw: Any, *, natively: bool) -> tuple[Any, bytes]:
    """What is drawn from a seed, by native code or without it, and where the generator is then."""
    with monkeypatch.context() as patch, contextlib.ExitStack() as at_end:
        if not natively:
            listen(1, inspects=True)  # so that calls that are known go through Python
            at_end.callback(listen, -1, inspects=True)
            for each in (
                "drawing.categories",
                "drawing.draws",
                "drawing.single_normals",
                "drawing.engines",
                "language.target",
            ):
                patch.setitem(kernels._FAMILIES, each, None)
        torch.manual_seed(77)
        found = draw()
        return found, torch.default_generator.get_state().numpy().tobytes()


def test_sums_of_draws_are_rounded_as_in_torch() -> None:
    torch.manual_seed(7)
    found = torch.empty(4, dtype=torch.float64).cauchy_(0.3, 0.7).tolist()
    wanted = ["-0x1.202472fb827a6p-2", "-0x1.361c3fec16545p-2", "0x1.d03609d045490p+0"]
    assert found == [*map(float.fromhex, wanted), float.fromhex("0x1.59cdcf5d7ee9dp-1")]
    for dtype in (torch.bfloat16, torch.float64):  # shares of 16 bits are float32
        torch.manual_seed(7)
        weights = torch.arange(1, 301).to(dtype)
        places = [158, 156, 278, 243, 288, 274, 162, 224, 261, 261, 74, 71]
        assert torch.multinomial(weights, 12, True).tolist() == places
        rows = [[40, 19, 34, 92], [1, 96, 15, 99], [93, 88, 70, 35]]
        assert torch.multinomial(weights.view(3, 100), 4, True).tolist() == rows


_RATES = "torch.linspace(0.05, 30.0, 701, dtype=dtype)"
_CHANCES = "torch.linspace(0.01, 0.99, 701, dtype=dtype)"


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "float16"])
@pytest.mark.parametrize(
    "expression",
    [
        f"torch.poisson({_RATES})",
        f"torch.poisson({_RATES} * 1e4)",
        f"torch.poisson({_RATES} * 0)",
        f"torch.binomial(torch.floor({_RATES} * 3), {_CHANCES})",
        f"torch.binomial(torch.floor({_RATES} * 100), {_CHANCES})",
        f"torch._standard_gamma({_RATES}), torch.randn(1, dtype=dtype)",
        f"torch._standard_gamma({_CHANCES})",
        f"torch._sample_dirichlet({_RATES})",
        "torch.empty(703, dtype=dtype).exponential_(2.0)",
        "torch.empty(703, dtype=dtype).cauchy_(1.0, 2.0)",
        "torch.empty(703, dtype=dtype).log_normal_(), torch.empty(13).log_normal_()",
        "torch.empty(703, dtype=dtype).geometric_(0.3)",
        "torch.empty(40, 101, dtype=dtype).t().normal_(1.0, 2.0)",
        "torch.empty(703, dtype=dtype).normal_(0.5, 3.0)",
        "torch.empty(703, dtype=dtype).uniform_(-1.0, 3.0)",
        "torch.empty(703, dtype=dtype).uniform_(-2.0, 0.0)",
        "torch.empty(703, dtype=dtype).bernoulli_(0.3)",
        "torch.nn.functional.dropout(torch.linspace(-1, 1, 700, dtype=dtype), 0.3)",
        "torch.nn.functional.dropout(torch.ones(41, 50, dtype=dtype).t(), 0.3)",
        "torch.nn.functional.alpha_dropout(torch.ones(703, dtype=dtype), 0.3, True)",
        "torch.empty(703, dtype=dtype).random_(3, 99)",
        f"torch.multinomial({_RATES}, 20), torch.multinomial({_RATES}, 20, True)",
        "torch.randperm(701), torch.randint(-5, 77, (3000,)), torch.randint(-5, 1 << 40, (3000,))",
    ],
)
def test_native_code_draws_what_is_drawn_without_it(
    expression: str, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    left_out = "binomial|dirichlet|gamma" + ("|1e4" if dtype == "float16" else "")
    if "16" in dtype and re.search(left_out, expression):
        pytest.skip("not drawn in 16 bits")
    names = {"torch": torch, "dtype": getattr(torch, dtype)}
    (one, state), (other, place) = (
        _drawn(monkeypatch, lambda: eval(expression, names), natively=natively)
        for natively in (True, False)
    )
    assert bytes_of(one) == bytes_of(other)
    assert state == place


def test_rates_that_take_many_draws_are_drawn_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    counts, chances = torch.full((9,), 1e9), torch.full((9,), 5e-9)
    found, _ = _drawn(monkeypatch, lambda: torch.binomial(counts, chances), natively=True)
    expected, _ = _drawn(monkeypatch, lambda: torch.binomial(counts, chances), natively=False)
    assert torch.equal(found, expected)
    generator = torch.Generator().manual_seed(3)
    for _ in range(30):  # rests of what is drawn ahead are taken along
        torch.poisson(torch.full((5000,), 9.0), generator)
        generator.clone_state().get_state()
    other = torch.Generator().manual_seed(3)
    other.set_state(generator.get_state())
    assert torch.equal(torch.rand(9, generator=generator), torch.rand(9, generator=other))


def test_no_number_of_trials_gives_no_number() -> None:
    nan = torch.tensor([float("nan"), 4.0])
    found = torch.binomial(nan, torch.tensor([0.5, 1.0]))
    assert found.isnan().tolist() == [True, False]


def test_engines_draw_natively_as_numpy_does() -> None:
    for ahead in (0, 1, 623, 624, 700):
        engine, numpy = Engine(), np.random.RandomState(7)
        engine.seed(7)
        engine.draw(ahead)
        numpy.randint(0, 1 << 32, ahead, np.uint32)
        for count in (2048, 2500, 5 * WORDS, 5000):
            expected = numpy.randint(0, 1 << 32, count, np.uint32)
            np.testing.assert_array_equal(engine.draw(count), expected)
        _, key, position, *_ = numpy.get_state()
        assert engine.state.tolist() == [*key.tolist(), position]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("width", [3, 16, 50])
def test_weights_that_nothing_can_be_drawn_by(dtype: Any, width: int) -> None:
    """Wherever in a row it is, what is wrong with weights is told, and nothing is drawn."""
    state = torch.get_rng_state()
    for place in (0, width - 1):
        for wrong in (-1.0, float("nan"), float("inf")):
            weights = torch.ones(4, width, dtype=dtype)
            weights[2, place] = wrong
            with pytest.raises(RuntimeError, match="`inf`, `nan` or element < 0"):
                torch.multinomial(weights, 1)
            sentence = "infinity or NaN" if wrong > 0 else "entry < 0"
            with pytest.raises(RuntimeError, match=sentence):
                torch.multinomial(weights, 2, True)
    weights = torch.ones(4, width, dtype=dtype)
    weights[3] = 0
    with pytest.raises(RuntimeError, match="sum of probabilities <= 0"):
        torch.multinomial(weights, 2, True)
    assert torch.equal(torch.get_rng_state(), state)
    weights[3, width - 1] = 1
    assert torch.multinomial(weights, 4, True)[3].tolist() == [width - 1] * 4
    assert torch.multinomial(weights, 1)[3].item() == width - 1


def test_chances_are_drawn_in_the_order_of_what_they_fill() -> None:
    def drawn(fill: Callable[[], torch.Tensor]) -> torch.Tensor:
        torch.manual_seed(3)
        return fill()

    by_rows = drawn(lambda: torch.zeros(4, 6).bernoulli_(torch.full((4, 6), 0.4)))
    turned = drawn(lambda: torch.zeros(4, 6).t().bernoulli_(torch.full((6, 4), 0.4)))
    assert torch.equal(turned, by_rows.t())
    half = torch.full((4, 6), 0.5)
    made = drawn(lambda: torch.bernoulli(half.t(), 0.4))  # which is new, and lies by rows
    assert made.stride() == (4, 1)
    assert torch.equal(made, drawn(lambda: torch.zeros(6, 4).bernoulli_(0.4)))
    repeated = half[0].expand(4, 6)
    assert torch.equal(
        drawn(lambda: torch.nn.functional.dropout(repeated, 0.3)),
        drawn(lambda: torch.nn.functional.dropout(half, 0.3)),
    )
