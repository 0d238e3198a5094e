"""One set of bits: every benchmark program, run in every way there is.

    python tools/check_bits.py [--only NAME] [--calls N]

Each program runs eagerly, scripted (the first call to the last of N), and saved and loaded; in two
processes for each of one, two and three threads.  Prints the programs whose results differ.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
THREADS = (1, 2, 3)
PROCESSES = 2


def bits(value: Any) -> str:
    """What equal results share: dtypes, sizes and bytes."""
    digest = hashlib.sha256()
    for each in _leaves(value):
        if hasattr(each, "detach"):
            words = each.detach()
            if str(words.dtype).endswith("bfloat16"):  # which NumPy has no numbers of
                words = words.contiguous().view(sys.modules["rushlight"].int16)
            array = words.numpy()
            digest.update(f"{each.dtype} {array.shape}".encode() + array.tobytes())
        else:
            digest.update(repr(each).encode())
    return digest.hexdigest()[:16]


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple)):
        for each in value:
            yield from _leaves(each)
    else:
        yield value


def outcomes(make: Any, calls: int) -> dict[str, str]:
    """The bits of a program by the way it is run; several ones of scripted calls are all named."""
    import rushlight as torch

    eager, scripted, arguments = make()
    for each in (eager, scripted):
        if isinstance(each, torch.nn.Module):
            each.eval()
    buffer = io.BytesIO()
    torch.jit.save(scripted, buffer)
    loaded = torch.jit.load(io.BytesIO(buffer.getvalue()))
    found = {}
    with torch.no_grad():
        for name, function in (("eager", eager), ("scripted", scripted), ("loaded", loaded)):
            seen = dict.fromkeys(bits(function(*arguments)) for _ in range(calls))
            found[name] = " ".join(seen)
    return found


def work(names: list[str], calls: int) -> None:
    """In a process of its own: a line of JSON for each program."""
    sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]
    from worker import programs

    for name, make in programs("programs").items():
        if not names or name in names:
            print(json.dumps([name, outcomes(make, calls)]), flush=True)


def differing(
    names: list[str], calls: int, counts: tuple[int, ...] = THREADS, processes: int = PROCESSES
) -> dict[str, dict[str, list[str]]]:
    """The programs that give several sets of bits: which ones, and in which ways.

    Each runs in so many processes for each of some counts of threads.
    """
    seen: dict[str, dict[str, list[str]]] = {}
    for threads in counts:
        for process in range(processes):
            command = [sys.executable, __file__, "--work", "--calls", str(calls)]
            for name in names:
                command += ["--only", name]
            environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
            run = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
            for line in run.stdout.splitlines():
                program, found = json.loads(line)
                for way, digests in found.items():
                    place = f"{way}, {threads} threads, process {process}"
                    for digest in digests.split():
                        seen.setdefault(program, {}).setdefault(digest, []).append(place)
    print(f"{len(seen)} programs")
    return {name: found for name, found in seen.items() if len(found) > 1}


def main() -> int:
    """Compare, or do one process's part."""
    parser = argparse.ArgumentParser(description=__doc__, add_help=True)
    parser.add_argument("--only", action="append", default=[], metavar="NAME")
    parser.add_argument("--calls", type=int, default=250)
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.work:
        work(arguments.only, arguments.calls)
        return 0
    found = differing(arguments.only, arguments.calls)
    for name, ways in found.items():
        print(name)
        for digest, places in ways.items():
            print(f"  {digest}: {'; '.join(places[:4])}{' ...' if len(places) > 4 else ''}")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
