"""Signals and exceptions from other threads end what runs, and leave nothing half-made."""

from __future__ import annotations

import contextlib
import ctypes
import dis
import importlib
import inspect
import io
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import cache
from inspect import CO_GENERATOR
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.frontend.foundations.locks import DEFINING, fork_safe_lock
from rushlight.interpreter.native import native
from rushlight.interpreter.running.invoking import tiers_of
from rushlight.ops.kernels.code.calls.run import CREW
from rushlight.ops.kernels.flags import new_stream
from rushlight.ops.random_numbers.random import Generator


class Stop(Exception):
    pass


def endless(n: int) -> int:
    k = 0
    while k >= 0:
        k = (k + n) % 1000003
    return k


def nested(n: int) -> int:
    s = 0
    for i in range(n):
        for j in range(n):
            for k in range(n):
                s += (i ^ j) % (k + 1)
    return s


def with_lists(n: int) -> int:
    kept = [0] * 100
    for i in range(n):
        kept[i % 100] += i
        if kept[i % 100] < 0:
            break
    return kept[0]


def of_tensors(n: int) -> int:
    x = torch.ones(3)
    with torch.no_grad():
        while bool(x.sum() > 0):
            x = x * 1.0
    return n


@pytest.fixture
def alarm() -> Iterator[None]:
    def ring(number: int, frame: object) -> None:
        raise Stop

    before = signal.signal(signal.SIGALRM, ring)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def with_a_timer(seconds: float, scripted: Any, n: int) -> int:
    signal.setitimer(signal.ITIMER_REAL, seconds)
    return scripted(n)


@cache
def hot(function: Any, way: str = "native") -> Any:
    """The function as it runs in a way: native code of it, a plan or the machine's code."""
    copied = FunctionType(function.__code__, globals(), function.__name__)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RUSHLIGHT_NATIVE", "now" if way == "native" else "off")
        patch.setenv("RUSHLIGHT_PLAN", "off" if way == "machine" else "now")
        scripted = torch.jit.script(copied)
        made = tiers_of(scripted._rushlight_function).way().executable.native
        if made is not None:
            made._begin()
            assert made.is_ready or function is of_tensors  # whose loop is one call of a plan
    return scripted


