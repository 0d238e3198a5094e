"""Run every command of `rushlight` on every archive below some folders.

    python tools/run_commands.py FOLDER ...

Each archive gets a process of its own.  Told are exit statuses that are not documented, tracebacks,
internal errors, commands that do not end and characters that control a terminal; the exit status is
1 if there were any.
"""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
import tempfile
import unicodedata
from pathlib import Path

from rushlight.__main__ import main as rushlight

SECONDS = 120
SUFFIXES = {".pt", ".ptl", ".ff", ".pth", ".bin", ".zip"}
VIEWS = "code graph inlined-graph instructions tree modules constants extra bytecode".split()


def commands(path: str, folder: str) -> list[list[str]]:
    """The words of all commands for an archive."""
    shows = [["show", path, f"--{view}"] for view in VIEWS]
    forms = "ptl ff pt npz safetensors py".split()
    return [
        ["what", path],
        ["what", "--json", path],
        ["audit", path],
        ["audit", "--json", path],
        ["show", path],
        *shows,
        *([*words, "--json"] for words in shows),
        ["run", path],
        ["run", path, "[1.0, 2.0]"],
        ["diff", path, path],
        *(["convert", path, f"{folder}/{form}.{form}"] for form in forms),
    ]


def fault_of(words: list[str]) -> str:
    """What is wrong with how a command ends; empty if nothing is."""
    out, err = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status: object = rushlight(words)
    except SystemExit as stop:
        status = stop.code
    except BaseException as error:
        return f"raised {error!r}"
    text = out.getvalue() + err.getvalue()
    allowed = {0, 1, 2, 3} if words[0] == "audit" else {0, 1, 2}
    if words[0] == "diff":
        allowed = {0, 2}
    if status not in allowed:
        return f"ended with {status}: {err.getvalue()[:300]}"
    if "Traceback (most recent call last)" in text and words[0] != "run":
        return "printed a traceback"
    bad = {c for c in text if unicodedata.category(c) in {"Cc", "Cf", "Cs"}} - {"\n", "\t"}
    return f"printed {bad!r}" if bad else ""


def faults_of(path: Path) -> int:
    """Run the commands on an archive and tell the faults; how many there were."""
    with tempfile.TemporaryDirectory() as folder:
        count = 0
        for words in commands(str(path), folder):
            signal.alarm(SECONDS)
            fault = fault_of(words)
            if fault:
                count += 1
                print(f"{' '.join(words)}: {fault}", flush=True)
        return count


def main(folders: list[str]) -> int:
    """Run all."""
    found = [path for folder in folders for path in sorted(Path(folder).rglob("*"))]
    archives = [path for path in found if path.suffix in SUFFIXES and path.is_file()]
    faults = 0
    for path in archives:
        child = os.fork()
        if child == 0:
            os._exit(min(faults_of(path), 100))
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if status < 0:
            print(f"{path}: killed by signal {-status}", flush=True)
        faults += 1 if status else 0
    print(f"{len(archives)} archives, {faults} with faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
