"""More attacks on threads, forks, saves and determinism: rows of calls, caches, limits, children."""

from __future__ import annotations

import os
import resource
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from attacks_on_bounds import FAMILY as BOUNDS
from attacks_on_determinism import FAMILY as DETERMINISM
from attacks_on_determinism import MODEL, WAYS, _compared
from attacks_on_durability import FAMILY as DURABILITY
from attacks_on_durability import _is_whole, _module, _only
from attacks_on_threads import FAMILY as THREADS
from harness import Broken, interrupts, is_documented, refused
from making import archive, load


def _row(count: int) -> Any:
    import rushlight as torch

    lines = ["def f0(x):\n    return x + 1\n"]
    lines += [f"def f{i}(x):\n    return f{i - 1}(x) * 1\n" for i in range(1, count)]
    return getattr(torch.jit.CompilationUnit("".join(lines)), f"f{count - 1}")


def _together(*actions: Callable[[], object]) -> None:
    """Run each in a thread of its own; what one raises is raised."""
    raised: list[BaseException] = []

    def run(action: Callable[[], object]) -> None:
        try:
            action()
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=run, args=(action,)) for action in actions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if raised:
        raise raised[0]


# --------------------------------------------------------------------------- threads


@THREADS.attack("sixteen inline one row of calls for the first time", seconds=60.0)
def inlined_by_all() -> None:
    import rushlight as torch

    last, texts = _row(60), set()

    def use() -> None:
        texts.add(str(last.inlined_graph))
        if last(torch.zeros(1)).item() != 1:
            raise Broken("a row of calls gives another number")

    _together(*[use] * 16)
    if len(texts) != 1:
        raise Broken("threads read different graphs")


@THREADS.attack("sixteen freeze one module", seconds=60.0)
def frozen_by_all() -> None:
    import rushlight as torch

    module = torch.jit.script(torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU()).eval())
    x = torch.ones(1, 2)
    wanted, codes = module(x).tolist(), set()

    def use() -> None:
        frozen = torch.jit.freeze(module)
        codes.add(frozen.code)
        if frozen(x).tolist() != wanted:
            raise Broken("a frozen module gives other numbers")

    _together(*[use] * 16)
    if len(codes) != 1:
        raise Broken("threads froze different code")


@THREADS.attack("an interrupt at any moment of inlining", seconds=60.0)
def interrupted_inlining() -> None:
    import rushlight as torch

    last = _row(150)
    for part in range(1, 12):
        interrupts(lambda: str(last.inlined_graph), 0.01 * part)
    if last(torch.zeros(1)).item() != 1:
        raise Broken("a row of calls was hurt")
    str(last.inlined_graph)


@THREADS.attack("a fork while a row of calls is compiled", seconds=60.0)
def forked_inlining() -> None:
    import rushlight as torch

    last, done = _row(100), threading.Event()

    def compile() -> None:
        while not done.is_set():
            str(last.inlined_graph)

    thread = threading.Thread(target=compile)
    thread.start()
    try:
        for _ in range(5):
            child = os.fork()
            if child == 0:
                signal.alarm(20)
                same = last(torch.zeros(1)).item() == 1 and len(str(last.inlined_graph)) > 100
                os._exit(0 if same else 3)
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            if status:
                raise Broken(f"a child ended with {status}")
    finally:
        done.set()
        thread.join()


@THREADS.attack("a bound that ends one thread's compiling ends no other's", seconds=60.0)
def one_ends() -> None:
    import rushlight as torch
    from rushlight.interpreter.bounds.guard import Bounds
    from rushlight.serialization.files.limits import Limits

    hostile = archive("".join(f"y{i} = torch.add(x, {i})\n" for i in range(3000)) + "return x")
    good = archive("return torch.add(x, 1)")

    def ended() -> None:
        with refused("limit-exceeded"):
            load(hostile, limits=Limits(running=Bounds(seconds=0.05)))

    def innocent() -> None:
        for _ in range(10):
            if load(good)(torch.zeros(1)).item() != 1:
                raise Broken("another number")

    _together(ended, innocent, innocent, ended)


