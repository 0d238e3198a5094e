"""What the way into scripted code costs: empty calls, and one operator on 16 elements.

    python benchmarks/calls.py --torch PYTHON

Each library runs in processes of its own, in turn, CPU time of one thread; the best of the rounds
counts, since a busy machine only adds.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Call = Callable[[], Any]


def calls() -> dict[str, Call]:
    """The calls, by name."""
    import rushlight as torch

    nn = torch.nn
    x, y, m = torch.ones(16), torch.ones(16), torch.ones(1, 16)

    def nothing() -> None:
        return None

    def same(x: torch.Tensor) -> torch.Tensor:
        return x

    def number(n: int) -> int:
        return n

    def sums(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x + y

    def scaled(x: torch.Tensor, by: float = 2.0) -> torch.Tensor:
        return x * by

    class Same(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x

    class Slots(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.by = nn.Parameter(torch.ones(16), requires_grad=False)
            self.register_buffer("shift", torch.ones(16))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * self.by + self.shift

    class Chained(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = Slots(), Slots()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.second(self.first(x))

    linear = nn.Linear(16, 16)
    for parameter in linear.parameters():
        parameter.requires_grad_(False)
    script = torch.jit.script
    scripted = [script(each) for each in (nothing, same, number, sums, scaled)]
    nothing_, same_, number_, sums_, scaled_ = scripted
    module, slots, chained = (script(each().eval()) for each in (Same, Slots, Chained))
    linear_ = script(linear.eval())
    return {
        "f()": nothing_,
        "f(x): x": lambda: same_(x),
        "f(n): n": lambda: number_(3),
        "f(x, y): x + y": lambda: sums_(x, y),
        "f(x, by=2.0): x * by": lambda: scaled_(x, by=3.0),
        "module(x): x": lambda: module(x),
        "module(x): x * w + b": lambda: slots(x),
        "two of it": lambda: chained(x),
        "linear(x), 1x16": lambda: linear_(m),
    }


def measure(rounds: int, count: int, no_grad: bool) -> dict[str, float]:
    """The nanoseconds of a call of each."""
    import rushlight as torch

    if hasattr(torch, "set_num_threads"):
        torch.set_num_threads(1)
    torch.set_grad_enabled(not no_grad)
    found = {}
    for name, call in calls().items():
        for _ in range(max(count, 3000)):
            call()
        best = float("inf")
        for _ in range(rounds):
            began = time.thread_time_ns()
            for _ in range(count):
                call()
            best = min(best, (time.thread_time_ns() - began) / count)
        found[name] = best
    return found


def in_process(python: str, library: str, asked: list[str]) -> dict[str, float]:
    """The same in a process of its own."""
    command = [python, str(Path(__file__).resolve()), "--worker", library, *asked]
    run = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    found: dict[str, float] = json.loads(run.stdout)
    return found


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Time the way into scripted code.")
    parser.add_argument("--torch", metavar="PYTHON", help="a Python that has torch")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--count", type=int, default=2000, help="calls in a round")
    parser.add_argument("--turns", type=int, default=2, help="processes of each library")
    parser.add_argument("--no-grad", action="store_true", help="with gradients switched off")
    parser.add_argument("--worker", choices=("rushlight", "torch"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        if arguments.worker == "torch":
            import torch

            sys.modules["rushlight"] = torch
        else:
            sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
        print(json.dumps(measure(arguments.rounds, arguments.count, arguments.no_grad)))
        return 0
    asked = ["--rounds", str(arguments.rounds), "--count", str(arguments.count)]
    asked += ["--no-grad"] * arguments.no_grad
    ours: dict[str, float] = {}
    theirs: dict[str, float] = {}
    for _ in range(arguments.turns):
        for name, time_of in in_process(sys.executable, "rushlight", asked).items():
            ours[name] = min(time_of, ours.get(name, time_of))
        if arguments.torch:
            for name, time_of in in_process(arguments.torch, "torch", asked).items():
                theirs[name] = min(time_of, theirs.get(name, time_of))
    print(f"{'call':<24} {'us':>8} {'torch us':>9} {'ratio':>6}")
    for name, time_of in ours.items():
        beside = theirs.get(name)
        told = f" {beside / 1e3:>9.2f} {beside / time_of:>6.2f}" if beside else ""
        print(f"{name:<24} {time_of / 1e3:>8.2f}{told}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
