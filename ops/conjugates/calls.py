"""Eager calls of operators on conjugates and negatives that share memory.

What only moves elements is done to the memory, and its results are such views again.  All else gets
the elements themselves; what writes them puts them back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

from ..eager.aten import aten
from ..eager.calls import tensors_in
from ..eager.dispatch import EagerFunction, eager_function, make_function
from ..eager.elsewhere import Choose
from ..memory.dtype import DType
from ..memory.errors import OnConjugate
from ..table.grad_mode import is_recording
from ..table.table import TABLE, Operator
from ..tensors.tensor import Tensor
from .tensors import (
    CONJUGATED,
    NEGATED,
    ConjugateTensor,
    Turns,
    check_written,
    holder,
    is_turned,
    is_wanted,
    move,
    resolved,
    shares,
    turned_view,
    turns_of,
    under,
    wants_gradients,
    write,
)

__all__ = ["call"]

Form = Callable[..., object]


def call(
    operator_name: str, args: tuple[object, ...], kwargs: dict[str, object], choose: Choose
) -> object:
    """What an operator gives for arguments with such views among them, or asked to make one.

    Raises:
        RuntimeError: as torch does of such views.
    """
    form = _FORMS.get(operator_name)
    if form is not None:
        return form(*args, **kwargs)
    ways = _ways(operator_name)
    function = eager_function(operator_name) if "out" in kwargs else _as_method(operator_name)
    first = args[0] if args else None
    if first is not None and is_turned(first):
        rest, named = _plain(args[1:]), _plain(kwargs)
        if ways.asks_how_it_lies:
            return function(under(first), *rest, **named)
        if ways.becomes_another:
            function(under(first), *rest, **named)
            return first
        if ways.is_view and "dtype" not in kwargs:
            return move(first, lambda t: function(t, *rest, **named))
    if not (kwargs or ways.written or ways.is_view or function.__name__ in _OF_SEVERAL):
        _remember(operator_name, args)
    return _computed(function, args, kwargs, ways)


def _remember(operator_name: str, args: tuple[object, ...]) -> None:
    """Have calls with arguments of these types come by elements at once, which they only read."""
    types = tuple(map(type, args))
    if ConjugateTensor not in types:
        return
    function = eager_function(operator_name)

    def call(*args: object) -> object:
        stand_ins = [resolved(each) if is_turned(each) else each for each in args]
        made = function(*stand_ins)
        if type(made) is Tensor and made._array.base is None:
            return made
        return _Resolved(zip(args, stand_ins, strict=True)).back(made)

    function.shortcuts[types] = call


@cache
def _as_method(name: str) -> EagerFunction:
    """An operator's function that takes sizes one by one as well."""
    return make_function(name, as_method=True)


class _Ways(NamedTuple):
    """What is known of the operators of a name."""

    is_view: bool
    asks_how_it_lies: bool
    becomes_another: bool
    written: frozenset[str]
    """The names of the arguments that are written."""
    places: tuple[str, ...]
    """The names of all, in order."""


@cache
def _ways(name: str) -> _Ways:
    entries = [each for each in TABLE.operators(name) if not each.is_out_form]
    entries = [each for each in entries if "Tensor" in each.schema]
    return _Ways(
        any(each.is_view for each in entries),
        any(_asks_how_it_lies(each) for each in entries),
        any(each.written == "replaced" for each in entries),
        frozenset(
            a.name
            for each in entries
            for a in each.signature.arguments
            if a.alias is not None and a.alias.is_write
        ),
        tuple(a.name for a in entries[0].signature.arguments) if entries else (),
    )


def _asks_how_it_lies(entry: Operator) -> bool:
    """Whether an operator asks a tensor for what is that of its memory."""
    if entry.full_name in _OF_MEMORY:
        return True
    returned = entry.schema.rpartition("-> ")[2]
    return entry.asks_form and "Tensor" not in returned


_OF_MEMORY: Final = ("aten::_version", "aten::is_inference", "aten::storage_offset")
"""What asks for more of it than sizes and steps tell."""


def _plain(value: object) -> Any:
    """A value with ordinary tensors in the place of such views."""
    if is_turned(value):
        return resolved(value)
    if isinstance(value, (list, tuple)) and any(map(is_turned, value)):
        return type(value)([_plain(each) for each in value])
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return value if not isinstance(value, tuple) else tuple(map(_plain, value))


