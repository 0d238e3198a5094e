"""Shortcuts: calls whose arguments are known by their types to fit an overload as they are.

They differ in what stands behind the first tensor, and are written from one text, so that each
does nothing but what its call needs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final

import numpy as np

from ..kernels import LARGE
from ..memory.quiet import QUIET, enter, leave
from ..memory.versions import written
from ..table.direct import direct_form, has_direct_form
from ..table.grad_mode import is_grad_enabled
from ..table.table import Operator
from ..tensors.tape_port import tape
from ..tensors.tensor import Tensor
from ..tensors.tracing import ACTIVE
from .calls import finish, run

__all__ = ["Shortcut", "keep_shortcut", "shortcut_of_sizes"]

Shortcut = Callable[..., Any]
"""An eager call of arguments whose types are known to fit."""

Forward = Callable[..., Any]

_TRIALS: Final = 50
"""Calls after which it pays to look for a direct form."""

_TEXT: Final = """
def make(entry, forward, {defaults}):
 def call(a{parameters}):
  array = a._array{read}
  if {requires} and is_grad_enabled():
   return tape().taped(entry, [{values}], ({handles}), False, [{args}], forward)
  state = enter(QUIET)
  try:
   result = forward({values})
  finally:
   leave(state)
  if type(result) is ndarray and not ACTIVE:
   if {is_new}:
    made = new(Tensor)
    made._array = result
{note}    return made
{in_place}  return finish(entry, [{values}], result, ({handles}))
 return call
"""

_REST: Final = {
    "nothing": ("", "", ""),
    "a tensor": (", b", "; second = b._array", "second"),
    "a number": (", number", "", "number"),
    "sizes": (", *numbers", "; sizes = list(numbers)", "sizes"),
}
"""What stands behind the first tensor: its parameters, how it is read, and its machine value."""

_NOTE: Final = "    made._view_of = a\n    if a._requires_grad: made._seen_unwatched()\n"
_IN_PLACE: Final = "   if result is array:\n    written(array)\n    return a\n"

_SPACE: Final[dict[str, Any]] = {
    **{"__builtins__": {}, "__name__": __name__, "type": type, "list": list},
    **{"ACTIVE": ACTIVE, "QUIET": QUIET, "Tensor": Tensor, "ndarray": np.ndarray},
    **{"enter": enter, "finish": finish, "leave": leave, "is_grad_enabled": is_grad_enabled},
    **{"new": object.__new__, "tape": tape, "written": written},
}


@cache
def _maker(rest: str, defaults: int, is_view: bool, is_in_place: bool) -> Callable[..., Shortcut]:
    """What makes shortcuts of a form.  The text is all our own."""
    parameters, read, value = _REST[rest]
    two = rest == "a tensor"
    names = [f"d{number}" for number in range(defaults)]
    text = _TEXT.format(
        defaults=", ".join(names),
        parameters=parameters,
        read=read,
        requires="(a._requires_grad or b._requires_grad)" if two else "a._requires_grad",
        values=", ".join(["array", *([value] if value else []), *names]),
        handles="a, b" if two else "a,",
        args=", ".join(["a", *(["b"] if two else [value] if value else []), *names]),
        is_new="result is not array and result is not second" if two else "result is not array",
        note=_NOTE if is_view else "",
        in_place=_IN_PLACE if is_in_place else "",
    )
    space = dict(_SPACE)
    exec(compile(text, f"{__file__}:{rest}", "exec"), space)
    made: Callable[..., Shortcut] = space["make"]
    return made


def _made(entry: Operator, forward: Forward, rest: str, defaults: Sequence[object]) -> Shortcut:
    make = _maker(rest, len(defaults), entry.is_view, entry.is_in_place)
    return make(entry, forward, *defaults)


def shortcut_of_sizes(entry: Operator, defaults: Sequence[object]) -> Shortcut:
    """The shortcut for a tensor and sizes given one by one."""
    return _made(entry, entry.forward, "sizes", defaults)


def keep_shortcut(
    shortcuts: dict[tuple[type, ...], Shortcut],
    entry: Operator,
    types: tuple[type, ...],
    converters: Sequence[Callable[..., object] | None],
    defaults: Sequence[object],
) -> None:
    """Remember the shortcut for arguments of some types; others are as the overload has them by
    default.

    That of an operator with a direct form calls it, once it is used often or for much.
    """

    def with_forward(forward: Forward) -> Shortcut:
        return _shortcut(entry, forward, types, converters, defaults)

    first = shortcuts[types] = with_forward(entry.forward)
    left = _TRIALS

    def counted(*args: Any) -> Any:
        nonlocal left
        left -= 1
        if left < 0 or args[0]._array.size >= LARGE:
            shortcuts[types] = with_forward(direct_form(entry))
        return first(*args)

    if has_direct_form(entry) and issubclass(types[0], Tensor):
        shortcuts[types] = counted


def _shortcut(
    entry: Operator,
    forward: Forward,
    types: tuple[type, ...],
    converters: Sequence[Callable[..., object] | None],
    defaults: Sequence[object],
) -> Shortcut:
    tensors = [issubclass(each, Tensor) for each in types]
    if tensors == [True]:
        return _made(entry, forward, "nothing", defaults)
    if tensors == [True, True]:
        return _made(entry, forward, "a tensor", defaults)
    if tensors == [True, False] and converters[1] is None:
        return _made(entry, forward, "a number", defaults)

    def call(*args: object) -> Any:
        values = [
            a if convert is None else convert(a, True)
            for convert, a in zip(converters, args, strict=True)
        ]
        return run(entry, [*values, *defaults], args, forward)

    return call
