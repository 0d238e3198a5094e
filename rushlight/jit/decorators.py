"""Marks on functions and values: what to compile, what to leave to Python."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeVar, overload

from ..ops.tensors.tracing import current_tracer

__all__ = [
    "Attribute",
    "Final",
    "annotate",
    "export",
    "ignore",
    "is_scripting",
    "is_tracing",
    "modifier",
    "unused",
]

Function = TypeVar("Function", bound=Callable[..., object] | property)
T = TypeVar("T")

SCRIPTED_IF_TRACING: Final = "_rushlight_script_if_tracing"
"""Names the function that a wrapper calls, or compiles when it is traced."""
_MODIFIER = "_torchscript_modifier"
EXPORT = "export (compile this function even if nothing calls it)"
IGNORE = "ignore (leave as a call to Python, cannot be torch.jit.save'd)"
UNUSED = "unused (ignored and replaced with raising of an exception)"
DROP = "_drop (function is fully ignored, declaration can be unscriptable)"


def modifier(function: object) -> str | None:
    """The mark on a function or method: `EXPORT`, `IGNORE`, `UNUSED`, `DROP` or None."""
    function = getattr(function, "__func__", function)
    return getattr(function, _MODIFIER, None)


def _mark(function: object, mark: str) -> Any:
    setattr(function, _MODIFIER, mark)
    return function


def export(function: Function) -> Function:
    """Compile this method although `forward` does not reach it."""
    marked: Function = _mark(function, EXPORT)
    return marked


@overload
def ignore(drop: Function, **kwargs: object) -> Function: ...
@overload
def ignore(drop: bool = False, **kwargs: object) -> Callable[[Function], Function]: ...
def ignore(drop: object = False, **kwargs: object) -> Any:
    """Leave a function to Python; `@ignore` or `@ignore(drop=True)`, which is `unused`.

    Raises:
        RuntimeError: `drop` is neither a function nor a bool.
    """
    if callable(drop):
        return _mark(drop, IGNORE)
    if not isinstance(drop, bool):
        raise RuntimeError(
            f"Argument to @torch.jit.ignore must be a bool or a function but got {drop}"
        )
    if kwargs.pop("drop_on_export", False):
        warnings.warn(
            "ignore(drop_on_export=True) has been deprecated. TorchScript will now drop the "
            "function call on compilation. Use torch.jit.unused now. {}",
            FutureWarning,
            stacklevel=2,
        )
        drop = True
    return lambda function: _mark(function, UNUSED if drop else IGNORE)


def unused(function: Function) -> Function:
    """Replace calls of this function in script by raising an exception; leave out a property."""
    if isinstance(function, property):
        for accessor in (function.fget, function.fset):
            if accessor is not None:
                _mark(accessor, UNUSED)
        return function
    marked: Function = _mark(function, UNUSED)
    return marked


def _drop(fn: Function) -> Function:
    """Leave a method out of compiled code altogether, its annotations too."""
    marked: Function = _mark(fn, DROP)
    return marked


def annotate(the_type: object, the_value: T) -> T:
    """Give a value a type in script; in Python the value itself."""
    return the_value


class Attribute(NamedTuple):
    """A value of a module with its type: `self.x = torch.jit.Attribute([], List[int])`."""

    value: Any
    type: object


def is_scripting() -> bool:
    """Whether the code is being compiled; False when Python runs it."""
    return False


def is_tracing() -> bool:
    """Whether operations are being recorded by `trace`; False in scripted code."""
    return current_tracer() is not None


class _IgnoreContextManager:
    """`with _IgnoreContextManager(a="inp:int", b="out:int"):`, a block that script leaves alone.

    The arguments say what the block reads and what it sets, with types.
    """

    def __init__(self, **variables: str) -> None:
        self.variables = variables

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        pass
