"""What the language of `lowering` has for objects, enumerations, values that may be None, and
texts made of several values."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .emitter import HEADERS, Item, Known, Value
from .kinds import ADDRESS, BOOL, FLOAT, INT, NONE, Kind, NotNative, is_convertible, optional_of
from .unions import Unions

__all__ = ["Compounds"]

_DIRTY = [name for name, _ in HEADERS["object"]].index("dirty")
_KNOWN = [name for name, _ in HEADERS["object"]].index("known")


class Compounds(Unions):
    """A method `_do_<name>` for each, called with what stands between its parentheses."""

    # -- values that may be None

    def _do_or_none(self, kind: ast.expr) -> Item:
        """The kind of values of a kind, or None; of those of which some are None, the same."""
        of = self._kind(kind)
        return Known(of if of.family == "optional" else optional_of(of))

    def _do_looked_up(self, mapping: ast.expr, key: ast.expr, *otherwise: ast.expr) -> Item:
        """What a dict has for a key; otherwise what is said, or None."""
        items = [self._value(each) for each in (mapping, key, *otherwise)]
        return self._call_library("get" if otherwise else "find", items)

    def _do_has(self, node: ast.expr) -> Item:
        """Whether a value that may be None is there."""
        return self._field(self._value(node), 1, BOOL)

    def _do_the(self, node: ast.expr) -> Item:
        """The value that is there."""
        value = self._value(node)
        return self._field(value, 0, value.kind.parts[0])

    def _field(self, value: Value, place: int, kind: Kind) -> Value:
        if value.kind.family != "optional":
            raise NotNative(f"{value.kind.family} is always there")
        return self._let(kind, f"extractvalue {value.kind.llvm} {value.text}, {place}")

    def _do_converted(self, kind: ast.expr, source: ast.expr) -> Item:
        """A value as one of another kind, as types say that it is one."""
        return self._converted(self._value(source), self._kind(kind))

    def _converted(self, value: Value, wanted: Kind) -> Value:
        kind = value.kind
        if kind == wanted:
            return value
        if not is_convertible(kind, wanted):
            raise NotNative(f"{kind} for {wanted}")
        if kind.family == wanted.family == "array":
            return Value(wanted, value.text)
        if wanted.family == "union":
            return self._into(value, wanted)
        if kind.family == "union":
            return self._out_of(value, wanted)
        if wanted.family == "optional":
            if kind == NONE:
                return Value(wanted, "zeroinitializer")
            is_there = Value(BOOL, "true")
            if kind.family == "optional":
                is_there = self._field(value, 1, BOOL)
                value = self._field(value, 0, kind.parts[0])
            return self._filled(wanted, [self._converted(value, wanted.parts[0]), is_there])
        if kind.family == "optional":
            return self._converted(self._field(value, 0, kind.parts[0]), wanted)
        parts = [self._part(value, place) for place in range(len(kind.parts))]
        return self._filled(wanted, list(map(self._converted, parts, wanted.parts)))

    def _filled(self, kind: Kind, parts: list[Value]) -> Value:
        """A value of a kind that lies in memory as these parts do."""
        made = Value(kind, "zeroinitializer")
        for place, part in enumerate(parts):
            text = f"insertvalue {kind.llvm} {made.text}, {part.kind.llvm} {part.text}, {place}"
            made = self._let(kind, text)
        return made

    # -- enumerations, and what has a maker outside

    def _do_place_of(self, node: ast.expr) -> Item:
        """The place of a member in its enumeration."""
        value = self._value(node)
        if value.kind.family != "enum":
            raise NotNative(f"{value.kind.family} is no member")
        return Value(INT, value.text)

    def _do_outer(self, what: ast.expr, kind: ast.expr) -> Item:
        """What there is outside for a kind: see `outside`."""
        item = self._expression(what)
        assert isinstance(item, Known)
        return self._table_word(f"{item.value} {self._kind(kind).name}")

    def _do_foreign(self, result: ast.expr, name: ast.expr, *nodes: ast.expr) -> Item:
        """A call of a user's C function of numbers; a truth value is a byte there."""
        item = self._expression(name)
        assert isinstance(item, Known)
        function = self._load(ADDRESS, self._table_word(f"foreign {item.value}"))
        self._fail_if(self._let(BOOL, f"icmp eq ptr {function.text}, null"))
        given = []
        for value in map(self._value, nodes):
            text = f"{value.kind.llvm} {value.text}"
            if value.kind == BOOL:
                text = f"i8 zeroext {self._let(INT, f'zext i1 {value.text} to i8').text}"
            given.append(text)
        of = self._kind(result)
        kind = "zeroext i8" if of == BOOL else of.llvm
        found = self._let(of, f"call {kind} {function.text}({', '.join(given)})")
        return self._let(BOOL, f"icmp ne i8 {found.text}, 0") if of == BOOL else found

    def _do_is_made(self, kind: ast.expr) -> Item:
        """Whether values of a kind can be made outside."""
        return Known(f"made {self._kind(kind).name}" in self._module.words)

    # -- objects

    def _do_site_of(self, kind: ast.expr, index: ast.expr) -> Item:
        """The number of an attribute among those that copies are kept of; -1 if it is none."""
        site, sites = (self._kind(kind).name, self._number(index)), self._module.sites
        return Known(sites.index(site) if site in sites else -1)

    def _do_sites_count(self) -> Item:
        return Known(len(self._module.sites))

    def _do_new_object(self, kind: ast.expr) -> Item:
        of = self._kind(kind)
        made = self._called("room_for", [self._size(self._module.fields(of))])
        for place, (_, word) in enumerate(HEADERS["object"]):
            nothing = "null" if word == ADDRESS else "0"
            self._store(self._word(made.text, place), Value(word, nothing), "header")
        return Value(of, made.text)

    def _do_attributes_count(self, kind: ast.expr) -> Item:
        return Known(len(self._module.objects[self._kind(kind).name]))

    def _do_attribute_kind(self, kind: ast.expr, index: ast.expr) -> Item:
        return Known(self._module.objects[self._kind(kind).name][self._number(index)])

    def _do_attribute(self, owner: ast.expr, index: ast.expr) -> Item:
        """An attribute of an object, which must have been given a value."""
        value, kind, at, bit = self._attribute_of(owner, index)
        known = self._load(INT, self._word(value.text, _KNOWN), "header")
        given = self._let(INT, f"and i64 {known.text}, {bit}")
        self._fail_if(self._let(BOOL, f"icmp eq i64 {given.text}, 0"))
        return self._load(kind, at)

    def _do_set_attribute(self, owner: ast.expr, index: ast.expr, source: ast.expr) -> Item:
        self._put_attribute(owner, index, source, (_KNOWN, _DIRTY))
        return Known(None)

    def _do_put_attribute(self, owner: ast.expr, index: ast.expr, source: ast.expr) -> Item:
        """Give an attribute the value that it has outside."""
        self._put_attribute(owner, index, source, (_KNOWN,))
        return Known(None)

    def _put_attribute(
        self, owner: ast.expr, index: ast.expr, source: ast.expr, notes: tuple[int, ...]
    ) -> None:
        value, kind, at, bit = self._attribute_of(owner, index)
        given = self._value(source)
        if given.kind != kind:
            raise NotNative(f"{given.kind} for {kind}")
        self._store(at, given)
        for word in notes:
            place = self._word(value.text, word)
            known = self._load(INT, place, "header")
            self._store(place, self._let(INT, f"or i64 {known.text}, {bit}"), "header")

    def _attribute_of(self, owner: ast.expr, index: ast.expr) -> tuple[Value, Kind, Value, int]:
        """An object, an attribute's kind and address, and the bit that says it has a value."""
        value, place = self._value(owner), self._number(index)
        kinds = self._module.objects.get(value.kind.name, ())
        if value.kind.family != "object" or place >= min(len(kinds), 63):
            raise NotNative(ast.unparse(owner))
        at = len(HEADERS["object"]) + place
        text = f"getelementptr {self._module.fields(value.kind)}, ptr {value.text}, i64 0, i32 {at}"
        return value, kinds[place], self._let(ADDRESS, text), 1 << place

    # -- texts

    def _do_shown(self, node: ast.expr) -> Item:
        """A value as `str` and `format` write it."""
        return self._call_library("shown", [self._value(node)])

    def _do_printed(self, *nodes: ast.expr) -> Item:
        """Keep values as a line of what the call prints."""
        for number, node in enumerate(nodes):
            if number:
                self._called("print_text", [self._run(Known(" "))])
            self._called("print_text", [self._call_library("shown", [self._value(node)])])
        self._called("print_text", [self._run(Known("\n"))])
        return Known(None)

    def _do_percent(self, template: ast.expr, *nodes: ast.expr) -> Item:
        """What `%` makes of a text and values; one tuple stands for its parts."""
        known = self._expression(template)
        if not isinstance(known, Known) or not isinstance(known.value, str):
            raise NotNative("a text to fill in that is not known")
        values = [self._value(each) for each in nodes]
        if len(values) == 1 and values[0].kind.family == "tuple":
            values = [self._part(values[0], at) for at in range(len(values[0].kind.parts))]
        rest = iter(values)
        made, text = self._run(Known("")), known.value
        while text:
            before, mark, text = text.partition("%")
            pieces = [self._run(Known(before))]
            if mark:
                specifier, text = text[:1], text[1:]
                pieces.append(self._specified(specifier, rest))
            for piece in pieces:
                made = self._called("str_add", [made, piece])
        if next(rest, None) is not None:
            raise NotNative("values that a text has no place for")
        return made

    def _specified(self, specifier: str, rest: Iterator[Value]) -> Value:
        """What stands in the place of a specifier."""
        if specifier == "%":
            return self._run(Known("%"))
        value = next(rest, None)
        if value is not None and specifier == "s":
            return self._call_library("shown", [value])
        if value is not None and specifier in ("d", "i") and value.kind.is_number:
            cut = self._called("cut_to_int", [value]) if value.kind == FLOAT else value
            return self._called("digits_of", [cut])
        if value is not None and specifier in ("f", "F", "e") and value.kind.is_number:
            how = self._run(Known(f"%{specifier.lower()}\0"))
            return self._called("fixed", [self._real(value), how])
        raise NotNative(f"%{specifier}")

    def _do_narrow(self, node: ast.expr) -> Item:
        """A float rounded to 32 bits."""
        short = self._let(FLOAT, f"fptrunc double {self._value(node).text} to float")
        return self._let(FLOAT, f"fpext float {short.text} to double")

    def _do_formatted(self, template: ast.expr, *nodes: ast.expr) -> Item:
        """A text with each `{}` replaced by a value; further values are left out."""
        known = self._expression(template)
        if not isinstance(known, Known) or not isinstance(known.value, str):
            raise NotNative("a text to fill in that is not known")
        first, *pieces = known.value.split("{}")
        if len(pieces) > len(nodes):
            raise NotNative("values are missing")
        made = self._run(Known(first))
        for node, piece in zip(nodes, pieces, strict=False):
            for part in (self._call_library("shown", [self._value(node)]), self._run(Known(piece))):
                made = self._called("str_add", [made, part])
        return made
