"""An interrupt before any line of a call leaves everything as it was, or as it should be.

A tracing function raises before the n-th line that runs in the product, for one n after the other.
"""

from __future__ import annotations

import dis
import gc
import linecache
import sys
from collections.abc import Callable
from functools import cache
from types import CodeType, FrameType
from typing import Any

import pytest

import rushlight as torch
from rushlight.frontend.syntax.python_ast import python_tree
from rushlight.interpreter.bounds.guard import active_guard
from rushlight.ops.memory.allocation import current_ledger

X = torch.linspace(-1, 1, 24).reshape(4, 6)


@cache
def _starts(code: CodeType) -> dict[int, int]:
    """Where each line begins for the first time."""
    found: dict[int, int] = {}
    for offset, line in dis.findlinestarts(code):
        if line is not None:
            found.setdefault(line, offset)
    return found


def _is_between(frame: FrameType) -> bool:
    """Whether no interrupt can come here: Python looks for one when calls begin and end and loops
    go round, not at `try:` and not where it is about to leave a `with` block."""
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
    if line.startswith(("with ", "with(", "finally:")):
        return frame.f_lasti != _starts(frame.f_code).get(frame.f_lineno)
    return line.startswith("try:")


def _is_leaving(frame: FrameType | None) -> bool:
    """Whether a context is being left, which nothing can do for it."""
    while frame is not None:
        if frame.f_code.co_name == "__exit__":
            return True
        frame = frame.f_back
    return False


def interrupted(call: Callable[[], object], place: int) -> bool:
    """Call, with an interrupt before a line, or the next where one can come; whether there are so
    many lines."""
    seen = 0

    def local(frame: FrameType, event: str, _: object) -> Any:
        nonlocal seen
        if event == "line" and not _is_between(frame):
            seen += 1
            if seen >= place and not _is_leaving(frame):
                sys.settrace(None)
                raise KeyboardInterrupt
        return local

    def called(frame: FrameType, event: str, _: object) -> Any:
        name = frame.f_code.co_filename
        ours = "rushlight" in name or (name.startswith("<") and not name.startswith("<frozen"))
        return local if ours and name != __file__ and not _is_leaving(frame) else None

    sys.settrace(called)
    try:
        call()
    except KeyboardInterrupt:
        pass
    finally:
        sys.settrace(None)
    return seen >= place


def _state() -> list[object]:
    """What contexts of a thread change."""
    return [
        *(torch.is_grad_enabled(), torch.is_inference_mode_enabled(), active_guard()),
        *(torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu")),
        *(torch.is_autocast_cache_enabled(), current_ledger().is_open),
    ]


def _contexts() -> object:
    with torch.no_grad(), torch.autocast("cpu", cache_enabled=False):
        y = torch.mm(X, X.t())
    with torch.inference_mode():
        z = X + 1
    with torch.enable_grad(), torch.set_grad_enabled(False):
        return y, z


def _kept_tensors() -> object:
    w = torch.ones(6, 2, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t + 0, lambda t: t):
        y = (X @ w).tanh()
    y.sum().backward()
    assert w.grad is not None
    return w.grad


_UNIT = torch.jit.CompilationUnit("def f(x, w):\n    return (x @ w).tanh().softmax(1)[0].sum()\n")


def _scripted() -> object:
    w = torch.ones(6, 6, requires_grad=True)
    _UNIT.f(X, w).backward()
    assert w.grad is not None
    return w.grad


class Twice(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(2):
            x = x + x
        return x


def _untrusted() -> Callable[[], object]:
    import io

    data = torch.jit.script(Twice()).save_to_buffer()
    module = torch.jit.load(io.BytesIO(data), trust="none")
    return lambda: module(X)


def _bits(value: Any) -> Any:
    return [_bits(each) for each in value] if isinstance(value, tuple) else value.tolist()


@pytest.mark.parametrize(
    ("make", "step"),
    [
        (lambda: _contexts, 7),
        (lambda: _kept_tensors, 13),
        (lambda: _scripted, 5),
        (_untrusted, 1),
    ],
    ids=["contexts", "kept tensors", "scripted", "untrusted"],
)
def test_what_follows_an_interrupt_is_as_without(
    make: Callable[[], Callable[[], object]], step: int
) -> None:
    call = make()
    expected, state = _bits(call()), _state()
    place = 1
    while interrupted(call, place):
        assert _state() == state, f"after an interrupt before line {place}"
        place += step
    assert _bits(call()) == expected
    assert place > 50


def test_garbage_is_collected_after_an_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    switch_off = gc.disable

    def interrupted_disable() -> None:
        switch_off()
        raise KeyboardInterrupt  # which comes where a function of C comes back

    monkeypatch.setattr(gc, "disable", interrupted_disable)
    with pytest.raises(KeyboardInterrupt):
        python_tree("x = 1")
    assert gc.isenabled()


def test_what_is_being_defined_can_be_defined_again() -> None:
    source = "def g(x: int) -> int:\n    return h(x) + 1\ndef h(x: int) -> int:\n    return x * 2\n"
    place, units = 1, []

    def call() -> object:
        units.append(torch.jit.CompilationUnit(source))
        return units[-1].g(3)

    while interrupted(call, place):
        for unit in (*units[-1:], torch.jit.CompilationUnit(source)):
            assert unit.g(3) == 7
        place += 311
    assert place > 1000
