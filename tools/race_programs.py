"""Eight threads for a minute: benchmark programs that many threads call give what one gets.

    python tools/race_programs.py [--seconds N] [--threads N] [--only NAME]

All threads share the programs' functions: eager ones, scripted ones and those of loaded archives,
none of which has been called before the threads begin, so that they are learned, compiled and
become native code under way.  Now and then one of the threads changes how many threads share a
kernel's work.  What differs, what is raised and what hangs is told; the status is 1 then.
"""

from __future__ import annotations

import argparse
import faulthandler
import io
import random
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks"), str(ROOT / "tools")]

from check_bits import bits

RESIZE = 200
"""Calls between two after which there are other threads, on average."""
PATIENCE = 60.0
"""Seconds beyond the end after which threads hang."""


class Program:
    """A program's functions, its arguments, and the bits of the first result."""

    def __init__(self, name: str, make: Callable[[], Any]) -> None:
        import rushlight as torch

        self.name = name
        eager, scripted, self.arguments = make()
        for each in (eager, scripted):
            if isinstance(each, torch.nn.Module):
                each.eval()
        buffer = io.BytesIO()
        torch.jit.save(scripted, buffer)
        loaded = torch.jit.load(io.BytesIO(buffer.getvalue()))
        self.ways = {"eager": eager, "scripted": scripted, "loaded": loaded}
        again = make()
        if isinstance(again[0], torch.nn.Module):
            again[0].eval()
        with torch.no_grad():
            self.wanted = bits(again[0](*again[2]))

    def differs(self, way: str) -> bool:
        """Whether a call gives other bits than the first of all."""
        return bits(self.ways[way](*self.arguments)) != self.wanted


class Race:
    """Threads that call programs until an end; `faults` are what they found."""

    def __init__(self, programs: Sequence[Program], threads: int, seconds: float) -> None:
        self.programs = programs
        self.seconds = seconds
        self.faults: list[str] = []
        self.calls = 0
        self._threads = [
            threading.Thread(target=self._work, args=(seed,), daemon=True)
            for seed in range(threads)
        ]

    def run(self) -> None:
        """Let them run."""
        self._end = time.monotonic() + self.seconds
        for each in self._threads:
            each.start()
        for each in self._threads:
            each.join(max(0.0, self._end + PATIENCE - time.monotonic()))
            if each.is_alive():
                faulthandler.dump_traceback()
                self.faults.append(f"{each.name} hangs")

    def _work(self, seed: int) -> None:
        import rushlight as torch

        draw = random.Random(seed)
        while time.monotonic() < self._end and not self.faults:
            program = draw.choice(self.programs)
            way = draw.choice(list(program.ways))
            try:
                with torch.no_grad():
                    if program.differs(way):
                        self.faults.append(f"{program.name}, {way}: other bits")
            except Exception:
                self.faults.append(f"{program.name}, {way}: {traceback.format_exc()}")
            self.calls += 1  # some may be lost, which only the report sees
            if not draw.randrange(RESIZE):
                torch.set_num_threads(draw.randint(1, 3))


def main() -> int:
    """Run, and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--only", action="append", default=[], metavar="NAME")
    arguments = parser.parse_args()
    from worker import programs

    made = [
        Program(name, make)
        for name, make in programs("programs").items()
        if not arguments.only or name in arguments.only
    ]
    unknown = set(arguments.only) - {each.name for each in made}
    if unknown:
        parser.error(f"no such programs: {', '.join(sorted(unknown))}")
    race = Race(made, arguments.threads, arguments.seconds)
    race.run()
    print(f"{len(made)} programs, {arguments.threads} threads, some {race.calls} calls")
    print("\n".join(race.faults) or "one set of bits")
    return bool(race.faults)


if __name__ == "__main__":
    sys.exit(main())
