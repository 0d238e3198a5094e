"""Runs attacks, each in a process of its own with limits.

A `Family` is a promise (its sentence is the promise, word for word in docs/security.md) and the
attacks on it.  `Zygote` is a fresh interpreter that imports rushlight once and forks a child for
each attack, so that three hundred of them take seconds.  A child has limits of memory, processor
time and file size; whatever it does but end by itself with a right result or a documented error
breaks the promise: a signal, a hang, another exception, a touched file, a foreign process.
"""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import importlib
import io
import json
import math
import os
import resource
import select
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FAMILIES = ("memory", "sandbox", "bounds", "container", "durability", "threads", "determinism")
MORE = (
    *("zip_tricks", "thread_races", "odd_places", "odd_formats", "odd_commands"),
    *("late_operators", "rare_charges", "old_weights", "shared_work", "amid_calls"),
    *("interrupted_calls", "interrupted_lines", "late_readers"),
    *("acting_arguments", "foreign_readers", "hostile_pages", "odd_editors"),
)
"""Modules with more attacks on the same promises."""
PATIENCE = 6
"""By the clock on the wall a child may take this many times its seconds, if it is kept waiting."""

__all__ = [
    *("FAMILIES", "Attack", "Broken", "Family", "Zygote", "families", "interrupts", "refused"),
    "run_here",
]

Action = Callable[[], None]


class Broken(Exception):
    """A promise was broken, in words."""


@dataclass(frozen=True)
class Attack:
    """One attack: `run` ends by itself, or with a documented error.

    `seconds` is the time a child has (more by the clock on the wall where it is kept waiting, see
    `_hangs`), `megabytes` how much its memory may grow, `long` leaves it to `tools/red_team.py`.
    """

    name: str
    run: Action
    seconds: float = 20.0
    megabytes: int = 2048
    long: bool = False


@dataclass
class Family:
    """A promise and the attacks on it."""

    name: str
    promise: str
    long: frozenset[str] = frozenset()
    """Names of attacks that take seconds: they are left to `tools/red_team.py`."""
    attacks: dict[str, Attack] = field(default_factory=dict)

    def attack(self, name: str, **limits: Any) -> Callable[[Action], Action]:
        """Declare a function as an attack of this family."""

        def declare(run: Action) -> Action:
            if name in self.attacks:
                raise ValueError(f"{self.name} has two attacks {name!r}")
            limits.setdefault("long", name in self.long)
            self.attacks[name] = Attack(name, run, **limits)
            return run

        return declare


def families() -> dict[str, Family]:
    """All families, by name."""
    if str(HERE) not in sys.path:
        sys.path.insert(0, str(HERE))
    found = {name: importlib.import_module(f"attacks_on_{name}").FAMILY for name in FAMILIES}
    for name in MORE:
        importlib.import_module(name)
    return found


# --------------------------------------------------------------------------- what may be raised


def is_documented(error: BaseException) -> bool:
    """Whether an error is one that the documents name: with a diagnostic, or of torch's kinds."""
    from rushlight.frontend.diagnostics.exceptions import ScriptError
    from rushlight.ops.memory.errors import OperatorError

    if isinstance(error, ScriptError | OperatorError):
        return getattr(error, "code", "") != "internal"
    found = getattr(error, "diagnostics", None)
    if found:
        return "internal" not in [d.code for d in found]
    kinds = (RuntimeError, NotImplementedError, AttributeError, TypeError, ValueError, IndexError)
    return (type(error) in kinds or isinstance(error, OSError)) and bool(str(error))


@contextlib.contextmanager
def refused(*codes: str) -> Iterator[None]:
    """What is inside ends in a documented error; of one of these diagnostic codes, if any is given.

    Raises:
        Broken: it does not.
    """
    try:
        yield
    except Exception as error:
        if not is_documented(error):
            raise
        found = [d.code for d in getattr(error, "diagnostics", ())] or [getattr(error, "code", "")]
        if codes and not set(codes) & set(found):
            raise Broken(f"refused as {found}, not as {codes}: {error}") from error
        return
    raise Broken("nothing was refused")


def interrupts(
    work: Callable[[], object], after: float, error: type[BaseException] = KeyboardInterrupt
) -> bool:
    """Whether a signal's handler ended a work by an error, after so many seconds.

    The signal may come before the work begins, and after it ended: then too it goes no further.
    """

    def ring(number: int, frame: object) -> None:
        raise error

    signal.signal(signal.SIGALRM, ring)
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, after)
            work()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, signal.SIG_IGN)  # another thread may get it late
    except error:
        return True
    return False


# --------------------------------------------------------------------------- one attack


def _resident(field_name: str = "VmRSS:") -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field_name):
            return int(line.split()[1]) * 1024
    return 0


def run_here(attack: Attack) -> str:
    """Run an attack in this process; "" if its promise held, else what broke."""
    try:
        attack.run()
        gc.collect()
    except Broken as broken:
        return str(broken)
    except BaseException as error:
        if isinstance(error, Exception) and is_documented(error):
            return ""
        return "".join(traceback.format_exception(error))[-3000:]
    return ""


