"""Native code calls operators that it has no form for: what comes out is what the plan gives."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch
from rushlight import nn
from rushlight.interpreter.native.native import is_native_possible
from rushlight.interpreter.running.invoking import tiers_of
from tests.interpreter.test_islands import fresh
from tests.interpreter.test_native_passing_tensors import told

pytestmark = pytest.mark.skipif(not is_native_possible(), reason="there is no native code here")

Tensor = torch.Tensor
F = nn.functional


def layers(xs: list[Tensor], w: Tensor, b: Tensor | None) -> tuple[list[Tensor], int]:
    found: list[Tensor] = []
    for x in xs:
        found.append(F.linear(x, w, b))
    return found, len(found)


def kept(xs: list[Tensor]) -> tuple[list[Tensor], Tensor]:
    found: list[Tensor] = []
    last = xs[0]
    for x in xs:
        last = torch.softmax(x, -1)
        found.append(last)
    return found, last


def same(xs: list[Tensor]) -> tuple[list[Tensor], Tensor]:
    found: list[Tensor] = []
    last = xs[0]
    for x in xs:
        last = x.contiguous()
        found.append(last)
        found.append(x)
    return found, last


def turned(xs: list[Tensor], n: int) -> list[Tensor]:
    found: list[Tensor] = []
    for x in xs:
        found.append(torch.flip(x, [n]))
    return found


def sums(xs: list[Tensor], dims: list[int]) -> tuple[list[Tensor], float]:
    found: list[Tensor] = []
    most = 0.0
    for x in xs:
        y = x.sum(dims)
        most = max(most, float(y[0]))
        found.append(y)
    return found, most


def own(n: int) -> tuple[Tensor, list[Tensor]]:
    x = torch.zeros(n)
    found: list[Tensor] = []
    for i in range(n):
        x = torch.sigmoid(x + float(i))
        found.append(x)
    return x, found


def by_name(names: list[str], cache: dict[str, Tensor], w: Tensor) -> Tensor:
    total = torch.zeros(3)
    for name in names:
        if name not in cache:
            cache[name] = F.linear(torch.ones(3), w)
        total = total + cache[name]
    return total


def written(xs: list[Tensor]) -> list[Tensor]:
    made = torch.zeros(3)
    found: list[Tensor] = []
    for x in xs:
        made[0] = float(x[0])
        found.append(torch.softmax(made, 0))
    return found


W = torch.arange(9.0).reshape(3, 3) / 7
XS = [torch.arange(3.0), torch.ones(3) / 3, torch.tensor([0.5, -1.5, float("nan")])]
CALLS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (layers, (XS, W, torch.ones(3))),
    (layers, (XS, W, None)),
    (same, ([W[:, 0], W[0], W, W[0]],)),
    (turned, (XS, 0)),
    (sums, ([W, torch.ones(2, 2)], [0])),
    (own, (3,)),
    (by_name, (["a", "b", "a"], {"b": torch.ones(3)}, W)),
    (kept, (XS,)),
    (layers, ([torch.ones(2, 3), torch.ones(3)], W, None)),
    (layers, ([torch.ones(4)], W, None)),
    (layers, ([torch.ones(3).double()], W, None)),
    (kept, ([W[:, 0], W[0], W],)),
    (kept, ([torch.ones(3, dtype=torch.int64)],)),
    (same, (XS,)),
    (turned, ([torch.zeros(0), W], -1)),
    (turned, ([W], 5)),
    (sums, ([W, torch.ones(2, 2)], [-1])),
    (sums, ([W], [5])),
    (sums, ([], [0])),
    (own, (0,)),
    (by_name, (["a"], {}, torch.ones(3, 4))),
    (written, (XS,)),
]
NATIVE = 7
"""The first ones are native wholes."""


@pytest.mark.parametrize(("function", "given"), CALLS)
def test_what_comes_out_is_what_lines_give(
    function: Callable[..., Any], given: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUSHLIGHT_NATIVE", "off")
    wanted = told(torch.jit.script(fresh(function)), given)
    monkeypatch.setenv("RUSHLIGHT_NATIVE", "now")
    scripted = torch.jit.script(fresh(function))
    for _ in range(20):
        assert told(scripted, given) == wanted


@pytest.mark.parametrize(("function", "given"), CALLS[:NATIVE])
def test_they_are_native(
    function: Callable[..., Any], given: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUSHLIGHT_NATIVE", "now")
    scripted = torch.jit.script(fresh(function))
    scripted(*given)
    way = tiers_of(scripted._rushlight_function).way()
    assert way.tier == "native"
    assert way.executable.native is not None
    assert way.executable.native._straight_misses == 0


def test_gradients_are_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUSHLIGHT_NATIVE", "now")
    scripted = torch.jit.script(fresh(layers))
    w = W.clone().requires_grad_()
    for _ in range(10):
        scripted(XS[:2], W, None)
        torch.stack(scripted(XS[:2], w, None)[0]).sum().backward()
    assert w.grad.tolist() == [[pytest.approx(10 * x) for x in (1 / 3, 4 / 3, 7 / 3)]] * 3


def again(x: Tensor, n: int) -> Tensor:
    for _ in range(n):
        x = torch.softmax(x, -1)
    return x


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent to a process of its own")
def test_an_interrupt_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUSHLIGHT_NATIVE", "now")
    scripted = torch.jit.script(fresh(again))
    scripted(torch.ones(3), 3)
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        scripted(torch.ones(3), 1 << 50)
    timer.join()
    assert scripted(torch.ones(4), 3).tolist() == [0.25] * 4


def test_what_operators_gave_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUSHLIGHT_NATIVE", "now")
    scripted = torch.jit.script(fresh(kept))
    scripted(XS)
    before = [sys.getrefcount(each._array) for each in XS]
    for _ in range(10):
        scripted(XS)
        with pytest.raises(RuntimeError):
            scripted([torch.ones(3, dtype=torch.int64)])
    assert [sys.getrefcount(each._array) for each in XS] == before


def test_other_threads_go_on_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUSHLIGHT_NATIVE", "now")
    scripted = torch.jit.script(fresh(again))
    wanted = scripted(XS[0], 3).tolist()
    found = list[Any]()

    def work() -> None:
        for _ in range(50):
            found.append(scripted(XS[0], 3).tolist())

    threads = [threading.Thread(target=work) for _ in range(3)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert found == [wanted] * 150
