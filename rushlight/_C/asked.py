"""Private names of torch's compiled part that packages call, though they are nobody's interface."""

from __future__ import annotations

from .._functorch.vmap import in_levels
from ..backends import cudnn
from ..backends.cpu import get_cpu_capability
from ..ops.linear_algebra.matrix_checks import LinAlgError
from ..ops.memory.dtype import Device, place_of
from ..ops.table.grad_mode import set_grad_enabled
from ..ops.table.pointwise import checked_broadcast
from ..ops.tensors import overriding
from ..ops.tensors.dispatched import disabled_dispatch
from ..ops.tensors.sizes import Size
from ..ops.tensors.tensor import Tensor
from ..utils._python_dispatch import _get_current_dispatch_mode_stack

__all__ = [
    *("_TensorBase", "_are_functorch_transforms_active", "_get_accelerator", "_get_default_device"),
    *("_is_alias_of", "_is_torch_function_mode_enabled", "_len_torch_function_stack"),
    *("TensorBase", "_LinAlgError", "_set_grad_enabled"),
    *("_get_cpu_capability", "_infer_size"),
    *("_has_cuda", "_has_cudnn", "_has_cusparselt", "_has_magma", "_has_mps", "_has_xpu"),
    "_mps_is_available",
    *("DisableTorchFunction", "DisableTorchFunctionSubclass", "_TensorMeta"),
    *("_disabled_torch_dispatch_impl", "_disabled_torch_function_impl"),
    *("_get_privateuse1_backend_name", "_log_api_usage_once"),
    *("_log_api_usage_metadata", "_warn_deprecation"),
]

DisableTorchFunction = overriding.DisableTorchFunction
DisableTorchFunctionSubclass = overriding.DisableTorchFunctionSubclass
TensorBase = _TensorBase = Tensor
_TensorMeta = type(Tensor)
_LinAlgError = LinAlgError
_disabled_torch_function_impl = overriding.disabled
_disabled_torch_dispatch_impl = disabled_dispatch
_has_cuda = _has_cudnn = _has_cusparselt = _has_magma = _has_mps = _has_xpu = False


def _mps_is_available() -> bool:
    """Whether there is a device of that type: no.  `torch.backends.mps` asks, and tests of
    packages put an answer of their own here."""
    return _has_mps


def _log_api_usage_once(event: str) -> None:
    """Note that something is used, for whoever collects that: nobody."""


_warn_deprecation = _log_api_usage_once


def _log_api_usage_metadata(event: str, metadata_map: dict[str, str]) -> None:
    """The same, with more to it."""


def _get_privateuse1_backend_name() -> str:
    """The name of a device that others add: its name before that."""
    return "privateuseone"


def _get_accelerator(check: object = None) -> Device:
    """The device that computes fastest: the CPU, as there is no other."""
    return Device("cpu")


def _get_default_device() -> str:
    """The kind of device on which legacy tensors are made."""
    return place_of(None).type


def _len_torch_function_stack() -> int:
    """How many modes are entered that see to functions."""
    return len(overriding.STATE.modes)


def _len_torch_dispatch_stack() -> int:
    """How many modes are entered that see to operators."""
    return len(_get_current_dispatch_mode_stack())


def _get_dispatch_stack_at(idx: int) -> object:
    """One of those modes, the outer ones first.

    Raises:
        RuntimeError: there are fewer.
    """
    modes = _get_current_dispatch_mode_stack()
    if idx >= len(modes):
        raise RuntimeError("Tried to get stack at idx that's too big")
    return modes[idx]


def _get_cudnn_enabled() -> bool:
    """Whether a library that is not there may be used."""
    return cudnn.enabled


def _is_torch_function_mode_enabled() -> bool:
    """Whether one is."""
    return bool(overriding.STATE.modes)


def _are_functorch_transforms_active() -> bool:
    """Whether a function is being transformed by `vmap`."""
    return bool(in_levels())


def _is_alias_of(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors lie in one storage."""
    places = [each.untyped_storage().data_ptr() for each in (one, other)]
    return places[0] == places[1] != 0


def _set_grad_enabled(enabled: bool) -> None:
    """Record gradients from now on, or do not."""
    set_grad_enabled(enabled)


_get_cpu_capability = get_cpu_capability


def _infer_size(one: Size, other: Size) -> Size:
    """The sizes of what two operands of these sizes give together.

    Raises:
        RuntimeError: they do not go together, or are no sizes.
    """
    for place, each in enumerate((one, other)):
        if not isinstance(each, Size):
            raise RuntimeError(f"expected a torch.Size as argument {place + 1}")
    return Size(checked_broadcast(tuple(one), tuple(other), ("a", "b")))


_infer_size._in_script = "aten::_infer_size"  # type: ignore[attr-defined]
