"""Expressions of the language of `lowering`, and calls."""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence
from typing import Final

import numpy as np

from ...frontend.limits.walks import MOST_COPIED
from ...ops.kernels.code.language.text import DOUBLE
from ...ops.memory.dtype import DTYPES
from ...ops.python_values.strings import to_bytes
from .compound import Compounds
from .dict_versions import VERSION_AT
from .emitter import CONTEXT, Instance, Item, Known, Value
from .externals import EXTERNALS, INT32, VARIADIC
from .kinds import (
    ADDRESS,
    ARRAY,
    BOOL,
    COMPLEX,
    DEVICE,
    FLOAT,
    INT,
    MADE,
    NONE,
    STR,
    Kind,
    NotNative,
    tuple_of,
)

__all__ = ["Expressions"]

_ARITHMETIC: Final = {
    ast.Add: ("add", "fadd", "add"),
    ast.Sub: ("sub", "fsub", "sub"),
    ast.Mult: ("mul", "fmul", "mul"),
    ast.Div: ("", "fdiv", "truediv"),
    ast.BitAnd: ("and", "", "and"),
    ast.BitOr: ("or", "", "or"),
    ast.BitXor: ("xor", "", "xor"),
    ast.LShift: ("shl", "", "lshift"),
    ast.RShift: ("ashr", "", "rshift"),
    ast.FloorDiv: ("", "", "floordiv"),
    ast.Mod: ("", "", "mod"),
}
_COMPARED: Final = {
    ast.Eq: ("eq", "oeq", "eq"),
    ast.NotEq: ("ne", "une", "ne"),
    ast.Lt: ("slt", "olt", "lt"),
    ast.LtE: ("sle", "ole", "le"),
    ast.Gt: ("sgt", "ogt", "gt"),
    ast.GtE: ("sge", "oge", "ge"),
}
_HEAD: Final = object.__basicsize__
_READ_DTYPES: Final = ("bool", "uint8", "int32", "int64", "float32", "float64")
_WRITEABLE, _ALIGNED = 0x400, 0x100
"""Bits of an array's flags."""
_CONSTANTS: Final[dict[str, object]] = {
    **{"INT": INT, "FLOAT": FLOAT, "BOOL": BOOL, "STR": STR, "ADDRESS": ADDRESS, "NONE": NONE},
    **{"FAILED": 0, "STOPPED": 2, "BROKEN": 3, "RAISED": 4},
    **{"MOST_MEMORY": 1 << 28, "FIRST_CHUNK": 1 << 16, "ROUNDS_OF_CALL": 1 << 9},
    **{"VERSION_AT": VERSION_AT, "MOST_KEPT": 1 << 26},
    **{"MOST_GIVEN": MOST_COPIED, "CLASS_AT": _HEAD - 8},
    **{"ARRAY_DATA": _HEAD, "ARRAY_DEPTH": _HEAD + 8, "ARRAY_SIZES": _HEAD + 16},
    **{"ARRAY_STRIDES": _HEAD + 24, "ARRAY_DTYPE": _HEAD + 40, "DTYPE_NUMBERS": _HEAD + 8},
    **{"COUNT_AT": _HEAD, "LIST_ITEMS": _HEAD + 8, "TUPLE_ITEMS": tuple.__basicsize__},
    **{"FLOAT_AT": _HEAD, "INT_DIGITS": _HEAD + 8, "INT_HAS_TAG": sys.version_info >= (3, 12)},
    **{"OWN_ORDER": ord("="), "NO_ORDER": ord("|")},
    **{"ARRAY_FLAGS": _HEAD + 48, "ARRAY_IS_FREE": _WRITEABLE | _ALIGNED},
    **{"ARRAY_IS_WRITEABLE": _WRITEABLE},
    **{
        "ARRAY": ARRAY,
        "MADE": MADE,
        "COMPLEX": COMPLEX,
        "DEVICE": DEVICE,
        "COMPLEX_AT": _HEAD,
        "MOST_COPIED_NUMBERS": 1 << 18,
        "MOST_SMALL": 256,
        "MOST_RANKED": 64,
        "MOST_JOINED": 1 << 14,
        "TELLS_VIEWS": False,
        "GIVES_PARTS": False,
    },
    **{f"DTYPE_{name.upper()}": np.dtype(name).num for name in _READ_DTYPES},
    **{f"NUMBER_{name.upper()}": DTYPES[name].number for name in _READ_DTYPES},
}


