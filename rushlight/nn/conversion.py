"""What `Module` does to all its parameters and buffers at once: other dtypes, gradients."""

# mypy: disable-error-code="valid-type"
from __future__ import annotations

import builtins
import warnings
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, Any, Self

from ..ops.eager.dispatch import eager_function
from ..ops.memory.dtype import Device, DType, MemoryFormat
from ..ops.table.grad_mode import no_grad
from ..ops.tensors.cleared_gradients import clear_gradient
from ..ops.tensors.dispatched import Dispatched
from ..ops.tensors.tensor import Parameter, Tensor
from .replacement import REPLACEMENT, swap_tensors

__all__ = ["Conversions", "target_of"]

_empty_like: Callable[..., Tensor] = eager_function("aten::empty_like")

_COMPLEX = (
    "Complex modules are a new feature under active development whose design may change, and some "
    "modules might not work as expected when using complex tensors as parameters or buffers."
)


def _stays(tensor: Tensor, changed: Tensor) -> bool:
    """Whether a tensor stays the object it is and only holds something else."""
    alike = changed.is_meta == tensor.is_meta and changed.layout is tensor.layout
    return alike and not (REPLACEMENT.overwrite and not REPLACEMENT.swap)


class Conversions:
    """The part of `Module` that changes what its parameters and buffers hold."""

    if TYPE_CHECKING:
        _modules: Mapping[str, object]
        _parameters: dict[str, Parameter | None]
        _buffers: dict[str, Tensor | None]

        def parameters(self, recurse: bool = True) -> Iterator[Parameter]: ...
        def buffers(self, recurse: bool = True) -> Iterator[Tensor]: ...
        def children(self) -> Iterator[Conversions]: ...

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Say of all parameters whether they want gradients."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients of all parameters, or set them to zero."""
        for parameter in self.parameters():
            clear_gradient(parameter, set_to_none)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Replace what every parameter, its gradient and every buffer holds by `fn` of it.

        The objects stay, unless `torch.__future__` says that new parameters are wanted, or they
        come to lie on another device or in another layout.
        """
        for child in self.children() if recurse else ():
            child._apply(fn)
        for name, parameter in self._parameters.items():
            if parameter is None:
                continue
            gradient = parameter.grad
            with no_grad():
                changed = fn(parameter)
                slope = None if gradient is None else fn(gradient)
            if isinstance(changed, Dispatched):
                if id(changed) != id(parameter):
                    swap_tensors(parameter, Parameter(changed, parameter.requires_grad))
            elif _stays(parameter, changed):
                parameter.data = changed
            else:
                parameter = self._parameters[name] = Parameter(changed, parameter.requires_grad)
            if gradient is None or slope is None:
                continue
            if _stays(gradient, slope):
                gradient.data = slope
                slope = gradient
            parameter.grad = slope.requires_grad_(gradient.requires_grad)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self, *args: object, **kwargs: object) -> Self:
        """Convert floating-point and complex parameters and buffers.

        `to(device=None, dtype=None, non_blocking=False)`, `to(dtype)` or `to(tensor)`, whose dtype
        it takes; with `memory_format=` those of four and five dimensions get that layout.

        Raises:
            TypeError: the dtype is neither floating point nor complex, or the arguments are others.
            RuntimeError: a copy is asked for.
            NotImplementedError: tensors without data shall get some.
        """
        device, dtype, _, layout = target_of(args, kwargs)
        if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
            wanted = f"but got desired dtype={dtype}"
            raise TypeError(f"nn.Module.to only accepts floating point or complex dtypes, {wanted}")
        if dtype is not None and dtype.is_complex:
            warnings.warn(_COMPLEX, stacklevel=2)

        def convert(tensor: Tensor) -> Tensor:
            if device is not None:
                tensor = tensor.to(_reachable(tensor, device))
            if dtype is not None and (tensor.is_floating_point() or tensor.is_complex()):
                tensor = tensor.to(dtype)
            if layout is not None and tensor.dim() in (4, 5):
                tensor = tensor.to(memory_format=layout)
            return tensor

        return self._apply(convert)

    def to_empty(self, *, device: Device | str | None, recurse: bool = True) -> Self:
        """Give every parameter and buffer new memory, without contents."""
        return self._apply(lambda t: _empty_like(t, device=device), recurse)

    def type(self, dst_type: DType | str) -> Self:
        """Convert all parameters and buffers, whatever their dtype is."""
        return self._apply(lambda t: t.type(dst_type))

    def float(self) -> Self:
        """Convert floating-point parameters and buffers to float32."""
        return self._apply(lambda t: t.float() if t.is_floating_point() else t)

    def double(self) -> Self:
        """Convert floating-point parameters and buffers to float64."""
        return self._apply(lambda t: t.double() if t.is_floating_point() else t)

    def half(self) -> Self:
        """Convert floating-point parameters and buffers to float16."""
        return self._apply(lambda t: t.half() if t.is_floating_point() else t)

    def bfloat16(self) -> Self:
        """Convert floating-point parameters and buffers to bfloat16."""
        return self._apply(lambda t: t.bfloat16() if t.is_floating_point() else t)

    def cpu(self) -> Self:
        """Nothing: there is no other device."""
        return self

    def cuda(self, device: int | Device | None = None) -> Self:
        """Refuse tensors, which have no other device than the CPU."""
        return self._apply(lambda tensor: tensor.cuda(device))

    def xpu(self, device: int | Device | None = None) -> Self:
        """Refuse tensors, which have no other device than the CPU."""
        return self._apply(lambda tensor: tensor.xpu(device))

    def mtia(self, device: int | Device | None = None) -> Self:
        """Refuse tensors, which have no other device than the CPU."""
        return self._apply(lambda tensor: tensor.mtia(device))

    def ipu(self, device: int | Device | None = None) -> Self:
        """Refuse tensors, which have no other device than the CPU."""
        return self._apply(lambda tensor: tensor.ipu(device))

    def share_memory(self) -> Self:
        """Move parameters and buffers to memory that processes share."""
        for tensor in chain(self.parameters(), self.buffers()):
            tensor.share_memory_()
        return self

    _compiled_call_impl = None
    """What `compile` would make elsewhere, which packages look at."""

    def _replicate_for_data_parallel(self) -> Self:
        """A shallow copy, with tables of its own and without parameters."""
        replica = type(self).__new__(type(self))
        own = replica.__dict__
        own.update(self.__dict__)
        own["_parameters"] = {}
        own["_buffers"], own["_modules"] = dict(self._buffers), dict(self._modules)
        own["_is_replica"] = True
        return replica

    def compile(self, *args: object, **kwargs: object) -> None:
        """Nothing: what is written in Python runs as it is; takes what `torch.compile` takes.

        Raises:
            RuntimeError, TypeError: as `torch.compile` raises them.
        """
        import_module("...compiler", __name__).compile(type(self), *args, **kwargs)


def target_of(
    args: tuple[object, ...], kwargs: dict[str, Any]
) -> tuple[Device | str | None, DType | None, bool, MemoryFormat | None]:
    """Device, dtype, whether nobody waits, and memory layout from the arguments of `Module.to`."""
    if kwargs.get("copy"):
        raise RuntimeError(".to() does not accept copy argument")
    known = {"device", "dtype", "non_blocking", "memory_format", "tensor"}
    given = dict(kwargs)
    names = ["device", "dtype", "non_blocking"]
    if args and isinstance(args[0], DType):
        names = ["dtype", "non_blocking"]
    elif args and isinstance(args[0], Tensor):
        names = ["tensor", "non_blocking"]
    repeated = set(names[: len(args)]) & given.keys()
    if len(args) > len(names) or repeated or given.keys() - known:
        raise _wrong(args, kwargs)
    given.update(zip(names, args, strict=False))
    like = given.get("tensor")
    device, dtype = given.get("device"), given.get("dtype")
    if isinstance(like, Tensor):
        device, dtype = like.device, like.dtype
    is_device = device is None or isinstance(device, Device | str)
    if not is_device or not (dtype is None or isinstance(dtype, DType)):
        raise _wrong(args, kwargs)
    return device, dtype, bool(given.get("non_blocking")), given.get("memory_format")


def _reachable(tensor: Tensor, device: Device | str) -> Device:
    """The device, which a tensor without data cannot leave its own for.

    Raises:
        NotImplementedError: it shall.
    """
    found = Device(device)
    if tensor.is_meta and found.type != "meta":
        raise NotImplementedError(
            "Cannot copy out of meta tensor; no data! Please use torch.nn.Module.to_empty() "
            "instead of torch.nn.Module.to() when moving module from meta to a different device."
        )
    return found


def _wrong(args: tuple[object, ...], kwargs: dict[str, object]) -> TypeError:
    parts = [builtins.type(value).__name__ for value in args]
    parts += [f"{name}={builtins.type(value).__name__}" for name, value in kwargs.items()]
    return TypeError(
        f"to() received an invalid combination of arguments - got ({', '.join(parts)}), but "
        "expected one of:\n"
        " * (torch.device device = None, torch.dtype dtype = None, bool non_blocking = False, *, "
        "torch.memory_format memory_format = None)\n"
        " * (torch.dtype dtype, bool non_blocking = False, *, "
        "torch.memory_format memory_format = None)\n"
        " * (Tensor tensor, bool non_blocking = False, *, "
        "torch.memory_format memory_format = None)"
    )
