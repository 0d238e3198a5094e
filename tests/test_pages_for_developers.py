"""What the pages for developers name, exists: files, folders, names, and rooms in their order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from .test_layers import FLOORS, ROOMS, ROOT

PAGES = ("docs/architecture.md", "docs/adding.md", "CONTRIBUTING.md")
FOLDERS = (*FLOORS, "tests", "tools", "docs", "benchmarks", "examples", "editors")


@cache
def files() -> frozenset[str]:
    """All files, by their paths and by the ends of these; those of links count once."""
    found = {path.name for path in ROOT.iterdir() if path.is_file()}
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*"):
            parts = path.relative_to(ROOT).parts
            if path.is_file() and "__pycache__" not in parts:
                found.update("/".join(parts[at:]) for at in range(len(parts)))
    return frozenset(found)


@cache
def folders() -> frozenset[str]:
    return frozenset(
        "/".join(parts[:end])
        for parts in (f.split("/") for f in files())
        for end in range(len(parts))
    )


@cache
def words() -> frozenset[str]:
    """The words of the product and of its tools."""
    found: set[str] = set()
    for folder in (*FLOORS, "tools"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".py", ".js", ".lark", ".native"):
                found.update(re.findall(r"\w+", path.read_text(encoding="utf-8")))
    return frozenset(found)


def named(page: str) -> Iterator[str]:
    """What stands between backticks in a page's prose."""
    text = (ROOT / page).read_text(encoding="utf-8")
    yield from re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))


def is_missing(span: str) -> bool:
    if re.fullmatch(r"[\w./*-]+\.(py|pyi|js|md|toml|yml|native|txt|html|css)", span):
        pattern = re.escape(span).replace(r"\*", "[^/]*").replace("NAME", "[^/]*")
        return span not in files() and not any(re.fullmatch(pattern, file) for file in files())
    if re.fullmatch(r"[\w/]+/", span):
        return span.rstrip("/") not in folders()
    if re.fullmatch(r"[A-Za-z_][\w.]*(\(.*\))?", span):
        return not words().issuperset(re.findall(r"[A-Za-z_]\w*", span.partition("(")[0]))
    return False


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_names_exists(page: str) -> None:
    assert not {span for span in named(page) if is_missing(span)}


def test_what_does_not_exist_is_noticed() -> None:
    wrong = [
        "ir/graph_of_nothing.py",
        "ir/lower_*_of_nothing.py",
        "ops/nothing/",
        "TABLE.names_of_x",
    ]
    assert all(map(is_missing, wrong))
    assert not any(map(is_missing, ["ir/lowering/lower_*.py", "ops/table/", "TABLE.said", "a + b"]))


def test_rooms_stand_in_the_page_as_they_are_ordered() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    block = text.partition("Rooms, the lower first:")[2].partition("\nTwo knots")[0]
    lines = re.sub(r"\n {10,}", " ", re.sub(r"\(.*?\)", "", block)).strip().splitlines()
    told = {line.split()[0]: re.findall(r"\w+", line)[1:] for line in lines}
    told["kernels/code"] = told["kernels/code"][1:]  # its own name has two words
    short = {name.removeprefix("ops/"): list(rooms) for name, rooms in ROOMS.items()}
    assert told == short


def test_parts_stand_in_the_page_as_they_are_ordered() -> None:
    text = Path(ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert "  <  ".join(FLOORS) in text
