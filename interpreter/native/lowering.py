"""A small typed language, written as Python, and its way to LLVM's text.

Functions of the library (`library/`) and the text that is written for a program are in it.  A
function is made anew for each combination of kinds it is called with, so it says no types: what a
variable is first given says its kind.  There are assignments, `if`, `while`, `for … in range(…)`,
`return`, `break`, `continue`, and calls of other functions, none of which may come back to itself.

- Whole numbers have 64 bits and wrap; nothing is checked by itself.
- `x.append(y)`, `x[i]`, `len(x)`, `x + y` of a family of kinds are functions of the library:
  `list_append`, `list_getitem`, `list_len`, `list_add`.
- What is known while the text is made is settled then: `kind_of(x)`, and of a kind `element`,
  `key`, `value`, `parts`, `family`; an `if` about such things has one branch only.
- `fail()` ends the whole call; whoever calls a function that may fail ends with it.
- `load(K, address)`, `store(address, value)`, `place(K, address, index)`, `size_of(K)` and
  `as_kind(K, address)` are what memory is read and written with; `context.x` are words that all
  functions of a call share.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from .emitter import CONTEXT, HEADERS, RARELY, Instance, Item, Known, Value
from .expressions import Expressions
from .kinds import BOOL, INT, NONE, Kind, NotNative

__all__ = ["Module"]


@dataclass(slots=True)
class Module:
    """LLVM's text of a program and all of the library that it calls.

    `definition` gives the function of a name, of the program or the library; `words` are what the
    table of outer addresses has, in order; `names` what the program's text names: kinds, numbers,
    strings; `objects` the kinds of attributes by the name of a class, `slots` the places of those
    that are read or written; `sites` those that copies are kept of; `taken` the kinds of lists,
    dicts and objects that come from outside.
    """

    definition: Callable[[str], ast.FunctionDef | None]
    words: Sequence[str]
    names: dict[str, object]
    objects: dict[str, tuple[Kind, ...]]
    slots: dict[str, set[int]]
    sites: list[tuple[str, int]]
    taken: list[Kind] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    _instances: dict[tuple[str, tuple[object, ...]], Instance | None] = field(default_factory=dict)
    _strings: dict[bytes, str] = field(default_factory=dict)
    _calls: dict[str, set[str]] = field(default_factory=dict)

    def instance(self, name: str, arguments: Sequence[Item], caller: str = "") -> Instance:
        """The function of the library for arguments, which a `caller` calls.

        Raises:
            NotNative: there is none, or it does not take them.
        """
        key = (name, tuple(a.kind if isinstance(a, Value) else (a.value,) for a in arguments))
        if key in self._instances:
            found = self._instances[key]
            if found is None:
                raise NotNative(f"{name} calls itself")
        else:
            definition = self.definition(name)
            if definition is None:
                raise NotNative(f"nothing is called {name}")
            self._instances[key] = None
            symbol = f"f{len(self._instances)}_{name}"
            found = self._instances[key] = _Function(self, symbol).lowered(definition, arguments)
        self._calls.setdefault(caller, set()).add(found.symbol)
        return found

    def is_used(self, name: str) -> bool:
        """Whether a function of the library has been written for some arguments."""
        return any(each == name for each, _ in self._instances)

    def texts_around(self, name: str) -> list[str]:
        """The texts, where a function of the program and what it calls is worth care: all others,
        which take values in and give them, are `cold`."""
        found = {made.symbol for key, made in self._instances.items() if made and key[0] == name}
        waiting = list(found)
        while waiting:
            more = self._calls.get(waiting.pop(), set()) - found
            found |= more
            waiting += more
        return [text if _symbol(text) in found else _cooled(text) for text in self.texts]

    def string(self, value: bytes) -> str:
        """The name of characters that are known beforehand."""
        if value not in self._strings:
            name = self._strings[value] = f"@text{len(self._strings)}"
            shown = "".join(f"\\{byte:02X}" for byte in value or b"\0")
            size = max(1, len(value))
            self.texts.append(f'{name} = private constant [{size} x i8] c"{shown}"')
        return self._strings[value]

    def fields(self, kind: Kind) -> str:
        """LLVM's type of what lies where an object is."""
        head = [each.llvm for _, each in HEADERS[kind.family]]
        return "{ " + ", ".join((*head, *(p.llvm for p in self.objects.get(kind.name, ())))) + " }"