@THREADS.attack("one module runs in threads while it is loaded anew and dropped", seconds=60.0)
def loaded_anew() -> None:
    import rushlight as torch

    data = archive("for i in range(100):\n  x = torch.add(x, 1)\nreturn x")
    shared = [load(data)]

    def call() -> None:
        for _ in range(100):
            if shared[0](torch.zeros(1)).item() != 100:
                raise Broken("another number")

    def renew() -> None:
        for _ in range(20):
            shared[0] = load(data)

    _together(call, call, call, renew)


# --------------------------------------------------------------------------- durability


@DURABILITY.attack("a save in a child while the parent saves", seconds=60.0)
def parent_and_child() -> None:
    os.mkdir("d")
    large, small = _module(64), _module(4)
    for _ in range(10):
        child = os.fork()
        if child == 0:
            large.save("d/m.pt")
            os._exit(0)
        small.save("d/m.pt")
        if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
            raise Broken("the child could not save")
        _is_whole("d/m.pt")
    _only("d", "m.pt")


@DURABILITY.attack("weights on a disk that is full", seconds=60.0)
def weights_on_a_full_disk() -> None:
    import rushlight as torch

    os.mkdir("d")
    torch.save({"a": torch.ones(10)}, "d/w.pt")
    old = Path("d/w.pt").read_bytes()
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    for limit in (0, 50, 1000, 100_000):
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, 256 << 20))
        for target in ("d/w.pt", "d/new.pt"):
            with refused():
                torch.save({"a": torch.ones(1_000_000)}, target)
        if Path("d/w.pt").read_bytes() != old:
            raise Broken(f"the old weights were changed, with room for {limit} bytes")
    _only("d", "w.pt")


@DURABILITY.attack("commands that write on a disk that is full", seconds=60.0)
def commands_on_a_full_disk() -> None:
    from rushlight.__main__ import main

    os.mkdir("d")
    _module(64).save("d/m.pt")
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 256 << 20))
    for target in ("d/m.safetensors", "d/m.py", "d/n.pt"):
        try:
            status: object = main(["convert", "d/m.pt", target])
        except SystemExit as left:
            status = left.code
        if not status:
            raise Broken(f"{target} was written to a full disk")
    resource.setrlimit(resource.RLIMIT_FSIZE, (256 << 20, 256 << 20))
    _is_whole("d/m.pt")
    _only("d", "m.pt")


@DURABILITY.attack("a folder that nobody may write")
def closed_folder() -> None:
    os.mkdir("d")
    _module().save("d/m.pt")
    old = Path("d/m.pt").read_bytes()
    os.chmod("d", 0o555)
    child = os.fork()
    if child == 0:
        if os.getuid() == 0:  # who may write anywhere
            os.setresuid(65534, 65534, 65534)
        try:
            _module(8).save("d/m.pt")
        except OSError:
            os._exit(0)
        except RuntimeError as error:
            os._exit(0 if is_documented(error) else 4)
        finally:
            os._exit(3)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status or Path("d/m.pt").read_bytes() != old:
        raise Broken(f"a save into a closed folder ended with {status}")


