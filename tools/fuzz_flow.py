"""Write random typed programs for tools/compare_with_torch.py.

    python tools/fuzz_programs.py FOLDER [--count N] [--objects N] [--seed S]

FOLDER/fuzz_S.py then holds N functions (every third is called by those after it), with inputs for
each.  The programs end, and are accepted by torch except for now and then a value that a rule of
refinement or inference refuses.  The same seed gives the same file.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from fuzz_objects import DEFINITIONS, IMPORTS, object_function

SCALARS = ("int", "float", "bool", "str")
CONTAINERS = ("List[int]", "List[float]", "List[str]", "List[Tensor]", "Dict[str, int]")
CONTAINERS += ("Dict[int, float]", "Tuple[int, float]", "Tuple[Tensor, int]", "List[List[int]]")
OPTIONALS = ("Optional[int]", "Optional[Tensor]", "Optional[str]", "Optional[List[int]]")
TYPES = (*SCALARS, *SCALARS, "Tensor", "Tensor", *CONTAINERS, *OPTIONALS)
INPUTS = {
    "int": ["0", "3", "-2"],
    "float": ["0.5", "-1.25", "2.0"],
    "bool": ["True", "False"],
    "str": ["'ab'", "''", "'xyz'"],
    "Tensor": ["torch.tensor([[1.0, -2.0], [0.5, 3.0]])", "torch.ones(2, 2)"],
    "List[int]": ["[1, 2, 3]", "[]", "[4]"],
    "List[float]": ["[0.5, 1.5]", "[-1.0]"],
    "List[str]": ["['a', 'bc']", "[]"],
    "List[Tensor]": ["[torch.ones(2, 2), torch.zeros(2, 2)]"],
    "List[List[int]]": ["[[1, 2], [3]]", "[[5]]"],
    "Dict[str, int]": ["{'a': 1, 'b': 2}", "{}"],
    "Dict[int, float]": ["{1: 0.5}", "{2: 1.0, 0: 3.0}"],
    "Tuple[int, float]": ["(1, 0.5)"],
    "Tuple[Tensor, int]": ["(torch.ones(2, 2), 2)"],
    "Optional[int]": ["None", "4"],
    "Optional[Tensor]": ["None", "torch.ones(2, 2)"],
    "Optional[str]": ["None", "'q'"],
    "Optional[List[int]]": ["None", "[7, 8]"],
}


Maker = Callable[[random.Random, str], tuple[str, list[str]]]


@dataclass(frozen=True)
class Function:
    """What a caller must know of a written function."""

    name: str
    parameters: tuple[tuple[str, str], ...]
    result: str


def element(type: str) -> str:
    """The element type of a list, the inner type of an optional."""
    return type[type.index("[") + 1 : -1]


class Expressions:
    """Random expressions over the variables in sight."""

    def __init__(self, rng: random.Random, functions: list[Function]) -> None:
        self.rng = rng
        self.functions = functions
        self.scope: dict[str, str] = {}

    def pick(self, *makers: Callable[[], str]) -> str:
        return self.rng.choice(makers)()

    def variables(self, type: str) -> list[str]:
        return [name for name, known in self.scope.items() if known == type]

    def expression(self, type: str, depth: int = 2) -> str:
        """An expression of the type."""
        known = self.variables(type)
        if known and self.rng.random() < (0.4 if depth else 0.85):
            return self.rng.choice(known)
        callees = [f for f in self.functions if f.result == type]
        if depth and callees and self.rng.random() < 0.12:
            return self.call(self.rng.choice(callees), depth - 1)
        if depth and self.rng.random() < 0.06:
            one, other = self.expression(type, depth - 1), self.expression(type, depth - 1)
            return f"({one} if {self.expression('bool', depth - 1)} else {other})"
        if depth and type in SCALARS and self.rng.random() < 0.15:
            return self.subscript(type, depth - 1)
        return self.made(type, depth - 1) if depth else self.literal(type)

    def call(self, function: Function, depth: int) -> str:
        arguments = [self.expression(t, depth) for _, t in function.parameters]
        if self.rng.random() < 0.3 and arguments:
            arguments[-1] = f"{function.parameters[-1][0]}={arguments[-1]}"
        return f"{function.name}({', '.join(arguments)})"

    def subscript(self, type: str, depth: int) -> str:
        """An element of a container in sight, if there is one."""
        lists, tuples = self.variables(f"List[{type}]"), self.variables("Tuple[int, float]")
        dicts = self.variables("Dict[str, int]" if type == "int" else "Dict[int, float]")
        choices = [f"{name}[{self.rng.choice(['0', '-1', '1'])}]" for name in lists]
        if type in ("int", "float"):
            choices += [f"{name}[{0 if type == 'int' else 1}]" for name in tuples]
            key = "str" if type == "int" else "int"
            choices += [f"{name}[{self.expression(key, 0)}]" for name in dicts]
        return self.rng.choice(choices) if choices else self.made(type, depth)

    def literal(self, type: str) -> str:
        values = {
            "int": ["0", "1", "2", "-1", "7"],
            "float": ["0.5", "2.0", "-1.5", "0.1"],
            "bool": ["True", "False"],
            "str": ["'a'", "'xy'", "''"],
            "Tensor": ["torch.ones(2, 2)", "torch.zeros(2, 2)"],
            "List[int]": ["[1, 2]", "[3]"],
            "List[float]": ["[0.5]", "[1.0, 2.0]"],
            "List[str]": ["['p']", "['a', 'b']"],
            "List[Tensor]": ["[torch.ones(2, 2)]"],
            "List[List[int]]": ["[[1], [2, 3]]"],
            "Dict[str, int]": ["{'a': 1}", "{'a': 1, 'c': 3}"],
            "Dict[int, float]": ["{1: 0.5}", "{0: 1.0}"],
            "Tuple[int, float]": ["(1, 2.0)"],
            "Tuple[Tensor, int]": ["(torch.ones(2, 2), 1)"],
        }
        return self.rng.choice(values[element(type) if type.startswith("Optional") else type])

    def made(self, type: str, depth: int) -> str:
        """An operation whose result is of the type."""
        maker = {
            "int": self.integer,
            "float": self.float,
            "bool": self.truth,
            "str": self.string,
            "Tensor": self.tensor,
        }.get(type)
        if maker is not None:
            return maker(depth)
        if type.startswith("List"):
            return self.list(element(type), depth)
        if type.startswith("Tuple"):
            return f"({', '.join(self.expression(t, depth) for t in element(type).split(', '))})"
        if type.startswith("Optional"):
            return self.expression(element(type), depth)
        key, value = element(type).split(", ")
        pairs = [f"{self.literal(key)}: {self.expression(value, depth)}" for _ in range(2)]
        return "{" + ", ".join(pairs) + "}"

    def integer(self, depth: int) -> str:
        def binary() -> str:
            operator = self.rng.choice(["+", "-", "*", "//", "%", "&", "|", "^"])
            other = self.rng.choice(["2", "3", "5"]) if operator in "//%" else None
            return f"({self.expression('int', depth)} {operator} {other or e('int')})"

        def e(type: str) -> str:
            return self.expression(type, depth)

        return self.pick(
            binary,
            binary,
            lambda: f"-{e('int')}",
            lambda: f"len({e(self.rng.choice(['List[int]', 'str', 'Dict[str, int]']))})",
            lambda: f"int({e('float')})",
            lambda: f"int({e('bool')})",
            lambda: f"{self.rng.choice(['min', 'max'])}({e('int')}, {e('int')})",
            lambda: f"abs({e('int')})",
            lambda: f"sum({e('List[int]')})",
            lambda: f"{e('Tensor')}.size({self.rng.choice(['0', '1', '-1'])})",
            lambda: f"{e('Dict[str, int]')}.get({e('str')}, {e('int')})",
            lambda: f"({e('int')} << 1)",
        )

    def float(self, depth: int) -> str:
        def e(type: str) -> str:
            return self.expression(type, depth)

        return self.pick(
            lambda: f"({e('float')} {self.rng.choice('+-*')} {e('float')})",
            lambda: f"({e('float')} {self.rng.choice('+-*')} {e('int')})",
            lambda: f"({e('int')} / {self.rng.choice(['2', '4', '3'])})",
            lambda: f"float({e('int')})",
            lambda: f"float({e('Tensor')}.sum())",
            lambda: f"-{e('float')}",
            lambda: f"abs({e('float')})",
            lambda: f"math.{self.rng.choice(['sin', 'floor', 'cos', 'tanh'])}({e('float')}) * 1.0",
            lambda: f"max({e('float')}, {e('float')})",
            lambda: f"sum({e('List[float]')})",
            lambda: f"({e('float')} // 2.0)",
            lambda: f"({e('int')} ** 2) * 1.0",
        )

    def truth(self, depth: int) -> str:
        def e(type: str) -> str:
            return self.expression(type, depth)

        def compared() -> str:
            type = self.rng.choice(["int", "int", "float", "str"])
            operator = self.rng.choice(["<", "<=", ">", ">=", "==", "!="])
            return f"{e(type)} {operator} {e(type)}"

        return self.pick(
            compared,
            compared,
            compared,
            lambda: f"0 < {e('int')} < {e('int')}",
            lambda: f"not {e('bool')}",
            lambda: f"({e('bool')} and {e('bool')})",
            lambda: f"({e('bool')} or {e('bool')})",
            lambda: f"{e('int')} in {e('List[int]')}",
            lambda: f"{e('str')} not in {e('Dict[str, int]')}",
            lambda: f"bool({e('int')})",
            lambda: f"bool(({e('Tensor')} > {e('float')}).any())",
            lambda: f"{e('str')}.startswith({e('str')})",
            lambda: f"{e('List[int]')} == {e('List[int]')}",
            lambda: f"any([{e('bool')}, {e('bool')}])",
            self.is_none,
        )

    def is_none(self) -> str:
        known = [name for name, type in self.scope.items() if type.startswith("Optional")]
        if not known:
            return "True"
        return f"{self.rng.choice(known)} is {self.rng.choice(['', 'not '])}None"

    def string(self, depth: int) -> str:
        def e(type: str) -> str:
            return self.expression(type, depth)

        return self.pick(
            lambda: f"({e('str')} + {e('str')})",
            lambda: f"str({e(self.rng.choice(['int', 'float', 'bool', 'List[int]']))})",
            lambda: f"{e('str')}[{self.rng.choice(['1:', ':2', '::2'])}]",
            lambda: f"{e('str')}.{self.rng.choice(['upper', 'strip', 'title'])}()",
            lambda: f"'-'.join({e('List[str]')})",
            lambda: f"'{{}}:{{}}'.format({e('int')}, {e('str')})",
            lambda: f"f'{{{self.rng.choice(self.variables('int') or ['1'])}}}!'",
            lambda: f"'%d,%s' % ({e('int')}, {e('str')})",
            lambda: f"{e('str')}.replace('a', 'b')",
        )

    def tensor(self, depth: int) -> str:
        def e(type: str) -> str:
            return self.expression(type, depth)

        scalar = self.rng.choice(["int", "float"])
        return self.pick(
            lambda: f"({e('Tensor')} {self.rng.choice('+-*/')} {e('Tensor')})",
            lambda: f"({e('Tensor')} {self.rng.choice('+-*/')} {e(scalar)})",
            lambda: f"({e(scalar)} {self.rng.choice('+-*')} {e('Tensor')})",
            lambda: f"torch.{self.rng.choice(['tanh', 'relu', 'abs', 'neg'])}({e('Tensor')})",
            lambda: f"{e('Tensor')}.{self.rng.choice(['t', 'sigmoid', 'clone'])}()",
            lambda: f"torch.where({e('Tensor')} > 0, {e('Tensor')}, {e('Tensor')})",
            lambda: f"{e('Tensor')}[{self.rng.choice(['0', '-1', ':', ':, 0', '1:', 'None, 0'])}]",
            lambda: f"torch.full([2, 2], {e('float')})",
            lambda: f"torch.stack([{e('Tensor')}, {e('Tensor')}]).sum(0)",
            lambda: f"{e('Tensor')} @ torch.ones(2, 2)",
            lambda: f"-{e('Tensor')}",
            lambda: f"torch.cat({e('List[Tensor]')}, dim={self.rng.choice('01')})[:2, :2]",
            lambda: f"({e('Tensor')} ** 2)",
        )

    def list(self, inner: str, depth: int) -> str:
        def e(type: str) -> str:
            return self.expression(type, depth)

        makers = [
            lambda: f"[{', '.join(e(inner) for _ in range(self.rng.randint(1, 3)))}]",
            lambda: f"({e(f'List[{inner}]')} + {e(f'List[{inner}]')})",
            lambda: f"{e(f'List[{inner}]')}[{self.rng.choice(['1:', ':-1', ':2'])}]",
            lambda: self.comprehension(inner, depth),
        ]
        if inner in ("int", "float", "str"):
            makers.append(lambda: f"sorted({e(f'List[{inner}]')})")
        if inner == "int":
            makers.append(lambda: "list(range(4))")
        if inner == "str":
            makers.append(lambda: f"list({e('Dict[str, int]')}.keys())")
        return self.pick(*makers)

    def comprehension(self, inner: str, depth: int) -> str:
        source = self.rng.choice(["List[int]", "List[str]", "range", "List[float]"])
        name = self.rng.choice(["q", "w"])
        type = "int" if source == "range" else element(source)
        over = "range(3)" if source == "range" else self.expression(source, depth)
        outer = dict(self.scope)
        self.scope[name] = type
        body = self.expression(inner, depth)
        self.scope = outer
        return f"[{body} for {name} in {over}]"


class Body(Expressions):
    """The statements of one function."""

    def __init__(self, rng: random.Random, functions: list[Function], result: str) -> None:
        super().__init__(rng, functions)
        self.result = result
        self.lines: list[str] = []
        self.names = 0
        self.loops = 0
        self.indent = 1
        self.fixed: set[str] = set()

    def write(self, line: str) -> None:
        self.lines.append("    " * self.indent + line)

    def fresh(self) -> str:
        self.names += 1
        return f"{self.rng.choice('abcdefgh')}{self.names}"

    def block(self, size: int, may_leave: bool) -> None:
        """Statements, one deeper; names made in it are gone after it."""
        outer = dict(self.scope)
        self.indent += 1
        before = len(self.lines)
        for _ in range(self.rng.randint(1, size)):
            self.statement()
        if may_leave:
            self.leave()
        if len(self.lines) == before:
            self.write("pass")
        self.indent -= 1
        self.scope = {name: type for name, type in self.scope.items() if name in outer}

    def leave(self) -> None:
        """Break, continue, return or raise, where it may stand."""
        choices = ["return", "return", "raise"] + ["break", "continue"] * 2 * bool(self.loops)
        choice = self.rng.choice(choices)
        if choice == "return":
            self.write(f"return {self.expression(self.result)}")
        elif choice == "raise":
            self.write(f"raise {self.rng.choice(['ValueError', 'RuntimeError'])}('no')")
        else:
            self.write(choice)

    def statement(self) -> None:
        deep = self.indent > 3
        makers = [self.assign, self.assign, self.reassign, self.augment, self.change, self.unpack]
        makers += [self.printed, self.asserted]
        if not deep:
            makers += [self.branch, self.branch, self.refined, self.exit_branch]
        if not deep and self.loops < 2:
            makers += [self.for_loop, self.for_loop, self.while_loop]
        self.rng.choice(makers)()

    def assign(self) -> None:
        type, name = self.rng.choice(TYPES), self.fresh()
        value = self.expression(type)
        optional = type.startswith("Optional")
        if optional and self.rng.random() < 0.4:
            value = "None"
        hinted = optional or self.rng.random() < 0.15
        self.write(f"{name}: {type} = {value}" if hinted else f"{name} = {value}")
        self.scope[name] = type

    def reassign(self) -> None:
        names = [n for n in self.scope if n not in self.fixed]
        if names:
            name = self.rng.choice(names)
            self.write(f"{name} = {self.expression(self.scope[name])}")

    def augment(self) -> None:
        kinds = {"int": "+-*", "float": "+-*", "str": "+", "Tensor": "+-*", "List[int]": "+"}
        names = [n for n, t in self.scope.items() if t in kinds and n not in self.fixed]
        if names:
            name = self.rng.choice(names)
            type = self.scope[name]
            self.write(f"{name} {self.rng.choice(kinds[type])}= {self.expression(type, 1)}")

    def change(self) -> None:
        """Change a container."""
        names = [n for n, t in self.scope.items() if t.startswith(("List", "Dict"))]
        if not names:
            return
        name = self.rng.choice(names)
        type = self.scope[name]
        if type.startswith("Dict"):
            key, value = element(type).split(", ")
            self.write(f"{name}[{self.expression(key, 1)}] = {self.expression(value, 1)}")
        elif self.rng.random() < 0.7:
            self.write(f"{name}.append({self.expression(element(type), 1)})")
        elif element(type) in ("int", "float", "str"):
            self.write(
                f"{name}[0] {self.rng.choice(['', '+'])}= {self.expression(element(type), 1)}"
            )

    def unpack(self) -> None:
        type = self.rng.choice(["Tuple[int, float]", "Tuple[Tensor, int]"])
        names = [self.fresh(), self.fresh()]
        self.write(f"{', '.join(names)} = {self.expression(type, 1)}")
        self.scope.update(zip(names, element(type).split(", "), strict=True))

    def printed(self) -> None:
        if self.rng.random() < 0.3:
            self.write(f"print({self.expression('int', 1)}, {self.expression('str', 1)})")

    def asserted(self) -> None:
        if self.rng.random() < 0.3:
            self.write(f"assert {self.expression('bool', 1)}, 'asserted'")

    def condition(self) -> str:
        if self.rng.random() < 0.08 and self.variables("Tensor"):
            return f"({self.expression('Tensor', 0)}.sum() > 0)"
        if self.rng.random() < 0.08:
            return self.expression("int", 1)
        return self.expression("bool")

    def branch(self) -> None:
        """A branch, perhaps with a name that every side sets."""
        name = self.fresh() if self.rng.random() < 0.4 else None
        type = self.rng.choice(TYPES[:12])
        words = ["if"] + ["elif"] * (self.rng.random() < 0.25) + ["else"]
        if name is None and self.rng.random() < 0.4:
            words.pop()
        for word in words:
            self.write(f"{word}:" if word == "else" else f"{word} {self.condition()}:")
            leaves = self.rng.random() < 0.25
            if name is not None:
                self.indent += 1
                self.write(f"{name} = {self.expression(type)}")
                self.indent -= 1
            self.block(2, leaves and (word == "if" or (name is None and len(words) == 1)))
        if name is not None:
            self.scope[name] = type

    def exit_branch(self) -> None:
        self.write(f"if {self.condition()}:")
        self.block(1, True)

    def refined(self) -> None:
        """A branch on an optional, which is its value inside."""
        names = [
            n for n, t in self.scope.items() if t.startswith("Optional") and n not in self.fixed
        ]
        if not names:
            self.assign()
            return
        name = self.rng.choice(names)
        type, more = self.scope[name], self.rng.random()
        if more < 0.3:
            self.write(f"if {name} is None:")
            self.indent += 1
            self.write(f"{name} = {self.expression(element(type), 1)}")
            self.indent -= 1
            self.scope[name] = element(type)
            self.fixed.add(name)
            return
        test = f" and {self.expression('bool', 1)}" if more > 0.8 else ""
        self.write(f"if {name} is not None{test}:")
        self.scope[name] = element(type)
        self.fixed.add(name)
        self.block(2, more < 0.45)
        self.scope[name] = type
        self.fixed.discard(name)

    def for_loop(self) -> None:
        target, over, bound = self.iteration()
        self.write(f"for {target} in {over}:")
        self.loop_body(bound)

    def iteration(self) -> tuple[str, str, dict[str, str]]:
        one, two = self.fresh(), self.fresh()
        e = self.expression
        ways: list[Callable[[], tuple[str, str, dict[str, str]]]] = [
            lambda: (
                one,
                f"range({self.rng.choice(['3', '2', 'min(4, ' + e('int', 0) + ')'])})",
                {one: "int"},
            ),
            lambda: (one, "range(1, 6, 2)", {one: "int"}),
            lambda: (one, e("List[int]", 1), {one: "int"}),
            lambda: (one, e("List[Tensor]", 1), {one: "Tensor"}),
            lambda: (one, e("str", 1), {one: "str"}),
            lambda: (
                f"{one}, {two}",
                f"enumerate({e('List[float]', 1)})",
                {one: "int", two: "float"},
            ),
            lambda: (
                f"{one}, {two}",
                f"zip({e('List[int]', 1)}, {e('List[str]', 1)})",
                {one: "int", two: "str"},
            ),
            lambda: (
                f"{one}, {two}",
                f"{e('Dict[str, int]', 1)}.items()",
                {one: "str", two: "int"},
            ),
            lambda: (one, e("Dict[str, int]", 1), {one: "str"}),
        ]
        return self.rng.choice(ways)()

    def loop_body(self, bound: dict[str, str]) -> None:
        outer, fixed = dict(self.scope), set(self.fixed)
        self.scope.update(bound)
        self.fixed |= {n for n, t in self.scope.items() if t.startswith(("List", "Dict", "str"))}
        self.fixed |= {n for n in outer if n in fixed}
        self.loops += 1
        self.block(3, self.rng.random() < 0.12)
        self.loops -= 1
        self.scope, self.fixed = outer, fixed

    def while_loop(self) -> None:
        name = self.fresh()
        begin = self.rng.choice(["0", "1", f"({self.expression('int', 1)}) % 5"])
        self.write(f"{name} = {begin}")
        self.scope[name] = "int"
        test = f" and {self.expression('bool', 1)}" if self.rng.random() < 0.4 else ""
        flag = "True" if self.rng.random() < 0.1 else f"{name} < 4{test}"
        self.write(f"while {flag}:")
        self.indent += 1
        self.write(f"{name} += 1")
        if flag == "True":
            self.write(f"if {name} > 3:")
            self.write("    break")
        self.indent -= 1
        self.fixed.add(name)
        self.loop_body({})


def function(rng: random.Random, name: str, functions: list[Function]) -> tuple[Function, str]:
    """One function and its text."""
    result = rng.choice(TYPES)
    body = Body(rng, functions, result)
    parameters = tuple(
        (f"{rng.choice('xyzuv')}{i}", rng.choice(TYPES)) for i in range(rng.randint(1, 4))
    )
    body.scope.update(parameters)
    for _ in range(rng.randint(2, 6)):
        body.statement()
    body.write(f"return {body.expression(result)}")
    head = ", ".join(f"{n}: {t}" for n, t in parameters)
    text = "\n".join([f"def {name}({head}) -> {result}:", *body.lines])
    return Function(name, parameters, result), text


def program_file(
    seed: int, count: int, objects: int = 0, makers: Sequence[Maker] = (object_function,)
) -> str:
    """The text of a program file.

    `objects` more of its functions are over classes and the like, which the makers write in turn.
    """
    rng = random.Random(seed)
    texts, known, tables = [], [], ([], [])
    for number in range(objects):
        name = f"o{seed}_{number}"
        text, values = makers[number % len(makers)](rng, name)
        texts.append(text)
        tables[0].append(f'    "{name}": lambda: (None, torch.jit.script({name})),')
        tables[1].append(f'    "{name}": lambda: [{", ".join(values)}],')
    for number in range(count):
        name = f"f{seed}_{number}"
        made, text = function(rng, name, known[-6:])
        texts.append(text)
        if number % 3 == 0:
            known.append(made)
        calls = []
        for _ in range(3):
            values = [rng.choice(INPUTS[t]) for _, t in made.parameters]
            calls.append(f"({', '.join(values)},)")
        tables[0].append(f'    "{name}": lambda: (None, torch.jit.script({name})),')
        tables[1].append(f'    "{name}": lambda: [{", ".join(calls)}],')
    head = "import math\nfrom typing import Dict, List, Optional, Tuple\n\n"
    head += "import rushlight as torch\nfrom rushlight import Tensor\n"
    if objects:
        head = f"{IMPORTS}{head}\n{DEFINITIONS}"
    return (
        "\n\n\n".join([head, *texts])
        + "\n\n\nPROGRAMS = {\n"
        + "\n".join(tables[0])
        + ("\n}\nINPUTS = {\n" + "\n".join(tables[1]) + "\n}\n")
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--objects", type=int, default=0, help="functions over classes, besides")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    text = program_file(options.seed, options.count, options.objects)
    (options.folder / f"fuzz_{options.seed}.py").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
