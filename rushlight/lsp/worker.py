"""The process that checks: it reads questions, a line each, and answers with facts.

A file is checked by running it, as `rushlight check` does, in a child of this process: what it does
ends with the child, and one that takes too long is ended.  Where processes cannot be forked the
check runs here.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import selectors
import signal
import time
import warnings
from collections.abc import Sequence
from typing import IO, Final

from ..cli.checked_file import check_unsaved
from ..cli.failure import CommandError
from .facts import Facts, facts_of, no_facts, stopped
from .forms import FACTS, OF_FUNCTION, fits
from .kept import FunctionFacts, Kept, outline_of

__all__ = ["answer", "main"]

SECONDS = 10.0
"""What a check may take."""
_MOST: Final = 1 << 26
"""Bytes that it may say."""


_KEPT: Final[dict[str, Kept]] = {}
"""What is known of files, by their paths; children see it as it is when they are made."""


def answer(question: dict[str, str]) -> tuple[Facts, list[FunctionFacts]]:
    """The facts of a file, and of each function: its `path`, and its `text` in the editor."""
    path, text = question["path"], question["text"]
    outline = outline_of(text)
    kept = _KEPT.get(path)
    known = kept.still(outline) if kept is not None and outline is not None else {}

    def is_known(python: object) -> bool:
        code = getattr(python, "__code__", None)
        if outline is None or code is None or code.co_filename != path:
            return False
        return outline.lines.get(code.co_firstlineno) in known

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return facts_of(check_unsaved(path, text, is_known), path, known)
    except CommandError as error:
        return no_facts(stopped(str(error), [0, 0, 0, 0])), []


def _keep(question: dict[str, str], facts: Facts, functions: list[FunctionFacts]) -> None:
    outline = outline_of(question["text"])
    if outline is not None:
        told = [each["place"] for each in facts["diagnostics"]]
        _KEPT[question["path"]] = Kept.of(outline, functions, told)


def _nothing(why: str) -> bytes:
    return json.dumps((no_facts(stopped(why, [0, 0, 0, 0])), [])).encode()


def _in_child(question: dict[str, str], private: Sequence[int] = ()) -> bytes:
    """The answer as text, from a child process, which has nothing of the descriptors `private`."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.setsid()  # with all that the program starts
            for descriptor in (reading, *private):
                os.close(descriptor)
            with os.fdopen(writing, "wb") as out:
                out.write(json.dumps(answer(question)).encode())
            code = 0
        finally:
            os._exit(code)
    os.close(writing)
    try:
        found = _read(reading)
        return found if _is_answer(found) else _nothing("the file ended the check")
    except TimeoutError:
        return _nothing(f"the file runs for more than {SECONDS:g} s")
    finally:
        os.close(reading)
        _end(child)


def _end(child: int) -> None:
    """End a check and what it has started."""
    with contextlib.suppress(ProcessLookupError):  # which there is none of any more
        os.killpg(child, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def _is_answer(found: bytes) -> bool:
    """Whether this has the form of what a check says: the program can write there as well."""
    try:
        return fits(json.loads(found), (FACTS, [OF_FUNCTION]))
    except (ValueError, RecursionError):
        return False


def _read(descriptor: int) -> bytes:
    found, end = bytearray(), time.monotonic() + SECONDS
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)
        while True:
            if not selector.select(max(0.0, end - time.monotonic())):
                raise TimeoutError
            part = os.read(descriptor, 1 << 16)
            if not part:
                return bytes(found)
            found += part
            if len(found) > _MOST or time.monotonic() > end:
                raise TimeoutError


def main(questions: IO[bytes], answers: IO[bytes]) -> None:
    """Answer until there are no more questions."""
    answer({"path": os.devnull + ".py", "text": _WARM})
    gc.freeze()  # children that look through all this for garbage would copy it
    for line in questions:
        question = json.loads(line)
        forks = hasattr(os, "fork")
        own = (questions.fileno(), answers.fileno()) if forks else ()
        facts, functions = json.loads(_in_child(question, own)) if forks else answer(question)
        answers.write(json.dumps(facts).encode() + b"\n")
        answers.flush()
        _keep(question, facts, functions)
        gc.collect()  # now, while nobody waits


_WARM = """\
import rushlight as torch


@torch.jit.script
def f(x: torch.Tensor, n: int) -> torch.Tensor:
    for i in range(n):
        x = x * 2.0 + i
    return torch.nn.functional.relu(x)


@torch.jit.script
def misspelt(x: torch.Tensor) -> torch.Tensor:
    x.rellu()
    torch.rellu(x)
    return torch.sum(x, dims=[0]) + y
"""
"""What is checked at first, so that children find all that a check needs, and for a mistake the
names that may be meant."""


if __name__ == "__main__":
    asked, told = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what programs print is no answer
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)  # nor what they read a question
    os.close(nothing)
    main(asked, told)
