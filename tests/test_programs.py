"""Whole programs, three ways (eager, scripted, saved and loaded), and against what torch makes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import rushlight
from tools import programs

FOLDER = Path(__file__).parent / "programs"
RECORDED = FOLDER / "recorded"


@pytest.fixture(autouse=True)
def _stay_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sources are found under their bare names."""
    monkeypatch.chdir(FOLDER)


def _all() -> list[programs.Program]:
    here = Path.cwd()
    try:
        return list(programs.load(FOLDER))
    finally:
        import os

        os.chdir(here)


PROGRAMS = {program.name: program for program in _all()}


def record(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((RECORDED / f"{name}.json").read_text(encoding="utf-8"))
    return found


def unmangled(text: str) -> str:
    """The numbers of mangled names mean nothing."""
    return re.sub(r"___torch_mangle_\d+\.", "", text)


def calls(target: Any, program: programs.Program) -> list[dict[str, Any]]:
    return [programs.call(target, arguments) for arguments in program.inputs()]


def results(found: list[dict[str, Any]]) -> list[Any]:
    return [one.get("out", one.get("last")) for one in found]


@pytest.mark.parametrize("name", PROGRAMS)
def test_code_is_torchs(name: str) -> None:
    scripted = PROGRAMS[name].make()[1]
    assert unmangled(scripted.code) == unmangled(record(name)["code"])


@pytest.mark.parametrize("which", ["graph", "inlined_graph"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_graph_is_torchs_up_to_numbering(name: str, which: str) -> None:
    scripted = PROGRAMS[name].make()[1]
    wanted = programs.normalized(unmangled(record(name)[which]))
    assert programs.normalized(unmangled(str(getattr(scripted, which)))) == wanted


@pytest.mark.parametrize("name", PROGRAMS)
def test_graph_text_parses_back(name: str) -> None:
    text = str(PROGRAMS[name].make()[1].graph)
    assert str(rushlight.parse_ir(text)) == text
    torchs = record(name)["graph"]
    assert str(rushlight.parse_ir(torchs)) == torchs


@pytest.mark.parametrize("name", PROGRAMS)
def test_eager_scripted_and_recorded_results_agree(name: str) -> None:
    program = PROGRAMS[name]
    eager, scripted = program.make()
    found = calls(scripted, program)
    assert programs.same(record(name)["calls"], found)
    if eager is not None:
        assert programs.same(results(calls(eager, program)), results(found))


@pytest.mark.parametrize("name", PROGRAMS)
def test_saved_and_loaded_results_agree(name: str, tmp_path: Path) -> None:
    program = PROGRAMS[name]
    file = tmp_path / f"{name}.pt"
    program.make()[1].save(str(file))
    loaded = rushlight.jit.load(str(file))
    assert programs.same(record(name)["calls"], calls(loaded, program))
    again = tmp_path / "again" / f"{name}.pt"
    again.parent.mkdir()
    loaded.save(str(again))
    rushlight.jit.load(str(again)).save(str(file))
    assert file.read_bytes() == again.read_bytes()


@pytest.mark.parametrize("name", PROGRAMS)
def test_torchs_archive_gives_torchs_results(name: str) -> None:
    program = PROGRAMS[name]
    loaded = rushlight.jit.load(str(RECORDED / f"{name}.pt"))
    assert programs.same(record(name)["calls"], calls(loaded, program))