def _limit(attack: Attack) -> None:
    in_use = _resident("VmSize:")
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (in_use + (attack.megabytes << 20), hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (256 << 20, 256 << 20))
    resource.setrlimit(resource.RLIMIT_CPU, (int(attack.seconds * 4) + 1,) * 2)


def _child(attack: Attack, answer: int) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    faulthandler.disable()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        sink = os.open("output", os.O_CREAT | os.O_RDWR, 0o600)
        os.dup2(sink, 1)
        os.dup2(sink, 2)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # this process's own holds requests
        _limit(attack)
        told = run_here(attack)
        os.chdir("/")
    os.write(answer, json.dumps(told).encode() + b"\n")
    os._exit(0)


def _processor_seconds(process: int) -> float:
    """What a process and the children it has waited for took; endless where that is not told."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return math.inf
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def _hangs(process: int, began: float, seconds: float) -> bool:
    """Whether a child has had its time; on a busy machine it gets the processor only now and then,
    and the clock on the wall runs on."""
    took = time.monotonic() - began
    if took <= seconds:
        return False
    return took > PATIENCE * seconds or _processor_seconds(process) > seconds


def _await(process: int, answer: int, seconds: float) -> str:
    """What a child tells, or how it ended."""
    began, told = time.monotonic(), b""
    while not told.endswith(b"\n"):
        if not select.select([answer], [], [], 0.5)[0]:
            if not _hangs(process, began, seconds):
                continue
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
            return f"it hangs: more than {seconds:g} seconds"
        more = os.read(answer, 1 << 16)
        if not more:
            break
        told += more
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    if status < 0:
        return f"the process was ended by {signal.Signals(-status).name}"
    return str(json.loads(told)) if told else f"the process ended with status {status}"


def run_forked(attack: Attack) -> str:
    """Run an attack in a child of this process; "" if its promise held, else what broke."""
    answer, theirs = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(answer)
        try:
            _child(attack, theirs)
        finally:
            os._exit(9)
    os.close(theirs)
    try:
        return _await(process, answer, attack.seconds)
    finally:
        os.close(answer)


# --------------------------------------------------------------------------- the zygote


class Zygote:
    """A fresh interpreter that runs attacks in children of its own."""

    def __init__(self) -> None:
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "2"}
        self._process = subprocess.Popen(
            [sys.executable, "-W", "ignore", str(HERE / "harness.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            text=True,
        )

    def run(self, family: str, name: str) -> str:
        """ "" if the promise held, else what broke."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([family, name]) + "\n")
        self._process.stdin.flush()
        return str(json.loads(self._process.stdout.readline()))

    def close(self) -> None:
        """End the interpreter."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(timeout=30)
        self._process.stdout.close()


def _warm_up() -> None:
    """Import what attacks use, which each child would else import anew."""
    from making import archive

    import rushlight as torch
    from rushlight.__main__ import main

    index = torch.zeros(20_000, dtype=torch.int64)
    torch.zeros(20_000).scatter_add_(0, index, torch.ones(20_000))  # imports the native kernels
    torch.nn.functional.conv2d(torch.ones(1, 1, 4, 4), torch.ones(1, 1, 3, 3))
    torch.linalg.inv(torch.eye(2))
    x = torch.ones(3, requires_grad=True)
    (x * x).sum().backward()
    with tempfile.TemporaryDirectory() as folder:
        path, weights, refused_path = (f"{folder}/{name}.pt" for name in ("warm", "weights", "bad"))
        module: Any = torch.jit.script(torch.nn.Linear(2, 2))
        module.save(path)
        torch.jit.load(path, trust="none")(torch.ones(1, 2))
        buffer = module._save_to_buffer_for_lite_interpreter()
        torch.jit.mobile._load_for_lite_interpreter(io.BytesIO(buffer))
        torch.save(module.state_dict(), weights)
        torch.load(weights)
        Path(refused_path).write_bytes(archive("return eval('x')"))
        with contextlib.suppress(RuntimeError):
            torch.load(refused_path)
        for file in (path, refused_path):
            for command in (["what"], ["audit"], ["show", "--code"], ["run"]):
                with contextlib.ExitStack() as stack:
                    stack.enter_context(contextlib.suppress(SystemExit))
                    stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
                    stack.enter_context(contextlib.redirect_stderr(io.StringIO()))
                    main([*command, file, *["[[1.0, 2.0]]"][: command == ["run"]]])


def _serve() -> None:
    everything = families()
    _warm_up()
    gc.collect()
    gc.freeze()  # or each child would copy the whole heap to look for garbage
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        family, name = json.loads(line)
        told = run_forked(everything[family].attacks[name])
        answers.write(json.dumps(told) + "\n")
        answers.flush()


if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    sys.modules["harness"] = sys.modules["__main__"]
    _serve()
