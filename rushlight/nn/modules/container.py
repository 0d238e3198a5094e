"""Modules that hold modules or parameters."""

from __future__ import annotations

import operator
import warnings
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, overload

from ...module_names import names_of
from ...ops.tensors.tensor import Parameter, Tensor
from ..registration import type_name
from .module import Module

__all__ = ["Container", "ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]

Self = TypeVar("Self", bound="_Numbered")
Item = TypeVar("Item")


def _check_iterable(values: object, method: str) -> None:
    if not isinstance(values, Iterable) or isinstance(values, Tensor):  # which has rows alone
        kind = type(values).__name__
        raise TypeError(f"{method} should be called with an iterable, but got {kind}")


def _position(index: int, length: int) -> int:
    """A position from a Python index.

    Raises:
        IndexError: outside the container.
    """
    position = operator.index(index)
    if not -length <= position < length:
        raise IndexError(f"index {position} is out of range")
    return position % length if length else position


class Container(Module):
    """A module of the given children; deprecated, as in torch."""

    def __init__(self, **kwargs: Module | None) -> None:
        super().__init__()
        warnings.warn(
            "nn.Container is deprecated. All of it's functionality is now implemented in "
            "nn.Module. Subclass that instead.",
            FutureWarning,
            stacklevel=2,
        )
        for name, module in kwargs.items():
            self.add_module(name, module)


def _key(container: _Numbered, index: int) -> str:
    return list(container._modules)[_position(index, len(container))]


def _replace(container: _Numbered, modules: Iterable[tuple[str, Module]]) -> None:
    """Hold these and nothing else, in the same dict."""
    modules = list(modules)
    container._modules.clear()
    container._modules.update(modules)


def _renumber(container: _Numbered, modules: Iterable[Module]) -> None:
    _replace(container, ((str(i), module) for i, module in enumerate(modules)))


def _times(container: Sequential, times: object) -> int:
    if not isinstance(times, int):
        kinds = f"{type(container)} and {type(times)}"
        raise TypeError(f"unsupported operand type(s) for *: {kinds}")
    if times <= 0:
        raise ValueError(f"Non-positive multiplication factor {times} for {type(container)}")
    return times


class _Numbered(Module):
    """Modules in order; `Sequential` may give them names, `ModuleList` numbers them."""

    _modules: dict[str, Module]  # type: ignore[assignment]  # None is rare in containers

    @overload
    def __getitem__(self: Self, index: slice) -> Self: ...
    @overload
    def __getitem__(self, index: int) -> Module: ...
    def __getitem__(self, index: int | slice) -> Module:
        if isinstance(index, slice):
            return self._slice(index)
        return self._modules[_key(self, index)]

    def _slice(self, index: slice) -> Module:
        raise NotImplementedError

    def _get_abs_string_index(self, idx: int) -> str:
        """The name of a place, which subclasses of packages ask for."""
        return str(_position(idx, len(self)))

    def _get_item_by_idx(self, iterator: Iterable[Item], idx: int) -> Item:
        """What stands at a place among as many as there are modules."""
        return next(islice(iterator, _position(idx, len(self)), None))

    def __setitem__(self, index: int, module: Module) -> None:
        setattr(self, _key(self, index), module)

    def __delitem__(self, index: int | slice) -> None:
        names = list(self._modules)
        dropped = names[index] if isinstance(index, slice) else [_key(self, index)]
        for name in dropped:
            delattr(self, name)
        _renumber(self, self._modules.values())

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def __iadd__(self: Self, modules: Iterable[Module]) -> Self:
        return self.extend(modules)

    def append(self: Self, module: Module) -> Self:
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self: Self, modules: Iterable[Module]) -> Self:
        """Add modules at the end."""
        _check_iterable(modules, f"{type(self).__name__}.extend")
        for module in modules:
            self.append(module)
        return self

    def pop(self, key: int | slice) -> Module:
        """Take out a module."""
        module = self[key]
        del self[key]
        return module


