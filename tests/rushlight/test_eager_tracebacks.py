"""Errors of eager calls show the caller's line, and little of what is inside."""

from __future__ import annotations

import traceback

import pytest

import rushlight as torch


def frames(error: BaseException) -> list[str]:
    return [frame.name for frame in traceback.extract_tb(error.__traceback__)]


def test_errors_of_operators_have_no_frames_of_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RUSHLIGHT_TRACEBACK", raising=False)
    with pytest.raises(RuntimeError) as caught:
        torch.ones(2) @ torch.ones(3)
    assert len(frames(caught.value)) <= 4
    with pytest.raises(RuntimeError) as caught:
        torch.mm(torch.ones(2, 2), torch.ones(3, 3))
    assert len(frames(caught.value)) <= 4
    monkeypatch.setenv("RUSHLIGHT_TRACEBACK", "full")
    with pytest.raises(RuntimeError) as caught:
        torch.mm(torch.ones(2, 2), torch.ones(3, 3))
    assert len(frames(caught.value)) > 3


def test_signs_that_are_known_by_their_types_have_no_frames_of_kernels_either() -> None:
    for _ in range(3):
        torch.ones(2) @ torch.ones(2), torch.ones(2) + torch.ones(2)
    with pytest.raises(RuntimeError, match="inconsistent tensor size") as caught:
        torch.ones(2) @ torch.ones(3)
    assert len(frames(caught.value)) <= 2
    with pytest.raises(RuntimeError, match="must match the size") as caught:
        torch.ones(2) + torch.ones(3)
    assert len(frames(caught.value)) <= 2


def test_signs_tell_that_memory_is_at_an_end_as_functions_do() -> None:
    for _ in range(3):
        torch.ones(2) + torch.ones(2)
    large = torch.ones(1).expand(1 << 44)
    for call in (lambda: large + large, lambda: torch.add(large, large), lambda: large * 2):
        with pytest.raises(RuntimeError, match="not enough memory: you tried to allocate"):
            call()
