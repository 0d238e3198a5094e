"""Compare native code with plans on random functions over objects, enumerations and NamedTuples.

    python tools/fuzz_native_objects.py [--count N] [--seed S]

The counterpart of tools/fuzz_native.py for functions that take objects, some of them twice: what
they give, print and leave behind, and what is one object there, must be the same both ways.
"""

from __future__ import annotations

import argparse
import faulthandler
import importlib.util
import io
import random
import struct
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

import fuzz_objects

import rushlight
from rushlight.interpreter.code.machine import Machine
from rushlight.interpreter.native.kinds import NotNative
from rushlight.interpreter.native.program import FAILED, compile_native
from rushlight.interpreter.native.source import write_native
from rushlight.interpreter.plans.plan import make_plan
from rushlight.interpreter.running.executable import executable_of
from rushlight.interpreter.values.objects import EnumMember, ScriptObject

NEVER = np.zeros(1, np.int64)

HEAD = (
    "n: int, xs: List[int], c: Counter, cs: List[Counter], p: Point, q: Optional[Point], "
    "col: Colour, cols: Dict[str, Colour], o: Optional[int]"
)
RESULT = "Tuple[int, Point, Optional[Point], List[Optional[int]], List[Counter], Colour, str]"
CLOSED = """
def {name}(n: int, xs: List[int]) -> Tuple[int, Point, List[Optional[int]], List[int], int, str]:
    c, cs, p, q, col, cols, o = given(n)
    total, p, q, seen, cs, col, text = {name}_over(n, xs, c, cs, p, q, col, cols, o)
    if q is not None:
        text += q.name
    return total, p, seen, [each.count for each in cs], col.value, text
"""


class Writer(fuzz_objects._Writer):
    """Lines over the arguments of `HEAD`; `seen` is a list of whole numbers, some of them None."""

    def number(self) -> str:
        c = self.rng.choice(self.counters)
        choices = (
            *(f"{c}.count", f"{c}.total", f"len({c})", f"{c}.add({self.small()})", "col.value"),
            *("p.x", "int(p.y)", "p[0]", self.small(), f"len(cs) + {c}.add(2, times=2)"),
            *(f"(1 if {self.truth()} else {self.small()})", "len(seen)", "len(col.name)"),
        )
        return self.rng.choice((*self.numbers, *choices))

    def truth(self) -> str:
        c = self.rng.choice(self.counters)
        choices = (
            *("col == Colour.RED", "col != Colour.GREEN", "o is None", "q is not None", "n > 1"),
            *(f"{self.small()} in {c}", f"{c}.last is None", f"{c} < c", "p.name == 'p'"),
            *("total < 9", "'a' in cols", "cols['b'] == col", "seen[-1] is None"),
        )
        return self.rng.choice(choices)

    def counter(self, depth: int) -> None:
        name = self.name("c")
        made = (f"Counter({self.number()})", f"{self.rng.choice(self.counters)} + c", "cs[0]")
        self.write(f"{name} = {self.rng.choice(made)}")
        self.counters.append(name)
        self.write(f"{name}.add({self.small()})")
        if self.rng.random() < 0.3:
            self.write(f"cs.append({name})")

    def point(self, depth: int) -> None:
        ways = (
            *(f"p = Point({self.number()}, 1.5)", f"p = Point(y=p.y / 3, x={self.number()})"),
            *("q = p", "q = None", "x, y, name = p", "text += str(p.y) + p.name"),
        )
        self.write(self.rng.choice(ways))

    def colour(self, depth: int) -> None:
        ways = (
            *(f"col = Colour.{name}" for name in ("RED", "GREEN", "BLUE")),
            *("cols['c'] = col", "col = cols['a']", "text += col.name"),
        )
        self.write(self.rng.choice(ways))

    def tensor(self, depth: int) -> None:
        """Tensors of objects, or in their place what may be None."""
        number = self.number()
        if self.rng.random() < 0.5:
            self.tensor_of_object(number)
            return
        ways = (
            *(f"seen.append({number})", "seen.append(o)", "seen.append(c.last)", "o = None"),
            *(f"o = {number}", "o = seen[0]", f"print(total, p, o, seen, {number})"),
            *(f"text += '{{}},'.format({number})", f"c.count = {number}", "c.seen.append(len(cs))"),
        )
        self.write(self.rng.choice(ways))

    def tensor_of_object(self, number: str) -> None:
        c, d = self.rng.choice(self.counters), self.rng.choice(self.counters)
        ways = (
            *(f"{c}.mean = {d}.mean + {number}", f"{c}.mean = {d}.pair[1]", f"{c}.maybe = None"),
            *(f"{c}.maybe = {d}.mean", f"{c}.parts.append({d}.mean)", f"{c}.parts = {d}.parts[:]"),
            *(f"{c}.pair = ({d}.pair[1] * 0.5, {c}.mean)", f"total += len({c}.parts)"),
            *(f"total += int({c}.mean[0])", f"total += int({c}.pair[0].sum())"),
            *(f"{c}.mean = {c}.parts[-1]", f"{c}.mean = {d}.mean[:1]"),
            f"m = {c}.maybe\nif m is not None:\n    {d}.mean = m - {d}.mean",
        )
        for line in self.rng.choice(ways).split("\n"):
            self.write(line)

    def union(self, depth: int) -> None:
        """In the place of unions, a refined NamedTuple."""
        self.write("if q is not None:")
        self.write(f"    total += q.x + {self.number()}")
        self.write("else:")
        self.write(f"    q = Point({self.small()}, p.y)")

    def loop(self, depth: int) -> None:
        name = self.name("i")
        over = self.rng.choice(("xs", "range(3)", "c.seen[:2]", "range(len(cs))"))
        self.write(f"for {name} in {over}:")
        self.numbers.append(name)
        self.block(depth, 3)
        if self.rng.random() < 0.4:
            self.write(f"    if {self.truth()}:")
            self.write(f"        {self.rng.choice(['break', 'continue'])}")
            self.write(f"    total += {name}")
        self.numbers.remove(name)

    def context(self, depth: int) -> None:
        self.loop(depth)

    def early(self, depth: int) -> None:
        self.write(f"if total > {self.rng.randint(20, 60)} and {self.truth()}:")
        ways = ("return total, p, q, seen, cs, col, text", 'raise ValueError(f"total {total}")')
        self.write(f"    {self.rng.choice(ways)}")


