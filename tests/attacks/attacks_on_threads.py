"""Attacks by many threads, by forks and by interrupts."""

from __future__ import annotations

import importlib
import io
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness import Broken, Family, interrupts

FAMILY = Family(
    "threads",
    "Sixteen threads may define, load, call, draw, save and walk back at once and get what one "
    "gets; a fork meanwhile gives a child that works; an interrupt ends compiling, plans, native loops "
    "and the machine, and leaves everything usable.",
    frozenset(
        {
            "large kernels in sixteen threads",
            "sixteen load one archive without trust",
            "threads end while others run",
            "sixteen freeze",
            "sixteen trace",
            "sixteen deepcopy",
        }
    ),
)
THREADS = 16


def _together(action: Callable[[int], object], threads: int = THREADS) -> list[Any]:
    """What an action gives in so many threads that begin at once."""
    sys.setswitchinterval(1e-6)
    barrier = threading.Barrier(threads)
    results: list[Any] = [None] * threads
    failed: list[BaseException] = []

    def run(number: int) -> None:
        barrier.wait()
        try:
            results[number] = action(number)
        except BaseException as error:
            failed.append(error)

    all_threads = [threading.Thread(target=run, args=(i,)) for i in range(threads)]
    for thread in all_threads:
        thread.start()
    for thread in all_threads:
        thread.join()
    if failed:
        raise Broken(f"{len(failed)} of {threads} threads failed: {failed[0]!r}") from failed[0]
    return results


def _same(results: list[Any]) -> None:
    if any(result != results[0] for result in results):
        raise Broken(f"threads differ: {results[0]!r:.200} and others")


SOURCE = """
from typing import Dict, List, NamedTuple, Optional
import rushlight as torch

class Pair(NamedTuple):
    a: int
    b: torch.Tensor

class Counter:
    def __init__(self, n: int):
        self.n = n
    def up(self, by: int = 1) -> int:
        self.n += by
        return self.n

def inner(x: torch.Tensor, n: int) -> torch.Tensor:
    for i in range(n):
        x = x + i
    return x

def outer(x: torch.Tensor) -> torch.Tensor:
    c = Counter(3)
    p = Pair(c.up(), x)
    d: Dict[str, List[int]] = {"a": [1, 2]}
    return inner(p.b, p.a) + len(d["a"])

def mutual_a(n: int) -> int:
    return n + other(n)

def other(n: int) -> int:
    return n * 2

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a = torch.nn.Linear(2, 2)
        self.b = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Linear(2, 2))
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.b(self.a(x)) + outer(x)
"""


def _program() -> dict[str, Any]:
    """The names of the program above."""
    return _module("program_of_threads", SOURCE)


def _module(name: str, source: str) -> dict[str, Any]:
    """The names of a module, from a file, so that its text is found."""
    Path(f"{name}.py").write_text(source)
    sys.path.insert(0, os.getcwd())
    importlib.invalidate_caches()
    return vars(importlib.import_module(name))


def _scripted(name: str) -> Callable[[], None]:
    def run() -> None:
        import rushlight as torch

        names = _program()
        thing = names[name]
        if name == "Net":
            made = [thing() for _ in range(THREADS)]
            texts = _together(lambda i: torch.jit.script(made[i]).code)
        elif name == "Counter":
            texts = _together(lambda i: bool(torch.jit.script(thing)))
        else:
            texts = _together(lambda i: torch.jit.script(thing).code)
        _same(texts)

    return run


for name in ("Counter", "outer", "inner", "mutual_a", "Net"):
    FAMILY.attack(f"sixteen script {name} for the first time", seconds=60.0)(_scripted(name))


def _shared(action: Callable[[Any, Any], object]) -> Callable[[], None]:
    """Sixteen threads do something with one scripted module that nobody has used yet."""

    def run() -> None:
        import rushlight as torch

        names = _program()
        torch.manual_seed(1)
        module = torch.jit.script(names["Net"]().eval())
        x = torch.ones(1, 2)
        _same(_together(lambda i: action(module, x)))

    return run


def _saved(module: Any, x: Any) -> object:
    return len(module.save_to_buffer())


