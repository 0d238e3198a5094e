"""Calls with tensors without elements are known beforehand like others."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch
from rushlight.ops.kernels import TRIALS, family

OFTEN = 4 * TRIALS
NOTHING = torch.empty(0, 8)
WIDE = torch.linspace(-1, 1, 24).view(3, 8)
NO_PLACES = torch.empty(0, dtype=torch.int64)
F = torch.nn.functional

CALLS: list[tuple[Callable[[Any], Any], tuple[int, ...], Any]] = [
    (lambda x: x + x, (0, 8), torch.float32),
    (lambda x: x * 2, (0, 8), torch.float32),
    (lambda x: x.exp(), (0, 8), torch.float32),
    (lambda x: x > 0, (0, 8), torch.bool),
    (lambda x: x + WIDE[0], (0, 8), torch.float32),
    (lambda x: x.long(), (0, 8), torch.int64),
    (lambda x: x.clone(), (0, 8), torch.float32),
    (lambda x: torch.cat([x, x]), (0, 8), torch.float32),
    (lambda x: torch.cat([x, x], 1), (0, 16), torch.float32),
    (lambda x: torch.stack([x, x]), (2, 0, 8), torch.float32),
    (lambda x: x.softmax(1), (0, 8), torch.float32),
    (lambda x: x @ WIDE.t(), (0, 3), torch.float32),
    (lambda x: F.linear(x, WIDE), (0, 3), torch.float32),
    (lambda x: x.sum(1), (0,), torch.float32),
    (lambda x: x.argmax(1), (0,), torch.int64),
    (lambda x: x.max(1).values, (0,), torch.float32),
    (lambda x: x.sum(), (), torch.float32),
    (lambda x: x.sum(0), (8,), torch.float32),
    (lambda x: x.mean(), (), torch.float32),
    (lambda x: x.any(), (), torch.bool),
    (lambda x: x.all(), (), torch.bool),
    (lambda x: x.prod(), (), torch.float32),
    (lambda x: WIDE.index_select(0, NO_PLACES) + x, (0, 8), torch.float32),
]


@pytest.mark.parametrize("number", range(len(CALLS)))
def test_results_are_those_of_the_first_call(number: int) -> None:
    call, shape, dtype = CALLS[number]
    first = call(NOTHING)
    for _ in range(OFTEN):
        made = call(NOTHING)
        assert tuple(made.shape) == shape
        assert made.dtype is dtype
        assert made.stride() == first.stride()
        assert torch.equal(made, first) or made.isnan().all()


def test_folds_of_nothing_are_what_begins_them() -> None:
    for _ in range(OFTEN):
        assert NOTHING.sum().item() == 0
        assert NOTHING.prod().item() == 1
        assert NOTHING.mean().isnan().item()
        assert not NOTHING.any().item()
        assert NOTHING.all().item()
        assert NOTHING.sum(0).tolist() == [0.0] * 8


def test_other_sizes_are_other_calls() -> None:
    for _ in range(OFTEN):
        assert tuple((NOTHING * 2).shape) == (0, 8)
        assert tuple((torch.empty(0, 5) * 2).shape) == (0, 5)
        assert torch.equal(WIDE[:1] * 2, WIDE[0][None] + WIDE[:1])


def test_places_are_looked_at_whatever_they_choose_from() -> None:
    some = torch.tensor([0, 2])
    for _ in range(OFTEN):
        assert tuple(WIDE.index_select(0, NO_PLACES).shape) == (0, 8)
        with pytest.raises(RuntimeError, match="indexing axis dim should be positive"):
            NOTHING.index_select(0, some)


def test_what_was_made_is_new_each_time() -> None:
    for _ in range(OFTEN):
        made = NOTHING.sum(0)
        made += 1
        assert made.tolist() == [1.0] * 8


@pytest.mark.skipif(
    family("calls.prepared") is None or family("calls.prepared").CREW is None,
    reason="there is no native code here",
)
@pytest.mark.parametrize(
    "call",
    [lambda x: x.sinh(), lambda x: torch.copysign(x, x), lambda x: x.nansum(0)],
    ids=[
        "sinh",
        "copysign",
        "nansum",
    ],  # which autocast lets be, and few kinds of calls are known of
)
def test_no_line_of_python_runs_for_them(call: Callable[[Any], Any]) -> None:
    for _ in range(OFTEN):
        call(NOTHING)
    heard = list[Any]()
    sys.setprofile(lambda frame, event, _: heard.append(frame.f_code) if event == "call" else None)
    try:
        call(NOTHING)
    finally:
        sys.setprofile(None)
    assert [each.co_name for each in heard] == ["<lambda>"]


def test_operands_of_one_memory_are_learned_like_others() -> None:
    memory = torch.linspace(-1, 1, 40)
    for _ in range(OFTEN):
        first, other = memory[:20], memory[:20]
        assert torch.equal(torch.outer(first, other), first[:, None] * other)
        shifted = memory[4:24]
        assert torch.equal(torch.outer(first, shifted), first[:, None] * shifted)
        apart = [each.clone() for each in (first, other, shifted)]
        assert torch.equal(torch.cat([first, other, shifted]), torch.cat(apart))
        assert torch.equal(torch.kron(first[:3], other[:3]), (first[:3, None] * other[:3]).view(-1))