def program(rng: random.Random, name: str) -> str:
    """The text of a function."""
    writer = Writer(rng)
    for line in ("total = 0", "text = ''", "seen: List[Optional[int]] = [None]"):
        writer.write(line)
    for _ in range(rng.randint(3, 8)):
        writer.statement()
    writer.loop(1)
    writer.write("return total, p, q, seen, cs, col, text")
    return f"def {name}({HEAD}) -> {RESULT}:\n" + "\n".join(writer.lines)


def closed_function(rng: random.Random, name: str) -> tuple[str, list[str]]:
    """The text of a function that makes the objects itself, and arguments for three calls of it."""
    values = [f"({n}, {rng.choice(['[1, 2, 3]', '[]', '[4, -1]'])})" for n in (-1, 1, 4)]
    return program(rng, f"{name}_over") + "\n\n" + CLOSED.format(name=name), values


def exact(value: Any, known: dict[int, int]) -> Any:
    """What must be equal: values, their types, and which lists and objects are the same."""
    if isinstance(value, rushlight.Tensor):  # each place of an object has a handle of its own
        value = value._array
    if isinstance(value, (list, dict, ScriptObject, np.ndarray)):
        if id(value) in known:
            return "the same", known[id(value)]
        known[id(value)] = len(known)
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.shape, value.tobytes()
    if isinstance(value, ScriptObject):
        return value.cls.qualified_name, [exact(each, known) for each in value.slots]
    if isinstance(value, (list, tuple)):
        name = str(getattr(value, "type", ""))
        return type(value), name, [exact(each, known) for each in value]
    if isinstance(value, dict):
        return dict, [(exact(k, known), exact(v, known)) for k, v in value.items()]
    if isinstance(value, EnumMember):
        return value.enum.qualified_name, value.name
    return type(value), struct.pack("d", value) if isinstance(value, float) else value


def no_calls(*_: object) -> Any:
    raise AssertionError("nothing is called")


def checked(
    function: Any, text: str, make: Callable[[int], Any], rng: random.Random, counts: Counter[str]
) -> None:
    """Run a function both ways."""
    try:
        unit = rushlight.jit.script(function)._rushlight_function
        code = executable_of(unit, None).code
    except RuntimeError:
        counts["refused"] += 1
        return
    try:
        source = write_native(code, [each.type for each in unit.signature.arguments])
        run = compile_native(source)
    except NotNative as error:
        counts["not native"] += 1
        counts[f"because of {error}".partition(" (line")[0]] += 1
        return
    plan = make_plan(code, no_calls)
    assert plan is not None
    counts["native"] += 1
    counts["with ways left out"] += bool(source.left_out)
    for _ in range(4):
        n, xs = rng.randint(-1, 4), rng.choice(([1, 2, 3], [], [4, -1]))
        own, others = ([n, list(xs), *make(n)] for _ in range(2))
        before = exact(own, {})
        printed, wanted = io.StringIO(), io.StringIO()
        with redirect_stdout(printed):
            found = run(50_000_000, NEVER.ctypes.data, 0, *own)
        try:
            with redirect_stdout(wanted):
                expected = exact((plan.run(*others), others), {})
        except Exception as error:
            counts["raised"] += 1
            if found is not FAILED:
                report(text, n, found, repr(error), counts)
            continue
        if found is FAILED:
            counts["given up"] += 1
            if exact(own, {}) != before or printed.getvalue():
                report(text, n, exact(own, {}), before, counts)
        elif exact((found, own), {}) != expected or printed.getvalue() != wanted.getvalue():
            report(text, n, (exact((found, own), {}), printed.getvalue()),
                   (expected, wanted.getvalue()), counts)  # fmt: skip
        else:
            counts["equal"] += 1


def report(text: str, values: Any, found: Any, wanted: Any, counts: Counter[str]) -> None:
    counts["different"] += 1
    print(f"{text}\n  {values}\n  natively {found}\n  but      {wanted}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    faulthandler.enable()
    counts: Counter[str] = Counter()
    rng = random.Random(options.seed)
    texts = [program(rng, f"f{number}") for number in range(options.count)]
    head = fuzz_objects.IMPORTS
    head += "from typing import Dict, List, Optional, Tuple\n\nimport rushlight as torch\n"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fuzzed_natively.py"
        path.write_text("\n\n".join([head, fuzz_objects.DEFINITIONS, *texts]))
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = module
        spec.loader.exec_module(module)
        given = executable_of(rushlight.jit.script(module.given)._rushlight_function, None).code
        machine = Machine(given, no_calls)
        for number, text in enumerate(texts):
            make = lambda n: machine.run([n])  # noqa: E731
            checked(getattr(module, f"f{number}"), text, make, rng, counts)
            if number % 50 == 49:
                print(number + 1, dict(counts), flush=True)
    print(", ".join(f"{key}: {count}" for key, count in sorted(counts.items())))
    return 1 if counts["different"] else 0


if __name__ == "__main__":
    sys.exit(main())
