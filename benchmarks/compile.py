"""What compiling a module of some 200 lines costs, beside torch.jit.

    python benchmarks/compile.py [--torch PYTHON] [--rounds N]

Every round is the same module, made anew, scripted in a process that has scripted it before; the
processes take turns.  Prints medians and the ratio; a 1,000-line file is timed through
`rushlight check` as well, start-up included.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

METHOD = """
    def step_{n}(self, x: torch.Tensor, count: int, names: List[str]) -> torch.Tensor:
        total = torch.zeros_like(x)
        kept: List[torch.Tensor] = []
        for k in range(count):
            if k % 2 == 0:
                total = total + x * float(k)
            else:
                total = total - torch.relu(x + self.weight)
                kept.append(total)
        for name in names:
            if len(name) > 3:
                total = total * 2
        if len(kept) > 0:
            total = total + torch.stack(kept).sum(0)
        return total
"""

WORKER = """
import sys, time
sys.path.insert(0, sys.argv[1])
import {library} as torch
sys.modules.setdefault("torch", torch)
for _ in range({rounds}):
    sys.modules.pop("long_module", None)
    import long_module
    model = long_module.Model()
    begin = time.perf_counter()
    torch.jit.script(model)
    print((time.perf_counter() - begin) * 1e3, flush=True)
    input()
"""


def module_text(methods: int, library: str) -> str:
    """A module with so many methods, of 16 lines each."""
    head = f"from typing import List\n\nimport {library} as torch\n\n\n"
    head += "class Model(torch.nn.Module):\n"
    head += "    def __init__(self):\n        super().__init__()\n"
    head += "        self.weight = torch.nn.Parameter(torch.ones(4))\n"
    body = "".join(METHOD.format(n=n) for n in range(methods))
    calls = "".join(f"        x = self.step_{n}(x, 3, names)\n" for n in range(methods))
    last = "\n    def forward(self, x: torch.Tensor, names: List[str]) -> torch.Tensor:\n"
    return head + body + last + calls + "        return x\n"


class Worker:
    """A process that compiles the module once for every line it is given."""

    def __init__(self, python: str, library: str, rounds: int, folder: Path) -> None:
        place = folder / library
        place.mkdir()
        (place / "long_module.py").write_text(module_text(12, library), encoding="utf-8")
        code = WORKER.format(library=library, rounds=rounds)
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"}
        self.process = subprocess.Popen(
            [python, "-c", code, str(place)],
            env=environment,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.times: list[float] = []

    def turn(self) -> None:
        """One compilation."""
        assert self.process.stdout is not None
        assert self.process.stdin is not None
        self.times.append(float(self.process.stdout.readline()))
        self.process.stdin.write("\n")
        self.process.stdin.flush()


def check_time(folder: Path) -> float:
    """Seconds of `rushlight check` on a file of some 1,000 lines, in a fresh process."""
    path = folder / "thousand.py"
    text = module_text(62, "torch") + "\n\ntorch.jit.script(Model())\n"
    path.write_text(text, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": ""}
    environment["PYTHONPYCACHEPREFIX"] = str(folder / "cache")
    begin = time.perf_counter()
    command = [sys.executable, "-m", "rushlight", "check", str(path)]
    subprocess.run(command, env=environment, check=True)
    return time.perf_counter() - begin


def main() -> int:
    parser = argparse.ArgumentParser(description="Time compiling a module.")
    parser.add_argument("--torch", metavar="PYTHON", help="an interpreter that has torch")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rushlight-compile-") as name:
        folder = Path(name)
        workers = {"rushlight": Worker(sys.executable, "rushlight", options.rounds, folder)}
        if options.torch:
            workers["torch"] = Worker(options.torch, "torch", options.rounds, folder)
        for _ in range(options.rounds):
            for worker in workers.values():
                worker.turn()
        medians = {n: statistics.median(w.times[3:]) for n, w in workers.items()}
        for library, median in medians.items():
            print(f"{library:10} {median:8.1f} ms to compile {12 * 16 + 30} lines")
        if "torch" in medians:
            print(f"ratio torch / rushlight: {medians['torch'] / medians['rushlight']:.2f}")
        check_time(folder)  # fills the caches of byte code
        print(f"rushlight check, 1,000 lines: {min(check_time(folder) for _ in range(3)):.2f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
