"""`torch.utils._contextlib`: contexts that can be put around functions too."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager
from typing import Any, ParamSpec, Self, TypeVar

__all__ = ["context_decorator"]

P = ParamSpec("P")
R = TypeVar("R")

_OF_CLASS = (
    "Decorating classes is deprecated and will be disabled in future versions. You should only "
    "decorate functions or methods. To preserve the current behavior of class decoration, you can "
    "directly decorate the `__init__` method and nothing else."
)


def context_decorator(ctx: Any, func: Callable[P, R]) -> Callable[P, R]:
    """A function whose calls run in a context; those of a generator function at every step.

    Args:
        ctx: a context, entered for each call, or what makes one.
        func: the function.
    """
    if callable(ctx) and hasattr(ctx, "__enter__"):
        raise AssertionError(
            f"Passed in {ctx} is both callable and also a valid context manager (has __enter__), "
            "making it ambiguous which interface to use.  If you intended to pass a context "
            "manager factory, rewrite your call as context_decorator(lambda: ctx()); if you "
            "intended to pass a context manager directly, rewrite your call as "
            "context_decorator(lambda: ctx)"
        )
    make = ctx if callable(ctx) else lambda: ctx
    return _within(make, func)


def _within(
    make: Callable[[], AbstractContextManager[object]], func: Callable[P, R]
) -> Callable[P, R]:
    if inspect.isclass(func):
        warnings.warn(_OF_CLASS, FutureWarning, stacklevel=3)
    elif inspect.isgeneratorfunction(func):
        return _generator_within(make, func)

    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        with make():
            return func(*args, **kwargs)

    # the attributes of a class are not those of a function
    return call if inspect.isclass(func) else functools.wraps(func)(call)


def _generator_within(
    make: Callable[[], AbstractContextManager[object]], func: Callable[..., Any]
) -> Callable[..., Any]:
    @functools.wraps(func)
    def steps(*args: object, **kwargs: object) -> Generator[object, object, object]:
        generator = func(*args, **kwargs)
        step: Callable[[], object] = functools.partial(next, generator)
        while True:
            try:
                with make():
                    item = step()
            except StopIteration as end:
                return end.value
            try:
                step = functools.partial(generator.send, (yield item))
            except GeneratorExit:
                with make():
                    generator.close()
                raise
            except BaseException as error:  # for the generator to see
                step = functools.partial(generator.throw, error)

    return steps


class _DecoratorContextManager:
    """The base of contexts that can be put around functions: each call has a clone."""

    def __call__(self, orig_func: Callable[P, R]) -> Callable[P, R]:
        return _within(self.clone, orig_func)

    def __enter__(self) -> object:
        raise NotImplementedError

    def __exit__(self, exc_type: object, exc_value: object, traceback: object) -> bool | None:
        raise NotImplementedError

    def clone(self) -> Self:
        """Another one; classes whose `__init__` takes arguments have their own."""
        return type(self)()


class _NoParamDecoratorContextManager(_DecoratorContextManager):
    """The same, put around a function without being called first."""

    def __new__(cls, orig_func: Callable[..., object] | None = None) -> Any:
        made = super().__new__(cls)
        return made if orig_func is None else made(orig_func)
