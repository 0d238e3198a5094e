"""What a tracer writes down: operators on tensors it knows, as nodes of a graph.

Tensors are known by their arrays.  A tensor that the trace does not know becomes a constant; a
number that came from a tensor is read from it where it is used (`aten::Int`).  Calls of modules are
`prim::TracedModuleForward` nodes with the module's operators in their block, parameters are
`prim::TracedAttr` nodes; `passes/trace_scopes.py` makes calls and attributes of them.
"""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final

import numpy as np

from ...frontend.foundations.loaded_names import loaded_name
from ...frontend.sources.source import UNKNOWN, Source, Span
from ...ops.eager.dispatch import eager_function
from ...ops.memory.dtype import Device
from ...ops.python_values.display_aten import format_tensor
from ...ops.quantized_tensors.packed_weights import PackedWeights
from ...ops.table.table import Operator
from ...ops.tensors.tensor import Tensor
from ...ops.tensors.tracing import READINGS, TracedFloat, TracedInt
from ...typecheck.definitions.class_types import FunctionType
from ...typecheck.definitions.functions import Function
from ...typecheck.definitions.schema import Signature
from ...typecheck.types.tensor_facts import RefinedTensor
from ...typecheck.types.types import (
    FLOAT,
    INT,
    NONE,
    STRING,
    TENSOR,
    ListType,
    TupleType,
    Type,
)
from ..graphs.constants import create_constant
from ..graphs.graph import Graph, Node, Value
from ..graphs.tensor_types import type_of_array
from .trace_arguments import IN_PARTS, plain_constant, recorded, repeated, signature_named
from .trace_guards import Guards
from .trace_items import get_item, note_made, set_item
from .trace_outplace import not_in_place, warn_of_views
from .trace_scope_names import Scopes

__all__ = ["GraphTracer", "TracerWarning"]

_CONSTANT: Final = (
    ". You can safely ignore this warning if you use this function to create tensors out of "
    "constant variables that would be the same every time you call this function. In any other "
    "case, this might cause the trace to be incorrect."
)
_SIZE: Final = RefinedTensor(scalar="Long", sizes=(), strides=(), device="cpu")
_INSIDE: Final = (
    *("rushlight.ops.", "rushlight.ir.", "rushlight.jit.", "rushlight.frontend."),
    "rushlight.autograd.function",
)


class TracerWarning(Warning):
    """A trace may not show what the program does for other inputs."""

    @staticmethod
    def ignore_lib_warnings() -> None:
        """Ignores such warnings about lines of the library itself, outside `jit`."""
        inside = rf"(torch|{__name__.partition('.')[0]})\.(?!jit)"  # torch, standing in
        warnings.filterwarnings("ignore", category=TracerWarning, module=inside)


