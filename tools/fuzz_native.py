"""Compare native code with plans, bit for bit, on random programs over numbers and containers.

    python tools/fuzz_native.py [--count N] [--seed S]

Each program of tools/fuzz_flow.py that has no tensors is run natively and in its plan: values,
types, what is printed and what becomes of the arguments must be equal; where the plan raises,
native code must give up.  Every second one is compiled quickly.  Prints what differs, and how many
became native.
"""

from __future__ import annotations

import argparse
import copy
import faulthandler
import io
import random
import struct
import sys
import warnings
from collections import Counter
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

import fuzz_flow

import rushlight
from rushlight.interpreter.native.kinds import NotNative
from rushlight.interpreter.native.program import FAILED, compile_native
from rushlight.interpreter.native.source import write_native
from rushlight.interpreter.plans.plan import make_plan
from rushlight.interpreter.running.executable import executable_of

ABSENT = ("Tensor", "torch")
"""What native code has no values or forms for, in the text of a program."""

NEVER = np.zeros(1, np.int64)


MORE_INPUTS = {"str": ["'né ab'", "'日本'"], "List[str]": ["['é', 'b', 'ü']"]}
"""Strings whose bytes are not their characters."""


class PlainTypes:
    """The types of programs, and their inputs, for as long as this is entered."""

    def __enter__(self) -> None:
        self._types, self._inputs = fuzz_flow.TYPES, fuzz_flow.INPUTS
        more = {key: [*self._inputs[key], *values] for key, values in MORE_INPUTS.items()}
        fuzz_flow.INPUTS = self._inputs | more
        fuzz_flow.TYPES = tuple(t for t in self._types if not any(word in t for word in ABSENT))

    def __exit__(self, *_: object) -> None:
        fuzz_flow.TYPES, fuzz_flow.INPUTS = self._types, self._inputs


def program(rng: random.Random) -> tuple[fuzz_flow.Function, str]:
    """A function that has nothing absent."""
    while True:
        made, text = fuzz_flow.function(rng, "f", [])
        if ("for " in text or "while " in text) and not any(word in text for word in ABSENT):
            return made, text


def exact(value: Any) -> Any:
    """What must be equal."""
    if isinstance(value, (list, tuple)):
        return type(value), [exact(each) for each in value]
    if isinstance(value, dict):
        return type(value), [(exact(k), exact(v)) for k, v in value.items()]
    return type(value), struct.pack("d", value) if isinstance(value, float) else value


def no_calls(*_: object) -> Any:
    raise AssertionError("nothing is called")


def checked(made: fuzz_flow.Function, text: str, rng: random.Random, counts: Counter[str]) -> None:
    """Run a program both ways."""
    try:
        unit = rushlight.jit.CompilationUnit(text)
        code = executable_of(unit.f._rushlight_function, None).code
        types = [each.type for each in unit.f.graph._inner.inputs]
    except RuntimeError:
        counts["refused"] += 1
        return
    try:
        run = compile_native(write_native(code, types), quickly=counts["native"] % 2 == 1)
    except NotNative as error:
        counts["not native"] += 1
        counts[f"because of {error}".partition(" (line")[0]] += 1
        return
    plan = make_plan(code, no_calls)
    assert plan is not None
    counts["native"] += 1
    for _ in range(6):
        values = [eval(rng.choice(fuzz_flow.INPUTS[t])) for _, t in made.parameters]
        own, others = copy.deepcopy(values), copy.deepcopy(values)
        printed, wanted = io.StringIO(), io.StringIO()
        with redirect_stdout(printed):
            found = run(50_000_000, NEVER.ctypes.data, 0, *own)
        kept = exact(values)
        with redirect_stdout(io.StringIO()):
            straight = run(50_000_000, NEVER.ctypes.data, 1, *values)
        if exact(values) != kept or (straight is not FAILED and exact(straight) != exact(found)):
            report(text, values, straight, (found, "straight"), counts)
        try:
            with redirect_stdout(wanted):
                expected = exact(plan.run(*others))
        except Exception as error:
            counts["raised"] += 1
            if found is not FAILED:
                report(text, values, found, repr(error), counts)
            continue
        if found is FAILED:
            counts["given up"] += 1
            if exact(own) != exact(values) or printed.getvalue():
                report(text, values, own, "untouched arguments", counts)
        elif printed.getvalue() != wanted.getvalue():
            report(text, values, printed.getvalue(), wanted.getvalue(), counts)
        elif exact(found) != expected or exact(own) != exact(others):
            report(text, values, (found, own), (expected, others), counts)
        else:
            counts["equal"] += 1


def report(text: str, values: Any, found: Any, wanted: Any, counts: Counter[str]) -> None:
    counts["different"] += 1
    print(f"{text}\n  {values}\n  natively {found}\n  but      {wanted}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    faulthandler.enable()
    counts: Counter[str] = Counter()
    with PlainTypes():
        for number in range(options.count):
            rng = random.Random(options.seed * 1_000_003 + number)
            checked(*program(rng), rng, counts)
            if number % 100 == 99:
                print(number + 1, dict(counts), flush=True)
    print(", ".join(f"{key}: {count}" for key, count in sorted(counts.items())))
    return 1 if counts["different"] else 0


if __name__ == "__main__":
    sys.exit(main())
