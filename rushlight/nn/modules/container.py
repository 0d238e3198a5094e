"""Modules that hold modules or parameters."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar, overload

from ...ops.tensor import Parameter, Tensor
from ..registration import type_name
from .module import Module

__all__ = ["ModuleDict", "ModuleList", "ParameterList", "Sequential"]

Self = TypeVar("Self", bound="_Numbered")


def _iterable(values: object, method: str) -> Iterable[Any]:
    if not isinstance(values, Iterable):
        raise TypeError(f"{method} should be called with an iterable, but got {type_name(values)}")
    return values


def _position(index: int, length: int) -> int:
    """A position from a Python index.

    Raises:
        IndexError: outside the container.
    """
    position = operator.index(index)
    if not -length <= position < length:
        raise IndexError(f"index {position} is out of range")
    return position % length if length else position


class _Numbered(Module):
    """Modules in order; `Sequential` may give them names, `ModuleList` numbers them."""

    _modules: dict[str, Module | None]

    def _key(self, index: int) -> str:
        return list(self._modules)[_position(index, len(self))]

    def _replace(self, modules: Iterable[tuple[str, Module | None]]) -> None:
        """Hold these and nothing else, in the same dict."""
        modules = list(modules)
        self._modules.clear()
        self._modules.update(modules)

    def _renumber(self, modules: Iterable[Module | None]) -> None:
        self._replace((str(i), module) for i, module in enumerate(modules))

    @overload
    def __getitem__(self: Self, index: slice) -> Self: ...
    @overload
    def __getitem__(self, index: int) -> Any: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return self._slice(index)
        return self._modules[self._key(index)]

    def _slice(self, index: slice) -> Module:
        raise NotImplementedError

    def __setitem__(self, index: int, module: Module) -> None:
        setattr(self, self._key(index), module)

    def __delitem__(self, index: int | slice) -> None:
        names = list(self._modules)
        dropped = names[index] if isinstance(index, slice) else [self._key(index)]
        for name in dropped:
            delattr(self, name)
        self._renumber(self._modules.values())

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def __iadd__(self: Self, modules: Iterable[Module]) -> Self:
        return self.extend(modules)

    def append(self: Self, module: Module) -> Self:
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self: Self, modules: Iterable[Module]) -> Self:
        """Add modules at the end."""
        for module in _iterable(modules, f"{type(self).__name__}.extend"):
            self.append(module)
        return self

    def pop(self, index: int | slice) -> Any:
        """Take out a module."""
        module = self[index]
        del self[index]
        return module


class Sequential(_Numbered):
    """Modules each of which gets what the one before gave; from arguments or an OrderedDict."""

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            for number, module in enumerate(args):
                self.add_module(str(number), module)

    def _slice(self, index: slice) -> Sequential:
        names = list(self._modules)[index]
        return type(self)(OrderedDict((name, self._modules[name]) for name in names))

    def insert(self, index: int, module: Module) -> Sequential:
        """Put a module before position `index`; those behind move on.

        Raises:
            AssertionError: `module` is no Module.
            IndexError: outside the container.
        """
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        if not -len(self) <= index <= len(self):
            raise IndexError(f"Index out of range: {index}")
        modules = list(self._modules.values())
        modules.insert(index, module)
        self._renumber(modules)
        return self

    def __add__(self, other: Any) -> Sequential:
        if not isinstance(other, Sequential):
            given = f"but {type(other)} is given."
            raise ValueError(f"add operator supports only objects of Sequential class, {given}")
        return Sequential(*self, *other)

    def __mul__(self, times: int) -> Sequential:
        return Sequential(*(module for _ in range(self._times(times)) for module in self))

    def __rmul__(self, times: int) -> Sequential:
        return self * times

    def __imul__(self, times: int) -> Sequential:
        return self.extend([module for _ in range(self._times(times) - 1) for module in self])

    def _times(self, times: object) -> int:
        if not isinstance(times, int):
            kinds = f"{type(self)} and {type(times)}"
            raise TypeError(f"unsupported operand type(s) for *: {kinds}")
        if times <= 0:
            raise ValueError(f"Non-positive multiplication factor {times} for {type(self)}")
        return times

    def forward(self, input):  # type: ignore[no-untyped-def]
        for module in self:
            input = module(input)
        return input


class ModuleList(_Numbered):
    """A list of modules that are registered as children."""

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def _slice(self, index: slice) -> ModuleList:
        return type(self)(list(self)[index])

    def insert(self, index: int, module: Module) -> None:
        """Put a module before position `index`; those behind move on."""
        modules = list(self._modules.values())
        modules.insert(index, module)
        self._renumber(modules)

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList([*self, *other])

    def __repr__(self) -> str:
        """Equal neighbours are shown once: `(0-4): 5 x ReLU()`."""
        runs: list[tuple[int, int, str]] = []
        for number, module in enumerate(self):
            text = repr(module)
            if runs and runs[-1][2] == text:
                runs[-1] = (runs[-1][0], number, text)
            else:
                runs.append((number, number, text))
        if not runs:
            return f"{self._get_name()}()"
        lines = [
            f"({first}): {text}"
            if first == last
            else f"({first}-{last}): {last - first + 1} x {text}"
            for first, last, text in runs
        ]
        inner = "\n".join(lines).replace("\n", "\n  ")
        return f"{self._get_name()}(\n  {inner}\n)"


class ModuleDict(Module):
    """A dict of modules that are registered as children."""

    def __init__(self, modules: Mapping[str, Module] | Iterable[Any] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Any:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: object) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Hold nothing."""
        self._modules.clear()

    def pop(self, key: str) -> Any:
        """Take out the module of that name."""
        return self._modules.pop(key)

    def keys(self) -> Iterable[str]:
        """The names."""
        return self._modules.keys()

    def items(self) -> Iterable[tuple[str, Any]]:
        """Names and modules."""
        return self._modules.items()

    def values(self) -> Iterable[Any]:
        """The modules."""
        return self._modules.values()

    def update(self, modules: Any) -> None:
        """Add modules from a mapping or from pairs.

        Raises:
            TypeError: neither a mapping nor pairs.
            ValueError: an element of another length than two.
        """
        if not isinstance(modules, Iterable):
            wanted = "should be called with an iterable of key/value pairs"
            raise TypeError(f"ModuleDict.update {wanted}, but got {type_name(modules)}")
        if isinstance(modules, Mapping | ModuleDict):
            modules = modules.items()
        for number, pair in enumerate(modules):
            element = f"ModuleDict update sequence element #{number}"
            if not isinstance(pair, Iterable):
                raise TypeError(f"{element} should be Iterable; is{type(pair).__name__}")
            pair = tuple(pair)
            if len(pair) != 2:
                raise ValueError(f"{element} has length {len(pair)}; 2 is required")
            self[pair[0]] = pair[1]


class ParameterList(Module):
    """A list of parameters; tensors become parameters, other values are kept as they are."""

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return type(self)(list(self)[index])
        return getattr(self, str(_position(index, self._size)))

    def __setitem__(self, index: int, value: object) -> None:
        if isinstance(value, Tensor) and not isinstance(value, Parameter):
            value = Parameter(value)
        setattr(self, str(_position(index, self._size)), value)

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(self._size))

    def __iadd__(self, values: Iterable[Any]) -> ParameterList:
        return self.extend(values)

    def append(self, value: object) -> ParameterList:
        """Add a value at the end."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values: Iterable[Any]) -> ParameterList:
        """Add values at the end."""
        for value in _iterable(values, f"{type(self).__name__}.extend"):
            self.append(value)
        return self

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("ParameterList should not be called.")

    def extra_repr(self) -> str:
        lines = []
        for number, value in enumerate(self):
            if isinstance(value, Tensor):
                kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
                size = "x".join(map(str, value.shape))
                text = f"{kind} containing: [{value.dtype} of size {size}]"
            else:
                text = f"Object of type: {type(value).__name__}"
            lines.append(f"  ({number}): {text}")
        return "\n".join(lines)
