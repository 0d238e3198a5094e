"""A row bound to one overload, and the nodes made from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from functools import cache
from inspect import signature
from typing import Any, Final, Never

from ....typecheck.types.types import TENSOR
from ...eager.calls import tensors_in
from ...memory.dtype import Array, of_numpy
from ...memory.versions import owner_of
from ...table.grad_mode import ANOMALY, RUNNING, enable_grad, is_recording
from ...table.table import TABLE, Operator
from ...tensors.dispatched import is_dispatched
from ...tensors.tape_port import way_through
from ...tensors.tensor import Tensor
from ...tensors.tracing import ACTIVE, own_questions
from ..table.families import row_of
from ..table.layouts import layouts_of
from ..table.rows import DIRECT, Row, node_name
from ..table.rules import Meta, Rule, is_unheard, part_of
from .anomaly import note_place
from .autograd import WALKING, Edge, Node, Saved, edge_of, node_class, packed, with_node
from .fitting import fit, thin
from .kept_arguments import about, kept_list, kept_results
from .moves import moved
from .packing import PACKING
from .pooled import OFTEN, pooled
from .removable import SEQUENCE
from .saved_tensors import kept_by
from .together import all_together, unknown
from .walk import run_backward

__all__ = ["Bound", "Meta", "RowNode", "Traced", "bound_row", "bound_row_in_script"]

_RESULTS: Final = {"result": 0, "result1": 1, "results": None}
"""What formulas call results, and their numbers: the first, the second, all."""

_READERS: Final = {
    **{"g": "gs[0]", "gs": "gs", "wanted": "node.wanted()", "result": "node.results(0)"},
    **{"result1": "node.results(1)", "results": "node.results(None)"},
}
"""How is read what every operator has."""

Back = Callable[["RowNode", list[Tensor | None]], list[Tensor | None]]
"""The gradients of a node's arguments."""
Recorder = Callable[..., object]
"""Runs and records a call: (arguments, machine values, forward, whether that keeps NumPy from
warning itself) -> result."""
Replay = Callable[
    [dict[int, Tensor], Callable[[Array], Tensor], Sequence[object], object, Array | None], object
]
"""Makes the node of a call that ran: (known handles, what makes others, machine values, result, and
what it wrote over, if that was kept)."""

Traced = tuple[list[Edge | None], list[tuple[int, int | None]], Sequence[object], Set[int]]
"""Where arguments came from, their places, their shapes and dtypes in turn, and what to keep."""

_NOTHING: Final[Set[Never]] = frozenset()


