"""Data sets made of data sets: `IterDataPipe`, `MapDataPipe`, and methods that make them.

torch itself adds nothing to them any more; packages still derive classes from them.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from functools import partial, update_wrapper
from importlib import import_module
from typing import Any, ClassVar, SupportsIndex, TypeVar

from ....module_names import names_of
from ..dataset import Dataset, IterableDataset
from .single_iterator import _SnapshotState, hook_iterator, hook_reset

__all__ = ["DataChunk", "IterDataPipe", "MapDataPipe"]

Sample = TypeVar("Sample", covariant=True)
Item = TypeVar("Item")


class DataChunk(list[Item]):
    """A batch of samples, as a list."""

    def __init__(self, items: Iterable[Item]) -> None:
        super().__init__(items)
        self.items = list(self)

    def as_str(self, indent: str = "") -> str:
        """The samples in one line."""
        return f"{indent}[{', '.join(map(str, self))}]"

    def __iter__(self) -> Iterator[Item]:
        yield from super().__iter__()

    def raw_iterator(self) -> Iterator[Item]:
        """The samples as they were given, where a class goes through them in another way."""
        yield from self.items


class _Functions:
    """The methods of one kind of pipes by name, torch's own among them.

    Those are put in by the modules that have them, which are loaded at the first look: a loader of
    other sets needs none of them.
    """

    def __init__(self, module: str) -> None:
        self._module = module
        self._named: dict[str, Callable[..., object]] = {}

    def __get__(self, pipe: object, kind: type) -> dict[str, Callable[..., object]]:
        import_module(self._module, __package__)
        return self._named


class _Pipe:
    """What both kinds share: methods that make pipes, and what is asked before they are pickled."""

    functions: ClassVar[_Functions]
    reduce_ex_hook: ClassVar[Callable[[object], object] | None] = None
    getstate_hook: ClassVar[Callable[[object], object] | None] = None
    str_hook: ClassVar[Callable[[object], str] | None] = None
    repr_hook: ClassVar[Callable[[object], str] | None] = None
    _kind: ClassVar[type[_Pipe]]

    def __getattr__(self, name: str) -> Any:
        function = self._kind.functions.get(name)
        if function is None:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        return update_wrapper(partial(function, self), function, assigned=("__doc__",))

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._kind.functions]

    @classmethod
    def register_function(cls, function_name: str, function: Callable[..., object]) -> None:
        """Have every pipe call a function, on itself, under a name."""
        cls.functions[function_name] = function

    @classmethod
    def register_datapipe_as_function(
        cls,
        function_name: str,
        cls_to_register: Callable[..., object],
        enable_df_api_tracing: bool = False,
    ) -> None:
        """Have every pipe make a pipe of itself under a name.

        `enable_df_api_tracing` is taken for torch's sake: there are no data frames here.

        Raises:
            Exception: the name is taken.
        """
        if function_name in cls.functions:
            raise Exception(
                f"Unable to add DataPipe function name {function_name} as it is already taken"
            )
        made = partial(cls_to_register)
        cls.functions[function_name] = update_wrapper(made, cls_to_register, assigned=("__doc__",))

    def state_of(self, state: object) -> object:
        """What is pickled of a pipe: its state, or what `getstate_hook` makes of it."""
        hook = self._kind.getstate_hook
        return state if hook is None else hook(state)

    def __getstate__(self) -> object:
        return self.state_of(self.__dict__)

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        hook = self._kind.reduce_ex_hook
        if hook is not None:
            try:
                return hook(self)
            except NotImplementedError:  # the hook leaves this pipe to pickle
                pass
        return super().__reduce_ex__(protocol)

    @classmethod
    def _set_hook(cls, name: str, hook: Callable[..., object] | None) -> None:
        if getattr(cls._kind, name) is not None and hook is not None:
            raise RuntimeError(f"Attempt to override existing {name}")
        setattr(cls._kind, name, hook)

    @classmethod
    def set_getstate_hook(cls, hook_fn: Callable[[Any], object] | None) -> None:
        """Have a function say what is pickled of each pipe; None ends that.

        Raises:
            RuntimeError: there is such a function.
        """
        cls._set_hook("getstate_hook", hook_fn)

    @classmethod
    def set_reduce_ex_hook(cls, hook_fn: Callable[[Any], object] | None) -> None:
        """Have a function say how each pipe is pickled, or raise NotImplementedError; None ends
        that.

        Raises:
            RuntimeError: there is such a function.
        """
        cls._set_hook("reduce_ex_hook", hook_fn)

    def __repr__(self) -> str:
        return type(self).__qualname__ if self.repr_hook is None else self.repr_hook()

    def __str__(self) -> str:
        return type(self).__qualname__ if self.str_hook is None else self.str_hook()


class IterDataPipe(_Pipe, IterableDataset[Sample]):
    """Samples that come one after the other; subclasses define `__iter__`.

    A pipe has one iterator at a time: making another one ends it, and calls `reset`.
    """

    functions = _Functions(".iter")
    _valid_iterator_id: int | None = None
    _number_of_samples_yielded = 0
    _snapshot_state = _SnapshotState.NotStarted
    _fast_forward_iterator: Iterator[object] | None = None
    _is_child_datapipe = False  # asked before each sample: a pipe need not look for a method then

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        _hook(cls)

    def __iter__(self) -> Iterator[Sample]:
        return self

    def reset(self) -> None:
        """Forget what was read ahead; subclasses that read ahead define it."""


class MapDataPipe(_Pipe, Dataset[Sample]):
    """Samples by key; subclasses define `__getitem__`."""

    functions = _Functions(".map")


def _hook(cls: type[IterDataPipe[object]]) -> None:
    if "reset" in vars(cls):
        hook_reset(cls)
    if "__iter__" in vars(cls):
        hook_iterator(cls)


_hook(IterDataPipe)
IterDataPipe._kind, MapDataPipe._kind = IterDataPipe, MapDataPipe


class _ForLoader:
    """A pipe in a loader, which is pickled with what it holds as bytes."""

    def __init__(self, datapipe: Any) -> None:
        self._datapipe = datapipe

    def __getstate__(self) -> tuple[bytes, bool]:
        """The bytes, and that `dill` did not write them."""
        return pickle.dumps(self._datapipe), False

    def __setstate__(self, state: tuple[bytes, bool]) -> None:
        self._datapipe = pickle.loads(state[0])

    def __len__(self) -> int:
        try:
            return len(self._datapipe)
        except Exception as error:
            raise TypeError(f"{type(self).__name__} instance doesn't have valid length") from error


class _IterDataPipeSerializationWrapper(_ForLoader, IterDataPipe[object]):
    def __init__(self, datapipe: IterDataPipe[object]) -> None:
        super().__init__(datapipe)
        self._datapipe_iter: Iterator[object] | None = None

    def __iter__(self) -> _IterDataPipeSerializationWrapper:
        self._datapipe_iter = iter(self._datapipe)
        return self

    def __next__(self) -> object:
        if self._datapipe_iter is None:
            raise AssertionError(
                "Iterator has not been initialized; call __iter__() before __next__()"
            )
        return next(self._datapipe_iter)


class _MapDataPipeSerializationWrapper(_ForLoader, MapDataPipe[object]):
    def __getitem__(self, idx: object) -> object:
        return self._datapipe[idx]


__getattr__ = names_of(__name__)
