"""`torch.distributed.nn`: what processes do together, with gradients; one has all there is."""

from __future__ import annotations

from ...module_names import names_of
from . import functional
from .functional import (
    all_gather,
    all_reduce,
    all_to_all,
    broadcast,
    gather,
    reduce,
    reduce_scatter,
    scatter,
)

__all__ = [
    "all_gather",
    "all_reduce",
    "all_to_all",
    "broadcast",
    "functional",
    "gather",
    "reduce",
    "reduce_scatter",
    "scatter",
]

__getattr__ = names_of(__name__)
