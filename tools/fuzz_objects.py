"""Random functions over classes, enumerations, named tuples, unions, contexts and views.

The counterpart of `fuzz_programs.Body` for what needs definitions: every file of programs starts
with `DEFINITIONS`, and `object_function` writes a function over them.
"""

from __future__ import annotations

import random
from collections.abc import Callable

__all__ = ["DEFINITIONS", "IMPORTS", "object_function"]

DEFINITIONS = """
class Colour(enum.Enum):
    RED = 1
    GREEN = 2
    BLUE = 5


class Point(NamedTuple):
    x: int
    y: float
    name: str = "p"


@torch.jit.script
class Counter:
    def __init__(self, start: int):
        self.count = start
        self.seen: List[int] = []
        self.last = torch.jit.annotate(Optional[int], None)
        self.mean = torch.ones(2)
        self.pair = (self.mean, torch.zeros(2))
        self.maybe = torch.jit.annotate(Optional[torch.Tensor], None)
        self.parts = torch.jit.annotate(List[torch.Tensor], [])

    def add(self, n: int, times: int = 1) -> int:
        self.count += n * times
        self.seen.append(n)
        self.last = n
        return self.count

    @property
    def total(self) -> int:
        return self.count + len(self.seen)

    def __enter__(self) -> int:
        self.count += 10
        return self.count

    def __exit__(self, kind: Any, value: Any, traceback: Any) -> None:
        self.count -= 1

    def __len__(self) -> int:
        return len(self.seen)

    def __contains__(self, n: int) -> bool:
        return n in self.seen

    def __getitem__(self, i: int) -> int:
        return self.seen[i]

    def __lt__(self, other: "Counter") -> bool:
        return self.count < other.count

    def __add__(self, other: "Counter") -> "Counter":
        return Counter(self.count + other.count)


def given(n: int) -> Tuple[Counter, List[Counter], Point, Optional[Point], Colour,
                           Dict[str, Colour], Optional[int]]:
    c = Counter(n)
    d = Counter(n + 1)
    c.add(3)
    p = Point(n, 0.5)
    q: Optional[Point] = None
    o: Optional[int] = None
    col = Colour.RED
    cs = [c, d, c]
    if n > 1:
        q = Point(n, -1.5, "q")
        o = n
        col = Colour.BLUE
        cs = [d]
    return c, cs, p, q, col, {"a": Colour.GREEN, "b": col}, o
"""

IMPORTS = "import enum\nfrom typing import Any, NamedTuple, Union\n"


