"""What can be registered for an operator that is there: gradients, fakes, kernels, autocast."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar, overload

from ..ops.eager.open_operators import Kernel
from ..ops.eager.packets import Overload
from ..ops.memory.dtype import Device, DType, dtype_by_number
from ..ops.table.autocast import autocast_state, set_autocast_state
from ..ops.tensors.tensor import Tensor
from .formulas import give_formula
from .libraries import Library, impl, kept, open_entry

__all__ = [
    *("get_ctx", "get_kernel", "impl_abstract", "register_autocast", "register_autograd"),
    *("register_fake", "register_kernel", "register_torch_dispatch", "register_vmap"),
]

Given = TypeVar("Given", bound=Kernel)


def register_autograd(
    op: object,
    backward: Callable[..., object],
    /,
    *,
    setup_context: Callable[..., object] | None = None,
    lib: Library | None = None,
) -> None:
    """Give an operator a formula for its gradient.

    Args:
        op: its name, overload or definition.
        backward: `backward(ctx, *grads)` gives the gradient of each argument, or None.
        setup_context: `setup_context(ctx, inputs, output)` keeps what that needs.
        lib: of no meaning here.

    Raises:
        ValueError: `op` is none of these.
        RuntimeError: there is no such operator, or it changes its arguments.
    """
    give_formula(open_entry(op, "register_autograd"), backward, setup_context)


@overload
def register_fake(
    op: object,
    func: None = None,
    /,
    *,
    lib: Library | None = None,
    _stacklevel: int = 1,
    allow_override: bool = True,
) -> Callable[[Given], Given]: ...
@overload
def register_fake(
    op: object,
    func: Given,
    /,
    *,
    lib: Library | None = None,
    _stacklevel: int = 1,
    allow_override: bool = True,
) -> Given: ...
def register_fake(
    op: object,
    func: Kernel | None = None,
    /,
    *,
    lib: Library | None = None,
    _stacklevel: int = 1,
    allow_override: bool = True,
) -> object:
    """Say what an operator's results look like, by a function that makes empty ones; `opcheck`
    compares them with what it really gives.

    Raises:
        ValueError: `op` is none of a name, an overload and a definition.
        RuntimeError: there is no such operator, or a fake that must not be replaced.
    """

    def register(fake: Kernel) -> Kernel:
        entry = open_entry(op, "register_fake")
        if entry.fake is not None and not allow_override:
            raise RuntimeError(
                f"register_fake(...): the operator {entry.full_name} already has an fake impl "
                "registered"
            )
        entry.fake = fake
        return fake

    if func is None:
        if not isinstance(op, str):
            open_entry(op, "register_fake")
        return register
    return register(func)


@overload
def impl_abstract(
    qualname: str, func: None = None, *, lib: Library | None = None, _stacklevel: int = 1
) -> Callable[[Given], Given]: ...
@overload
def impl_abstract(
    qualname: str, func: Given, *, lib: Library | None = None, _stacklevel: int = 1
) -> Given: ...
def impl_abstract(
    qualname: str, func: Kernel | None = None, *, lib: Library | None = None, _stacklevel: int = 1
) -> object:
    """The old name of `register_fake`."""
    return register_fake(qualname, func, lib=lib)


@overload
def register_kernel(
    op: object,
    device_types: str | Sequence[str] | None,
    func: None = None,
    /,
    *,
    lib: Library | None = None,
) -> Callable[[Given], Given]: ...
@overload
def register_kernel(
    op: object,
    device_types: str | Sequence[str] | None,
    func: Kernel,
    /,
    *,
    lib: Library | None = None,
) -> object: ...
def register_kernel(
    op: object,
    device_types: str | Sequence[str] | None,
    func: Kernel | None = None,
    /,
    *,
    lib: Library | None = None,
) -> object:
    """Register a kernel for kinds of devices; None for all.

    Raises:
        ValueError: `op` is none of a name, an overload and a definition.
        RuntimeError: there is no such operator, or no such kind of device.
    """
    if hasattr(op, "register_kernel"):
        return op.register_kernel(device_types, func)
    if not isinstance(op, (str, Overload)):
        raise ValueError(f"register_kernel({op}): got unexpected type for op: {type(op)}")
    name = op.name() if isinstance(op, Overload) else op
    return impl(name, "default" if device_types is None else device_types, func, lib=lib)


def register_autocast(
    op: object, device_type: str, cast_inputs: DType, /, *, lib: Library | None = None
) -> None:
    """Have an operator take its floats in one dtype while autocast is on.

    Raises:
        ValueError: `op` is none of a name, an overload and a definition, or the device another
            than `cpu` and `cuda`.
        RuntimeError: there is no such operator.
    """
    entry = open_entry(op, "register_autocast")
    if Device(device_type).type not in ("cpu", "cuda"):
        raise ValueError(f"Unknown device type: {device_type}")
    overload = Overload(entry)

    def cast(*args: object, **kwargs: object) -> object:
        before = autocast_state()
        set_autocast_state(before.switched("cpu", False))
        try:
            made = [_cast(each, cast_inputs) for each in args]
            return overload(*made, **{key: _cast(v, cast_inputs) for key, v in kwargs.items()})
        finally:
            set_autocast_state(before)

    library = lib or kept(entry.name.partition("::")[0])
    library.impl(entry.full_name, cast, f"Autocast{device_type.upper()}")


def _cast(value: object, dtype: DType) -> object:
    if isinstance(value, Tensor):
        floats = value.is_floating_point() and value.dtype is not dtype_by_number(7)
        return value.to(dtype) if floats else value
    return [_cast(each, dtype) for each in value] if isinstance(value, (list, tuple)) else value


@overload
def register_vmap(
    op: object, func: None = None, /, *, lib: Library | None = None
) -> Callable[[Given], Given]: ...
@overload
def register_vmap(op: object, func: Kernel, /, *, lib: Library | None = None) -> None: ...
def register_vmap(
    op: object, func: Kernel | None = None, /, *, lib: Library | None = None
) -> object:
    """Say how an operator runs on batches: `func(info, in_dims, *args)`.

    Raises:
        ValueError: `op` is none of a name, an overload and a definition.
        RuntimeError: there is no such operator.
    """
    entry = open_entry(op, "register_vmap")

    def register(batched: Kernel) -> Kernel:
        entry.batched = batched
        return batched

    if func is None:
        return register
    register(func)
    return None


@overload
def register_torch_dispatch(
    op: object, torch_dispatch_class: type, func: None = None, /, *, lib: object = None
) -> Callable[[Given], Given]: ...
@overload
def register_torch_dispatch(
    op: object, torch_dispatch_class: type, func: Kernel, /, *, lib: object = None
) -> None: ...
def register_torch_dispatch(
    op: object, torch_dispatch_class: type, func: Kernel | None = None, /, *, lib: object = None
) -> object:
    """Say what a class of tensors, or a mode, makes of an operator of a library.

    Args:
        op: the operator.
        torch_dispatch_class: a subclass of Tensor or of TorchDispatchMode that has a
            `__torch_dispatch__`, in the place of which the function is called.
        func: called with the class or mode, the overload, the classes among its arguments, and
            these by place and by name; without one this is a decorator.
        lib: how long that holds, which is for good.

    Raises:
        RuntimeError: there is no such operator, or it is one of rushlight's own.
    """
    del lib
    entry = open_entry(op, "register_torch_dispatch")

    def register(rule: Kernel) -> Kernel:
        entry.for_classes[torch_dispatch_class] = rule
        return rule

    if func is None:
        return register
    register(func)
    return None


def get_kernel(op: object, dispatch_key: object) -> Kernel:
    """What `op` runs for a key.

    Raises:
        RuntimeError: there is no such operator, or no kernel of that key.
    """
    entry = open_entry(op, "get_kernel")
    key = str(getattr(dispatch_key, "name", dispatch_key))
    keys = (
        (key, "CompositeExplicitAutograd", "CompositeImplicitAutograd") if key == "CPU" else (key,)
    )
    found = entry.kernel(keys)
    if found is None:
        raise RuntimeError(f"no kernel for {key} for {entry.full_name}")
    return found


def get_ctx() -> None:
    """What fakes of operators ask for sizes that depend on data: there are none here."""
    return None
