"""`torch.utils.dlpack`: memory shared with other libraries."""

from __future__ import annotations

from enum import IntEnum

from ..ops.tensors.interchange import from_dlpack
from ..ops.tensors.tensor import Tensor

__all__ = ["DLDeviceType", "from_dlpack", "to_dlpack"]


def to_dlpack(tensor: Tensor) -> object:
    """A capsule of the tensor's memory, for one use."""
    return tensor.__dlpack__(max_version=(1, 0))


class DLDeviceType(IntEnum):
    """The numbers of devices in DLPack's header."""

    kDLCPU = 1
    kDLCUDA = 2
    kDLCUDAHost = 3
    kDLOpenCL = 4
    kDLVulkan = 7
    kDLMetal = 8
    kDLVPI = 9
    kDLROCM = 10
    kDLROCMHost = 11
    kDLExtDev = 12
    kDLCUDAManaged = 13
    kDLOneAPI = 14
    kDLWebGPU = 15
    kDLHexagon = 16
    kDLMAIA = 17
