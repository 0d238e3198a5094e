"""What several threads ask for in the same moment is one thing, and none ends another's."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

import rushlight as torch
from rushlight import fx
from rushlight.fx._patching import is_tracing, tracing
from rushlight.library import libraries
from rushlight.ops.eager import dispatch
from rushlight.ops.memory import shared_memory


def asked_twice(
    monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, ask: Callable[[], Any]
) -> list[Any]:
    """What is given to who asks, and to another thread that asks while that is being made."""
    make, found, threads = getattr(owner, name), [], list[Thread]()

    def slowly(*args: Any, **kwargs: Any) -> Any:
        if not threads:
            threads.append(Thread(target=lambda: found.append(ask())))
            threads[0].start()
            threads[0].join(0.3)  # for ever, if it has to wait for this one
        return make(*args, **kwargs)

    monkeypatch.setattr(owner, name, slowly)
    found.append(ask())
    threads[0].join()
    return found


def test_memory_has_one_storage(monkeypatch: pytest.MonkeyPatch) -> None:
    x = torch.ones(3)
    first, second = asked_twice(monkeypatch, torch.UntypedStorage, "_set", x.untyped_storage)
    assert first is second


def test_shared_memory_is_attached_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "memory"
    file.write_bytes(bytes(64))

    def attach() -> Any:
        return shared_memory.attached(os.open(file, os.O_RDWR), 64)

    first, second = asked_twice(monkeypatch, shared_memory, "SharedMemory", attach)
    assert first is second


def test_a_namespace_has_one_library_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def ask() -> Any:
        return libraries.kept("asked_for_by_two_threads")

    first, second = asked_twice(monkeypatch, libraries, "Library", ask)
    assert first is second


def test_an_operator_has_one_eager_function(monkeypatch: pytest.MonkeyPatch) -> None:
    def ask() -> Any:
        return dispatch.eager_function("aten::hypot")

    dispatch.forget("aten::hypot")
    first, second = asked_twice(monkeypatch, dispatch, "make_function", ask)
    assert first is second


def test_the_end_of_a_trace_ends_no_other_threads() -> None:
    begun, over, seen = Event(), Event(), list[bool]()

    def other() -> None:
        with tracing():
            begun.set()
            over.wait()
            seen.append(is_tracing())

    thread = Thread(target=other)
    with tracing():
        thread.start()
        begun.wait()
    over.set()
    thread.join()
    assert seen == [True]
    assert not is_tracing()
    assert fx.symbolic_trace(torch.nn.ReLU()).code
