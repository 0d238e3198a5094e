"""Gradients of attention: right for all masks and sizes, on any number of threads."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops import kernels
from rushlight.ops.kernels import threads
from rushlight.ops.kernels.code.language.target import Target, host
from rushlight.ops.kernels.code.loading import elf

attention = kernels.family("attention.attention")
pytestmark = pytest.mark.skipif(attention is None, reason="no native code here")

F = torch.nn.functional
INFINITY = float("inf")
SIZES = (
    *((1, 200, 64, 64), (5, 129, 16, 40), (33, 128, 24, 8), (49, 7, 8, 1), (100, 40, 7, 50)),
    *((20, 260, 300, 5), (3, 1100, 8, 8), (60, 2, 2, 97)),
)
"""Queries, keys, and columns of keys and values."""


def randoms(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype("f")


def expected(g: Any, q: Any, k: Any, v: Any, mask: Any, scale: float) -> tuple[Any, Any, Any]:
    """The same in double precision."""
    g, q, k, v = (x.astype(float) for x in (g, q, k, v))
    scores = q @ k.swapaxes(-1, -2) * scale
    if mask is not None:
        scores = np.where(mask, scores, -INFINITY) if mask.dtype == bool else scores + mask
    top = scores.max(-1, keepdims=True)
    grown = np.exp(scores - np.where(np.isneginf(top), 0, top))
    total = grown.sum(-1, keepdims=True)
    weights = grown / np.where(total == 0, 1, total)
    along = (g * (weights @ v)).sum(-1, keepdims=True)
    slopes = weights * (g @ v.swapaxes(-1, -2) - along) * scale
    return slopes @ k, slopes.swapaxes(-1, -2) @ q, weights.swapaxes(-1, -2) @ g


def found(g: Any, q: Any, k: Any, v: Any, mask: Any = None, **options: Any) -> list[Any]:
    leaves = [torch.from_numpy(x).requires_grad_() for x in (q, k, v)]
    shown = None if mask is None else torch.from_numpy(mask)
    F.scaled_dot_product_attention(*leaves, shown, **options).backward(torch.from_numpy(g))
    return [leaf.grad.numpy() for leaf in leaves]


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize(
    ("kind", "dtype"),
    [*((kind, "f") for kind in ("none", "line", "whole", "bool", "causal")), ("whole", "d")],
)
def test_blocks_of_queries_and_keys(sizes: tuple[int, ...], kind: str, dtype: str) -> None:
    rows, keys, depth, width = sizes
    q, k, v, g = (
        randoms(2, 3, *shape).astype(dtype)
        for shape in ((rows, depth), (keys, depth), (keys, width), (rows, width))
    )
    mask = None
    if kind in ("line", "whole"):
        mask = randoms(2, 1, 1 if kind == "line" else rows, keys).astype(dtype)
    elif kind == "bool":
        mask = randoms(rows, keys) > 0.3
        mask[-1] = False  # sees nothing
    shown = np.tri(rows, keys, dtype=bool) if kind == "causal" else mask
    most = 1e-5 if dtype == "f" else 1e-13
    wanted = expected(g, q, k, v, shown, 1 / math.sqrt(depth))
    for one, other in zip(found(g, q, k, v, mask, is_causal=kind == "causal"), wanted, strict=True):
        assert one.dtype == dtype
        assert np.abs(one - other).max() < most * max(1, np.abs(other).max())


@pytest.mark.parametrize("heads", [1, 2, 6])
@pytest.mark.parametrize("rows", [3, 60])
def test_groups_of_heads_add_to_the_same_keys(heads: int, rows: int) -> None:
    q, g = randoms(2, 6, rows, 16), randoms(2, 6, rows, 16) * 2
    k, v = randoms(2, heads, 50, 16), randoms(2, heads, 50, 16)
    mask = randoms(2, 6, rows, 50)
    made = found(g, q, k, v, mask, enable_gqa=True)
    repeated = [np.repeat(x, 6 // heads, 1) for x in (k, v)]
    wanted = expected(g, q, *repeated, mask, 0.25)
    for one, other in zip(made, wanted, strict=True):
        other = other.reshape(2, one.shape[1], -1, *other.shape[2:]).sum(2)
        assert np.allclose(one, other, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("order", [(0, 2, 1, 3), (0, 1, 3, 2), (3, 2, 1, 0)])
def test_operands_may_lie_in_any_way(order: tuple[int, ...]) -> None:
    back = [order.index(d) for d in range(4)]
    given = [randoms(2, 3, length, 16) for length in (60, 60, 50, 50)]
    wanted = found(*given)
    lying = [np.ascontiguousarray(x.transpose(order)).transpose(back) for x in given]
    for one, other in zip(found(*lying), wanted, strict=True):
        assert np.allclose(one, other, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("shape", [(9, 4), (3, 9, 4), (2, 1, 2, 9, 4)])
def test_any_number_of_dimensions(shape: tuple[int, ...]) -> None:
    given = [randoms(*shape) + i for i in range(4)]
    wanted = expected(*given, None, 0.5)
    for one, other in zip(found(*given), wanted, strict=True):
        assert np.allclose(one, other, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("options", [{}, {"is_causal": True}])
def test_first_and_second_differences(options: dict[str, bool]) -> None:
    given = [torch.from_numpy(randoms(1, 2, 4, 3)).double().requires_grad_() for _ in range(3)]

    def attended(*operands: torch.Tensor) -> torch.Tensor:
        return F.scaled_dot_product_attention(*operands, **options)

    assert torch.autograd.gradcheck(attended, given)
    assert torch.autograd.gradgradcheck(attended, given)


def test_a_query_that_sees_nothing_has_no_gradient() -> None:
    q, k, v, g = (randoms(1, 1, size, 4) for size in (5, 6, 6, 5))
    mask = np.zeros((5, 6), "f")
    mask[2] = -INFINITY
    of_query, of_key, of_value = found(g, q, k, v, mask)
    assert not of_query[0, 0, 2].any()
    assert of_query[0, 0, 1].all()
    rest = [0, 1, 3, 4]
    others = found(g[:, :, rest], q[:, :, rest], k, v)
    assert np.allclose(of_key, others[1], atol=1e-6)
    assert np.allclose(of_value, others[2], atol=1e-6)


def test_scripts_and_any_number_of_threads_give_the_same_bits() -> None:
    @torch.jit.script
    def attended(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)

    given = [torch.from_numpy(randoms(2, 3, size, 32)) for size in (100, 150, 150)]
    before, results = threads.get_threads(), set()
    try:
        for count in (1, 2, 3):
            threads.set_threads(count)
            for function in (attended, attended, attended, attended.__wrapped__):
                leaves = [x.clone().requires_grad_() for x in given]
                function(*leaves).square().sum().backward()
                results.add(b"".join(leaf.grad.numpy().tobytes() for leaf in leaves))
    finally:
        threads.set_threads(before)
    assert len(results) == 1


@pytest.mark.skipif(not elf.is_known() or not host().has_fma, reason="code for x86-64")
def test_cpus_with_shorter_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    from rushlight.ops.kernels.code.loading.assemble import assembled, placed

    target = Target("haswell", True, False, False, "haswell", "")

    def kernel(name: str, parameters: object, text: Any) -> int:
        return placed(assembled(text(target), target), (name,))[name]

    monkeypatch.setattr(attention, "kernel", kernel)
    monkeypatch.setattr(attention, "host", lambda: target)
    monkeypatch.setattr(attention, "_way_back", attention._way_back.__wrapped__)
    q, k, v, g = (randoms(1, 2, size, 24) for size in (40, 140, 140, 40))
    mask = np.broadcast_to(randoms(40, 140) > 0, (1, 2, 40, 140))
    y = attention.attend(q, k, v, mask, 0.2)
    made = attention.gradients(g, q, k, v, mask, y, 0.2, False, False)
    for one, other in zip(made, expected(g, q, k, v, mask, 0.2), strict=True):
        assert np.abs(one - other).max() < 1e-5
