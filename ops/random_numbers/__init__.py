"""The generator of torch's CPU stream, and the operators that draw from it."""

from . import creation_out, distributions, multinomial, random_ops

__all__ = [
    "creation_out",
    "distributions",
    "multinomial",
    "random_ops",
]
