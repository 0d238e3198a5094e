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
from typing import IO, Any

from ..cli.checked_file import check_unsaved
from ..cli.failure import CommandError
from .facts import Facts, facts_of, no_facts

__all__ = ["answer", "main"]

SECONDS = 10.0
"""What a check may take."""


def answer(question: dict[str, str]) -> Facts:
    """The facts of a file: its `path`, and its `text` as it is in the editor."""
    path, text = question["path"], question["text"]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return facts_of(check_unsaved(path, text), path)
    except CommandError as error:
        return no_facts(_told(str(error)))


def _told(text: str) -> dict[str, Any]:
    place = {"place": [0, 0, 0, 0], "related": [], "fixes": [], "notes": []}
    return {"code": "file-stopped", "severity": "error", "message": text, **place}


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
        return _read(reading) or json.dumps(no_facts(_told("the file ended the check"))).encode()
    except TimeoutError:
        os.kill(child, signal.SIGKILL)
        return json.dumps(no_facts(_told(f"the file runs for more than {SECONDS:g} s"))).encode()
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
        answers.write(_in_child(question) if forks else json.dumps(answer(question)).encode())
        answers.write(b"\n")
        answers.flush()


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
