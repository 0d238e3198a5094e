"""Decorators of classes of pipes: names of methods, and promises about the order of samples."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from typing import Any, Protocol, TypeVar, get_origin, get_type_hints

from .datapipe import IterDataPipe, MapDataPipe

__all__ = [
    "argument_validation",
    "functional_datapipe",
    "guaranteed_datapipes_determinism",
    "non_deterministic",
    "runtime_validation",
    "runtime_validation_disabled",
]

C = TypeVar("C", bound=Callable[..., object])
F = TypeVar("F", bound=Callable[..., object])


class _Typed(Protocol):
    """A pipe that says what its samples are."""

    @property
    def type(self) -> Any: ...


P = TypeVar("P", bound=_Typed)
R = TypeVar("R")


class functional_datapipe:
    """Decorates a class of pipes, which every other pipe then makes by a method of this name."""

    def __init__(self, name: str, enable_df_api_tracing: bool = False) -> None:
        """`enable_df_api_tracing` is taken for torch's sake: there are no data frames here."""
        self.name, self.enable_df_api_tracing = name, enable_df_api_tracing

    def __call__(self, cls: C) -> C:
        kind = _kind_of(cls)
        if kind is not None:
            kind.register_datapipe_as_function(self.name, cls)
        return cls


def _kind_of(made: object) -> type[IterDataPipe[object] | MapDataPipe[object]] | None:
    """The kind of pipes that a class, or what `non_deterministic` made of one, gives.

    Raises:
        TypeError: something else.
    """
    marked = made if isinstance(made, non_deterministic) else getattr(made, "__self__", None)
    cls = marked.cls if isinstance(marked, non_deterministic) else made
    if not isinstance(cls, type):
        raise TypeError("`functional_datapipe` can only decorate IterDataPipe")
    return next((kind for kind in (IterDataPipe, MapDataPipe) if issubclass(cls, kind)), None)


class _Asked:
    """What is asked for while a block runs, or from a call on."""

    def __init__(self, value: bool) -> None:
        self.value = value


_determinism = _Asked(False)
_validation = _Asked(True)


class _Asking:
    """Asks for it at once, and puts back what was asked before at the end of a block."""

    _what: _Asked
    _value: bool

    def __init__(self) -> None:
        self.prev, self._what.value = self._what.value, self._value

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        self._what.value = self.prev


class guaranteed_datapipes_determinism(_Asking):
    """A block in which pipes that are marked as `non_deterministic` are refused."""

    _what, _value = _determinism, True


class runtime_validation_disabled(_Asking):
    """A block in which `runtime_validation` checks nothing."""

    _what, _value = _validation, False


class non_deterministic:
    """Decorates classes of pipes whose order may be another one each time.

    Args:
        arg: the class; or a function of the arguments of one that says whether such a pipe is.

    Raises:
        TypeError: neither of them.
    """

    cls: type[IterDataPipe[object]] | None = None

    def __init__(self, arg: object) -> None:
        if isinstance(arg, type):
            if not issubclass(arg, IterDataPipe):
                raise TypeError(
                    "Only `IterDataPipe` can be decorated with `non_deterministic`"
                    f", but {arg.__name__} is found"
                )
            self.cls = arg
        elif callable(arg):
            self.deterministic_fn = arg
        else:
            raise TypeError(f"{arg} can not be decorated by non_deterministic")

    def __call__(self, *args: object, **kwargs: object) -> Any:
        if self.cls is not None:
            return self._made("", self.cls, args, kwargs)
        cls = args[0]
        if not (isinstance(cls, type) and issubclass(cls, IterDataPipe)):
            name = getattr(cls, "__name__", cls)
            raise TypeError(f"Only `IterDataPipe` can be decorated, but {name} is found")
        self.cls = cls
        return self.deterministic_wrapper_fn

    def deterministic_wrapper_fn(self, *args: object, **kwargs: object) -> IterDataPipe[object]:
        """Makes a pipe, if its arguments do what is asked.

        Raises:
            TypeError: they do not, or the function has not said True or False.
        """
        answer = self.deterministic_fn(*args, **kwargs)
        if not isinstance(answer, bool):
            raise TypeError(
                "deterministic_fn of `non_deterministic` decorator is required "
                f"to return a boolean value, but {type(answer)} is found"
            )
        assert self.cls is not None
        if answer:
            return self._made(" with the inputs", self.cls, args, kwargs)
        return self.cls(*args, **kwargs)

    def _made(
        self,
        when: str,
        cls: type[IterDataPipe[object]],
        args: tuple[object, ...],
        kwargs: Mapping[str, object],
    ) -> IterDataPipe[object]:
        if _determinism.value:
            raise TypeError(
                f"{cls.__name__} is non-deterministic{when}, but you set "
                "'guaranteed_datapipes_determinism'. You can turn off determinism for this "
                "DataPipe if that is acceptable for your application"
            )
        return cls(*args, **kwargs)


def argument_validation(f: F) -> F:
    """Has a function check that arguments which its annotations call pipes are pipes.

    torch 2.13 keeps no types of samples with them, and neither do we, so those are not compared.
    """
    signature, hints = inspect.signature(f), get_type_hints(f)

    def is_pipe(hint: object) -> bool:
        cls = get_origin(hint) or hint
        return isinstance(cls, type) and issubclass(cls, IterDataPipe | MapDataPipe)

    @wraps(f)
    def checked(*args: object, **kwargs: object) -> object:
        for name, value in signature.bind(*args, **kwargs).arguments.items():
            if is_pipe(hints.get(name)) and not isinstance(value, IterDataPipe):
                raise TypeError(
                    f"Expected argument '{name}' as a IterDataPipe, but found {type(value)}"
                )
        return f(*args, **kwargs)

    return checked  # type: ignore[return-value]


def runtime_validation(f: Callable[[P], Iterator[R]]) -> Callable[[P], Iterator[R]]:
    """Has an `__iter__` check its samples by the type of the pipe (`type`), where it has one.

    Raises:
        TypeError: a function of another name.
    """
    if f.__name__ != "__iter__":
        raise TypeError(f"Can not decorate function {f.__name__} with 'runtime_validation'")

    @wraps(f)
    def checked(self: P) -> Iterator[R]:
        for sample in f(self):
            if _validation.value and not self.type.issubtype_of_instance(sample):
                raise RuntimeError(
                    f"Expected an instance as subtype of {self.type}, but found "
                    f"{sample}({type(sample)})"
                )
            yield sample

    return checked
