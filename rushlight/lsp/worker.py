"""The process that checks: it reads questions, a line each, and answers with facts.

A file is checked by running it, as `rushlight check` does, in a child of this process: what it does
ends with the child, and one that takes too long is ended.  Where processes cannot be forked the
check runs here.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import sys
import warnings
from typing import IO, Any, Final

from ..cli.checked_file import check_unsaved
from ..cli.failure import CommandError
from .facts import Facts, facts_of, no_facts
from .kept import FunctionFacts, Kept, outline_of

__all__ = ["answer", "main"]

SECONDS = 10.0
"""What a check may take."""


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
        return no_facts(_told(str(error))), []


def _keep(question: dict[str, str], facts: Facts, functions: list[FunctionFacts]) -> None:
    outline = outline_of(question["text"])
    if outline is not None:
        told = [each["place"] for each in facts["diagnostics"]]
        _KEPT[question["path"]] = Kept.of(outline, functions, told)


def _told(text: str) -> dict[str, Any]:
    place = {"place": [0, 0, 0, 0], "related": [], "fixes": [], "notes": []}
    return {"code": "file-stopped", "severity": "error", "message": text, **place}


def _nothing(why: str) -> bytes:
    return json.dumps((no_facts(_told(why)), [])).encode()


def _in_child(question: dict[str, str]) -> bytes:
    """The answer as text, from a child process."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(reading)
            with os.fdopen(writing, "wb") as out:
                out.write(json.dumps(answer(question)).encode())
            code = 0
        finally:
            os._exit(code)
    os.close(writing)
    try:
        return _read(reading) or _nothing("the file ended the check")
    except TimeoutError:
        os.kill(child, signal.SIGKILL)
        return _nothing(f"the file runs for more than {SECONDS:g} s")
    finally:
        os.close(reading)
        os.waitpid(child, 0)


def _read(descriptor: int) -> bytes:
    found = bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)
        while True:
            if not selector.select(SECONDS):
                raise TimeoutError
            part = os.read(descriptor, 1 << 16)
            if not part:
                return bytes(found)
            found += part


def main(questions: IO[bytes], answers: IO[bytes]) -> None:
    """Answer until there are no more questions."""
    answer({"path": os.devnull + ".py", "text": _WARM})
    for line in questions:
        question = json.loads(line)
        forks = hasattr(os, "fork")
        facts, functions = json.loads(_in_child(question)) if forks else answer(question)
        answers.write(json.dumps(facts).encode() + b"\n")
        answers.flush()
        _keep(question, facts, functions)


_WARM = """\
import rushlight as torch


@torch.jit.script
def f(x: torch.Tensor, n: int) -> torch.Tensor:
    for i in range(n):
        x = x * 2.0 + i
    return torch.nn.functional.relu(x)
"""
"""What is checked at first, so that children find all that a check needs."""


if __name__ == "__main__":
    private = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what programs print is no answer
    main(sys.stdin.buffer, private)
