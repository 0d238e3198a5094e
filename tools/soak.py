"""Do one thing thousands of times and see whether memory grows.

    python tools/soak.py                    every kind, 1,000 times
    python tools/soak.py load error -n 10000

Each kind runs in a process of its own.  After a fifth of the rounds, when caches are full, memory
and living objects are counted, and again at the end; a kind fails where a round leaves more than
`--slope` bytes behind (the median of five stretches, so that one stray arena does not count).
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import ctypes
import gc
import importlib.util
import io
import linecache
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import rushlight as torch
from rushlight import Tensor, nn

FUNCTION = """
def f(x: Tensor, n: int) -> Tensor:
    y = helper(x)
    for i in range(n):
        y = y + float(i)
    return y

def helper(x: Tensor) -> Tensor:
    return torch.relu(x) * 2
"""
MISTAKE = "def f(x: Tensor) -> Tensor:\n    return x.no_such_method(1)\n"
NATIVE = """
def f(n: int) -> int:
    s = 0
    for i in range(n):
        s += i * NUMBER
    return s
"""
MODULE = """
import rushlight as torch
from rushlight import Tensor, nn

class Point:
    def __init__(self, x: int):
        self.x = x
    def twice(self) -> int:
        return self.x * 2

class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
    def forward(self, x: Tensor) -> Tensor:
        return self.linear(x) * Point(3).twice()
