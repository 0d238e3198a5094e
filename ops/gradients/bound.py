"""A row bound to one overload, and the nodes made from it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from inspect import signature
from typing import Any, Final

import numpy as np

from ..eager.calls import tensors_in
from ..memory.dtype import DType, of_numpy
from ..table.grad_mode import RUNNING, enable_grad, is_grad_enabled
from ..table.table import Operator
from ..tensors.tensor import Tensor
from ..tensors.tracing import ACTIVE, own_questions
from .autograd import FREED, PACKING, Edge, Node, Saved, edge_of, fit, node_class
from .layouts import layout_of
from .rows import ROWS, Row
from .walk import run_backward

__all__ = [
    "Bound",
    "Meta",
    "RowNode",
    "bound_row",
    "bound_row_in_script",
    "lifted",
    "note_handles",
]

_FAMILIES: Final = (
    "pointwise", "reduction", "shape", "linear", "activation", "loss", "layers", "selection",
    "windows", "resampling", "recurrent", "factorisation", "spectral", "lu", "eigen", "statistics",
    "names", "quantize", "library_calls", "detection", "audio",
)  # fmt: skip

_RESULTS: Final = {"result": 0, "result1": 1, "results": None}
"""What formulas call results: the first, the second, all."""


@cache
def _load() -> None:
    """Read the rows of all families."""
    for family in _FAMILIES:
        import_module(f".{family}", __package__)


def _find(entry: Operator) -> Row | None:
    """The row of an overload: its own, its name's, or that of the operator not in place."""
    _load()
    if "Tensor" not in entry.schema or entry.overload.startswith("list_") or _is_out(entry):
        return None
    for name in (entry.name, entry.name.removesuffix("_")):
        overload = f"{name}.{entry.overload}" if entry.overload else name
        row = ROWS.get(overload) or ROWS.get(name)
        if row is not None:
            return row
    return None


def _is_out(entry: Operator) -> bool:
    """Whether it writes into `out`, which torch has no gradients for."""
    return entry.overload == "out" or entry.overload.endswith("_out")


class Meta:
    """What is known of a tensor that is not kept."""

    __slots__ = ("_kind", "sizes")

    def __init__(self, tensor: Tensor) -> None:
        array = tensor._array
        self.sizes: tuple[int, ...] = array.shape
        self._kind = array.dtype

    @property
    def dtype(self) -> DType:
        """Its dtype."""
        return of_numpy(self._kind)


_TAKE_NUMBERS: Final = frozenset(
    f"aten::{name}{end}" for name in ("add", "sub", "mul", "div") for end in ("", "_")
)
"""Operators whose second argument is a tensor even if a number is given."""

_NUMBERED: Final = ("add", "sub", "mul", "div")
"""Operators of which Python calls the overload of tensors even for numbers, and scripts do not."""

Reader = Callable[["RowNode", list[Tensor | None]], Any]


