"""`__torch_dispatch__` of modes and classes: operators that eager calls run are given to them.

While a mode is entered eager functions, and the members of tensors that are called as Python's
operators, come here (`ops/eager/asking.py`); so do calls with a tensor whose class is to be asked
(`calls.py`); else nothing is looked at.  Composite operators are run as others (`forms.py`), the
rest asks the last mode, or a class of an argument, in the place of its forward.  So gradients are
recorded above, and who is asked sees what their formulas call as well.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from functools import cache
from typing import Any, Final, NamedTuple

from ..eager.calls import any_requires_grad, tensors_in
from ..eager.calls import run as run_plainly
from ..eager.dispatch import EagerFunction
from ..eager.elsewhere import Run, elsewhere
from ..eager.open_operators import OpenOperator, call_kernel, machine_value, python_values
from ..eager.packets import Namespace, Overload
from ..gradients.nodes.bound import bound_row
from ..gradients.recording.handles import lifted, note_handles
from ..gradients.recording.heard_members import MEMBERS
from ..memory.errors import Elsewhere
from ..memory.unforeseen import told
from ..meta.tensors import closed
from ..table.grad_mode import RUNNING, grad_mode_set, is_recording
from ..table.table import TABLE, Operator
from ..tensors import dispatched
from ..tensors.overriding import ARMED, STATE
from ..tensors.tensor import Tensor
from ..tensors.tracing import paused
from . import layers, products, shapes  # noqa: F401  (they say their forms)
from .answers import check_answer
from .forms import instead_of

__all__ = ["Modes", "modes"]


class Modes(threading.local):
    """The modes that are entered in a thread, the last one last, and what is asked of them."""

    members = MEMBERS

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self.walks = 0
        """How many walks back go through what classes of tensors were asked for."""
        self._seen = _Seen({}, None, [], [])

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
        STATE.below = self if self.stack or self.walks else None

    @contextmanager
    def entered(self) -> Iterator[None]:
        """A walk back through nodes of operators that a class of tensors was asked for: it is asked
        for what their formulas call, too."""
        assert ARMED.installed is not None
        ARMED.installed(True)
        self.walks += 1
        self._tell()
        try:
            with dispatched.opened():
                yield
        finally:
            self.walks -= 1
            self._tell()
            ARMED.installed(False)

    def fresh(self, made: Tensor) -> Tensor:
        """A tensor made of data, which modes are shown as what `lift_fresh` gives."""
        shown: Tensor = Namespace("aten").lift_fresh(made)
        return shown

    # -- what eager calls ask

    def call(
        self, function: EagerFunction, args: tuple[object, ...], kwargs: dict[str, object]
    ) -> object:
        """The call of an eager function."""
        try:
            return function.choose(args, kwargs, self.running(run_plainly, by_choice=True))
        except Elsewhere as place:
            return elsewhere(
                place.kind,
                function.operator_name,
                args,
                kwargs,
                lambda run: function.choose(args, kwargs, self.running(run, by_choice=True)),
            )
        except Exception as error:
            raise told(error, function.operator_name)  # noqa: B904

    def running(self, plainly: Run, *, by_choice: bool = False) -> Run:
        """What runs operators, where they would be run in some way."""

        def running(entry: Operator, values: list[object], handles: Sequence[object]) -> object:
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
    ) -> object:
        """Run an operator on machine values, seen by the last mode or a class of an argument.

        Of those that are chosen `by_choice` torch runs some as others.
        """
        types = types_in(handles)
        if dispatched.is_off() or not (types or self.stack) or not _is_seen(entry, bool(types)):
            return plainly(entry, values, handles)
        known: dict[int, Tensor] = {}
        note_handles(handles, known)
        if isinstance(entry, OpenOperator):
            return self._ask(entry, _overload(entry), types, _arguments(entry, values, known))
        instead = instead_of(entry)
        if instead is not None:
            with closed(), dispatched.closed():
                made = instead(*_arguments(entry, values, known))
            if made is not NotImplemented:
                return made
        if types:
            check_recorded(entry, handles)
        given = list(handles)
        before, self._seen = self._seen, _Seen(known, _overload(entry, by_choice), types, given)
        bounds = RUNNING.bounds
        if types and self not in bounds:
            RUNNING.bounds = (*bounds, self)
        try:
            with dispatched.opened():
                return plainly(_watched(entry, self), values, given)
        finally:
            RUNNING.bounds, self._seen = bounds, before

    def through(self, entry: Operator, values: Sequence[Any]) -> object:
        """What the last mode, or a class, makes of an operator, as machine values; the tensors of
        such classes among the results join the handles, by which they are found again."""
        known, function, types, given = self._seen
        with grad_mode_set(False), paused():
            made = self._ask(entry, function, types, _arguments(entry, values, known))
        check_answer(entry, made)
        if types and entry.is_in_place:  # which may have become another array
            return dispatched.array_behind(known[id(values[0])])
        with dispatched.opened():
            found = _lowered(entry, made)
        made_here = [each for each in tensors_in(made) if isinstance(each, dispatched.Dispatched)]
        if entry.is_view and types:
            dispatched.count_together(made_here, values[0])
        given += made_here
        return found

    def _ask(
        self,
        entry: Operator,
        function: Overload | None,
        types: Sequence[type],
        args: Sequence[object],
    ) -> object:
        rules = entry.for_classes if isinstance(entry, OpenOperator) else {}

        def answer(kind: type, asked: Any, *call: object) -> object:
            rule = rules.get(kind)
            return asked.__torch_dispatch__(*call) if rule is None else rule(asked, *call)

        def ask(*by_place: object, **by_name: object) -> object:
            call = function, tuple(types), by_place, by_name
            with closed(), dispatched.closed():
                if self.stack:
                    with self.apart() as (mode,):
                        found = answer(type(mode), mode, *call)
                    if found is not NotImplemented:
                        return found
                for each in types:
                    found = answer(each, each, *call)
                    if found is not NotImplemented:
                        return found
            raise TypeError(self._refusal(function, types))

        return call_kernel(entry, ask, args)

    def _refusal(self, function: object, types: Sequence[type]) -> str:
        """What is said where nobody who was asked knows an operator."""
        lines = [f"mode object {each}" for each in self.stack[-1:]]
        lines += [f"tensor subclass {each}" for each in types]
        return (
            f"Multiple dispatch failed for '{function}'; all __torch_dispatch__ handlers returned "
            "NotImplemented:\n\n" + "\n".join(f"  - {line}" for line in lines) + "\n\n"
            "For more information, try re-running with TORCH_LOGS=not_implemented"
        )


class _Seen(NamedTuple):
    """A call of an operator that somebody is asked for."""

    known: dict[int, Tensor]
    """The tensors that were given, by their arrays."""
    function: Overload | None
    types: list[type]
    """The classes of tensors that are asked."""
    given: list[object]
    """Python's arguments, and the tensors of such classes that were made."""


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


