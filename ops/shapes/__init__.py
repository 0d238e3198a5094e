"""Operators about the form of tensors: views, joining, cutting, padding, making new ones."""

from . import arrange, creation, fold, join, nested, pad, query, shape

__all__ = [
    "arrange",
    "creation",
    "fold",
    "join",
    "nested",
    "pad",
    "query",
    "shape",
]
