"""Many eager calls beside torch's, the worst first.

    python benchmarks/wide.py small --torch PYTHON [--only TEXT] [--worst 40]

Tables: `small` (few elements), `gradients` (the same, of tensors that require them), `kernels`
(10,000 and 1,000,000 elements of many dtypes, in one piece and not), `usual` (what programs do, at
their sizes) and `steps` (the same with the way back).  CPU time of one thread, each library's
processes in turn, the best of the rounds.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from itertools import product
from pathlib import Path
from typing import Any

from in_turn import Call, Times, add_options, both, is_worker

CALLS = Path(__file__).parent / "wide_calls"
"""What is called, a line each, and what the calls see."""
LEAVES = "x y m n b d t h v s weight bias picture line kernel1 kernel2 batch spd many"
"""Those that want gradients in the table of that name."""
FLOATS = ("float32", "float64", "bfloat16", "float16")
DTYPES = (*FLOATS, "int64", "int32", "uint8", "bool")


def told(name: str) -> str:
    """What a file says."""
    return (CALLS / f"{name}.txt").read_text()


def lines_for(dtype: str) -> list[str]:
    """The calls on tensors of a dtype."""
    others = ["bools"] if dtype == "bool" else ["numbers", "floats" if dtype in FLOATS else "whole"]
    return list(dict.fromkeys("".join(map(told, ["every", *others])).splitlines()))


def calls(table: str, only: str) -> dict[str, Call]:
    """The calls of a table, by what they say."""
    import rushlight as torch

    names: dict[str, Any] = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional}
    if table == "kernels":
        return _large(names, only)
    if table in ("usual", "steps"):
        return _usual(names, table == "steps", only)
    names["GRADIENTS"] = table == "gradients"
    exec(told("small_names"), names)
    lines = told("small").splitlines()
    if table == "gradients":
        names |= {each: names[each].detach().clone().requires_grad_() for each in LEAVES.split()}
        left_out = {*told("without_gradients").splitlines()}
        lines = [each for each in lines if each not in left_out]
    return {each: eval(f"lambda: {each}", names) for each in lines if only in each}


def _large(names: dict[str, Any], only: str) -> dict[str, Call]:
    exec(told("large_names"), names)
    found: dict[str, Call] = {}
    for count, dtype, strided in product((10_000, 1_000_000), DTYPES, (False, True)):
        how = f"{count:.0e} {dtype} {'turned' if strided else 'flat'}".replace("e+0", "e")
        chosen = [each for each in lines_for(dtype) if only in f"{how} {each}"]
        if chosen:
            place = names | names["values"](count, dtype, strided)
            found |= {f"{how} {each}": eval(f"lambda: {each}", dict(place)) for each in chosen}
    return found


def _usual(names: dict[str, Any], back: bool, only: str) -> dict[str, Call]:
    exec(told("usual_names"), names)
    lines = [each for each in told("usual").splitlines() if only in each]
    if not back:
        return {each: eval(f"lambda: {each}", names) for each in lines}
    torch = names["torch"]
    names |= {
        name: value.detach().requires_grad_()
        for name, value in names.items()
        if isinstance(value, torch.Tensor) and value.is_floating_point()
    }
    found = {each: eval(f"lambda: {each}", names) for each in lines}
    return {each: _step(call) for each, call in found.items() if _is_recorded(call)}


def _is_recorded(call: Call) -> bool:
    try:
        found = call()
        found.sum().backward()
    except Exception:
        return False
    return True


def _step(call: Call) -> Call:
    return lambda: call().sum().backward()


def measure(arguments: argparse.Namespace) -> Times:
    """The nanoseconds of a call of each; what a library refuses is left out."""
    import rushlight as torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    found, budget = Times(), arguments.budget * 1e6
    for name, call in calls(arguments.table, arguments.only).items():
        try:
            call()
        except Exception as refusal:
            print(f"{name}: {type(refusal).__name__}: {str(refusal)[:100]}", file=sys.stderr)
            continue
        cost = _warmed(call, arguments.count, budget)
        times = max(1, int(budget / cost))
        best = float("inf")
        for _ in range(arguments.rounds):
            began = time.thread_time_ns()
            for _ in range(times):
                call()
            best = min(best, (time.thread_time_ns() - began) / times)
        found[name] = best
    return found


def _warmed(call: Call, most: int, budget: float) -> float:
    """Call until all that is learned and compiled is there; the nanoseconds of a call."""
    for _ in range(2):
        began, count = time.thread_time_ns(), 0
        while count < most and (count < 5 or time.thread_time_ns() - began < 10 * budget):
            call()
            count += 1
        cost = max(1.0, (time.thread_time_ns() - began) / count)
        direct = sys.modules.get("rushlight.ops.table.direct")
        while direct is not None and direct.is_compiling():
            time.sleep(0.01)
    return cost


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Time many eager calls.")
    add_options(parser, rounds=5, count=200)
    parser.add_argument("table", choices=("small", "gradients", "kernels", "usual", "steps"))
    parser.add_argument("--only", default="", help="calls that hold this text")
    parser.add_argument("--worst", type=int, default=60, help="lines that are printed")
    parser.add_argument("--budget", type=float, default=2, help="milliseconds of a round")
    parser.add_argument("--keep", help="a file for all times")
    arguments = parser.parse_args()
    if is_worker(arguments):
        print(json.dumps(measure(arguments)))
        return 0
    asked = [arguments.table, "--only", arguments.only, "--budget", str(arguments.budget)]
    ours, theirs = both(__file__, arguments, asked)
    ratios = sorted((theirs[name] / ours[name], name) for name in ours if name in theirs)
    if arguments.keep:
        with open(arguments.keep, "w") as file:
            json.dump(
                {name: (ours[name], theirs[name], ratio) for ratio, name in ratios}, file, indent=0
            )
    for ratio, name in ratios[: arguments.worst]:
        print(f"{name:<60} {ours[name] / 1e3:>9.2f} {theirs[name] / 1e3:>9.2f} {ratio:>6.2f}")
    if ratios:
        figures = [ratio for ratio, _ in ratios]
        below = [sum(figure < bound for figure in figures) for bound in (1, 0.7)]
        middle = statistics.median(figures)
        print(f"{len(figures)} calls, median {middle:.2f}, {below[0]} below 1, {below[1]} below .7")
    return 0


if __name__ == "__main__":
    sys.exit(main())
