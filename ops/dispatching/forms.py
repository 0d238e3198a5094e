"""Composite operators by the operators that torch runs for them, which is what modes see.

A form takes the arguments of the schema, tensors as handles, and calls eager functions, so what it
calls is seen in turn.  It gives NotImplemented where torch has no such way for its arguments.
Composite operators without a form are seen as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Final

from ..eager.dispatch import eager_function
from ..eager.open_operators import call_kernel
from ..eager.packets import Namespace
from ..table.table import Operator

__all__ = ["by_schema", "form_of", "instead_of"]

Form = Callable[..., Any]
_FORMS: Final[dict[str, Form]] = {}


@cache
def instead_of(entry: Operator) -> Form | None:
    """The form of a composite operator; None if there is none."""
    found = _FORMS.get(f"{entry.name}.{entry.overload}") or _FORMS.get(entry.name)
    if found is not None:
        return found
    other = _other_names().get(entry.name)
    if other is None:
        return None
    function = eager_function(other)
    return lambda *args: call_kernel(entry, function, args)


def form_of(*names: str) -> Callable[[Form], Form]:
    """A decorator for the form of operators, or of overloads: `var.` is the nameless one."""

    def add(form: Form) -> Form:
        _FORMS.update({f"aten::{name}": form for name in names})
        return form

    return add


def by_schema(name: str, *args: Any) -> Any:
    """An overload called by its schema, where a reduction is a number."""
    name, _, overload = name.partition(".")
    return getattr(getattr(Namespace("aten"), name), overload or "default")(*args)


_OTHER_NAMES: Final = """absolute=abs
arccos=acos arccosh=acosh arcsin=asin arcsinh=asinh arctan=atan
arctanh=atanh arctan2=atan2 clip=clamp concat=cat concatenate=cat divide=div true_divide=div
fix=trunc greater=gt greater_equal=ge less=lt less_equal=le multiply=mul negative=neg not_equal=ne
subtract=sub swapaxes=transpose swapdims=transpose inverse=linalg_inv det=linalg_det
special_erf=erf special_exp2=exp2 special_expit=sigmoid special_expm1=expm1 special_log1p=log1p
special_logsumexp=logsumexp special_softmax=softmax special_log_softmax=log_softmax
special_gammaln=lgamma special_psi=digamma special_digamma=digamma special_sinc=sinc
linalg_matmul=matmul __and__=bitwise_and __or__=bitwise_or __xor__=bitwise_xor __iand__=bitwise_and_
__ior__=bitwise_or_ __ixor__=bitwise_xor_"""


@cache
def _other_names() -> dict[str, str]:
    """Operators under a second name, and the first one."""
    pairs = [pair.split("=") for pair in _OTHER_NAMES.split()]
    in_place = [(f"{old}_", f"{new}_") for old, new in pairs if not old.startswith("__")]
    return {f"aten::{old}": f"aten::{new}" for old, new in (*pairs, *in_place)}