@pytest.mark.parametrize("function", [endless, nested, with_lists, of_tensors])
@pytest.mark.parametrize("way", ["native", "plan", "machine"])
def test_a_signal_ends_a_loop(
    function: Any, way: str, alarm: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUSHLIGHT_PLAN", "off" if way == "machine" else "now")
    scripted = hot(function, way)
    for _ in range(2):  # the second time it is known to be long
        began = time.monotonic()
        with pytest.raises(Stop):
            with_a_timer(0.1, scripted, 1 << 40)
        assert time.monotonic() - began < 30
        assert torch.is_grad_enabled()


@pytest.mark.parametrize("kind", [RuntimeError, ValueError, MemoryError, KeyboardInterrupt])
@pytest.mark.parametrize("rounds", [native.ROUNDS, 1 << 50])
def test_what_a_handler_raises_is_not_taken_for_a_refusal(
    kind: type[BaseException], rounds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor for a want of threads; also where the loop ends before it is known to be long."""
    monkeypatch.setattr(native, "ROUNDS", rounds)
    scripted, rings = hot(finite), []

    def ring(number: int, frame: object) -> None:
        rings.append(number)
        raise kind("rung")

    before = signal.signal(signal.SIGALRM, ring)
    try:
        with pytest.raises(kind, match=r"^rung$"):
            with_a_timer(0.05, scripted, 50_000_000 if rounds > 1 << 40 else 1 << 40)
        assert rings == [signal.SIGALRM]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def finite(n: int) -> int:
    k = 0
    for i in range(n):
        k = (k * 31 + i) % 1000003
    return k


def test_a_handler_may_fork_amid_a_native_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """The child goes on with the loop, whose thread it does not have."""
    monkeypatch.setattr(native, "ROUNDS", 100)
    scripted, children = hot(finite), []
    wanted = scripted(1000)

    def ring(number: int, frame: object) -> None:
        children.append(os.fork())

    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        found = scripted(30_000_000)
        if children == [0]:
            os._exit(found % 100 if scripted(1000) == wanted else 111)
    finally:
        signal.signal(signal.SIGALRM, before)
    until = time.monotonic() + 600  # which only a child that hangs takes
    while not (ended := os.waitpid(children[0], os.WNOHANG))[0] and time.monotonic() < until:
        time.sleep(0.01)
    if not ended[0]:
        os.kill(children[0], signal.SIGKILL)
        os.waitpid(children[0], 0)
    assert ended == (children[0], found % 100 << 8)


def test_a_thread_that_dies_early_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "ROUNDS", -1)
    scripted, deaths = hot(finite), [None, None]
    run = threading.Thread.run

    def dying(self: threading.Thread) -> None:
        if not deaths:
            run(self)
        else:
            deaths.pop()

    monkeypatch.setattr(threading.Thread, "run", dying)
    assert scripted(100_000) == finite(100_000)
    assert not deaths


def test_threads_may_give_up_native_code_while_others_try_it() -> None:
    """What another thread has given up is still called by who saw it before."""
    scripted = torch.jit.script(sum_of)
    made = tiers_of(scripted._rushlight_function).way().executable.native
    assert made is not None
    made._begin()
    for thread in threading.enumerate():
        if thread.name == "rushlight-native":
            thread.join()
    assert made.is_ready
    run = made._run

    def later(*values: Any) -> Any:
        made._give_up("it is slow")  # as another thread does after its last trial
        return run(*values)

    made._run = later
    assert scripted([1, 2, 3]) == 6
    assert not made.is_ready


def sum_of(values: list[int]) -> int:
    total = 0
    for value in values:
        total += value
    return total


def test_an_exception_from_another_thread_ends_a_loop() -> None:
    scripted, caught = hot(nested), threading.Event()

    def work() -> None:
        try:
            scripted(1 << 40)
        except Stop:
            caught.set()

    thread = threading.Thread(target=work)
    thread.start()
    time.sleep(0.1)
    stop = ctypes.py_object(Stop)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), stop)
    thread.join(10)
    assert caught.is_set()


def summed(n: int, m: int, k: int) -> int:
    s = 0
    for i in range(n):
        for j in range(m):
            s += i ^ j
        while s > k:
            s -= k
        if s == 12345:
            return -1
    return s


@pytest.mark.parametrize("rounds", [native.ROUNDS, 100, -1])
def test_long_calls_give_the_same(rounds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "ROUNDS", rounds)
    scripted = hot(summed)
    for n, m in ((0, 0), (-5, 3), (3, -(2**63)), (20, 1), (300, 70000), (70001, 3), (257, 65536)):
        assert scripted(n, m, 1 << 33) == vectorised(n, m, 1 << 33)


def vectorised(n: int, m: int, k: int) -> int:
    """The same, with NumPy."""
    s, places = 0, np.arange(max(m, 0))
    for i in range(n):
        s += int((places ^ i).sum())
        while s > k:
            s -= k
        if s == 12345:
            return -1
    return s


SOURCE = """
import rushlight as torch
from rushlight import Tensor, nn

class Point:
    def __init__(self, x: int):
        self.x = x
    def twice(self) -> int:
        return self.x * 2

def helper(x: Tensor, n: int) -> Tensor:
    return torch.relu(x) * Point(n).twice()

def function(x: Tensor) -> Tensor:
    return helper(helper(x, 1), 2) + 1

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    def forward(self, x: Tensor) -> Tensor:
        return function(self.inner(x))
"""


def everything(module: Any, folder: Path) -> None:
    """Compile, save, load and run."""
    x = torch.ones(1, 2)
    assert torch.jit.script(module.function)(x).tolist() == [[9.0, 9.0]]
    scripted = torch.jit.script(module.Model())
    data = scripted.save_to_buffer()
    torch.jit.save(scripted, folder / "m.pt")
    loaded = torch.jit.load(io.BytesIO(data))
    assert loaded(x).tolist() == scripted(x).tolist()
    scripted(x).sum().backward()
    torch.randn(3)


def _no_handler_runs(frame: FrameType, event: str, argument: object) -> bool:
    """Whether a profile's event is at a place where no signal's handler runs: a lock is let go, or
    the function that has taken one returns, or a generator yields."""
    if event == "return":
        code = frame.f_code
        return code.co_name == "__enter__" or bool(code.co_flags & CO_GENERATOR)
    return event == "c_call" and getattr(argument, "__name__", "") == "__exit__"


@pytest.mark.parametrize("held", [False, True])
def test_an_interrupt_leaves_no_lock_taken(held: bool) -> None:
    lock = fork_safe_lock(of_object=True)
    inside, after, events = [False], 0, 0

    def profile(frame: FrameType, event: str, argument: object) -> None:
        nonlocal events
        events -= 1
        if events < 0 and not _no_handler_runs(frame, event, argument):
            raise Stop

    def taking() -> None:
        with lock:
            inside[0] = lock._is_owned()

    while not inside[0]:  # interrupts at ever later calls and returns, until one comes too late
        for _ in range(held):
            lock.acquire()
        events, after = after, after + 1
        with contextlib.suppress(Stop):
            sys.setprofile(profile)
            taking()
            sys.setprofile(None)
        for _ in range(held):
            lock.release()
        assert not lock._is_owned()
    assert after > 1


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers")
def test_signals_leave_no_lock_taken() -> None:
    lock, rounds = fork_safe_lock(of_object=True), 0

    def stopped(number: int, frame: object) -> None:
        raise Stop

    before = signal.signal(signal.SIGALRM, stopped)
    try:
        for each in range(40):
            with contextlib.suppress(Stop):
                signal.setitimer(signal.ITIMER_REAL, 0.0001 * (1 + each % 7))
                while True:
                    with lock:
                        rounds += 1
            assert not lock._is_owned()
    finally:
        signal.signal(signal.SIGALRM, before)
    assert rounds


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # in finalizers
def test_an_interrupt_leaves_nothing_half_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    events = 0

    def profile(frame: FrameType, event: str, argument: object) -> None:
        nonlocal events
        events -= 1
        if events <= 0 and not _no_handler_runs(frame, event, argument):
            events = 1 << 60
            raise Stop

    after, number = 7, 0
    while True:  # interrupts at ever later calls and returns, until one comes too late
        number += 1
        name = f"interrupted_{number}"
        (tmp_path / f"{name}.py").write_text(SOURCE)
        module = importlib.import_module(name)
        events = after
        sys.setprofile(profile)
        try:
            everything(module, tmp_path)
        except Stop:
            pass
        except SystemError as error:  # Python's own, where a collection amid `ast.parse` is stopped
            if "AST constructor recursion depth mismatch" not in str(error):
                raise
        else:
            break
        finally:
            sys.setprofile(None)
        assert not DEFINING._is_owned()
        assert CREW is None or not CREW.is_told
        assert [file.name for file in tmp_path.glob("*m.pt*")] in ([], ["m.pt"])
        everything(module, tmp_path)
        with pytest.raises(RuntimeError, match="nonsense"):
            torch.jit.CompilationUnit("def f(x):\n    return x.nonsense()\n")
        after = after * 8 // 7 + 1
    assert number > 20


def _interrupted(
    code: CodeType, call: Callable[[], object], place: int, *, behind: str = ""
) -> bool:
    """Call, with an interrupt before an instruction of some code, counting those alone that come
    behind instructions of a name, as Python looks for interrupts behind calls; whether it came."""
    seen, before = 0, ""

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal seen, before
        if frame.f_code is not code:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            seen += before.startswith(behind)
            before = dis.opname[code.co_code[frame.f_lasti]]
            if seen == place:
                sys.settrace(None)
                raise KeyboardInterrupt
        return trace

    sys._getframe().f_trace_opcodes = True  # for Python 3.12, which looks for it at once
    sys.settrace(trace)
    with contextlib.suppress(KeyboardInterrupt):
        call()
    sys.settrace(None)
    return seen >= place


@pytest.mark.skipif(CREW is None, reason="threads of native code")
def test_native_code_never_tells_a_function_that_is_gone() -> None:
    crew = CREW
    assert crew is not None

    def call() -> None:
        with crew.told(lambda *_: None):
            pass

    place = 1
    while _interrupted(inspect.unwrap(type(crew).told).__code__, call, place):
        assert crew._state.note in (None, id(crew._told)), place
        crew._state.note, crew._told = None, None
        place += 1
    assert place > 20


@pytest.mark.skipif(CREW is None, reason="threads of native code")
def test_native_code_draws_only_what_is_lent() -> None:
    generator = Generator().manual_seed(1)
    stream = generator._stream = new_stream()
    for normal in (None, 0.5):
        place = 1
        while True:
            generator.words(4)
            generator._take_back()
            generator.cached_normal = normal
            if not _interrupted(Generator._lend.__code__, generator._lend, place, behind="CALL"):
                break
            assert generator._is_lent or not stream[1], place
            place += 1
        assert place > 2
