"""Attention by kernels: right for all masks, some queries at a time, on any number of threads."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rushlight as torch
from rushlight.ops import kernels
from rushlight.ops.kernels import threads
from rushlight.ops.kernels.code.language.target import Target, host
from rushlight.ops.kernels.code.loading import elf
from rushlight.ops.table import direct
from rushlight.ops.table.table import TABLE

attention = kernels.family("attention.attention")
pytestmark = pytest.mark.skipif(attention is None, reason="no native code here")

F = torch.nn.functional
INFINITY = float("inf")
PLAIN = Target("plain", False, False, False, "x86-64", "+sse2")
HASWELL = Target("haswell", True, False, False, "haswell", "")


def randoms(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype("f")


def expected(q: Any, k: Any, v: Any, mask: Any, scale: float) -> Any:
    """The same in double precision, with zeros where nothing is seen."""
    scores = q.astype(float) @ k.astype(float).swapaxes(-1, -2) * scale
    if mask is not None:
        scores = np.where(mask, scores, -INFINITY) if mask.dtype == bool else scores + mask
    top = scores.max(-1, keepdims=True)
    grown = np.exp(scores - np.where(np.isneginf(top), 0, top))
    total = grown.sum(-1, keepdims=True)
    return grown / np.where(total == 0, 1, total) @ v


def made(q: Any, k: Any, v: Any, mask: Any = None, **options: Any) -> Any:
    tensors = [None if x is None else torch.from_numpy(x) for x in (q, k, v, mask)]
    return F.scaled_dot_product_attention(*tensors, **options).numpy()


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.sampled_from([1, 2, 3]), max_size=3),
    st.sampled_from([1, 5, 17, 33]),
    st.sampled_from([1, 16, 40, 100]),
    st.sampled_from([1, 8, 20]),
    st.sampled_from(["none", "bool", "float", "causal"]),
    st.sampled_from(["whole", "rows", "columns"]),
    st.sampled_from([None, -0.5, 0.0]),
)
def test_masks_and_shapes(
    batch: Any, rows: int, columns: int, width: int, kind: str, extent: str, scale: float | None
) -> None:
    q, k, v = randoms(*batch, rows, width), randoms(*batch, columns, width), randoms(columns, 7)
    v = np.broadcast_to(v, (*batch, columns, 7)).copy()
    full = (*batch, rows, columns)
    shape = {"whole": full, "rows": (rows, 1), "columns": (1, columns)}[extent]
    mask = {"bool": randoms(*shape) > 0.5, "float": randoms(*shape)}.get(kind)
    factor = 1 / math.sqrt(width) if scale is None else scale
    shown = np.tri(rows, columns, dtype=bool) if kind == "causal" else mask
    found = made(q, k, v, mask, is_causal=kind == "causal", scale=scale)
    assert np.allclose(found, expected(q, k, v, shown, factor), rtol=1e-4, atol=1e-5)


def test_heads_may_lie_between_positions() -> None:
    q, k, v = (randoms(2, 50, 3, 16 + i).transpose(0, 2, 1, 3) for i in (0, 0, 4))
    wanted = made(*map(np.ascontiguousarray, (q, k, v)))
    assert np.array_equal(made(q, k, v), wanted)


SIZES = (
    *((1, 300, 64, 64), (3, 129, 16, 40), (8, 256, 40, 9), (9, 127, 8, 8), (47, 128, 16, 257)),
    *((49, 130, 30, 17), (97, 40, 4, 1), (200, 7, 1, 3), (33, 260, 700, 20), (20, 20, 900, 5)),
)
"""Queries, keys, and columns of keys and values."""


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize(
    ("kind", "dtype"),
    [*((kind, "f") for kind in ("none", "line", "whole", "bool", "causal")), ("whole", "d")],
)
def test_blocks_of_queries_and_keys(sizes: tuple[int, ...], kind: str, dtype: str) -> None:
    rows, keys, depth, width = sizes
    q, k = randoms(2, 3, rows, depth).astype(dtype), randoms(2, 3, keys, depth).astype(dtype)
    v, mask = randoms(2, 3, keys, width).astype(dtype), None
    if kind in ("line", "whole"):
        mask = randoms(2, 1, 1 if kind == "line" else rows, keys).astype(dtype)
    elif kind == "bool":
        mask = randoms(rows, keys) > 0.3
    shown = np.tri(rows, keys, dtype=bool) if kind == "causal" else mask
    found = made(q, k, v, mask, is_causal=kind == "causal")
    wanted = expected(q, k, v, shown, 1 / math.sqrt(depth))
    most = 3e-6 if dtype == "f" else 1e-14
    assert found.dtype == dtype
    assert np.abs(found - wanted).max() < most * max(1, np.abs(wanted).max())


@pytest.mark.parametrize("rows", [1, 2, 5, 40])
@pytest.mark.parametrize("heads", [1, 2, 3, 6])
@pytest.mark.parametrize("options", [{}, {"is_causal": True}, {"attn_mask": "bool"}])
def test_groups_of_heads_have_the_same_keys(heads: int, rows: int, options: dict[str, Any]) -> None:
    q, k, v = randoms(2, 6, rows, 16), randoms(2, heads, 50, 16), randoms(2, heads, 50, 16)
    options = dict(options)
    mask = randoms(2, 6, rows, 50) > 0 if options.pop("attn_mask", None) else None
    found = made(q, k, v, mask, enable_gqa=True, **options)
    repeated = (np.repeat(x, 6 // heads, 1) for x in (k, v))
    assert np.allclose(found, made(q, *repeated, mask, **options), rtol=1e-5, atol=1e-6)


def test_keys_for_a_part_of_all_heads_are_refused() -> None:
    q, k = torch.ones(1, 6, 3, 4), torch.ones(1, 4, 3, 4)
    with pytest.raises(RuntimeError, match="must divide the number of heads"):
        F.scaled_dot_product_attention(q, k, k, enable_gqa=True)
    with pytest.raises(RuntimeError):
        F.scaled_dot_product_attention(q, k, k)
    one = torch.ones(1, 1, 3, 4)
    assert F.scaled_dot_product_attention(q, one, one).shape == (1, 6, 3, 4)


def test_kernels_refuse_what_does_not_fit() -> None:
    q, k = np.ones((1, 6, 3, 4), "f"), np.ones((1, 2, 5, 4), "f")
    mask, sums = np.ones((1, 6, 3, 5), bool), np.ones((1, 6, 3), "f")
    y = attention.attend(q, k, k, mask, 1.0, sums=sums)
    odd = np.ones((1, 2, 4, 4), "f")
    for change in (
        *({"key": odd}, {"value": odd}, {"key": k[..., :3]}, {"value": k.astype("d")}),
        *({"key": k[:, :0]}, {"mask": mask[..., :4]}, {"mask": mask[:, :2]}),
        *({"sums": sums[..., :2]}, {"query": q[:, :5]}),
    ):
        given = {"query": q, "key": k, "value": k, "mask": mask, "sums": sums, **change}
        with pytest.raises(ValueError, match="not"):
            attention.attend(**given, scale=1.0)
    ragged = np.zeros((1, 2, 5), np.dtype([("x", "f4", 4), ("y", "i1")]))["x"]
    ragged[...] = k
    assert np.array_equal(attention.attend(q, ragged, k, mask, 1.0), y)
    for g, result in ((y[:, :2], y), (y, y[:, :2]), (y.astype("d"), y)):
        with pytest.raises(ValueError, match="results do not fit"):
            attention.gradients(g, q, k, k, mask, result, 1.0, False, False)


def lying(x: Any, order: tuple[int, ...]) -> Any:
    """The same numbers with dimensions that lie in another order."""
    back = [order.index(d) for d in range(x.ndim)]
    return np.ascontiguousarray(x.transpose(order)).transpose(back)


@pytest.mark.parametrize("rows", [2, 60])
@pytest.mark.parametrize("order", [(0, 2, 1, 3), (0, 1, 3, 2), (3, 2, 1, 0), (2, 0, 1, 3)])
def test_operands_may_lie_in_any_way(order: tuple[int, ...], rows: int) -> None:
    q, k, v = (randoms(2, 3, length, 16) for length in (rows, 50, 50))
    mask = randoms(2, 3, rows, 50)
    wanted = made(q, k, v, mask)
    found = made(*(lying(x, order) for x in (q, k, v, mask)))
    assert np.allclose(found, wanted, rtol=1e-5, atol=1e-6)
    every = np.zeros((2, 3, 2 * rows, 32), "f")[:, :, ::2, ::2]
    every[...] = q
    assert np.array_equal(made(every, k, v, mask), wanted)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("kind", ["none", "line", "whole", "bool", "causal"])
@pytest.mark.parametrize("sizes", [(3, 70, 16, 24), (40, 133, 64, 40), (60, 50, 7, 9)])
def test_sixteen_bits(sizes: tuple[int, ...], kind: str, dtype: torch.dtype) -> None:
    rows, keys, depth, width = sizes
    shapes = (1, 4, rows, depth), (1, 2, keys, depth), (1, 2, keys, width)
    q, k, v = (torch.from_numpy(randoms(*shape)).to(dtype) for shape in shapes)
    mask = torch.from_numpy(randoms(1 if kind == "line" else rows, keys))
    shown = {"line": mask, "whole": mask.to(dtype), "bool": mask > 0.3}.get(kind)
    options = {"attn_mask": shown, "is_causal": kind == "causal", "enable_gqa": True}
    found = F.scaled_dot_product_attention(q, k, v, **options)
    wide = shown if shown is None or shown.dtype == torch.bool else shown.double()
    options["attn_mask"] = wide
    wanted = F.scaled_dot_product_attention(q.double(), k.double(), v.double(), **options)
    assert found.dtype == dtype
    least = 2**-8 if dtype == torch.bfloat16 else 2**-11
    assert (found.double() - wanted).abs().max() < 2 * least * wanted.abs().max()
    columns = [x.transpose(1, 2).contiguous().transpose(1, 2) for x in (q, k, v)]
    options["attn_mask"] = shown
    assert torch.equal(F.scaled_dot_product_attention(*columns, **options), found)


def test_float32_is_rounded_where_that_is_asked_for() -> None:
    q, k, v = randoms(1, 2, 100, 64), randoms(1, 2, 200, 64), randoms(1, 2, 200, 64)
    exact, few = made(q, k, v), made(q[:, :, :4], k, v)
    torch.set_float32_matmul_precision("medium")
    try:
        found, found_few = made(q, k, v), made(q[:, :, :4], k, v)
    finally:
        torch.set_float32_matmul_precision("highest")
    assert np.array_equal(few, found_few)
    assert np.abs(found - exact).max() < 2**-6 * np.abs(exact).max()
    assert np.array_equal(made(q, k, v), exact)
    if not host().has_pairs:
        assert np.array_equal(found, exact)
    else:
        halves = [torch.from_numpy(x).bfloat16().float().numpy() for x in (q, k, v)]
        assert not np.array_equal(found, exact)
        assert np.abs(found - made(*halves)).max() < 2**-7 * np.abs(exact).max()


def test_masks_and_scores_that_are_not_finite_are_as_in_torch() -> None:
    q, k, v = randoms(1, 2, 4, 8), randoms(1, 2, 5, 8), randoms(1, 2, 5, 8)
    mask = np.zeros((4, 5), "f")
    mask[1], mask[2], mask[3, 2] = -INFINITY, np.finfo("f").min, INFINITY
    found = made(q, k, v, mask)
    assert not found[:, :, 1].any()  # nothing is seen
    assert np.allclose(found[:, :, 2], v.mean(2), atol=1e-6)  # all is seen alike
    assert np.isnan(found[:, :, 3]).all()
    assert np.isfinite(found[:, :, 0]).all()
    hidden = np.ones((4, 5), bool)
    hidden[:, 2] = False
    for number in (math.nan, INFINITY):
        odd = k.copy()
        odd[:, :, 2] = number
        assert np.isnan(made(q, odd, v, hidden)).all()  # what is added to NaN stays NaN
        odd = v.copy()
        odd[:, :, 2] = number
        assert np.isnan(made(q, k, odd, hidden)).all()  # no weight makes a number of it
    later = k.copy()
    later[:, :, 3] = math.nan
    found = made(q, later, v, is_causal=True)
    assert np.isnan(found).any(-1)[0].tolist() == [[False, False, False, True]] * 2


@pytest.mark.parametrize("rows", [4, 12])
def test_logarithms_of_sums(rows: int) -> None:
    q, k, v = (torch.from_numpy(randoms(1, 2, size, 8)) for size in (rows, 150, 150))
    mask = torch.zeros(rows, 150)
    mask[1] = -INFINITY
    attend = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
    found, sums = attend(q, k, v, attn_mask=mask)
    wanted = torch.logsumexp(q @ k.mT / math.sqrt(8) + mask, -1)
    wanted[:, :, 1] = 0
    assert torch.allclose(sums, wanted, atol=1e-5)
    assert torch.equal(found, F.scaled_dot_product_attention(q, k, v, mask))


@pytest.mark.skipif(not elf.is_known() or not host().has_fma, reason="code for x86-64")
@pytest.mark.parametrize(("target", "dtype"), [(PLAIN, "f"), (HASWELL, "f"), (HASWELL, "d")])
@pytest.mark.parametrize("rows", [3, 40])
def test_cpus_with_shorter_vectors(
    target: Target, rows: int, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rushlight.ops.kernels.code.loading.assemble import assembled, placed

    def kernel(name: str, parameters: object, text: Any) -> int:
        return placed(assembled(text(target), target), (name,))[name]

    monkeypatch.setattr(attention, "kernel", kernel)
    monkeypatch.setattr(attention, "host", lambda: target)
    monkeypatch.setattr(attention, "_way", attention._way.__wrapped__)
    q, k, v = (randoms(1, 2, size, 24).astype(dtype) for size in (rows, 140, 140))
    mask = np.broadcast_to(randoms(rows, 140) > 0, (1, 2, rows, 140))
    found = attention.attend(q, k, v, mask, 0.2)
    assert np.abs(found - expected(q, k, v, mask, 0.2)).max() < (3e-6 if dtype == "f" else 1e-14)


def test_what_is_not_a_number_stays_in_its_row() -> None:
    q, k, v = randoms(1, 1, 40, 8), randoms(1, 1, 50, 8), randoms(1, 1, 50, 8)
    wanted = made(q, k, v)
    q[0, 0, 3, 0] = math.nan
    found = made(q, k, v)
    assert np.isnan(found[0, 0, 3]).all()
    found[0, 0, 3] = wanted[0, 0, 3]
    assert np.array_equal(found, wanted)


def test_a_row_without_keys_is_zero_and_with_several_heads_nan() -> None:
    q, k, v = randoms(1, 2, 30, 8), randoms(1, 2, 30, 8), randoms(1, 2, 30, 8)
    mask = np.ones((30, 30), bool)
    mask[4] = False
    assert not made(q, k, v, mask)[:, :, 4].any()
    layer = torch.nn.MultiheadAttention(8, 2, batch_first=True).eval()
    x = torch.from_numpy(randoms(1, 30, 8))
    with torch.no_grad():
        found = layer(x, x, x, attn_mask=torch.from_numpy(~mask), need_weights=False)[0]
        weighted = layer(x, x, x, attn_mask=torch.from_numpy(~mask))[0]
    assert found.isnan().any(-1)[0].nonzero().flatten().tolist() == [4]
    assert np.allclose(found.numpy(), weighted.numpy(), rtol=1e-4, atol=1e-6, equal_nan=True)


def test_the_number_of_threads_changes_no_bit() -> None:
    q, k, v = randoms(2, 3, 200, 32), randoms(2, 3, 150, 32), randoms(2, 3, 150, 32)
    before, found = threads.get_threads(), set()
    for count in (1, 2, 3):
        threads.set_threads(count)
        found.add(made(q, k, v, is_causal=True).tobytes())
    threads.set_threads(before)
    assert len(found) == 1


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("options", [{}, {"is_causal": True}, {"enable_gqa": True}])
def test_the_result_lies_as_the_queries_do(dtype: torch.dtype, options: dict[str, bool]) -> None:
    attend = torch.nn.functional.scaled_dot_product_attention
    columns = torch.randn(2, 3, 2, 4).to(dtype).transpose(1, 2)  # heads that were columns
    made = attend(columns, columns, columns, **options)
    plain = attend(*[columns.contiguous()] * 3, **options)
    assert torch.equal(made, plain)
    assert (made.stride(), plain.stride()) == ((24, 4, 8, 1), (24, 12, 4, 1))
    assert made.transpose(1, 2).view(2, 3, 8).is_contiguous()
    whole = torch.randn(2, 3, 3, 2, 4).to(dtype).permute(2, 0, 3, 1, 4)
    assert attend(*whole, **options).stride() == (24, 4, 8, 1)
    learned = columns.clone(memory_format=torch.preserve_format).requires_grad_()
    attend(learned, learned, learned, **options).transpose(1, 2).view(2, 3, 8).sum().backward()
    assert learned.grad is not None


def test_where_the_result_lies_in_order() -> None:
    attend = torch.nn.functional.scaled_dot_product_attention
    columns = torch.randn(2, 3, 2, 4).transpose(1, 2)
    wider = torch.randn(2, 3, 2, 6).transpose(1, 2)
    turned = torch.randn(2, 2, 4, 3).mT
    assert attend(columns, columns, wider).is_contiguous()
    assert attend(columns, columns, columns, dropout_p=0.5).is_contiguous()
    assert attend(turned, columns, columns).is_contiguous()
    assert attend(columns[0], columns[0], columns[0]).is_contiguous()


@pytest.mark.parametrize("form", ["plain", "causal", "bool", "float"])
def test_later_calls_are_known_and_give_the_same(form: str) -> None:
    q, k, v = (torch.from_numpy(randoms(2, 3, 9, size)) for size in (8, 8, 5))
    mask = torch.from_numpy(randoms(9, 9))
    settings: dict[str, Any] = {"is_causal": form == "causal"}
    if form in ("bool", "float"):
        settings["attn_mask"] = mask > 0.3 if form == "bool" else mask

    def attended(*given: torch.Tensor) -> torch.Tensor:
        return F.scaled_dot_product_attention(*given, **settings)

    others = [torch.from_numpy(randoms(2, 3, 9, size) * 2) for size in (8, 8, 5)]
    wanted, wanted_others = attended(q, k, v), attended(*others)
    for _ in range(80):
        assert torch.equal(attended(q, k, v), wanted)
        assert torch.equal(attended(*others), wanted_others)


@pytest.mark.parametrize("norm_first", [False, True])
def test_layers_take_operands_that_lie_otherwise(norm_first: bool) -> None:
    layer = torch.nn.TransformerEncoderLayer(4, 2, 3, batch_first=True, norm_first=norm_first)
    layer.eval()
    for order in ((2, 1, 0), (1, 2, 0), (2, 0, 1)):
        sizes = [0, 0, 0]
        for place, size in zip(order, (2, 3, 4), strict=True):
            sizes[place] = size
        x = torch.from_numpy(randoms(*sizes)).permute(order)
        with torch.no_grad():
            assert torch.allclose(layer(x), layer(x.contiguous()), atol=1e-6)


@pytest.mark.parametrize("masked", ["", "padding", "mask", "both"])
@pytest.mark.parametrize("form", ["alone", "with weights", "each head's weights", "layer"])
def test_calls_of_layers_become_known_and_give_the_same(form: str, masked: str) -> None:
    torch.manual_seed(3)
    attends = torch.nn.MultiheadAttention(8, 2, batch_first=True).eval()
    layer = torch.nn.TransformerEncoderLayer(8, 2, 12, batch_first=True).eval()
    one, other = (torch.from_numpy(randoms(3, 5, 8) * factor) for factor in (1, 3))
    masks: dict[str, Any] = {}
    if masked in ("padding", "both"):
        masks["key_padding_mask"] = torch.arange(5) >= torch.tensor([[5], [2], [4]])
    if masked in ("mask", "both"):
        masks["attn_mask"] = torch.ones(5, 5, dtype=torch.bool).triu(1)

    def called(x: torch.Tensor) -> Any:
        if form == "layer":
            return layer(x, masks.get("attn_mask"), masks.get("key_padding_mask")), None
        each = form == "each head's weights"
        needs = {"need_weights": form != "alone", "average_attn_weights": not each}
        return attends(x, x, x, **masks, **needs)

    name = "_transformer_encoder_layer_fwd" if form == "layer" else "_native_multi_head_attention"
    entry = TABLE.operator(f"aten::{name}")
    assert entry is not None
    with torch.no_grad():
        wanted = [[str(part) for part in called(x)] for x in (one, other)]
        for _ in range(60):
            found = [[str(part) for part in called(x)] for x in (one, other)]
            assert found == wanted
    known = direct._NATIVE.get(entry)
    assert (known is None) is not direct.knows_calls()
    assert known is None or known.count


def test_what_is_dropped_is_never_known() -> None:
    x = torch.ones(1, 1, 2, 2)
    for _ in range(100):
        F.scaled_dot_product_attention(x, x, x, dropout_p=0.01)
    found = {str(F.scaled_dot_product_attention(x, x, x, dropout_p=0.5)) for _ in range(60)}
    assert len(found) > 1