class Bound:
    """A row bound to an overload: which arguments have gradients, and what formulas read."""

    watched = True
    """Whether gradients were wanted where it was called."""

    def __init__(self, entry: Operator, row: Row | None, in_script: bool = False) -> None:
        self._in_script = in_script
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
        self.is_view = bool(alias is not None and not alias.is_write) and not (
            row is not None and row.is_constant
        )
        self.is_multiple_view = self.is_view and returned[0].type.list_of is not None
        self.formulas: dict[int, tuple[Callable[..., Any], dict[str, Reader]]] = {}
        self.keeps: dict[int, set[int]] = {}
        self.keeps_result: dict[int, bool] = {}
        self.shared: tuple[Callable[..., Any], dict[str, Reader]] | None = None
        self._bind()
        self.order = tuple(sorted(self.keeps))
        self.reads_results = any(self.keeps_result.values())
        self.lay = layout_of(entry.name)
        self.node_class = node_class(RowNode, self._node_name())

    def new_node(self, args: Sequence[Any], old: Tensor | None) -> Node:
        """The node of a call; `old` is what the first argument held before it was written."""
        if self.row is None:
            unknown = node_class(_Unknown, "NotImplemented")(map(edge_of, tensors_in(args)))
            unknown.operator = self.entry.name
            return unknown  # type: ignore[no-any-return]
        made, name = self.node_class, self.row.name
        if callable(name):
            made = node_class(RowNode, name(*args))
        node: RowNode = made(self, args, old)
        return node

    def _node_name(self) -> str:
        if self.row is None:
            return "NotImplemented"
        if isinstance(self.row.name, str):
            return self.row.name
        words = self.entry.name.partition("::")[2].strip("_").split("_")
        number = int(self._in_script and self.entry.overload == "Scalar" and words[0] in _NUMBERED)
        name = "".join(w[:1].upper() + w[1:] for w in words)
        return re.sub(r"(?<=\d)[a-z]", lambda m: m[0].upper(), name) + f"Backward{number}"

    def _bind(self) -> None:
        row = self.row
        if row is None:
            self._bind_all(lambda: None, dict.fromkeys(self.positions))
            return
        for name, formula in row.formulas.items():
            if name in self.positions:
                at = self.positions[name]
                self.keeps[at], self.keeps_result[at] = set(), False
                self.formulas[at] = formula, self._readers(formula, at)
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

    def _bind_all(self, formula: Callable[..., object], names: Any) -> None:
        """Bind a formula for all of some arguments at once."""
        places = [self.positions[name] for name in names if name in self.positions]
        shared_keeps: set[int] = set()
        readers: dict[str, Reader] = {}
        for at in places:
            self.keeps[at], self.keeps_result[at] = shared_keeps, False
        if places:
            readers = self._readers(formula, places[0])
            for at in places:
                self.keeps_result[at] = self.keeps_result[places[0]]
        self.shared = formula, readers

    def _readers(self, formula: Callable[..., object], at: int) -> dict[str, Reader]:
        readers: dict[str, Reader] = {}
        for name, parameter in signature(formula).parameters.items():
            reader = self._reader(name, at)
            if reader is not None:
                readers[name] = reader
            elif parameter.default is parameter.empty:
                raise TypeError(f"{self.entry}: its gradient reads `{name}`, which it has not")
        return readers

    def _reader(self, name: str, at: int) -> Reader | None:
        position = self.positions.get(name)
        if position is not None and name != "result":
            self.keeps[at].add(position)
            return lambda node, gs: node.value(position)
        if name == "g":
            return lambda node, gs: gs[0]
        if name == "gs":
            return lambda node, gs: gs
        if name == "wanted":
            return lambda node, gs: node.wanted()
        if name in _RESULTS:
            self.keeps_result[at] = True
            which = _RESULTS[name]
            return lambda node, gs: node.results(which)
        base, _, word = name.rpartition("_")
        if word in ("sizes", "dtype") and base in self.positions:
            where = self.positions[base]
            return lambda node, gs: node.about(where, word)
        return None


@cache
def bound_row(entry: Operator) -> Bound:
    """The row of an overload, bound to it; nodes may outlive the mode that watches its calls."""
    return Bound(entry, _find(entry)) if entry.unwatched is None else bound_row(entry.unwatched)


@cache
def bound_row_in_script(entry: Operator) -> Bound:
    """The row of an overload that a script calls: torch's nodes have other names there."""
    return Bound(entry, _find(entry), in_script=True)


def note_handles(handles: Sequence[Any], known: dict[int, Tensor]) -> None:
    """Note which handles arrays have, also those in lists."""
    for handle in handles:
        if isinstance(handle, Tensor):
            known[id(handle._array)] = handle
        elif isinstance(handle, (list, tuple)):
            note_handles(handle, known)


def lifted(value: Any, known: dict[int, Tensor]) -> Any:
    """A machine value with the known handles in place of its arrays."""
    if isinstance(value, np.ndarray):
        handle = known.get(id(value))
        return Tensor._of(value) if handle is None else handle
    if isinstance(value, (list, tuple)) and value and not isinstance(value[0], (int, float, str)):
        return [lifted(each, known) for each in value]
    return value


class _Unknown(Node):
    """The node of an operator whose gradient is not known."""

    __slots__ = ("operator",)

    operator: str

    def apply(self, grads: list[Tensor | None]) -> list[Tensor | None]:
        raise RuntimeError(f"derivative for {self.operator} is not implemented")


