"""Operators whose implementations users register: their records stay open.

    entry = OpenOperator("mine::scale(Tensor x, float by=2.) -> Tensor")
    TABLE.add(entry)
    entry.kernels["CPU"] = lambda x, by=2.0: x * by

Kernels are functions of tensors, or of arrays where numba has compiled them, or C functions of
numbers, which native code calls without Python.  Which one is called
is looked up at each call, so that nothing that holds the record becomes out of date.  Scripts and
traces call an open operator as any other.
"""

from __future__ import annotations

import re
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, Final, Unpack

import numpy as np

from ...typecheck.types.types import BOOL, FLOAT, INT, STRING, TENSOR, Type
from ..memory.dtype import dtype_by_number
from ..table.autocast import autocast_state
from ..table.grad_mode import RUNNING, grad_mode_set
from ..table.inline import Native, native
from ..table.record import Known, Operator
from ..tensors.tensor import Tensor
from ..tensors.tracing import paused
from .c_kernels import CKernel, is_c_function

__all__ = [
    *("Kernel", "OpenOperator", "below_autograd", "call_kernel", "fallthrough_kernel"),
    *("machine_value", "python_values"),
]

Kernel = Callable[..., object]

_AUTOGRAD: Final = ("AutogradCPU", "Autograd")
_IMPLICIT: Final = "CompositeImplicitAutograd"
_PLAIN: Final = ("CPU", "CompositeExplicitAutograd", _IMPLICIT)
"""The keys whose kernels run on a CPU, the first that there is before others."""


class _Level(threading.local):
    below = False


_LEVEL: Final = _Level()


@contextmanager
def below_autograd() -> Iterator[None]:
    """A block in which operators run their own kernels, not those registered for gradients."""
    before, _LEVEL.below = _LEVEL.below, True
    try:
        with grad_mode_set(False):
            yield
    finally:
        _LEVEL.below = before


def fallthrough_kernel(*args: object, **kwargs: object) -> object:
    """Registered for a key: there is nothing to do for it."""
    raise NotImplementedError("fallthrough_kernel() should never be called.")


class _Kernels(dict[str, Kernel]):
    """An operator's kernels by their keys; the operator is told of changes."""

    def __init__(self, owner: OpenOperator) -> None:
        super().__init__()
        self._owner = owner

    def __setitem__(self, key: str, kernel: Kernel) -> None:
        if is_c_function(kernel):
            self._owner.c_kernel(kernel)  # which refuses what does not fit
        super().__setitem__(key, kernel)
        self._owner.changed()

    def __delitem__(self, key: str) -> None:
        super().__delitem__(key)
        self._owner.changed()

    def take(self, others: Mapping[str, Kernel]) -> None:
        """Add several."""
        for key, kernel in others.items():
            self[key] = kernel


