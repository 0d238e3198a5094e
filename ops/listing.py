"""The overloads of a function as torch lists them where no one of them takes the arguments."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .binding import Form
from .out_forms import out_overloads

__all__ = ["listing"]


def _order(form: Form) -> tuple[Any, ...]:
    """Fewer arguments first, then tensors before numbers, looked at from the last argument."""
    kinds = [str(each.type).rstrip("?") != "Tensor" for each in form.arguments[: form.positional]]
    return form.positional, kinds[::-1]


def _shown(form: Form, has_out: bool) -> str:
    text = str(form)
    if text.startswith("(Number input") or ", Number input" in text:
        text = text.replace("Number input", "Number self")
    if not has_out:
        return text
    return text[:-1] + (", Tensor out = None)" if ", *, " in text else ", *, Tensor out = None)")


def listing(operator_name: str, forms: Iterable[Form]) -> str:
    """A line for each form of an eager function, `aten::eq`, that Python callers can mean."""
    with_out = out_overloads().get(operator_name, {})
    given = list(forms)
    of_tensors = [f for f in given if any("Tensor" in str(each.type) for each in f.arguments)]
    return "".join(
        f"\n * {_shown(form, form.entry.overload in with_out)}"
        for form in sorted(of_tensors or given, key=_order)
    )
