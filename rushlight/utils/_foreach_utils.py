"""`torch.utils._foreach_utils`: tensors sorted for operators on lists of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from ..ops.memory.dtype import Device, DType
from ..ops.tensors.tensor import Tensor

__all__ = ["Indices", "TensorListList"]

TensorListList: TypeAlias = list[list[Tensor | None]]
Indices: TypeAlias = list[int]

_WITH_LISTS = ["cuda", "xpu", "mtia", "privateuseone"]
_WITH_FUSED = ["mps", "cuda", "xpu", "hpu", "cpu", "mtia", "privateuseone"]


def _get_foreach_kernels_supported_devices() -> list[str]:
    """Types of devices on which optimizers take operators on lists by themselves."""
    return _WITH_LISTS.copy()


def _get_fused_kernels_supported_devices() -> list[str]:
    """Types of devices that have optimizers' steps as one kernel."""
    return _WITH_FUSED.copy()


def _group_tensors_by_device_and_dtype(
    tensorlistlist: Sequence[Sequence[Tensor | None]], with_indices: bool = False
) -> dict[tuple[Device, DType], tuple[TensorListList, Indices]]:
    """Several lists, in each of which the same place belongs to the same parameter, cut up by the
    device and dtype of the first list's tensors; with their places, if asked for.

    Lists but the first may be empty, and have None in some places.

    Raises:
        RuntimeError: the lists have several lengths, or one of the first list's tensors is None.
    """
    if len({len(tensors) for tensors in tensorlistlist if tensors}) != 1 or not tensorlistlist[0]:
        raise RuntimeError("nested tensor lists must have one length, and the first be not empty")
    found: dict[tuple[Device, DType], tuple[TensorListList, Indices]] = {}
    for place, first in enumerate(tensorlistlist[0]):
        if first is None:
            raise RuntimeError(
                "Tensors of the first list of nested Tensor lists are supposed to be defined but "
                f"the {place}-th Tensor is not."
            )
        empty: TensorListList = [[] for _ in tensorlistlist]
        lists, indices = found.setdefault((first.device, first.dtype), (empty, []))
        for group, tensors in zip(lists, tensorlistlist, strict=True):
            group += tensors[place : place + 1]
        if with_indices:
            indices.append(place)
    return found


def _device_has_foreach_support(device: Device) -> bool:
    """Whether optimizers may take operators on lists on a device."""
    return device.type in (*_WITH_LISTS, "cpu")


def _has_foreach_support(tensors: Sequence[object], device: Device) -> bool:
    """The same, and that all of these are tensors or None."""
    plain = all(tensor is None or type(tensor) is Tensor for tensor in tensors)
    return _device_has_foreach_support(device) and plain
