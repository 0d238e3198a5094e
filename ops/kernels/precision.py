"""How exact products of float32 have to be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

__all__ = ["PRECISION"]


class Precision:
    """What has been asked for: whether float32 may be rounded to bfloat16 before it is multiplied.

    Sums are float32 in any case.  `followers` are called where that changes.
    """

    __slots__ = ("convolutions_may_be_short", "followers", "products_may_be_short")

    def __init__(self) -> None:
        self.products_may_be_short = False
        self.convolutions_may_be_short = False
        self.followers: list[Callable[[], object]] = []

    def ask(self, *, products: bool, convolutions: bool) -> None:
        """Say which may be."""
        before = self.products_may_be_short, self.convolutions_may_be_short
        self.products_may_be_short, self.convolutions_may_be_short = products, convolutions
        if before != (products, convolutions):
            for each in self.followers:
                each()


PRECISION: Final = Precision()
"""This process's, as `rushlight.float_precision` sets it."""
