"""Which blocks of keys each block of queries sees: what `flex_attention` takes as its mask."""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import copy
from itertools import product
from typing import Any, Final

from ...ops.eager.dispatch import eager_function
from ...ops.memory.dtype import DTYPES, Device
from ...ops.tensors.tensor import Tensor

__all__ = ["BlockMask", "Mask", "noop_mask", "ordered"]

_arange = eager_function("aten::arange")
Mask = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]
Places = tuple[Tensor, Tensor] | tuple[None, None]
"""Numbers of blocks (..., rows) and which they are (..., rows, columns), those that count first."""

_KINDS: Final = ("kv", "full_kv", "q", "full_q")
_NAMES: Final = tuple(f"{kind}_{each}" for kind in _KINDS for each in ("num_blocks", "indices"))
_HINTS: Final = ("dq_write_order", "dq_write_order_full", "dq_kv_order", "dq_kv_order_spt")
"""In which order a graphics card adds gradients up; nothing here depends on it."""


def noop_mask(batch: Tensor, head: Tensor, token_q: Tensor, token_kv: Tensor) -> Tensor:
    """Everything is seen."""
    made: Tensor = (batch + head + token_q + token_kv) >= 0
    return made


def _sliced_mask_mod_error(
    batch: Tensor, head: Tensor, token_q: Tensor, token_kv: Tensor
) -> Tensor:
    raise RuntimeError(
        "Cannot use mask_mod from a sliced BlockMask. When you slice a BlockMask using [], the "
        "mask_mod attribute is reset. You must set it from the original BlockMask's mask_mod."
    )


def ordered(chosen: Tensor) -> tuple[Tensor, Tensor]:
    """How many blocks of a row are chosen, and all of them, those first."""
    whole = DTYPES["int32"]
    order = chosen.to(whole).argsort(stable=True, dim=-1, descending=True)
    return chosen.sum(-1).to(whole), order.to(whole)


def _dense(counts: Tensor, indices: Tensor) -> Tensor:
    """1 for each block that is chosen."""
    columns = indices.shape[-1]
    counted = _arange(columns) < counts.unsqueeze(-1)
    # What does not count may name any block: it goes into a column of its own, which is left out.
    places = indices.to(DTYPES["int64"]).masked_fill(~counted, columns)
    empty = counts.new_zeros([*indices.shape[:-1], columns + 1])
    made: Tensor = empty.scatter(-1, places, 1)[..., :columns].to(DTYPES["int32"])
    return made


def _turned(counts: Tensor | None, indices: Tensor | None) -> Places:
    """The same blocks, by columns."""
    if counts is None or indices is None:
        return None, None
    return ordered(_dense(counts, indices).transpose(-2, -1))


def _cut(counts: Tensor, indices: Tensor, rows: int, columns: int) -> tuple[Tensor, Tensor]:
    """The blocks of the first rows and columns."""
    indices = indices[..., :rows, :]
    counted = _arange(indices.shape[-1]) < counts[..., :rows].unsqueeze(-1)
    seen = (counted & (indices < columns)).sum(-1).to(DTYPES["int32"])
    return seen, indices[..., :columns]


def _kept(place: object, size: int) -> object:
    """A place of a dimension as a slice, so that the dimension stays."""
    if not isinstance(place, int):
        return place
    begin = place + size if place < 0 else place
    return slice(begin, begin + 1)


