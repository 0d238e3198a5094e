"""What loaded traces say of a failure: torch's text, and where Python called the operator."""

from __future__ import annotations

import io
from typing import Any

import pytest

import rushlight as torch
from rushlight.frontend.sources.source import Source, Span
from rushlight.interpreter.failures import traced


class Inner(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.view(3)


class Outer(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = Inner()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.inner(x) + 1


@pytest.fixture
def failed() -> Any:
    traced = torch.jit.trace(Outer(), torch.ones(3))
    stream = io.BytesIO()
    traced.save(stream)
    loaded = torch.jit.load(io.BytesIO(stream.getvalue()))
    with pytest.raises(RuntimeError) as caught:
        loaded(torch.ones(4))
    return caught.value


def test_torch_underlines_a_call_from_its_module_to_the_methods_name(failed: Any) -> None:
    lines = str(failed).split("\n")
    at = next(n for n, line in enumerate(lines) if "(inner).forward(x, )" in line)
    start = lines[at].index("inner).forward")
    assert lines[at + 1] == " " * start + "~" * len("inner).forward") + " <--- HERE"


def test_the_archives_code_is_shown_and_where_it_was_traced(failed: Any) -> None:
    (found,) = failed.diagnostics
    assert found.primary.span.text == "torch.view(x, [3])"
    assert [frame.span.text for frame in found.stack] == [
        "(inner).forward(x, )",
        found.primary.span.text,
    ]
    (note,) = found.notes
    assert note.startswith("traced at (innermost first):\n")
    assert note.endswith("test_errors_of_traces.py:17 in forward")


def test_calls_within_torch_are_left_out() -> None:
    text = """\
/lib/site-packages/torch/nn/modules/conv.py(560): _conv_forward
/home/me/net.py(12): forward
/lib/site-packages/torch/jit/_trace.py(1022): trace
/home/me/main.py(3): <module>
"""
    frame = traced.Frame("f", Span(Source(text, "conv.py", 560), 0, len(text)))
    assert traced.is_trace(frame)
    (note,) = traced.traced_at(frame)
    assert note.split("\n")[1:] == [
        "/home/me/net.py:12 in forward",
        "/home/me/main.py:3 in <module>",
    ]
    assert not traced.is_trace(traced.Frame("f", Span(Source("x = f(1)\n", "a.py"), 0, 1)))
