"""Operators by name: `torch.ops.aten.add` (all overloads), `torch.ops.aten.add.Tensor` (one)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Self, TypeVar

from ...typecheck.definitions.schema import Argument
from ..memory.errors import Elsewhere
from ..memory.named_results import NamedResults
from ..table.table import TABLE, Operator
from ..tensors.dispatched import check_dispatched
from ..tensors.overriding import STATE, ask, askers
from ..tensors.tensor import Tensor
from .binding import Form, Mismatch, type_name
from .calls import run, tensors_in
from .dispatch import EagerFunction, eager_function
from .elsewhere import Run, elsewhere
from .new_leaves import as_leaf
from .open_operators import OpenOperator
from .refused_operators import RefusedOperator, refused_operator

__all__ = ["LOADED", "Namespace", "Overload", "Packet", "load_library"]


class Overload:
    """One overload of an operator, called with just the arguments of its schema."""

    def __init__(self, entry: Operator) -> None:
        self._entry = entry
        self._form: Form | None = None
        namespace, _, name = entry.name.partition("::")
        self.namespace = namespace
        self._gives_list = _gives_list(entry)
        self._overloadname = entry.overload or "default"
        self._opname = name
        self.__name__ = f"{name}.{self._overloadname}"
        self.__qualname__ = entry.full_name
        self.__module__ = f"torch._ops.{namespace}"

    @property
    def entry(self) -> Operator:
        """The operator itself."""
        return self._entry

    @property
    def mutates(self) -> bool:
        """Whether it changes an argument."""
        return self._entry.signature.is_mutable

    @property
    def draws(self) -> bool:
        """Whether it draws random numbers."""
        return self._entry.random

    @property
    def has_effects(self) -> bool:
        """Whether it does something besides giving a result."""
        return self._entry.effects

    def name(self) -> str:
        """The operator's name with the overload's: `aten::add.Tensor`."""
        return self._entry.full_name

    @property
    def overloadpacket(self) -> Packet:
        """All overloads of the operator."""
        found: Packet = getattr(Namespace(self.namespace), self._opname)
        return found

    _overloadpacket = overloadpacket

    @property
    def is_view(self) -> bool:
        """Whether results are views of an argument."""
        return self._entry.is_view

    @property
    def tags(self) -> list[object]:
        """What whoever defined the operator said of it."""
        return list(self._entry.tags) if isinstance(self._entry, OpenOperator) else []

    @property
    def _schema(self) -> object:
        schemas = import_module("..._C.schemas", __package__)
        return schemas.FunctionSchema(self._entry.signature)

    def __call__(self, *args: object, **kwargs: object) -> Any:
        asked = askers(args, kwargs)
        if asked is not None:
            return ask(self, asked, args, kwargs, f"torch.ops.{self}")
        if isinstance(self._entry, OpenOperator):
            instead = self._entry.for_autocast()
            if instead is not None:
                return instead(*args, **kwargs)
        below = STATE.below
        try:
            check_dispatched(args, kwargs)
            return self._call(args, kwargs, run if below is None else below.run)
        except Elsewhere as place:
            return elsewhere(
                place.kind,
                self._entry.name,
                args,
                kwargs,
                lambda run: self._call(args, kwargs, run if below is None else below.running(run)),
            )

    def _call(self, args: Sequence[object], kwargs: dict[str, object], run: Run) -> Any:
        values = self._bound(args, kwargs)
        if values is None:
            raise self._refusal(args, kwargs)
        made = run(self._entry, values, [*args, *kwargs.values()])
        if kwargs and kwargs.get("requires_grad") and self._entry.of_leaves:
            return as_leaf(made)
        return made if type(made) is Tensor else _plain(made, self._gives_list)

    def _bound(self, args: Sequence[object], kwargs: dict[str, object]) -> list[object] | None:
        """The values of all arguments; None if these do not fit."""
        if self._form is None:
            self._form = Form(self._entry, self._entry.name, False)
        for lenient in (False, True):
            try:
                return self._form.bind(args, kwargs, lenient)
            except Mismatch:
                pass
        return None

    def refusal(self, args: Sequence[object], kwargs: dict[str, object]) -> RuntimeError | None:
        """What is wrong about arguments, in torch's words; None if they fit."""
        return None if self._bound(args, kwargs) is not None else self._refusal(args, kwargs)

    def _refusal(self, args: Sequence[object], kwargs: dict[str, object]) -> RuntimeError:
        """What is wrong about arguments, in torch's words."""
        name, schema = self._entry.name, self._entry.schema
        arguments = self._entry.signature.arguments
        count = len(args) + len(kwargs)
        if count > len(arguments):
            return RuntimeError(
                f"{name}() expected at most {len(arguments)} argument(s) but received {count} "
                f"argument(s). Declaration: {schema}"
            )
        given = {**dict(zip((a.name for a in arguments), args, strict=False)), **kwargs}
        for place, argument in enumerate(arguments):
            if place < len(args) and argument.keyword_only:
                return RuntimeError(
                    f"{name}() takes {place} positional argument(s) but {len(args)} was/were "
                    f"given.  Declaration: {schema}"
                )
            fault = self._fault(place, argument, given)
            if fault:
                return RuntimeError(fault)
        for key in kwargs:
            if all(key != a.name for a in arguments):
                return RuntimeError(
                    f"Unknown keyword argument '{key}' for operator '{name}'. Schema: {schema}"
                )
        assert self._form is not None
        return RuntimeError(f"{self._form.fault(args, kwargs)}\nDeclaration: {schema}")

    def _fault(self, place: int, argument: Argument, given: dict[str, object]) -> str:
        """What is wrong about one argument; "" if it may be so."""
        name, schema = self._entry.name, self._entry.schema
        if argument.name not in given:
            missing = f"{name}() is missing value for argument '{argument.name}'. "
            return "" if argument.has_default else f"{missing}Declaration: {schema}"
        value = given[argument.name]
        assert self._form is not None
        if self._form.takes(place, value):
            return ""
        return (
            f"{name}() Expected a value of type '{argument.type.annotation_str}' for argument "
            f"'{argument.name}' but instead found type '{type_name(value)}'.\nPosition: {place}\n"
            f"Value: {value!r}\nDeclaration: {schema}\n"
            f"Cast error details: Unable to cast {value!r} to {argument.type}"
        )

    def __deepcopy__(self, memo: object) -> Self:
        return self  # an operator is one, as a function is

    def __str__(self) -> str:
        return f"{self._entry.name.replace('::', '.')}.{self._overloadname}"

    def __repr__(self) -> str:
        name = self._entry.name.replace("::", ".")
        return f"<OpOverload(op='{name}', overload='{self._overloadname}')>"


