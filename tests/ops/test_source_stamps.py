"""What tells versions of this library apart: kept by times, the same as if it were not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rushlight.ops.kernels import source_stamps
from rushlight.ops.kernels.source_stamps import digest_of_contents, digest_of_times

LONG_AGO = 1_000_000_000


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    folder.mkdir()
    monkeypatch.setattr(source_stamps, "cache_folder", lambda: folder)
    return folder


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    folder = tmp_path / "sources"
    (folder / "inner").mkdir(parents=True)
    for name in ("a.py", "inner/b.native"):
        _write(folder / name, "text")
    return folder


def _write(file: Path, text: str, when: int = LONG_AGO) -> None:
    file.write_text(text)
    os.utime(file, (when, when))


def test_a_digest_that_is_kept_is_that_of_what_files_hold(cache: Path, sources: Path) -> None:
    first = digest_of_contents(sources)
    (kept,) = cache.iterdir()
    assert digest_of_contents(sources) == first
    kept.write_bytes(kept.read_bytes()[:-1])
    assert digest_of_contents(sources) == first
    assert kept.stat().st_size == 64


def test_files_are_read_once_as_long_as_they_are_as_they_were(cache: Path, sources: Path) -> None:
    first = digest_of_contents(sources)
    _write(sources / "a.py", "next")  # of the same size and time: nobody looks inside
    assert digest_of_contents(sources) == first
    _write(sources / "a.py", "next", LONG_AGO + 1)
    assert digest_of_contents(sources) != first
    _write(sources / "a.py", "text", LONG_AGO + 2)
    assert digest_of_contents(sources) == first  # whenever it was written


def test_what_has_just_been_written_may_change_once_more(cache: Path, sources: Path) -> None:
    (sources / "a.py").write_text("now")
    os.utime(sources / "a.py", (4 * LONG_AGO, 4 * LONG_AGO))
    digest_of_contents(sources)
    assert not list(cache.iterdir())


def test_names_count_and_byte_code_does_not(cache: Path, sources: Path) -> None:
    contents, times = digest_of_contents(sources), digest_of_times([sources])
    (sources / "__pycache__").mkdir()
    _write(sources / "__pycache__" / "a.pyc", "code")
    (sources / ".#a.py").symlink_to("nowhere")
    assert digest_of_contents(sources) == contents
    assert digest_of_times([sources]) == times
    os.rename(sources / "a.py", sources / "c.py")
    assert digest_of_contents(sources) != contents
    assert digest_of_times([sources]) != times


def test_without_a_folder_all_is_read(sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_stamps, "cache_folder", lambda: None)
    first = digest_of_contents(sources)
    _write(sources / "a.py", "next")
    assert digest_of_contents(sources) != first
