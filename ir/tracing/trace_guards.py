"""What Python decides while a trace is made, as checks in its graph.

Where Python reads a value or a size off a tensor of the trace, what was read is compared:

%read : int = aten::Int(%tensor)
%same : bool = aten::eq(%read, %what_was_read)
 = prim::If(%same)
  block0():
    -> ()
  block1():
     = prim::RaiseException(%message, %class)
    -> ()

A truth value is its own condition; if it was false, the blocks change places.
"""

from __future__ import annotations

import linecache
import math
import sys
from collections.abc import Sequence
from types import FrameType
from typing import Any, Final

import numpy as np

from ...frontend.foundations.loaded_names import loaded_name
from ...ops.memory.dtype import Array, dtype_of
from ...ops.tensors.tensor import Tensor
from ...typecheck.types.types import BOOL, FLOAT, INT, STRING, TENSOR, ListType, Type
from ..graphs.graph import Block, Node, Value
from .trace_writer import Writer

__all__ = ["MARK", "Guards", "raise_exception"]

MARK: Final = "trace guard: "
"""How the messages of all guards begin."""

_PACKAGE: Final = __name__.partition(".")[0] + "."
_ABOUT_TENSORS: Final = tuple(_PACKAGE + part for part in ("ops.", "ir.", "jit."))
_NUMBERS: Final[dict[str, Type]] = {"int": INT, "index": INT, "float": FLOAT, "bool": BOOL}
_OF_KIND: Final[dict[str, Type]] = {"b": BOOL, "u": INT, "i": INT, "f": FLOAT}
_READERS: Final[dict[Type, str]] = {
    BOOL: "aten::Bool.Tensor",
    INT: "aten::Int.Tensor",
    FLOAT: "aten::Float.Tensor",
}
_EQUALS: Final[dict[Type, str]] = {
    INT: "aten::eq.int",
    FLOAT: "aten::eq.float",
    STRING: "aten::eq.str",
}


