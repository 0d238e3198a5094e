"""Call every operator with wild arguments: does one crash, hang, or end in an error of its own?

    python tools/fuzz_operators.py                          # each overload 100 times
    python tools/fuzz_operators.py --seed 3 --only 'aten::scatter.*' --calls 1000
    python tools/fuzz_operators.py --only '^aten::tile$' --call 55 --seed 0    # one call, here

Each overload runs in a forked child with limits of memory and time, its arguments drawn by
`wild_values` from the seed, its name and the number of the call.  A child that dies is followed by
one that goes on behind the call.  Printed are signals, calls that take too long, bytes written
beside a tensor, results that reach outside their memory, and errors that no document names; the
exit status says whether there was any.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import resource
import signal
import struct
import sys
import time
import traceback
import warnings
from collections.abc import Iterator, Sequence
from mmap import mmap
from pathlib import Path
from typing import Any

import numpy as np
from wild_values import Values

import rushlight
from rushlight.frontend.diagnostics.exceptions import ScriptError
from rushlight.ops.eager.dispatch import run
from rushlight.ops.memory.errors import OperatorError
from rushlight.ops.memory.storage import bounds_of, storage_of
from rushlight.ops.memory.unforeseen import told
from rushlight.ops.table.table import TABLE, Operator
from rushlight.ops.tensors.tensor import Tensor

__all__ = ["faults_of", "main", "operators"]

_SECONDS = 8
_MEGABYTES = 2048
_OWN = str(Path(rushlight.__file__).resolve().parent.parent)
_LEFT_OUT = re.compile(r"aten::(from_file|save|set_num_threads|wait)$|prim::.*|aten::.*backward")
"""What touches files or the process, waits, or asks for tensors with a history."""


def operators(pattern: str = "") -> Iterator[Operator]:
    """The overloads whose full name the pattern is found in, by name."""
    for name in sorted(TABLE.names()):
        if not _LEFT_OUT.match(name):
            for entry in TABLE.operators(name):
                if re.search(pattern, entry.full_name):
                    yield entry


def faults_of(entry: Operator, seed: int, call: int) -> str:
    """Run one call; what is wrong with what it does, "" for nothing."""
    values = Values(random.Random(f"{seed}/{entry.full_name}/{call}"))
    try:
        given = [
            a.default
            if a.has_default and values.draw.random() < 0.3
            else values.value(a.type, a.name)
            for a in entry.signature.arguments
        ]
        _touch(run(entry, given, ()))
    except Exception as error:
        fault = _undocumented(told(error))
    else:
        fault = ""
    return fault or ("" if values.whole() else "it wrote beside a tensor")


def _touch(result: Any) -> None:
    """Read all of a result, having seen that it lies in its memory."""
    if isinstance(result, Tensor):
        result = result._array
    if isinstance(result, np.ndarray):
        low, high = bounds_of(result)
        first, last = bounds_of(storage_of(result)[0])
        if result.size and not first <= low <= high <= last:
            raise AssertionError("a result reaches outside its memory")
        result.tobytes() if result.size < 1 << 20 else result.reshape(-1)[-1:].tobytes()
    elif isinstance(result, (list, tuple)):
        for each in result[:1000]:
            _touch(each)
    elif isinstance(result, np.generic):
        raise AssertionError("a result is a number of NumPy's")


def _undocumented(error: Exception) -> str:
    """Where an error came from that neither is an operator's nor was raised on purpose."""
    if isinstance(error, (OperatorError, ScriptError)) and getattr(error, "code", "") != "internal":
        return ""
    place = traceback.extract_tb(error.__traceback__)[-1]
    if place.filename.startswith(_OWN) and (place.line or "").startswith("raise "):
        return ""
    ours = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith(_OWN)]
    at = (ours or [place])[-1]
    what = " ".join(str(error).split())[:100]
    return f"{type(error).__name__}: {what} [{Path(at.filename).name}:{at.lineno}]"


# --------------------------------------------------------------------------- children


def _child(entry: Operator, seed: int, calls: range, at: mmap) -> None:
    """Run calls, each noted in shared memory before it begins; print what is wrong, each once."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + (_MEGABYTES << 20)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    seen = set()
    for call in calls:
        at[:8] = struct.pack("q", call)
        signal.alarm(_SECONDS)
        fault = faults_of(entry, seed, call)
        if fault and re.sub(r"[-\d.]+", "N", fault) not in seen:
            seen.add(re.sub(r"[-\d.]+", "N", fault))
            at[8] = 1
            print(f"ERROR {entry.full_name} --call {call}: {fault}", flush=True)
    signal.alarm(0)


def _in_child(entry: Operator, seed: int, calls: range, at: mmap) -> str:
    """Run calls in a child; how it died, "" if it did not."""
    process = os.fork()
    if not process:
        status = 70
        try:
            _child(entry, seed, calls, at)
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    if code == -signal.SIGALRM:
        return f"takes more than {_SECONDS} seconds"
    return "" if not code else signal.Signals(-code).name if code < 0 else f"status {code}"


def _run(entry: Operator, seed: int, calls: int, at: mmap) -> int:
    """Run an operator's calls; how many children died, or 1 for other faults."""
    died, begin = 0, 0
    at[8] = 0
    while begin < calls and died < 3:
        how = _in_child(entry, seed, range(begin, calls), at)
        if not how:
            break
        died += 1
        (call,) = struct.unpack("q", at[:8])
        print(f"DEAD  {entry.full_name} --call {call}: {how}", flush=True)
        begin = call + 1
    return died or at[8]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the chosen operators; the exit status says whether something was wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--calls", type=int, default=100, help="for each overload (default: 100)")
    parser.add_argument("--only", default="", help="a regular expression over full names")
    parser.add_argument("--begin", default="", help="leave out what stands before in the alphabet")
    parser.add_argument("--call", type=int, help="run this call alone, in this process")
    arguments = parser.parse_args(argv)
    warnings.simplefilter("ignore")
    at, bad, count, began = mmap(-1, 16), 0, 0, time.monotonic()
    for entry in operators(arguments.only):
        if entry.full_name < arguments.begin:
            continue
        count += 1
        if arguments.call is not None:
            print(entry.full_name, faults_of(entry, arguments.seed, arguments.call))
        else:
            bad += bool(_run(entry, arguments.seed, arguments.calls, at))
    took = time.monotonic() - began
    print(f"{count} operators in {took:.0f} s, {bad} with faults")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