class Sequential(_Numbered):
    """Modules each of which gets what the one before gave; from arguments or an OrderedDict."""

    if TYPE_CHECKING:  # what the last one gives, which is nearly always a tensor

        def __call__(self, *args: object, **kwargs: object) -> Tensor: ...

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
        _renumber(self, modules)
        return self

    def __add__(self, other: object) -> Sequential:
        if not isinstance(other, Sequential):
            given = f"but {type(other)} is given."
            raise ValueError(f"add operator supports only objects of Sequential class, {given}")
        return Sequential(*self, *other)

    def __mul__(self, times: int) -> Sequential:
        return Sequential(*(module for _ in range(_times(self, times)) for module in self))

    def __rmul__(self, times: int) -> Sequential:
        return self * times

    def __imul__(self, times: int) -> Sequential:
        return self.extend([module for _ in range(_times(self, times) - 1) for module in self])

    def forward(self, input):  # type: ignore[no-untyped-def]
        """Apply the layer."""
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
        _renumber(self, modules)

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

    _modules: dict[str, Module]  # type: ignore[assignment]

    def __init__(self, modules: Mapping[str, Module] | Iterable[object] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Module:
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

    def pop(self, key: str) -> Module:
        """Take out the module of that name."""
        return self._modules.pop(key)

    def keys(self) -> Iterable[str]:
        """The names."""
        return self._modules.keys()

    def items(self) -> Iterable[tuple[str, Module]]:
        """Names and modules."""
        return self._modules.items()

    def values(self) -> Iterable[Module]:
        """The modules."""
        return self._modules.values()

    def update(self, modules: object) -> None:
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

    def __init__(self, values: Iterable[object] | None = None) -> None:
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

    def __iadd__(self, values: Iterable[object]) -> ParameterList:
        return self.extend(values)

    def append(self, value: object) -> ParameterList:
        """Add a value at the end."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values: Iterable[object]) -> ParameterList:
        """Add values at the end."""
        _check_iterable(values, f"{type(self).__name__}.extend")
        for value in values:
            self.append(value)
        return self

    def __call__(self, *args: object, **kwargs: object) -> NoReturn:
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


class ParameterDict(Module):
    """A dict of parameters; tensors become parameters, other values are kept as they are."""

    def __init__(self, parameters: object = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def _key_to_attr(self, key: object) -> str:
        """A key that can be the name of an attribute.

        Raises:
            TypeError: it is no string.
        """
        if isinstance(key, str):
            return key
        raise TypeError(
            "Index given to ParameterDict cannot be used as a key as it is not a string (type is "
            f"'{type(key).__name__}'). Open an issue on github if you need non-string keys."
        )

    def __getitem__(self, key: str) -> Any:
        return getattr(self, self._key_to_attr(key))

    def __setitem__(self, key: str, value: object) -> None:
        self._keys[key] = None
        if isinstance(value, Tensor) and not isinstance(value, Parameter):
            value = Parameter(value)
        setattr(self, self._key_to_attr(key), value)

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, self._key_to_attr(key))

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(list(self._keys))

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def copy(self) -> ParameterDict:
        """Another dict of the same parameters."""
        return ParameterDict(OrderedDict(self.items()))

    def setdefault(self, key: str, default: object = None) -> Any:
        """The value of a key, which is `default` from now on if there was none."""
        if key not in self:
            self[key] = default
        return self[key]

    def clear(self) -> None:
        """Hold nothing."""
        for key in list(self._keys):
            del self[key]

    def pop(self, key: str) -> Any:
        """Take out the value of a key."""
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[str, Any]:
        """Take out what came last."""
        key, _ = self._keys.popitem()
        self._keys[key] = None
        return key, self.pop(key)

    def get(self, key: str, default: object = None) -> Any:
        """The value of a key, or `default`."""
        return self[key] if key in self else default  # noqa: SIM401 (this is that method)

    def fromkeys(self, keys: Iterable[str], default: object = None) -> ParameterDict:
        """A new dict in which every key has the value `default`."""
        return ParameterDict((key, default) for key in keys)

    def keys(self) -> Iterable[str]:
        """The keys."""
        return self._keys.keys()

    def items(self) -> Iterable[tuple[str, Any]]:
        """Keys and values."""
        return ((key, self[key]) for key in self._keys)

    def values(self) -> Iterable[Any]:
        """The values."""
        return (self[key] for key in self._keys)

    def update(self, parameters: object) -> None:
        """Add values from a mapping or from pairs.

        Raises:
            TypeError: neither a mapping nor pairs.
            ValueError: an element of another length than two.
        """
        if not isinstance(parameters, Iterable):
            wanted = "should be called with an iterable of key/value pairs"
            raise TypeError(f"ParametersDict.update {wanted}, but got {type_name(parameters)}")
        if isinstance(parameters, OrderedDict | ParameterDict):
            parameters = parameters.items()
        elif isinstance(parameters, Mapping):
            parameters = sorted(parameters.items())
        for number, pair in enumerate(parameters):
            element = f"ParameterDict update sequence element #{number}"
            if not isinstance(pair, Iterable):
                raise TypeError(f"{element} should be Iterable; is{type(pair).__name__}")
            pair = tuple(pair)
            if len(pair) != 2:
                raise ValueError(f"{element} has length {len(pair)}; 2 is required")
            self[pair[0]] = pair[1]

    def __or__(self, other: object) -> ParameterDict:
        joined = self.copy()
        joined.update(other)
        return joined

    def __ror__(self, other: object) -> ParameterDict:
        joined = ParameterDict(other)
        joined.update(self)
        return joined

    def __ior__(self, other: object) -> ParameterDict:
        self.update(other)
        return self

    def __call__(self, *args: object, **kwargs: object) -> NoReturn:
        raise RuntimeError("ParameterDict should not be called.")

    def extra_repr(self) -> str:
        lines = []
        for key, value in self.items():
            if isinstance(value, Tensor):
                kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
                size = "x".join(map(str, value.shape))
                text = f"{kind} containing: [{type_name(value)} of size {size}]"
            else:
                text = f"Object of type: {type(value).__name__}"
            lines.append(f"  ({key}): {text}")
        return "\n".join(lines)


__getattr__ = names_of(__name__)