class Bound:
    """A row bound to an overload: which arguments have gradients, and what formulas read."""

    watched = True  # whether gradients were wanted where it was called

    def __init__(self, entry: Operator, row: Row | None, in_script: bool = False) -> None:
        self.entry = entry
        self.row = row
        arguments = entry.signature.arguments
        self.positions = {a.name: i for i, a in enumerate(arguments)}
        first = arguments[0].alias if arguments else None
        self.in_place = bool(first is not None and first.is_write and entry.name.endswith("_"))
        if self.in_place and row is not None and "input" in row.formulas:
            self.positions.setdefault("input", 0)  # what the twin calls `self`
        returned = entry.signature.returns
        alias = returned[0].alias if returned else None
        is_constant = row is not None and row.is_constant
        is_said = alias is not None and not alias.is_write
        self.is_view = (is_said or entry.views) and not is_constant
        self.gives_several = len(returned) > 1 or (
            bool(returned) and returned[0].type.list_of is not None
        )
        """Whether there may be more than one result."""
        self.is_multiple_view = self.is_view and returned[0].type.list_of is not None
        self.formulas: dict[int, Rule] = {}
        self.keeps: dict[int, set[int]] = {}
        self.keeps_result: dict[int, bool] = {}
        self.shared: Rule | None = None
        self.direct: Rule | None = None
        of = () if row is None else row.of
        self.orders = {at: of.index(name) for name, at in self.positions.items() if name in of}
        self.described, self.laid = set[int](), set[int]()
        """Arguments whose sizes or dtype formulas read, or how their elements lie."""
        self.recorders: dict[tuple[type, ...], Recorder] = {}
        self.replays: dict[tuple[type, ...], Replay] = {}
        self.composed: dict[object, Any] = {}  # what was written for arguments of a kind
        self._made = 0
        self.records: dict[Recorder, Any] = {}  # what their nodes keep, for native code
        self._bind()
        self.order = tuple(sorted(self.keeps))
        kinds = enumerate(each.type for each in arguments)
        self._lists = {at for at, kind in kinds if kind.inner != TENSOR and "Tensor" in str(kind)}
        is_own = row is not None and not (row.is_constant or row.rewritten)
        self.is_plain, is_writing = is_own and not self.in_place, is_own and self.in_place
        self.writes_alone = is_writing and entry.written != "replaced"
        """Whether it writes its first argument, and nothing else of that changes."""
        is_smooth = (row is not None and not row.is_constant) or entry.on_tensors is not None
        self.is_idle = not (is_smooth or self.in_place or entry.is_out_form)
        """Whether its calls leave nothing, or only what says that there is no gradient."""
        self.first_of = TABLE.operator(row.first_of) if row is not None and row.first_of else None
        """The operator whose first result it gives, of the same arguments."""
        self._note_what_is_read()
        said = row.refuses if row else {}
        self.refuses = {at: said[name] for name, at in self.positions.items() if name in said}
        self.read_together = {self.positions.get(name) for name in row.together} if row else set()
        self.lays, self.looks = layouts_of("" if row is None else row.lays, self.positions)
        self.may_be_thin = "sparse" in self.positions
        """Whether its gradient may be a sparse tensor."""
        name = node_name(entry, row, in_script)
        self.node_class = node_class(RowNode, name)
        self.forbids_writes = self.is_multiple_view and not entry.slices
        """Whether views may not be written since one node made them; slices have one each."""

    def _note_what_is_read(self) -> None:
        self.reads_results = any(self.keeps_result.values())
        rules = [*self.formulas.values(), *filter(None, [self.shared, self.direct])]
        self.reads_all = any("gs" in rule.readers for rule in rules)
        """Whether a formula reads the gradients of all results."""
        self.read_results = {
            n for rule in rules for name, n in _RESULTS.items() if name in rule.readers
        }
        """The results that formulas read, by number; None among them stands for all."""

    def takes_tensors(self, at: int) -> bool:
        """Whether an argument is a list of tensors."""
        return at in self._lists

    def trace(self, args: Sequence[object]) -> Traced:
        """Where the arguments that have gradients came from, and what a node keeps for them."""
        edges: list[Edge | None] = []
        places: list[tuple[int, int | None]] = []
        shapes: list[object] = []
        kept: Set[int] = _NOTHING
        for at in self.order:
            value = args[at] if at < len(args) else None
            if isinstance(value, Tensor):
                array = value._array
                is_whole = array.dtype.kind in "biu"
                if is_whole and self.shared is not None:
                    continue
                edge = None if is_whole else edge_of(value)
                edges.append(edge)
                places.append((at, None))
                shapes += (array.shape, array.dtype)
                if edge is not None:
                    kept = kept | self.keeps[at] if kept else self.keeps[at]
            elif isinstance(value, (list, tuple)):
                for inner, tensor in enumerate(value):
                    if isinstance(tensor, Tensor) and tensor._array.dtype.kind not in "biu":
                        edge = edge_of(tensor)
                        edges.append(edge)
                        places.append((at, inner))
                        shapes += (tensor._array.shape, tensor._array.dtype)
                        if edge is not None:
                            kept = kept | self.keeps[at]
        return edges, places, shapes, kept

    def new_node(
        self, args: Sequence[object], old: Tensor | None, traced: Traced | None = None
    ) -> Node:
        """The node of a call; `old` is what the first argument held before it was written."""
        if self.row is None:
            return unknown(self.entry.name, map(edge_of, tensors_in(args)))
        made, name = self.node_class, self.row.name
        if callable(name):
            made = node_class(RowNode, name(*args))
        self._made += 1
        if self._made == OFTEN:
            pooled(made)
        node: RowNode = made(self, args, old, traced)
        return node

    def _bind(self) -> None:
        row = self.row
        if row is None:
            self._bind_all(lambda: None, dict.fromkeys(self.positions))
            return
        for name, formula in row.formulas.items():
            if name in self.positions:
                at = self.positions[name]
                self.keeps[at], self.keeps_result[at] = set(), False
                self.formulas[at] = Rule(formula, self._readers(formula, at))
        if row.formulas or row.moves:
            self._bind_direct(self._direct_readers)
        if row.moves:
            others = {i for name, i in self.positions.items() if name not in row.of}
            for name in row.of:
                if name in self.positions:
                    self.keeps[self.positions[name]] = others
                    self.keeps_result[self.positions[name]] = False
        elif row.joint is not None:
            self._bind_all(row.joint, dict.fromkeys(row.of))
        elif row.composite is not None:
            self._bind_all(row.composite, signature(row.composite).parameters)

    def _bind_all(self, formula: Callable[..., object], names: Iterable[str]) -> None:
        """Bind a formula for all of some arguments at once."""
        places = [self.positions[name] for name in names if name in self.positions]
        shared_keeps: set[int] = set()
        for at in places:
            self.keeps[at], self.keeps_result[at] = shared_keeps, False
        readers: dict[str, str] = {}
        if places:
            readers = self._readers(formula, places[0])
            self._bind_direct(lambda form: self._readers(form, places[0]))
            for at in places:
                self.keeps_result[at] = self.keeps_result[places[0]]
        self.shared = Rule(dict if self.row and self.row.composite else formula, readers)

    def _direct_readers(self, formula: Callable[..., object]) -> dict[str, str]:
        """The same for a form beside formulas: it gets None for what they do not keep."""
        own = {**_READERS, "asked": "node.asked()"}
        readers = {}
        for name, parameter in signature(formula).parameters.items():
            base, _, word = name.rpartition("_")
            if name in self.positions:
                readers[name] = f"node.kept({self.positions[name]})"
            elif name in own or parameter.default is parameter.empty:
                readers[name] = own.get(name) or self._about(base, word)
        return readers

    def _bind_direct(self, readers: Callable[[Callable[..., object]], dict[str, str]]) -> None:
        """Bind the form of the gradients that is not differentiated itself, if there is one."""
        if self.row is not None and self.row.operator in DIRECT:
            formula, of, of_operators = DIRECT[self.row.operator]
            self.direct = Rule(formula, readers(formula), of_operators)
            self.orders = {self.positions[name]: i for i, name in enumerate(of)}

    def _readers(self, formula: Callable[..., object], at: int) -> dict[str, str]:
        """By parameter of a formula the text that reads it of `node` and `gs`."""
        readers: dict[str, str] = {}
        for name, parameter in signature(formula).parameters.items():
            reader = self._reader(name, at)
            if reader is not None:
                readers[name] = reader
            elif parameter.default is parameter.empty:
                raise TypeError(f"{self.entry}: its gradient reads `{name}`, which it has not")
        return readers

    def _reader(self, name: str, at: int) -> str | None:
        position = self.positions.get(name)
        if position is not None and name != "result":
            self.keeps[at].add(position)
            return f"node.value({position})"
        if name in _READERS:
            if name in _RESULTS:
                self.keeps_result[at] = True
            return _READERS[name]
        base, _, word = name.rpartition("_")
        if word in ("sizes", "dtype", "columns") and base in self.positions:
            return self._about(base, word)
        return None

    def _about(self, argument: str, word: str) -> str:
        """The text that reads what is known of an argument that is not kept."""
        at = self.positions[argument]
        self.described.add(at)
        if word == "columns":
            self.laid.add(at)
        return f"node.about({at}, {word!r})"


