"""Bounds on code that is not trusted: they are counted, and belong to the code."""

from __future__ import annotations

import copy
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

import rushlight as torch
from rushlight.__main__ import main
from rushlight.interpreter.bounds.guard import Bounds
from rushlight.jit.mobile import _load_for_lite_interpreter
from rushlight.ops.memory.allocation import current_ledger
from rushlight.serialization.files.limits import Limits

from .greedy_programs import BOUND, PROGRAMS, archive

HERE = Path(__file__).parent


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_memory_is_counted_where_it_is_made() -> None:
    """No program gets more than the bound, what operators need for themselves included."""
    environment = {**os.environ, "PYTHONPATH": f"{HERE.parents[1]}{os.pathsep}{HERE}"}
    environment["RUSHLIGHT_KERNELS"] = "numpy"  # the compiler's own memory is not counted
    run = subprocess.run(
        [sys.executable, str(HERE / "greedy_programs.py")],
        capture_output=True,
        text=True,
        env=environment,
        timeout=200,
        check=True,
    )
    found, peak = json.loads(run.stdout.splitlines()[-1])
    assert found == dict.fromkeys(PROGRAMS, "limit-exceeded")
    assert peak < 1.25 * BOUND + (64 << 20)


ENDLESS = "c = True\nwhile c:\n  x = torch.add(x, 1)\nreturn x"
BODIES = {
    "instructions": (ENDLESS, Bounds(instructions=20_000), "instructions have run"),
    "memory": ("return torch.ones([99999, 9999])", Bounds(memory=1 << 24), "bytes of memory"),
    "seconds": (ENDLESS, Bounds(seconds=0.2, instructions=1 << 60), "seconds"),
    "work": (
        "y = torch.expand(x[0], [9999, 9999])\nreturn torch.mm(y, y)",
        Bounds(seconds=5),
        "steps",
    ),
    "output": (
        's = torch.ljust("", 999)\nwhile True:\n  print(s)\nreturn x',
        Bounds(output=5000),
        "c",
    ),
}


class Holder(torch.nn.Module):
    def __init__(self, inner: Any) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.inner(x)


class Forking(Holder):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.jit.wait(torch.jit.fork(self.inner, x))


def saved_again(m: Any) -> Any:
    buffer = BytesIO()
    m.save(buffer)
    return torch.jit.load(
        BytesIO(buffer.getvalue()), trust="none", limits=Limits(running=BOUNDS[0])
    )


def defined(m: Any) -> Any:
    m.define("def again(self, x):\n    return self.forward(x)")
    return m.again


def of_graph(m: Any) -> Any:
    function = torch._C._create_function_from_graph("f", m.inlined_graph)
    return lambda x: function(m._c, x)


def recorded(m: Any) -> Any:
    return lambda x: m(x.requires_grad_())


WAYS: dict[str, Callable[[Any], Any]] = {
    "call": lambda m: m,
    "method": lambda m: m.forward,
    "freeze": lambda m: torch.jit.freeze(m),
    "optimize": lambda m: torch.jit.optimize_for_inference(m),
    "script": lambda m: torch.jit.script(Holder(m)),
    "script frozen": lambda m: torch.jit.freeze(torch.jit.script(Holder(m)).eval()),
    "fork": lambda m: torch.jit.script(Forking(m)),
    "task": lambda m: lambda x: torch.jit.wait(torch.jit.fork(m, x)),
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
    "saved": saved_again,
    "define": defined,
    "graph": of_graph,
    "recorded": recorded,
    "eager": Holder,
    "trace": lambda m: torch.jit.trace(Holder(m), torch.ones(2)),
}
BOUNDS: list[Bounds] = []


@pytest.fixture(autouse=True, scope="module")
def _first_use() -> None:
    """What the library makes once takes longer than the bounds below."""
    torch.jit.load(BytesIO(archive("return torch.add(x, 1)")), trust="none")(torch.ones(2))
    torch.jit.script(Forking(torch.nn.ReLU()))(torch.ones(2))


# the exception that ends a call may come while a callback of Python's collector runs, and again
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("bound", BODIES)
@pytest.mark.parametrize("way", WAYS)
def test_bounds_hold_however_code_is_reached(way: str, bound: str) -> None:
    body, bounds, said = BODIES[bound]
    BOUNDS[:] = [bounds]
    limits = Limits(running=bounds)
    module = torch.jit.load(BytesIO(archive(body)), trust="none", limits=limits).eval()
    with pytest.raises(RuntimeError, match=said):
        WAYS[way](module)(torch.ones(2))


