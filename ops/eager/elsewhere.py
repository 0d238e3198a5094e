"""The port to tensors behind which no array stands: what eager calls ask of rooms above them.

A call that reaches for the array of such a tensor, or is asked to make one, meets an `Elsewhere`
(`ops/memory/errors.py`) and goes on in the room that its `kind` names, loaded when first asked for.
No other call pays for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final, Protocol

from ...frontend.foundations.declared import Declared
from ..memory.unforeseen import told
from ..table.table import Operator

__all__ = ["Choose", "Room", "Run", "elsewhere", "install"]

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


@cache
def _room(kind: str) -> Room:
    """The room of a kind, loaded when first asked for."""
    return _LOADERS[kind]()