"""

_numbers = iter(range(1 << 40))
_folder = tempfile.TemporaryDirectory()
X = torch.ones(2, 4)


def _made(source: str) -> Any:
    """The function `f` of a source that was executed just now; its lines are forgotten again."""
    name = f"<soak {next(_numbers)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    space: dict[str, Any] = {"torch": torch, "Tensor": Tensor, "__name__": "soaked"}
    exec(compile(source, name, "exec"), space)
    return space["f"], name


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 4))

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)  # type: ignore[no-any-return]


_scripted = torch.jit.script(Model())
_data = _scripted.save_to_buffer()


def load() -> None:
    torch.jit.load(io.BytesIO(_data))(X)


def load_untrusted() -> None:
    torch.jit.load(io.BytesIO(_data), trust="none")(X)


def script() -> None:
    f, name = _made(FUNCTION)
    torch.jit.script(f)(X, 3)
    del linecache.cache[name]


def script_module() -> None:
    """A module of a class of its own, from a file of its own."""
    number = next(_numbers)
    path = Path(_folder.name) / f"soaked_{number}.py"
    path.write_text(MODULE)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    torch.jit.script(module.M())(X)
    del sys.modules[path.stem]
    linecache.cache.pop(str(path), None)
    path.unlink()


def instances() -> None:
    torch.jit.script(Model())(X)


def error() -> None:
    f, name = _made(MISTAKE)
    try:
        torch.jit.script(f)
    except RuntimeError as found:
        str(found)
    else:
        raise AssertionError("no error")
    del linecache.cache[name]


def run_error() -> None:
    try:
        _scripted(torch.ones(3, 5))
    except RuntimeError as found:
        str(found)


def save() -> None:
    _scripted.save_to_buffer()
    torch.jit.save(_scripted, str(Path(_folder.name) / "m.pt"))


def call() -> None:
    for _ in range(10):
        _scripted(X)


def shapes() -> None:
    """Eager and scripted calls on tensors of ever new shapes."""
    n = next(_numbers)
    x = torch.ones(1 + n % 97, 3, 40 + n % 89, 40 + n % 83)
    nn.functional.conv2d(x[:1], torch.ones(4, 3, 3, 3))
    nn.functional.max_pool2d(x, 2)
    nn.functional.interpolate(x, scale_factor=2.0)
    x.cumsum(0).sum().item()
    x.unfold(2, 2, 1)


def trace() -> None:
    torch.jit.trace(Model(), X)(X)


def freeze() -> None:
    torch.jit.freeze(torch.jit.script(Model().eval()))(X)


def optimize() -> None:
    torch.jit.optimize_for_inference(torch.jit.script(Model().eval()))(X)


def deepcopy() -> None:
    copy.deepcopy(_scripted)(X)
    copy.deepcopy(Model())(X)


def graphs() -> None:
    str(_scripted.graph), str(_scripted.inlined_graph), _scripted.code
    torch._C.parse_ir(str(torch.jit.script(Model()).inlined_graph).replace("torch", "t"))


def threads() -> None:
    works = [threading.Thread(target=work) for work in (call, load, autograd, draw)]
    for thread in works:
        thread.start()
    for thread in works:
        thread.join()


def draw() -> None:
    torch.rand(10)
    torch.Generator().manual_seed(3)
    torch.randn(20, generator=torch.Generator())


def autograd() -> None:
    w = torch.ones(4, 4, requires_grad=True)
    y = (w @ X.T).relu()
    y.retain_grad()
    y.register_hook(lambda g: g * 2)
    y.sum().backward()
    z = _scripted(X)
    z.add_(1.0)
    z.sum().backward()
    _scripted.zero_grad()


def native() -> None:
    """New functions that become native code at once."""
    f, name = _made(NATIVE.replace("NUMBER", str(next(_numbers) + 2)))
    torch.jit.script(f)(5)
    del linecache.cache[name]


DTYPES = [
    *(torch.float32, torch.float64, torch.int64, torch.int32, torch.uint8, torch.int8),
    *(torch.bool, torch.bfloat16, torch.float16, torch.complex64),
]


def _sizes(n: int) -> tuple[int, ...]:
    return 1 + n % 7, 1 + n % 11, 1 + n % 13, 1 + n % 17


def dtypes() -> None:
    """Eager operators on ever new pairs of dtypes and sizes."""
    n = next(_numbers)
    size = _sizes(n)
    x = torch.ones(size).to(DTYPES[n % len(DTYPES)])
    y = torch.ones(size[1:]).to(DTYPES[n // len(DTYPES) % len(DTYPES)])
    x + y, x * 2, x == y, x.sum(n % 4), x[x != 0], torch.where(x != 0, x, x)
    torch.cat([x, x], n % 4), torch.stack([x, x]), x.transpose(0, n % 4).contiguous()
    x.expand(3, *size).flip(1), x.float().softmax(n % 4), x.nonzero(), x.cumsum(n % 4)


def gradients() -> None:
    """Ways back through ever new sizes, and once more through the gradients."""
    n = next(_numbers)
    size = _sizes(n)
    x = torch.rand(size, requires_grad=True)
    y = nn.functional.conv2d(x, torch.rand(3, size[1], 1, 1, requires_grad=True))
    y = nn.functional.layer_norm(y.relu().softmax(n % 4), y.shape[-1:])
    (y.exp().sum() + x.cumsum(n % 4).mean() + x.sort(n % 4)[0].prod()).backward()
    torch.autograd.grad((x**3).sum(), x, create_graph=True)[0].sum().backward()


def fork_wait() -> None:
    source = "def g(x: Tensor) -> Tensor:\n    return x * 2\n"
    source += "def f(x: Tensor) -> Tensor:\n    return torch.jit.wait(torch.jit.fork(g, x)) + 1\n"
    f, name = _made(source)
    torch.jit.script(f)(X)
    torch.jit.wait(torch.jit.fork(torch.neg, X))
    del linecache.cache[name]


_pairs = torch.utils.data.TensorDataset(torch.rand(8, 4), torch.rand(8))


def workers() -> None:
    for a, _ in torch.utils.data.DataLoader(_pairs, batch_size=2, num_workers=2):
        a + 1


def meta() -> None:
    x = torch.empty(_sizes(next(_numbers)), device="meta")
    x + x, x.sum(1), x.reshape(-1), torch.cat([x, x]), nn.functional.softmax(x, 1)
    torch.jit.script(Model().to("meta"))(torch.empty(2, 4, device="meta"))


def package() -> None:
    name, sink = f"soaked{next(_numbers)}.module", io.BytesIO()
    with torch.package.PackageExporter(sink) as exporter:
        exporter.save_source_string(name, "def f(x):\n    return x + 1\n")
        exporter.save_pickle("data", "x.pkl", {"x": X})
    sink.seek(0)
    importer = torch.package.PackageImporter(sink)
    importer.import_module(name).f(importer.load_pickle("data", "x.pkl")["x"])


def functions() -> None:
    """Plans of a dozen functions that call each other."""
    n = next(_numbers)
    lines = ["def f(x: Tensor, n: int) -> Tensor:", *(f"    x = h{k}(x, n)" for k in range(12))]
    lines.append("    return x")
    for k in range(12):
        lines += [f"def h{k}(x: Tensor, n: int) -> Tensor:", f"    y = x * {k + n} + n"]
        lines += [f"    if n > {k}:", "        y = y.relu() + 1", "    return y"]
    f, name = _made("\n".join(lines) + "\n")
    scripted = torch.jit.script(f)
    for k in range(30):
        scripted(X, k)
    del linecache.cache[name]


def symbolic() -> None:
    traced = torch.fx.symbolic_trace(Model())
    traced.recompile()
    traced(X)
    torch.vmap(torch.func.grad(lambda v: (v * v).sum()))(X)


def damaged() -> None:
    """Archives with a byte changed: they load or are refused."""
    n = next(_numbers)
    data = bytearray(_data)
    data[n * 37 % len(data)] ^= 1 + n % 255
    for trust in ("none", "full"):
        with contextlib.suppress(RuntimeError):
            torch.jit.load(io.BytesIO(bytes(data)), trust=trust)(X)


KINDS: dict[str, tuple[Callable[[], object], float, float]] = {
    "load": (load, 1, 300),
    "load_untrusted": (load_untrusted, 0.5, 300),
    "script": (script, 1, 700),
    "script_module": (script_module, 0.5, 1500),
    "instances": (instances, 1, 300),
    "error": (error, 1, 700),
    "run_error": (run_error, 1, 300),
    "save": (save, 1, 300),
    "call": (call, 2, 100),
    "shapes": (shapes, 1, 3000),
    "trace": (trace, 0.5, 700),
    "freeze": (freeze, 0.5, 700),
    "optimize": (optimize, 0.5, 700),
    "deepcopy": (deepcopy, 0.5, 300),
    "graphs": (graphs, 0.5, 300),
    "threads": (threads, 0.5, 500),
    "autograd": (autograd, 2, 100),
    "draw": (draw, 2, 100),
    "native": (native, 0.1, 20000),
    "dtypes": (dtypes, 1, 1000),
    "gradients": (gradients, 1, 1000),
    "fork_wait": (fork_wait, 1, 700),
    "workers": (workers, 0.05, 1000),
    "meta": (meta, 0.5, 700),
    "package": (package, 0.5, 700),
    "functions": (functions, 0.2, 3000),
    "symbolic": (symbolic, 0.5, 700),
    "damaged": (damaged, 0.5, 700),
}
"""What is done, how much of the rounds, and the bytes a round may leave behind."""


def _resident() -> int:
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def soak(kind: str, rounds: int, slope: float | None) -> bool:
    """Whether memory stays flat."""
    do, share, allowed = KINDS[kind]
    stretch = max(1, int(rounds * share) // 6)
    for _ in range(stretch):
        do()
    sizes, objects = [_resident()], len(gc.get_objects())
    for _ in range(5):
        for _ in range(stretch):
            do()
        sizes.append(_resident())
    grown = [(after - before) / stretch for before, after in pairwise(sizes)]
    left = (len(gc.get_objects()) - objects) / (5 * stretch)
    found, most = statistics.median(grown), allowed if slope is None else slope
    verdict = "grows" if found > most else "flat"
    print(
        f"{kind:15} {6 * stretch:6} rounds, {sizes[-1] >> 20:5} MB, {found:9.0f} bytes and "
        f"{left:7.2f} objects a round: {verdict}",
        flush=True,
    )
    return found <= most


def main() -> int:
    """0 if everything asked for is flat."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", choices=[[], *KINDS], metavar="kind")
    parser.add_argument("-n", type=int, default=1000, help="rounds")
    parser.add_argument("--slope", type=float, help="bytes that a round may leave behind")
    given = parser.parse_args()
    kinds = given.kinds or list(KINDS)
    if len(kinds) == 1:
        return 0 if soak(kinds[0], given.n, given.slope) else 1
    more = [] if given.slope is None else ["--slope", str(given.slope)]
    failed = 0
    for kind in kinds:
        command = [sys.executable, __file__, kind, "-n", str(given.n), *more]
        failed |= subprocess.run(command, check=False).returncode
    return failed


if __name__ == "__main__":
    sys.exit(main())