# --------------------------------------------------------------------------- looking at archives


class Loud(torch.nn.Module):
    """Restores itself by code that can be heard."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x

    @torch.jit.export
    def __getstate__(self) -> tuple[int, bool]:
        return 1, self.training

    @torch.jit.export
    def __setstate__(self, state: tuple[int, bool]) -> None:
        print("restored")
        self.training = state[1]


@pytest.fixture(scope="module")
def loud(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("loud")
    module = torch.jit.script(Loud())
    module.save(str(folder / "m.pt"))
    module._save_for_lite_interpreter(str(folder / "m.ptl"))
    module._save_for_lite_interpreter(str(folder / "m.ff"), _use_flatbuffer=True)
    return folder


@pytest.mark.parametrize("name", ["m.pt", "m.ptl", "m.ff"])
@pytest.mark.parametrize("command", [["audit"], ["show"], ["show", "--bytecode"]])
def test_looking_at_an_archive_runs_nothing(
    loud: Path, name: str, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    if name == "m.pt" and "--bytecode" in command:
        return
    first, *rest = command
    assert main([first, str(loud / name), *rest]) == 0
    assert "restored\n" not in capsys.readouterr().out
    if name == "m.pt":
        torch.jit.load(str(loud / name), trust="none")
    else:
        _load_for_lite_interpreter(str(loud / name), trust="none")
    assert capsys.readouterr().out == "restored\n"


class Greedy(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        while bool(x.sum() > 0):
            x = x + 1
        return torch.ones([30000, 30000])


@pytest.mark.parametrize(
    ("start", "bounds", "said"),
    [
        (1.0, Bounds(instructions=20_000), "instructions have run"),
        (1.0, Bounds(seconds=0.2, instructions=1 << 60), "seconds"),
        (0.0, Bounds(memory=1 << 24), "bytes of memory"),
    ],
)
def test_the_lite_interpreter_is_bounded(start: float, bounds: Bounds, said: str) -> None:
    data = torch.jit.script(Greedy())._save_to_buffer_for_lite_interpreter()
    module = _load_for_lite_interpreter(BytesIO(data), trust="none", limits=Limits(running=bounds))
    with pytest.raises(RuntimeError, match=said):
        module(torch.full((1,), start))


def test_walks_back_over_code_that_is_not_trusted_are_bounded() -> None:
    body = "return torch.sum(torch.select(torch.expand(x, [20000, 20000]), 0, 0))"
    limits = Limits(running=Bounds(memory=1 << 26))
    module = torch.jit.load(BytesIO(archive(body)), trust="none", limits=limits)
    x = torch.ones(1, requires_grad=True)
    loss = module(x)
    with pytest.raises(RuntimeError, match="bytes of memory"):
        torch.autograd.grad(loss, x)


def loaded(body: str, bounds: Bounds) -> Any:
    limits = Limits(running=bounds)
    return torch.jit.load(BytesIO(archive(body)), trust="none", limits=limits)


def test_traces_keep_the_bounds_of_what_they_call() -> None:
    body = "i = 0\nwhile torch.lt(i, int(torch.item(x[0]))):\n  i = torch.add(i, 1)\nreturn x"
    inner = loaded(body, Bounds(instructions=20_000))
    traced = torch.jit.trace(Holder(inner), torch.ones(2))
    for module in (traced, torch.jit.freeze(traced.eval())):
        assert torch.equal(module(torch.ones(2)), torch.ones(2))
        with pytest.raises(RuntimeError, match="instructions have run"):
            module(torch.full((2,), 1e9))


HOARD = (
    "l = [x]\nfor i in range(100000):\n  _0 = torch.append(l, torch.ones([100000]))\n"
    "return torch.add(x, torch.len(l))"
)


def test_the_memory_of_other_threads_ends_no_call() -> None:
    greedy = loaded(HOARD, Bounds(memory=1 << 27))
    modest = loaded(
        "y = torch.ones([100000])\nfor i in range(20):\n  y = torch.add(y, torch.sin(y))\nreturn y",
        Bounds(memory=1 << 22),
    )
    ended: list[str] = []

    def hoard() -> None:
        try:
            greedy(torch.ones(2))
        except RuntimeError:
            ended.append("greedy")

    threads = [threading.Thread(target=hoard) for _ in range(2)]
    for thread in threads:
        thread.start()
    kept = [modest(torch.ones(2)) for _ in range(30)]
    for thread in threads:
        thread.join()
    assert ended == ["greedy", "greedy"]
    assert len(kept) == 30


def test_where_allocators_are_unknown_the_process_is_looked_at() -> None:
    program = (
        "from tests.serialization.test_bounds import *\n"
        "from rushlight.ops.memory.allocation import is_counting\n"
        "try: loaded(HOARD, Bounds(memory=1 << 26))(torch.ones(2))\n"
        "except RuntimeError as error: print(is_counting(), error)"
    )
    run = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=60,
        env={**_environment(), "PYTHONMALLOC": "debug"},
    )
    assert run.stdout.startswith("False")
    assert "bytes of memory" in run.stdout


def test_running_out_of_memory_names_the_place() -> None:
    @torch.jit.script
    def make(n: int) -> torch.Tensor:
        return torch.ones([n, n])

    for _ in range(3):  # on the machine, then in a plan
        with pytest.raises(RuntimeError, match=r"tried to allocate 4000000000000 bytes") as caught:
            make(10**6)
        assert "torch.ones([n, n])" in str(caught.value)


def test_small_objects_leave_room_to_tell_that_memory_is_used_up() -> None:
    body = "return torch.stack(torch.unbind(torch.repeat(x, [300])))"
    module = loaded(body, Bounds(memory=16 << 20, seconds=60.0))
    for _ in range(3):
        with pytest.raises(RuntimeError, match="bytes of memory") as caught:
            module(torch.ones(1000))
        assert [d.code for d in caught.value.diagnostics] == ["limit-exceeded"]  # type: ignore[attr-defined]
        assert not current_ledger().is_open


def test_the_text_of_an_error_is_bounded() -> None:
    text = "torch.ljust('', torch.mul(torch.size(x, 0), 1000), 'a')"
    module = loaded(f"ops.prim.RaiseException({text})\nreturn x", Bounds(output=100_000))
    with pytest.raises(torch.jit.Error, match="a" * 1000):
        module(torch.ones(1))
    with pytest.raises(RuntimeError, match="its error has more than 100000 characters") as caught:
        module(torch.ones(1000))
    assert [d.code for d in caught.value.diagnostics] == ["limit-exceeded"]  # type: ignore[attr-defined]


# --------------------------------------------------------------------------- the last wall

OVERRUNS = """
import sys, time
from rushlight.interpreter.bounds.guard import Bounds, Guard
from rushlight.interpreter.bounds.watch import WALL
WALL.append(-0.9)
with Guard(Bounds(seconds=0.1)).entered():
    time.sleep(30)
