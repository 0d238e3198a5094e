"""The names that functions and types have in torch, whatever file of ours they come from."""

from __future__ import annotations

import builtins
import inspect
import operator
from collections.abc import Callable
from functools import cache
from typing import Final

from .. import _C, functional
from ..as_torch import is_public, public_classes
from ..ops.eager.dispatch import EagerFunction
from ..ops.eager.packets import Overload, Packet

__all__ = ["module_of", "qualified_name", "schema_title", "torch_module", "type_text"]

_OWN: Final = __name__.partition(".")[0]
_GROUPS: Final = ("linalg", "fft", "special")
_FUNCTIONAL: Final = frozenset(functional.__all__) - {"istft"}
"""What torch defines in Python, in `torch.functional`; `istft` there is the operator itself."""
_OF_TORCH: Final = ("functional", "settings", "jit.special_names")
"""Files of functions that torch has at its top."""
_SPLIT_UP: Final = "torch.nn.functional."
"""One module in torch, several files here."""


@cache
def _class_modules() -> dict[tuple[str, str], str]:
    """Modules in torch of the classes that lie in the lower parts."""
    return {
        (f"{_OWN}.{module}", name): f"torch{place}"
        for module, names in public_classes().items()
        for name, place in names.items()
    }


def torch_module(thing: object) -> str:
    """The module that torch has a function or class of ours in; another's own module."""
    module = str(thing.__module__)
    name = getattr(thing, "__qualname__", "")
    known = _class_modules().get((module, name))
    if known is not None:
        return known
    root, _, inside = module.partition(".")
    if root not in (_OWN, "torch"):  # which `as_torch` has put in the place of ours
        return "operator" if module == "_operator" else module
    if name in _FUNCTIONAL:
        return "torch.functional"
    if not inside or not is_public(inside) or inside in _OF_TORCH:
        return "torch"
    told = f"torch.{inside}"
    return _SPLIT_UP[:-1] if told.startswith(_SPLIT_UP) else told


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
    if func.__qualname__.startswith("Tensor.") and torch_module(func) == "torch":
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
