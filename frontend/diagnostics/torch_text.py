"""The words of torch itself, for `str(e)`: programs and tests match on them.

A place is shown as its line and up to two lines on either side, with `~` under the range and an
arrow.  Torch counts bytes, so what stands under a line with other than ASCII letters is shifted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..sources.source import Span
from .diagnostics import Demand, Diagnostic, Frame

__all__ = ["compile_error_text", "exception_name", "highlight", "runtime_error_text"]

AROUND = 2
"""How many lines torch shows before and after the ones it underlines."""

HERE = b" <--- HERE\n"

FAILED = "The following operation failed in the TorchScript interpreter.\n"

_PLACED_AFTER_SENTENCE = {
    "FrontendError",
    "NotSupportedError",
    "UnsupportedNodeError",
    "ValueError",
}
"""The classes of what torch finds while it reads Python, before it compiles."""
_PLACED_AFTER_BLANK = {"RuntimeError", "FrontendTypeError"}


def highlight(span: Span, function: str = "") -> str:
    """The file, the line and the marked text of a span; `function` is named if given."""
    source = span.source
    data = source.text.encode(errors="surrogatepass")
    start, end = _bytes(span, span.start), _bytes(span, span.torch_end)
    if end - start == len(data):
        return source.text  # torch takes a range of this size for the text as a whole
    end = min(end, len(data))
    head = f'  File "{span.filename or "<string>"}", line {span.line}'
    head += f", in {function}\n" if function else "\n"
    begin = data.rfind(b"\n", 0, start) + 1
    for _ in range(AROUND):
        begin = data.rfind(b"\n", 0, max(begin - 1, 0)) + 1
    shown, rest = _marked_lines(data, start, end)
    after = data[rest : _end_of_context(data, end)]
    if after and not after.endswith(b"\n"):
        after += b"\n"
    return head + (data[begin:start] + shown + after).decode(errors="surrogatepass")


def _bytes(span: Span, offset: int) -> int:
    text = span.source.text
    if text.isascii():
        return offset
    return len(text[:offset].encode(errors="surrogatepass")) + max(0, offset - len(text))


def _end_of_context(data: bytes, end: int) -> int:
    """Where the lines after the one that holds `end` stop."""
    at = data.find(b"\n", end)
    for _ in range(AROUND):
        if at >= 0:
            at = data.find(b"\n", at + 1)
    return len(data) if at < 0 else at


def _marked_lines(data: bytes, start: int, end: int) -> tuple[bytes, int]:
    """The text from `start` on with marks under each line, and where the unmarked text begins."""
    shown = b""
    at = start
    while at < end:
        line_begin = data.rfind(b"\n", 0, at) + 1
        line_end = data.find(b"\n", at)
        line_end = len(data) if line_end < 0 else line_end
        shown += data[at:line_end] + b"\n"
        marked_end = min(line_end, end)
        blank = line_begin
        while blank < marked_end and (data[blank] == 0x20 or blank < start):
            blank += 1
        if blank < marked_end:
            # Torch looks one character past the range for more to mark, and finds the end of the
            # text to be one.
            beyond = data[line_end : end + 1] + (b"\0" if end == len(data) else b"")
            more = line_end < end and beyond.strip(b" \n") != b""
            marks = b" " * (blank - line_begin) + b"~" * (marked_end - blank)
            shown += marks + (b"\n" if more else HERE)
        at = line_end + 1
    return shown, at if at > start else start


def compile_error_text(diagnostic: Diagnostic) -> str:
    """What torch says of a compile error: sentence, place, and how it came to compile that."""
    held = _held(diagnostic)
    if held is not None:
        return _attribute_text(diagnostic, held)
    if diagnostic.torch_text:
        return diagnostic.torch_text
    sentence = diagnostic.torch_message or diagnostic.message
    label = diagnostic.primary
    span = diagnostic.torch_span or (label.span if label else None)
    if span is None or diagnostic.exception not in _PLACED_AFTER_SENTENCE | _PLACED_AFTER_BLANK:
        return sentence
    before = "\n" if diagnostic.exception in _PLACED_AFTER_BLANK else ""
    is_early = diagnostic.is_early or diagnostic.exception in _PLACED_AFTER_SENTENCE
    counted = diagnostic.demands
    if is_early and counted and not counted[-1].callee.startswith(_CLASSES):
        counted = counted[:-1]  # the call of a class has begun when its methods are read
    return f"{before}{sentence}:\n{highlight(span)}{_chain(counted)}"


def exception_name(diagnostic: Diagnostic) -> str:
    """The class that torch raises, whatever it has found on its way there."""
    return diagnostic.exception if _held(diagnostic) is None else "RuntimeError"


def _held(diagnostic: Diagnostic) -> int | None:
    """Which demand is the first one for a function that a module holds."""
    return next((i for i, demand in enumerate(diagnostic.demands) if demand.holder), None)


def _attribute_text(diagnostic: Diagnostic, held: int) -> str:
    """What torch says of a module's function that cannot be compiled: it takes it for absent."""
    demands = diagnostic.demands
    demand = demands[held]
    inner = compile_error_text(replace(diagnostic, demands=demands[held + 1 :]))
    return (
        f"\nModule '{demand.holder}' has no attribute '{demand.attribute}' (This function exists "
        "as an attribute on the Python module, but we failed to compile it to a TorchScript "
        f"function. \nThe error stack is reproduced here:\n{inner}):\n"
        f"{highlight(demand.written or demand.span)}{_chain(demands[:held])}"
    )


_CLASSES = "__torch__."
"""What the names of classes begin with, where calls of them are told of."""


def _chain(demands: Sequence[Demand]) -> str:
    """Who made torch compile the function with the error, from the inside out."""
    return "".join(
        f"'{demand.callee}' is being compiled since it was called from '{demand.caller}'\n"
        f"{highlight(demand.span)}"
        for demand in reversed(demands)
    )


def runtime_error_text(
    frames: Sequence[Frame],
    message: str,
    *,
    error: str = "RuntimeError",
    original: Sequence[Frame] = (),
) -> str:
    """What torch says when a script fails; ends in `error: message`.

    `frames` are the calls, outermost first.  For a loaded archive they are places in the archive's
    code, and `original` those of the source it was made from, as far as the archive knows them.
    """
    message, cut, _ = message.partition("\0")  # C ends a text there
    end = "" if cut else "\n"
    if not original:
        return f"{FAILED}{_traceback('', frames)}{error}: {message}{end}"
    parts = _traceback(", serialized code", frames) + "\n" + _traceback(", original code", original)
    return f"{FAILED}{parts}{error}: {message}{end}"


def _traceback(kind: str, frames: Sequence[Frame]) -> str:
    lines = [f"Traceback of TorchScript{kind} (most recent call last):\n"]
    lines.extend(highlight(f.span, f.function.rpartition(".")[2]) for f in frames)
    return "".join(lines)
