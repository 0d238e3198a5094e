"""Operators that make few numbers of many: sums, means, extremes, running totals."""

from . import cumulative, extremes, reduce, special, totals, truth

__all__ = [
    "cumulative",
    "extremes",
    "reduce",
    "special",
    "totals",
    "truth",
]