class RowNode(Node):
    """The node of an operator that has a row."""

    __slots__ = ("_arguments", "_bound", "_metas", "_places", "_results", "count")

    def __init__(self, bound: Bound, args: Sequence[Any], old: Tensor | None = None) -> None:
        """`args` are the arguments, with handles for tensors; `old` is what the first one held
        before it was written in place."""
        self._bound = bound
        self._places: list[tuple[int, int | None]] = []
        self._metas: list[Meta] = []
        edges: list[Edge | None] = []
        kept: set[int] = set()
        for at in bound.order:
            value = args[at] if at < len(args) else None
            parts: Any = enumerate(value) if isinstance(value, (list, tuple)) else ((None, value),)
            for inner, tensor in parts:
                if not isinstance(tensor, Tensor):
                    continue
                kind = tensor._array.dtype.kind
                edge = None if kind in "biu" else edge_of(tensor)
                if kind in "biu" and (bound.shared is not None or inner is not None):
                    continue
                edges.append(edge)
                self._places.append((at, inner))
                self._metas.append(Meta(tensor))
                if edge is not None:
                    kept |= bound.keeps[at]
        super().__init__(edges)
        self._arguments = [
            _kept(old if old is not None and not at else v, at in kept) for at, v in enumerate(args)
        ]
        self._results: list[Saved | Meta] | None = []
        self.count = 0

    def set_results(self, tensors: Sequence[Tensor]) -> None:
        """Tell the node its results: those of floats come first by number."""
        bound = self._bound
        keeps = bound.reads_results and any(
            bound.keeps_result[at]
            for (at, _), edge in zip(self._places, self.edges, strict=True)
            if edge is not None
        )
        self._results = []
        self.count = 0
        for tensor in tensors:
            is_smooth = tensor._array.dtype.kind not in "biu"
            if keeps:
                self._results.append(_KeptResult(tensor, self.count if is_smooth else None))
            self.count += is_smooth

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        found = super().next_functions
        if self._bound.entry.name in _TAKE_NUMBERS and len(found) == 1:
            return (*found, (None, 0))  # torch makes a tensor of the number
        return found

    def __getattr__(self, name: str) -> Any:
        """`_saved_self` is the argument `self` if it was kept; so are others."""
        word = name.removeprefix("_saved_")
        if word != name:
            if word == "result" and self._results:
                return self.results(0)
            at = self._bound.positions.get(word)
            if at is not None and not isinstance(self._arguments[at], Meta):
                return self.value(at)
        raise AttributeError(f"'{self.name()}' object has no attribute '{name}'")

    # ------------------------------------------------------------------ what formulas read

    def value(self, at: int) -> Any:
        """An argument."""
        return self._unpack(self._arguments[at])

    def _unpack(self, value: Any) -> Any:
        if isinstance(value, Saved):
            return value.tensor(self)
        if isinstance(value, Meta):
            raise AssertionError("this argument was not kept")
        if isinstance(value, list):
            return [self._unpack(each) for each in value]
        return value

    def about(self, at: int, word: str) -> object:
        """The sizes or the dtype of an argument."""
        value = self._arguments[at]
        if isinstance(value, list):
            return [_about(each, word) for each in value]
        return _about(value, word)

    def results(self, which: int | None) -> Any:
        """A result, or all."""
        if self._results is None:
            raise RuntimeError(FREED)
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
        for value in (*self._arguments, *(self._results or ())):
            for each in value if isinstance(value, list) else (value,):
                if isinstance(each, Saved):
                    each.release()

    # ------------------------------------------------------------------ the way back

    def apply(self, grads: list[Tensor | None]) -> list[Tensor | None]:
        if not ACTIVE:
            return self._applied(grads)
        with own_questions():
            return self._applied(grads)

    def _applied(self, grads: list[Tensor | None]) -> list[Tensor | None]:
        bound = self._bound
        if bound.row is None:
            name = bound.entry.name.removeprefix("aten::")
            raise RuntimeError(f"derivative for aten::{name} is not implemented")
        grads = grads + [None] * (max(self.count, 1) - len(grads))
        if bound.row.moves:
            raw = self._moved(grads)
        elif bound.shared is None:
            raw = self._one_by_one(grads)
        elif bound.row.composite is not None:
            raw = self._of_parts(grads)
        else:
            formula, readers = bound.shared
            parts = formula(**{name: read(self, grads) for name, read in readers.items()})
            order = [bound.positions[name] for name in bound.row.of if name in bound.positions]
            given = [
                p for p, name in zip(parts, bound.row.of, strict=True) if name in bound.positions
            ]
            by_place = dict(zip(order, given, strict=True))
            raw = [_part(by_place[at], inner) for at, inner in self._places]
        fitting = [
            None
            if grad is None or self.edges[place] is None
            else fit(grad, meta.sizes, meta.dtype, self, place)
            for place, (grad, meta) in enumerate(zip(raw, self._metas, strict=True))
        ]
        lay = bound.lay
        return fitting if lay is None else [None if g is None else lay(g) for g in fitting]

    def _one_by_one(self, grads: list[Tensor | None]) -> list[Tensor | None]:
        results: list[Tensor | None] = []
        made: dict[int, Any] = {}
        for (at, inner), edge in zip(self._places, self.asked_edges(), strict=True):
            if edge is None:
                results.append(None)
                continue
            if at not in made:
                formula, readers = self._bound.formulas[at]
                if "g" in readers and grads[0] is None:
                    made[at] = None
                else:
                    read = {name: read(self, grads) for name, read in readers.items()}
                    made[at] = formula(**read)
            results.append(_part(made[at], inner))
        return results

    def _moved(self, grads: list[Tensor | None]) -> list[Tensor | None]:
        """The gradients where elements were only moved; place 0 stands for filled-in numbers."""
        sizes = [meta.sizes for meta in self._metas]
        ends = np.cumsum([1] + [math.prod(size) for size in sizes])
        numbers = {
            place: np.arange(start, end, dtype=np.float64).reshape(size)
            for place, start, end, size in zip(
                self._places, ends[:-1], ends[1:], sizes, strict=True
            )
        }
        values: list[Any] = []
        for at, value in enumerate(self._arguments):
            if isinstance(value, list):
                values.append(
                    [
                        numbers.get((at, i), _bare(self._unpack_or_none(v)))
                        for i, v in enumerate(value)
                    ]
                )
            elif (at, None) in numbers:
                values.append(numbers[at, None])
            else:
                values.append(_bare(self._unpack(value)))
        found = _arrays(self._bound.entry.forward(*values))
        given = [grad for grad in grads if grad is not None]
        flat = None
        for moved, grad in zip(found, grads, strict=False):
            if grad is None:
                continue
            if flat is None:
                widest = max(given, key=lambda each: each.dtype.is_complex)
                flat = widest.new_zeros([int(ends[-1])])
            places = Tensor._of(moved.astype(np.int64).reshape(-1))
            flat = flat.index_add(0, places, grad.reshape([-1]).to(flat.dtype))
        if flat is None:
            return [None] * len(self.edges)
        asked = self.asked_edges()
        return [
            None if edge is None else flat[int(start) : int(end)].reshape(list(size))
            for edge, start, end, size in zip(asked, ends[:-1], ends[1:], sizes, strict=True)
        ]

    def _unpack_or_none(self, value: Any) -> Any:
        return None if isinstance(value, Meta) else self._unpack(value)

    def _of_parts(self, grads: list[Tensor | None]) -> list[Tensor | None]:
        """The gradients through the operators that do the same."""
        bound = self._bound
        assert bound.shared is not None
        formula, readers = bound.shared
        create = is_grad_enabled()
        values = {name: read(self, grads) for name, read in readers.items()}
        fresh: dict[tuple[int, int | None], Tensor] = {}
        with enable_grad():
            for (at, inner), edge in zip(self._places, self.asked_edges(), strict=True):
                name = next(n for n, p in bound.positions.items() if p == at)
                if edge is None:
                    continue
                tensor = values[name] if inner is None else values[name][inner]
                if create:
                    copied = tensor.view_as(tensor)
                else:
                    copied = Tensor._of(tensor._array.view(), True)
                fresh[at, inner] = copied
                if inner is None:
                    values[name] = copied
                else:
                    values[name][inner] = copied
            outcome = formula(**values)
        outcomes = [t for t in tensors_in(outcome) if t._array.dtype.kind not in "biu"]
        roots = []
        for tensor, grad in zip(outcomes, grads, strict=False):
            edge = edge_of(tensor)
            if edge is not None and grad is not None:
                roots.append((edge, fit(grad, tensor._array.shape, tensor.dtype)))
        targets = {place: edge_of(tensor) for place, tensor in fresh.items()}
        wanted = [edge for edge in targets.values() if edge is not None]
        found = run_backward(roots, wanted, keep=create, create=create)
        results: list[Tensor | None] = []
        for place in self._places:
            target = targets.get(place)
            grad = None if target is None else found.get(target)
            if target is not None and grad is None:
                grad = fresh[place].new_zeros(fresh[place].shape)
            results.append(grad)
        return results


