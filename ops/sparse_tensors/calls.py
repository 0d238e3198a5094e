"""Eager calls of operators on sparse tensors: a form of their own, or the same on the values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final, cast

from ..eager.calls import any_requires_grad
from ..eager.dispatch import EagerFunction, eager_function
from ..eager.elsewhere import Choose, as_named
from ..eager.out_tensors import check_dtypes_of_out, write_out
from ..table.elements import is_by_elements
from ..table.grad_mode import is_recording
from ..table.out_forms import no_gradients
from ..table.table import TABLE
from ..tensors.tensor import Tensor
from . import (  # noqa: F401  (with forms)
    arithmetic,
    creation,
    joining,
    products,
    resizing,
    structure,
)
from .forms import FORMS
from .parts import Coo
from .tensors import is_sparse, of_parts, parts_of

__all__ = ["call"]


def call(
    operator_name: str, args: tuple[object, ...], kwargs: dict[str, object], choose: Choose
) -> object:
    """What an operator gives for arguments with sparse tensors among them.

    Raises:
        NotImplementedError: it has no form for them.
    """
    if isinstance(kwargs.get("out"), Tensor):
        return _into(operator_name, args, kwargs, choose)
    known = FORMS.get(operator_name)
    if known is not None:
        args, kwargs = as_named(operator_name, known, args, kwargs)
        return known(*args, **kwargs)
    if operator_name.endswith("_") and args and isinstance(args[0], Tensor) and is_sparse(args[0]):
        own = parts_of(args[0])
        if operator_name not in _LINEAR and isinstance(own, Coo) and not own.coalesced:
            said = TABLE.first_name(operator_name).removeprefix("aten::")
            raise RuntimeError(f"{said} requires coalesced input")
        made = call(operator_name[:-1], args, kwargs, choose)
        assert isinstance(made, Tensor)
        if own.values.dtype.is_complex and not made.dtype.is_complex:
            said = TABLE.first_name(operator_name).removeprefix("aten::").removesuffix("_")
            raise RuntimeError(f"In-place {said} is not supported for complex tensors.")
        return arithmetic.put_into(args[0], made)
    return _on_values(operator_name, args, kwargs)


_LINEAR: Final = ("aten::neg_", "aten::negative_", "aten::conj_physical_")
"""What may be done with each of several elements at one place as with their sum."""


def _into(
    operator_name: str, args: tuple[object, ...], kwargs: dict[str, object], choose: Choose
) -> Tensor:
    """`out` with what an operator gives: a sparse tensor with a sparse one, dense with dense."""
    rest = dict(kwargs)
    out = cast(Tensor, rest.pop("out"))
    if operator_name == "aten::zeros":
        rest["layout"] = out.layout
    made = call(operator_name, args, rest, choose)
    assert isinstance(made, Tensor)
    if is_sparse(made) is not is_sparse(out):
        raise _missing(operator_name)
    if any_requires_grad([made, out]) and is_recording():
        raise no_gradients(operator_name.removeprefix("aten::"))
    (entry, *_) = TABLE.operators(TABLE.first_name(operator_name))
    check_dtypes_of_out(entry, made, out)
    if is_sparse(out):
        return arithmetic.put_into(out, made)
    write_out(entry, made, out)
    return out


def _on_values(
    operator_name: str, args: tuple[object, ...], kwargs: Mapping[str, object]
) -> object:
    """A function of single elements that gives zero for zero changes the values alone."""
    others = [each for each in (*args[1:], *kwargs.values()) if isinstance(each, Tensor)]
    if not args or not is_sparse(args[0]) or any(is_sparse(t) or t.ndim for t in others):
        raise _missing(operator_name)
    entries = TABLE.operators(TABLE.first_name(operator_name))
    if not any(is_by_elements(entry) for entry in entries if not entry.is_out_form):
        raise _missing(operator_name)
    own = parts_of(args[0])
    if f"{operator_name}_" not in _LINEAR:
        own = own.once()
    function = partial(EagerFunction.__call__, eager_function(operator_name))  # no lazy view
    if not _keeps_zero(function, own.values.detach().new_zeros([1, 1]), args[1:], kwargs):
        raise _missing(operator_name)
    made = function(own.values, *args[1:], **kwargs)
    if not isinstance(made, Tensor) or made.shape != own.values.shape:
        raise _missing(operator_name)
    return of_parts(own.with_values(made))


def _keeps_zero(
    function: Callable[..., object],
    zero: Tensor,
    rest: tuple[object, ...],
    kwargs: Mapping[str, object],
) -> bool:
    try:
        made = function(zero, *rest, **kwargs)
    except (RuntimeError, TypeError, ValueError, IndexError):
        return False
    return isinstance(made, Tensor) and made.shape == zero.shape and not made.item()


def _missing(operator_name: str) -> NotImplementedError:
    return NotImplementedError(
        f"Could not run '{operator_name}' with arguments from the 'SparseCPU' backend: it has no "
        "form for sparse tensors; to_dense() gives a tensor that it takes"
    )
