"""Names that may have been meant."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rushlight.frontend.diagnostics.near_miss import distance, near_misses


@pytest.mark.parametrize(
    ("name", "candidates", "expected"),
    [
        ("resutl", ["result", "xs", "momentum"], ["result"]),
        ("kk", ["k", "x"], ["k"]),
        ("k", ["x", "j"], []),
        ("Lsit", ["List", "Dict", "Tuple"], ["List"]),
        ("soft_max", ["softmax", "softmin", "log_softmax"], ["softmax"]),
        ("TENSOR", ["Tensor"], ["Tensor"]),
        ("weigth", ["weight", "weights", "eight"], ["weight", "eight"]),
        ("abcdef", ["abcdeg", "abcdeh", "abcdei"], ["abcdeg", "abcdeh"]),
        ("proj", ["_proj", "prox"], ["prox"]),
        ("_proj", ["_prox"], ["_prox"]),
        ("done", ["gone", "done"], ["gone"]),
    ],
)
def test_examples(name: str, candidates: list[str], expected: list[str]) -> None:
    assert near_misses(name, candidates) == expected
    assert near_misses(name, reversed(candidates)) == expected


words = st.text("abc", max_size=6)


@given(words, words)
def test_distance_is_symmetric_and_bounded(one: str, other: str) -> None:
    assert distance(one, other) == distance(other, one)
    assert abs(len(one) - len(other)) <= distance(one, other) <= max(len(one), len(other))
    assert (distance(one, other) == 0) == (one == other)


@given(words, st.integers(0, 5))
def test_a_swap_of_neighbours_is_one_step(word: str, at: int) -> None:
    swapped = word[:at] + word[at : at + 2][::-1] + word[at + 2 :]
    assert distance(word, swapped) <= 1
