"""A small operator table and resolver, so that the checker is tested without the real ones."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from rushlight.frontend.diagnostics.diagnostics import Collector, Diagnostic
from rushlight.frontend.sources.source import Span
from rushlight.frontend.syntax.from_text import function_trees
from rushlight.typecheck.calls.forms import known_forms
from rushlight.typecheck.definitions.class_types import ClassType
from rushlight.typecheck.definitions.functions import Function
from rushlight.typecheck.definitions.names import (
    Constant,
    FunctionName,
    Meaning,
    OperatorName,
    SpecialForm,
    TypeName,
)
from rushlight.typecheck.definitions.schema import Signature
from rushlight.typecheck.definitions.schema_text import parse_schema
from rushlight.typecheck.statements.checker import check_function
from rushlight.typecheck.trees.dump import dump
from rushlight.typecheck.types.types import INT, Type

SCHEMAS = """
aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
aten::add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor
aten::add.t(t[] a, t[] b) -> t[]
aten::add.str(str a, str b) -> str
aten::add.int(int a, int b) -> int
aten::add.float(float a, float b) -> float
aten::add.int_float(int a, float b) -> float
aten::add.float_int(float a, int b) -> float
aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)
aten::add_.Scalar(Tensor(a!) self, Scalar other, Scalar alpha=1) -> Tensor(a!)
aten::add_.t(t[](a!) self, t[] b) -> t[]
aten::sub.int(int a, int b) -> int
aten::sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
aten::sub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor
aten::mul.Tensor(Tensor self, Tensor other) -> Tensor
aten::mul.Scalar(Tensor self, Scalar other) -> Tensor
aten::mul.int(int a, int b) -> int
aten::mul.float_int(float a, int b) -> float
aten::neg(Tensor self) -> Tensor
aten::neg.int(int a) -> int
aten::lt.int(int a, int b) -> bool
aten::gt.int(int a, int b) -> bool
aten::gt.Scalar(Tensor self, Scalar other) -> Tensor
aten::eq.int(int a, int b) -> bool
aten::eq.str(str a, str b) -> bool
aten::ne.int(int a, int b) -> bool
aten::__is__(t1 self, t2 obj) -> bool
aten::__isnot__(t1 self, t2 obj) -> bool
aten::__not__(bool self) -> bool
aten::__contains__.int_list(int[] l, int item) -> bool
aten::__contains__.str(Dict(str, t) dict, str key) -> bool
aten::Bool.Tensor(Tensor a) -> bool
aten::Bool.int(int a) -> bool
aten::Int.Tensor(Tensor a) -> int
aten::Int.bool(bool a) -> int
aten::Float.int(int a) -> float
aten::IntImplicit(Tensor a) -> int
aten::FloatImplicit(Tensor a) -> float
aten::str(t elem) -> str
aten::format(str self, ...) -> str
aten::len.Tensor(Tensor t) -> int
aten::len.t(t[] a) -> int
aten::len.str(str s) -> int
aten::len.Dict_str(Dict(str, t) self) -> int
aten::keys.str(Dict(str, t) self) -> str[](*)
aten::append.t(t[](a!) self, t(c -> *) el) -> t[](a!)
aten::__getitem__.t(t[](a) list, int idx) -> t(*)
aten::__getitem__.str(str s, int index) -> str
aten::__getitem__.Dict_str(Dict(str, t) self, str key) -> t(*)
aten::_set_item.t(t[](a!) l, int idx, t(b -> *) el) -> t[](a!)
aten::_set_item.str(Dict(str, t)(a!) l, str(b -> *) idx, t(c -> *) v) -> ()
aten::Delete.t(t[](a!) self, int idx) -> ()
aten::select.int(Tensor(a) self, int dim, int index) -> Tensor(a)
aten::slice.Tensor(Tensor(a) self, int dim=0, int? start=None, int? end=None, int step=1) -> Tensor
aten::slice.t(t[] l, int? start=None, int? end=None, int step=1) -> t[]
aten::unsqueeze(Tensor(a) self, int dim) -> Tensor(a)
aten::index.Tensor(Tensor self, Tensor?[] indices) -> Tensor
aten::copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)
aten::tensor.int(int t, *, ScalarType? dtype=None, Device? device=None) -> Tensor
aten::size.int(Tensor self, int dim) -> int
aten::size(Tensor self) -> int[]
aten::tanh(Tensor self) -> Tensor
aten::cat(Tensor[] tensors, int dim=0) -> Tensor
aten::sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False) -> Tensor
aten::sum(Tensor self) -> Tensor
aten::view(Tensor(a) self, int[] size) -> Tensor(a)
aten::max.dim(Tensor self, int dim) -> (Tensor values, Tensor indices)
prim::dtype(Tensor a) -> int
prim::device(Tensor a) -> Device
prim::min.int(int a, int b) -> int
"""


class SmallTable:
    """An `OperatorTable` of the schemas above."""

    unchosen = ()
    effects = ()

    def __init__(self) -> None:
        self._by_name: dict[str, list[Signature]] = {}
        for line in SCHEMAS.strip().splitlines():
            signature = parse_schema(line)
            self._by_name.setdefault(signature.name, []).append(signature)

    def overloads(self, name: str) -> list[Signature]:
        return self._by_name.get(name, [])

    def names(self) -> list[str]:
        return list(self._by_name)


@cache
def small_table() -> SmallTable:
    return SmallTable()


class Torch:
    """`torch`, as far as the table knows it."""

    title = "torch"

    def member(self, name: str, span: Span) -> Meaning | None:
        if name == "int64":
            return Constant(4, INT)
        known = small_table().overloads(f"aten::{name}")
        return OperatorName(f"aten::{name}") if known else None

    def names(self) -> Iterable[str]:
        return [n.rpartition("::")[2] for n in small_table().names()]


class Names:
    """A resolver: the checker's own forms, `torch`, functions of the program, given types."""

    def __init__(self, types: dict[str, Type] | None = None) -> None:
        self.functions: dict[str, Function] = {}
        self.types = types or {}

    def lookup(self, name: str, span: Span) -> Meaning | None:
        if name in self.functions:
            return FunctionName(self.functions[name])
        if name in self.types:
            return TypeName(self.types[name])
        if name == "torch":
            return Torch()
        return SpecialForm(name) if name in known_forms() else None

    def names(self) -> Iterable[str]:
        return [*self.functions, *self.types, "torch", *known_forms()]