class GraphTracer(Scopes):
    """Writes what happens in this thread into a graph, until it is taken out of `ACTIVE`."""

    def __init__(self, strict: bool = True) -> None:
        super().__init__()
        self.thread = threading.get_ident()
        self.paused = 0
        self.strict = strict
        self.warns = True
        self.guards: Guards | None = None
        self.is_outplace = False  # whether operators in place are written as those that are not
        self.writes_views = False  # whether, even so, they are written as they are
        self.graph = Graph()
        self.known: dict[int, Value] = {}
        self.paths: dict[int, str] = {}
        self._kept: list[object] = []
        self._waiting: list[tuple[Value, Tensor]] = []

    # ------------------------------------------------------------------ values

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Write nothing for a while."""
        self.paused += 1
        try:
            yield
        finally:
            self.paused -= 1

    def knows(self, tensor: Tensor) -> bool:
        """Whether a tensor is an input or a result of what was recorded."""
        return id(tensor._array) in self.known

    def learn(self, tensor: Tensor, value: Value) -> None:
        """From now on, `value` stands for a tensor."""
        self._kept += (tensor, tensor._array)
        self.known[id(tensor._array)] = value

    def learn_result(self, tensor: Tensor, value: Value) -> None:
        self.learn(tensor, value)
        value.type = type_of_array(tensor._array)
        self._waiting.append((value, tensor))

    def settle(self) -> None:
        """Complete the types of results: whether they require gradients is known only later."""
        for value, tensor in self._waiting:
            if tensor.requires_grad:
                value.type = type_of_array(tensor._array, True)
        self._waiting.clear()

    def value_of(self, tensor: Tensor, span: Span | None = None) -> Value:
        """The value of a tensor; a constant if the trace does not know it.

        Raises:
            RuntimeError: it is not known and requires gradients.
        """
        found = self.known.get(id(tensor._array))
        if found is None:
            self.refuse_gradients(tensor)
            made = self.constant(tensor._array, TENSOR, span)
            self.learn(tensor, made)
            return made
        if found.name is None:
            found.name = self._name_of(tensor)
        return found

    @staticmethod
    def refuse_gradients(tensor: Tensor) -> None:
        """What no trace knows can only be a constant.

        Raises:
            RuntimeError: it requires gradients.
        """
        if tensor.requires_grad:
            raise RuntimeError(
                "Cannot insert a Tensor that requires grad as a constant. Consider making it a "
                "parameter or input, or detaching the gradient\nTensor:\n"
                + format_tensor(tensor._array, recorded=True)
            )

    def constant(self, value: object, type: Type, span: Span | None = None) -> Value:
        """A new constant; torch notes no place for None."""
        span = UNKNOWN if value is None else span
        if isinstance(value, np.ndarray):
            type = type_of_array(value)
            if not value.flags.writeable or value.base is not None:
                value = value.copy("K")
        node = create_constant(self.graph, value, type, span or self.place())
        node.scope = self.scope
        return self.graph.insert(node).output

    def insert(
        self, kind: str, inputs: Sequence[Value], outputs: Sequence[Type], placed: bool = False
    ) -> Node:
        """A new node; `placed` says that it tells where the program stood."""
        node = self.graph.create(kind, inputs, outputs)
        if placed:
            node.span = self.place()
        node.scope = self.scope
        return self.graph.insert(node)

    def apply(
        self, full_name: str, inputs: Sequence[Value], type: Type | None = None, placed: bool = True
    ) -> Value:
        """The result of a new node for an operator's overload, by its full name."""
        signature = signature_named(full_name)
        returned = signature.returns[0].type if type is None else type
        node = self.insert(signature.name, inputs, [returned], placed)
        node.signature = signature
        return node.output

    # ------------------------------------------------------------------ where the program stands

    @staticmethod
    def _frame() -> FrameType:
        """The innermost frame that is not the tracer's or the operators' own."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and loaded_name(frame.f_globals).startswith(_INSIDE):
            frame = frame.f_back
        return frame or sys._getframe(1)

    def place(self) -> Span:
        """Where the program stands."""
        frame = self._frame()
        code = frame.f_code
        text = f"{code.co_filename}({frame.f_lineno}): {code.co_name}\n"
        return Span(Source(text, code.co_filename, frame.f_lineno), 0, len(text))

    def _name_of(self, tensor: Tensor) -> str | None:
        """The local variable of the traced program that holds a tensor."""
        frame = self._frame()
        inner: FrameType | None = sys._getframe(1)
        while inner is not None and inner is not frame:
            if loaded_name(inner.f_globals) == "rushlight.jit.trace":
                return None  # the program is behind: an operator itself is traced
            inner = inner.f_back
        for name, value in frame.f_locals.items():
            if value is tensor:
                return name if name != "self" and name.isidentifier() else None
        return None

    def path_of(self, module: object) -> str | None:
        """The path of a module whose call becomes a call in the graph."""
        return self.paths.get(id(module))

    def enter_module(self, path: str) -> None:
        """The call of a module begins."""
        node = self.insert("prim::TracedModuleForward", (), ())
        self.scopes.append(path)
        node.scope = self.scope
        node.attributes["scope"] = path
        self.graph.insertion = node.add_block().ret

    def leave_module(self) -> None:
        """It ends."""
        self.scopes.pop()
        block = self.graph.insertion.owner
        assert block is not None
        assert block.node is not None
        self.graph.insertion = block.node.next

    # ------------------------------------------------------------------ operators

    def record(
        self, entry: Operator, values: Sequence[object], result: object, handles: Sequence[object]
    ) -> Any:
        """Write down an operator that was run."""
        self.settle()
        if entry.name == "aten::numel" and isinstance(handles[0], Tensor):
            return self.count_of(handles[0])
        if not any(_is_of_tensors(r.type) for r in entry.signature.returns):
            if self.guards is not None and self._is_about_known(handles):
                self._guard_result(self.guards, entry, values, result, handles)
            if entry.effects and not entry.signature.returns:
                self._called(entry.signature, values, handles)
            return result
        replay = IN_PARTS.get(entry.name)
        if replay is not None:
            self._replay(replay(*handles), result)
            return result
        written = entry
        if self.is_outplace:
            warn_of_views(self, entry, handles)
            if not self.writes_views:
                written, values = not_in_place(entry, values)
        signature, values, kept = recorded(written, values)
        node = self._called(signature, values, handles)
        self._results(node, result, entry, keeps_gradient=kept)
        return result

    def _called(
        self, signature: Signature, values: Sequence[object], handles: Sequence[object]
    ) -> Node:
        """A new node that calls an operator; it has no outputs yet."""
        span = self.place()
        tensors: dict[int, Tensor] = {}
        _collect(handles, tensors)
        inputs = [
            self._argument(repeated(v, a), a.type, tensors, span)
            for v, a in zip(values, signature.arguments, strict=True)
        ]
        node = self.graph.create(signature.name, inputs, (), span, signature)
        node.scope = self.scope
        return self.graph.insert(node)

    def _is_about_known(self, handles: Sequence[object]) -> bool:
        tensors: dict[int, Tensor] = {}
        _collect(handles, tensors)
        return any(map(self.knows, tensors.values()))

    def _guard_result(
        self,
        guards: Guards,
        entry: Operator,
        values: Sequence[object],
        result: object,
        handles: Sequence[object],
    ) -> None:
        if entry.name == "aten::dim" and isinstance(handles[0], Tensor):
            guards.on_rank(handles[0])
            return
        node = self._called(entry.signature, values, handles)
        for each in entry.signature.returns:
            node.add_output(each.type)
        if len(node.outputs) == 1:
            guards.on_result(node, result)

    def _replay(self, parts: object, result: object) -> None:
        """Let the results of an operator stand for those of other operators."""
        of_parts = parts if isinstance(parts, tuple) else (parts,)
        of_whole = result if isinstance(result, tuple) else (result,)
        for part, whole in zip(of_parts, of_whole, strict=True):
            self.learn(whole, self.known[id(part._array)])

    def _results(self, node: Node, result: Any, entry: Operator, keeps_gradient: bool) -> None:
        several = len(entry.signature.returns) > 1
        for each in result if several else (result,):
            value = node.add_output()
            if isinstance(each, Tensor):
                self.learn_result(each, value)
                if not keeps_gradient:
                    self._waiting.pop()
            else:
                value.type = ListType(TENSOR)
                if self.guards is not None and _makes_list(node.signature):
                    self.guards.on_list(value, len(each))
                unpacked = self.insert("prim::ListUnpack", [value], [TENSOR] * len(each))
                for tensor, one in zip(each, unpacked.outputs, strict=True):
                    self.learn_result(tensor, one)

    def _argument(self, value: object, type: Type, tensors: dict[int, Tensor], span: Span) -> Value:
        if isinstance(value, np.ndarray):
            tensor = tensors.get(id(value))
            return self.value_of(Tensor._of(value) if tensor is None else tensor, span)
        if value is None:
            return self.constant(None, NONE, span)
        if isinstance(value, PackedWeights) and id(value) in self.known:
            return self.known[id(value)]
        type = type.inner
        if isinstance(value, (TracedInt, TracedFloat)):
            read: Value = value.value
            return read
        if isinstance(value, (list, tuple)):
            element = type.list_of or _type_of_number(value)
            parts = [self._argument(v, element, tensors, span) for v in value]
            return self.insert("prim::ListConstruct", parts, [ListType(element)]).output
        return self.constant(*plain_constant(value, type), span)

    def number_from(self, tensor: Tensor, number: Any, full_name: str) -> object:
        """A number for an operator, which is read from its tensor right behind that."""
        if not self.knows(tensor):
            return number
        value = self.value_of(tensor)
        traced = TracedInt(number) if isinstance(number, int) else TracedFloat(number)
        with self.graph.inserting_before(value.node.next):
            traced.value = self.apply(full_name, [value], placed=False)
        return traced

    def operator(self, name: str, *args: object) -> Any:
        """Call an operator by name."""
        return eager_function(name)(*args)

    def get_item(self, tensor: Tensor, key: object) -> object:
        """`tensor[key]`."""
        return get_item(tensor, key)

    def set_item(self, tensor: Tensor, key: object, value: object) -> None:
        """`tensor[key] = value`."""
        set_item(tensor, key, value)

    # ------------------------------------------------------------------ sizes

    def size_of(self, tensor: Tensor, dim: int) -> Tensor:
        """A size, as a tensor that the trace knows."""
        self.settle()
        value = self.value_of(tensor)
        at = self.constant(dim, INT)
        return self._as_tensor(self.apply("aten::size.int", [value, at]), tensor._array.shape[dim])

    def count_of(self, tensor: Tensor) -> Tensor:
        """The number of elements, as a tensor that the trace knows."""
        self.settle()
        value = self.value_of(tensor)
        return self._as_tensor(self.apply("aten::numel", [value]), tensor._array.size)

    def made(self, tensor: Tensor, maker: str = "", through: Sequence[str] = ("to",)) -> None:
        """A tensor was made `through` operators of data, or, if through none, of sizes alone."""
        if maker:
            self.warn(f"{maker} results are registered as constants in the trace{_CONSTANT}")
        note_made(self, tensor, through)

    def _as_tensor(self, value: Value, number: int) -> Tensor:
        made = Tensor._of(np.asarray(number, np.int64))
        self.learn(made, self.apply("prim::NumToTensor.Scalar", [value], _SIZE, False))
        return made

    # ------------------------------------------------------------------ warnings

    def decided(self, tensor: Tensor, how: str) -> None:
        """Python reads a value or a size: a guard, or a warning."""
        if self.guards is not None:
            self.guards.on_reading(tensor, how)
        elif (text := READINGS[how]) is not None:
            self.warn(text)

    def read_sizes(self, tensor: Tensor) -> None:
        """Python reads all sizes, and with them how many there are."""
        if self.guards is not None:
            self.guards.on_rank(tensor)

    def warn(self, text: str) -> None:
        """Say that something cannot be shown; code of this package is not reproached."""
        frame = self._frame()
        name = loaded_name(frame.f_globals)
        if not self.warns or (name.startswith("rushlight.") and ".jit" not in name):
            return
        once = frame.f_globals.setdefault("__warningregistry__", {})  # a place warns once
        file, line = frame.f_code.co_filename, frame.f_lineno
        warnings.warn_explicit(text, TracerWarning, file, line, name, once)

    # ------------------------------------------------------------------ calls

    def call(
        self,
        callee: Function,
        target: Value | None,
        args: Sequence[tuple[object, Type]],
        returns: Type,
    ) -> Value:
        """A call of compiled code, with constants for the arguments the trace does not know."""
        self.settle()
        inputs = [self.any_value(value, type) for value, type in args]
        if target is not None:
            node = self.insert("prim::CallMethod", [target, *inputs], [returns])
            node.attributes["name"] = callee.name
            return node.output
        constant = self.insert("prim::Constant", (), [FunctionType(callee)])
        constant.attributes["name"] = callee.name
        inputs = [constant.output, *inputs]
        return self.insert("prim::CallFunction", inputs, [returns]).output

    def any_value(self, value: object, type: Type) -> Value:
        """The value of an argument of compiled code."""
        if isinstance(value, Tensor):
            return self.value_of(value)
        if isinstance(value, tuple):
            types = type.inner.tuple_of or (TENSOR,) * len(value)
            parts = [self.any_value(v, t) for v, t in zip(value, types, strict=True)]
            made = TupleType(tuple(part.type for part in parts))
            return self.insert("prim::TupleConstruct", parts, [made]).output
        type = type.inner
        if isinstance(value, list) and (element := type.list_of) is not None:
            if value and all(isinstance(v, (bool, int, float, str)) for v in value):
                return self.constant(value, type)
            parts = [self.any_value(v, element) for v in value]
            return self.insert("prim::ListConstruct", parts, [type]).output
        if isinstance(value, dict) and (entry := type.dict_of) is not None:
            pairs = [
                self.any_value(part, wanted)
                for item in value.items()
                for part, wanted in zip(item, entry, strict=True)
            ]
            return self.insert("prim::DictConstruct", pairs, [type]).output
        if value is None:
            return self.constant(None, NONE)
        known = self.known.get(id(value))
        if known is not None:
            return known
        if not isinstance(value, (bool, int, float, str, Device)):
            raise RuntimeError(
                f"Tracer cannot get value trace of type {type.annotation_str}. The below value "
                f"could not be materialized as a constant:\n{value!r}"
            )
        return self.constant(*plain_constant(value, type))

    # ------------------------------------------------------------------ inputs and outputs

    def take(self, value: Any, type: Type, into: Value) -> Any:
        """An example for an input; a tensor that is known already is taken as a view of it."""
        into.type = _complete(value, type)
        if isinstance(value, Tensor):
            if self.knows(value):
                value = self._view(value)
            into.type = type_of_array(value._array, value.requires_grad)
            self.learn(value, into)
            return value
        if type.tuple_of is not None:
            node = self.insert("prim::TupleUnpack", [into], list(type.tuple_of))
            parts = zip(value, type.tuple_of, node.outputs, strict=True)
            taken = [self.take(v, t, out) for v, t, out in parts]
            return type_like(value, taken)
        if (entry := type.dict_of) is not None:
            return {
                key: self.take(v, entry[1], self._item(into, key, entry))
                for key, v in value.items()
            }
        if (element := type.list_of) is not None:
            node = self.insert("prim::ListUnpack", [into], [element] * len(value))
            return [self.take(v, element, o) for v, o in zip(value, node.outputs, strict=True)]
        raise RuntimeError(
            "Only tensors or (possibly nested) dict or tuples of tensors can be inputs to traced "
            f"functions. Got {type.annotation_str}"
        )

    def _view(self, tensor: Tensor) -> Tensor:
        """Another tensor of the same memory, for one that is known under another name."""
        shape = tensor._array.shape
        sizes = self.insert(
            "prim::ListConstruct", [self.constant(n, INT) for n in shape], [ListType(INT)]
        ).output
        made = Tensor._of(tensor._array.view(), tensor.requires_grad)
        inputs = [self.known[id(tensor._array)], sizes]
        self.apply("aten::view", inputs, type_of_array(made._array), placed=False)
        return made

    def _item(self, of: Value, key: object, entry: tuple[Type, Type]) -> Value:
        at = self.constant(key, STRING if isinstance(key, str) else INT)
        return self.apply(f"aten::__getitem__.Dict_{entry[0]}", [of, at], entry[1])

    def spread(self, result: object, value: Value) -> None:
        """Take note of the result of a call: of all tensors in it."""
        if isinstance(result, Tensor):
            self.learn(result, value)
            value.type = type_of_array(result._array, result.requires_grad)
        elif isinstance(result, tuple) and (types := value.type.tuple_of) is not None:
            node = self.insert("prim::TupleUnpack", [value], list(types))
            for each, one in zip(result, node.outputs, strict=True):
                self.spread(each, one)
        elif isinstance(result, list) and (element := value.type.list_of) is not None:
            node = self.insert("prim::ListUnpack", [value], [element] * len(result))
            for each, one in zip(result, node.outputs, strict=True):
                self.spread(each, one)
        elif isinstance(result, dict) and (entry := value.type.dict_of) is not None:
            for key, each in result.items():
                self.spread(each, self._item(value, key, entry))
        else:
            kind = _TAGS.get(type(result), type(result).__name__)
            raise RuntimeError(
                f"Tracer cannot set value trace for type {kind}. Supported types are tensor, "
                "tensor list, and tuple of tensors."
            )


# ---------------------------------------------------------------------- on values


def type_like(value: object, parts: Sequence[object]) -> object:
    """A tuple of the same class, named or not."""
    return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)


def _complete(value: Any, type: Type) -> Type:
    """The type of an example, with what is known of tensors in tuples."""
    if isinstance(value, Tensor):
        return type_of_array(value._array, value.requires_grad)
    if type.tuple_of is not None:
        parts = zip(value, type.tuple_of, strict=True)
        return type.with_contained(tuple(_complete(v, t) for v, t in parts))
    return type


def _makes_list(signature: Signature | None) -> bool:
    """Whether the length of an operator's list is not that of a list it was given."""
    return signature is not None and all(a.type.list_of != TENSOR for a in signature.arguments)


def _is_of_tensors(type: Type) -> bool:
    return type == TENSOR or type == ListType(TENSOR)


def _collect(handles: Sequence[object], tensors: dict[int, Tensor]) -> None:
    for handle in handles:
        if isinstance(handle, Tensor):
            tensors[id(handle._array)] = handle
        elif isinstance(handle, (list, tuple)):
            _collect(handle, tensors)


def _type_of_number(values: Sequence[object]) -> Type:
    return FLOAT if any(isinstance(v, float) for v in values) else INT


_TAGS: Final = {bool: "Bool", int: "Int", float: "Double", str: "String", type(None): "None"}
