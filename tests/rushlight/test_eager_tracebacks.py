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
    assert len(frames(caught.value)) <= 5  # one is there once autocast has been used
    with pytest.raises(RuntimeError) as caught:
        torch.mm(torch.ones(2, 2), torch.ones(3, 3))
    assert len(frames(caught.value)) <= 4
    monkeypatch.setenv("RUSHLIGHT_TRACEBACK", "full")
    with pytest.raises(RuntimeError) as caught:
        torch.mm(torch.ones(2, 2), torch.ones(3, 3))
    assert len(frames(caught.value)) > 3