@cache
def bound_row(entry: Operator) -> Bound:
    """The row of an overload, bound to it; nodes may outlive the mode that watches its calls."""
    return Bound(entry, row_of(entry)) if entry.unwatched is None else bound_row(entry.unwatched)


@cache
def bound_row_in_script(entry: Operator) -> Bound:
    """The row of an overload that a script calls: torch's nodes have other names there."""
    return Bound(entry, row_of(entry), in_script=True)


class RowNode(Node):
    """The node of an operator that has a row."""

    __slots__ = (
        *("_arguments", "_bound", "_places", "_results", "_shapes", "back", "count", "lie"),
    )

    back: Back | None
    """What walks back through a node that was recorded by what was written for it."""
    _shapes: Sequence[Any]
    """The shape and the dtype of each argument that has a place."""
    lie: object
    """What is known of how arguments lay, where gradients shall lie so."""

    def __init__(
        self, bound: Bound, args: Sequence[Any], old: Tensor | None = None,
        traced: Traced | None = None,
    ) -> None:  # fmt: skip
        """`args` are the arguments, with handles for tensors; `old` is what the first one held
        before it was written in place."""
        if traced is None:
            traced = bound.trace(args if old is None else [old, *args[1:]])
        self._bound = bound
        self.back = None
        self.attached = None
        self.bounds = RUNNING.bounds
        self.sequence = next(SEQUENCE)
        edges, self._places, self._shapes, kept = traced
        self.edges = tuple(edges)
        arguments = list(args)
        looks = bound.looks
        self.lie = 0 if looks is None else looks([getattr(a, "_array", a) for a in args])
        written = owner_of(args[0]._array) if bound.in_place else None
        if old is not None:
            arguments[0] = old
        known = {at: e for (at, inner), e in zip(self._places, edges, strict=True) if inner is None}
        keep, version_of = packed if PACKING.used else Saved, RUNNING.version_of
        for at, value in enumerate(arguments):
            if isinstance(value, Tensor):
                array = value._array
                if at not in kept:
                    arguments[at] = Meta(array, at in bound.laid)
                    continue
                edge = known[at] if at in known else edge_of(value)
                arguments[at] = keep(value, edge, version_of(array))
                if written is not None and at and owner_of(array) is written:
                    arguments[at].version -= 1  # it was written after it was read
            elif type(value) in (list, tuple):
                arguments[at] = kept_list(value, at in kept)
        self._arguments = tuple(arguments)
        self._results: Sequence[Saved | None] = ()
        self.count = 0
        if ANOMALY[0]:
            note_place(self, WALKING.walk)

    def result_count(self) -> int:
        return self.count

    def set_results(self, tensors: Sequence[Tensor]) -> None:
        """Tell the node its results: those of floats come first by number."""
        bound = self._bound
        reads = bound.read_results if bound.reads_results else _NOTHING
        if reads:
            keeps, places = bound.keeps_result, zip(self._places, self.edges, strict=True)
            if not any(edge is not None and keeps[at] for (at, _), edge in places):
                reads = _NOTHING
        self._results, self.count = kept_results(tensors, reads)

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        found = super().next_functions
        if len(found) == 1 and TABLE.taking_numbers(self._bound.entry.name):
            return (*found, (None, 0))  # torch makes a tensor of the number
        return found

    def __getattr__(self, name: str) -> object:
        """`_saved_self` is the argument `self` if it was kept; so are others."""
        return kept_by(self, name)

    # ------------------------------------------------------------------ what formulas read

    def value(self, at: int) -> object:
        """An argument."""
        return self._unpack(self._arguments[at])

    def kept(self, at: int) -> object:
        """An argument; None for a tensor that was not kept."""
        return self._unpack_or_none(self._arguments[at])

    def asked(self) -> tuple[bool, ...]:
        """Of each argument that the form of its own is for, whether its gradient is asked for."""
        orders = self._bound.orders
        found = [False] * len(orders)
        for (at, _), edge in zip(self._places, self.asked_edges(), strict=True):
            if edge is not None:
                found[orders[at]] = True
        return tuple(found)

    def _unpack(self, value: Any) -> object:
        kind = type(value)
        if kind is Saved:
            return value.tensor(self)
        if kind is Meta:
            raise AssertionError("this argument was not kept")
        if kind is list:
            return [self._unpack(each) for each in value]
        return value

    def about(self, at: int, word: str) -> object:
        """The sizes or the dtype of an argument, or whether it was a matrix by columns."""
        value = self._arguments[at]
        if type(value) is list:
            return [about(each, word) for each in value]
        return about(value, word)

    def results(self, which: int | None) -> object:
        """A result, or all."""
        if which is not None:
            return self._unpack(self._results[which])
        return [self._unpack(each) for each in self._results]

    def wanted(self) -> dict[str, bool]:
        """Of each argument whether its gradient is asked for."""
        names = {at: name for name, at in self._bound.positions.items()}
        found = dict.fromkeys(names.values(), False)
        for (at, _), edge in zip(self._places, self.asked_edges(), strict=True):
            found[names[at]] |= edge is not None
        return found

    def release(self) -> None:
        for value in self._arguments:
            kind = type(value)
            if kind is Saved:
                value.array = value.handle = value.packed = None
            elif kind is list:
                for each in value:
                    if type(each) is Saved:
                        each.release()
        for kept in self._results:
            if kept is not None:
                kept.release()

    # ------------------------------------------------------------------ the way back

    def apply(self, grads: list[Tensor | None]) -> list[Tensor | None]:
        back = self.back or RowNode._applied
        if not ACTIVE:
            return back(self, grads)
        with own_questions():
            return back(self, grads)

    def _applied(self, grads: list[Tensor | None]) -> list[Tensor | None]:
        bound = self._bound
        if bound.row is None:
            name = bound.entry.name.removeprefix("aten::")
            raise RuntimeError(f"derivative for aten::{name} is not implemented")
        missing = (self.count or 1) - len(grads)
        if missing > 0:
            grads = grads + [None] * missing
        raw = self._directly(grads)
        if raw is not None:
            pass
        elif bound.row.moves:
            raw = self._moved(grads)
        elif bound.shared is None:
            raw = self._one_by_one(grads)
        elif bound.row.composite is not None:
            raw = self._of_parts(grads)
        else:
            parts = bound.shared.call(self, grads)
            orders = bound.orders
            raw = [part_of(parts[orders[at]], inner) for at, inner in self._places]
        edges, shapes, lays = self.edges, self._shapes, bound.lays
        for place, grad in enumerate(raw):
            if grad is None:
                continue
            if edges[place] is None:
                raw[place] = None
                continue
            sizes, kind = shapes[2 * place : 2 * place + 2]
            if bound.may_be_thin:
                if thin(grad, edges[place]):
                    continue
                grad = raw[place] = fit(grad, sizes, of_numpy(kind), self, place)
            array = grad._array
            if array.dtype is not kind or array.shape != sizes:
                raw[place] = grad = fit(grad, sizes, of_numpy(kind), self, place)
            if lays and (lay := lays.get(self._places[place][0])) is not None:
                raw[place] = lay(grad, grads[0], self.lie)
        if bound.row.together and is_recording():
            self._put_together(raw, grads)
        return raw

    def _put_together(self, made: list[Tensor | None], grads: Sequence[Tensor | None]) -> None:
        read = [
            e
            for (at, _), e in zip(self._places, self.edges, strict=True)
            if at in self._bound.read_together
        ]
        all_together(self, made, read, grads)

    def _one_by_one(self, grads: list[Tensor | None]) -> list[Tensor | None]:
        results: list[Tensor | None] = []
        made: dict[int, object] | None = None
        edges = self.edges if WALKING.leads is None else self.asked_edges()
        formulas = self._bound.formulas
        for (at, inner), edge in zip(self._places, edges, strict=True):
            if edge is None:
                results.append(None)
                continue
            rule = formulas[at]
            if "g" in rule.readers and grads[0] is None:
                results.append(None)
            elif inner is None:
                results.append(rule.call(self, grads))
            else:
                made = made or {}
                if at not in made:
                    made[at] = rule.call(self, grads)
                results.append(part_of(made[at], inner))
        return results

    def _moved(self, grads: list[Tensor | None]) -> list[Tensor | None]:
        values = [
            list(map(self._unpack_or_none, value))
            if isinstance(value, list)
            else self._unpack_or_none(value)
            for value in self._arguments
        ]
        sizes, row = self._shapes[::2], self._bound.row
        if row is not None and row.filled_by:
            values[self._bound.positions[row.filled_by]] = 0
        return moved(self._bound.entry, values, sizes, self._places, self.asked_edges(), grads)

    def _unpack_or_none(self, value: object) -> object:
        return None if isinstance(value, Meta) else self._unpack(value)

    def _directly(self, grads: list[Tensor | None]) -> list[Tensor | None] | None:
        """The gradients by a form of their own, None if it does not give all that are asked for."""
        rule, orders = self._bound.direct, self._bound.orders
        if rule is None or not rule.may_be_used() or ("g" in rule.readers and grads[0] is None):
            return None
        asked = self.asked_edges()
        if any(e and at not in orders for (at, _), e in zip(self._places, asked, strict=True)):
            return None
        parts = rule.call(self, grads)
        if parts is None:
            return None
        return [
            part_of(parts[orders[at]], inner) if at in orders else None
            for at, inner in self._places
        ]

    def _of_parts(self, grads: list[Tensor | None]) -> list[Tensor | None]:
        """The gradients through the operators that do the same."""
        bound = self._bound
        assert bound.shared is not None
        values = bound.shared.call(self, grads)
        if not is_unheard() or ACTIVE or ANOMALY[0] or PACKING.used or RUNNING.bounds:
            return self._by_parts(values, grads)
        names = {at: name for name, at in bound.positions.items()}
        pairs = zip(self._places, self.asked_edges(), strict=True)
        asked = [None if edge is None else (names[at], inner) for (at, inner), edge in pairs]
        found: list[Tensor | None] = way_through()(
            bound, values, asked, grads, lambda: self._by_parts(values, grads)
        )
        return found

    def _by_parts(
        self, values: Mapping[str, Any], grads: list[Tensor | None]
    ) -> list[Tensor | None]:
        """The same, one by one."""
        bound = self._bound
        create = is_recording()
        assert bound.row is not None
        assert bound.row.composite is not None
        values = {n: [*each] if type(each) is list else each for n, each in values.items()}
        fresh: dict[tuple[int, int | None], Tensor] = {}
        with enable_grad():
            for (at, inner), edge in zip(self._places, self.asked_edges(), strict=True):
                name = next(n for n, p in bound.positions.items() if p == at)
                if edge is None:
                    continue
                tensor = values[name] if inner is None else values[name][inner]
                if create:
                    copied = tensor.view_as(tensor)
                elif is_dispatched(tensor):
                    copied = with_node(tensor, None)
                else:
                    copied = Tensor._of(tensor._array.view(), True)
                fresh[at, inner] = copied
                if inner is None:
                    values[name] = copied
                else:
                    values[name][inner] = copied
            outcome = bound.row.composite(**values)
        outcomes = [t for t in tensors_in(outcome) if t._array.dtype.kind not in "biu"]
        roots = []
        for tensor, grad in zip(outcomes, grads, strict=False):
            edge = edge_of(tensor)
            if edge is not None and grad is not None:
                roots.append((edge, fit(grad, tensor._array.shape, tensor.dtype)))
        targets = {place: edge_of(tensor) for place, tensor in fresh.items()}
        wanted = [edge for edge in targets.values() if edge is not None]
        found = run_backward(roots, wanted, keep=create, create=create)
        results = []
        for place in self._places:
            target = targets.get(place)
            grad = None if target is None else found.get(target)
            if target is not None and grad is None:
                grad = fresh[place].new_zeros(fresh[place].shape)
            results.append(grad)
        return results
