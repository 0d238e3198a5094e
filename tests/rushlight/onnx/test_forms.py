"""Forms of operators by their arguments: what is written computes as the program does."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.nn import functional as F

onnx = pytest.importorskip("onnx")
reference = pytest.importorskip("onnx.reference")
Tensor = torch.Tensor
Program = Callable[..., tuple[Tensor, ...]]

X = torch.tensor([[0.5, -1.5, 2.0], [-0.25, 3.0, -2.5]])
Y = torch.tensor([[1.5, 2.0, -0.5], [0.75, -1.0, 2.5]])
NUMBERS, OTHERS = torch.tensor([[5, -7, 4], [3, 0, -6]]), torch.tensor([[2, 3, -3], [-2, 5, 4]])
P = torch.tensor([[2, 0, 1], [1, 1, 0]])


def sums(x: Tensor, y: Tensor, i: Tensor, j: Tensor) -> tuple[Tensor, ...]:
    return (
        *(torch.add(x, y, alpha=2), torch.sub(x, y, alpha=1), (x > 0) + (y > 0), x + i),
        *(torch.rsub(x, 2.0), torch.add(i, j, alpha=3), (x > 0) * i, (x > 0) * 2.5),
    )


def quotients(x: Tensor, y: Tensor, i: Tensor, j: Tensor) -> tuple[Tensor, ...]:
    return (
        *(i / j, x / 2, i / 2, torch.div(x, y, rounding_mode="floor")),
        *(torch.div(x, y, rounding_mode="trunc"), torch.div(i, j, rounding_mode="floor")),
        *(torch.div(i, j, rounding_mode="trunc"), i % j, x % y, torch.fmod(x, y)),
        *(torch.fmod(i, j), torch.remainder(x, 2.0), i // j, x // 2),
    )


def powers(x: Tensor, y: Tensor, i: Tensor, j: Tensor) -> tuple[Tensor, ...]:
    return (
        *(x**2, 2**x, i**2, x.abs() ** 0.5, x.abs() ** y, torch.square(i), 1 / x),
        *(torch.reciprocal(i), torch.rsqrt(x.abs()), torch.sqrt(i.abs()), x.abs() ** -1),
    )


def limits(x: Tensor, y: Tensor, i: Tensor, j: Tensor) -> tuple[Tensor, ...]:
    return (
        *(torch.clamp(x, min=0.0), torch.clamp(x, max=1.0), torch.clamp(i, -1, 3)),
        *(torch.clamp(x, min=y), torch.clamp(x, -y.abs(), y.abs()), torch.clamp(i, 0.5, 2.5)),
        *(torch.maximum(i, j), torch.minimum(x, y), torch.sign(i), torch.abs(i), torch.neg(x)),
    )


def comparisons(x: Tensor, y: Tensor, i: Tensor, j: Tensor) -> tuple[Tensor, ...]:
    a, b = x > 0, y > 0
    return (
        *(a == b, a != b, i == 3, i != j, x >= i, i <= 2.5, a < b, a >= b),
        *(torch.logical_and(i, j), torch.logical_or(a, i), torch.logical_xor(a, b)),
        *(torch.logical_not(i), ~a, a & b, a | b, a ^ b, i & j, i | j, i ^ j, ~i),
        *(
            torch.isclose(x, x + 1e-9),
            torch.isnan(x / 0 * 0),
            torch.isinf(x / 0),
            torch.isfinite(x),
        ),
        *(torch.where(a, x, y), torch.where(a, i, 2), torch.where(b, 1.5, x), a.any(), a.all(1)),
    )


def rounded(x: Tensor, y: Tensor, i: Tensor, j: Tensor) -> tuple[Tensor, ...]:
    return (
        *(torch.round(x), torch.round(x, decimals=1), torch.trunc(x), torch.frac(x), torch.ceil(i)),
        *(
            torch.floor(x),
            torch.round(x * 100, decimals=-1),
            x.to(torch.int64),
            (x > 0).to(torch.float32),
        ),
        *(torch.logit(torch.sigmoid(x)), torch.logit(torch.sigmoid(x), eps=0.3), torch.erf(x)),
        *(torch.log1p(i.abs()), torch.exp2(x), torch.expm1(i), torch.log2(x.abs()), torch.sinc(y)),
        *(torch.addcmul(x, y, y, value=2.0), torch.addcdiv(x, y, y), torch.lerp(x, y, 0.25)),
        *(torch.lerp(x, y, y), torch.hypot(x, y), torch.atan2(x, y), torch.threshold(x, 0.1, 20.0)),
        *(torch.deg2rad(x), torch.heaviside(x, y), torch.nan_to_num(x / (x > 0).float())),
    )


def reduced(x: Tensor, y: Tensor, i: Tensor, j: Tensor) -> tuple[Tensor, ...]:
    return (
        *(x.sum(), i.sum(1), (x > 0).sum(0), x.sum(1, keepdim=True), i.sum(dtype=torch.float32)),
        *(
            x.mean(),
            x.mean((0, 1)),
            x.mean(0, keepdim=True),
            x.prod(),
            i.prod(1),
            x.amax(1),
            x.amin(),
        ),
        *(
            x.max(),
            i.min(),
            x.max(1)[0],
            x.max(1)[1],
            x.min(0, keepdim=True)[0],
            x.argmax(),
            x.argmin(1),
        ),
        *(x.var(), x.var(1, unbiased=False), x.std(0, keepdim=True), torch.var_mean(x, 1)[1]),
        *(
            x.norm(),
            x.norm(1.0, 1),
            x.norm(float("inf"), 0),
            x.logsumexp(1),
            i.cumsum(1),
            x.cumsum(0),
        ),
        *(
            torch.linalg.vector_norm(x, 3.0),
            torch.linalg.vector_norm(x, 0.0, 1),
            x.sum((0, 1), keepdim=True),
        ),
    )


def chosen(x: Tensor, y: Tensor, i: Tensor, p: Tensor) -> tuple[Tensor, ...]:
    return (
        *(x.gather(1, p), x.index_select(1, p[0]), torch.take_along_dim(x, p, 1), x[p[1]]),
        *(x[:, p[0]], x[p[1], p[0]], x[..., 1], x[1:, ::2], x[0, 1], x[None, :, 0], x[x > 0].sum()),
        *(
            x.scatter(1, p, y),
            x.scatter(1, p, 2.0),
            x.scatter_add(1, p[:, :1], y),
            x.masked_fill(x > 0, 5.0),
        ),
        *(x.index_add(1, p[0], y), x.index_fill(1, p[1], 7.0)),
        *(x.index_copy(1, p[0], y), x.masked_select(y > 0), x.narrow(1, 1, 2), x.select(1, -1)),
        *(x.index_put((p[1], p[0]), y[0]), x.index_put((p[1], p[0]), y[0], accumulate=True)),
        *(
            x.topk(2)[0],
            x.sort(1, descending=True)[0],
            i.argsort(1),
            x.flip(1),
            x.roll(1, 1),
            x.roll(2),
        ),
    )


def shaped(x: Tensor, y: Tensor, i: Tensor, p: Tensor) -> tuple[Tensor, ...]:
    return (
        *(
            x.t(),
            x.unsqueeze(-1).squeeze(2),
            x.unsqueeze(0).squeeze(),
            x.flatten(),
            x.reshape(3, -1),
        ),
        *(
            x.expand(2, 2, 3),
            x.repeat(1, 2),
            x.repeat_interleave(2, 1),
            x.repeat_interleave(2),
            x.tile(2),
        ),
        *(
            torch.cat([x, i], 1),
            torch.stack([x, y], -1),
            x.chunk(2, 1)[1],
            x.split([1, 2], 1)[1],
            x.unbind(1)[2],
        ),
        *(
            x.unflatten(1, (3, 1)),
            x.movedim(0, 1),
            x.tril(),
            x.triu(1),
            torch.tril(i, -1),
            x.diagonal(),
        ),
        *(
            F.pad(x, (1, 2)),
            F.pad(x, (1, 1), value=3.0),
            F.pad(x[None], (1, 1), "reflect"),
            x.swapaxes(0, 1),
        ),
        *(
            F.pad(x[None], (1, 1), "replicate"),
            F.pad(x[None], (1, 1), "circular"),
            x.broadcast_to(2, 2, 3),
        ),
        *(
            torch.full_like(i, 3),
            torch.zeros_like(x, dtype=torch.int64),
            torch.ones_like(x),
            torch.eye(3),
        ),
        *(
            torch.arange(1, 4, device="cpu") + i,
            torch.meshgrid(x[0], y[0], indexing="ij")[1],
            torch.outer(x[0], y[1]),
        ),
    )


def losses(x: Tensor, y: Tensor, w: Tensor) -> tuple[Tensor, ...]:
    s, t = torch.sigmoid(x), torch.sigmoid(y)
    return (
        *(F.mse_loss(x, y), F.l1_loss(x, y, reduction="sum"), F.smooth_l1_loss(x, y, beta=0.0)),
        *(
            F.smooth_l1_loss(x, y, reduction="none"),
            F.huber_loss(x, y, delta=0.5),
            F.kl_div(x, t, reduction="sum"),
        ),
        *(
            F.kl_div(x, y, reduction="batchmean", log_target=True),
            F.soft_margin_loss(x, t.round() * 2 - 1),
        ),
        *(F.binary_cross_entropy(s, t), F.binary_cross_entropy(s, t, weight=w, reduction="none")),
        *(
            F.binary_cross_entropy_with_logits(x, t),
            F.binary_cross_entropy_with_logits(x, t, weight=w),
        ),
        *(
            F.binary_cross_entropy_with_logits(x, t, pos_weight=w, reduction="sum"),
            F.poisson_nll_loss(x, t),
        ),
        *(F.poisson_nll_loss(s, t, log_input=False), F.hinge_embedding_loss(x, t.round() * 2 - 1)),
        *(
            F.margin_ranking_loss(x[0], y[0], t[0].round() * 2 - 1, margin=0.5),
            F.triplet_margin_loss(x, y, w),
        ),
        *(
            F.triplet_margin_loss(x, y, w, swap=True, reduction="none"),
            F.cosine_similarity(x, y, 0),
        ),
    )


def classes(x: Tensor, c: Tensor, w: Tensor) -> tuple[Tensor, ...]:
    return (
        *(
            F.cross_entropy(x, c),
            F.cross_entropy(x, c, w),
            F.cross_entropy(x, c, label_smoothing=0.2),
        ),
        *(
            F.cross_entropy(x, c, w, label_smoothing=0.2, reduction="sum"),
            F.cross_entropy(x[0], c[0]),
        ),
        *(F.cross_entropy(x, torch.softmax(x, 1)), F.cross_entropy(x, c, ignore_index=2)),
        *(F.nll_loss(x, c, w, reduction="none"), F.nll_loss(x, c), F.nll_loss(x[0], c[0])),
        *(F.multi_margin_loss(x, c), F.multi_margin_loss(x[0], c[0]), F.one_hot(c, 3)),
    )


CASES: list[tuple[Program, tuple[Tensor, ...]]] = [
    *(
        (each, (X, Y, NUMBERS, OTHERS))
        for each in (sums, quotients, powers, limits, comparisons, rounded, reduced)
    ),
    *((each, (X, Y, NUMBERS, P)) for each in (chosen, shaped)),
    (losses, (X, Y, torch.tensor([[0.5, 1.0, 2.0]] * 2))),
    (classes, (X, torch.tensor([2, 1]), torch.tensor([0.5, 1.0, 2.0]))),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("program", "given"), CASES, ids=[each.__name__ for each, _ in CASES])
def test_results_are_the_programs(program: Program, given: tuple[Tensor, ...]) -> None:
    file, traced = io.BytesIO(), torch.jit.trace(program, given)
    torch.onnx.export(traced, given, file)
    onnx.checker.check_model(file.getvalue(), full_check=True)
    model = onnx.load_from_string(file.getvalue())
    names = [each.name for each in model.graph.input]
    arrays = {name: x.numpy() for name, x in zip(names, given, strict=True)}
    found: list[Any] = reference.ReferenceEvaluator(model).run(None, arrays)
    for number, (a, b) in enumerate(zip(traced(*given), found, strict=True)):
        assert str(a.numpy().dtype) == str(np.asarray(b).dtype), number
        np.testing.assert_allclose(b, a.numpy(), rtol=1e-4, atol=1e-5, err_msg=str(number))
