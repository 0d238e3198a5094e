"""Attacks by interrupts at any moment of calls: those that follow give what they gave before.

A timer of the system raises in the main thread, as Ctrl-C does, at some moment of a call that has
been forgotten, so that it is looked at, learned, compiled and run anew each time.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from amid_calls import CALLS, names_of_calls
from attacks_on_threads import FAMILY
from harness import Broken, interrupts
from more_calls import MORE_CALLS

__all__: list[str] = []

DRAWN = (
    "uniform",
    "normal",
    "random_",
    "bernoulli",
    "dropout",
    "exponential",
    "randn",
    "multinomial",
)
OF_MEMORY = ("pickle", "torch.save", "resize", "dlpack")


class Stop(BaseException):
    """What an interrupt raises."""


def _forget() -> None:
    from rushlight.ops.kernels.code.calls import prepared

    for known in [*prepared._EVERY]:
        known.forget()
        known.waits.wait_all(0)


def _bits(result: Any) -> Any:
    """What a call gave, to be compared."""
    if isinstance(result, list | tuple):
        return [_bits(each) for each in result]
    if getattr(result, "is_sparse", False):
        return _bits([result._indices(), result._values()])
    if not hasattr(result, "_array"):
        return repr(result)
    return result._array.dtype, result._array.tobytes()


def _made(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """The result of a call, and what became of its arguments and their gradients."""
    copies = [each.clone() for each in arguments]
    found = function(*copies)
    return _bits([found, *copies, *[each.grad for each in copies if each.grad is not None]])


def _attack(calls: dict[str, str], rounds: int) -> None:
    names = names_of_calls()
    draw = random.Random(5)

    for source, given in calls.items():
        if any(word in source for word in (*DRAWN, *OF_MEMORY)):
            continue
        function, arguments = eval(source, names), eval(f"({given},)", names)
        expected = _made(function, arguments)
        if _made(function, arguments) != expected:
            raise Broken(f"{source} gives other bits without any interrupt")
        _forget()
        began = time.perf_counter()
        _made(function, arguments)
        longest = max(2e-4, 1.5 * (time.perf_counter() - began))
        for _ in range(rounds):
            _forget()
            interrupts(partial(_made, function, arguments), draw.uniform(1e-5, longest), Stop)
            if _made(function, arguments) != expected:
                raise Broken(f"after an interrupt {source} gives something else")


for name, calls in {**CALLS, **MORE_CALLS}.items():

    def attack(calls: dict[str, str] = calls) -> None:
        _attack(calls, 150)

    FAMILY.attack(f"interrupts amid calls: {name}", seconds=300.0, long=True)(attack)
FAMILY.attack("interrupts amid some calls", seconds=60.0)(lambda: _attack(CALLS["rows"], 8))