@DURABILITY.attack("a cache of kernels that is cut, foreign or full", seconds=120.0, long=True)
def spoilt_cache() -> None:
    import subprocess

    program = (
        "import rushlight as torch\n"
        "print(torch.ones(20000).tanh().sum().item(), torch.ones(300, 300).softmax(1).sum().item())"
    )
    environment = {**os.environ, "RUSHLIGHT_CACHE": os.path.abspath("cache"), "PYTHONPATH": os.pathsep.join(sys.path)}  # fmt: skip

    def told() -> str:
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", program],
            **{"env": environment, "capture_output": True, "text": True, "timeout": 100},
        )
        if done.returncode:
            raise Broken(done.stderr[-1000:])
        return done.stdout

    wanted = told()
    changes: tuple[Callable[[bytes], bytes], ...] = (
        lambda data: data[: len(data) // 2],
        lambda data: b"",
        lambda data: bytes(len(data)),
        lambda data: data[:-1] + bytes([data[-1] ^ 255]),
    )
    for change in changes:
        for path in Path("cache").rglob("*"):
            if path.is_file():
                path.write_bytes(change(path.read_bytes()))
        if told() != wanted:
            raise Broken("a spoilt cache changes results")


# --------------------------------------------------------------------------- determinism

ROWS = (
    "u = torch.jit.CompilationUnit('def f0(x):\\n    return x + 1\\n' + ''.join(f'def f{i}(x, y: int = {i}):\\n"
    "    return f{i - 1}(x) * y + f{i // 2}(x)\\n' for i in range(1, 40)))\n"
)
TOLD = {
    "rows of calls, run and printed": ROWS
    + "told(u.f39(torch.ones(3)))\ntold(str(u.f20.inlined_graph))",
    "rows of calls, saved": ROWS
    + "class N(torch.nn.Module):\n  def forward(self, x):\n    return x\n"
    + "m = torch.jit.script(N())\nm.define('def g(self, x):\\n    return self.forward(x) + 1')\ntold(m.save_to_buffer())",
    "an audit": MODEL
    + "import io, rushlight.serialization.archives.audit as a\n"
    + "told(str(a.audit(torch.jit.script(Net()).save_to_buffer(), 'm.pt')))",
    "what a refused archive says": (
        "import io\ntry:\n  torch.jit.load(io.BytesIO(b'PK' + bytes(100)), trust='none')\n"
        "except Exception as e:\n  told(str(e))"
    ),
}
for name, program in TOLD.items():
    DETERMINISM.attack(f"{name}, hash seeds", seconds=300.0, long=True)(
        _compared(program, WAYS["hash seeds"])
    )


@DETERMINISM.attack("what is taken in does not hang on the order of definitions")
def taken_in_any_order() -> None:
    import rushlight as torch
    from rushlight.ir.functions.define import graph_of
    from rushlight.ir.functions.inlined_sizes import calls_for_running

    found = set()
    for way in (1, -1):
        lines = ["def f0(x):\n    return x + 1\n"]
        lines += [f"def f{i}(x):\n    return f{i - 1}(f{i - 1}(x))\n" for i in range(1, 14)]
        unit = torch.jit.CompilationUnit("".join(lines))
        for i in range(14)[::way]:
            unit.__getattr__(f"f{i}").graph  # noqa: B018
        chosen = calls_for_running(graph_of(unit.f13._rushlight_function))
        found.add(str(sorted((f.name, n) for each in chosen.values() for f, n in each.items())))
    if len(found) != 1:
        raise Broken("other calls are taken in")


# --------------------------------------------------------------------------- bounds

DOUBLED = {"lists": "[{0}, {0}]", "dicts": "{{'a': {0}, 'b': {0}}}", "pairs": "({0}, {0})"}
"""What holds one thing twice: forty such in each other have a billion parts, and forty objects."""

USES = {
    "returned": "return y",
    "returned as Any": "z: Any = y\nreturn z",
    "asked for their type": "z: Any = y\nreturn isinstance(z, int)",
    "printed": "print(y)",
    "made a text": "return str(y)",
    "formatted": "return '{}'.format(y)",
    "in an f-string": "return f'{y}'",
    "in an error": "raise ValueError(str(y))",
    "in an assertion": "assert False, str(y)",
    "compared": "return y == y",
    "ordered": "return y < y",
    "looked for": "return y in [y]",
    "counted in a list": "return [y].count(y)",
    "found in a list": "return [y].index(y)",
    "sorted": "z = [y, y]\nz.sort()",
    "keys": "return {y: 1}",
    "copied": "return [y].copy()",
    "added": "return y + y",
    "joined by a branch": "if x > 0:\n    z = y\nelse:\n    z = y\nreturn z",
    "carried by a loop": "z = y\nfor i in range(3):\n    z = y\nreturn z",
}


def _use_of_shared(form: str, use: str) -> Callable[[], None]:
    def run() -> None:
        lines = ["y0 = x", *(f"y{i} = {form.format(f'y{i - 1}')}" for i in range(1, 41)), "y = y40"]
        lines += [*use.split("\n"), *([] if use.startswith(("return", "raise")) else ["return 1"])]
        body = "".join(f"    {line}\n" for line in lines)
        try:
            module = load(archive(methods=f"  def f(self: __torch__.M, x: int) -> Any:\n{body}"))
            module.f(1)
        except Exception as error:
            if not is_documented(error):
                raise

    return run


for name, form in DOUBLED.items():
    for done, use in USES.items():
        short = name == "lists" and done not in ("made a text", "formatted", "in an f-string")
        BOUNDS.attack(f"shared: {name} doubled forty times, {done}", seconds=15.0, long=not short)(
            _use_of_shared(form, use)
        )