"""


def test_the_system_ends_what_overruns_its_time_in_a_process_of_the_command_line() -> None:
    run = subprocess.run([sys.executable, "-c", OVERRUNS], timeout=20, env=_environment())
    assert run.returncode == -signal.SIGALRM


TOLD = """
import sys
from rushlight.interpreter.bounds.watch import Watched, unwatch, watch
call = Watched()
watch(call, 60.0)
call.told = call.until  # as the clock does, where the call ends by itself right then
unwatch(call)
sys.settrace(lambda frame, event, argument: print(event))
(lambda: None)()
"""


def test_what_a_call_was_sent_is_gone_with_it() -> None:
    """Else Python looks for it for ever, and under a debugger no function begins any more."""
    run = subprocess.run(
        [sys.executable, "-c", TOLD], timeout=20, env=_environment(), stdout=subprocess.PIPE
    )
    assert (run.returncode, run.stdout.split()[:1]) == (0, [b"call"])


def test_commands_tell_how_their_child_ended(tmp_path: Path) -> None:
    path = tmp_path / "m.pt"
    path.write_bytes(archive("while True:\n  print(1)\n  x = torch.rand([9])\nreturn x"))
    command = [sys.executable, "-m", "rushlight", "run", str(path), "[1.0]"]
    for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)):
        run = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            env=_environment(),
            start_new_session=True,
            preexec_fn=_heeds_interrupts,
        )
        assert run.stdout is not None
        assert run.stdout.readline() == b"1\n"
        os.killpg(run.pid, number) if number == signal.SIGINT else run.terminate()
        run.communicate(timeout=20)  # which reads on: into a full pipe nothing more is written
        assert run.returncode == status


def _heeds_interrupts() -> None:
    """Shells have what they run in the background ignore them."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(HERE.parents[1]), "PYTHONUNBUFFERED": "1"}
