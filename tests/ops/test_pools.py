"""Objects of pooled classes take the memory of earlier ones, and are like any others."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from typing import Any
from weakref import ref

import pytest

import rushlight as torch
from rushlight.ops.kernels import family
from rushlight.ops.kernels.code.loading import elf

POOLS = family("calls.pools")
pytestmark = pytest.mark.skipif(
    POOLS is None or not elf.is_known(), reason="there is no native code here"
)


class Slots:
    __slots__ = ("other", "value")


class Open:
    """Has a dict, and may be referred to."""

    __slots__ = ("__dict__", "__weakref__", "own")


@pytest.fixture(autouse=True)
def nothing_collected() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("kind", [Slots, Open])
def test_later_ones_are_not_counted_and_know_nothing_of_earlier_ones(kind: Any) -> None:
    assert POOLS.pool(kind)
    made = [kind() for _ in range(300)]
    for each in made:
        each.value = made
    del made, each
    gc.collect()
    again = [kind() for _ in range(100)]
    before = gc.get_count()[0]
    more = [kind() for _ in range(150)]
    assert gc.get_count()[0] - before < 20
    assert len({id(each) for each in (*again, *more)}) == 250
    assert not any(hasattr(each, "value") for each in more)
    assert {type(each) for each in more} == {kind}
    assert all(map(gc.is_tracked, more))


def test_garbage_is_found() -> None:
    assert POOLS.pool(Open)
    one, other = Open(), Open()
    one.other, other.other = other, one  # type: ignore[attr-defined]
    gone = ref(one)
    del one, other
    assert gone() is not None
    gc.collect()
    assert gone() is None


def test_what_is_kept_is_bounded() -> None:
    assert POOLS.pool(Slots)
    gc.collect()
    before = sys.getallocatedblocks()
    made = [Slots() for _ in range(60_000)]
    del made
    assert sys.getallocatedblocks() - before < 40_000


def test_classes_of_other_kinds_are_left_alone() -> None:
    assert not POOLS.pool(int)
    assert not POOLS.pool(type("Row", (tuple,), {}))


def test_a_way_back_that_waits_has_nobody_look_for_garbage() -> None:
    weight = torch.ones(4, requires_grad=True)

    def recorded() -> torch.Tensor:
        found = weight
        for _ in range(60):
            found = (found * weight).tanh()
        return found.sum()

    for _ in range(30):
        recorded().backward()
    before = gc.get_count()[0]
    waiting = recorded()
    assert gc.get_count()[0] - before < 400
    waiting.backward()


AROUND_A_FORK = """
    import os
    import rushlight as torch
    from rushlight.ops.kernels import family

    class Slots:
        __slots__ = ("other", "value")

    assert family("calls.pools").pool(Slots)
    left = [Slots() for _ in range(10)]
    child = os.fork()
    if not child:
        left.clear()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    made = [Slots() for _ in range(100)]
    assert len({*map(id, made + left)}) == 110
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
def test_what_a_child_leaves_is_its_own() -> None:
    text = textwrap.dedent(AROUND_A_FORK)
    ran = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr
