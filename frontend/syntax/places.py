"""Where a Python file says what a name is: the lines that diagnostics point back to.

Files are read only when there is an error to explain; what cannot be read has no place.
"""

from __future__ import annotations

import ast
import inspect
import linecache
from collections.abc import Iterator
from textwrap import dedent
from typing import Final

from ..diagnostics.edits import Edit, joined
from ..foundations.kept import kept_with
from ..foundations.value_class import value_class
from ..sources.source import Source, Span
from .from_ast import parse
from .positions import Positions

__all__ = ["BEGINNING", "BaseClass", "Place", "attribute_place", "base_place", "global_place"]

BEGINNING: Final = "super().__init__()"
"""By this name `attribute_place` knows the statement that a module's `__init__` begins with."""


@value_class(frozen=True, slots=True)
class Place:
    """The statement that gives a name its meaning.

    `value` is what is assigned, None for a declaration alone; `annotation` the declared type;
    `holder` the name of the class whose body or `__init__` it stands in, "" for a global.
    """

    statement: Span
    target: Span
    value: Span | None = None
    annotation: Span | None = None
    holder: str = ""


@value_class(frozen=True, slots=True)
class BaseClass:
    """A base class by its name in the class statement, and the edits that do without it."""

    name: Span
    moved: tuple[Edit, ...]


def global_place(filename: str, name: str) -> Place | None:
    """The last assignment of a global at the top of a file."""
    text = "".join(linecache.getlines(filename))
    if not text:
        return None
    source = Source(text, filename)
    try:
        body = parse(text).body
    except SyntaxError:
        return None
    positions = Positions(source)
    found = [p for node in body for target, p in _assigned(node, positions, "") if target == name]
    return found[-1] if found else None


def attribute_place(cls: type, name: str) -> Place | None:
    """Where an attribute is declared in a class body, or first set in its `__init__`; in the class
    itself or the nearest base.  `BEGINNING` is the place after which attributes may be set."""
    for base in cls.__mro__[:-1]:
        places = _in_class(base)
        if name in places:
            return places[name]
    return None


def base_place(cls: type) -> BaseClass | None:
    """The first base class of a class, as its statement names it."""
    read = _class_source(cls)
    if read is None or not read[0].bases:
        return None
    node, positions = read
    base = node.bases[0]
    name = Span(positions.source, positions.start(base), positions.end(base))
    return BaseClass(name, _moved(cls, node, positions, name))


def _moved(cls: type, node: ast.ClassDef, positions: Positions, base: Span) -> tuple[Edit, ...]:
    """The constructor of the only base class put into the class itself."""
    constructor = vars(cls.__mro__[1]).get("__init__")
    if len(node.bases) > 1 or "__init__" in vars(cls) or not inspect.isfunction(constructor):
        return ()
    try:
        written = dedent("".join(inspect.getsourcelines(constructor)[0]))
    except OSError:
        return ()
    source = positions.source
    before, after = source.text[: base.start].rstrip(), source.text[base.end :].lstrip()
    if not before.endswith("(") or not after.startswith(")") or "super()" in written:
        return ()
    close = source.text.index(")", base.end) + 1
    first = source.line_starts[source.line_index(positions.start(node.body[0]))]
    margin = " " * (positions.start(node.body[0]) - first)
    text = "".join(f"{margin}{line}" for line in written.splitlines(keepends=True))
    removed = Edit(Span(source, len(before) - 1, close), "")
    return (joined([removed, Edit(Span(source, first, first), text + "\n")]),)


@kept_with
def _in_class(cls: type) -> dict[str, Place]:
    """The places of all names that a class body gives a meaning, else its `__init__`.

    A file is read for the first error alone, which is also nearest in time to when the class was
    made of it.
    """
    read = _class_source(cls)
    found: dict[str, Place] = {}
    if read is None:
        return found
    node, positions = read
    for statement in node.body:
        for name, place in _assigned(statement, positions, cls.__name__):
            found.setdefault(name, place)
    for statement in node.body:
        if isinstance(statement, ast.FunctionDef) and statement.name == "__init__":
            for inner in ast.walk(statement):
                for name, place in _assigned(inner, positions, cls.__name__):
                    if name.startswith("self."):
                        found.setdefault(name.removeprefix("self."), place)
                if isinstance(inner, ast.Expr) and ast.unparse(inner) == BEGINNING:
                    span = _span(positions, inner)
                    found[BEGINNING] = Place(span, span, holder=cls.__name__)
    return found


def _class_source(cls: type) -> tuple[ast.ClassDef, Positions] | None:
    try:
        filename = _filename(cls)
        lines, first = inspect.getsourcelines(cls)
        text = "".join(lines)
        node = parse(dedent(text)).body[0]
    except (OSError, TypeError, SyntaxError, IndexError):
        return None
    if not isinstance(node, ast.ClassDef):
        return None
    source = Source(text, filename, max(first, 1), cls.__name__)
    indent = len(text) - len(text.lstrip(" \t"))
    return node, Positions(source, indent=indent)


def _filename(cls: type) -> str | None:
    """The file of a class, as its functions name it."""
    for member in vars(cls).values():
        if inspect.isfunction(member):
            return member.__code__.co_filename
    return inspect.getsourcefile(cls)


def _assigned(node: ast.AST, positions: Positions, holder: str) -> Iterator[tuple[str, Place]]:
    """What a statement assigns or declares, as it writes it, and the place of each."""
    if not isinstance(node, ast.Assign | ast.AnnAssign):
        return
    annotation = node.annotation if isinstance(node, ast.AnnAssign) else None
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    parts = [p for t in targets for p in (t.elts if isinstance(t, ast.Tuple) else [t])]
    for target in parts:
        place = Place(
            _span(positions, node),
            _span(positions, target),
            _span(positions, node.value) if node.value is not None else None,
            _span(positions, annotation) if annotation is not None else None,
            holder,
        )
        yield ast.unparse(target), place


def _span(positions: Positions, node: ast.expr | ast.stmt) -> Span:
    return Span(positions.source, positions.start(node), positions.end(node))