class _Resolved:
    """The ordinary tensors that stand for such views in one call, each for its own."""

    def __init__(self, made: Iterable[tuple[object, object]] = ()) -> None:
        self._made = {
            id(given): (given, stood)
            for given, stood in made
            if is_turned(given) and isinstance(stood, Tensor)
        }

    def of(self, value: Any) -> Any:
        """A value with ordinary tensors in the place of such views."""
        if is_turned(value):
            known = self._made.get(id(value))
            if known is None:
                known = self._made[id(value)] = value, resolved(value)
            return known[1]
        if isinstance(value, (list, tuple)):
            parts = [self.of(each) for each in value]
            same = all(p is v for p, v in zip(parts, value, strict=True))
            return value if same else parts if isinstance(value, list) else tuple(parts)
        return value

    def back(self, made: object) -> object:
        """A result with the views that were given in the place of what stood for them.

        Raises:
            NotImplementedError: it is another view of what stood for one.
        """
        if isinstance(made, Tensor) and not is_turned(made) and made.layout.name == "strided":
            for given, stood in self._made.values():
                if made is stood:
                    return given
                if shares(made, stood):
                    raise OnConjugate(
                        "this gives a view of conjugated or negated elements in a way that is not "
                        "known of: resolve_conj() and resolve_neg() give tensors that can be taken"
                    )
        elif isinstance(made, (tuple, list)):
            parts = [self.back(each) for each in made]
            if any(p is not m for p, m in zip(parts, made, strict=True)):
                return tuple.__new__(type(made), parts) if isinstance(made, tuple) else parts
        return made


def _computed(
    function: Form, args: tuple[object, ...], kwargs: Mapping[str, object], ways: _Ways
) -> object:
    """What a function computes of elements; what it writes is put back."""
    written = [
        value for name, value in zip(ways.places, args, strict=False) if name in ways.written
    ]
    written += [value for name, value in kwargs.items() if name in ways.written or name == "out"]
    targets = [each for each in tensors_in(written) if is_turned(each)]
    for target in targets:
        check_written(target)
    stand_ins = _Resolved()
    plain = [stand_ins.of(each) for each in args]
    named = {name: stand_ins.of(each) for name, each in kwargs.items()}
    views = None if targets else _views(function, args, kwargs)
    if views is not None:
        return views
    made = function(*plain, **named)
    for target in dict.fromkeys(targets):
        elements = stand_ins.of(target)
        if elements.shape != target.shape:
            raise OnConjugate(
                "the sizes of a view of conjugated or negated elements are not changed by `out=`"
            )
        write(target, elements)
    return stand_ins.back(made)


def _views(
    function: Callable[..., Any], args: tuple[object, ...], kwargs: Mapping[str, object]
) -> object:
    """What a function gives that takes several tensors and gives views of them; None for others."""
    if getattr(function, "__name__", "") not in _OF_SEVERAL:
        return None
    given = tensors_in([*args, *kwargs.values()])
    made = function(*_each(under, args), **_each(under, kwargs))
    if not isinstance(made, (tuple, list)) or len(made) != len(given):
        return None
    wanted = is_recording() and any(is_turned(each) and wants_gradients(each) for each in given)
    held: Sequence[Tensor | None] = [None] * len(made)
    if wanted:
        held = function(*_each(holder, args), **_each(holder, kwargs))
    parts = [
        turned_view(part, turns_of(view), history) if is_turned(view) else part
        for part, view, history in zip(made, given, held, strict=True)
    ]
    return type(made)(parts)


_OF_SEVERAL: Final = (*("broadcast_tensors", "meshgrid", "atleast_1d", "atleast_2d", "atleast_3d"),)


