"""More attacks by threads: what is deleted, changed, resized or ended while others use it."""

from __future__ import annotations

import contextlib
import copy
import ctypes
import gc
import io
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from attacks_on_threads import FAMILY, _module, _program, _same, _together
from harness import ROOT, Broken, is_documented


def _rounds(*works: Callable[[], object], rounds: int = 12) -> None:
    """Each work again and again in threads of its own, all at once; documented errors may come."""

    def run(number: int) -> None:
        for _ in range(rounds):
            try:
                works[number % len(works)]()
            except Exception as error:
                if not is_documented(error):
                    raise

    _together(run, 2 * len(works))


@FAMILY.attack("one deletes what others define, load, freeze and call", seconds=60.0)
def deleted() -> None:
    import rushlight as torch

    Net = _program()["Net"]
    held = [torch.jit.script(Net().eval())]
    data, x = held[0].save_to_buffer(), torch.ones(1, 2)

    def renew() -> None:
        held[0] = torch.jit.load(io.BytesIO(data))
        gc.collect()

    def copied() -> None:
        held[0] = copy.deepcopy(held[0])
        gc.collect()

    _rounds(
        lambda: held[0](x),
        lambda: torch.jit.freeze(held[0])(x),
        lambda: held[0].save_to_buffer(),
        lambda: str(held[0].graph),
        renew,
        copied,
        rounds=5,
    )
    held[0](x)


@FAMILY.attack("units of one source are made and dropped", seconds=60.0)
def units() -> None:
    import rushlight as torch

    def make() -> int:
        unit = torch.jit.CompilationUnit(
            "def f(x: int):\n    return g(x) + 1\ndef g(x: int):\n    return x * 2\n"
        )
        return int(unit.f(3))

    _same(_together(lambda i: [make() for _ in range(5)]))


@FAMILY.attack("a module is saved while others change it", seconds=60.0)
def changed_while_saved() -> None:
    import rushlight as torch

    module = torch.jit.script(_program()["Net"]())
    state = {name: value.clone() for name, value in module.state_dict().items()}
    stop = threading.Event()

    def change() -> None:
        while not stop.is_set():
            module.load_state_dict(state)
            module.train(not module.training)
            module.a.weight.data = torch.rand(2, 2)
            time.sleep(1e-4)  # who draws lets go of Python's lock too shortly for others

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(8):
            torch.jit.load(io.BytesIO(module.save_to_buffer()))(torch.ones(1, 2))
    finally:
        stop.set()
        thread.join()


@FAMILY.attack("a tensor is resized while others compute with it", seconds=60.0)
def resized() -> None:
    import rushlight as torch

    x, other = torch.rand(20_000), torch.rand(20_000)
    sizes = iter(range(1 << 40))

    def resize() -> None:
        x.resize_((1, 20_000, 40_000)[next(sizes) % 3])

    _rounds(
        resize,
        lambda: x.tanh().sum(),
        lambda: torch.softmax(x, 0),
        lambda: x + other,
        lambda: x.cumsum(0),
        lambda: x.sort(),
        lambda: torch.dot(x, other),
        lambda: x.tolist(),
        rounds=4,
    )


@FAMILY.attack("a list grows while a script walks through it", seconds=60.0)
def growing() -> None:
    import rushlight as torch

    unit = torch.jit.CompilationUnit(
        "def f(v: List[int]) -> int:\n    t = 0\n    for e in v:\n        t += e\n    return t\n"
    )
    values = [1] * 1000

    def change() -> None:
        values.append(1)
        del values[:3]
        values.extend([1] * 2)

    _rounds(lambda: unit.f(values), change, rounds=50)


@FAMILY.attack("the number of threads changes while kernels run", seconds=60.0)
def thread_counts() -> None:
    import rushlight as torch

    x = torch.rand(400, 100)
    wanted = x.softmax(1).tolist()
    counts = iter(range(1 << 40))

    def check() -> None:
        if x.softmax(1).tolist() != wanted:
            raise Broken("a kernel gave other bits")

    _rounds(check, check, lambda: torch.set_num_threads(1 + next(counts) % 4), rounds=6)
    torch.set_num_threads(2)


