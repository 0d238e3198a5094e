"""Words that put float32 in order, against NumPy's stable sort."""

from __future__ import annotations

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops import kernels
from rushlight.ops.kernels.code.calls.run import run
from rushlight.ops.kernels.code.language.target import Target, host
from rushlight.ops.kernels.code.loading import elf

pytestmark = pytest.mark.skipif(
    kernels.family("ordering.order_words") is None, reason="no native code here"
)

PLAIN = Target("plain", False, False, False, "x86-64", "+sse2")
HASWELL = Target("haswell", True, False, False, "haswell", "")
SHAPES = [(1, 1), (40, 33), (3, 1000), (2000,), (5, 7, 48)]


def numbers(shape: tuple[int, ...]) -> np.ndarray:
    """Few different numbers, among them zeros and NaN of both signs, infinities and denormals."""
    random = np.random.default_rng(len(shape))
    few = np.array([-0.0, 0.0, np.nan, -np.nan, np.inf, -np.inf, 1e-45, -1e-45, 2.5, -3.0])
    return random.choice(few, shape).astype(np.float32)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("descending", [False, True])
def test_words_are_in_the_order_of_their_numbers(shape: tuple[int, ...], descending: bool) -> None:
    x = numbers(shape)
    words = kernels.family("ordering.order_words").order_words(x, descending=descending)
    places = np.sort(words, -1) & np.uint64(0xFFFFFFFF)
    order = x.astype(np.float64)
    order[np.isnan(x)] = 1e300  # beyond all float32 but infinity, which comes before
    order[x == np.inf] = 1e299
    wanted = np.argsort(-order if descending else order, -1, kind="stable")
    assert np.array_equal(places.astype(np.int64), wanted)


def test_rows_are_sorted_alike_at_every_call_and_layout() -> None:
    for seed in range(12):
        x = torch.from_numpy(np.random.default_rng(seed).standard_normal((33, 40), np.float32))
        x[0, :3] = torch.tensor([float("nan"), -0.0, 0.0])
        for given in (x, x.t(), x[:, ::2], x.clone().t().contiguous().t()):
            for descending in (False, True):
                values, places = given.sort(-1, descending)
                assert torch.equal(given.gather(-1, places).isnan(), values.isnan())
                gathered, known = given.gather(-1, places).nan_to_num(), values.nan_to_num()
                assert torch.equal(gathered, known)
                steps = known[:, 1:] - known[:, :-1]
                whole = ~values[:, 1:].isnan() & ~values[:, :-1].isnan()
                assert bool((steps[whole] <= 0).all() if descending else (steps[whole] >= 0).all())


@pytest.mark.skipif(not elf.is_known() or not host().has_fma, reason="code for x86-64")
@pytest.mark.parametrize("target", [PLAIN, HASWELL])
def test_cpus_with_shorter_vectors_make_the_same_words(target: Target) -> None:
    from rushlight.ops.kernels.code.loading.assemble import assembled, placed
    from rushlight.ops.kernels.code.ordering.order_words import order_words_text

    x = numbers((9, 45))
    kernel = placed(assembled(order_words_text(target), target), ("order_words",))["order_words"]
    for descending in (False, True):
        made = np.empty(x.shape, np.uint64)
        run(kernel, 9, 10, 45, -int(descending), x, made)
        wanted = kernels.family("ordering.order_words").order_words(x, descending=descending)
        assert np.array_equal(made, wanted)