SHARED: dict[str, Callable[[Any, Any], object]] = {
    "call": lambda module, x: module(x).tolist(),
    "print the graph": lambda module, x: str(module.graph),
    "print the inlined graph": lambda module, x: str(module.inlined_graph),
    "print the code": lambda module, x: module.code,
    "save": _saved,
    "freeze": lambda module, x: __import__("rushlight").jit.freeze(module)(x).tolist(),
    "trace": lambda module, x: __import__("rushlight").jit.trace(module, x)(x).tolist(),
    "backward": lambda module, x: float(module(x).sum().backward() or 0),
    "state dict": lambda module, x: sorted(module.state_dict()),
    "deepcopy": lambda module, x: __import__("copy").deepcopy(module)(x).tolist(),
}
for name, action in SHARED.items():
    FAMILY.attack(f"sixteen {name}", seconds=60.0)(_shared(action))


@FAMILY.attack("sixteen load one archive", seconds=60.0)
def load() -> None:
    import rushlight as torch

    names = _program()
    data = torch.jit.script(names["Net"]().eval()).save_to_buffer()
    x = torch.ones(1, 2)
    _same(_together(lambda i: torch.jit.load(io.BytesIO(data))(x).tolist()))


@FAMILY.attack("sixteen load one archive without trust", seconds=60.0)
def load_untrusted() -> None:
    import rushlight as torch

    names = _program()
    data = torch.jit.script(names["Net"]().eval()).save_to_buffer()
    x = torch.ones(1, 2)
    _same(_together(lambda i: torch.jit.load(io.BytesIO(data), trust="none")(x).tolist()))


@FAMILY.attack("sixteen draw while others seed", seconds=60.0)
def seeds() -> None:
    import rushlight as torch

    def draw(number: int) -> None:
        for i in range(200):
            if number % 2:
                torch.manual_seed(i)
            else:
                torch.rand(10)
                torch.randn(3)
                torch.randperm(5)

    _together(draw)


@FAMILY.attack("sixteen draw from one generator", seconds=60.0)
def draws() -> None:
    import rushlight as torch

    torch.manual_seed(3)
    drawn = [
        v
        for part in _together(lambda i: torch.rand(1000, dtype=torch.float64).tolist())
        for v in part
    ]
    if len(set(drawn)) < len(drawn) - 2:
        raise Broken(f"{len(drawn) - len(set(drawn))} numbers were drawn twice")


@FAMILY.attack("sixteen get and set a generator's state", seconds=60.0)
def states() -> None:
    import rushlight as torch

    def work(number: int) -> None:
        for _ in range(100):
            state = torch.get_rng_state()
            torch.rand(5)
            torch.set_rng_state(state)

    _together(work)


@FAMILY.attack("modes belong to threads", seconds=60.0)
def modes() -> None:
    import rushlight as torch

    w = torch.ones(3, requires_grad=True)

    def work(number: int) -> bool:
        for _ in range(300):
            if number % 2:
                with torch.no_grad():
                    wrong = (w * 2).requires_grad
            else:
                wrong = not (w * 2).requires_grad
            if wrong:
                return False
        return True

    if not all(_together(work)):
        raise Broken("no_grad of one thread reached another")


@FAMILY.attack("large kernels in sixteen threads", seconds=90.0)
def kernels() -> None:
    import rushlight as torch

    torch.manual_seed(0)
    x = torch.rand(64, 2000)
    wanted = (x.softmax(1).sum(0) + x.cumsum(0).tanh().sum(0)).tolist()
    for found in _together(lambda i: (x.softmax(1).sum(0) + x.cumsum(0).tanh().sum(0)).tolist()):
        if found != wanted:
            raise Broken("a kernel gave other bits among threads")


@FAMILY.attack("threads end while others run", seconds=60.0)
def short_threads() -> None:
    import rushlight as torch

    names = _program()
    function = torch.jit.script(names["outer"])
    for _ in range(20):
        _together(lambda i: function(torch.ones(2)).tolist(), 8)


# --------------------------------------------------------------------------- forks

DOING = {
    "compiles": "torch.jit.script(_fresh())(torch.ones(2))",
    "calls": "shared(torch.ones(2))",
    "draws": "torch.rand(100)",
    "seeds": "torch.manual_seed(1)",
    "runs kernels": "torch.rand(300, 300).softmax(1).cumsum(0)",
    "multiplies": "torch.rand(300, 300) @ torch.rand(300, 300)",
    "loads": "torch.jit.load(io.BytesIO(data))(torch.ones(2))",
    "saves": "shared.save_to_buffer()",
    "prints": "str(torch.rand(5)); str(shared.graph)",
    "computes gradients": "(torch.ones(3, requires_grad=True) * 2).sum().backward()",
}


