"""The operators of `prims`: few and strict, of which torch's tools write graphs.

Each does what operators of `aten` do once its operands are of one dtype and one size, so it is made
of those; none has a gradient.
"""

from . import creation, elementwise, folds, moves, transforms, views

__all__ = ["creation", "elementwise", "folds", "moves", "transforms", "views"]