class OpenOperator(Operator):
    """An operator that is implemented by kernels, by the key each was registered for.

    `own` is a forward over machine values for who registers none, `gradient` runs the operator on
    tensors with a formula for its gradient.  `mutated` arguments are counted as written.
    """

    def __init__(
        self, schema: str, own: Callable[..., object] | None = None, **known: Unpack[Known]
    ) -> None:
        known.setdefault("out", "")
        super().__init__(schema, self._forward, **known)
        self.own = own
        self.cell = np.zeros(1, np.int64)
        self.kernels = _Kernels(self)
        self._c_kernel: CKernel | None = None
        self.fake: Kernel | None = None
        self.batched: Kernel | None = None
        self.for_classes: dict[type, Kernel] = {}
        """What is called in the place of a class's, or a mode's, `__torch_dispatch__`."""
        self.gradient: Callable[[Sequence[Any]], object] | None = None
        self.tags: tuple[object, ...] = ()
        self.is_gone = False
        self.faces: dict[tuple[Operator, ...], Any] = {}
        """What stands for it in Python, by the other overloads beside it."""

    @property
    def native(self) -> tuple[Native, ...]:  # type: ignore[override]
        """How native code calls it: a C function, as long as there is one in the cell."""
        kernel = self._c_kernel
        return () if kernel is None or not self.cell[0] else native(kernel.native)

    def changed(self) -> None:
        """Kernels have come or gone: the cell holds the address of the one that is called, if that
        is a C function and nothing else may be meant."""
        kernel = None if self.is_gone or len(self.kernels) != 1 else self.kernel()
        self._c_kernel = self.c_kernel(kernel) if is_c_function(kernel) else None
        self.cell[0] = 0 if self._c_kernel is None else self._c_kernel.address

    def c_kernel(self, kernel: object) -> CKernel:
        """A C function as a kernel of this operator.

        Raises:
            TypeError: it does not take and give what the schema says.
        """
        kept = self._c_kernel
        return kept if kept and kept.source is kernel else CKernel(self.signature, kernel)

    # ------------------------------------------------------------------ which kernel

    def kernel(self, keys: Sequence[str] = _PLAIN) -> Kernel | None:
        """The kernel of the first of some keys that has one."""
        found = (self.kernels[key] for key in keys if key in self.kernels)
        return next((kernel for kernel in found if kernel is not fallthrough_kernel), None)

    def for_autocast(self) -> Kernel | None:
        """The kernel that is called while autocast is on, if it is and there is one."""
        return self.kernels.get("AutocastCPU") if autocast_state().cpu else None

    @property
    def on_tensors(  # type: ignore[override]
        self,
    ) -> Callable[[Sequence[object]], object] | None:
        if _LEVEL.below:
            return None
        found = self.kernel(_AUTOGRAD)
        if found is not None:
            return lambda handles: self.call(found, handles)
        if self.gradient is not None:
            return self.gradient
        plain = self.kernel()
        if plain is None or _takes_arrays(plain):
            return None
        return lambda handles: self._through(plain, handles)

    def _through(self, kernel: Kernel, handles: Sequence[object]) -> object:
        """Run a kernel whose own operators are recorded; as torch, warn where nobody has said that
        this is meant."""
        made = self.call(kernel, handles)
        silent = kernel is self.kernels.get(_IMPLICIT) or any(k in self.kernels for k in _AUTOGRAD)
        if not silent:
            for tensor in made if isinstance(made, (tuple, list)) else (made,):
                if isinstance(tensor, Tensor) and tensor.requires_grad:
                    tensor.register_hook(lambda grad: warnings.warn(self._warning(), stacklevel=2))
        return made

    def _warning(self) -> str:
        return (
            f"{self.full_name}: an autograd kernel was not registered to the Autograd key(s) but we"
            " are trying to backprop through it. This may lead to silently incorrect behavior. "
            "This behavior is deprecated and will be removed in a future version of PyTorch. If "
            "your operator is differentiable, please ensure you have registered an autograd kernel "
            "to the correct Autograd key (e.g. DispatchKey::Autograd, "
            "DispatchKey::CompositeImplicitAutograd). If your operator is not differentiable, or "
            "to squash this warning and use the previous behavior, please register "
            "torch::CppFunction::makeFallthrough() to DispatchKey::Autograd."
        )

    # ------------------------------------------------------------------ running it

    def _forward(self, *values: object) -> object:
        if self.is_gone:
            raise RuntimeError(f"{self.full_name} was taken away with the library that defined it")
        kernel = None if _LEVEL.below else self.kernel(_AUTOGRAD)
        if kernel is None:
            kernel = self.kernel()
        if kernel is None:
            if self.own is None:
                raise self._missing()
            return self.own(*values)
        if _takes_arrays(kernel):
            return self.lowered(kernel(*values))
        return self.run_on_tensors(kernel, values)

    def run_on_tensors(self, kernel: Kernel, values: Sequence[object]) -> object:
        """Run a function of tensors on machine values, with nobody told what it calls."""
        record, RUNNING.record = RUNNING.record, None
        try:
            with paused():
                made = self.call(kernel, self.handles(values))
                found = self.lowered(made)
        finally:
            RUNNING.record = record
        if record is not None and self.of_leaves and made.requires_grad:
            record.handle_of(found).requires_grad_(True)
            record.guard(found)
        return found

    def _missing(self) -> NotImplementedError:
        known = ", ".join(self.kernels) or "none"
        return NotImplementedError(
            f"Could not run '{self.full_name}' with arguments from the 'CPU' backend. This could "
            "be because the operator doesn't exist for this backend, or was omitted during the "
            "selective/custom build process (if using custom build). "
            f"'{self.full_name}' is only available for these backends: [{known}]."
        )

    def call(self, kernel: Kernel, handles: Sequence[object]) -> Any:
        """Call a kernel as torch does."""
        if is_c_function(kernel):
            kernel = self.c_kernel(kernel)
        return call_kernel(self, kernel, handles)

    def handles(self, values: Sequence[object]) -> list[Any]:
        """Machine values as Python sees them."""
        return python_values(self, [_handle(value) for value in values])

    def lowered(self, result: Any) -> object:
        """What a kernel gave as a machine value.

        Raises:
            RuntimeError: it gave another number of results than the schema says, or of other types.
        """
        returns = self.signature.returns
        expected = len(returns)
        if expected != 1:
            found = len(result) if isinstance(result, (tuple, list)) else int(result is not None)
            if found != expected:
                raise RuntimeError(
                    f"{self.full_name} gave {found} results where its schema says {expected}: "
                    f"{self.schema}"
                )
            pairs = zip(result or (), returns, strict=True)
            return tuple(_of_type(value, each.type) for value, each in pairs) if expected else None
        return _of_type(result, returns[0].type)


