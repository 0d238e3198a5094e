"""Operators by name: `torch.ops.aten.add` (all overloads), `torch.ops.aten.add.Tensor` (one)."""

from __future__ import annotations

from typing import Any, NoReturn

from ..table.table import TABLE, Operator
from .binding import Form, Mismatch
from .calls import run
from .dispatch import EagerFunction, eager_function

__all__ = ["Namespace", "Overload", "Packet", "load_library"]


class Overload:
    """One overload of an operator, called with just the arguments of its schema."""

    def __init__(self, entry: Operator) -> None:
        self._entry = entry
        self._form: Form | None = None
        self.__name__ = f"{entry.name.partition('::')[2]}.{entry.overload or 'default'}"

    def name(self) -> str:
        """The operator's name with the overload's: `aten::add.Tensor`."""
        return self._entry.full_name

    def __call__(self, *args: object, **kwargs: object) -> Any:
        if self._form is None:
            self._form = Form(self._entry, self.name(), False)
        for lenient in (False, True):
            try:
                values = self._form.bind(args, kwargs, lenient)
            except Mismatch:
                if lenient:
                    raise RuntimeError(
                        f"{self._form.fault(args, kwargs)}\nDeclaration: {self._entry.schema}"
                    ) from None
            else:
                return run(self._entry, values, [*args, *kwargs.values()])
        raise AssertionError("a second try either binds or raises")

    def __repr__(self) -> str:
        name = self._entry.name.replace("::", ".")
        return f"<OpOverload(op='{name}', overload='{self._entry.overload or 'default'}')>"


class Packet:
    """All overloads of an operator: a call takes the first that the arguments fit."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._function: EagerFunction = eager_function(name)
        self.__name__ = name.partition("::")[2]

    def overloads(self) -> list[str]:
        """The names of the overloads; the one without a name is called `default`."""
        return [entry.overload or "default" for entry in TABLE.operators(self._name)]

    def __getattr__(self, overload: str) -> Overload:
        if overload.startswith("_") and "_name" not in vars(self):  # half made, by `copy`
            raise AttributeError(overload)
        full = self._name if overload == "default" else f"{self._name}.{overload}"
        entry = TABLE.operator(full)
        if entry is None or overload.startswith("__"):
            raise AttributeError(
                f"The underlying op of '{self._name}' has no overload name '{overload}'"
            )
        found = Overload(entry)
        setattr(self, overload, found)
        return found

    def __call__(self, *args: object, **kwargs: object) -> Any:
        return self._function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='{self._name.replace('::', '.')}')>"


class Namespace:
    """The operators of a namespace: `torch.ops.aten`."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, name: str) -> Packet:
        qualified = f"{self.name}::{name}"
        if name.startswith("__") or not TABLE.operators(qualified):
            raise AttributeError(f"'_OpNamespace' '{self.name}' object has no attribute '{name}'")
        found = Packet(qualified)
        setattr(self, name, found)
        return found

    def __repr__(self) -> str:
        return f"<module 'torch.ops.{self.name}'>"


def load_library(path: object) -> NoReturn:
    """Load operators from a compiled library, which is built against PyTorch's own.

    Raises:
        OSError: always.
    """
    raise OSError(f"Could not load this library: {path}")