class _Function(Expressions):
    """The lowering of one function."""

    def lowered(self, node: ast.FunctionDef, arguments: Sequence[Item]) -> Instance:
        """Lower a definition for arguments; its text goes to the module."""
        names = [each.arg for each in node.args.args]
        if len(arguments) != len(names):
            raise NotNative(f"{node.name} takes {len(names)} arguments")
        given = []
        for name, item in zip(names, arguments, strict=True):
            if isinstance(item, Known):
                self._known[name] = item.value
            else:
                given.append(f"{item.kind.llvm} %a.{name}")
                place = self._variable(name, item.kind)
                self._say(f"store {item.kind.llvm} %a.{name}, ptr {place.text}")
        self._body(node.body)
        if not self._is_over:
            self._give(Value(NONE, "false"))
        kind = self._result or NONE
        made = Instance(self._symbol, kind, self._fails)
        lines = self._ended(self._lines, kind)
        how = _ALWAYS if len(self._places) + len(lines) <= _SHORT else ""
        takes = ", ".join(["ptr %c", *given])
        first = f"define internal {made.llvm} @{self._symbol}({takes}) {how}{_PLAIN}"
        self._module.texts.append(first + "\n".join([*self._places, *lines, "}"]))
        return made

    # ---------------------------------------------------------------------- statements

    def _body(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            if self._is_over:
                return
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets=[target]):
                self._assign(target, node.value)
            case ast.AugAssign():
                changed = ast.BinOp(_loaded(node.target), node.op, node.value)
                self._assign(node.target, changed)
            case ast.Expr(value=ast.Constant()):
                pass
            case ast.Expr():
                self._expression(node.value)
            case ast.If():
                self._if(node)
            case ast.While():
                self._while(node)
            case ast.For():
                self._for(node)
            case ast.Return():
                value = Value(NONE, "false") if node.value is None else self._value(node.value)
                self._give(value)
            case ast.Break() | ast.Continue():
                self._jump(self._loops[-1][isinstance(node, ast.Break)])
            case ast.Pass():
                pass
            case _:
                raise NotNative(ast.unparse(node))

    def _assign(self, target: ast.expr, source: ast.expr) -> None:
        if isinstance(target, ast.Tuple):
            parts = self._several(source, len(target.elts))
            for each, part in zip(target.elts, parts, strict=True):
                self._set(each, part)
        else:
            self._set(target, self._expression(source))

    def _several(self, source: ast.expr, count: int) -> list[Item]:
        if isinstance(source, ast.Tuple):
            return [self._expression(each) for each in source.elts]
        value = self._value(source)
        if value.kind.family != "tuple" or len(value.kind.parts) != count:
            raise NotNative(ast.unparse(source))
        return [self._part(value, place) for place in range(count)]

    def _set(self, target: ast.expr, item: Item) -> None:
        match target:
            case ast.Name(id=name):
                if isinstance(item, Known) and not isinstance(item.value, bool | int | float | str):
                    self._known[name] = item.value
                    return
                value = self._run(item)
                place = self._variables.get(name)
                if place is None:
                    place = self._variable(name, value.kind)
                if place.kind != value.kind:
                    raise NotNative(f"{name} is {place.kind} and {value.kind}")
                self._say(f"store {value.kind.llvm} {value.text}, ptr {place.text}")
            case ast.Attribute(value=ast.Name(id="context"), attr=word):
                index, kind = CONTEXT[word]
                self._store(self._word("%c", index), self._fitting(item, kind), "context")
            case ast.Attribute():
                owner = self._value(target.value)
                index, kind = self._header(owner.kind, target.attr)
                self._store(self._word(owner.text, index), self._fitting(item, kind), "header")
            case ast.Subscript():
                self._call_library(
                    "setitem",
                    [self._value(target.value), self._value(target.slice), self._run(item)],
                )
            case _:
                raise NotNative(ast.unparse(target))

    def _if(self, node: ast.If) -> None:
        condition = self._truth(node.test)
        if isinstance(condition, Known):
            self._body(node.body if condition.value else node.orelse)
            return
        then, otherwise, end = (self._name(each) for each in ("then", "else", "end"))
        rare = RARELY if _only_fails(node.body) else ""
        self._branch(condition.text, then, otherwise, rare)
        self._begin(then)
        self._body(node.body)
        over = self._is_over
        self._jump(end)
        self._begin(otherwise)
        self._body(node.orelse)
        over = over and self._is_over
        self._jump(end)
        if not over:
            self._begin(end)

    def _while(self, node: ast.While) -> None:
        head, body, end = (self._name(each) for each in ("head", "body", "done"))
        self._jump(head)
        self._begin(head)
        condition = self._truth(node.test)
        if isinstance(condition, Value):
            self._branch(condition.text, body, end)
        else:
            self._jump(body if condition.value else end)
        self._begin(body)
        self._loops.append((head, end))
        start = len(self._lines)
        self._body(node.body)
        self._loops.pop()
        self._jump(head)
        if (
            isinstance(condition, Value)
            or not condition.value
            or _leads_to(end, self._lines[start:])
        ):
            self._begin(end)

    def _for(self, node: ast.For) -> None:
        match node.iter:
            case ast.Call(func=ast.Name(id="range"), args=args) if len(args) <= 2:
                pass
            case ast.Call(func=ast.Name(id="places" | "attributes" | "slots" as what), args=[kind]):
                assert isinstance(node.target, ast.Name)
                for number in self._places_of(what, self._kind(kind)):
                    self._known[node.target.id] = number
                    self._body(node.body)
                return
            case _:
                raise NotNative(ast.unparse(node))
        start, stop = (
            self._whole(each) for each in ([ast.Constant(0), *args] if len(args) == 1 else args)
        )
        hidden = self._name("at")
        at = self._variable(hidden, INT)
        self._say(f"store i64 {start.text}, ptr {at.text}")
        head, body, step, end = (self._name(each) for each in ("head", "body", "step", "done"))
        self._jump(head)
        self._begin(head)
        now = self._let(INT, f"load i64, ptr {at.text}")
        inside = self._let(BOOL, f"icmp slt i64 {now.text}, {stop.text}")
        self._branch(inside.text, body, end)
        self._begin(body)
        self._set(node.target, now)
        self._loops.append((step, end))
        self._body(node.body)
        self._loops.pop()
        self._jump(step)
        self._begin(step)
        after = self._let(INT, f"add nsw i64 {now.text}, 1")
        self._say(f"store i64 {after.text}, ptr {at.text}")
        self._jump(head)
        self._begin(end)

    def _places_of(self, what: str, kind: Kind) -> Sequence[int]:
        """The places of a tuple's parts or of an object's attributes; `slots` are those that the
        program reads or writes."""
        if what == "places":
            return range(len(kind.parts))
        if what == "attributes":
            return range(len(self._module.objects[kind.name]))
        return sorted(self._module.slots[kind.name])


_SHORT: Final = 48
"""Lines of a function that stands wherever it is called."""

_ALWAYS: Final = "alwaysinline "
_PLAIN: Final = "#0 {\n"


def _symbol(text: str) -> str:
    """The name of a function; empty if a text is none."""
    found = re.match(r"define internal .*? @(\w+)\(", text)
    return "" if found is None else found[1]


def _cooled(text: str) -> str:
    """A function as one that hardly ever runs."""
    head, mark, rest = text.partition(_PLAIN)
    return f"{head.removesuffix(_ALWAYS)}cold {mark}{rest}" if mark else text


def _leads_to(label: str, lines: Sequence[str]) -> bool:
    """Whether some jump goes there."""
    return any(re.search(rf"label %{label}\b", line) for line in lines)


def _loaded(target: ast.expr) -> ast.expr:
    """A target as what is read there."""
    return ast.parse(ast.unparse(target), mode="eval").body


def _only_fails(body: Sequence[ast.stmt]) -> bool:
    match body:
        case [ast.Expr(value=ast.Call(func=ast.Name(id="fail")))]:
            return True
    return False
