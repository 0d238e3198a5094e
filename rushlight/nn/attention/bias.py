"""Masks of causal attention that say where they are aligned."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import IntEnum

from ...ops.eager.dispatch import eager_function
from ...ops.memory.dtype import DTYPES
from ...ops.tensors.tensor import Tensor
from ..functional import scaled_dot_product_attention

__all__ = ["CausalBias", "CausalVariant", "causal_lower_right", "causal_upper_left"]

_ones: Callable[..., Tensor] = eager_function("aten::ones")


class CausalVariant(IntEnum):
    """The corner in which the triangle that may be seen begins or ends."""

    UPPER_LEFT = 1
    LOWER_RIGHT = 2


class CausalBias(Tensor):
    """A mask of causal attention.

    Args:
        variant: the corner.
        seq_len_q: how many positions ask.
        seq_len_kv: how many are asked.

    Raises:
        TypeError: no variant.
    """

    variant: CausalVariant
    seq_len_q: int
    seq_len_kv: int

    def __new__(cls, variant: CausalVariant, seq_len_q: int, seq_len_kv: int) -> CausalBias:
        """A tensor without elements, that knows its mask."""
        if not isinstance(variant, CausalVariant):
            raise AssertionError(f"variant must be a CausalVariant, got {type(variant).__name__}")
        made: CausalBias = eager_function("aten::empty")([0]).as_subclass(cls)
        made.variant, made.seq_len_q, made.seq_len_kv = variant, seq_len_q, seq_len_kv
        return made

    def __init__(self, variant: CausalVariant, seq_len_q: int, seq_len_kv: int) -> None:
        super().__init__()

    def _materialize(self, device: object = None) -> Tensor:
        """The mask (seq_len_q, seq_len_kv): true where something may be seen."""
        shift = 0
        if self.variant is CausalVariant.LOWER_RIGHT:
            shift = self.seq_len_kv - self.seq_len_q
        whole = _ones([self.seq_len_q, self.seq_len_kv], dtype=DTYPES["bool"])
        made: Tensor = whole.tril(shift)
        return made

    @classmethod
    def __torch_function__(
        cls,
        func: Callable[..., object],
        types: Iterable[type],
        args: tuple[object, ...] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        """Attention takes the mask; other functions take the tensor without elements."""
        named = dict(kwargs or {})
        if func is not scaled_dot_product_attention:
            return super().__torch_function__(func, types, args, named)
        given = list(args)
        mask = given[3] if len(given) > 3 else named.get("attn_mask")
        if named.get("is_causal") or (len(given) > 5 and given[5]):
            raise ValueError("CausalBias should not be used with causal=True")
        assert isinstance(mask, CausalBias)
        made = mask._materialize()
        if len(given) > 3:
            given[3] = made
        else:
            named["attn_mask"] = made
        return scaled_dot_product_attention(*given, **named)

    def __repr__(self, *, tensor_contents: object = None) -> str:
        return repr(self._materialize())


def causal_upper_left(*size: int) -> CausalBias:
    """A mask whose triangle begins in the upper left corner.

    Raises:
        AssertionError: not two sizes.
    """
    if len(size) != 2:
        raise AssertionError("causal_upper_left only supports 2D tensors")
    return CausalBias(CausalVariant.UPPER_LEFT, *size)


def causal_lower_right(*size: int) -> CausalBias:
    """A mask whose triangle ends in the lower right corner.

    Raises:
        AssertionError: not two sizes.
    """
    if len(size) != 2:
        raise AssertionError("causal_lower_right only supports 2D tensors")
    return CausalBias(CausalVariant.LOWER_RIGHT, *size)
