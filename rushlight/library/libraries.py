"""Libraries: who defined which operators and registered which kernels, so that it can be undone."""

from __future__ import annotations

import re
import sys
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import singledispatch
from typing import Any, Final

from .. import ops
from .._C.dispatch import DispatchKey, DispatchKeySet
from ..ops.eager.c_kernels import is_c_function
from ..ops.eager.dispatch import forget
from ..ops.eager.open_operators import Kernel, OpenOperator, fallthrough_kernel
from ..ops.eager.packets import Namespace, Overload, Packet
from ..ops.memory.dtype import Device
from ..ops.table.table import TABLE
from ..typecheck.definitions.schema import Argument
from ..typecheck.definitions.schema_text import SchemaError, parse_schema

__all__ = ["Library", "define", "fallthrough_kernel", "impl", "key_of_device", "kept", "open_entry"]

_RESERVED: Final = ("prim",)
_OWN: Final = ("aten", "prims", "quantized")
_BLOCKS: Final[dict[str, str]] = {}
"""Where the one definition of a namespace was begun."""

_WAITING: Final[dict[str, dict[str, Kernel]]] = {}
"""Kernels of operators that nobody has defined yet, by their keys."""


class _Deeds:
    """What a library has done."""

    def __init__(self, block: str = "") -> None:
        self.block = block
        self.defined: list[OpenOperator] = []
        self.kernels: list[tuple[str, str, Kernel]] = []

    def undo(self) -> None:
        for name, key, kernel in self.kernels:
            entry = TABLE.operator(name)
            registered = entry.kernels if isinstance(entry, OpenOperator) else _WAITING.get(name)
            if registered is not None and registered.get(key) is kernel:
                del registered[key]
        for entry in self.defined:
            if TABLE.operator(entry.full_name) is entry:
                TABLE.remove(entry)
                forget(entry.name)
            entry.is_gone = True
            entry.changed()
        if self.block:
            _BLOCKS.pop(self.block, None)
        self.defined, self.kernels, self.block = [], [], ""


