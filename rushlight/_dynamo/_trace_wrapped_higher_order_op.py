"""What packages ask of this module of `torch._dynamo`."""

from __future__ import annotations

__all__ = ["TransformGetItemToIndex"]


class TransformGetItemToIndex:
    """A block in which 0-d tensors index as tensors do: they always do here, also within vmap."""

    def __enter__(self) -> None:
        """Nothing changes."""

    def __exit__(self, *raised: object) -> None:
        """Nothing was changed."""