class Guards:
    """Writes the checks of one tracer."""

    def __init__(self, tracer: Writer) -> None:
        self.tracer = tracer
        self._ranked: set[Value] = set()
        self._typed: set[Value] = set()

    # ------------------------------------------------------------------ what is read

    def on_reading(self, tensor: Tensor, how: str) -> None:
        """Python reads a tensor in one of the ways that are named in `READINGS`.

        Raises:
            NotImplementedError: elements are read of a kind that cannot be compared.
        """
        if not self.tracer.knows(tensor) or how == "rounds":  # a list of parts is guarded as such
            return
        array = tensor._array
        if how in ("rank", "dtype"):
            if not self._is_asked_inside():
                ask = self.on_rank if how == "rank" else self._on_dtype
                ask(tensor)
            return
        self.tracer.settle()
        value = self.tracer.value_of(tensor)
        if how == "length":
            at = self.tracer.constant(0, INT)
            size = self._call("aten::size.int", [value, at], INT)
            self.on_value(size, array.shape[0], INT, "the size")
            return
        if how in ("item", "list", "array", "complex"):  # which give what the dtype says
            self._on_dtype(tensor)
        kind = _OF_KIND.get(_kind(array)) if how == "item" else _NUMBERS.get(how)
        if kind is None or array.size != 1:
            self._on_elements(value, array)
            return
        read = self._call(_READERS[kind], [value], kind)
        found = array.item()
        self.on_value(read, int(found) if kind == INT else found, kind, "the value")

    def on_rank(self, tensor: Tensor) -> None:
        """Python learns how many dimensions there are."""
        if not self.tracer.knows(tensor):
            return
        value = self.tracer.value_of(tensor)
        if value not in self._ranked:
            self._ranked.add(value)
            rank = self._call("aten::dim", [value], INT)
            self.on_value(rank, tensor._array.ndim, INT, "the number of dimensions")

    def _on_dtype(self, tensor: Tensor) -> None:
        value = self.tracer.value_of(tensor)
        if value not in self._typed:
            self._typed.add(value)
            number, dtype = self._call("prim::dtype", [value], INT), dtype_of(tensor._array)
            self.on_value(number, dtype.number, INT, f"the dtype {dtype}, whose number is")

    def on_list(self, parts: Value, count: int) -> None:
        """An operator gives Python a list of tensors."""
        length = self._call("aten::len.t", [parts], INT)
        self.on_value(length, count, INT, "a list of the length")

    def on_result(self, node: Node, result: object) -> None:
        """An operator gives Python something that is no tensor."""
        kind = node.outputs[0].type
        if kind in _EQUALS or kind in (BOOL, ListType(INT)):
            self.on_value(node.output, result, kind, "the result")

    # ------------------------------------------------------------------ the checks

    def on_value(self, read: Value, found: Any, kind: Type, what: str) -> None:
        """What Python reads is `found`, and shall be so whenever the trace runs."""
        if kind == BOOL:
            self._check(read, bool(found), f"{what} {bool(found)}")
            return
        found = float(found) if kind == FLOAT else found
        if isinstance(found, float) and math.isnan(found):
            missing = self._call("aten::isnan.float", [read], BOOL)
            self._check(missing, True, f"{what} nan")
            return
        found = list(found) if kind.list_of is not None else found
        wanted = self.tracer.constant(found, kind)
        overload = "aten::eq.int_list" if kind.list_of is not None else _EQUALS[kind]
        same = self._call(overload, [read, wanted], BOOL)
        self._check(same, True, f"{what} {found!r}")

    def _on_elements(self, value: Value, array: Array) -> None:
        if type(array) is not np.ndarray or array.dtype.names is not None:
            raise NotImplementedError(
                f"{self._where()}: trace(guards=...) cannot compare elements that are quantized, "
                "sparse or nested, and Python reads such"
            )
        if array.dtype.kind in "fc":  # where nan is told from nan
            missing = array != array
            of_value = self._call("aten::isnan", [value], TENSOR)
            self._equal(of_value, missing)
            zero = self.tracer.constant(0, INT)
            value = self._call("aten::masked_fill.Scalar", [value, of_value, zero], TENSOR)
            array = np.where(missing, array.dtype.type(0), array)
        self._equal(value, array)

    def _equal(self, value: Value, array: Array) -> None:
        wanted = self.tracer.constant(array.copy("K"), TENSOR)
        same = self._call("aten::equal", [value, wanted], BOOL)
        self._check(same, True, "the elements")

    def _check(self, condition: Value, expected: bool, read: str) -> None:
        text = f"{MARK}{self._where()}: the traced run read {read}; this input gives something else"
        node = self.tracer.insert("prim::If", [condition], [], placed=True)
        blocks = node.add_block(), node.add_block()
        raising = blocks[1 if expected else 0]
        raise_exception(raising, text, node)

    def _call(self, overload: str, inputs: Sequence[Value], kind: Type) -> Value:
        return self.tracer.apply(overload, inputs, kind)

    # ------------------------------------------------------------------ where Python stands

    @staticmethod
    def _is_asked_inside() -> bool:
        """Whether it is the library's operators that ask, not those who call them."""
        frame: FrameType | None = sys._getframe(2)
        own = (__name__, *(_PACKAGE + name for name in _FILES))
        while frame is not None and loaded_name(frame.f_globals) in own:
            frame = frame.f_back
        return frame is None or loaded_name(frame.f_globals).startswith(_ABOUT_TENSORS)

    @staticmethod
    def _where() -> str:
        """File, line, function and text of the innermost line that is not this library's."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and loaded_name(frame.f_globals).startswith(_PACKAGE):
            frame = frame.f_back
        if frame is None:
            return "<unknown>"
        name, line = frame.f_code.co_filename, frame.f_lineno
        text = linecache.getline(name, line, frame.f_globals).strip()
        return f"{name}:{line}, in {frame.f_code.co_name}" + (f": `{text}`" if text else "")


_FILES: Final = ("ir.tracing.tracing", "ops.tensors.tensor", "ops.tensors.tracing")


def _kind(array: Array) -> str:
    kind: str = array.dtype.kind
    return "f" if kind == "V" and array.dtype.names is None else kind  # bfloat16 and such


def raise_exception(block: Block, text: str, at: Node) -> None:
    """End a block by a RuntimeError that says `text`."""
    graph = block.graph
    values = []
    for value in (text, "builtins.RuntimeError"):
        constant = block.append(graph.create("prim::Constant", (), [STRING], at.span))
        constant.attributes["value"] = value
        values.append(constant.output)
    block.append(graph.create("prim::RaiseException", values, (), at.span))