class Library:
    """Defines operators of a namespace (`DEF`, `FRAGMENT`), or registers kernels for them (`IMPL`).

    Args:
        ns: the namespace.
        kind: `DEF` for the one definition of a namespace, `FRAGMENT` for a part of it, `IMPL`.
        dispatch_key: what kernels are registered for that say nothing else.

    What it did ends with it.

    Raises:
        ValueError: the kind is unknown, or the namespace reserved.
        RuntimeError: there is such a definition already.
    """

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in ("IMPL", "DEF", "FRAGMENT"):
            raise ValueError(f"Unsupported kind: {kind}")
        if ns in _RESERVED and kind in ("DEF", "FRAGMENT"):
            raise ValueError(
                f"{ns} is a reserved namespace. Please try creating a library with another name."
            )
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key
        self._place = _calling_line()
        if kind == "DEF":
            self._begin()
        self._deeds = _Deeds(ns if kind == "DEF" else "")
        self._end = weakref.finalize(self, self._deeds.undo)

    def _begin(self) -> None:
        before = _BLOCKS.get(self.ns, "rushlight" if self.ns in _OWN else None)
        if before is not None:
            raise RuntimeError(
                "Only a single TORCH_LIBRARY can be used to register the namespace "
                f"{self.ns}; please put all of your definitions in a single TORCH_LIBRARY block.  "
                "If you were trying to specify implementations, consider using TORCH_LIBRARY_IMPL "
                "(which can be duplicated).  If you really intended to define operators for a "
                "single namespace in a distributed way, you can use TORCH_LIBRARY_FRAGMENT to "
                "explicitly indicate this.  Previous registration of TORCH_LIBRARY was registered "
                f"at {before}; latest registration was registered at {self._place}"
            )
        _BLOCKS[self.ns] = self._place

    def __repr__(self) -> str:
        return f"Library(kind={self.kind}, ns={self.ns}, dispatch_key={self.dispatch_key})>"

    # ------------------------------------------------------------------ defining

    def define(self, schema: str, alias_analysis: str = "", *, tags: object = ()) -> str:
        """Define an operator: `f(Tensor x, int n=1) -> Tensor`; gives its name.

        Raises:
            RuntimeError: the schema cannot be read, or there is such an operator.
        """
        if alias_analysis not in ("", "FROM_SCHEMA", "CONSERVATIVE"):
            raise RuntimeError(f"Invalid alias_analysis type {alias_analysis}")
        entry = OpenOperator(self._qualified(schema))
        entry.tags = tuple(tags) if isinstance(tags, (tuple, list)) else (tags,)
        self._add(entry)
        return schema.partition("(")[0].partition(".")[0].strip()

    def _qualified(self, schema: str) -> str:
        """A schema with its namespace, if it can be read."""
        try:
            parsed = parse_schema(schema)
        except SchemaError as error:
            raise RuntimeError(str(error)) from None
        _check_types(schema, (*parsed.arguments, *parsed.returns))
        name = schema.partition("(")[0].strip()
        if self.kind == "IMPL":
            raise RuntimeError(
                f'def("{name}"): Cannot define an operator inside of a TORCH_LIBRARY_IMPL block.  '
                "All def()s should be placed in the (unique) TORCH_LIBRARY block for their "
                "namespace.  (Error occurred while processing TORCH_LIBRARY_IMPL block at "
                f"{self._place})"
            )
        given, found, _ = name.partition("::")
        if not found:
            return f"{self.ns}::{schema.strip()}"
        if given != self.ns:
            raise RuntimeError(
                f"Explicitly provided namespace ({given}) in schema string does not match "
                f"namespace of enclosing TORCH_LIBRARY block ({self.ns}).  Move this definition to "
                "the (unique) TORCH_LIBRARY block corresponding to this namespace (and consider "
                "deleting the namespace from your schema string.)  (Error occurred while "
                f"processing TORCH_LIBRARY block at {self._place})"
            )
        return schema.strip()

    def _add(self, entry: OpenOperator) -> None:
        name = entry.full_name
        if TABLE.operator(name) is not None:
            raise RuntimeError(
                f"Tried to register an operator ({entry.schema}) with the same name and overload "
                "name multiple times. Each overload's schema should only be registered with a "
                f"single call to def(). Duplicate registration: registered at {self._place}."
            )
        entry.kernels.take(_WAITING.pop(name, {}))
        TABLE.add(entry)
        forget(entry.name)
        if not isinstance(vars(ops).get(self.ns), Namespace):  # a room of ours may be called so
            vars(ops)[self.ns] = Namespace(self.ns)
        self._deeds.defined.append(entry)

    # ------------------------------------------------------------------ kernels

    def impl(
        self,
        op_name: object,
        fn: Any,
        dispatch_key: object = "",
        *,
        with_keyset: bool = False,
        allow_override: bool = True,
    ) -> None:
        """Register a kernel: a function of the schema's arguments, or one that numba compiled.

        A C function (`numba.cfunc`, ctypes) of numbers is called by native code without Python.

        Raises:
            TypeError: it is no function, or a C function that does not fit the schema.
            RuntimeError: the key is unknown, or not the library's.
            NotImplementedError: the operator is one of rushlight's own.
        """
        if not callable(fn) and not is_c_function(fn):
            raise TypeError(
                f"Input function is required to be a callable but found type {type(fn)}"
            )
        name, key = self._operator_name(op_name), self._key(op_name, dispatch_key)
        entry = TABLE.operator(name)
        if entry is not None and not isinstance(entry, OpenOperator):
            _check_own(name, key)
            return
        if with_keyset and fn is not fallthrough_kernel:
            fn = _with_keys(fn, key)
        registered = _WAITING.setdefault(name, {}) if entry is None else entry.kernels
        if key in registered and not allow_override:
            raise RuntimeError(
                "This is not allowed since there's already a kernel registered from python "
                f"overriding {name.partition('::')[2]}'s behavior for {key} dispatch key and "
                f"{self.ns} namespace."
            )
        registered[key] = fn
        self._deeds.kernels.append((name, key, fn))

    def _operator_name(self, given: object) -> str:
        if isinstance(given, Overload):
            return given.name()
        if isinstance(given, Packet):
            return given._qualified_op_name
        if not isinstance(given, str):
            raise RuntimeError(
                f"impl should be passed either a name or an OpOverload object as the first "
                f"argument, but got {type(given)}"
            )
        return (given if "::" in given else f"{self.ns}::{given}").removesuffix(".default")

    def _key(self, op_name: object, given: object) -> str:
        key = given.name if isinstance(given, DispatchKey) else str(given)
        key = key or self.dispatch_key or "CompositeImplicitAutograd"
        if key not in DispatchKey.__members__:
            raise RuntimeError(f"could not parse dispatch key: {key}")
        if self.dispatch_key and key != self.dispatch_key:
            raise RuntimeError(
                f'impl("{op_name}", ...): Explicitly provided dispatch key ({key}) is inconsistent '
                "with the dispatch key of the enclosing TORCH_LIBRARY_IMPL block "
                f"({self.dispatch_key}).  Please declare a separate TORCH_LIBRARY_IMPL block for "
                "this dispatch key and move your impl() there.  (Error occurred while processing "
                f"TORCH_LIBRARY_IMPL block at {self._place})"
            )
        return key

    def fallback(self, fn: Kernel, dispatch_key: object = "", *, with_keyset: bool = False) -> None:
        """Torch's way to change all operators at once, which there is not here.

        Raises:
            RuntimeError: the namespace is not `_`.
            NotImplementedError: always, but for doing nothing.
        """
        key = dispatch_key or self.dispatch_key
        assert key, "dispatch_key must not be empty for fallback"
        if self.ns != "_":
            raise RuntimeError(
                "Fallback can only be registered using library fragment on the global namespace "
                f'"_" but it is {self.ns}'
            )
        if fn is not fallthrough_kernel:
            raise NotImplementedError(
                f"Library.fallback: rushlight has no fallback for all operators ({key}); register "
                "kernels for operators by name"
            )

    def _register_fake(
        self, op_name: object, fn: Kernel, _stacklevel: int = 1, *, allow_override: bool = True
    ) -> None:
        entry = TABLE.operator(self._operator_name(op_name))
        if isinstance(entry, OpenOperator):
            entry.fake = fn

    def _destroy(self) -> None:
        """Take away what this library defined and registered."""
        self._end()


