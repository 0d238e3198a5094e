"""Operators made of one Python function: `custom_op`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn, overload

from ..ops.eager.calls import tensors_in
from ..ops.eager.open_operators import Kernel, OpenOperator
from ..ops.eager.packets import Overload
from ..ops.memory.dtype import DType
from ..ops.memory.versions import owner_of, written
from ..ops.table.table import TABLE
from ..ops.tensors.tensor import Tensor
from .formulas import give_formula, run_without_gradients
from .inferring import infer_schema
from .libraries import kept, key_of_device, parts_of
from .registering import (
    Given,
    register_autocast,
    register_fake,
    register_torch_dispatch,
    register_vmap,
)

__all__ = ["CustomOpDef", "custom_op", "triton_op", "wrap_triton"]


Made = Callable[[Callable[..., object]], "CustomOpDef"]
"""A decorator that makes an operator of a function."""


@overload
def custom_op(
    name: str,
    fn: None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: str | Sequence[str] | None = None,
    schema: str | None = None,
    tags: object = None,
) -> Made: ...
@overload
def custom_op(
    name: str,
    fn: Callable[..., object],
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: str | Sequence[str] | None = None,
    schema: str | None = None,
    tags: object = None,
) -> CustomOpDef: ...
def custom_op(
    name: str,
    fn: Callable[..., object] | None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: str | Sequence[str] | None = None,
    schema: str | None = None,
    tags: object = None,
) -> Made | CustomOpDef:
    """Make an operator of a function over tensors, or decorate it.

    Args:
        name: `namespace::name`, under which scripts and archives know it.
        fn: annotated, if no schema is given.
        mutates_args: the parameters that it changes in place, or `"unknown"`.
        device_types: where it runs; everywhere if None.
        schema: `(Tensor x, int n) -> Tensor`.
        tags: kept with the operator.

    Raises:
        ValueError: the name has another form, or the annotations cannot be a schema.
        RuntimeError: there is such an operator.
    """

    def make(function: Callable[..., object]) -> CustomOpDef:
        text = infer_schema(function, mutates_args=mutates_args) if schema is None else schema
        namespace, rest = parts_of(name)
        made = CustomOpDef(namespace, rest, text, function, tags)
        made.register_kernel(device_types)(function)
        return made

    return make if fn is None else make(fn)


class CustomOpDef:
    """An operator made of a function: called as that is, with what else is known of it."""

    def __init__(
        self, namespace: str, name: str, schema: str, fn: Callable[..., object], tags: object = None
    ) -> None:
        self._namespace, self._name, self._schema, self._init_fn = namespace, name, schema, fn
        self._kernels: dict[str, Kernel] = {}
        self._disabled: set[str] = set()
        kept(namespace).define(name + schema, tags=tags or ())
        entry = TABLE.operator(f"{namespace}::{name}")
        assert isinstance(entry, OpenOperator)
        self._entry = entry
        self._opoverload = Overload(entry)
        arguments = enumerate(entry.signature.arguments)
        self._written = [i for i, a in arguments if a.alias is not None and a.alias.is_write]
        if self._written:
            run_without_gradients(entry)
        else:
            give_formula(entry, None, None)

    @property
    def _qualname(self) -> str:
        return f"{self._namespace}::{self._name}"

    @property
    def operator_name(self) -> str:
        """What scripts that call it by its Python name call."""
        return self._entry.name

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"

    def __call__(self, *args: object, **kwargs: object) -> Any:
        return self._opoverload(*args, **kwargs)

    @overload
    def register_kernel(
        self, device_types: str | Sequence[str] | None, fn: None = None, /
    ) -> Callable[[Given], Given]: ...
    @overload
    def register_kernel(self, device_types: str | Sequence[str] | None, fn: Given, /) -> Given: ...
    def register_kernel(
        self, device_types: str | Sequence[str] | None, fn: Kernel | None = None, /
    ) -> object:
        """Register what runs on kinds of devices (all if None), or decorate it."""
        named = [device_types] if isinstance(device_types, str) else device_types
        devices = ["default"] if named is None else list(named)

        def register(function: Kernel) -> Kernel:
            for device in devices:
                key = key_of_device(device)
                self._kernels[device] = function
                kept(self._namespace).impl(self._qualname, self._checked(function, device), key)
            return function

        return register if fn is None else register(fn)

    def _checked(self, function: Kernel, device: str) -> Kernel:
        """A kernel whose results share no memory with its arguments, and which counts writes."""

        def run(*args: object, **kwargs: object) -> object:
            chosen = self._init_fn if device in self._disabled else function
            result = chosen(*args, **kwargs)
            _check_apart(self._entry.name.partition("::")[2], chosen, args, kwargs, result)
            for tensor in (args[place] for place in self._written if place < len(args)):
                if isinstance(tensor, Tensor):
                    written(tensor._array)
            return result

        if hasattr(function, "py_func"):
            return function
        return run

    @contextmanager
    def set_kernel_enabled(self, device_type: str, enabled: bool = True) -> Iterator[None]:
        """A block in which the kernel of a kind of device is used, or the first function is."""
        before = device_type in self._disabled
        self._switch(device_type, enabled)
        try:
            yield
        finally:
            self._switch(device_type, not before)

    def _switch(self, device_type: str, enabled: bool) -> None:
        (self._disabled.discard if enabled else self._disabled.add)(device_type)

    def register_fake(self, fn: Kernel, /) -> Kernel:
        """Say what the results look like, by a function that makes empty ones."""
        register_fake(self._opoverload, fn)
        return fn

    def register_autograd(
        self,
        backward: Callable[..., object],
        /,
        *,
        setup_context: Callable[..., object] | None = None,
    ) -> None:
        """Give the operator a formula for its gradient: see `register_autograd`."""
        give_formula(self._entry, backward, setup_context)

    def register_autocast(self, device_type: str, cast_inputs: DType) -> None:
        """Have it take its floats in one dtype while autocast is on."""
        register_autocast(self._opoverload, device_type, cast_inputs)

    @overload
    def register_vmap(self, func: None = None) -> Callable[[Given], Given]: ...
    @overload
    def register_vmap(self, func: Kernel) -> None: ...
    def register_vmap(self, func: Kernel | None = None) -> object:
        """Say how it runs on batches."""
        return register_vmap(self._opoverload, func)

    def register_effect(self, effect: object) -> None:
        """Say that it does more than compute: so that calls keep their order, as all do here."""

    @overload
    def register_torch_dispatch(
        self, torch_dispatch_class: type, fn: None = None, /
    ) -> Callable[[Given], Given]: ...
    @overload
    def register_torch_dispatch(self, torch_dispatch_class: type, fn: Kernel, /) -> None: ...
    def register_torch_dispatch(
        self, torch_dispatch_class: type, fn: Kernel | None = None, /
    ) -> object:
        """Say what a class of tensors, or a mode, makes of it."""
        return register_torch_dispatch(self._opoverload, torch_dispatch_class, fn)


def _check_apart(
    name: str,
    function: object,
    args: Sequence[object],
    kwargs: Mapping[str, object],
    result: object,
) -> None:
    """Refuse results that are arguments, or share memory with them or each other."""
    given = tensors_in((*args, *kwargs.values()))
    seen = {id(owner_of(tensor._array)) for tensor in given}
    for tensor in tensors_in(result):
        owner = id(owner_of(tensor._array))
        if owner in seen:
            raise RuntimeError(
                f"{name} (with implementation in {function.__module__}): The output of this custom "
                "operator (1) must not also be an input to this custom operator and (2) may not "
                "alias any inputs to this custom operator or other returns. The most common way to "
                "trigger this error is if we have y = custom_op(x) and y and x are the same "
                "Tensor. Please instead return a clone of the offending output tensor(s) (e.g. "
                "return x.clone()) or refactor the custom operator to not return y."
            )
        seen.add(owner)


@overload
def triton_op(
    name: str,
    fn: None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    schema: str | None = None,
) -> Made: ...
@overload
def triton_op(
    name: str,
    fn: Callable[..., object],
    /,
    *,
    mutates_args: str | Iterable[str],
    schema: str | None = None,
) -> CustomOpDef: ...
def triton_op(
    name: str,
    fn: Callable[..., object] | None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    schema: str | None = None,
) -> Made | CustomOpDef:
    """Make an operator of a function that may launch Triton's kernels, or decorate it.

    It is one of `custom_op`: a function that takes another way on a CPU runs, and one that comes to
    `wrap_triton` is refused there.

    Args:
        name: `namespace::name`, under which scripts and archives know it.
        fn: annotated, if no schema is given.
        mutates_args: the parameters that it changes in place, or `"unknown"`.
        schema: `(Tensor x, int n) -> Tensor`.

    Raises:
        ValueError: the name has another form, or the annotations cannot be a schema.
        RuntimeError: there is such an operator.
    """
    make = custom_op(name, mutates_args=mutates_args, schema=schema)
    return make if fn is None else make(fn)


def wrap_triton(triton_kernel: Callable[..., object], /) -> NoReturn:
    """Refused: there is no Triton here.

    Raises:
        ModuleNotFoundError: always.
    """
    raise ModuleNotFoundError("No module named 'triton'", name="triton")