class _KeptResult(Saved):
    """A result kept by its own node."""

    __slots__ = ()

    def __init__(self, tensor: Tensor, number: int | None) -> None:
        self.array = tensor._array
        self.version = RUNNING.version_of(tensor._array)
        self.number = number
        self.edge = None
        self.handle = None
        self.packed = PACKING.packed(tensor) if PACKING.used else None


def _bare(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value._array
    return [_bare(each) for each in value] if isinstance(value, list) else value


def _arrays(value: Any) -> list[Any]:
    if isinstance(value, np.ndarray):
        return [value]
    return [a for each in value for a in _arrays(each)] if isinstance(value, (list, tuple)) else []


def _kept(value: Any, keep: bool) -> object:
    if isinstance(value, Tensor):
        return Saved(value) if keep else Meta(value)
    if isinstance(value, (list, tuple)) and any(isinstance(v, Tensor) for v in value):
        return [_kept(each, keep) for each in value]
    return value


def _about(value: Any, word: str) -> object:
    if isinstance(value, Saved):
        if value.array is None:
            raise RuntimeError(FREED)
        return value.array.shape if word == "sizes" else value.tensor_dtype()
    return None if value is None or not isinstance(value, Meta) else getattr(value, word)


def _part(made: Any, inner: int | None) -> Any:
    return made if inner is None or made is None else made[inner]