@contextmanager
def _scoped_library(ns: str, kind: str, dispatch_key: str = "") -> Iterator[Library]:
    """A block with a library, which takes away what that defined and registered when it ends."""
    library = Library(ns, kind, dispatch_key)
    try:
        yield library
    finally:
        library._destroy()


def _calling_line() -> str:
    frame = sys._getframe(2)
    while frame.f_back is not None and frame.f_globals.get("__name__") == __name__:
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def _with_keys(fn: Kernel, key: str) -> Kernel:
    keys = DispatchKeySet(DispatchKey[key])
    return lambda *args, **kwargs: fn(keys, *args, **kwargs)


def _check_own(name: str, key: str) -> None:
    """Kernels for devices that are not here never run; others cannot stand in for ours.

    Raises:
        NotImplementedError: it would.
    """
    here = key in ("CPU", "Autograd", "AutogradCPU", "AutocastCPU") or key.startswith("Composite")
    if here:
        raise NotImplementedError(
            f"Library.impl: {name} is one of rushlight's own operators, whose kernels for {key} "
            "cannot be replaced"
        )


# --------------------------------------------------------------------------- by qualified name


_KEPT: Final[dict[str, Library]] = {}
"""The libraries of what is defined without one, by namespace."""


def kept(namespace: str) -> Library:
    """The library of what a program defines in a namespace without one of its own."""
    found = _KEPT.get(namespace)
    if found is None:  # one alone is kept: what another had done would end with it
        found = _KEPT.setdefault(namespace, Library(namespace, "FRAGMENT"))
    return found


def parts_of(qualname: str) -> tuple[str, str]:
    """The namespace and the rest of `namespace::name`.

    Raises:
        ValueError: it is another text.
    """
    parts = qualname.split("::")
    if len(parts) != 2:
        raise ValueError(
            f'Expected `qualname` to be of the form "namespace::name", but got {qualname}. The '
            "qualname passed to the torch.library APIs must consist of a namespace and a name, "
            "e.g. aten::sin"
        )
    return parts[0], parts[1]


