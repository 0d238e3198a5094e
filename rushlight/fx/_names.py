"""The names that functions and types have in torch, whatever file of ours they come from."""

from __future__ import annotations

import builtins
import inspect
import operator
from collections.abc import Callable
from typing import Final

from .. import _C
from ..ops.eager.dispatch import EagerFunction
from ..ops.eager.packets import Overload, Packet
from ..torch_homes import home_of

__all__ = ["module_of", "qualified_name", "schema_title", "torch_module", "type_text"]

_OWN: Final = __name__.partition(".")[0]
_GROUPS: Final = ("linalg", "fft", "special")


def torch_module(thing: object) -> str:
    """The module that torch has a function or class of ours in; another's own module."""
    module = str(thing.__module__)
    root, _, inside = module.partition(".")
    if root == _OWN:
        return home_of(inside, getattr(thing, "__qualname__", "")) or "torch"
    return "operator" if module == "_operator" else module


def _operator_module(func: EagerFunction) -> str:
    """`torch`, or the part of `torch._C` that the operator is in."""
    if func.is_method:
        return "torch.Tensor"
    group = func.__name__.partition("_")[0]
    if group in _GROUPS:
        return f"torch._C._{group}"
    return "torch._C._nn" if hasattr(_C._nn, func.__name__) else "torch"


def module_of(func: Callable[..., object]) -> str:
    """The module that `qualified_name` puts before a function's name.

    Raises:
        RuntimeError: the function belongs to none.
    """
    if isinstance(func, EagerFunction):
        return _operator_module(func)
    if getattr(func, "__module__", None) is None:
        raise RuntimeError(f"cannot find module for {func}")
    if func.__qualname__.startswith("Tensor.") and torch_module(func) == "torch._tensor":
        return "torch.Tensor"
    return torch_module(func)


def _source_of_lambda(func: Callable[..., object]) -> str:
    """What stands before `=` where a lambda is written, which may be its name."""
    try:
        return inspect.getsource(func).split("=")[0].strip()
    except (OSError, TypeError):
        return "<lambda>"


def qualified_name(func: Callable[..., object]) -> str:
    """The dotted name of a function in torch: `torch.nn.functional.relu`; of a builtin, its own.

    Raises:
        RuntimeError: the function belongs to no module.
        AttributeError: it has no name.
    """
    if isinstance(func, (Packet, Overload)):
        return f"torch.ops.{func}"
    if isinstance(func, type) and func.__module__ != "builtins":
        return f"{torch_module(func)}.{func.__name__}"
    name = func.__name__
    if getattr(builtins, name, None) is func:
        return name
    if getattr(operator, name, None) is func:
        return f"_operator.{name}"
    module = module_of(func)
    if name == "<lambda>":
        name = _source_of_lambda(func)
    return f"{module}.{name}"


def schema_title(func: Callable[..., object]) -> str:
    """The name of a function where errors speak of its schemas."""
    name = qualified_name(func)
    if isinstance(func, EagerFunction) and name.count(".") == 1:
        return name.replace("torch.", "torch._VariableFunctionsClass.")
    return name


def type_text(kind: object) -> str:
    """A type as annotations and messages write it: `torch.Tensor`, `int`, `typing.List[int]`."""
    if isinstance(kind, type) and not hasattr(kind, "__origin__"):
        if kind.__module__ == "builtins":
            return kind.__qualname__
        return f"{torch_module(kind)}.{kind.__qualname__}"
    if kind is ...:
        return "..."
    if inspect.isfunction(kind):
        return kind.__name__
    return repr(kind).replace(f"{_OWN}.ops.tensors.tensor.Tensor", "torch.Tensor")
