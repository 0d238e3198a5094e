"""Operators that read or write chosen elements: indexing, scattering, sorting, searching."""

from . import (
    along,
    copying,
    histogram,
    index,
    ranking,
    running_extremes,
    scatter,
    searching,
    slices,
    sorting,
    strides,
    take,
    view_copies,
)

__all__ = [
    "along",
    "copying",
    "histogram",
    "index",
    "ranking",
    "running_extremes",
    "scatter",
    "searching",
    "slices",
    "sorting",
    "strides",
    "take",
    "view_copies",
]