def _is_seen(entry: Operator, by_classes: bool) -> bool:
    """Whether an operator is one that modes, or also classes, are asked for: classes see what reads
    elements of their tensors, too."""
    return _gives_tensors(entry) or (by_classes and entry.data_dependent is not None)


def types_in(handles: Sequence[object]) -> list[type]:
    """The classes among arguments that are asked for operators, subclasses before their bases."""
    found: list[type] = []
    for each in handles:
        if isinstance(each, dispatched.Dispatched):
            add_type(found, type(each))
        elif isinstance(each, (list, tuple)):
            for part in each:
                if isinstance(part, dispatched.Dispatched):
                    add_type(found, type(part))
    return found


def add_type(found: list[type], kind: type) -> None:
    """Put a class among others, before those that it is a subclass of."""
    if kind not in found:
        later = [place for place, other in enumerate(found) if issubclass(kind, other)]
        found.insert(later[0] if later else len(found), kind)


def check_recorded(entry: Operator, handles: Sequence[object]) -> None:
    """Refuse to write what gradients need the former elements of: only the class could keep them.

    Raises:
        NotImplementedError: it is such a write.
    """
    if not (entry.is_in_place and is_recording() and any_requires_grad(handles)):
        return
    target, bound = handles[0], bound_row(entry)
    if isinstance(target, Tensor) and target._view_of is not None:
        raise NotImplementedError(
            f"{entry.name} on a view of a tensor whose class has a __torch_dispatch__: gradients do"
            " not follow what is written to part of such a tensor"
        )
    if entry.written == "replaced" or any(0 in kept for kept in bound.keeps.values()):
        raise NotImplementedError(
            f"{entry.name} in place, of a tensor whose class has a __torch_dispatch__: its gradient"
            f" needs what was there before; {entry.name.removesuffix('_')} gives a new tensor"
        )


def _arguments(entry: Operator, values: Sequence[object], known: dict[int, Tensor]) -> list[object]:
    """Machine values as Python sees them, with the tensors that were given."""
    return python_values(entry, [lifted(value, known) for value in values])


def _lowered(entry: Operator, made: object) -> object:
    found = machine_value(made)
    return tuple(found) if type(found) is list and len(entry.signature.returns) > 1 else found


modes: Final = Modes()
"""The modes of this thread."""
