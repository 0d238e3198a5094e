"""Programs with mistakes: `str(e)` is torch's text, the note is ours."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path

import pytest

import rushlight
from rushlight.frontend.diagnostics.render import render_concise
from tools.programs import run_file

FOLDER = Path(__file__).parent / "errors"
NAMES = sorted(path.stem for path in FOLDER.glob("*.py"))


@pytest.fixture(autouse=True)
def _stay_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sources are found, and named in messages, under their bare names."""
    monkeypatch.chdir(FOLDER)
    monkeypatch.delenv("RUSHLIGHT_DIAGNOSTICS", raising=False)
    monkeypatch.delenv("RUSHLIGHT_TRACEBACK", raising=False)


def failure(name: str) -> Exception:
    """The exception of a program's `run()`."""
    module = run_file(Path(f"{name}.py"))
    with pytest.raises(Exception) as caught:  # noqa: PT011 - which one is what is tested
        module.run()
    return caught.value


@pytest.mark.parametrize("name", NAMES)
def test_class_and_text_are_torchs(name: str) -> None:
    error = failure(name)
    wanted = (FOLDER / f"{name}.torch.txt").read_text(encoding="utf-8")
    kind, _, text = wanted.partition("\n")
    bases = [cls.__name__ for cls in type(error).__mro__]
    assert kind in bases
    assert str(error).rstrip() == text.rstrip()


@pytest.mark.parametrize("name", NAMES)
def test_the_note_shows_all(name: str, golden: Callable[[Path, str], None]) -> None:
    (note,) = failure(name).__notes__
    golden(FOLDER / f"{name}.rushlight.txt", note.strip("\n") + "\n")


@pytest.mark.parametrize("name", NAMES)
def test_no_frame_of_rushlight_shows(name: str) -> None:
    error = failure(name)
    files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    own = Path(rushlight.__file__).parent
    assert not [file for file in files if Path(file).is_relative_to(own)]
    assert files[-1] == f"{name}.py"


def test_several_mistakes_come_together() -> None:
    diagnostics = failure("several").diagnostics  # type: ignore[attr-defined]
    assert {d.code for d in diagnostics} == {
        "undefined-name",
        "missing-attribute",
        "argument-type",
        "return-type",
    }
    lines = render_concise(diagnostics).splitlines()
    places = [tuple(map(int, line.split(":")[1:3])) for line in lines[: len(diagnostics)]]
    assert places == sorted(places)
