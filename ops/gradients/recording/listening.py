"""What eager operators run in a block, as notes like those of scripted calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from ...eager.calls import run as run_plainly
from ...eager.dispatch import EagerFunction
from ...eager.elsewhere import Run
from ...table.record import Operator
from ...tensors.overriding import ARMED, STATE
from ...tensors.tensor import Tensor
from ..nodes.bound import bound_row
from .heard_members import MEMBERS
from .noted import Step

__all__ = ["Listener", "listening"]

_OF_SIZES: Final = ("aten::numel", "aten::size", "aten::dim")


class Listener:
    """Hears of the operators that eager functions run: `steps` are the notes.

    They say all that was done as long as it `is_complete`: nobody has looked at elements.
    """

    members = MEMBERS

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.is_complete = True

    def call(
        self, function: EagerFunction, args: tuple[object, ...], kwargs: dict[str, object]
    ) -> object:
        """The call of an eager function."""
        return function.choose(args, kwargs, self.run)

    def running(self, plainly: Run, *, by_choice: bool = False) -> Run:
        """What runs operators, where they would be run in some way."""
        return lambda entry, values, handles: self.run(entry, values, handles, plainly)

    def run(
        self,
        entry: Operator,
        values: list[object],
        handles: Sequence[object],
        plainly: Run = run_plainly,
    ) -> object:
        """Run an operator on machine values and take note of it."""
        taken = tuple([list(a) if isinstance(a, (list, tuple)) else a for a in values])
        made = plainly(entry, values, handles)
        if entry.of_form or entry.name in _OF_SIZES:  # which follow from those of others
            return made
        bound, result = bound_row(entry), _bare(made)
        is_special = entry.random or entry.on_tensors is not None or bound.in_place
        is_rewritten = bound.row is not None and bound.row.rewritten is not None
        if result is None or is_special or is_rewritten:
            self.is_complete = False
        self.steps.append((bound, taken, result, None))
        return made


def _bare(made: object) -> object:
    """A result with arrays in the place of tensors; None of one that holds something else."""
    if type(made) is Tensor:
        return made._array
    if isinstance(made, (list, tuple)) and made:
        parts = [_bare(each) for each in made]
        if not any(each is None or isinstance(each, list) for each in parts):
            return parts if isinstance(made, list) else tuple(parts)
    return None


@contextmanager
def listening() -> Iterator[Listener | None]:
    """A block whose operators are heard; None, with nothing heard, where somebody else listens."""
    if STATE.below is not None or ARMED.installed is None:
        yield None
        return
    listener = Listener()
    ARMED.installed(True)
    STATE.below = listener
    try:
        yield listener
    finally:
        STATE.below = None
        ARMED.installed(False)
