"""Bounds on code that is not trusted: they are counted, and belong to the code."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

import rushlight as torch
from rushlight.interpreter.guard import Bounds
from rushlight.serialization.limits import Limits

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
}
BOUNDS: list[Bounds] = []


@pytest.fixture(autouse=True, scope="module")
def _first_use() -> None:
    """What the library makes once takes longer than the bounds below."""
    torch.jit.load(BytesIO(archive("return torch.add(x, 1)")), trust="none")(torch.ones(2))
    torch.jit.script(Forking(torch.nn.ReLU()))(torch.ones(2))


@pytest.mark.parametrize("bound", BODIES)
@pytest.mark.parametrize("way", WAYS)
def test_bounds_hold_however_code_is_reached(way: str, bound: str) -> None:
    body, bounds, said = BODIES[bound]
    BOUNDS[:] = [bounds]
    limits = Limits(running=bounds)
    module = torch.jit.load(BytesIO(archive(body)), trust="none", limits=limits).eval()
    with pytest.raises(RuntimeError, match=said):
        WAYS[way](module)(torch.ones(2))
