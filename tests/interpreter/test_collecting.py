"""Chains that have run often are one call of native code: the same bits, and no more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.interpreter.plans import chaining, collecting, compiling
from rushlight.ops import kernels

module = kernels.family("calls.prepared")
pytestmark = pytest.mark.skipif(
    module is None or module.CREW is None, reason="there is no native code here"
)

NORMAL = "torch.batch_norm(y, v, v, v, u, False, 0.1, 1e-5, True)"


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(compiling.NATIVE_VARIABLE, "now")
    monkeypatch.setattr(collecting, "TRIALS", 1)
    with torch.no_grad():
        yield


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many steps each array got that was filled in ordinary ways."""
    steps: list[int] = []
    finish = chaining.Chain.finish

    def noted(self: Any, work: Any) -> None:
        if type(work) is chaining._Work:
            steps.append(len(work.steps))
        finish(self, work)

    monkeypatch.setattr(chaining.Chain, "finish", noted)
    return steps


def drawn(*shape: int, seed: int = 0) -> Any:
    made = np.random.default_rng(seed).standard_normal(shape).astype(np.float32)
    return torch.from_numpy(made)


def chain(settings: str, after: str) -> Any:
    """A script with a question about the result between the operators, and what it should give."""
    source = f"""
def f(x, w, b, v, u, other, pad: int):
  y = torch.conv2d(x, w, b, {settings})
  if y.dim() != 4:
    raise RuntimeError("not this one")
  y = {NORMAL}
  return {after}
"""
    space: dict[str, Any] = {"torch": torch, "F": torch.nn.functional}
    exec(source.replace(", pad: int", ", pad"), space)
    return torch.jit.CompilationUnit(source).f, space["f"]


def given(channels: int = 20, groups: int = 1, batch: int = 2, size: int = 23) -> list[Any]:
    v = drawn(channels, seed=3)
    w = drawn(channels, channels // groups, 3, 3, seed=1)
    other = drawn(batch, channels, size, size, seed=4)
    return [drawn(batch, channels, size, size), w, v, v, v.abs(), other]


def bits(x: Any) -> Any:
    return x.stride(), x.numpy().tobytes()


CASES = {
    ("[1, 1], [1, 1]", "torch.relu(y)"): given(),
    ("[1, 1], [1, 1]", "torch.relu_(y + other)"): given(),
    ("[1, 1], [1, 1], [1, 1], 20", "torch.clamp(y, 0.0, 6.0)"): given(groups=20),
    ("[1, 1], [pad, pad]", "other + torch.nn.functional.silu(y)"): given(),
}


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(("settings", "after"), CASES)
def test_the_same_bits(settings: str, after: str, threads: int, done: list[int]) -> None:
    before, (function, plain) = torch.get_num_threads(), chain(settings, after)
    try:
        torch.set_num_threads(threads)
        for seed in range(8):
            values = CASES[settings, after]
            values[0] = drawn(*values[0].shape, seed=seed)
            assert bits(function(*values, 1)) == bits(plain(*values, 1))
    finally:
        torch.set_num_threads(before)
    assert 0 < len(done) < 6


def test_other_operands_are_done_in_ordinary_ways(
    done: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    function, plain = chain("[1, 1], [pad, pad]", "torch.relu(y + other)")
    usual = [*given(), 1]
    for _ in range(4):
        assert bits(function(*usual)) == bits(plain(*usual))
    count = len(done)
    last = usual[0].to(memory_format=torch.channels_last)
    broadcast = [*usual[:5], usual[5][:1], 1]
    others = [
        [*given(size=17), 1],
        [usual[0], drawn(20, 20, 3, 3, seed=9), *usual[2:]],
        [last, *usual[1:]],
        broadcast,
        [*usual[:5], drawn(2, 20, 25, 25), 2],
        usual,
    ]
    monkeypatch.setenv(compiling.NATIVE_VARIABLE, "off")  # parts of a chain are not compiled
    for values in others:
        for _ in range(2):
            assert bits(function(*values)) == bits(plain(*values))
    assert len(done) > count


def test_what_is_refused_is_refused_at_its_place() -> None:
    function, _ = chain("[1, 1], [1, 1]", "torch.relu(y + other)")
    usual = [*given(), 1]
    for _ in range(4):
        function(*usual)
    wrong = {
        1: (drawn(20, 7, 3, 3), "y = torch.conv2d"),
        3: (drawn(19), "y = torch.batch_norm"),
        5: (drawn(2, 20, 22, 23), "return torch.relu"),
    }
    for place, (value, line) in wrong.items():
        with pytest.raises(RuntimeError) as caught:
            function(*usual[:place], value, *usual[place + 1 :])
        marked = str(caught.value).splitlines()
        below = next(i for i, each in enumerate(marked) if "~~~" in each)
        assert line in marked[below - 1]
