"""The port to tensors behind which no array stands: what eager calls ask of rooms above them.

A call that reaches for the array of such a tensor, or is asked to make one, meets an `Elsewhere`
(`ops/memory/errors.py`) and goes on in the room that its `kind` names, loaded when first asked for.
No other call pays for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from inspect import Parameter, signature
from typing import Any, Final, Protocol

from ...frontend.foundations.declared import Declared
from ..memory.unforeseen import told
from ..table.table import TABLE, Operator

__all__ = ["Choose", "Room", "Run", "as_named", "elsewhere", "install"]

Run = Callable[[Operator, list[object], Sequence[object]], Any]
"""What runs an operator on machine values; the third are the Python arguments."""

Choose = Callable[[Run], object]
"""Chooses an overload for arguments that it knows, and has it run."""


class Room(Protocol):
    """What the files `calls.py` of such rooms offer."""

    def call(
        self,
        operator_name: str,
        args: tuple[object, ...],
        kwargs: dict[str, object],
        choose: Choose,
        /,
    ) -> Any:
        """What an operator gives for such arguments."""


_LOADERS: Final[Declared[str, Callable[[], Room]]] = Declared()


def install(kind: str, load: Callable[[], Room]) -> None:
    """Say how the room of a kind is loaded."""
    _LOADERS.put([kind], load)


def elsewhere(
    kind: str,
    operator_name: str,
    args: tuple[object, ...],
    kwargs: dict[str, object],
    choose: Choose,
) -> object:
    """What an operator gives in the room of a kind.

    Raises:
        OperatorError: memory was at an end, or Python or NumPy stumbled over the arguments.
        Exception: what the room raises.
    """
    try:
        return _room(kind).call(operator_name, args, kwargs, choose)
    except Exception as error:
        raise told(error, operator_name)  # noqa: B904


def as_named(
    operator_name: str,
    form: Callable[..., Any],
    args: tuple[object, ...],
    kwargs: dict[str, object],
) -> tuple[tuple[object, ...], dict[str, object]]:
    """The arguments of a call as a form of the operator takes them: what is given by a name that
    the form has not goes to the place that a schema says."""
    names = _names_of(form) if kwargs else frozenset()
    if names is None or names.issuperset(kwargs):
        return args, kwargs
    for entry in TABLE.operators(TABLE.first_name(operator_name)):
        places = [each.name for each in entry.signature.arguments if not each.keyword_only]
        taken, rest = list(args), dict(kwargs)
        if "input" in rest and "input" not in places:
            rest["self"] = rest.pop("input")
        while len(taken) < len(places) and places[len(taken)] in rest:
            taken.append(rest.pop(places[len(taken)]))
        if names.issuperset(rest):
            return tuple(taken), rest
    return args, kwargs


@cache
def _names_of(form: Callable[..., Any]) -> frozenset[str] | None:
    """The names that arguments of a function may be given by; None if all are taken."""
    parameters = signature(form).parameters.values()
    if any(each.kind is Parameter.VAR_KEYWORD for each in parameters):
        return None
    return frozenset(each.name for each in parameters)


@cache
def _room(kind: str) -> Room:
    """The room of a kind, loaded when first asked for."""
    return _LOADERS[kind]()
