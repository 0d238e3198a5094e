"""`torch.distributed.fsdp`: parameters in parts over processes.

Policies can be named, so that programs that would use them elsewhere import; what shares a module
out is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from ...module_names import names_of
from ...ops.memory.dtype import DType

__getattr__ = names_of(__name__)
__all__ = [
    *("FSDPModule", "FullyShardedDataParallel", "fully_shard", "register_fsdp_forward_method"),
    *("BackwardPrefetch", "CPUOffload", "CPUOffloadPolicy", "MixedPrecision"),
    *("MixedPrecisionPolicy", "OffloadPolicy", "ShardingStrategy", "StateDictType"),
]


class ShardingStrategy(Enum):
    """What is in parts: parameters, gradients, what optimizers keep."""

    FULL_SHARD = auto()
    SHARD_GRAD_OP = auto()
    NO_SHARD = auto()
    HYBRID_SHARD = auto()
    _HYBRID_SHARD_ZERO2 = auto()


class BackwardPrefetch(Enum):
    """When the next parameters are fetched in the backward pass."""

    BACKWARD_PRE = auto()
    BACKWARD_POST = auto()


class StateDictType(Enum):
    """How a state dict holds parts."""

    FULL_STATE_DICT = auto()
    LOCAL_STATE_DICT = auto()
    SHARDED_STATE_DICT = auto()


@dataclass
class CPUOffload:
    """Whether parameters wait on the CPU."""

    offload_params: bool = False


@dataclass
class MixedPrecision:
    """In which dtypes parameters, gradients and buffers are used."""

    param_dtype: DType | None = None
    reduce_dtype: DType | None = None
    buffer_dtype: DType | None = None
    keep_low_precision_grads: bool = False
    cast_forward_inputs: bool = False
    cast_root_forward_inputs: bool = True


@dataclass(frozen=True)
class MixedPrecisionPolicy:
    """The same for `fully_shard`."""

    param_dtype: DType | None = None
    reduce_dtype: DType | None = None
    output_dtype: DType | None = None
    cast_forward_inputs: bool = True


@dataclass
class OffloadPolicy:
    """Nothing waits elsewhere."""


@dataclass
class CPUOffloadPolicy(OffloadPolicy):
    """Parameters wait on the CPU."""

    pin_memory: bool = True
