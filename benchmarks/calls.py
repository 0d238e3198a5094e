"""What the way into scripted code costs: empty calls, and one operator on 16 elements.

    python benchmarks/calls.py --torch PYTHON

Each library runs in processes of its own, in turn, CPU time of one thread; the best of the rounds
counts, since a busy machine only adds.
"""

from __future__ import annotations

import argparse
import json
import sys

from in_turn import Call, Times, add_options, both, is_worker, measured, print_table


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


def measure(arguments: argparse.Namespace) -> Times:
    """The nanoseconds of a call of each."""
    import rushlight as torch

    if hasattr(torch, "set_num_threads"):
        torch.set_num_threads(1)
    torch.set_grad_enabled(not arguments.no_grad)
    return measured(calls(), arguments, max(arguments.count, 3000))


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Time the way into scripted code.")
    add_options(parser, rounds=15, count=2000)
    parser.add_argument("--no-grad", action="store_true", help="with gradients switched off")
    arguments = parser.parse_args()
    if is_worker(arguments):
        print(json.dumps(measure(arguments)))
        return 0
    print_table(*both(__file__, arguments, ["--no-grad"] * arguments.no_grad), 24)
    return 0


if __name__ == "__main__":
    sys.exit(main())