_PLAIN_TYPES: Final[dict[Type, tuple[type, tuple[type, ...]]]] = {
    INT: (int, (int, np.integer)),
    FLOAT: (float, (float, int, np.floating, np.integer)),
    BOOL: (bool, (bool, int, np.bool_)),
    STRING: (str, (str,)),
}
"""What results of these types become, and of what."""


def _of_type(value: object, kind: Type) -> object:
    """What a kernel gave for a result of a type, as a machine value."""
    if value is None and (kind == TENSOR or kind.optional_of is not None):
        return None
    kind = kind.optional_of or kind
    if kind == TENSOR:
        if not isinstance(value, (Tensor, np.ndarray, np.generic)):
            raise RuntimeError(f"Unable to cast {value} to Tensor")
    elif kind.list_of is not None and isinstance(value, (list, tuple)):
        return [_of_type(each, kind.list_of) for each in value]
    elif kind.list_of is not None or kind in _PLAIN_TYPES:
        made, taken = _PLAIN_TYPES.get(kind, (list, ()))
        if not isinstance(value, taken):
            raise RuntimeError(f"Unable to cast Python instance of type {type(value)} to {kind}")
        return made(value)
    return machine_value(value)


def call_kernel(entry: Operator, kernel: Kernel, handles: Sequence[object]) -> object:
    """Call a function with an operator's arguments as torch does: trailing ones that have their
    defaults are left out, and those behind the star are given by name."""
    pairs = list(zip(entry.signature.arguments, handles, strict=True))
    by_place = [(a, h) for a, h in pairs if not a.keyword_only]
    while by_place and _is_default(*by_place[-1]):
        by_place.pop()
    by_name = {a.name: h for a, h in pairs if a.keyword_only and not _is_default(a, h)}
    return kernel(*(handle for _, handle in by_place), **by_name)


def python_values(entry: Operator, values: Sequence[object]) -> list[object]:
    """Arguments whose tensors are handles, with dtypes where machine values have their numbers.

    What the machine gives a forward beyond its schema (the element type of a list) is left out.
    """
    dtypes, arguments = _dtypes(entry.schema), entry.signature.arguments
    return [
        _numbered(value) if argument.name in dtypes else value
        for argument, value in zip(arguments, values[: len(arguments)], strict=True)
    ]


@cache
def _dtypes(schema: str) -> frozenset[str]:
    """The arguments that are dtypes, which are numbers to the machine."""
    return frozenset(re.findall(r"ScalarType\??(?:\[\])?\?? (\w+)", schema))


def _is_default(argument: Any, value: object) -> bool:
    default = argument.default
    return (
        argument.has_default
        and not isinstance(value, Tensor)
        and type(default) is type(value)
        and bool(default == value)
    )


def _takes_arrays(kernel: object) -> bool:
    """Whether a kernel is one that numba has compiled."""
    return hasattr(kernel, "py_func") and type(kernel).__module__.startswith("numba.")


def _handle(value: object) -> object:
    if isinstance(value, np.ndarray):
        return Tensor._of(value)
    if isinstance(value, list):
        return [_handle(each) for each in value]
    return value


def _numbered(value: Any) -> object:
    if isinstance(value, list):
        return [dtype_by_number(each) for each in value]
    return value if value is None else dtype_by_number(value)


def machine_value(value: object) -> object:
    """What Python gave, with arrays in place of tensors and of NumPy's numbers."""
    if isinstance(value, Tensor):
        return value._array
    if isinstance(value, np.generic):
        return np.asarray(value)
    if isinstance(value, (list, tuple)):
        return [machine_value(each) for each in value]
    return value
