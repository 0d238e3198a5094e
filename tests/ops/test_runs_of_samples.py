"""Which runs of a call can be done for parts of the batch one after the other."""

from __future__ import annotations

from typing import Any

import pytest

from rushlight.ops.kernels.code.calls import samples
from rushlight.ops.kernels.code.calls.arena import Piece
from rushlight.ops.kernels.code.calls.pieces import Own, Part
from rushlight.ops.kernels.code.calls.samples import FAR, Samples

NAMES = {1: "expression", 2: "pairs", 3: "rows"}
TIMES = 2


@pytest.fixture(autouse=True)
def _kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels at the addresses 1, 2 (each sample by itself) and 3 (none)."""
    monkeypatch.setattr(samples, "made_at", lambda address: (None, NAMES[address]))


def _count(whole: list[Any], part: list[Any], own: dict[int, int] | None = None) -> int:
    return Samples(whole, part, own or {}, TIMES).count


def _pieces(times: int = TIMES) -> tuple[Piece, Piece]:
    """A piece of a batch, and that of a part."""
    return Piece(times * FAR), Piece(FAR)


def test_runs_over_the_same_memory_with_the_same_kernels_are_done_for_parts() -> None:
    (a, b), (c, d) = _pieces(), _pieces()
    whole = [(1, 9, Part(a, 0)), (2, Part(a, 0), Part(c, 64)), (1, Part(c, 0), Own(0, 0))]
    part = [(1, 4, Part(b, 0)), (2, Part(b, 0), Part(d, 64)), (1, Part(d, 0), Own(0, 0))]
    assert [_count(whole[:n], part[:n]) for n in range(4)] == [0, 1, 2, 3]
    assert Samples(whole, part, {0: 8 * FAR}, TIMES).largest == 8 * FAR


A, B = _pieces()
C, D = _pieces()
FIRST = (1, Part(A, 0)), (1, Part(B, 0))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ((1, Part(A, 0), 5), (1, Part(B, 0))),  # more words
        ((1, Part(A, 0), 5), (1, Part(B, 0), 5.0)),  # words of other kinds
        ((1, Part(A, 0), Own(0, 0)), (1, Part(B, 0), Part(D, 0))),
        ((1, Part(A, 0), Part(C, 0)), (1, Part(B, 0), 7)),
        ((1, Part(A, 0), Own(0, 0)), (1, Part(B, 0), Own(1, 0))),  # another argument
        ((1, Part(A, 0), Own(0, 0)), (1, Part(B, 0), Own(0, 4))),
        ((1, Part(A, 0)), (1, Part(B, 4))),  # another place of the piece
        ((1, Part(C, 0)), (1, Part(B, 0))),  # the part's piece was that of another one
        ((1, Part(A, 0)), (2, Part(B, 0))),  # another kernel
        ((3, Part(A, 0)), (3, Part(B, 0))),  # a kernel of which nothing is known
    ],
)
def test_what_differs_ends_them(one: tuple[Any, ...], other: tuple[Any, ...]) -> None:
    assert _count([FIRST[0], one, FIRST[0]], [FIRST[1], other, FIRST[1]]) == 1
    assert _count([one, FIRST[0]], [other, FIRST[1]]) <= 2


def test_runs_over_what_has_no_samples_are_done_once_if_their_numbers_are_the_same() -> None:
    shared, same = Piece(64), Piece(64)
    alone = (3, 5, Part(shared, 0)), (3, 5, Part(same, 0))
    uses = (1, Part(A, 0), Part(shared, 0)), (1, Part(B, 0), Part(same, 0))
    found = Samples([alone[0], uses[0]], [alone[1], uses[1]], {}, TIMES)
    assert found.count == 2
    runs = found.runs([A])
    assert runs is not None
    assert [run[0] for run in runs] == [3, 1, 1]
    assert [run[1] for run in runs[1:]] == [Part(A, 0), Part(A, FAR)]
    assert all(run[2] == Part(shared, 0) for run in runs)
    other = (3, 6, Part(same, 0))
    assert _count([alone[0], uses[0]], [other, uses[1]]) == 0


def test_what_is_near_is_not_worth_it() -> None:
    for size, count in ((FAR // TIMES, 1), (FAR // TIMES - 1, 0)):
        a, b = Piece(TIMES * size), Piece(size)
        assert _count([(1, Part(a, 0))], [(1, Part(b, 0))]) == count


def test_parts_have_memory_of_their_own_but_for_what_is_read_later() -> None:
    (a, b), (c, d) = _pieces(), _pieces()
    whole = [(1, Own(0, 8), Part(a, 0)), (2, Part(a, 0), Part(c, 0)), (3, Part(c, 0))]
    part = [(1, Own(0, 8), Part(b, 0)), (2, Part(b, 0), Part(d, 0)), (3, Part(d, 0))]
    found = Samples(whole, part, {0: 40}, TIMES)
    assert found.count == 2
    runs = found.runs([])
    assert runs is not None
    assert [run[0] for run in runs] == [1, 2, 1, 2, 3]
    assert [runs[0][1], runs[2][1]] == [Own(0, 8), Own(0, 48)]
    assert runs[0][2].piece is runs[1][1].piece
    assert runs[2][2].piece is not runs[0][2].piece
    assert [runs[1][2], runs[3][2]] == [Part(c, 0), Part(c, FAR)]
    uneven = Samples([(1, Part(Piece(3 * FAR), 0))], [(1, Part(Piece(FAR), 0))], {0: FAR}, TIMES)
    assert uneven.count == 0