@FAMILY.attack("gradients are cleared while others walk back", seconds=60.0)
def cleared() -> None:
    import rushlight as torch

    module = torch.jit.script(_program()["Net"]())
    x = torch.ones(1, 2)
    _rounds(
        lambda: module(x).sum().backward(),
        lambda: module.zero_grad(),
        lambda: [p.grad for p in module.parameters()],
        lambda: module.requires_grad_(True),
    )
    module.zero_grad()
    module(x).sum().backward()


@FAMILY.attack("exceptions are sent to threads at any time", seconds=60.0)
def sent() -> None:
    """Afterwards everything works, and modes are as they were."""
    import rushlight as torch

    names, x = _program(), torch.ones(1, 2)
    module = torch.jit.script(names["Net"]())

    class Stop(BaseException):
        pass

    def work() -> None:
        with torch.no_grad():
            module(x)
        torch.jit.load(io.BytesIO(module.save_to_buffer()))(x)
        module(x).sum().backward()
        torch.rand(3)

    ended = []

    def run() -> None:
        for _ in range(25):
            with contextlib.suppress(Stop):
                work()
        ended.append(torch.is_grad_enabled())

    thread = threading.Thread(target=run)
    thread.start()
    send, stop = ctypes.pythonapi.PyThreadState_SetAsyncExc, ctypes.py_object(Stop)
    for _ in range(8):
        time.sleep(0.004)
        if thread.is_alive():
            send(ctypes.c_ulong(thread.ident or 0), stop)
    thread.join(50)
    if thread.is_alive():
        raise Broken("the thread hangs")
    if ended not in ([], [True]):
        raise Broken("the thread is left without gradients")
    for _ in range(2):
        worker = threading.Thread(target=work)
        worker.start()
        worker.join(20)
        if worker.is_alive():
            raise Broken("a lock is left taken")


ENDS = {
    "in a native loop": "import os; os.environ['RUSHLIGHT_NATIVE'] = 'now'\nf = torch.jit.CompilationUnit('def f(n: int) -> int:\\n    t = 0\\n    for i in range(n):\\n        t += i % 7\\n    return t\\n').f\nwork = lambda: f(2**60)",
    "in a kernel": "x = torch.rand(2000, 500)\nwork = lambda: [x.softmax(1) for i in range(10**6)]",
    "in a product": "x = torch.rand(700, 700)\nwork = lambda: [x @ x for i in range(10**6)]",
    "in the compiler": "work = lambda: [torch.jit.CompilationUnit('def f(x):\\n    return x + 1\\n').f(torch.ones(1)) for i in range(10**6)]",
}
for name, lines in ENDS.items():

    def ends(lines: str = lines) -> None:
        text = f"""import threading, time
import rushlight as torch
{lines}
for _ in range(2):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.3)
print("done")
"""
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", text],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=50,
        )
        if (done.returncode, done.stdout, done.stderr) != (0, "done\n", ""):
            raise Broken(f"the process ended with {done.returncode}: {done.stderr[-1000:]}")

    is_long = name != "in a native loop"
    FAMILY.attack(f"Python ends while a thread is {name}", seconds=60.0, long=is_long)(ends)


@FAMILY.attack("symbolic traces beside calls of modules", seconds=60.0)
def traced_beside() -> None:
    """While a tracer is at work, the class of all modules is another."""
    import rushlight as torch
    from rushlight.nn import Module

    module, x = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU()), torch.ones(1, 3)
    before = (Module.__call__, Module.__getattr__)

    def work(number: int) -> object:
        if number % 4:
            return [module(x).tolist() for _ in range(30)][-1]
        return [torch.fx.symbolic_trace(module)(x).tolist() for _ in range(3)][-1]

    _same(_together(work))
    if (Module.__call__, Module.__getattr__) != before:
        raise Broken("modules stay what they were for a tracer")


@FAMILY.attack("functions of slices beside gradients and draws", seconds=60.0)
def sliced_beside() -> None:
    import rushlight as torch

    x = torch.ones(3, 2)
    works: list[Callable[[], object]] = [
        lambda: torch.vmap(lambda v: torch.vmap(lambda w: w * 2)(v) + v)(x).tolist(),
        lambda: torch.func.grad(lambda v: (v**3).sum())(x).tolist(),
        lambda: torch.func.jacrev(lambda v: v**2)(x[0]).tolist(),
        lambda: torch.rand(3).shape,
    ]
    alone = [work() for work in works]
    _together(lambda number: [_alike(works[number % 4](), alone[number % 4]) for _ in range(10)])


