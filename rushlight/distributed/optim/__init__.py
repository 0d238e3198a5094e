"""`torch.distributed.optim`: optimizers whose state is spread over processes; one has it all."""

from __future__ import annotations

from ...module_names import names_of
from .zero_redundancy_optimizer import ZeroRedundancyOptimizer

__all__ = ["ZeroRedundancyOptimizer"]

__getattr__ = names_of(__name__)
