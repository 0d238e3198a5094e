"""`torch._jit_internal`: the names that libraries import from there."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Final
from weakref import WeakKeyDictionary

from ._awaits import _Await
from ._C.emit_hooks import without_emit_hooks
from .interpreter.values.tasks import Future
from .jit.annotations import (
    BroadcastingList1,
    BroadcastingList2,
    BroadcastingList3,
    BroadcastingList4,
    BroadcastingList5,
    BroadcastingList6,
)
from .jit.decorators import EXPORT, IGNORE, UNUSED, export, ignore, is_scripting, modifier, unused
from .jit.decorators import _IgnoreContextManager as _IgnoreContextManager
from .jit.overloads import overload as _overload
from .jit.overloads import overload_method as _overload_method
from .jit.qualified_names import qualified_name
from .jit.trace import argument_names
from .jit.type_tests import (
    check_empty_containers,
    is_await,
    is_dict,
    is_final,
    is_future,
    is_list,
    is_optional,
    is_tuple,
    is_union,
)
from .jit.type_tests import isinstance as _isinstance
from .jit.type_tests import refuse_without_parts as raise_error_container_parameter_missing

__all__ = [
    "BroadcastingList1",
    "BroadcastingList2",
    "BroadcastingList3",
    "BroadcastingList4",
    "BroadcastingList5",
    "BroadcastingList6",
    "Final",
    "FunctionModifiers",
    "Future",
    "_Await",
    "_isinstance",
    "_overload",
    "_overload_method",
    "_qualified_name",
    "boolean_dispatched",
    "check_empty_containers",
    "export",
    "get_callable_argument_names",
    "get_torchscript_modifier",
    "ignore",
    "is_await",
    "is_dict",
    "is_final",
    "is_future",
    "is_ignored_fn",
    "is_list",
    "is_optional",
    "is_scripting",
    "is_tuple",
    "is_union",
    "module_has_exports",
    "raise_error_container_parameter_missing",
    "should_drop",
    "unused",
]


_disable_emit_hooks = without_emit_hooks
"""A block in which the hooks of `torch._C._jit_set_emit_hooks` are told nothing."""


boolean_dispatched: Final = WeakKeyDictionary[Callable[..., object], dict[str, object]]()
"""Functions that stand for one of two others, as an argument says: none, since `max_pool2d` and its
like are functions themselves here.  Packages look theirs up (brevitas)."""


class FunctionModifiers:
    """The marks that decorators leave on functions."""

    UNUSED = UNUSED
    IGNORE = IGNORE
    EXPORT = EXPORT
    DEFAULT = "default (compile if called from a exported function / forward)"
    COPY_TO_SCRIPT_WRAPPER = (
        "if this method is not scripted, copy the python method onto the scripted model"
    )
    _DROP = "_drop (function is fully ignored, declaration can be unscriptable)"


def _copy_to_script_wrapper(fn: Any) -> object:
    """Mark a method that Python calls of a scripted module as well."""
    fn._torchscript_modifier = FunctionModifiers.COPY_TO_SCRIPT_WRAPPER
    return fn


def get_torchscript_modifier(fn: object) -> str | None:
    """The mark on a function or method; None for what is not callable."""
    if not callable(fn):
        return None
    return modifier(fn) or FunctionModifiers.DEFAULT


def should_drop(fn: object) -> bool:
    """Whether calls of a function are replaced by raising an exception."""
    return modifier(fn) == UNUSED


def is_ignored_fn(fn: object) -> bool:
    """Whether a function is left to Python, or dropped."""
    return modifier(fn) in (UNUSED, IGNORE)


def module_has_exports(mod: object) -> bool:
    """Whether a module has a method marked by `export`."""
    return any(modifier(inspect.getattr_static(mod, name, None)) == EXPORT for name in dir(mod))


def get_callable_argument_names(fn: Callable[..., object]) -> list[str]:
    """The names of the arguments that can be given both by place and by name."""
    return argument_names(fn)


def _qualified_name(obj: object) -> str:
    """The name that scripted code gives a class or function: `__torch__.module.Name`."""
    return qualified_name(obj)