def _gives_list(entry: Operator) -> bool:
    """Whether an operator's one result is a list of tensors."""
    return entry.schema.endswith("[]") and "-> Tensor" in entry.schema


def _plain(made: object, gives_list: bool) -> object:
    """What operators give that are called by themselves: several results are a plain tuple, a list
    of tensors is one."""
    if gives_list and type(made) is tuple:
        return list(made)
    return tuple(made) if isinstance(made, NamedResults) else made


class Packet:
    """All overloads of an operator: a call takes the first that the arguments fit."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._qualified_op_name = name
        self._function: EagerFunction = eager_function(name)
        entries = TABLE.operators(name)
        self._as_in_schema = any("int reduction=" in each.schema for each in entries[:1])
        self._gives_list = any(map(_gives_list, entries))
        self._in_scripts_order = any(each.first_in_python for each in entries)
        self.__name__ = name.partition("::")[2]
        self.__module__ = f"torch._ops.{name.partition('::')[0]}"

    @property
    def operator_name(self) -> str:
        """The operator's: `aten::add`."""
        return self._name

    @property
    def mutates(self) -> bool:
        """Whether it changes an argument."""
        return TABLE.operators(self._name)[0].signature.is_mutable

    @property
    def draws(self) -> bool:
        """Whether it draws random numbers."""
        return TABLE.operators(self._name)[0].random

    @property
    def has_effects(self) -> bool:
        """Whether it does something besides giving a result."""
        return TABLE.operators(self._name)[0].effects

    def overloads(self) -> list[str]:
        """The names of the overloads; the one without a name is called `default`."""
        return [entry.overload or "default" for entry in TABLE.operators(self._name)]

    def __getattr__(self, overload: str) -> Overload:
        if overload.startswith("_") and "_name" not in vars(self):  # half made, by `copy`
            raise AttributeError(overload)
        full = self._name if overload == "default" else f"{self._name}.{overload}"
        entry = TABLE.operator(full)
        if entry is None or overload.startswith("__"):
            shown = self._name.replace("::", ".")
            raise AttributeError(
                f"The underlying op of '{shown}' has no overload name '{overload}'"
            )
        if isinstance(entry, OpenOperator):  # which may be taken away again
            return _face(entry, (), partial(Overload, entry))
        found = Overload(entry)
        setattr(self, overload, found)
        return found

    def __call__(self, *args: object, **kwargs: object) -> Any:
        asked = askers(args, kwargs)
        if asked is not None:
            return ask(self, asked, args, kwargs, f"torch.ops.{self}")
        entries = TABLE.operators(self._name)
        is_open = len(entries) > 0 and isinstance(entries[0], OpenOperator)
        if (is_open and len(entries) == 1) or self._as_in_schema:
            # the default of `reduction` is a number here
            return self.__getattr__(entries[0].overload or "default")(*args, **kwargs)
        is_apart = is_open or self._in_scripts_order or isinstance(kwargs.get("out"), tuple)
        if is_apart or not self._function.forms:
            # Several outs have names of their own here, and what takes no tensors has no function.
            return self._fitting(args, kwargs)(*args, **kwargs)
        try:
            made = self._function(*args, **kwargs)
            return made if type(made) is Tensor else _plain(made, self._gives_list)
        except TypeError:
            found = self._fitting(args, kwargs)  # maybe one on numbers, texts or lists alone
            if not found.entry.is_out_form and tensors_in([*args, *kwargs.values()]):
                raise
        return found(*args, **kwargs)

    def _fitting(self, args: Sequence[object], kwargs: dict[str, object]) -> Overload:
        """The first overload that takes some arguments.

        Raises:
            RuntimeError: none does.
        """
        faults = []
        for name in self.overloads():
            overload = self.__getattr__(name)
            refusal = overload.refusal(args, kwargs)
            if refusal is None:
                return overload
            faults.append(str(refusal))
        if len(faults) == 1:
            raise RuntimeError(faults[0]) from None
        raise RuntimeError(
            "Overloaded torch operator invoked from Python failed to match any schema:\n"
            + "".join(f"{fault}\n\n" for fault in faults)
        ) from None

    def __deepcopy__(self, memo: object) -> Self:
        return self  # an operator is one, as a function is

    def __str__(self) -> str:
        return self._name.replace("::", ".")

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='{self._name.replace('::', '.')}')>"