def _alike(found: object, alone: object) -> None:
    if found != alone:
        raise Broken(f"with others {found!r:.200}, alone {alone!r:.200}")


NATIVE = """
from enum import Enum
from typing import Dict, List, NamedTuple, Optional, Tuple

import rushlight as torch


class Color(Enum):
    RED = 1
    BLUE = 2


class Part(NamedTuple):
    size: int
    name: str
    tags: List[str]


class Box:
    def __init__(self, n: int):
        self.n = n
        self.items: List[int] = [n]


@torch.jit.script
def count(
    words: List[str],
    table: Dict[str, int],
    parts: List[Part],
    color: Color,
    extra: Optional[int],
    nested: Dict[str, List[Tuple[int, float]]],
) -> int:
    found = 0
    for word in words:
        found += len(word)
        if word in table:
            found += table[word]
    for part in parts:
        found += part.size
        for tag in part.tags:
            found += len(tag)
    for key in nested.keys():
        for a, b in nested[key]:
            found += a + int(b)
    if color == Color.RED and extra is not None:
        found += extra
    table["new"] = found
    words.append("w")
    return found


class Held(torch.nn.Module):
    words: List[str]
    table: Dict[str, int]

    def __init__(self):
        super().__init__()
        self.words = ["a", "bb"]
        self.table = {"a": 1}
        self.box = Box(3)

    def forward(self, n: int) -> int:
        found = 0
        for i in range(n):
            for word in self.words:
                found += len(word) + self.table.get(word, 0)
            found += self.box.n + len(self.box.items)
        self.table["a"] = found % 7
        self.box.items.append(found)
        return found
"""


@FAMILY.attack("containers of native functions change while they are read", seconds=60.0)
def changed_containers() -> None:
    import random

    os.environ["RUSHLIGHT_NATIVE"] = "now"
    names = _module("native_containers", NATIVE)
    count, Part, Color = names["count"], names["Part"], names["Color"]
    from rushlight.jit import script

    held = script(names["Held"]())
    words, table = [str(i) for i in range(200)], {str(i): i for i in range(100)}
    parts = [Part(i, "n", ["t"] * 3) for i in range(50)]
    nested = {str(i): [(i, 0.5)] * 5 for i in range(20)}
    wild: list[Any] = [5, None, "x" * 100_000, "\ud800", b"x", [], 3.5, True, "é", "\0", 2**70]
    draw = random.Random(3)

    def change() -> None:
        words[:] = [draw.choice(["a", "x" * 1000, "é"]) for _ in range(draw.randrange(300))]
        words.append(draw.choice(wild))
        table.clear()
        table.update({str(i): i for i in range(draw.randrange(200))})
        table[draw.choice(wild[:4])] = draw.choice(wild)
        parts[:] = [Part(i, "n", ["t"] * draw.randrange(5)) for i in range(draw.randrange(60))]
        nested[str(draw.randrange(30))] = [(1, 2.0)] * draw.randrange(9)
        with contextlib.suppress(IndexError, KeyError):  # another thread may have emptied them
            words.pop()
            table.popitem()

    def call() -> None:
        count(words, table, parts, Color.RED, 3, nested)

    sys.setswitchinterval(1e-6)
    _rounds(call, call, change, lambda: held(20), rounds=60)
    if count(["abc"], {"abc": 2}, [], Color.BLUE, None, {}) != 5:
        raise Broken("a native function counts wrong")


@FAMILY.attack("debugging is switched on and off while others call", seconds=60.0, long=True)
def switched() -> None:
    import rushlight as torch

    unit = torch.jit.CompilationUnit(
        "def f(n: int):\n    t = 0\n    for i in range(n):\n        t += i\n    return t\n"
        "def g(x):\n    for i in range(3):\n        x = torch.tanh(x) * 2\n    return x\n"
    )
    x, switches = torch.ones(3), iter(range(1 << 40))
    wanted = unit.f(50), unit.g(x).tolist()
    _rounds(
        lambda: _alike((unit.f(50), unit.g(x).tolist()), wanted),
        lambda: torch.debug(next(switches) % 2 == 0),
        rounds=40,
    )
    torch.debug(False)
