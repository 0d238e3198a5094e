"""A fork waits for what it would leave locked, and for nothing else."""

from __future__ import annotations

import ast
import logging
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest

import rushlight
from rushlight.frontend.foundations import locks
from rushlight.ops.kernels import blas

PACKAGE = Path(rushlight.__file__).parent
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")


def forked(child: Callable[[], object]) -> float:
    """Seconds that a fork took, whose child ended well."""
    began = time.monotonic()
    process = os.fork()
    if not process:
        status = 1
        try:
            signal.alarm(20)
            child()
            status = 0
        finally:
            os._exit(status)
    took = time.monotonic() - began
    assert os.waitpid(process, 0)[1] == 0
    return took


def test_a_fork_waits_for_whole_functions() -> None:
    inside, go_on, found = threading.Event(), threading.Event(), []

    def slow(number: int) -> int:
        inside.set()
        go_on.wait(10)
        return number

    def calls() -> None:
        found.append(locks.whole(slow)(1))
        found.append(locks.whole(lambda: 2)())  # nested calls and later ones
        found.append(locks.whole(lambda: locks.whole(lambda: 3)())())

    thread = threading.Thread(target=calls)
    thread.start()
    assert inside.wait(10)
    later = threading.Timer(0.1, go_on.set)
    later.start()
    assert forked(lambda: locks.whole(len)("abc")) > 0.05
    thread.join()
    later.join()
    assert found == [1, 2, 3]


def test_a_fork_gets_in_between_threads_that_never_rest() -> None:
    stop = threading.Event()

    def calls() -> None:
        nap = locks.whole(time.sleep)
        while not stop.is_set():
            nap(0.01)

    threads = [threading.Thread(target=calls) for _ in range(8)]
    for thread in threads:
        thread.start()
    try:
        took = [forked(lambda: locks.whole(len)("abc")) for _ in range(3)]
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert max(took) < 5


@pytest.mark.parametrize("ours", [True, False])
def test_a_fork_waits_for_imports_of_our_modules(
    ours: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A child that is born amid an import could never import that module; others' are their own."""
    package = tmp_path / "slow_to_import"
    package.mkdir()
    (package / "__init__.py").touch()
    gates = threading.Event(), threading.Event()
    monkeypatch.setattr(threading, "inside_of_slow", gates[0], raising=False)
    monkeypatch.setattr(threading, "rest_of_slow", gates[1], raising=False)
    (package / "slow.py").write_text(
        "import threading\nthreading.inside_of_slow.set()\nthreading.rest_of_slow.wait(60)\n"
    )
    monkeypatch.setattr(rushlight, "__path__", [*rushlight.__path__, str(package)])
    monkeypatch.syspath_prepend(str(tmp_path))
    name = "rushlight.slow" if ours else "slow_to_import.slow"
    thread = threading.Thread(target=import_module, args=(name,))
    thread.start()
    assert gates[0].wait(10)
    if ours:
        later = threading.Timer(0.3, gates[1].set)
        later.start()
        assert forked(lambda: import_module(name)) > 0.1
        later.join()
    else:
        forked(lambda: None)
        assert thread.is_alive()
        gates[1].set()
    thread.join()
    del sys.modules[name]


def test_who_logs_amid_a_definition_does_not_stop_a_fork() -> None:
    """The fork takes the lock of `logging` first, where that was imported later."""
    lock, inside = locks.fork_safe_lock(), threading.Event()

    def logs() -> None:
        with lock:
            inside.set()
            time.sleep(0.1)
            logging.getLogger("another")

    thread = threading.Thread(target=logs)
    thread.start()
    assert inside.wait(10)
    with logging._lock:  # type: ignore[attr-defined]
        assert forked(lambda: logging.getLogger("a third")) < 10
        assert logging._lock._is_owned()  # type: ignore[attr-defined]
    thread.join()


def test_who_has_tried_a_lock_may_take_any_other_while_a_fork_waits() -> None:
    early, inside = locks.fork_safe_lock(), threading.Event()
    tried = locks.fork_safe_lock(is_tried=True)

    def works() -> None:
        assert tried.acquire(blocking=False)
        inside.set()
        time.sleep(0.1)
        with early:
            tried.release()

    thread = threading.Thread(target=works)
    thread.start()
    assert inside.wait(10)
    assert forked(lambda: tried.acquire(blocking=False) and early.acquire(blocking=False)) < 10
    thread.join()


AMID = """
import os, signal, sys, threading, time
import rushlight as torch
torch.set_num_threads(2)
x = torch.rand(150, 150)
stop = threading.Event()
works = [lambda: x @ x, lambda: x.softmax(1).cumsum(0), lambda: torch.linalg.inv(x)]
for work in works:
    work()
def loop(work):
    while not stop.is_set():
        work()
threads = [threading.Thread(target=loop, args=(work,), daemon=True) for work in works]
for thread in threads:
    thread.start()
for _ in range(3):
    time.sleep(0.01)
    child = os.fork()
    if not child:
        signal.alarm(100)
        for work in works:
            work()
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    assert status == 0, status
stop.set()
for thread in threads:
    thread.join(100)
    assert not thread.is_alive()
"""


def test_a_fork_amid_native_code() -> None:
    """Neither process hangs, though one is amid a product, a kernel and an inverse."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    subprocess.run([sys.executable, "-c", AMID], env=environment, timeout=240, check=True)


REACHES = frozenset(
    "matmul dot vdot inner tensordot einsum vecdot matvec vecmat linalg convolve correlate".split()
)
PLACES = re.compile(rf"np\.({'|'.join(REACHES)})\b|\.dot\b| @")


ABOUT_TENSORS = {
    *("dispatching", "distributions", "gradients", "nested_tensors", "nn", "optim"),
    *("sparse", "sparse_tensors"),
    *("lobpcg.py", "warm_up.py"),
}


def _reaches(node: ast.AST) -> bool:
    """Whether this uses the matrix library through NumPy or an array."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        of_numpy = node.value.id == "np" and node.attr in REACHES
        others = ("blas", "products", "arguments")  # the last are those of a command
        return of_numpy or (node.attr == "dot" and node.value.id not in others)
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult)


def test_the_matrix_library_is_reached_through_one_file() -> None:
    found = []
    for at, _, names in os.walk(PACKAGE, followlinks=True):
        for path in (Path(at) / name for name in names if name.endswith(".py")):
            text = path.read_text(encoding="utf-8")
            if ABOUT_TENSORS & {*path.parts} or PLACES.search(text) is None:
                continue
            if path.samefile(blas.__file__):
                continue
            tree = ast.parse(text)
            errors = {id(n.value) for n in ast.walk(tree) if getattr(n, "attr", 0) == "LinAlgError"}
            places = [n for n in ast.walk(tree) if _reaches(n) and id(n) not in errors]
            found += [f"{path.name}: {ast.unparse(node)}" for node in places]
    assert sorted(found) == ["products.py: a.dot", "products.py: np.matmul"]  # small ones


def test_who_defines_may_take_any_lock() -> None:
    assert locks._made.usual[0] is locks.DEFINING
