"""Composite operators by the operators that torch runs for them, which is what modes see.

A form takes the arguments of the schema, tensors as handles, and calls eager functions, so what it
calls is seen in turn.  It gives NotImplemented where torch has no such way for its arguments.
Composite operators without a form are seen as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Final

from ...frontend.foundations.declared import Declared
from ..eager.dispatch import eager_function
from ..eager.open_operators import call_kernel
from ..eager.packets import Namespace
from ..table.table import TABLE, Operator

__all__ = ["by_schema", "form_of", "instead_of"]

Form = Callable[..., object]
_FORMS: Final[Declared[str, Form]] = Declared()


@cache
def instead_of(entry: Operator) -> Form | None:
    """The form of a composite operator; None if there is none."""
    found = _FORMS.get(f"{entry.name}.{entry.overload}") or _FORMS.get(entry.name)
    if found is not None:
        return found
    other = _SIGNS.get(entry.name) or TABLE.first_name(entry.name)
    if other == entry.name:
        return None
    function = eager_function(other)
    return lambda *args: call_kernel(entry, function, args)


def form_of(*names: str) -> Callable[[Form], Form]:
    """A decorator for the form of operators, or of overloads: `var.` is the nameless one."""
    return _FORMS.of(*(f"aten::{name}" for name in names))


def by_schema(name: str, *args: object) -> Any:
    """An overload called by its schema, where a reduction is a number."""
    name, _, overload = name.partition(".")
    return getattr(getattr(Namespace("aten"), name), overload or "default")(*args)


_SIGNS: Final = {
    f"aten::__{side}{sign}__": f"aten::bitwise_{sign}{ending}"
    for side, ending in (("", ""), ("i", "_"))
    for sign in ("and", "or", "xor")
}
"""Operators of Python's signs, and what they are on tensors."""