class BlockMask:
    """A mask and the blocks of keys that it lets queries see, in part (`kv_…`) or whole.

    `seq_lengths` are the numbers of queries and keys; `shape` begins with what the blocks have.
    """

    def __init__(
        self,
        seq_lengths: tuple[int, int],
        kv_num_blocks: Tensor,
        kv_indices: Tensor,
        full_kv_num_blocks: Tensor | None,
        full_kv_indices: Tensor | None,
        q_num_blocks: Tensor | None,
        q_indices: Tensor | None,
        full_q_num_blocks: Tensor | None,
        full_q_indices: Tensor | None,
        BLOCK_SIZE: tuple[int, int] = (128, 128),
        mask_mod: Mask = noop_mask,
        *,
        dq_write_order: Tensor | None = None,
        dq_write_order_full: Tensor | None = None,
        dq_kv_order: Tensor | None = None,
        dq_kv_order_spt: bool | None = None,
    ) -> None:
        if kv_indices.dim() < 2:
            raise RuntimeError("BlockMask must have at least 2 dimensions")
        for kind, counts, indices in (
            ("kv", full_kv_num_blocks, full_kv_indices),
            ("q", full_q_num_blocks, full_q_indices),
        ):
            if (counts is None) != (indices is None):
                raise AssertionError(
                    f"full_{kind}_num_blocks and full_{kind}_indices must be both provided or "
                    "omitted"
                )
        self.seq_lengths = seq_lengths
        self.kv_num_blocks, self.kv_indices = kv_num_blocks, kv_indices
        self.full_kv_num_blocks, self.full_kv_indices = full_kv_num_blocks, full_kv_indices
        self.q_num_blocks, self.q_indices = q_num_blocks, q_indices
        self.full_q_num_blocks, self.full_q_indices = full_q_num_blocks, full_q_indices
        self.BLOCK_SIZE, self.mask_mod = BLOCK_SIZE, mask_mod
        self.dq_write_order, self.dq_write_order_full = dq_write_order, dq_write_order_full
        self.dq_kv_order, self.dq_kv_order_spt = dq_kv_order, dq_kv_order_spt

    @classmethod
    def from_kv_blocks(
        cls,
        kv_num_blocks: Tensor,
        kv_indices: Tensor,
        full_kv_num_blocks: Tensor | None = None,
        full_kv_indices: Tensor | None = None,
        BLOCK_SIZE: int | tuple[int, int] = 128,
        mask_mod: Mask | None = None,
        seq_lengths: tuple[int, int] | None = None,
        compute_q_blocks: bool = True,
        *,
        dq_write_order: Tensor | None = None,
        dq_write_order_full: Tensor | None = None,
        dq_kv_order: Tensor | None = None,
    ) -> BlockMask:
        """A mask of the blocks of keys that each block of queries sees.

        Raises:
            RuntimeError: indices of one dimension.
            AssertionError: whole blocks are counted, and not told, or the other way round.
        """
        block = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else BLOCK_SIZE
        given = (kv_num_blocks, kv_indices, full_kv_num_blocks, full_kv_indices)
        made = cls(
            seq_lengths or (0, 0),
            *given,
            *(None, None, None, None),
            BLOCK_SIZE=block,
            mask_mod=noop_mask if mask_mod is None else mask_mod,
            dq_write_order=dq_write_order,
            dq_write_order_full=dq_write_order_full,
            dq_kv_order=dq_kv_order,
        )
        if seq_lengths is None:
            rows, columns = kv_indices.shape[-2:]
            made.seq_lengths = (rows * block[0], columns * block[1])
        if compute_q_blocks:
            made.q_num_blocks, made.q_indices = _turned(*given[:2])
            made.full_q_num_blocks, made.full_q_indices = _turned(*given[2:])
        return made

    @property
    def shape(self) -> tuple[int, ...]:
        """The dimensions of the scores: what the blocks have, queries, keys."""
        return (*self.kv_indices.shape[:-2], *self.seq_lengths)

    def as_tuple(self, flatten: bool = True) -> tuple[Any, ...]:
        """All that the mask is made of, with sizes one by one if flat."""
        within = tuple(getattr(self, name) for name in (*_NAMES, *_HINTS))
        if flatten:
            return (*self.seq_lengths, *within, *self.BLOCK_SIZE, self.mask_mod)
        return (self.seq_lengths, *within, self.BLOCK_SIZE, self.mask_mod)

    def __getitem__(self, index: object) -> BlockMask:
        """The mask of some batches, heads and blocks of queries; dimensions stay.

        Its `mask_mod` fails, since places begin elsewhere in what is chosen: set another.
        """
        places = index if isinstance(index, tuple) else (index,)
        kept = tuple(map(_kept, places, self.kv_num_blocks.shape))

        def chosen(blocks: Tensor) -> Tensor:
            part: Tensor = blocks[kept]
            return part

        counts, indices = self.full_kv_num_blocks, self.full_kv_indices
        return BlockMask.from_kv_blocks(
            chosen(self.kv_num_blocks),
            chosen(self.kv_indices),
            None if counts is None else chosen(counts),
            None if indices is None else chosen(indices),
            BLOCK_SIZE=self.BLOCK_SIZE,
            mask_mod=_sliced_mask_mod_error,
            seq_lengths=self.seq_lengths,
            compute_q_blocks=self.q_indices is not None,
        )

    def _adjust(self, new_q_len: int, new_kv_len: int) -> BlockMask:
        """The upper left corner of the mask, for other numbers of queries and keys."""
        rows, columns = -(-new_q_len // self.BLOCK_SIZE[0]), -(-new_kv_len // self.BLOCK_SIZE[1])
        counts, indices = _cut(self.kv_num_blocks, self.kv_indices, rows, columns)
        whole: Places = (None, None)
        if self.full_kv_num_blocks is not None and self.full_kv_indices is not None:
            whole = _cut(self.full_kv_num_blocks, self.full_kv_indices, rows, columns)
        return BlockMask.from_kv_blocks(
            counts,
            indices,
            whole[0],
            whole[1],
            BLOCK_SIZE=self.BLOCK_SIZE,
            mask_mod=self.mask_mod,
            seq_lengths=(new_q_len, new_kv_len),
        )

    def to_dense(self) -> Tensor:
        """1 for each block that is seen, in part or whole."""
        seen = _dense(self.kv_num_blocks, self.kv_indices)
        if self.full_kv_num_blocks is not None and self.full_kv_indices is not None:
            seen = seen + _dense(self.full_kv_num_blocks, self.full_kv_indices)
        return seen

    def sparsity(self) -> float:
        """How many of a hundred scores lie in no block that is seen.

        Less than 0 where blocks reach far beyond the scores.
        """
        blocks = int(self.kv_num_blocks.sum())
        if self.full_kv_num_blocks is not None:
            blocks += int(self.full_kv_num_blocks.sum())
        return 100 * (1 - blocks * math.prod(self.BLOCK_SIZE) / self.numel())

    def numel(self) -> int:
        """The number of scores."""
        return math.prod(self.shape)

    def to(self, device: Device | str) -> BlockMask:
        """The same mask with its tensors on a device."""
        made = copy(self)
        for name in (*_NAMES, *_HINTS):
            if isinstance(each := getattr(self, name), Tensor):
                setattr(made, name, each.to(device))
        return made

    def to_string(self, grid_size: int | tuple[int, int] = (20, 20), limit: int = 4) -> str:
        """A picture of each part of the batch: full where all blocks are seen, light where some.

        Args:
            grid_size: how many rows and columns a picture has at most; -1 for one each block.
            limit: how many parts are shown.
        """
        seen = self.to_dense()
        sizes = seen.shape[:-2]
        most = grid_size if isinstance(grid_size, tuple) else (grid_size, grid_size)
        steps = [-(-n // m) if m > 0 else 1 for n, m in zip(seen.shape[-2:], most, strict=True)]
        shown: list[str] = []
        for place in product(*map(range, sizes)):
            if len(shown) == limit:
                shown += [
                    "...",
                    "To print out more, set BlockMask.to_string(limit=N)",
                    "You can also index (BlockMask[batch, head]) to choose a specific batch or "
                    "head",
                ]
                break
            shown.append(f"{place}\n{_drawn(seen[place], *steps)}")
        return "\n".join(shown)

    def __str__(self) -> str:
        picture = self.to_string().strip()
        return f"BlockMask(shape={self.shape}, sparsity={self.sparsity():.2f}%, \n{picture}\n)"

    def __repr__(self) -> str:
        told = {}
        for name in _NAMES:
            blocks: Tensor | None = getattr(self, name)
            told[name] = str(None if blocks is None else blocks.shape)
        told |= {"BLOCK_SIZE": str(self.BLOCK_SIZE), "shape": str(self.shape)}
        told |= {"sparsity": f"{self.sparsity():.2f}%"}
        told |= {"mask_mod": getattr(self.mask_mod, "__name__", str(self.mask_mod))}
        return "BlockMask(\n    " + ",\n    ".join(map("=".join, told.items())) + "\n)"


def _drawn(seen: Tensor, height: int, width: int) -> str:
    """Lines of characters for blocks, each for so many rows and columns of them."""
    lines = []
    for row in range(0, seen.shape[0], height):
        shares = [
            float(seen[row : row + height, column : column + width].float().mean())
            for column in range(0, seen.shape[1], width)
        ]
        lines.append("".join(2 * _SHADES.get(share, "░") for share in shares) + "\n")
    return "".join(lines)


_SHADES = {0.0: " ", 1.0: "█"}
