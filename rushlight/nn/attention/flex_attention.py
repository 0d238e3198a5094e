"""`torch.nn.attention.flex_attention`: attention whose scores a function of the user's changes.

The function is called once, with tensors of the places that broadcast against the scores
(batch, heads, queries, keys); it has to be made of operators that work element by element.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from inspect import Parameter, signature
from typing import Final, NamedTuple

from ...module_names import names_of
from ...ops.eager.dispatch import eager_function
from ...ops.memory.dtype import Device
from ...ops.tensors.tensor import Tensor
from .block_masks import BlockMask, Mask, noop_mask, ordered

__all__ = [
    "AuxOutput",
    "AuxRequest",
    "BlockMask",
    "and_masks",
    "create_block_mask",
    "create_mask",
    "flex_attention",
    "noop_mask",
    "or_masks",
]

_arange = eager_function("aten::arange")
_pad = eager_function("aten::constant_pad_nd")
_DEFAULT_SPARSE_BLOCK_SIZE: Final = 128


class AuxRequest(NamedTuple):
    """What else is wanted: logarithms of the sums of exponentials, largest scores."""

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """What else was wanted, (batch, heads, queries) each."""

    lse: Tensor | None = None
    max_scores: Tensor | None = None


def _check_callable(mask_mods: tuple[Mask, ...]) -> None:
    if not all(map(callable, mask_mods)):
        raise RuntimeError(f"All inputs should be callable mask_mods: {mask_mods}")


def and_masks(*mask_mods: Mask) -> Mask:
    """What all masks let through.

    Raises:
        RuntimeError: one of them is no function.
    """
    _check_callable(mask_mods)

    def both(b: Tensor, h: Tensor, q: Tensor, kv: Tensor) -> Tensor:
        made = noop_mask(b, h, q, kv)
        for each in mask_mods:
            made = made & each(b, h, q, kv)
        return made

    return both


def or_masks(*mask_mods: Mask) -> Mask:
    """What a mask lets through.

    Raises:
        RuntimeError: one of them is no function.
    """
    _check_callable(mask_mods)

    def either(b: Tensor, h: Tensor, q: Tensor, kv: Tensor) -> Tensor:
        made = ~noop_mask(b, h, q, kv)
        for each in mask_mods:
            made = made | each(b, h, q, kv)
        return made

    return either


def _places(sizes: tuple[int, int, int, int]) -> list[Tensor]:
    """The places along each of four dimensions, so that they broadcast."""
    return [
        _arange(size).reshape([size if each == dim else 1 for each in range(4)])
        for dim, size in enumerate(sizes)
    ]


def _takes_scores(mod_fn: Callable[..., Tensor]) -> bool:
    """Whether a function takes scores before the four places; what has a default does not count."""
    given = signature(mod_fn).parameters.values()
    return sum(each.default is Parameter.empty for each in given) == 5


def create_mask(
    mod_fn: Callable[..., Tensor],
    B: int | None,
    H: int | None,
    Q_LEN: int,
    KV_LEN: int,
    device: Device | str | None = None,
) -> Tensor:
    """What a mask lets through, or a function of scores does not make minus infinity.

    Returns:
        Booleans (B, H, Q_LEN, KV_LEN).
    """
    sizes = (B or 1, H or 1, Q_LEN, KV_LEN)
    places = _places(sizes)
    if _takes_scores(mod_fn):
        made: Tensor = mod_fn(eager_function("aten::zeros")(sizes), *places) != -math.inf
    else:
        made = mod_fn(*places)
    return made.expand(sizes)


def create_block_mask(
    mask_mod: Mask,
    B: int | None,
    H: int | None,
    Q_LEN: int,
    KV_LEN: int,
    device: Device | str | None = None,
    BLOCK_SIZE: int | tuple[int, int] = _DEFAULT_SPARSE_BLOCK_SIZE,
    _compile: bool = False,
    separate_full_blocks: bool = True,
    compute_dq_write_order: bool = False,
    dq_kv_order: bool = True,
) -> BlockMask:
    """The blocks that a mask lets through; whole ones are told apart, or count as the others.

    Raises:
        AssertionError: the function is one of scores.
    """
    if _takes_scores(mask_mod):
        raise AssertionError(f"create-block_mask requires a mask_mod function! Got {mask_mod}")
    block = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else BLOCK_SIZE
    some, whole = _seen(mask_mod, (B or 1, H or 1, Q_LEN, KV_LEN), block)
    counts, indices = ordered(some & ~whole if separate_full_blocks else some)
    of_whole = ordered(whole) if separate_full_blocks else (None, None)
    return BlockMask.from_kv_blocks(
        counts,
        indices,
        of_whole[0],
        of_whole[1],
        BLOCK_SIZE=block,
        mask_mod=mask_mod,
        seq_lengths=(Q_LEN, KV_LEN),
    )


def _seen(
    mask_mod: Mask, sizes: tuple[int, int, int, int], block: tuple[int, int]
) -> tuple[Tensor, Tensor]:
    """Which blocks (batch, heads, rows, columns) a mask lets through at all, and which whole."""
    dense = create_mask(mask_mod, *sizes)
    rows, columns = (-(-n // size) for n, size in zip(sizes[2:], block, strict=True))
    missing = [columns * block[1] - sizes[3], rows * block[0] - sizes[2]]
    padded = _pad(dense, [0, missing[0], 0, missing[1]], False)
    blocks = padded.reshape([*sizes[:2], rows, block[0], columns, block[1]]).sum((3, 5))
    return blocks > 0, blocks == math.prod(block)


def _check_operands(
    query: Tensor, key: Tensor, value: Tensor, block_mask: BlockMask | None, enable_gqa: bool
) -> None:
    """Refuse tensors that do not belong together, or not to the mask."""
    width, of_keys = query.shape[-1], key.shape[-1]
    if width != of_keys:
        raise ValueError(
            f"Expect query and key/value to have the same embedding dimension but got E={width} "
            f"and E={of_keys}."
        )
    if not query.dim() == key.dim() == value.dim() == 4:
        raise NotImplementedError("NYI: query, key, and value must be 4D tensors")
    if query.shape[0] != key.shape[0] and block_mask is None:
        raise ValueError(
            "Expect query and key/value to have the same batch size, or non-none block_mask, but "
            f"got block_mask=None, Bq={query.shape[0]}, and Bkv={key.shape[0]}."
        )
    heads, shared = query.shape[1], key.shape[1]
    if heads != shared and not enable_gqa:
        raise ValueError(
            "Expect query and key/value to have the same number of heads but got "
            f"Hq={heads} and Hkv={shared}. Try setting enable_gqa=True for GQA."
        )
    if heads % shared:
        raise ValueError(
            "Expect number of query heads to be a multiple of kv heads for GQA but got "
            f"Hq={heads} and Hkv={shared}."
        )
    if block_mask is not None:
        _check_lengths(block_mask, query.shape[-2], key.shape[-2])


def _check_lengths(block_mask: BlockMask, queries: int, keys: int) -> None:
    q_len, kv_len = block_mask.seq_lengths
    begin = (
        f"block_mask was created for block_mask.shape={block_mask.shape} but got q_len={queries} "
        f"and kv_len={keys}. As the block mask was created for a"
    )
    if queries > q_len or keys > kv_len:
        raise ValueError(
            f"{begin} smaller length than you're using it for, you likely need to create a new "
            "block mask."
        )
    if (queries, keys) != (q_len, kv_len):
        raise ValueError(
            f"{begin} larger length than you're using it for, you can either 1. create a new block "
            "mask with the correct length, or 2. 'adjust' the existing block mask to the correct "
            "length by calling block_mask._adjust(q_len, kv_len). This essentially 'crops' the "
            "block mask to the upper left corner, which does not work for all mask_mods!"
        )


def flex_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score_mod: Callable[..., Tensor] | None = None,
    block_mask: BlockMask | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    return_lse: bool = False,
    kernel_options: object = None,
    *,
    return_aux: AuxRequest | None = None,
) -> Tensor | tuple[Tensor, Tensor] | tuple[Tensor, AuxOutput]:
    """Softmax of changed scores, times the values; rows that see nothing give zeros.

    Args:
        query: (batch, heads, queries, width).
        key: (batch, heads, keys, width); fewer heads with `enable_gqa`.
        value: (batch, heads, keys, width of values).
        score_mod: `score_mod(scores, batch, head, query, key)`.
        block_mask: of `create_block_mask`.
        scale: of the products; the root of the width divides them if there is none.
        enable_gqa: whether several heads of queries share one of keys.
        return_lse: whether the logarithms of the sums of exponentials come back as well.
        kernel_options: taken; there is one kernel.
        return_aux: what else comes back.

    Raises:
        ValueError: widths, batches or heads do not fit each other, lengths not the mask; both
            `return_lse` and `return_aux` are given.
        NotImplementedError: a tensor has not four dimensions.
    """
    if return_lse and return_aux is not None:
        raise ValueError(
            "Cannot specify both return_lse and return_aux. return_lse is deprecated, please use "
            "return_aux=AuxRequest(lse=True) instead."
        )
    _check_operands(query, key, value, block_mask, enable_gqa)
    if query.shape[1] != key.shape[1]:
        times = query.shape[1] // key.shape[1]
        key, value = (each.repeat_interleave(times, 1) for each in (key, value))
    scores = _scores(query, key, scale, score_mod, block_mask)
    highest = scores.amax(-1, keepdim=True)
    weights = scores.softmax(-1).masked_fill(highest == -math.inf, 0.0)
    made = weights.to(query.dtype) @ value
    if return_aux is None and not return_lse:
        return made
    sums = scores.logsumexp(-1)
    if return_aux is None:
        return made, sums
    return made, AuxOutput(
        sums if return_aux.lse else None, highest.squeeze(-1) if return_aux.max_scores else None
    )


def _scores(
    query: Tensor,
    key: Tensor,
    scale: float | None,
    score_mod: Callable[..., Tensor] | None,
    block_mask: BlockMask | None,
) -> Tensor:
    """Scaled products, (batch, heads, queries, keys), changed and masked; of halves in float32."""
    scores = query @ key.transpose(-2, -1)
    if scores.dtype.itemsize < 4:
        scores = scores.float()
    scores = scores * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    b, h, q, k = scores.shape
    places = _places((b, h, q, k))
    if score_mod is not None:
        scores = score_mod(scores, *places)
    if block_mask is not None:
        scores = scores.masked_fill(~block_mask.mask_mod(*places), -math.inf)
    return scores


__getattr__ = names_of(__name__)
