"""Starting threads while handlers of signals raise."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from rushlight.frontend.foundations.started import started

BEGINS = next(
    name for name in ("_start_joinable_thread", "_start_new_thread") if hasattr(threading, name)
)


class Stop(Exception):
    pass


def test_what_a_handler_raises_while_a_thread_begins_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begin, ran = getattr(threading, BEGINS), threading.Event()

    def interrupted(*args: Any, **named: Any) -> None:
        begin(*args, **named)
        assert ran.wait(10)
        raise Stop

    monkeypatch.setattr(threading, BEGINS, interrupted)
    with pytest.raises(Stop):
        started("begun", ran.set)


def test_a_thread_that_cannot_be_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*args: Any, **named: Any) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading, BEGINS, refused)
    assert started("never", print) is None
