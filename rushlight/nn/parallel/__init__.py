"""`torch.nn.parallel`: modules over several devices, of which there is one."""

from __future__ import annotations

from ...module_names import names_of
from .data_parallel import DataParallel, data_parallel
from .distributed import DistributedDataParallel
from .replicate import parallel_apply, replicate
from .scatter_gather import gather, scatter

__all__ = [
    "DataParallel",
    "DistributedDataParallel",
    "data_parallel",
    "gather",
    "parallel_apply",
    "replicate",
    "scatter",
]

__getattr__ = names_of(__name__)
