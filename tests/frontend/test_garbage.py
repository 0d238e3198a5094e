"""Work during which no garbage is looked for."""

from __future__ import annotations

import gc
import os
import sys
from threading import Event, Thread

import pytest

from rushlight.frontend.foundations.garbage import uncollected


@uncollected
def _looks() -> bool:
    return gc.isenabled()


@uncollected
def _both() -> tuple[bool, bool]:
    return _looks(), gc.isenabled()


@uncollected
def _fails() -> None:
    raise LookupError


def test_pauses_for_the_call() -> None:
    assert gc.isenabled()
    assert _both() == (False, False)
    assert gc.isenabled()


def test_goes_on_after_failures() -> None:
    with pytest.raises(LookupError):
        _fails()
    assert gc.isenabled()


def test_stays_off_where_it_was_off() -> None:
    gc.disable()
    try:
        assert not _looks()
        assert not gc.isenabled()
    finally:
        gc.enable()


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
def test_goes_on_in_a_child_whose_parent_paused_elsewhere() -> None:
    began, done = Event(), Event()

    @uncollected
    def wait() -> None:
        began.set()
        done.wait()

    thread = Thread(target=wait)
    thread.start()
    began.wait()
    child = os.fork()
    if not child:
        os._exit(int(not gc.isenabled()))
    done.set()
    thread.join()
    assert os.waitpid(child, 0)[1] == 0
    assert gc.isenabled()
