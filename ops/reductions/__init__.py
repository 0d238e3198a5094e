"""Operators that make few numbers of many: sums, means, extremes, running totals."""

from . import cumulative, reduce, special, totals, truth

__all__ = [
    "cumulative",
    "reduce",
    "special",
    "totals",
    "truth",
]
