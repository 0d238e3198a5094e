"""`__torch_dispatch__` of modes: operators that eager calls run are given to the mode instead.

While a mode is entered eager functions, and the members of tensors that are called as Python's
operators, come here (`ops/eager/asking.py`); else nothing is looked at.  Composite operators are
run as others (`forms.py`), the rest asks the mode in the place of its forward.  So gradients
are recorded above, and the mode sees what their formulas call as well.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from functools import cache
from typing import Any, Final

from ..eager.calls import run as run_plainly
from ..eager.dispatch import EagerFunction
from ..eager.elsewhere import Run, elsewhere
from ..eager.open_operators import OpenOperator, call_kernel, machine_value, python_values
from ..eager.packets import Namespace, Overload
from ..gradients.recording.handles import lifted, note_handles
from ..gradients.recording.heard_members import MEMBERS
from ..memory.errors import Elsewhere
from ..memory.unforeseen import told
from ..meta.tensors import closed
from ..table.grad_mode import grad_mode_set
from ..table.table import TABLE, Operator
from ..tensors.overriding import ARMED, STATE
from ..tensors.tensor import Tensor
from ..tensors.tracing import paused
from . import layers, products, shapes  # noqa: F401  (they say their forms)
from .forms import instead_of

__all__ = ["Modes", "modes"]


class Modes(threading.local):
    """The modes that are entered in a thread, the last one last, and what is asked of them."""

    members = MEMBERS

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self._seen: tuple[dict[int, Tensor], Overload | None] = ({}, None)

    def push(self, mode: object) -> None:
        """Enter a mode."""
        assert ARMED.installed is not None
        ARMED.installed(True)
        self.stack.append(mode)
        self._tell()

    def pop(self) -> Any:
        """Leave the last one."""
        assert ARMED.installed is not None
        mode = self.stack.pop()
        self._tell()
        ARMED.installed(False)
        return mode

    @contextmanager
    def apart(self, count: int = 1) -> Iterator[list[Any]]:
        """A block without the last modes, which are given."""
        kept = self.stack[len(self.stack) - count :]
        del self.stack[len(self.stack) - count :]
        self._tell()
        try:
            yield kept
        finally:
            self.stack.extend(kept)
            self._tell()

    def _tell(self) -> None:
        """Have eager calls come here while there is a mode."""
        STATE.below = self if self.stack else None

    def fresh(self, made: Tensor) -> Tensor:
        """A tensor made of data, which modes are shown as what `lift_fresh` gives."""
        shown: Tensor = Namespace("aten").lift_fresh(made)
        return shown

    # -- what eager calls ask

    def call(self, function: EagerFunction, args: tuple[object, ...], kwargs: Any) -> Any:
        """The call of an eager function."""
        try:
            return function.choose(args, kwargs, self.running(run_plainly, by_choice=True))
        except Elsewhere as place:
            return elsewhere(place.kind).call(
                function.operator_name,
                args,
                kwargs,
                lambda run: function.choose(args, kwargs, self.running(run, by_choice=True)),
            )
        except Exception as error:
            raise told(error, function.operator_name)  # noqa: B904

    def running(self, plainly: Run, *, by_choice: bool = False) -> Run:
        """What runs operators, where they would be run in some way."""

        def running(entry: Operator, values: list[object], handles: Sequence[object]) -> Any:
            return self.run(entry, values, handles, plainly, by_choice=by_choice)

        return running

    def run(
        self,
        entry: Operator,
        values: list[object],
        handles: Sequence[object],
        plainly: Run = run_plainly,
        *,
        by_choice: bool = False,
    ) -> Any:
        """Run an operator on machine values, seen by the last mode.

        Of those that are chosen `by_choice` torch runs some as others.
        """
        if not _gives_tensors(entry):
            return plainly(entry, values, handles)
        known: dict[int, Tensor] = {}
        note_handles(handles, known)
        if isinstance(entry, OpenOperator):
            return self._ask(entry, _overload(entry), _arguments(entry, values, known))
        instead = instead_of(entry)
        if instead is not None:
            with closed():
                made = instead(*_arguments(entry, values, known))
            if made is not NotImplemented:
                return made
        before, self._seen = self._seen, (known, _overload(entry, by_choice))
        try:
            return plainly(_watched(entry, self), values, handles)
        finally:
            self._seen = before

    def through(self, entry: Operator, values: Sequence[object]) -> Any:
        """What the last mode makes of an operator, as machine values."""
        known, function = self._seen
        with grad_mode_set(False), paused():
            made = self._ask(entry, function, _arguments(entry, values, known))
        return _lowered(entry, made)

    def _ask(self, entry: Operator, function: Overload | None, args: list[Any]) -> Any:
        def ask(*by_place: object, **by_name: object) -> Any:
            with closed(), self.apart() as (mode,):
                made = mode.__torch_dispatch__(function, (), by_place, by_name)
            if made is NotImplemented:
                raise TypeError(
                    f"Multiple dispatch failed for '{function}'; all __torch_dispatch__ handlers "
                    f"returned NotImplemented:\n\n  - mode object {mode}\n\n"
                    "For more information, try re-running with TORCH_LOGS=not_implemented"
                )
            return made

        return call_kernel(entry, ask, args)


@cache
def _watched(entry: Operator, modes: Modes) -> Operator:
    """The operator with a forward that asks the modes of this thread."""
    made = copy(entry)
    made.unwatched = entry
    made.forward = lambda *values: modes.through(entry, values)
    return made


@cache
def _gives_tensors(entry: Operator) -> bool:
    """Whether an operator is one that modes see: it gives tensors, or reads a number from one."""
    if entry.name == "aten::_local_scalar_dense":
        return True
    kinds = [each.type for each in entry.signature.returns]
    if not kinds:
        return entry.signature.is_mutable
    return any(str((kind.list_of or kind).inner) == "Tensor" for kind in kinds)


@cache
def _overload(entry: Operator, by_choice: bool = False) -> Overload:
    """What `torch.ops` has for an operator; functions of Python run those of two tensors for a
    number, too."""
    namespace, _, name = entry.name.partition("::")
    overload = entry.overload or "default"
    of_tensors = TABLE.taking_numbers(entry.name) if by_choice and overload == "Scalar" else None
    if of_tensors is not None:
        overload = of_tensors.overload or "default"
    found: Overload = getattr(getattr(Namespace(namespace), name), overload)
    return found


def _arguments(entry: Operator, values: Sequence[object], known: dict[int, Tensor]) -> list[Any]:
    """Machine values as Python sees them, with the tensors that were given."""
    return python_values(entry, [lifted(value, known) for value in values])


def _lowered(entry: Operator, made: object) -> Any:
    found = machine_value(made)
    return tuple(found) if type(found) is list and len(entry.signature.returns) > 1 else found


modes: Final = Modes()
"""The modes of this thread."""
