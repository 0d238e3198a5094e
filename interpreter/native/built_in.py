"""What the language of `lowering` has beside functions of the library."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Final

from .emitter import TAGS, Emitter, Item, Known, Value
from .kinds import ADDRESS, BOOL, FLOAT, INT, Kind, NotNative, holds_arrays, list_of, tuple_of

__all__ = ["BuiltIns"]


_WIDTHS: Final = {
    **{"i64": ("i64", INT, ""), "i32": ("i32", INT, "sext"), "u8": ("i8", INT, "zext")},
    **{"f32": ("float", FLOAT, "fpext"), "f64": ("double", FLOAT, "")},
}
"""LLVM's type of a number, what it becomes, and how."""


_LARGE: Final = 0x9E3779B97F4A7C15
"""An odd number whose bits follow no rule."""


class BuiltIns(Emitter):
    """A method `_do_<name>` for each, called with what stands between its parentheses."""

    def _expression(self, node: ast.expr) -> Item:
        raise NotImplementedError

    def _value(self, node: ast.expr) -> Value:
        raise NotImplementedError

    def _whole(self, node: ast.expr) -> Value:
        raise NotImplementedError

    def _run(self, item: Item) -> Value:
        raise NotImplementedError

    def _body(self, statements: Sequence[ast.stmt]) -> None:
        raise NotImplementedError

    def _called(self, name: str, items: Sequence[Item]) -> Value:
        raise NotImplementedError

    def _call_library(self, method: str, items: Sequence[Item]) -> Value:
        raise NotImplementedError

    def _tuple(self, values: Sequence[Value]) -> Value:
        raise NotImplementedError

    def _part(self, value: Value, place: int) -> Value:
        raise NotImplementedError

    # ------------------------------------------------------------------- what is built in

    def _kind(self, node: ast.expr) -> Kind:
        item = self._expression(node)
        assert isinstance(item, Known)
        assert isinstance(item.value, Kind), ast.unparse(node)
        return item.value

    def _number(self, node: ast.expr) -> int:
        """A number that is known while the text is made."""
        item = self._expression(node)
        assert isinstance(item, Known)
        assert isinstance(item.value, int), ast.unparse(node)
        return item.value

    def _do_fail(self) -> Item:
        self._fail()
        return Known(None)

    def _do_kind_of(self, node: ast.expr) -> Item:
        item = self._expression(node)
        return Known(item.kind if isinstance(item, Value) else self._run(item).kind)

    def _do_list_kind(self, node: ast.expr) -> Item:
        return Known(list_of(self._kind(node)))

    def _do_tuple_kind(self, *nodes: ast.expr) -> Item:
        return Known(tuple_of([self._kind(each) for each in nodes]))

    def _do_load(self, kind: ast.expr, address: ast.expr) -> Item:
        return self._load(self._kind(kind), self._value(address))

    def _do_store(self, address: ast.expr, value: ast.expr) -> Item:
        at = self._value(address)
        self._store(at, self._value(value))
        return Known(None)

    def _do_load_byte(self, address: ast.expr) -> Item:
        byte = self._let(INT, f"load i8, ptr {self._value(address).text}, !tbaa !{TAGS['other']}")
        return self._let(INT, f"zext i8 {byte.text} to i64")

    def _do_load_word(self, address: ast.expr) -> Item:
        """Eight bytes that may begin anywhere."""
        at = self._value(address)
        return self._let(INT, f"load i64, ptr {at.text}, align 1, !tbaa !{TAGS['other']}")

    def _do_known(self, text: ast.expr) -> Item:
        """A text that functions are told which are made anew for it."""
        item = self._expression(text)
        assert isinstance(item, Known)
        return Known((item.value,))

    def _width(self, node: ast.expr) -> tuple[str, Kind, str]:
        """How numbers of some width lie, and what they become."""
        item = self._expression(node)
        assert isinstance(item, Known)
        name = item.value[0] if isinstance(item.value, tuple) else item.value
        return _WIDTHS[str(name)]

    def _do_load_as(self, name: ast.expr, address: ast.expr) -> Item:
        """A number of some width, which may begin anywhere, as a whole number or a float."""
        at = self._value(address)
        short, kind, longer = self._width(name)
        text = f"load {short}, ptr {at.text}, align 1, !tbaa !{TAGS['other']}"
        found = self._let(kind, text)
        return self._let(kind, f"{longer} {short} {found.text} to {kind.llvm}") if longer else found

    def _do_store_as(self, name: ast.expr, address: ast.expr, value: ast.expr) -> Item:
        """Write a number in some width, wherever it may begin."""
        at, number = self._value(address), self._value(value)
        short, kind, longer = self._width(name)
        if number.kind != kind:
            raise NotNative(f"{number.kind} for {kind}")
        if longer:
            how = "fptrunc" if kind == FLOAT else "trunc"
            number = self._let(kind, f"{how} {kind.llvm} {number.text} to {short}")
        self._say(f"store {short} {number.text}, ptr {at.text}, align 1, !tbaa !{TAGS['other']}")
        return Known(None)

    def _do_store_byte(self, address: ast.expr, value: ast.expr) -> Item:
        at, word = self._value(address), self._whole(value)
        byte = self._let(INT, f"trunc i64 {word.text} to i8")
        self._say(f"store i8 {byte.text}, ptr {at.text}, !tbaa !{TAGS['other']}")
        return Known(None)

    def _do_peek(self, address: ast.expr) -> Item:
        """A number that another thread may write."""
        at = self._value(address)
        return self._let(INT, f"load atomic i64, ptr {at.text} monotonic, align 8")

    def _do_place(self, kind: ast.expr, address: ast.expr, index: ast.expr) -> Item:
        of, at, number = self._kind(kind), self._value(address), self._whole(index)
        return self._let(ADDRESS, f"getelementptr {of.llvm}, ptr {at.text}, i64 {number.text}")

    def _do_size_of(self, kind: ast.expr) -> Item:
        return self._size(self._kind(kind).llvm)

    def _do_head_size(self, kind: ast.expr) -> Item:
        """The size of what lies where a list, a dict or an object is."""
        return self._size(self._module.fields(self._kind(kind)))

    def _do_as_kind(self, kind: ast.expr, address: ast.expr) -> Item:
        return Value(self._kind(kind), self._value(address).text)

    def _do_address_of(self, node: ast.expr) -> Item:
        value = self._value(node)
        return Value(ADDRESS, value.text)

    def _do_number_of(self, node: ast.expr) -> Item:
        """An address as a number."""
        return self._let(INT, f"ptrtoint ptr {self._value(node).text} to i64")

    def _do_bits_of(self, node: ast.expr) -> Item:
        return self._let(INT, f"bitcast double {self._value(node).text} to i64")

    def _do_mixed(self, one: ast.expr, shift: ast.expr) -> Item:
        """A number shifted to the right, zeros coming in."""
        a, b = self._whole(one), self._whole(shift)
        return self._let(INT, f"lshr i64 {a.text}, {b.text}")

    def _do_folded(self, node: ast.expr) -> Item:
        """The halves of a word's product with a large number in one: all bits count in each."""
        wide = self._let(INT, f"zext i64 {self._whole(node).text} to i128")
        product = self._let(INT, f"mul i128 {wide.text}, {_LARGE}")
        shifted = self._let(INT, f"lshr i128 {product.text}, 64")
        low = self._let(INT, f"trunc i128 {product.text} to i64")
        high = self._let(INT, f"trunc i128 {shifted.text} to i64")
        return self._let(INT, f"xor i64 {low.text}, {high.text}")

    def _do_text(self, address: ast.expr, size: ast.expr) -> Item:
        return self._pair(self._value(address), self._whole(size))

    def _do_make_tuple(self, *nodes: ast.expr) -> Item:
        return self._tuple([self._value(each) for each in nodes])

    def _do_with_part(self, owner: ast.expr, index: ast.expr, part: ast.expr) -> Item:
        """A tuple with another part."""
        value, place, new = self._value(owner), self._number(index), self._value(part)
        text = f"insertvalue {value.kind.llvm} {value.text}, {new.kind.llvm} {new.text}, {place}"
        return self._let(value.kind, text)

    def _do_zero(self, kind: ast.expr) -> Item:
        return Value(self._kind(kind), "zeroinitializer")

    def _do_python(self, name: ast.expr) -> Item:
        """An object of Python's that the table has."""
        item = self._expression(name)
        assert isinstance(item, Known)
        return self._table_word(str(item.value))

    def _do_dict_kind(self, key: ast.expr, value: ast.expr) -> Item:
        return Known(Kind("dict", (self._kind(key), self._kind(value))))

    def _do_parts_count(self, kind: ast.expr) -> Item:
        return Known(len(self._kind(kind).parts))

    def _do_holds_arrays(self, kind: ast.expr) -> Item:
        """Whether tensors are in there, which is known while the text is made."""
        return Known(holds_arrays(self._kind(kind)))

    def _do_is_used(self, name: ast.expr) -> Item:
        """Whether what has been written so far calls a function of the library."""
        item = self._expression(name)
        assert isinstance(item, Known)
        return Known(self._module.is_used(str(item.value)))

    def _do_null(self) -> Item:
        return Value(ADDRESS, "null")

    def _do_address_at(self, number: ast.expr) -> Item:
        return self._let(ADDRESS, f"inttoptr i64 {self._whole(number).text} to ptr")

    def _do_tag_of(self, kind: ast.expr) -> Item:
        """A number for a kind of lists, dicts or objects that come from outside."""
        of = self._kind(kind)
        if of not in self._module.taken:
            self._module.taken.append(of)
        return Known(self._module.taken.index(of))

    def _do_commit_taken(self) -> Item:
        """Write back all that was taken, by what is known of its kind."""
        if self._module.taken:
            text = ["at = context.lists", "while at != 0:", " tag = as_kind(T0, at).tag"]
            for number, kind in enumerate(self._module.taken):
                self._known[f"T{number}"] = kind
                text += [f" if tag == {number}:", f"  commit_{kind.family}(as_kind(T{number}, at))"]
            self._body(ast.parse("\n".join([*text, " at = as_kind(T0, at).next"])).body)
        return Known(None)

    def _do_list_of(self, kind: ast.expr, *nodes: ast.expr) -> Item:
        """A new list of some elements."""
        of = self._kind(kind)
        made = self._called("new_list", [Known(of), Value(INT, str(len(nodes)))])
        for number, node in enumerate(nodes):
            value = self._value(node)
            if value.kind != of:
                raise NotNative(ast.unparse(node))
            self._called("put_new", [made, Value(INT, str(number)), value])
        return made

    def _do_take(self, kind: ast.expr, source: ast.expr) -> Item:
        """A value of a kind from an object of Python's."""
        of = self._kind(kind)
        return self._called(f"take_{of.family}", [Known(of), self._value(source)])

    def _do_give(self, source: ast.expr) -> Item:
        """A new reference to an object of Python's for a value."""
        value = self._value(source)
        return self._called(f"give_{value.kind.family}", [value])

    def _do_len(self, node: ast.expr) -> Item:
        return self._call_library("len", [self._value(node)])

    def _do_float(self, node: ast.expr) -> Item:
        return self._real(self._value(node))

    def _do_int(self, node: ast.expr) -> Item:
        value = self._value(node)
        if value.kind == FLOAT:
            return self._let(INT, f"fptosi double {value.text} to i64")
        if value.kind == BOOL:
            return self._let(INT, f"zext i1 {value.text} to i64")
        return value

    def _do_sqrt(self, node: ast.expr) -> Item:
        return self._of_llvm("sqrt", node)

    def _do_fabs(self, node: ast.expr) -> Item:
        return self._of_llvm("fabs", node)

    def _of_llvm(self, name: str, node: ast.expr) -> Value:
        """A function of a float that is one instruction."""
        value = self._real(self._value(node))
        return self._let(FLOAT, f"call double @llvm.{name}.f64(double {value.text})")
