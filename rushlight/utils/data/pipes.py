"""Data sets made of data sets: `IterDataPipe`, `MapDataPipe`, and methods that make them.

torch itself adds nothing to them any more; packages still derive classes from them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, TypeVar

from .dataset import Dataset, IterableDataset

__all__ = ["IterDataPipe", "MapDataPipe", "functional_datapipe"]

C = TypeVar("C", bound=type)


class _Named:
    """What both kinds share: functions that every pipe has as methods."""

    functions: ClassVar[dict[str, Callable[..., Any]]]

    def __getattr__(self, name: str) -> Any:
        function = type(self).functions.get(name)
        if function is None:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        return partial(function, self)

    @classmethod
    def register_function(cls, function_name: str, function: Callable[..., Any]) -> None:
        """Have every pipe call a function, on itself, under a name."""
        cls.functions[function_name] = function

    @classmethod
    def register_datapipe_as_function(
        cls, function_name: str, cls_to_register: Callable[..., Any]
    ) -> None:
        """Have every pipe make a pipe of itself under a name.

        Raises:
            Exception: the name is taken.
        """
        if function_name in cls.functions:
            raise Exception(
                f"Unable to add DataPipe function name {function_name} as it is already taken"
            )
        cls.functions[function_name] = cls_to_register

    def __repr__(self) -> str:
        return type(self).__qualname__


class IterDataPipe(_Named, IterableDataset[Any]):
    """Samples that come one after the other; subclasses define `__iter__`."""

    functions: ClassVar[dict[str, Callable[..., Any]]] = {}


class MapDataPipe(_Named, Dataset[Any]):
    """Samples by key; subclasses define `__getitem__`."""

    functions: ClassVar[dict[str, Callable[..., Any]]] = {}


class functional_datapipe:
    """Decorates a class of pipes, which every other pipe then makes by a method of this name."""

    def __init__(self, name: str, enable_df_api_tracing: bool = False) -> None:
        """`enable_df_api_tracing` is taken for torch's sake: there are no data frames here."""
        self.name = name

    def __call__(self, cls: C) -> C:
        for kind in (IterDataPipe, MapDataPipe):
            if issubclass(cls, kind):
                kind.register_datapipe_as_function(self.name, cls)
        return cls
