"""Runs for sizes that were not looked at, as those with other sizes tell them."""

from __future__ import annotations

import time
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.interpreter.plans import replaying, sizes
from rushlight.interpreter.running.invoking import tiers_of
from rushlight.ops.table.direct import knows_calls

Tensor = torch.Tensor

pytestmark = pytest.mark.skipif(not knows_calls(), reason="there is no native code here")


def random(*shape: int, seed: int = 0) -> Tensor:
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape).astype(np.float32))


def shrinking(x: Tensor, w: Tensor, counts: Tensor, special: int) -> list[Tensor]:
    """As many rows are left as an element says, and one size takes another way."""
    found: list[Tensor] = []
    for i in range(x.size(0)):
        rest = x[int(counts[i]) :]
        left = torch.tanh(rest[:, 0] * 0.5) * rest[:, 1]
        if rest.size(0) == special:
            left = left + 1.0
        order = torch.argsort(left)
        found.append((rest[order] * w).sum(1) - left.cumsum(0))
    return found


def all_alike(one: list[Tensor], other: list[Tensor]) -> bool:
    pairs = zip(one, other, strict=True)
    return all(a.numpy().tobytes() == b.numpy().tobytes() for a, b in pairs)


@pytest.mark.parametrize("special", [0, 17])
def test_few_sizes_are_looked_at(special: int, monkeypatch: pytest.MonkeyPatch) -> None:
    looked = list[Any]()
    seen = replaying._Looking.seen
    monkeypatch.setattr(
        replaying._Looking,
        "seen",
        lambda self, invoke: (looked.append(self), seen(self, invoke))[1],
    )
    x, w, counts = random(60, 3), random(3, seed=1), torch.arange(60)
    with torch.no_grad():
        wanted = shrinking(x, w, counts, special)
        for _ in range(2):  # kernels are compiled meanwhile, the first time
            looked.clear()
            scripted = torch.jit.script(FunctionType(shrinking.__code__, globals(), "shrinking"))
            until = time.monotonic() + 60
            while not knows_fifty(scripted):
                assert time.monotonic() < until, "few are known"
                assert all_alike(scripted(x, w, counts, special), wanted)
        assert len(looked) < 20
        for seed in (2, 3):
            x = random(60, 3, seed=seed)
            assert all_alike(scripted(x, w, counts, special), shrinking(x, w, counts, special))


def knows_fifty(scripted: Any) -> bool:
    return known(scripted) > 50


def known(scripted: Any) -> int:
    """For how many sizes the best known stretch is known."""
    plan = tiers_of(scripted._rushlight_function).way(False).plan
    return 0 if plan is None else max((each.learned for each in plan.replays), default=0)


def chosen(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """The largest of each row, and what stands at its place."""
    places = x.argmax(1)
    return torch.where(torch.arange(3) == places[:, None], y, 0), x.gather(1, places[:, None])


def known_rows(scripted: Any, until: int) -> None:
    """Have calls with few, some and many rows known, and whatever follows."""
    end = time.monotonic() + 60
    while known(scripted) < until:
        assert time.monotonic() < end, "few are known"
        for rows in (2, 4, 5, 6):
            scripted(random(rows, 3, seed=rows), random(rows, 3))


@pytest.mark.parametrize("first", [torch.eye(3), torch.zeros(3, 3)])
def test_operands_that_lie_otherwise_are_no_sizes_between(first: Tensor) -> None:
    with torch.no_grad():
        for _ in range(2):  # kernels are compiled meanwhile, the first time
            scripted = torch.jit.script(FunctionType(chosen.__code__, globals(), "chosen"))
            known_rows(scripted, 4)
        for turned in (first.t(), first):
            for _ in range(40):  # whose largest are the same, if rows and columns are exchanged
                scripted(turned, first)
        for seed in range(20):
            x, y = random(3, 3, seed=seed), random(3, 3, seed=seed + 1)
            assert all_alike([*scripted(x.t(), y)], [*chosen(x.t(), y)])
            assert all_alike([*scripted(x, y)], [*chosen(x, y)])


def test_a_rule_is_tried_with_numbers_that_tell_it_from_others() -> None:
    calls = (sizes.Looked((), (), (4 * n, 4)) for n in (2, 5, 9))
    rule = sizes._rule((2, 5, 9), [*calls])
    assert rule is not None
    x = np.arange(18, dtype=np.float32).reshape(3, 6)
    assert rule.may_be_tried(6, [x, 5])
    assert not rule.may_be_tried(6, [x * 0, 5])
    assert not rule.may_be_tried(7, [x, 5])
    assert not rule.may_be_tried(3, [np.asfortranarray(x)])


def test_a_size_that_is_looked_at_in_vain_is_left_out() -> None:
    kind = sizes.Sizes().kind_of([np.zeros(5, np.float32)])
    assert kind is not None
    assert kind.kind.size_of((1,)) == 1
    assert kind.kind.asks_for(1)
    for _ in range(sizes.MOST_FAILED):
        assert not kind.kind.is_left_out(1)
        kind.kind.leave_out(1)
    assert kind.kind.is_left_out(1)
    assert kind.kind.asks_for(2)


def test_what_rises_in_proportion() -> None:
    looked = sizes.Looked

    def call(n: int, kernel: int = 7, wide: int = 4) -> sizes.Looked:
        words = (("number", 2 * n, 0), ("number", 1000, 0), ("given", 0, 4 * n), ("made", 0, 8))
        return looked(((kernel, words),), (wide * n,), (4,))

    rule = sizes._rule((2, 5, 9), (call(2), call(5), call(9)))
    assert rule is not None
    (kernel, count, least, given, made), *_ = rule.notes(6, [np.arange(20, dtype=np.int32)], [])[0]
    assert (kernel, count, given.item(), made.nbytes) == (7, 12, 6, rule.room - 8)
    assert least > 1 << 30
    for others in ((call(5, kernel=8), call(9)), (call(6), call(9)), (call(5), call(400, 7, 2))):
        other = sizes._rule((2, 5, 9), (call(2), *others))
        assert other is None


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        ([0.5, 0.5, 0.5], True),  # numbers that are the same for all sizes
        ([0.5, 0.25, 0.125], False),  # such as the parts of a mean
        ([None, None, None], False),
        ([2, 0.5, 2], False),
    ],
)
def test_numbers_that_are_not_whole_stay_or_end_the_rule(words: list[Any], kept: bool) -> None:
    found = sizes._in_proportion((2, 5, 9), [("number", each, None) for each in words])
    assert found == (("number", words[0], 0, 0) if kept else None)


@pytest.mark.parametrize(
    "whole",
    [
        np.arange(24).reshape(2, 3, 4),
        np.arange(24).reshape(2, 3, 4).transpose(2, 0, 1),
        np.broadcast_to(np.arange(4), (3, 4)),
        np.broadcast_to(np.arange(3)[:, None], (3, 4)),
        np.arange(24)[::5],
    ],
    ids=["rows", "turned", "one row", "one column", "steps"],
)
def test_what_begins_behind_the_begin_of_an_array(whole: Any) -> None:
    for index in np.ndindex(whole.shape):
        behind = sum(n * step for n, step in zip(index, whole.strides, strict=True))
        begin = sizes._from(whole, behind)
        assert begin.__array_interface__["data"][0] == whole.__array_interface__["data"][0] + behind
        assert begin.reshape(-1)[0] == whole[index]
