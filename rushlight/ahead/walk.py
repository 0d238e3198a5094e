"""From a frozen graph to a program: each operator is done once on examples, which say all sizes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ..frontend.foundations.declared import Declared
from ..interpreter.values.objects import ScriptObject
from ..ir.aliases.alias_analysis import trained
from ..ir.graphs.graph import Block, Graph, Node, Value
from ..ir.graphs.kinds import is_random
from ..ops.kernels.code.loading import objects
from ..ops.memory.dtype import Array
from ..ops.table.table import TABLE, Operator
from .calls import known_call
from .flow import Flow
from .known import (
    CannotCompile,
    Known,
    Tensor,
    as_kind_of_number,
    as_word,
    flattened,
    machine_value,
    of_listed,
    scalars_of,
    tensors_of,
)
from .program import (
    Buffer,
    Call,
    Compute,
    Constant,
    Copy,
    Input,
    Kernel,
    Load,
    Output,
    Place,
    Program,
    Scalar,
    Store,
    Word,
    Zeroed,
)
from .replaced import replacement
from .scalars import CUT, PLACE, kind_of_number
from .writing import Pool

__all__ = ["program_of"]

_READS: Final = {
    "aten::Bool.Tensor": "i1",
    "aten::Int.Tensor": "i64",
    "aten::Float.Tensor": "double",
}
_READS.update({"aten::IntImplicit": "i64", "aten::FloatImplicit": "double"})

Handler = Callable[["_Walk", Node], None]
_HANDLERS: Final[Declared[str, Handler]] = Declared()


def _handles(*kinds: str) -> Callable[[Handler], Handler]:
    """Register what writes nodes of some kinds that are no operators of the table."""
    return _HANDLERS.of(*kinds)


def _is_fact(entry: Operator) -> bool:
    """Whether what an operator says of a tensor is the same in each run."""
    return entry.of_form or entry.of_layout or entry.asks_if_lazy or entry.name in _UNRECORDED


_UNRECORDED: Final = ("prim::requires_grad", "aten::is_leaf")
"""What says of gradients: a program keeps no history."""


def _is_of_list(entry: Operator) -> bool:
    """Whether it works on a list, whatever that holds."""
    arguments = entry.signature.arguments
    element = arguments[0].type.list_of if arguments else None
    return element is not None and element.variable is not None


def program_of(
    graph: Graph,
    owner: ScriptObject,
    examples: Sequence[Any],
    names: Sequence[str],
    others: Sequence[object],
    pool: Pool,
) -> Program:
    """The program of an object's method without calls, for arguments like the examples, which are
    arrays; the `others` come after them and are known.  What may be shared goes into the `pool`.

    Raises:
        CannotCompile: an operator, a type or a value has no form ahead of time.
    """
    inputs = [Buffer(n, a.dtype.char, a.shape) for n, a in zip(names, examples, strict=True)]
    walk = _Walk(inputs, pool)
    own, *given = graph.inputs
    walk.known[own] = owner
    walk.known.update(zip(given[len(examples) :], others, strict=True))
    for number, (value, array) in enumerate(zip(given, examples, strict=False)):
        walk.known[value] = Tensor(np.array(array, order="C"), Place(Input(number)))
    walk.block(graph.block)
    walk.give([walk.known[value] for value in graph.outputs], graph.block.ret)
    return walk.program


class _Walk(Flow):
    def block(self, block: Block) -> None:
        for node in block.nodes:
            self.node(node)

    def node(self, node: Node) -> None:
        handle = _HANDLERS.get(node.kind)
        if handle is not None:
            handle(self, node)
        elif node.signature is not None:
            self.operator(node)
        else:
            raise self.refused(node, "it has no form ahead of time")

    def operator(self, node: Node) -> None:
        assert node.signature is not None
        entry = TABLE.of(node.signature)
        values = self.values(node)
        if any(isinstance(each, Scalar) for each in values) and self._is_of_numbers(
            node, entry, values
        ):
            return
        if entry.full_name == "aten::select.int" and self._at(node, values):
            return
        if _is_of_list(entry):
            self._of_list(node, entry, values)
            return
        tensors = list(tensors_of(values))
        plain = [machine_value(each) for each in values]
        if not tensors and not scalars_of(values):
            self._fold(node, entry, plain)
        elif entry.full_name in _READS or entry.name == "aten::item":
            self._read(node, entry, tensors[0])
        elif _is_fact(entry):
            self.set(node, entry.forward(*plain))
        elif is_random(node):
            raise self.refused(node, "it draws random numbers")
        else:
            self.on_tensors(node, entry, values, plain)

    def _of_list(self, node: Node, entry: Operator, values: Sequence[Known]) -> None:
        """An operator on a list of a known length, with whatever is in it."""
        pairs = zip(values, entry.signature.arguments, strict=True)
        if any(isinstance(v, Scalar) and a.type.variable is None for v, a in pairs):
            raise self.refused(node, "which element of a list it is, only a run knows")
        try:
            result = entry.forward(*values)
        except Exception as error:
            raise self.refused(node, f"it fails for the examples: {error}") from None
        self.set(node, *([result] if node.outputs else []))

    def _fold(self, node: Node, entry: Operator, plain: Sequence[object]) -> None:
        """An operator of what is known: numbers are known, tensors are made anew by each run."""
        if is_random(node):
            raise self.refused(node, "it draws random numbers")
        if not node.outputs:
            raise self.refused(node, "it does something besides computing")
        result = entry.forward(*plain)
        if isinstance(result, np.ndarray):
            self.set(node, self.copied(Tensor(result, self.constant(result))))
        else:
            several: Any = result if len(node.outputs) > 1 else (result,)
            self.set(node, *several)

    def _read(self, node: Node, entry: Operator, tensor: Tensor) -> None:
        if tensor.array.size != 1:
            raise self.refused(node, "it reads a tensor that has not one element")
        example = tensor.array.item()
        kind = _READS.get(entry.full_name) or kind_of_number(example)
        letter = tensor.array.dtype.char
        if letter not in "?bhilqBfd" or not kind:
            raise self.refused(node, f"it reads an element of {tensor.array.dtype}")
        is_cut = kind == "i64" and letter in "fd"
        held = "double" if is_cut else kind
        read = self.scalar(held, as_kind_of_number(held, example))
        self.add(Load(read, self.use(tensor.place), letter))
        self.set(node, self._cut(node, read) if is_cut else read)

    def _cut(self, node: Node, number: Scalar) -> Scalar:
        """An element of a tensor as a whole number, which it must fit."""
        if not -(2.0**63) <= number.example < 2.0**63:
            raise self.refused(node, "the number of the examples does not fit an int")
        made = self.scalar("i64", int(number.example))
        code = self.failure(self._said(node, "the number does not fit an int"))
        self.add(Compute(made, self.pool.scalars.of_kinds(CUT, "double"), (number,), code))
        return made

    def _said(self, node: Node, what: str) -> str:
        """The text of a failure at a node."""
        return f"{self.named(node)}: {what}"

    def _is_of_numbers(self, node: Node, entry: Operator, values: Sequence[Known]) -> bool:
        function = self.pool.scalars.of_operator(entry, values)
        if function is None:
            return False
        try:
            result = entry.forward(*(machine_value(each) for each in values))
        except Exception as error:
            raise self.refused(node, f"it fails for the examples: {error}") from None
        kind = function.kind.llvm
        made = self.scalar(kind, as_kind_of_number(kind, result))
        code = self.failure(self._said(node, "it fails for these numbers")) if function.fails else 0
        given = tuple(each for each in values if each is not None)
        self.add(Compute(made, function, given, code))
        self.set(node, made)
        return True

    def _at(self, node: Node, values: Sequence[Known]) -> bool:
        """A part of a tensor at a place that only a run knows."""
        index = values[-1]
        if not isinstance(index, Scalar) or not isinstance(values[0], Tensor):
            return False
        tensor, dim = values[0], values[1] % max(1, values[0].array.ndim)
        size, stride = tensor.array.shape[dim], tensor.array.strides[dim]
        checked = self.scalar("i64", index.example)
        code = self.failure(self._said(node, "the index is out of range"))
        function = self.pool.scalars.of_kinds(PLACE, "i64", "i64")
        self.add(Compute(checked, function, (index, size), code))
        array = np.take(tensor.array, 0, dim) if not size else tensor.array
        part = array[(slice(None),) * dim + (index.example % size,)]
        self.set(node, Tensor(part, tensor.place.indexed(checked, stride)))
        return True

    def on_tensors(
        self, node: Node, entry: Operator, values: Sequence[Known], plain: Sequence[object]
    ) -> None:
        if entry.signature.is_mutable:
            self._write(node, entry, values, plain)
            return
        if trained(node):
            raise self.refused(node, "it writes statistics, because it trains")
        try:
            result = entry.forward(*plain)
        except Exception as error:
            raise self.refused(node, f"it fails for the examples: {error}") from None
        parts = result if isinstance(result, (tuple, list)) else (result,)
        if all(isinstance(each, np.ndarray) or each is None for each in parts):
            views = [self._view(each, values) for each in parts]
            if all(view is not None for view in views):
                found: Known = list(views) if isinstance(result, list) else tuple(views)
                is_many = isinstance(result, tuple) and len(node.outputs) > 1
                if is_many:
                    self.set(node, *views)
                else:
                    self.set(node, found if isinstance(result, (tuple, list)) else views[0])
                return
            self._run(node, entry, values, plain)
            return
        raise self.refused(node, "it gives Python something that only a run knows")

    def _view(self, result: Array | None, values: Sequence[Known]) -> Tensor | None:
        """A result that is a part of an operand's memory."""
        if result is None:
            return None
        for tensor in tensors_of(values):
            if result is tensor.array:
                return tensor
            if result.size and np.may_share_memory(result, tensor.array):
                step = result.ctypes.data - tensor.array.ctypes.data
                return Tensor(result, tensor.place.moved(step))
        return None

    def _write(
        self, node: Node, entry: Operator, values: Sequence[Known], plain: Sequence[object]
    ) -> None:
        target = values[0]
        if not entry.is_in_place or not isinstance(target, Tensor):
            raise self.refused(node, "it writes something else than its first argument")
        if isinstance(target.place.base, (Constant, Input)):
            what = "a weight" if isinstance(target.place.base, Constant) else "an argument"
            raise self.refused(node, f"it writes {what}")
        for other in tensors_of(values[1:]):
            same = other.place == target.place and other.array.strides == target.array.strides
            if not same and np.shares_memory(other.array, target.array):
                raise self.refused(node, "it reads memory that it writes")
        self._run(node, entry, values, plain)

    def _run(
        self, node: Node, entry: Operator, values: Sequence[Known], plain: Sequence[object]
    ) -> None:
        """Calls of kernels."""
        arguments = of_listed(entry, values)
        free = [place for place, each in enumerate(arguments) if isinstance(each, Scalar)]
        if len(free) < len(scalars_of(values)):
            raise self.refused(node, "a list has numbers that only a run knows")
        known = known_call(entry, plain, free)
        if isinstance(known, str):
            other = None if free else replacement(entry, plain)
            if other is None and self._run_dense(node, entry, values):
                return
            if other is None:
                raise self.refused(node, known)
            self._inline(node, other, dict(zip(other.inputs, tensors_of(values), strict=True)))
            return
        made = [Place(self.slot(size)) for size in known.sizes]
        for run in known.runs:
            words = tuple(self._word(node, word, arguments, made) for word in run.words)
            self.add(Call(self.kernel(run.kernel), run.pieces, words))
            for word in words:
                if isinstance(word, Place):
                    self.use(word)
        if entry.is_in_place:
            entry.forward(*plain)
            self.set(node, values[0])
            return
        results = known.result if isinstance(known.result, tuple) else (known.result,)
        tensors = [Tensor(a, made[at]) for a, at in zip(results, known.back, strict=True)]
        self.set(node, *tensors)

    def _run_dense(self, node: Node, entry: Operator, values: Sequence[Known]) -> bool:
        """Calls of kernels on copies of operands that do not lie in order; whether there are."""
        if entry.is_in_place:
            return False
        loose = [each for each in tensors_of(values) if not each.array.flags.c_contiguous]
        copies = {id(each): self.dense(node, each) for each in loose}
        if not copies or any(isinstance(each, (list, tuple)) for each in values):
            return False
        dense = [copies.get(id(each), each) for each in values]
        self._run(node, entry, dense, [machine_value(each) for each in dense])
        return True

    def _inline(self, node: Node, graph: Graph, inner: dict[Value, Known]) -> None:
        """Another graph in the place of a node."""
        self.known.update(inner)
        try:
            self.block(graph.block)
        except CannotCompile as error:
            raise self.refused(node, f"a part of it: {error}") from None
        result = self.known[graph.outputs[0]]
        self.set(node, *(result if len(node.outputs) > 1 else (result,)))

    def _word(
        self, node: Node, word: tuple[str, Any], arguments: list[Known], made: list[Place]
    ) -> Word:
        kind, what = word
        number: int
        offset: int
        if kind == "number":
            return int(what)
        if kind == "constant":
            return self.constant(what)
        if kind == "made":
            number, offset = what
            return made[number].moved(offset)
        if kind == "argument":
            number, offset = what
            place: Place = arguments[number].place
            return self.use(place).moved(offset)
        if kind == "own":
            value: Scalar | float = arguments[what]
            return value if isinstance(value, Scalar) else as_word(value)
        zero = Place(self.slot(8))
        code = self.failure(self._said(node, "an argument is wrong")) if kind == "flag" else 0
        return Zeroed(self.use(zero), code)

    def kernel(self, address: int) -> Kernel:
        """A kernel by its address."""
        kernels = self.pool.kernels
        if address not in kernels:
            kernels[address] = Kernel(*objects.made_at(address))
        return kernels[address]

    # ------------------------------------------------------------------ control flow

    def constant_node(self, node: Node) -> None:
        """`prim::Constant`."""
        value = node.attributes.get("value")
        self.known[node.output] = self._constant(value)

    def attribute(self, node: Node) -> None:
        """`prim::GetAttr`: attributes are what they are when the program is compiled."""
        holder = self.known[node.inputs[0]]
        name = str(node.attributes["name"])
        value = holder.slots[holder.cls.slot(name)]
        array = getattr(value, "_array", None)
        self.known[node.output] = self._constant(value if array is None else array)

    def _constant(self, value: object) -> Known:
        if isinstance(value, np.ndarray):
            weights = self.pool.weights
            if id(value) not in weights:
                dense = np.ascontiguousarray(value).reshape(value.shape)
                if value.dtype.names is not None or value.dtype.char not in "?bhilqBefdFD":
                    raise CannotCompile(f"a constant of {value.dtype} cannot be compiled")
                weights[id(value)] = value, Tensor(dense, self.constant(dense))
            return weights[id(value)][1]
        if isinstance(value, (list, tuple)):
            return type(value)(self._constant(each) for each in value)
        return value

    def give(self, results: Sequence[Known], node: Node) -> None:
        """Copy the results into the buffers for them."""
        flat = flattened(results)
        for number, result in enumerate(flat):
            if isinstance(result, (Scalar, bool, int, float)):
                result = self._as_tensor(result)
            if not isinstance(result, Tensor):
                kind = type(result).__name__
                raise CannotCompile(f"a {kind} among the results cannot be compiled")
            dense = self.dense(node, result)
            array = dense.array
            name = "result" if len(flat) == 1 else f"result_{number}"
            self.program.outputs.append(Buffer(name, array.dtype.char, array.shape))
            self.add(Copy(Place(Output(number)), self.use(dense.place), array.nbytes))

    def _as_tensor(self, value: Known) -> Tensor:
        kind = value.kind if isinstance(value, Scalar) else kind_of_number(value)
        example = value.example if isinstance(value, Scalar) else value
        array = np.array(example, {"i1": "?", "i64": "l", "double": "d"}[kind])
        place = Place(self.slot(8))
        self.add(Store(self.use(place), kind, self.as_kind(value, kind)))
        return Tensor(array, place)


@_handles("prim::ListConstruct")
def _make_list(walk: _Walk, node: Node) -> None:
    walk.set(node, walk.values(node))


@_handles("prim::TupleConstruct")
def _make_tuple(walk: _Walk, node: Node) -> None:
    walk.set(node, tuple(walk.values(node)))


@_handles("prim::TupleUnpack", "prim::ListUnpack")
def _unpack(walk: _Walk, node: Node) -> None:
    (whole,) = walk.values(node)
    if len(whole) != len(node.outputs):
        raise walk.refused(node, "the list has another length")
    walk.set(node, *whole)


@_handles("prim::TupleIndex")
def _part(walk: _Walk, node: Node) -> None:
    whole, place = walk.values(node)
    walk.set(node, whole[place])


@_handles("prim::unchecked_cast", "prim::NumToTensor")
def _same(walk: _Walk, node: Node) -> None:
    walk.set(node, walk.known[node.inputs[0]])


@_handles("prim::Uninitialized")
def _nothing(walk: _Walk, node: Node) -> None:
    walk.set(node, *[None] * len(node.outputs))


@_handles("aten::__is__", "aten::__isnot__")
def _identity(walk: _Walk, node: Node) -> None:
    one, other = (getattr(each, "array", each) for each in walk.values(node))
    walk.set(node, (one is other) is (node.kind == "aten::__is__"))


_HANDLERS.update(
    {
        "prim::Constant": _Walk.constant_node,
        "prim::GetAttr": _Walk.attribute,
        "prim::If": _Walk.choose,
        "prim::Loop": _Walk.repeat,
        "prim::RaiseException": _Walk.fail,
    }
)