def _forked(doing: str) -> Callable[[], None]:
    def run() -> None:
        import rushlight as torch

        names = _program()
        namespace: dict[str, Any] = {"torch": torch, "io": io}
        namespace["shared"] = torch.jit.script(names["outer"])
        namespace["data"] = namespace["shared"].save_to_buffer()
        namespace["_fresh"] = lambda: names["outer"]
        code, stop = compile(doing, "<doing>", "exec"), threading.Event()
        sys.setswitchinterval(1e-6)

        def loop() -> None:
            while not stop.is_set():
                exec(code, dict(namespace))

        threads = [threading.Thread(target=loop, daemon=True) for _ in range(3)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(8):
                time.sleep(0.01)
                _child_works(namespace)
        finally:
            stop.set()
            for thread in threads:
                thread.join()

    return run


def _child_works(namespace: dict[str, Any]) -> None:
    began = time.monotonic()
    child = os.fork()
    if child and time.monotonic() - began > 100:  # it would wait for two minutes, and then go on
        raise Broken("a fork waits in vain for threads that wait for it")
    if child == 0:
        status = 3
        try:
            signal.alarm(20)
            for line in DOING.values():
                exec(line, dict(namespace))
            status = 0
        finally:
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status == -signal.SIGALRM:
        raise Broken("the child of a fork hangs")
    if status:
        raise Broken(f"the child of a fork ended with {status}")


for name, doing in DOING.items():
    FAMILY.attack(
        f"a fork while threads {name}",
        seconds=200.0,
        long=name != "loads",
    )(_forked(doing))


# --------------------------------------------------------------------------- interrupts

LOOPS = {
    "a loop of numbers": (
        "n: int",
        "    t = 0\n    for i in range(n):\n        t += i % 7\n    return t",
        "(2**62,)",
    ),
    "a while loop": (
        "n: int",
        "    t = 0\n    while t < n:\n        t += 2\n        t -= 1\n    return t",
        "(2**62,)",
    ),
    "a loop of tensors": (
        "n: int",
        "    x = torch.ones(2)\n    for i in range(n):\n        x = x + 1\n    return int(x[0])",
        "(2**62,)",
    ),
    "a loop of lists": (
        "n: int",
        "    l = [1]\n    for i in range(n):\n        l.append(i)\n        l.pop()\n    return len(l)",
        "(2**62,)",
    ),
    "a loop of floats": (
        "n: int",
        "    t = 0.5\n    for i in range(n):\n        t = t * 1.0000001\n    return int(t > 1)",
        "(2**62,)",
    ),
}


def _interrupted(arguments: str, body: str, values: str, warm: bool) -> Callable[[], None]:
    def run() -> None:
        import rushlight as torch

        source = f"import rushlight as torch\ndef f({arguments}) -> int:\n{body}\n"
        Path("loop.py").write_text(source)
        names: dict[str, Any] = {"torch": torch, "__name__": "loop"}
        exec(compile(source, str(Path("loop.py").resolve()), "exec"), names)
        function = torch.jit.script(names["f"])
        if warm:
            os.environ["RUSHLIGHT_NATIVE"] = "now"
            function(10)
        began = time.monotonic()
        if not interrupts(lambda: function(*eval(values)), 0.1):
            raise Broken("the loop was not interrupted")
        if time.monotonic() - began > 5:
            raise Broken("the interrupt came late")
        function(10)

    return run


for name, (arguments, body, values) in LOOPS.items():
    for warm in (False, True):
        FAMILY.attack(
            f"an interrupt of {name}{', hot' if warm else ''}",
            seconds=40.0,
        )(_interrupted(arguments, body, values, warm))


@FAMILY.attack("an interrupt while compiling", seconds=60.0)
def interrupted_compiling() -> None:
    import rushlight as torch

    names = _program()
    for delay in (0.0005, 0.002, 0.005, 0.01, 0.02, 0.04):
        interrupts(lambda: torch.jit.script(names["Net"]()), delay)
    torch.jit.script(names["Net"]())(torch.ones(1, 2))