def _check_types(schema: str, parts: Sequence[Argument]) -> None:
    """Raises RuntimeError, as torch does, where a schema names a type that there is not."""
    waiting = [part.type for part in parts]
    while waiting:
        type = waiting.pop(0)
        waiting[:0] = type.contained
        if type.variable is not None and type.variable not in ("SymBool", "SymFloat"):
            place = re.search(rf"\b{type.variable}\b(?=[ \[(?,)]|$)", schema)
            at = 0 if place is None else place.start()
            raise RuntimeError(
                "\nunknown type specifier. Common valid schema types include Tensor, SymInt, int, "
                "float, bool, Scalar; for a full list, please see https://github.com/pytorch/"
                "pytorch/blob/main/aten/src/ATen/native/README.md#func :\n"
                f"{schema}\n{' ' * at}{'~' * len(type.variable)} <--- HERE\n"
            )


_NAMELESS: Final = re.compile(r"\(.*\) -> .*", re.DOTALL)
"""A schema behind the name of its operator."""


@singledispatch
def define(
    qualname: object, schema: Any = None, *, lib: Library | None = None, tags: object = ()
) -> Any:
    """Define an operator: `define("mine::f", "(Tensor x) -> Tensor")`; also `define(lib, schema,
    alias_analysis)` as a decorator of its kernel.

    Raises:
        ValueError: the name or the schema has another form.
        RuntimeError: there is such an operator.
    """
    if not isinstance(qualname, str):
        raise ValueError(
            "define(qualname, schema): expected qualname to be instance of str, got "
            f"{type(qualname)}"
        )
    namespace, name = parts_of(qualname)
    if not _NAMELESS.fullmatch(schema):
        raise ValueError(
            'define(qualname, schema, ...): expected schema to look like e.g. "(Tensor x) -> '
            f'Tensor" but got "{schema}"'
        )
    (lib or kept(namespace)).define(name + schema, tags=tags)
    return None


@define.register(Library)
def _define_in(lib: Library, schema: str, alias_analysis: str = "") -> Callable[[Kernel], Kernel]:
    name = lib.define(schema, alias_analysis)

    def register(kernel: Kernel) -> Kernel:
        lib.impl(name, kernel)
        return kernel

    return register


def key_of_device(device: str) -> str:
    """The key of kernels for a kind of device, `cpu`.

    Raises:
        RuntimeError: there is no such kind.
    """
    if device == "default":
        return "CompositeExplicitAutograd"
    kind = Device(device).type
    return {"privateuseone": "PrivateUse1"}.get(kind, kind.upper() if len(kind) < 5 else kind)


def impl(
    qualname: str, types: Any, func: Kernel | None = None, *, lib: Library | None = None
) -> Any:
    """Register a kernel for kinds of devices (`"cpu"`, or `"default"` for all) or by dispatch keys
    (`"CPU"`, `"Autograd"`), or decorate it."""
    if isinstance(qualname, Library):
        return _impl_in(qualname, types, func)
    given = [types] if isinstance(types, str) else types
    members = DispatchKey.__members__
    keys = [each if each in members else key_of_device(each) for each in given]
    namespace = parts_of(qualname)[0]

    def register(kernel: Kernel) -> Kernel:
        for key in keys:
            (lib or kept(namespace)).impl(qualname, kernel, key)
        return kernel

    if func is None:
        return register
    register(func)
    return None


def _impl_in(library: Library, name: str, key: object) -> Callable[[Kernel], Kernel]:
    def register(kernel: Kernel) -> Kernel:
        library.impl(name, kernel, key or "")
        return kernel

    return register


def open_entry(op: object, asked: str) -> OpenOperator:
    """The record of an operator, given by name, as an overload or as a definition.

    Raises:
        ValueError: it is something else.
        RuntimeError: there is no such operator.
        NotImplementedError: it is one of rushlight's own.
    """
    op = getattr(op, "_opoverload", op)
    if not isinstance(op, (str, Overload)):
        raise ValueError(f"{asked}({op}): got unexpected type for op: {type(op)}")
    name = op.name() if isinstance(op, Overload) else "::".join(parts_of(op))
    entry = TABLE.operator(name.removesuffix(".default"))
    if entry is None:
        raise RuntimeError(f"operator {name} does not exist")
    if not isinstance(entry, OpenOperator):
        raise NotImplementedError(
            f"{asked}: {name} is one of rushlight's own operators, which cannot be changed"
        )
    return entry