def _each(of: Callable[[Tensor], Tensor], value: Any) -> Any:
    """A value with what stands for such views in their place."""
    if is_turned(value):
        return of(value)
    if isinstance(value, dict):
        return {key: _each(of, each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)([_each(of, each) for each in value])
    return value


# --------------------------------------------------------------------------- forms


def _turn(self: Tensor, by: Turns) -> Tensor:
    """A view of the same memory with something more done to each element."""
    if by.conj and not self.dtype.is_complex:
        return self
    wanted = is_recording() and (wants_gradients if is_turned(self) else is_wanted)(self)
    if not is_turned(self):
        return turned_view(self.view_as(self), by, by.recorded(self) if wanted else None)
    memory, turns = under(self), turns_of(self) ^ by
    if not any(turns):
        lost = wanted and not is_wanted(memory)  # the history is not that of the memory
        return by.recorded(resolved(self)) if lost else memory.view_as(memory)
    return turned_view(memory, turns, by.recorded(holder(self)) if wanted else None)


def _conj(self: Tensor) -> Tensor:
    return _turn(self, CONJUGATED)


def _neg_view(self: Tensor) -> Tensor:
    return _turn(self, NEGATED)


def _adjoint(self: Tensor, name: str = "adjoint()") -> Tensor:
    if self.ndim == 1:
        raise RuntimeError(
            f"tensor.{name} is only supported on matrices or batches of matrices. Got 1-D tensor."
        )
    return _conj(aten.transpose(self, -2, -1) if self.ndim else self)


def _mH(self: Tensor) -> Tensor:
    return _adjoint(self, "mH")


def _matrix_h(self: Tensor) -> Tensor:
    return _conj(aten.transpose(self, 0, 1) if self.ndim else self)


def _resolve_conj(self: Tensor) -> Tensor:
    return resolved(self) if turns_of(self).conj else self


def _resolve_neg(self: Tensor) -> Tensor:
    return resolved(self) if turns_of(self).neg else self


def _is_conj(self: Tensor) -> bool:
    return turns_of(self).conj


def _is_neg(self: Tensor) -> bool:
    return turns_of(self).neg


def _detach(self: Tensor) -> Tensor:
    return turned_view(under(self).detach(), turns_of(self))


def _part(self: Tensor, name: str, neg: bool) -> Tensor:
    """A part of complex numbers, or the tensor itself where it is real."""
    if name == "real" and not self.dtype.is_complex:
        return self
    wanted = is_recording() and wants_gradients(self)
    held = getattr(holder(self), name) if wanted else None
    return turned_view(getattr(under(self), name), Turns(neg=neg), held)


def _real(self: Tensor) -> Tensor:
    return _part(self, "real", turns_of(self).neg)


def _imag(self: Tensor) -> Tensor:
    return _part(self, "imag", turns_of(self).neg is not turns_of(self).conj)


def _view_as_real(self: Tensor) -> Tensor:
    if turns_of(self).conj:
        raise RuntimeError(
            "view_as_real doesn't work on unresolved conjugated tensors.  To resolve the conjugate "
            "tensor so you can view it as real, use self.resolve_conj(); however, be warned that "
            "the resulting tensor will NOT alias the original."
        )
    return _moved_to_real(self)


def _moved_to_real(self: Tensor) -> Tensor:
    function = aten.view_as_real
    wanted = is_recording() and wants_gradients(self)
    return turned_view(function(under(self)), NEGATED, function(holder(self)) if wanted else None)


def _view(self: Tensor, *args: Any, **kwargs: Any) -> object:
    dtype = kwargs.get("dtype", args[0] if args else None)
    if isinstance(dtype, DType):
        said = "conjugate view tensors" if turns_of(self).conj else "tensors with negative bit set"
        raise RuntimeError(
            f"torch.Tensor.view is not supported for {said} when converting to a different dtype."
        )
    return move(self, lambda t: t.view(*args, **kwargs))


_FORMS: Final[dict[str, Form]] = {
    **dict.fromkeys(("aten::conj", "aten::_conj"), _conj),
    "aten::_neg_view": _neg_view,
    "aten::adjoint": _adjoint,
    "aten::mH": _mH,
    "aten::matrix_H": _matrix_h,
    "aten::resolve_conj": _resolve_conj,
    "aten::resolve_neg": _resolve_neg,
    "aten::is_conj": _is_conj,
    "aten::is_neg": _is_neg,
    "aten::detach": _detach,
    "aten::real": _real,
    "aten::imag": _imag,
    "aten::view_as_real": _view_as_real,
    "aten::view": _view,
}
