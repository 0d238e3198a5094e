"""`torch.nn.attention.flex_attention`: scores and masks that functions of places make."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

import rushlight as torch
from rushlight.nn.attention.flex_attention import (
    AuxRequest,
    BlockMask,
    create_block_mask,
    create_mask,
    flex_attention,
    or_masks,
)


def test_attention_with_changed_scores() -> None:
    torch.manual_seed(0)
    q, k, v = (torch.randn(2, 4, 6, 8, requires_grad=True) for _ in range(3))
    attend = torch.nn.functional.scaled_dot_product_attention
    assert torch.allclose(flex_attention(q, k, v), attend(q, k, v), atol=1e-6)
    causal = create_block_mask(lambda b, h, i, j: i >= j, None, None, 6, 6, BLOCK_SIZE=2)
    found, lse = flex_attention(q, k, v, block_mask=causal, return_lse=True)
    assert torch.allclose(found, attend(q, k, v, is_causal=True), atol=1e-6)
    assert tuple(lse.shape) == (2, 4, 6)
    assert causal.to_dense().tolist() == [[[[1, 0, 0], [1, 1, 0], [1, 1, 1]]]]
    assert causal.kv_num_blocks.tolist() == [[[1, 1, 1]]]
    assert causal.full_kv_num_blocks.tolist() == [[[0, 1, 2]]]
    slopes = torch.arange(4.0)
    biased = flex_attention(q, k, v, lambda s, b, h, i, j: s + slopes[h] * (j - i))
    places = torch.arange(6.0)
    bias = slopes.reshape(4, 1, 1) * (places - places.reshape(6, 1))
    assert torch.allclose(biased, attend(q, k, v, attn_mask=bias), atol=1e-5)
    shared = flex_attention(q, k[:, :2], v[:, :2], enable_gqa=True)
    assert torch.allclose(shared, attend(q, k[:, :2], v[:, :2], enable_gqa=True), atol=1e-6)
    with pytest.raises(ValueError, match="enable_gqa"):
        flex_attention(q, k[:, :2], v[:, :2])


def test_masks_from_functions_of_places_and_of_scores() -> None:
    class Causal:
        def __call__(self, b: Any, h: Any, q: Any, k: Any) -> Any:
            return q >= k

        def method(self, b: Any, h: Any, q: Any, k: Any) -> Any:
            return q >= k

    def near(b: Any, h: Any, q: Any, k: Any, window: int = 1) -> Any:
        return (q - k).abs() < window

    def cut(score: Any, b: Any, h: Any, q: Any, k: Any) -> Any:
        return torch.where(q >= k, score - 3, -float("inf"))

    causal = [[[[True, False, False], [True, True, False]]]]
    for each in (Causal(), Causal().method, cut, or_masks(Causal(), near)):
        assert create_mask(each, None, None, 2, 3).tolist() == causal
    assert create_mask(near, 1, 1, 2, 2).tolist() == [[[[True, False], [False, True]]]]
    assert create_mask(partial(near, window=2), 1, 1, 2, 2).all()
    with pytest.raises(AssertionError, match="requires a mask_mod function"):
        create_block_mask(cut, 1, 1, 2, 2)
    with pytest.raises(RuntimeError, match=r"All inputs should be callable mask_mods: \(3,\)"):
        or_masks(3)  # type: ignore[arg-type]


def test_how_much_of_the_scores_a_mask_of_blocks_spares() -> None:
    def near(b: Any, h: Any, q: Any, k: Any) -> Any:
        return (q >= k) & (q - k < 3)

    made = create_block_mask(near, None, None, 7, 9, BLOCK_SIZE=2)  # blocks reach past both ends
    assert round(made.sparsity(), 4) == 55.5556
    assert round(create_block_mask(near, None, None, 7, 9).sparsity(), 4) == -25906.3492
    assert create_block_mask(near, 2, 3, 5, 16, BLOCK_SIZE=(2, 4)).sparsity() == 60
    smaller = made._adjust(4, 4)
    assert smaller.shape == (1, 1, 4, 4)
    assert smaller.to_dense().tolist() == [[[[1, 0], [1, 1]]]]


def test_attention_refuses_operands_that_do_not_belong_together() -> None:
    q, k = torch.ones(2, 4, 6, 8), torch.ones(2, 4, 10, 8)
    mask = create_block_mask(lambda b, h, i, j: i >= j, None, None, 6, 10, BLOCK_SIZE=2)
    for queries, keys, word in ((7, 10, "smaller"), (7, 9, "smaller"), (6, 9, "larger")):
        found = rf"shape=\(1, 1, 6, 10\) but got q_len={queries} and kv_len={keys}.* a {word}"
        a, b = torch.ones(2, 4, queries, 8), torch.ones(2, 4, keys, 8)
        with pytest.raises(ValueError, match=found):
            flex_attention(a, b, b, block_mask=mask)
    with pytest.raises(ValueError, match="got E=8 and E=7"):
        flex_attention(q, k[..., :7], k)
    with pytest.raises(NotImplementedError, match="must be 4D tensors"):
        flex_attention(q[0], k[0], k[0])
    with pytest.raises(ValueError, match="block_mask=None, Bq=2, and Bkv=1"):
        flex_attention(q, k[:1], k[:1])
    with pytest.raises(ValueError, match="multiple of kv heads for GQA but got Hq=4 and Hkv=3"):
        flex_attention(q, k[:, :3], k[:, :3], enable_gqa=True)
    with pytest.raises(ValueError, match="Cannot specify both return_lse and return_aux"):
        flex_attention(q, k, k, return_lse=True, return_aux=AuxRequest(lse=True))


def test_scores_of_low_precision_are_kept_in_float32() -> None:
    q = torch.ones(1, 1, 2, 8, dtype=torch.bfloat16)
    k = torch.arange(16.0).reshape(1, 1, 2, 8).div(8).bfloat16()
    made, lse = flex_attention(q, k, k, return_lse=True)
    assert (made.dtype, lse.dtype) == (torch.bfloat16, torch.float32)
    assert torch.allclose(lse, torch.full((1, 1, 2), 4.123289), atol=1e-5)


def test_masks_of_given_blocks() -> None:
    made = create_block_mask(lambda b, h, i, j: i >= j, 2, 3, 300, 300)
    again = BlockMask.from_kv_blocks(
        made.kv_num_blocks,
        made.kv_indices,
        made.full_kv_num_blocks,
        made.full_kv_indices,
        mask_mod=made.mask_mod,
    )
    assert (again.shape, again.seq_lengths) == ((2, 3, 384, 384), (384, 384))
    assert again.q_indices is not None
    assert again.q_indices[0, 0].tolist() == [[0, 2, 1], [1, 2, 0], [2, 0, 1]]
    assert again.to_dense()[0, 0].tolist() == [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    assert "full_q_indices=torch.Size([2, 3, 3, 3]),\n    BLOCK_SIZE=(128, 128)" in repr(again)
    flat, nested = made.as_tuple(), made.as_tuple(flatten=False)
    assert (len(flat), flat[:2], nested[0], flat[14:16]) == (17, (300, 300), (300, 300), (128, 128))
    half = BlockMask.from_kv_blocks(
        made.kv_num_blocks[0, 0], made.kv_indices[0, 0], compute_q_blocks=False
    )
    assert half.shape == (384, 384)
    assert half.q_indices is None
    assert half.to_dense().tolist() == [[1, 0, 0], [0, 1, 0], [1, 1, 1]]
    with pytest.raises(AssertionError, match="must be both provided or omitted"):
        BlockMask.from_kv_blocks(made.kv_num_blocks, made.kv_indices, made.full_kv_num_blocks)
    with pytest.raises(RuntimeError, match="at least 2 dimensions"):
        BlockMask.from_kv_blocks(torch.tensor([1]), torch.tensor([0]))
    joined = create_block_mask(
        lambda b, h, i, j: i >= j, 1, 1, 300, 300, separate_full_blocks=False
    )
    assert joined.full_kv_indices is None
    assert joined.kv_num_blocks.tolist() == [[[1, 2, 3]]]


def test_parts_of_masks_of_blocks() -> None:
    made = create_block_mask(lambda b, h, i, j: i >= j, 2, 3, 300, 300)
    part = made[-1, :, 1]
    assert part.shape == (1, 3, 300, 300)
    assert tuple(part.kv_indices.shape) == (1, 3, 1, 3)
    with pytest.raises(RuntimeError, match="from a sliced BlockMask"):
        part.mask_mod(*[torch.tensor(0)] * 4)
    narrow = made._adjust(300, 100)
    assert narrow.shape == (2, 3, 300, 100)
    assert narrow.kv_num_blocks[0, 0].tolist() == [1, 0, 1]
    assert narrow.to_dense()[0, 0].tolist() == [[1], [1], [1]]
    assert made.to("meta").kv_indices.is_meta


def test_pictures_of_masks_of_blocks() -> None:
    mask = create_block_mask(lambda b, h, q, k: q >= k, 2, 3, 256, 384)
    lines = mask.to_string(limit=2).splitlines()
    assert lines[:4] == ["(0, 0)", "██    ", "████  ", ""]
    assert lines[4] == "(0, 1)"
    assert lines[-3] == "..."
    assert str(mask[0, 0]).splitlines()[1:] == ["(0, 0)", "██    ", "████", ")"]
    large = create_block_mask(lambda b, h, q, k: q >= k, 1, 1, 1024, 1024)
    assert large.to_string(grid_size=(2, 4)).splitlines()[1:] == ["░░░░    ", "████░░░░"]
    assert len(large.to_string(grid_size=-1).splitlines()) == 9