class _Writer:
    """Lines over an int `n`, a list `xs`, a tensor `t`, a union `u` and what statements add."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.lines: list[str] = []
        self.indent = 1
        self.numbers = ["n", "len(xs)", "total"]
        self.counters = ["c"]
        self.fresh = 0

    def write(self, line: str) -> None:
        self.lines.append("    " * self.indent + line)

    def name(self, letter: str) -> str:
        self.fresh += 1
        return f"{letter}{self.fresh}"

    def number(self) -> str:
        c = self.rng.choice(self.counters)
        choices = [
            *self.numbers,
            *(f"{c}.count", f"{c}.total", f"len({c})", f"{c}.add({self.small()})", "col.value"),
            *(f"{c}.add({self.small()}, times=2)", f"(1 if {self.truth()} else {self.small()})"),
            *("p.x", "int(p.y)", "int(t.sum().item())", "p[0]", self.small()),
        ]
        return self.rng.choice(choices)

    def small(self) -> str:
        return str(self.rng.randint(-3, 6))

    def truth(self) -> str:
        c = self.rng.choice(self.counters)
        choices = (
            *(
                "col == Colour.RED",
                "col is Colour.GREEN",
                "isinstance(u, int)",
                "n > 1",
                "len(xs)==2",
            ),
            *(
                f"{self.small()} in {c}",
                f"{c}.last is None",
                f"{c} < c",
                "p.name == 'p'",
                "total < 9",
            ),
        )
        return self.rng.choice(choices)

    def block(self, depth: int, size: int) -> None:
        kept = list(self.numbers), list(self.counters)
        self.indent += 1
        for _ in range(self.rng.randint(1, size)):
            self.statement(depth)
        self.indent -= 1
        self.numbers, self.counters = kept

    def statement(self, depth: int = 2) -> None:
        ways: list[Callable[[int], None]] = [self.add, self.counter, self.tensor, self.tensor]
        ways += [self.point, self.add, self.colour]
        if depth:
            ways += [self.branch, self.loop, self.context, self.union, self.optional, self.early]
        self.rng.choice(ways)(depth - 1)

    def add(self, depth: int) -> None:
        self.write(f"total {self.rng.choice(['+=', '-=', '='])} {self.number()}")

    def colour(self, depth: int) -> None:
        self.write(f"col = Colour.{self.rng.choice(['RED', 'GREEN', 'BLUE'])}")

    def counter(self, depth: int) -> None:
        name = self.name("c")
        other = self.rng.choice(self.counters)
        made = (f"Counter({self.number()})", f"{other} + c", other, f"sorted([{other}, c])[0]")
        self.write(f"{name} = {self.rng.choice(made)}")
        self.counters.append(name)
        self.write(f"{name}.add({self.small()})")

    def point(self, depth: int) -> None:
        ways = (f"Point({self.number()}, 1.5)", f"Point(y=p.y * 2, x={self.number()})")
        self.write(f"p = {self.rng.choice(ways)}")

    def tensor(self, depth: int) -> None:
        ways = (
            *("t[0] += 1", "t.view(-1)[1] = 7", "t.t()[0].mul_(2)", "t = t.clone()", "t += t.t()"),
            *("v = t[1:]\n{}v.add_(t[0].clone())", "v = t.reshape(4)\n{}v.zero_()\n{}v[2:] = 3"),
            *("t[:, 1] = t[:, 0]", "t = t + t.transpose(0, 1)", "t.select(0, 1).fill_(5)"),
            *("w = t\n{}w.sub_(1)", "t[t > 2] = 0", "t = torch.relu(t)", "t.copy_(t.t().clone())"),
        )
        self.write(self.rng.choice(ways).replace("{}", "    " * self.indent))

    def branch(self, depth: int) -> None:
        self.write(f"if {self.truth()}:")
        self.block(depth, 2)
        if self.rng.random() < 0.6:
            self.write("else:")
            self.block(depth, 2)

    def loop(self, depth: int) -> None:
        name = self.name("i")
        over = self.rng.choice(("xs", "range(3)", "c.seen[:2]", "[k.value for k in Colour]"))
        self.write(f"for {name} in {over}:")
        self.numbers.append(name)
        self.block(depth, 3)
        if self.rng.random() < 0.4:
            self.write(f"    if {self.truth()}:")
            self.write(f"        {self.rng.choice(['break', 'continue'])}")
            self.write(f"    total += {name}")
        self.numbers.remove(name)

    def context(self, depth: int) -> None:
        name = self.name("k")
        self.write(f"with {self.rng.choice(self.counters)} as {name}:")
        self.numbers.append(name)
        self.block(depth, 2)
        self.numbers.remove(name)

    def union(self, depth: int) -> None:
        self.write("if isinstance(u, int):")
        self.write(f"    total += u + {self.number()}")
        self.write("else:")
        self.write(f"    total += len(u) * {self.small()}")
        if self.rng.random() < 0.5:
            self.write(f"u = {self.rng.choice([self.small(), repr('abc')])}")

    def optional(self, depth: int) -> None:
        name = self.name("o")
        self.write(f"{name} = {self.rng.choice(self.counters)}.last")
        self.write(f"if {name} is not None:")
        self.write(f"    total += {name}")

    def early(self, depth: int) -> None:
        self.write(f"if total > {self.rng.randint(20, 60)} and {self.truth()}:")
        ways = ("return total, c.count, t", 'raise ValueError(f"total {total} of {n}")')
        self.write(f"    {self.rng.choice(ways)}")


def object_function(rng: random.Random, name: str) -> tuple[str, list[str]]:
    """The text of a function, and arguments for three calls of it."""
    writer = _Writer(rng)
    writer.write("c = Counter(n)")
    writer.write("total = 0")
    writer.write("p = Point(n, 0.5)")
    writer.write("t = t.clone()")
    for _ in range(rng.randint(4, 9)):
        writer.statement()
    writer.write("return total, c.count, t")
    head = "n: int, xs: List[int], t: Tensor, u: Union[int, str], col: Colour"
    text = f"def {name}({head}) -> Tuple[int, int, Tensor]:\n" + "\n".join(writer.lines)
    values = []
    for _ in range(3):
        union = rng.choice(["3", "'word'"])
        colour = rng.choice(["Colour.RED", "Colour.BLUE"])
        numbers = rng.choice(["[1, 2, 3]", "[]", "[4, -1]"])
        tensor = "torch.tensor([[1.0, -2.0], [0.5, 3.0]])"
        values.append(f"({rng.randint(-2, 5)}, {numbers}, {tensor}, {union}, {colour})")
    return text, values