Face = TypeVar("Face", Overload, Packet)


def _face(entry: OpenOperator, beside: tuple[Operator, ...], make: Callable[[], Face]) -> Face:
    """The one object that stands for an operator for as long as there is this operator."""
    found: Face | None = entry.faces.get(beside)
    if found is None:
        found = entry.faces.setdefault(beside, make())
    return found


@cache
def _packet(name: str) -> Packet:
    """The one packet of an operator that stays."""
    return Packet(name)


class Namespace:
    """The operators of a namespace: `torch.ops.aten`."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, name: str) -> Packet | RefusedOperator:
        if name in ("__origin__", "__self__") or "name" not in vars(self):
            shown = vars(self).get("name", "")
            raise AttributeError(f"Invalid attribute '{name}' for '_OpNamespace' '{shown}'")
        qualified = f"{self.name}::{name}"
        entries = TABLE.operators(qualified)
        if not entries:
            refused = refused_operator(self.name, name)
            if refused is None:
                shown = f"'_OpNamespace' '{self.name}'"
                raise AttributeError(f"{shown} object has no attribute '{name}'")
            setattr(self, name, refused)
            return refused
        if isinstance(entries[0], OpenOperator):
            return _face(entries[0], tuple(entries), partial(Packet, qualified))
        found = _packet(qualified)
        setattr(self, name, found)
        return found

    def __repr__(self) -> str:
        return f"<module 'torch.ops.{self.name}' from 'torch.ops'>"


LOADED: Final[set[str]] = set()
"""The libraries of operators that were asked for, and stand here."""


def load_library(path: object) -> None:
    """Load operators from a compiled library, which is built against PyTorch's own.

    Of the libraries that are known the operators are rushlight's.

    Raises:
        OSError: it is any other library.
    """
    place = Path(str(path)).resolve()
    folders = {each.name for each in place.parents[:2]}
    if not folders & _KNOWN.get(place.stem.partition(".")[0], set()) or not place.is_file():
        raise OSError(f"Could not load this library: {place}")
    LOADED.add(str(place))


_KNOWN: Final = {
    "_C": {"torchvision"},
    "_C_stable": {"torchvision"},
    "_torchaudio": {"torchaudio"},
    "libtorchaudio": {"torchaudio"},
}
"""Libraries whose operators are here, and the folders they lie in, or in one inside of."""