class Expressions(Compounds):
    """What expressions give."""

    def _value(self, node: ast.expr) -> Value:
        """What an expression gives when the code runs."""
        return self._run(self._expression(node))

    def _run(self, item: Item) -> Value:
        """What is known as what runs."""
        if isinstance(item, Value):
            return item
        value = item.value
        if isinstance(value, bool):
            return Value(BOOL, "true" if value else "false")
        if isinstance(value, int):
            return Value(INT, str(value))
        if isinstance(value, float):
            return Value(FLOAT, DOUBLE.literal(value))
        if value is None:
            return Value(NONE, "false")
        if isinstance(value, str):
            data = to_bytes(value)
            return self._pair(Value(ADDRESS, self._module.string(data)), Value(INT, str(len(data))))
        raise NotNative(repr(value))

    def _whole(self, node: ast.expr) -> Value:
        value = self._value(node)
        if value.kind != INT:
            raise NotNative(ast.unparse(node))
        return value

    def _fitting(self, item: Item, kind: Kind) -> Value:
        """A value for a word of a kind: 0 is an address as well."""
        if isinstance(item, Known) and item.value == 0 and kind == ADDRESS:
            return Value(ADDRESS, "null")
        value = self._run(item)
        if value.kind.llvm != kind.llvm:
            raise NotNative(f"{value.kind} for {kind}")
        return value

    def _truth(self, node: ast.expr) -> Item:
        item = self._expression(node)
        if isinstance(item, Known):
            return Known(bool(item.value))
        if item.kind != BOOL:
            raise NotNative(ast.unparse(node))
        return item

    def _expression(self, node: ast.expr) -> Item:
        match node:
            case ast.Constant():
                return Known(node.value)
            case ast.Name():
                return self._named(node.id)
            case ast.BinOp():
                return self._binary(node)
            case ast.UnaryOp():
                return self._unary(node)
            case ast.Compare():
                return self._compare(node)
            case ast.BoolOp():
                return self._both(node)
            case ast.IfExp():
                return self._either(node.test, node.body, node.orelse)
            case ast.Call():
                return self._call(node)
            case ast.Attribute():
                return self._attribute(node)
            case ast.Subscript():
                return self._subscript(node)
            case ast.Tuple():
                return self._tuple([self._value(each) for each in node.elts])
            case _:
                raise NotNative(ast.unparse(node))

    def _named(self, name: str) -> Item:
        if name in self._known:
            return Known(self._known[name])
        place = self._variables.get(name)
        if place is not None:
            return self._let(place.kind, f"load {place.kind.llvm}, ptr {place.text}")
        if name in self._module.names:
            return Known(self._module.names[name])
        if name in _CONSTANTS:
            return Known(_CONSTANTS[name])
        raise NotNative(name)

    def _tuple(self, values: Sequence[Value]) -> Value:
        kind = tuple_of([each.kind for each in values])
        made = Value(kind, "zeroinitializer")
        for place, value in enumerate(values):
            text = f"insertvalue {kind.llvm} {made.text}, {value.kind.llvm} {value.text}, {place}"
            made = self._let(kind, text)
        return made

    def _part(self, value: Value, place: int) -> Value:
        part = value.kind.parts[place]
        return self._let(part, f"extractvalue {value.kind.llvm} {value.text}, {place}")

    def _binary(self, node: ast.BinOp) -> Item:
        left, right = self._expression(node.left), self._expression(node.right)
        if isinstance(node.op, ast.Pow):
            return self._power(left, right)
        one, other = self._run(left), self._run(right)
        whole, real, method = _ARITHMETIC.get(type(node.op), ("", "", ""))
        if one.kind == ADDRESS:
            index = other.text if isinstance(node.op, ast.Add) else self._negative(other).text
            return self._let(ADDRESS, f"getelementptr i8, ptr {one.text}, i64 {index}")
        if one.kind == other.kind == INT:
            if whole:
                return self._let(INT, f"{whole} i64 {one.text}, {other.text}")
            if isinstance(node.op, ast.FloorDiv | ast.Mod):
                if isinstance(node.op, ast.Mod):
                    return self._rest(one, other)
                return self._divided(one, other, is_quotient=True)
        if one.kind.is_number and other.kind.is_number and real:
            a, b = self._real(one), self._real(other)
            return self._let(FLOAT, f"{real} double {a.text}, {b.text}")
        if one.kind == other.kind == BOOL and whole in ("and", "or", "xor"):
            return self._let(BOOL, f"{whole} i1 {one.text}, {other.text}")
        return self._call_library(method, [one, other])

    @staticmethod
    def _power(left: Item, right: Item) -> Item:
        """A power of two of numbers that are known, as texts write limits."""
        if isinstance(left, Known) and left.value == 2 and isinstance(right, Known):
            assert isinstance(right.value, int)
            return Known(1 << right.value)
        raise NotNative("**")

    def _rest(self, one: Value, other: Value) -> Value:
        """What division leaves: a number itself where it is that, which is often so, and quick."""
        if other.text.lstrip("-").isdigit():
            return self._divided(one, other, is_quotient=False)
        place = self._variable(self._name("rest"), INT)
        self._say(f"store i64 {one.text}, ptr {place.text}")
        is_less = self._let(BOOL, f"icmp ult i64 {one.text}, {other.text}")
        is_plain = self._let(BOOL, f"icmp sgt i64 {other.text}, 0")
        is_rest = self._let(BOOL, f"and i1 {is_less.text}, {is_plain.text}")
        far, end = self._name("far"), self._name("end")
        self._branch(is_rest.text, end, far)
        self._begin(far)
        rest = self._divided(one, other, is_quotient=False)
        self._say(f"store i64 {rest.text}, ptr {place.text}")
        self._jump(end)
        self._begin(end)
        return self._let(INT, f"load i64, ptr {place.text}")

    def _divided(self, one: Value, other: Value, is_quotient: bool) -> Value:
        """Rounded down; the divisor is not 0, nor -1 for the lowest number."""
        rest = self._let(INT, f"srem i64 {one.text}, {other.text}")
        signs = self._let(INT, f"xor i64 {rest.text}, {other.text}")
        apart = self._let(BOOL, f"icmp slt i64 {signs.text}, 0")
        some = self._let(BOOL, f"icmp ne i64 {rest.text}, 0")
        lower = self._let(BOOL, f"and i1 {apart.text}, {some.text}")
        if not is_quotient:
            more = self._let(INT, f"select i1 {lower.text}, i64 {other.text}, i64 0")
            return self._let(INT, f"add i64 {rest.text}, {more.text}")
        quotient = self._let(INT, f"sdiv i64 {one.text}, {other.text}")
        less = self._let(INT, f"sext i1 {lower.text} to i64")
        return self._let(INT, f"add i64 {quotient.text}, {less.text}")

    def _unary(self, node: ast.UnaryOp) -> Item:
        if isinstance(node.op, ast.Not):
            item = self._truth(node.operand)
            if isinstance(item, Known):
                return Known(not item.value)
            return self._not(item)
        item = self._expression(node.operand)
        if isinstance(item, Known) and isinstance(item.value, int | float):
            return Known(-item.value if isinstance(node.op, ast.USub) else ~int(item.value))
        value = self._run(item)
        if isinstance(node.op, ast.Invert):
            return self._let(INT, f"xor i64 {value.text}, -1")
        if value.kind == FLOAT:
            return self._let(FLOAT, f"fneg double {value.text}")
        return self._negative(value)

    def _compare(self, node: ast.Compare) -> Item:
        items = [self._expression(each) for each in (node.left, *node.comparators)]
        results = [
            self._compared(op, one, other)
            for op, one, other in zip(node.ops, items, items[1:], strict=False)
        ]
        found = results[0]
        for each in results[1:]:
            a, b = self._run(found), self._run(each)
            found = self._let(BOOL, f"and i1 {a.text}, {b.text}")
        return found

    def _compared(self, op: ast.cmpop, left: Item, right: Item) -> Item:
        if isinstance(op, ast.Is | ast.IsNot):
            same = self._is(left, right)
            return Known(same == isinstance(op, ast.Is))
        if isinstance(op, ast.In | ast.NotIn):
            found = self._call_library("contains", [self._run(right), self._run(left)])
            return found if isinstance(op, ast.In) else self._not(found)
        whole, real, method = _COMPARED[type(op)]
        if isinstance(left, Known) and isinstance(right, Known):
            return self._compared_now(op, left.value, right.value)
        for one, other in ((left, right), (right, left)):
            if isinstance(one, Value) and one.kind.llvm == "ptr" and isinstance(other, Known):
                return self._let(BOOL, f"icmp {whole} ptr {one.text}, null")
        one, other = self._run(left), self._run(right)
        if one.kind == other.kind and one.kind.family in ("int", "bool", "address", "enum"):
            if one.kind == BOOL and whole[0] == "s":
                whole = f"u{whole[1:]}"  # true is the larger one
            return self._let(BOOL, f"icmp {whole} {one.kind.llvm} {one.text}, {other.text}")
        if one.kind.is_number and other.kind.is_number:
            a, b = self._real(one), self._real(other)
            return self._let(BOOL, f"fcmp {real} double {a.text}, {b.text}")
        return self._call_library(method, [one, other])

    def _compared_now(self, op: ast.cmpop, left: object, right: object) -> Item:
        """What comparing known things comes to."""
        if isinstance(left, int | float) and isinstance(right, int | float):
            results = {ast.Lt: left < right, ast.LtE: left <= right, ast.Gt: left > right}
            results |= {ast.GtE: left >= right, ast.Eq: left == right, ast.NotEq: left != right}
            return Known(results[type(op)])
        if isinstance(op, ast.Eq | ast.NotEq):
            return Known((left == right) == isinstance(op, ast.Eq))
        raise NotNative(f"{left!r} and {right!r} have no order")

    @staticmethod
    def _is(left: Item, right: Item) -> bool:
        """Whether two are the same, as is known beforehand: `x is None`, `K.family is …`."""

        def of(item: Item) -> object:
            if isinstance(item, Value):
                return None if item.kind == NONE else item
            return item.value

        return of(left) is of(right) or of(left) == of(right)

    def _both(self, node: ast.BoolOp) -> Item:
        is_and = isinstance(node.op, ast.And)
        rest = node.values[1:]
        after = rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
        stop = ast.Constant(not is_and)
        return self._either(node.values[0], *((after, stop) if is_and else (stop, after)))

    def _either(self, test: ast.expr, body: ast.expr, orelse: ast.expr) -> Item:
        condition = self._truth(test)
        if isinstance(condition, Known):
            return self._expression(body if condition.value else orelse)
        then, otherwise, end = (self._name(each) for each in ("then", "else", "end"))
        self._branch(condition.text, then, otherwise)
        self._begin(then)
        value = self._value(body)
        place = self._variable(self._name("chosen"), value.kind)
        self._say(f"store {value.kind.llvm} {value.text}, ptr {place.text}")
        self._jump(end)
        self._begin(otherwise)
        other = self._value(orelse)
        if other.kind != value.kind:
            raise NotNative(f"{value.kind} or {other.kind}")
        self._say(f"store {value.kind.llvm} {other.text}, ptr {place.text}")
        self._jump(end)
        self._begin(end)
        return self._let(value.kind, f"load {value.kind.llvm}, ptr {place.text}")

    def _attribute(self, node: ast.Attribute) -> Item:
        if isinstance(node.value, ast.Name) and node.value.id == "context":
            index, kind = CONTEXT[node.attr]
            return self._load(kind, self._word("%c", index), "context")
        item = self._expression(node.value)
        if isinstance(item, Known) and isinstance(item.value, Kind):
            return Known(getattr(item.value, node.attr))
        item = self._run(item)
        if item.kind == STR:
            return self._let(
                ADDRESS if node.attr == "data" else INT,
                f"extractvalue {STR.llvm} {item.text}, {int(node.attr != 'data')}",
            )
        index, kind = self._header(item.kind, node.attr)
        return self._load(kind, self._word(item.text, index), "header")

    def _subscript(self, node: ast.Subscript) -> Item:
        item = self._expression(node.value)
        if isinstance(item, Known) and isinstance(item.value, tuple):
            index = self._expression(node.slice)
            assert isinstance(index, Known)
            assert isinstance(index.value, int)
            return Known(item.value[index.value])
        item = self._run(item)
        if item.kind.family in ("tuple", "array", "c128"):
            index = self._expression(node.slice)
            if not isinstance(index, Known) or not isinstance(index.value, int):
                raise NotNative(ast.unparse(node))
            return self._part(item, index.value)
        return self._call_library("getitem", [item, self._value(node.slice)])

    # --------------------------------------------------------------------------- calls

    def _call(self, node: ast.Call) -> Item:
        if isinstance(node.func, ast.Attribute):
            owner = self._value(node.func.value)
            return self._call_library(node.func.attr, [owner, *map(self._value_or_kind, node.args)])
        assert isinstance(node.func, ast.Name)
        name = node.func.id
        built_in = getattr(self, f"_do_{name}", None)
        if built_in is not None:
            found: Item = built_in(*node.args)
            return found
        if name.startswith("m_"):
            return self._mathematics(name, [self._real(self._value(each)) for each in node.args])
        if name in EXTERNALS:
            return self._external(name, [self._expression(each) for each in node.args])
        return self._called(name, [self._value_or_kind(each) for each in node.args])

    def _value_or_kind(self, node: ast.expr) -> Item:
        item = self._expression(node)
        if isinstance(item, Known) and (isinstance(item.value, Kind | tuple) or item.value is None):
            return item
        return self._run(item)

    def _call_library(self, method: str, items: Sequence[Item]) -> Value:
        first = items[0]
        assert isinstance(first, Value)
        return self._called(f"{first.kind.family}_{method}", items)

    def _called(self, name: str, items: Sequence[Item]) -> Value:
        made = self._module.instance(name, items, self._symbol)
        found, failed = self._invoked(made, items)
        if failed is not None:
            self._fail_if(failed)
        return found

    def _invoked(self, made: Instance, items: Sequence[Item]) -> tuple[Value, Value | None]:
        """What a function gives, and whether it failed, if it may."""
        values = [each for each in items if isinstance(each, Value)]
        given = ", ".join(["ptr %c", *(f"{each.kind.llvm} {each.text}" for each in values)])
        found = self._let(made.kind, f"call {made.llvm} @{made.symbol}({given})")
        if not made.fails:
            return found, None
        value = self._let(made.kind, f"extractvalue {made.llvm} {found.text}, 0")
        return value, self._let(BOOL, f"extractvalue {made.llvm} {found.text}, 1")

    def _do_attempt(self, function: ast.expr, *nodes: ast.expr) -> Item:
        """A call after which `context.done` is 1, or 0 if it failed."""
        assert isinstance(function, ast.Name)
        items = [self._value(each) for each in nodes]
        found, failed = self._invoked(
            self._module.instance(function.id, items, self._symbol), items
        )
        done = Value(INT, "1")
        if failed is not None:
            done = self._let(INT, f"select i1 {failed.text}, i64 0, i64 1")
        self._store(self._word("%c", CONTEXT["done"][0]), done, "context")
        return found

    def _mathematics(self, name: str, values: Sequence[Value]) -> Value:
        """The result of a function of the C library, of floats."""
        given = ", ".join(f"double {each.text}" for each in values)
        return self._let(FLOAT, f"call double {self._table_word(name).text}({given})")

    def _external(self, name: str, items: Sequence[Item]) -> Value:
        result, wanted = EXTERNALS[name]
        values = [self._fitting(item, kind) for item, kind in zip(items, wanted, strict=True)]
        function = self._table_word(name)
        given = ", ".join(f"{each.kind.llvm} {each.text}" for each in values)
        if result == NONE:
            self._say(f"call void {function.text}({given})")
            return Value(NONE, "false")
        if result == INT32:
            how = VARIADIC.get(name, "i32")
            short = self._let(INT, f"call {how} {function.text}({given})")
            return self._let(INT, f"sext i32 {short.text} to i64")
        return self._let(result, f"call {result.llvm} {function.text}({given})")