class Checked:
    """A program checked: the last function's typed tree as text, and all diagnostics."""

    def __init__(
        self,
        text: str,
        types: dict[str, Type] | None = None,
        self_type: ClassType | None = None,
    ) -> None:
        collector = Collector()
        names = Names(types)

        def define(function: Function) -> None:
            function.typed = check_function(
                function, names, small_table(), collector, self_type=self_type
            )

        for node in function_trees(text, collector, "program.py"):
            function = Function(node.name, node, define, owner=self_type)
            if self_type is not None:
                self_type.methods[node.name] = function
            else:
                names.functions[node.name] = function
            self.function = function
        self.function.ensure_defined()
        self.found: list[Diagnostic] = collector.found
        self.codes = [d.code for d in self.found]

    @property
    def text(self) -> str:
        assert not self.found, [d.message for d in self.found]
        assert self.function.typed is not None
        return dump(self.function.typed)

    @property
    def body(self) -> list[str]:
        """The dump without its first line and outer indentation."""
        return [line[2:] for line in self.text.splitlines()[1:]]

    @property
    def error(self) -> Diagnostic:
        (only,) = self.found
        return only


def place(diagnostic: Diagnostic) -> str:
    """The text the primary label underlines."""
    assert diagnostic.primary is not None
    return diagnostic.primary.span.text
