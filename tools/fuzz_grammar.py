"""Random programs by families, for tools/fuzz_programs.py: tables of what may be written.

A table maps a type to ways to write an expression of it; `$int$` in one stands for an expression of
that type.  Statements are ways too; `$var:List[int]$` in one stands for a variable.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from fuzz_all import FAMILIES
from fuzz_families import Family

__all__ = ["Program", "Statement", "random_program"]

_HOLE = re.compile(r"\$([^$]+)\$")
_ATOM = re.compile(r"[\w.]+|'[^'\\]*'|[\w.]+\([^()]*\)|[\[{(][^\[\](){}]*[\])}]|-?\d*:.*|:.*")


@dataclass(frozen=True)
class Statement:
    """Lines, and the variable that they define, if they do."""

    lines: tuple[str, ...]
    name: str = ""


@dataclass(frozen=True)
class Program:
    """A function of statements that returns its variables, and arguments to call it with."""

    family: str
    parameters: tuple[tuple[str, str], ...]
    statements: tuple[Statement, ...]
    returned: tuple[str, ...]
    calls: tuple[str, ...]
    text: str = ""

    @property
    def source(self) -> str:
        """The whole text, which defines `target`, what is scripted, and `calls()`."""
        family = FAMILIES[self.family]
        if self.text:
            body = self.text
        else:
            head = ", ".join(f"{n}: {t}" for n, t in self.parameters if n != "self")
            body = family.function.replace("$head$", head)
            indent = " " * (len(body) - len(body.rstrip(" ")))
            lines = [line for s in self.statements for line in s.lines]
            lines.append(f"return ({', '.join(self.returned)},)")
            body += f"\n{indent}".join(lines)
        calls = ", ".join(self.calls)
        return f"{family.header}\n{body}\n\ntarget = {family.target}\ncalls = lambda: [{calls}]\n"

    def without(self, number: int) -> Program:
        """The program without one of its statements."""
        left = self.statements[:number] + self.statements[number + 1 :]
        gone = self.statements[number].name
        kept = tuple(r for r in self.returned if r != gone or any(s.name == r for s in left))
        return replace(self, statements=left, returned=kept)


@dataclass
class _Writer:
    """Random expressions and statements over the variables in sight."""

    rng: random.Random
    family: Family
    scope: dict[str, str]
    locked: set[str] = field(default_factory=set)
    count: int = 0

    def variables(self, type: str) -> list[str]:
        return [n for n, t in self.scope.items() if t == type]

    def expression(self, type: str, depth: int) -> str:
        known = self.variables(type)
        if known and self.rng.random() < (0.35 if depth else 0.6):
            return self.rng.choice(known)
        ways = self.family.ways.get(type)
        if ways and depth and self.rng.random() < 0.8:
            return self.filled(self.rng.choice(ways), depth - 1)
        literals = self.family.literals.get(type)
        if literals:
            return self.rng.choice(literals)
        assert ways, type
        return self.filled(self.rng.choice(ways), max(depth - 1, 0))

    def filled(self, way: str, depth: int) -> str:
        return _HOLE.sub(lambda hole: self.hole(hole.group(1), depth), way)

    def hole(self, what: str, depth: int) -> str:
        if what.startswith("var:"):
            return self.rng.choice(self.variables(what[4:]))
        text = self.expression(what, depth)
        return text if _ATOM.fullmatch(text) else f"({text})"

    def fresh(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def statement(self, depth: int) -> list[Statement]:
        kind = self.rng.random()
        if kind < 0.5:
            return [self.assign()]
        if kind < 0.85 or not depth:
            return [self.change()]
        return [self.compound(depth)]

    def assign(self) -> Statement:
        type, name = self.rng.choice(self.family.types), self.fresh()
        value = self.expression(type, 2)
        self.scope[name] = type
        declared = f": {type}" if self.rng.random() < 0.15 or type.startswith("Optional") else ""
        return Statement((f"{name}{declared} = {value}",), name)

    def change(self) -> Statement:
        """A statement of the table whose variables are in sight."""
        ways = list(self.family.statements)
        self.rng.shuffle(ways)
        for way in ways:
            wanted = [h[4:] for h in _HOLE.findall(way) if h.startswith("var:")]
            if all(self.variables(type) for type in wanted):
                return Statement(tuple(self.filled(way, 1).split("\n")))
        return self.assign()

    def compound(self, depth: int) -> Statement:
        """An `if` or a loop around statements."""
        outer, name = dict(self.scope), f"i{self.count}"
        self.count += 1
        head = self.rng.choice(self.family.heads).replace("$name$", name)
        bound = re.search(r"#(.*)$", head)
        head = self.filled(head.partition("#")[0].rstrip(), 1)
        if bound is not None:
            self.scope[name] = bound.group(1)
        body = [s for _ in range(self.rng.randint(1, 3)) for s in self.statement(depth - 1)]
        inner = [f"    {line}" for s in body for line in s.lines]
        if head.startswith(("for", "while")) and self.rng.random() < 0.3:
            leave = self.rng.choice(("break", "continue"))
            inner += [f"    if {self.expression('bool', 1)}:", f"        {leave}"]
        self.scope = dict(outer)
        lines = [*head.split("\n"), *inner]
        if head.startswith("if") and self.rng.random() < 0.5:
            body = [s for _ in range(self.rng.randint(1, 2)) for s in self.statement(depth - 1)]
            lines += ["else:", *(f"    {line}" for s in body for line in s.lines)]
            self.scope = outer
        return Statement(tuple(lines))


def random_program(family: str, seed: int) -> Program:
    """The program of a family with a number."""
    rng, table = random.Random(f"{family} {seed}"), FAMILIES[family]
    if table.make is not None:
        text, calls = table.make(rng)
        return Program(family, (), (), (), tuple(calls), text)
    types = [rng.choice(table.parameters) for _ in range(rng.randint(2, 4))]
    parameters = tuple((f"{'abcd'[i]}", type) for i, type in enumerate(types))
    writer = _Writer(rng, table, dict(parameters) | table.scope)
    statements = [s for _ in range(rng.randint(3, 7)) for s in writer.statement(2)]
    names = [s.name for s in statements if s.name]
    returned = [*names, *(n for n, t in parameters if t[0] in "LD"), *table.scope]
    calls = [_call(rng, table, types) for _ in range(3)]
    return Program(family, parameters, tuple(statements), tuple(returned) or ("1",), tuple(calls))


def _call(rng: random.Random, table: Family, types: Sequence[str]) -> str:
    values = [rng.choice(table.inputs.get(t) or table.literals[t]) for t in types]
    return f"({''.join(f'{v}, ' for v in values)})"
