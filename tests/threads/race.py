"""Programs of sixteen threads that do one thing for the first time at the same moment.

Run as a script, with names of programs, and how often each is done in this process: `race.py
"draws modes" 50`.  They fail by a traceback, or by hanging.
"""

from __future__ import annotations

import faulthandler
import importlib
import io
import multiprocessing
import os
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import rushlight as torch
from rushlight import Tensor

THREADS = 16


def at_once(*works: Callable[[], Any], threads: int = THREADS) -> list[Any]:
    """What threads give that do the works in turn, begun at the same moment."""
    barrier = threading.Barrier(threads)
    results: list[Any] = [None] * threads
    errors: list[BaseException] = []

    def run(number: int) -> None:
        barrier.wait()
        try:
            results[number] = works[number % len(works)]()
        except BaseException as error:
            errors.append(error)

    started = [threading.Thread(target=run, args=(i,)) for i in range(threads)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    if errors:
        raise errors[0]
    return results


def fresh(source: str, *names: str) -> list[Any]:
    """Functions and classes that nobody has seen before, from a file of their own."""
    name = f"fresh_{os.getpid()}_{next(_NUMBERS)}"
    path = Path(_FOLDER.name) / f"{name}.py"
    path.write_text(HEAD + source)
    importlib.invalidate_caches()
    module = importlib.import_module(name)
    return [getattr(module, each) for each in names]


_NUMBERS = iter(range(1 << 30))
_FOLDER = tempfile.TemporaryDirectory()
sys.path.append(_FOLDER.name)

HEAD = "import rushlight as torch\nfrom rushlight import Tensor, nn\n"
FUNCTIONS = """
def helper(x: Tensor) -> Tensor:
    if bool(x.sum() > 0):
        return x + 1
    return x - 1

def left(x: Tensor) -> Tensor:
    return helper(x) * 2

def right(x: Tensor) -> Tensor:
    return left(helper(x))

class Pair:
    def __init__(self, x: int):
        self.x = x
    def twice(self) -> int:
        return self.x * 2
    def other(self) -> int:
        return Other(self.x).once()

class Other:
    def __init__(self, x: int):
        self.x = x
    def once(self) -> int:
        return self.x + 1

def of_pair(x: int) -> int:
    return Pair(x).twice() + Pair(x).other()

def of_other(x: int) -> int:
    return Other(x).once() + Pair(x).twice()

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.ModuleList([nn.Linear(4, 4) for _ in range(2)])
    def forward(self, x: Tensor) -> Tensor:
        for layer in self.inner:
            x = torch.relu(layer(x))
        return left(x) + of_pair(3)
    @torch.jit.export
    def later(self, x: Tensor) -> Tensor:
        return right(x)
"""


def first_scripts() -> None:
    left, right, of_pair, of_other, Pair, Other, Block = fresh(
        FUNCTIONS, "left", "right", "of_pair", "of_other", "Pair", "Other", "Block"
    )
    x = torch.ones(2, 4)
    block = Block()

    def expect(found: Any, wanted: Any) -> None:
        assert bool((found == wanted).all() if isinstance(found, Tensor) else found == wanted)

    at_once(
        lambda: expect(torch.jit.script(left)(x), x * 4),
        lambda: expect(torch.jit.script(right)(x), x * 6),
        lambda: expect(torch.jit.script(of_pair)(3), 10),
        lambda: expect(torch.jit.script(of_other)(3), 10),
        lambda: torch.jit.script(Pair),
        lambda: torch.jit.script(Other),
        lambda: expect(torch.jit.script(block)(x).shape, x.shape),
        lambda: expect(torch.jit.script(block).later(x), x * 6),
    )
    assert len({id(torch.jit.script(block)._c.cls) for _ in range(3)}) == 1
    known = at_once(lambda: torch.jit.script(left)._rushlight_function)
    assert len(set(map(id, known))) == 1


def first_calls() -> None:
    left, Block = fresh(FUNCTIONS, "left", "Block")
    scripted = torch.jit.script(Block())
    scripted_left = torch.jit.script(left)
    data = scripted.save_to_buffer()
    x = torch.ones(2, 4)
    wanted = scripted(x)
    loaded = torch.jit.load(io.BytesIO(data), trust="none" if next(_NUMBERS) % 2 else "full")
    results = at_once(
        lambda: loaded(x),
        lambda: str(loaded.graph) and loaded(x),
        lambda: loaded.code and loaded(x),
        lambda: torch.jit.load(io.BytesIO(data))(x),
        lambda: torch.jit.freeze(torch.jit.load(io.BytesIO(data)).eval())(x),
        lambda: torch.jit.load(io.BytesIO(loaded.save_to_buffer()))(x),
        lambda: torch.jit.trace(lambda y: scripted_left(y) * 0, (x,))(x) + wanted,
        lambda: loaded.later(x) * 0 + wanted,
    )
    for result in results:
        assert np.array_equal(result.detach().numpy(), wanted.detach().numpy())


def draws() -> None:
    seeds = iter(range(1, 1 << 30))
    at_once(
        lambda: [torch.rand(100) for _ in range(50)],
        lambda: [torch.manual_seed(next(seeds)) for _ in range(50)],
        lambda: [torch.set_rng_state(torch.get_rng_state()) for _ in range(20)],
        lambda: [torch.randn(5) for _ in range(50)],
        lambda: [torch.randperm(50) for _ in range(20)],
    )
    for draw in (_word, _normal):  # together they draw what one thread draws
        torch.manual_seed(5)
        drawn = at_once(lambda draw=draw: [draw() for _ in range(51)])
        together = sorted(number for part in drawn for number in part)
        torch.manual_seed(5)
        assert together == sorted(draw() for _ in range(51 * THREADS))


def _word() -> int:
    return int(torch.default_generator.words(1)[0])


def _normal() -> float:
    return float(torch.randn(()))


def gradients() -> None:
    (make,) = fresh(
        "def make(x: Tensor, w: Tensor) -> Tensor:\n    y = x * w\n    y.add_(w)\n    return y\n",
        "make",
    )
    scripted = torch.jit.script(make)
    w = torch.full((8,), 2.0, requires_grad=True)
    features = scripted(torch.ones(8), w)
    at_once(lambda: (features * 3).sum().backward(retain_graph=True))
    assert w.grad.tolist() == [6.0 * THREADS] * 8, w.grad
    w.grad = None
    at_once(lambda: scripted(torch.ones(8), w).sum().backward())
    assert w.grad.tolist() == [2.0 * THREADS] * 8


def modes() -> None:
    seen = at_once(_with_grad, _without_grad, _with_autocast, _printing)
    for number, result in enumerate(seen):
        assert result == (True, False, True, True)[number % 4]


def _with_grad() -> bool:
    w = torch.ones(3, requires_grad=True)
    return all((w * 2).requires_grad for _ in range(300))


def _without_grad() -> bool:
    w = torch.ones(3, requires_grad=True)
    with torch.no_grad():
        return any((w * 2).requires_grad for _ in range(300))


def _with_autocast() -> bool:
    a = torch.ones(2, 2)
    with torch.autocast("cpu", torch.bfloat16):
        return all((a @ a).dtype is torch.bfloat16 for _ in range(100))


def _printing() -> bool:
    a = torch.ones(2, 2)
    return all((a @ a).dtype is torch.float32 and "1." in str(a) for _ in range(50))


NATIVE = """
def collatz(n: int) -> int:
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps
"""


def everything(native: bool = True) -> None:
    """What a child has to be able to do; `native`: LLVM takes a while for it."""
    left, Block, collatz = fresh(FUNCTIONS + NATIVE, "left", "Block", "collatz")
    x = torch.ones(2, 4)
    assert torch.jit.script(left)(x).tolist() == (x * 4).tolist()
    scripted = torch.jit.script(Block())
    data = scripted.save_to_buffer()
    assert torch.jit.load(io.BytesIO(data))(x).tolist() == scripted(x).tolist()
    if native:
        assert torch.jit.script(collatz)(27) == 111
    assert torch.rand(3).shape == (3,)
    large = torch.rand(300, 300)
    assert str(torch.tanh(large))
    assert (large @ large).shape == large.shape
    w = torch.ones(3, requires_grad=True)
    (w * w).sum().backward()
    assert w.grad.tolist() == [2.0] * 3


def forks(threads: int, children: int) -> None:
    """Children of a process whose threads are in the middle of everything.

    OpenBLAS itself hangs where a process forks during a product that several threads share.
    """
    torch.set_num_threads(1)
    done = threading.Event()

    def work(native: bool) -> None:
        while not done.is_set():
            everything(native)

    started = [threading.Thread(target=work, args=(i == 0,), daemon=True) for i in range(threads)]
    for thread in started:
        thread.start()
    for _ in range(children):
        child = os.fork()
        if not child:
            faulthandler.dump_traceback_later(60, exit=True)  # what hangs says where
            try:
                everything()
            except BaseException:
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        assert status == 0, status
    done.set()
    for thread in started:
        thread.join()


def late_forks() -> None:
    """The same where all modules are loaded already, which makes compiling likelier."""
    os.environ["RUSHLIGHT_NATIVE"] = "now"
    everything()
    forks(8, 4)


def early_forks() -> None:
    """The same while they are being loaded."""
    os.environ["RUSHLIGHT_NATIVE"] = "now"
    forks(3, 2)


def pools() -> None:
    """Processes by multiprocessing, however it makes them."""
    everything()
    for way in ("fork", "forkserver", "spawn"):
        with multiprocessing.get_context(way).Pool(2) as pool:
            assert pool.map(_in_pool, range(4), 1) == [0, 2, 4, 6]


def _in_pool(number: int) -> int:
    everything()
    return number * 2


PROGRAMS: dict[str, Callable[[], None]] = {
    each.__name__: each
    for each in (
        *(first_scripts, first_calls, draws, gradients, modes),
        *(early_forks, late_forks, pools),
    )
}

if __name__ == "__main__":
    for name in sys.argv[1].split():
        # where it forks, the thread that does would starve
        sys.setswitchinterval(5e-3 if "forks" in name else 1e-6)
        for _ in range(int((*sys.argv[2:], 1)[0])):
            PROGRAMS[name]()
