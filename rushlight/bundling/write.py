"""Making a bundle: what archives need is found out, written, and tried."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, TypedDict

from ..serialization.files.atomic_file import atomic_file
from .choice import chosen, file_of, without_dropped

if TYPE_CHECKING:
    from .needs import Needs

__all__ = ["BundleError", "Report", "find_needs", "make_bundle"]

_ROOT: Final = Path(__file__).resolve().parents[1]
_OWN: Final = __name__.partition(".")[0]
_BROUGHT: Final = ("lark", "typing_extensions")
"""What is not ours and goes into every bundle; all of it is Python."""
_EARLIEST: Final = (1980, 1, 1, 0, 0, 0)
_SECONDS: Final = 600
"""How long a trial may take."""


class BundleError(Exception):
    """A bundle cannot be made; the text says why."""


@dataclass(frozen=True)
class Report:
    """What a bundle has become: sizes in bytes, times of a whole run in seconds of a processor."""

    size: int
    files: int
    files_left_out: int
    operators: list[str]
    operators_left_out: int
    start: float
    start_of_library: float


class Facts(TypedDict):
    """What a bundle says of itself, as `bundle.json`."""

    package: str
    archives: list[str]
    operators: list[str]
    operators_left_out: list[str]
    modules_left_out: list[str]


def find_needs(runs: Sequence[Sequence[str]]) -> Needs:
    """What `needs` says of runs, each an archive and its inputs as words.

    Raises:
        BundleError: a run fails.
    """
    command = [sys.executable, "-m", f"{_OWN}.bundling.needs"]
    try:
        done = subprocess.run(
            command,
            input=json.dumps([list(words) for words in runs]),
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            env=_environment(),
        )
    except subprocess.TimeoutExpired:
        raise BundleError(f"running the archives takes longer than {_SECONDS} s") from None
    if done.returncode:
        raise BundleError(f"the archives cannot be looked at: {_last(done.stderr)}")
    needs: Needs = json.loads(done.stdout)
    for words, (status, _) in zip(runs, needs["results"], strict=True):
        if status:
            raise BundleError(
                f"{words[0]} does not run with the inputs `{' '.join(words[1:])}`; `rushlight run` "
                "says why"
            )
    return needs


def make_bundle(path: str | os.PathLike[str], runs: Sequence[Sequence[str]]) -> Report:
    """Write a bundle that runs some archives, once it has been tried with each of them.

    Raises:
        BundleError: an archive does not run, or runs otherwise in the bundle.
        OSError: the file cannot be written.
    """
    needs = find_needs(runs)
    kept = chosen(needs)
    facts = _facts(needs, kept, runs)
    with tempfile.TemporaryDirectory() as scratch:
        trial = Path(scratch) / "bundle.pyz"
        with trial.open("wb") as file:
            _write(file, kept, facts)
        start = _try(trial, runs, needs)
        content = trial.read_bytes()
    with atomic_file(path) as target:
        target.write(content)
    return Report(
        size=len(content),
        files=len(kept),
        files_left_out=len(facts["modules_left_out"]),
        operators=facts["operators"],
        operators_left_out=len(facts["operators_left_out"]),
        start=start,
        start_of_library=_timed([sys.executable, "-m", _OWN, "run", *runs[0]]),
    )


def _facts(needs: Needs, kept: set[str], runs: Sequence[Sequence[str]]) -> Facts:
    declared = {
        name for file in needs["declared"] if file in kept for name in needs["declared"][file]
    }
    every = {name for names in needs["declared"].values() for name in names}
    return {
        "package": _OWN,
        "archives": [os.path.basename(words[0]) for words in runs],
        "operators": [name for name in needs["operators"] if name in _names(every)],
        "operators_left_out": sorted((every - declared) | (_names(every) - _names(declared))),
        "modules_left_out": sorted(set(_all_modules()) - kept),
    }


def _names(overloads: set[str]) -> set[str]:
    return {name.partition(".")[0] for name in overloads}


def _all_modules() -> Iterator[str]:
    for folder, folders, files in os.walk(_ROOT, followlinks=True):
        folders[:] = [name for name in folders if name != "__pycache__"]
        inside = Path(folder).relative_to(_ROOT).parts
        for name in files:
            stem, _, ending = name.rpartition(".")
            if ending == "py":
                parts = inside if stem == "__init__" else (*inside, stem)
                yield ".".join((_OWN, *parts))


# ---------------------------------------------------------------------- the file


def _write(file: IO[bytes], kept: set[str], facts: Facts) -> None:
    file.write(b"#!/usr/bin/env python3\n")
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as bundle:
        for name, content in sorted(_contents(kept, facts)):
            bundle.writestr(zipfile.ZipInfo(name, _EARLIEST), content, zipfile.ZIP_DEFLATED)


def _contents(kept: set[str], facts: Facts) -> Iterator[tuple[str, str | bytes]]:
    yield "__main__.py", (_ROOT / "bundling" / "start.py").read_text("utf-8")
    yield "bundle.json", json.dumps(facts)
    yield f"{_OWN}/ops/table/left_out.txt", "\n".join(facts["operators_left_out"])
    folders = set()
    for module in kept:
        path = file_of(module)
        assert path is not None
        inside = "/".join(module.split("."))
        if path.name == "__init__.py":
            inside += "/__init__"
            folders.add((inside.rpartition("/")[0], path.parent))
        yield f"{inside}.py", without_dropped(module, path, kept)
    for inside, folder in folders:  # tables and grammars that lie beside the code
        for path in folder.iterdir():
            if path.suffix in (".txt", ".lark", ".json") and path.is_file():
                yield f"{inside}/{path.name}", path.read_bytes()
    for name in _BROUGHT:
        yield from _brought(name)


def _brought(name: str) -> Iterator[tuple[str, bytes]]:
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        raise BundleError(f"{name} is not installed")
    origin = Path(spec.origin)
    if origin.name != "__init__.py":
        yield origin.name, origin.read_bytes()
        return
    for path in origin.parent.rglob("*"):
        if path.suffix in (".py", ".lark") and "__pyinstaller" not in path.parts:
            yield f"{name}/{path.relative_to(origin.parent).as_posix()}", path.read_bytes()


# ---------------------------------------------------------------------- the trial


def _try(bundle: Path, runs: Sequence[Sequence[str]], needs: Needs) -> float:
    """Run each archive in the bundle; gives the seconds that the first one takes."""
    with tempfile.TemporaryDirectory() as home:
        for words, (_, expected) in zip(runs, needs["results"], strict=True):
            done = _bundled(bundle, home, words)
            if done.returncode or done.stdout != expected:
                said = _last(done.stderr) or "it gives something else"
                raise BundleError(f"{words[0]} does not run in its bundle: {said}")
        return _processor_time(lambda: _bundled(bundle, home, runs[0]))


def _bundled(bundle: Path, home: str, words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "RUSHLIGHT_CACHE": home}
    # the bundle may not see the library that makes it, if that is no installed one
    environment.pop("PYTHONPATH", None)
    return subprocess.run(
        [sys.executable, str(bundle), "run", *words],
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        env=environment,
    )


def _timed(command: Sequence[str]) -> float:
    environment = _environment()
    return _processor_time(
        lambda: subprocess.run(command, capture_output=True, timeout=_SECONDS, env=environment)
    )


def _environment() -> dict[str, str]:
    """That of a process in which this library is found, installed or not."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(_ROOT.parent), *sys.path[1:]])}


def _processor_time(run: Callable[[], object]) -> float:
    """The processor time of a process that is waited for: others do not disturb it."""
    before = os.times()
    run()
    after = os.times()
    used = after.children_user + after.children_system
    return used - before.children_user - before.children_system


def _last(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1] if lines else ""
