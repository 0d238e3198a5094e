"""A folder of kept files holds what has been used lately, and nothing is lost but time."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from rushlight.ops.kernels import kept_files
from rushlight.ops.kernels.kept_files import keep, make_room, read_kept

DAY = 86400


def _name(number: int, end: str = "o") -> str:
    return f"kernel-{number:032x}.{end}"


def _kept(folder: Path, number: int, days: float, size: int = 100) -> Path:
    """A file that was used some days ago."""
    file = folder / _name(number)
    keep(file, bytes([number % 256]) * size)
    _age(file, days)
    return file


def _age(file: Path, days: float) -> None:
    when = time.time() - days * DAY
    os.utime(file, (when, when), follow_symlinks=False)


def _left(folder: Path) -> list[int]:
    return sorted(int(each.name[7:39], 16) for each in folder.glob("kernel-*"))


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_files, "MOST_FILES", 8)


@pytest.mark.usefixtures("few")
def test_files_not_used_for_longest_go_where_there_are_too_many(tmp_path: Path) -> None:
    for number in range(8):
        _kept(tmp_path, number, days=number + 2)
    make_room(tmp_path)
    assert _left(tmp_path) == [*range(8)]
    _kept(tmp_path, 8, days=0)
    make_room(tmp_path)
    assert _left(tmp_path) == [0, 1, 2, 3, 4, 8]


def test_so_do_they_where_they_are_too_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_files, "MOST_BYTES", 16 * 4096)
    for number in range(6):
        _kept(tmp_path, number, days=number + 2, size=3 * 4096 - 50)
    make_room(tmp_path)
    assert _left(tmp_path) == [0, 1, 2, 3]


@pytest.mark.usefixtures("few")
def test_reading_a_file_is_using_it(tmp_path: Path) -> None:
    for number in range(9):
        _kept(tmp_path, number, days=number + 2)
    assert read_kept(tmp_path / _name(8)) == b"\x08" * 100
    make_room(tmp_path)
    assert _left(tmp_path) == [0, 1, 2, 3, 4, 8]


def test_use_is_noted_once_a_day(tmp_path: Path) -> None:
    file = _kept(tmp_path, 1, days=0.5)
    before = file.stat().st_mtime
    read_kept(file)
    assert file.stat().st_mtime == before
    _age(file, 2)
    read_kept(file)
    assert file.stat().st_mtime > before


@pytest.mark.usefixtures("few")
def test_two_names_of_a_file_go_together(tmp_path: Path) -> None:
    for number in range(5):
        _kept(tmp_path, number, days=number + 2)
        os.link(tmp_path / _name(number), tmp_path / _name(number + 100))
    make_room(tmp_path)
    assert _left(tmp_path) == [0, 1, 2, 100, 101, 102]


@pytest.mark.usefixtures("few")
def test_what_is_not_ours_is_left_alone(tmp_path: Path) -> None:
    others = [tmp_path / name for name in ("notes.txt", "kernel.o", "a-12.o", ".profile", ".x.new")]
    for each in others:
        each.write_text("of the user")
        _age(each, 1000)
    (tmp_path / _name(200)).mkdir()
    (tmp_path / _name(201)).symlink_to(others[0])
    _age(tmp_path / _name(201), 1000)
    for number in range(9):
        _kept(tmp_path, number, days=number + 2)
    make_room(tmp_path)
    assert _left(tmp_path) == [*range(6), 200, 201]
    assert {each.read_text() for each in others} == {"of the user"}


def test_what_nobody_will_finish_goes(tmp_path: Path) -> None:
    begun, left = tmp_path / ".abcd1234.new", tmp_path / ".abcd_234.new"
    for each in (begun, left):
        each.write_bytes(b"half")
    _age(left, 1)
    make_room(tmp_path)
    assert [*tmp_path.iterdir()] == [begun]


@pytest.mark.usefixtures("few")
def test_somebody_looks_when_files_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_files, "_LOOKED_FOR", 1)
    for number in range(30):
        keep(tmp_path / _name(number), b"code")
    assert len(_left(tmp_path)) <= 8
    monkeypatch.setattr(kept_files, "_LOOKED_FOR", 1 << 40)
    for number in range(30):
        keep(tmp_path / _name(number), b"code")
    assert len(_left(tmp_path)) == 30


@pytest.mark.usefixtures("few")
def test_files_that_others_take_away_meanwhile_are_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(9):
        _kept(tmp_path, number, days=number + 2)
    unlink: Callable[[str], None] = os.unlink

    def raced(path: str) -> None:
        unlink(path)
        unlink(path)

    monkeypatch.setattr(os, "unlink", raced)
    make_room(tmp_path)
    assert _left(tmp_path) == [*range(6)]
    make_room(tmp_path / "nowhere")


@pytest.mark.usefixtures("few")
def test_who_reads_while_others_make_room_has_all_or_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_files, "_LOOKED_FOR", 1)
    wrong = list[object]()

    def work(first: int) -> None:
        for number in range(first, first + 60):
            keep(tmp_path / _name(number), b"%d" % number)
            for other in range(max(0, number - 5), number + 1):
                found = read_kept(tmp_path / _name(other))
                if found not in (None, b"%d" % other):
                    wrong.append(found)

    threads = [threading.Thread(target=work, args=(30 * each,)) for each in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    make_room(tmp_path)
    assert len(_left(tmp_path)) <= 8
