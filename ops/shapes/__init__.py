"""Operators about the form of tensors: views, joining, cutting, padding, making new ones."""

from . import arrange, creation, fold, join, nested, pad, query, shape, sizes_of_graphs

__all__ = [
    "arrange",
    "creation",
    "fold",
    "join",
    "nested",
    "pad",
    "query",
    "shape",
    "sizes_of_graphs",
]
