"""Normalisation of channels in native code."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops import kernels
from rushlight.ops.kernels import threads
from rushlight.ops.kernels.code.calls.run import run
from rushlight.ops.kernels.code.convolutions import batch_norms
from rushlight.ops.kernels.code.language.target import Target, host
from rushlight.ops.kernels.code.loading import elf
from rushlight.ops.layers import batch_norm

pytestmark = pytest.mark.skipif(
    kernels.family("elementwise.arrays") is None, reason="no native code here"
)

SHAPES = [(3, 5, 7, 7), (1, 4, 130), (2, 3, 64, 1), (70, 2, 1, 3, 1)]


def _drawn(*shape: int) -> Any:
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("shape", SHAPES)
def test_moments_are_exact_far_from_zero(shape: tuple[int, ...]) -> None:
    x = _drawn(*shape) + np.float32(1e4)
    axes = (0, *range(2, x.ndim))
    mean, variance = batch_norms.moments(x)
    np.testing.assert_allclose(mean, x.mean(axes, dtype=np.float64), 1e-14)
    np.testing.assert_allclose(variance, x.astype(np.float64).var(axes), 1e-12)


@pytest.mark.parametrize("shape", [(1, 5), (7, 16), (40, 33)])
def test_moments_of_rows_are_exact_far_from_zero(shape: tuple[int, int]) -> None:
    x = _drawn(*shape) + np.float32(1e4)
    mean, variance = batch_norms.moments_of_rows(x)
    np.testing.assert_allclose(mean, x.mean(0, dtype=np.float64), 1e-14)
    np.testing.assert_allclose(variance, x.astype(np.float64).var(0), 1e-12)


def test_statistics_follow_as_numpy_moves_them() -> None:
    now, running = np.random.default_rng(1).standard_normal(37), _drawn(37)
    wanted = (0.1 * (now * 1.5) + (1 - 0.1) * running.astype(np.float64)).astype(np.float32)
    batch_norms.follow(running, now, 0.1, 1.5)
    assert running.tobytes() == wanted.tobytes()
    with pytest.raises(ValueError, match="no statistics"):
        batch_norms.follow(running, now[1:], 0.1, 1.0)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("parameters", ["", "w", "b", "wb"])
def test_each_element_is_rounded_once(shape: tuple[int, ...], parameters: str) -> None:
    x, channels = _drawn(*shape), shape[1]
    mean, spread = _drawn(channels), abs(_drawn(2, channels)[1])
    weight, bias = (_drawn(3, channels)[2] if each in parameters else None for each in "wb")
    made = batch_norms.normalized(x, mean, spread, weight, bias, 1e-5)
    factor = 1 / np.sqrt(spread.astype(np.float64) + 1e-5) * (1 if weight is None else weight)
    term = (0 if bias is None else bias) - mean * factor
    column = (-1, *(1,) * (x.ndim - 2))
    exact = x.astype(np.float64) * factor.astype(np.float32).reshape(column)
    wanted = (exact + term.astype(np.float32).reshape(column)).astype(np.float32)
    np.testing.assert_array_max_ulp(made, wanted, 0 if host().has_fma else 2)


@pytest.mark.parametrize("shape", [*SHAPES, (5, 6), (40, 37), (33, 16)])
@pytest.mark.parametrize("of_batch", [True, False])
def test_gradients_are_those_of_the_formula(shape: tuple[int, ...], of_batch: bool) -> None:
    x, g = _drawn(*shape) + np.float32(100), _drawn(2, *shape)[1]
    axes, column = (0, *range(2, x.ndim)), (-1, *(1,) * (x.ndim - 2))
    moments = batch_norms.moments_of_rows if x.ndim == 2 else batch_norms.moments
    mean, variance = moments(x) if of_batch else abs(_drawn(2, shape[1])) + 1.0
    scale = 1 / np.sqrt(variance.astype(np.float64) + 1e-5)
    weight = _drawn(shape[1])
    made = batch_norms.gradients(g, x, mean, variance, weight, 1e-5, of_batch=of_batch)
    apart = (x - mean.reshape(column)) * scale.reshape(column)
    sums = (g * apart).sum(axes), g.sum(axes, dtype=np.float64)
    of_x, count = g.astype(np.float64), x.size // shape[1]
    if of_batch:
        of_x = of_x - (sums[1].reshape(column) + apart * sums[0].reshape(column)) / count
    of_x = of_x * (scale * weight).reshape(column)
    for found, wanted in zip(made, (of_x, *sums), strict=True):
        np.testing.assert_allclose(found, wanted, 2e-6, 2e-5)


def test_gradients_by_native_code_are_those_by_operators() -> None:
    functions, found = torch.nn.functional, []
    x, w = (torch.from_numpy(_drawn(*shape)).requires_grad_() for shape in ((2, 8, 30, 31), (8,)))
    for again in (False, True):  # by operators where gradients shall have gradients
        made = functions.batch_norm(x, None, None, w, w * 2, True)
        found.append(torch.autograd.grad(made.sin().sum(), [x, w], create_graph=again))
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one.numpy(), other.detach().numpy(), 1e-4, 1e-5)


def test_threads_change_no_bit() -> None:
    x, mean, var = torch.from_numpy(_drawn(4, 40, 30, 30)), torch.zeros(40), torch.ones(40)
    before, found = threads.get_threads(), []
    try:
        for count in (1, 2, 3):
            threads.set_threads(count)
            made = torch.nn.functional.batch_norm(x, mean.clone(), var.clone(), None, None, True)
            found.append(made.numpy().tobytes())
    finally:
        threads.set_threads(before)
    assert found == found[:1] * 3


@pytest.mark.skipif(not elf.is_known() or not host().has_fma, reason="code for x86-64 with FMA")
def test_cpus_with_shorter_vectors_give_the_same_bits() -> None:
    from rushlight.ops.kernels.code.loading.assemble import assembled, placed

    target = Target("haswell", True, False, False, "haswell", "")
    x = _drawn(3, 5, 7, 11)
    mean, variance = np.empty(5), np.empty(5)
    made = assembled(batch_norms._moments_text(target), target)
    kernel = placed(made, ("channel_moments",))["channel_moments"]
    run(kernel, 5, 6, 77, 5, 3, x, mean, variance)
    assert [each.tobytes() for each in batch_norms.moments(x)] == [
        each.tobytes() for each in (mean, variance)
    ]
    made = assembled(batch_norms._gradients_text(target, 0, 1, "double", 0), target)
    kernel = placed(made, ("batch_norm_gradients",))["batch_norm_gradients"]
    whole = batch_norms.gradients(x * 2, x, mean, variance, None, 0.5, of_batch=True)
    out = [np.empty_like(each) for each in whole]
    run(kernel, 5, 6, 0.5, 77, 5, 3, x * 2, x, mean, variance, mean, *out)
    assert [each.tobytes() for each in whole] == [each.tobytes() for each in out]
    found = np.empty((2, 5), np.float32)
    made = assembled(batch_norms._factors_text(target, "double", 0, 0), target)
    kernel = placed(made, ("batch_norm",))["batch_norm"]
    run(kernel, 5, 6, 1e-5, *found, mean, variance)
    whole = np.stack(batch_norms.factors(5, mean, variance, None, None, 1e-5))
    assert whole.tobytes() == found.tobytes()


def test_what_does_not_fit_is_refused() -> None:
    x = _drawn(2, 5, 9)
    with pytest.raises(ValueError, match="do not fit the channels"):
        batch_norms.normalized(x, x[0, 0, :5], x[0, 1, :4], None, None, 1e-5)


@pytest.mark.parametrize("rows", [1, 5, 300])
def test_rows_in_evaluation_are_normalised_with_numpys_bits(rows: int, monkeypatch: Any) -> None:
    torch.manual_seed(0)
    layer = torch.nn.BatchNorm1d(37).eval()
    for each in (layer.running_mean, layer.weight.data, layer.bias.data):
        each.normal_()
    layer.running_var.uniform_(0.1, 3.0)
    x = torch.randn(rows, 37)
    with torch.no_grad():
        found = [layer(x) for _ in range(60)]
        monkeypatch.setattr(batch_norm, "_rows_natively", lambda *_: None)
        wanted = layer(x)
    assert all(torch.equal(each, wanted) for each in found)


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("parameters", ["", "weight", "bias", "weight bias"])
def test_calls_without_parameters_have_the_bits_of_the_first(
    parameters: str, training: bool
) -> None:
    normed = torch.nn.functional.batch_norm
    given = {name: torch.from_numpy(_drawn(2, 5)[i]) for i, name in enumerate(parameters.split())}
    for seed in range(4):
        x = torch.from_numpy(_drawn(3, 5, 7, 7) * (seed + 1))
        wanted = batch_norms.normalized(
            x.numpy(),
            *(batch_norms.moments(x.numpy()) if training else (_drawn(5), np.ones(5, np.float32))),
            *(given[name].numpy() if name in given else None for name in ("weight", "bias")),
            1e-5,
        )
        statistics = () if training else (torch.from_numpy(_drawn(5)), torch.ones(5))
        for _ in range(60):
            found = normed(x, *(statistics or (None, None)), **given, training=training)
            assert found.numpy().tobytes() == wanted.tobytes()


def test_batches_of_bfloat16_have_the_same_bits_when_calls_are_learned() -> None:
    torch.manual_seed(4)
    x = torch.randn(3, 5, 4, 6).to(torch.bfloat16)
    weight, bias = torch.rand(5), torch.randn(5)
    seen = set()
    for _ in range(8):
        mean, var = torch.zeros(5), torch.ones(5)
        made = torch.nn.functional.batch_norm(x, mean, var, weight, bias, training=True)
        seen.add(b"".join(each.numpy().tobytes() for each in (made.float(), mean, var)))
    wide = [torch.zeros(5), torch.ones(5)]
    wanted = torch.nn.functional.batch_norm(x.float(), *wide, weight, bias, training=True)
    assert len(seen) == 1
    assert made.dtype is torch.bfloat16
    torch.testing.assert_close(made.float(), wanted, rtol=1e-2, atol=1e-2)
    assert torch.equal(mean, wide[0])
    assert torch.equal(var, wide[1])
