"""Compare stretches that native code does with the machine, bit for bit, on random programs.

    python tools/fuzz_stretches.py [--count N] [--seed S] [--families NAMES]

Each program of tools/fuzz_grammar.py is run on the machine, and in a plan that learns what its
stretches run at once; each call is done several times, so that the last ones are native, and
steps that are no kernels are left out.  Results
and arguments must be equal, lie alike and share memory alike; what fails must fail both ways.
Prints what differs.
"""

from __future__ import annotations

import argparse
import copy
import linecache
import os
import struct
import sys
import types
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

from fuzz_all import FAMILIES
from fuzz_grammar import random_program

import rushlight
from rushlight.interpreter.code.code import Step
from rushlight.interpreter.code.machine import Machine
from rushlight.interpreter.plans import direct_calls, replaying
from rushlight.interpreter.plans.plan import Cuts, make_plan
from rushlight.interpreter.running.invoking import invoke, tiers_of
from rushlight.interpreter.values.actions import read_slot
from rushlight.ops.memory.storage import address, root_of
from rushlight.ops.table import direct

TIMES = 6
"""How often each call is done: the first is learned from, the others are native."""


def learn_at_once() -> None:
    """Have plans learn from their first call, and wait for kernels."""
    os.environ["RUSHLIGHT_PLAN"] = "now"
    direct_calls.TRIALS = 1
    replaying.FEWEST_MET = -replaying.MOST_LEARNED
    replaying.SOONEST, replaying.BETWEEN = 0.0, 0

    def is_there(arrays: Any, wanted: Any) -> bool:
        arrays.expression_kernel(*wanted)
        return True

    direct.is_there = is_there


def exact(value: Any) -> Any:
    """What must be equal."""
    if isinstance(value, np.ndarray):
        lies = value.dtype.str, value.shape, value.strides
        return *lies, np.ascontiguousarray(value).tobytes()
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [exact(each) for each in value]
    if isinstance(value, dict):
        return [(exact(key), exact(each)) for key, each in value.items()]
    if isinstance(value, float):
        return struct.pack("d", value)
    if hasattr(value, "slots"):
        return [exact(read_slot(each)) for each in value.slots]
    return value if isinstance(value, (int, str, bool, type(None))) else repr(type(value))


def arrays_in(value: Any) -> Iterator[np.ndarray]:
    """The arrays in a value, one after the other."""
    value = read_slot(value)
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, dict):
        yield from arrays_in(list(value.values()))
    elif isinstance(value, (list, tuple)) or hasattr(value, "slots"):
        for each in getattr(value, "slots", value):
            yield from arrays_in(each)


def shared(value: Any) -> list[tuple[int, int]]:
    """Which memory each array lies in, and where: by the first array in it."""
    firsts, found = dict[int, tuple[int, int]](), list[tuple[int, int]]()
    for number, each in enumerate(arrays_in(value)):
        first = firsts.setdefault(id(root_of(each)), (number, address(each)))
        found.append((first[0], address(each) - first[1] if each.size else 0))
    return found


def outcome(run: Any, values: list[Any]) -> Any:
    """What a call gives, and what becomes of its arguments; or that it fails: a plan's lines raise
    what Python does, which is told as the operator's error later on."""
    rushlight.manual_seed(3)
    try:
        result = run(values)
    except Exception:
        return "failed"
    return exact(result), exact(values), shared([result, values])


def checked(family: str, seed: int, counts: Counter[str]) -> None:
    """Run a program both ways."""
    text = random_program(family, seed).source
    file = f"program{seed}.py"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    module = types.ModuleType(file[:-3])
    module.__dict__.update(__file__=file, torch=rushlight)
    sys.modules[file[:-3]] = module
    source = text.replace("from torch", "from rushlight").replace(
        "import torch", "import rushlight as torch"
    )
    try:
        exec(compile(source, file, "exec", dont_inherit=True), module.__dict__)
        target = module.target() if isinstance(module.target, type) else module.target
        scripted = rushlight.jit.script(target)
        method = scripted if hasattr(scripted, "_rushlight_function") else scripted.forward
        tiers = tiers_of(method._rushlight_function)
        code = tiers.way().executable.code
    except Exception:
        counts["refused"] += 1
        return
    owner = () if method is scripted else (scripted._c,)
    more = set[Step]()
    cuts = Cuts(more.update)
    plan, machine = make_plan(code, invoke, cuts=cuts), Machine(code, invoke)
    if plan is None or "ds0" not in plan.text:
        counts["no stretch"] += 1
        return
    counts["programs"] += 1
    done = Counter[str]()
    for given in module.calls():
        for _ in range(TIMES):
            if more > cuts.steps:
                cuts = Cuts(more.update, steps=frozenset(more), former=plan)
                plan = make_plan(code, invoke, cuts=cuts) or plan
                counts["cuts"] += 1
            try:
                first, second = (
                    tiers.binding.bind((*copy.deepcopy(owner), *copy.deepcopy(given)), None)
                    for _ in range(2)
                )
            except Exception:
                counts["not bound"] += 1
                break
            wanted = outcome(machine.run, first)
            watch(plan.run.__globals__, done)
            found = outcome(lambda values, plan=plan: plan.run(*values), second)
            counts["calls"] += 1
            if found != wanted:
                counts["different"] += 1
                print(f"{family} {seed}\n{text}\n  {given}\n  {found}\n  but {wanted}", flush=True)
                return
    counts["stretches done"] += done["done"]


def watch(space: dict[str, Any], done: Counter[str]) -> None:
    """Count the calls of stretches that give something."""
    for name in [n for n in space if n.startswith("ds") and n[2:].isdigit()]:
        inner = space[name]
        if isinstance(inner, types.BuiltinFunctionType):

            def heard(*given: Any, inner: Any = inner) -> Any:
                result = inner(*given)
                done["done"] += result is not None
                return result

            space[name] = heard


def main() -> int:
    """Print what differs; the exit status is 1 if anything does."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200, help="programs of each family")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--families", nargs="*", default=list(FAMILIES))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    learn_at_once()
    counts: Counter[str] = Counter()
    with rushlight.no_grad():
        for family in options.families:
            for number in range(options.count):
                checked(family, options.seed * 1_000_003 + number, counts)
            print(family, dict(counts), flush=True)
    return 1 if counts["different"] else 0


if __name__ == "__main__":
    sys.exit(main())
