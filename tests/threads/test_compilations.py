"""What a compilation remembers is its own thread's."""

from __future__ import annotations

import contextlib
import threading

import rushlight as torch
from rushlight.jit.concrete import concrete_type, kept_if_compiled


class Counter(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.n = 1


def test_the_end_of_another_compilation_does_not_keep_what_this_one_made() -> None:
    begun, done = threading.Event(), threading.Event()

    def compile_something() -> None:
        with kept_if_compiled():
            begun.set()
            done.wait()

    other = threading.Thread(target=compile_something)
    other.start()
    begun.wait()
    with contextlib.suppress(ValueError), kept_if_compiled():
        made = concrete_type(Counter())
        done.set()
        other.join()
        raise ValueError
    again = concrete_type(Counter())
    assert again is not made
    assert concrete_type(Counter()) is again
