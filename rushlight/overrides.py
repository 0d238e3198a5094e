"""`torch.overrides`: functions that tensor-like classes see to, by their `__torch_function__`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any, NoReturn

from .ops.tensors.tensor import Tensor

__all__ = [
    *("TorchFunctionMode", "get_default_nowrap_functions", "get_ignored_functions"),
    *("get_overridable_functions", "get_testing_overrides", "handle_torch_function"),
    *("has_torch_function", "has_torch_function_unary", "has_torch_function_variadic"),
    *("is_tensor_like", "is_tensor_method_or_property", "resolve_name"),
    "wrap_torch_function",
]


def _own(value: object) -> Any:
    """A class's own `__torch_function__`; None for those of torch."""
    found = getattr(type(value), "__torch_function__", None)
    return None if found is None or (isinstance(value, Tensor) and _is_tensors(found)) else found


def _is_tensors(found: Any) -> bool:
    mine = getattr(Tensor, "__torch_function__", None)
    return getattr(found, "__func__", found) is getattr(mine, "__func__", mine)


def has_torch_function(relevant_args: Iterable[object]) -> bool:
    """Whether an argument's class sees to functions itself."""
    return any(_own(each) is not None for each in relevant_args)


def has_torch_function_unary(obj: object) -> bool:
    """The same for one argument."""
    return _own(obj) is not None


def has_torch_function_variadic(*args: object) -> bool:
    """The same for several arguments."""
    return has_torch_function(args)


def handle_torch_function(
    public_api: Callable[..., Any], relevant_args: Iterable[Any], *args: Any, **kwargs: Any
) -> Any:
    """What the classes of arguments make of a function, subclasses asked before their bases.

    Raises:
        TypeError: none of them knows it.
    """
    asked: list[Any] = []
    for each in relevant_args:
        if _own(each) is None or any(type(each) is type(other) for other in asked):
            continue
        before = [i for i, other in enumerate(asked) if isinstance(each, type(other))]
        asked.insert(before[0] if before else len(asked), each)
    types = tuple(type(each) for each in asked)
    for each in asked:
        made = type(each).__torch_function__(public_api, types, args, kwargs)
        if made is not NotImplemented:
            return made
    name = f"{public_api.__module__}.{public_api.__name__}"
    raise TypeError(
        f"no implementation found for '{name}' on types that implement __torch_function__: "
        f"{[type(each) for each in asked]}"
    )


def wrap_torch_function(
    dispatcher: Callable[..., Iterable[Any]],
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator that has the classes of arguments asked first; `dispatcher` picks these."""

    def inner(func: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(func)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            relevant: Sequence[Any] = tuple(dispatcher(*args, **kwargs))
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return func(*args, **kwargs)

        return wrapped

    return inner


def is_tensor_like(inp: object) -> bool:
    """Whether a value is a tensor, or its class sees to torch's functions."""
    return isinstance(inp, Tensor) or hasattr(inp, "__torch_function__")


def is_tensor_method_or_property(func: Callable[..., Any]) -> bool:
    """Whether a function is one of Tensor's methods."""
    name = getattr(func, "__name__", "")
    return getattr(Tensor, name, None) is func or name == "__get__"


def resolve_name(f: Callable[..., Any]) -> str | None:
    """The name by which a function is found."""
    if is_tensor_method_or_property(f):
        return f"torch.Tensor.{f.__name__}"
    module = getattr(f, "__module__", None) or "torch"
    return f"{module.replace('rushlight', 'torch')}.{f.__name__}"


def get_default_nowrap_functions() -> set[Callable[..., Any]]:
    """Functions whose results are not made instances of a subclass of Tensor."""
    names = ("_base", "grad", "_grad")
    return {vars(Tensor)[name].__get__ for name in names if name in vars(Tensor)}


def get_ignored_functions() -> set[Callable[..., Any]]:
    """Functions that no class can see to."""
    return set()


def get_overridable_functions() -> dict[Any, list[Callable[..., Any]]]:
    """Functions that classes can see to, by their module: those decorated by users alone."""
    return {}


def get_testing_overrides() -> dict[Callable[..., Any], Callable[..., Any]]:
    """Functions of the same signatures as those that classes can see to."""
    return {}


class TorchFunctionMode:
    """The base of classes whose `__torch_function__` would see all functions.

    They can be defined and made; entering one raises NotImplementedError.
    """

    def __enter__(self) -> NoReturn:
        raise NotImplementedError(
            f"{type(self).__qualname__}: rushlight has no modes of __torch_function__"
        )

    def __exit__(self, *raised: object) -> None:
        return None
