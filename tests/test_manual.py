"""The manual: its examples do what they say, its generated pages and tables are up to date.

On a page, blocks of Python run one after the other in one namespace; a block of text that follows
is what is printed, or the diagnostics of the error that is raised.  A block with a title is a file.
In a `console` block lines after `$` are commands.  `...` stands for any text.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import linecache
import os
import re
import runpy
import shlex
import subprocess
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import rushlight
from rushlight.__main__ import main
from rushlight.cli.alias import torch_is_rushlight
from rushlight.cli.parser import parse
from rushlight.frontend.render import render_rich

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "manual"
OLDER = [
    ROOT / "docs" / f"{name}.md"
    for name in (
        *("ahead-of-time", "checking", "debugging", "deployment", "editors", "pictures"),
        *("profiling", "quantization", "reading-compiled-code", "security", "tracing"),
    )
]
"""Pages that were there before the manual; others need what is no part of the tests."""
PAGES = [
    *sorted({*FOLDER.glob("*.md")} - {FOLDER / "commands.md", FOLDER / "json.md"}),
    *OLDER,
]
_BLOCK = re.compile(r"^```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A block of a page: its language, its file if it is one, its text, and where it stands."""

    kind: str
    file: str
    text: str
    line: int
    start: int
    end: int


def blocks(page: str) -> list[Block]:
    return [
        Block(m[1], m[2] or "", m[3], page[: m.start()].count("\n") + 1, m.start(3), m.end(3))
        for m in _BLOCK.finditer(page)
    ]


class Page:
    """The state of a page: what its blocks have defined."""

    def __init__(self, name: str) -> None:
        self.module = types.ModuleType(f"manual_{name}")
        sys.modules[self.module.__name__] = self.module
        self.count = 0

    def python(self, text: str) -> str:
        """What a block prints, or the diagnostics of its error."""
        self.count += 1
        file = f"example_{self.count}.py"
        linecache.cache[file] = (len(text), None, text.splitlines(True), file)
        self.module.__file__ = file
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            try:
                exec(compile(text, file, "exec", dont_inherit=True), self.module.__dict__)
            except Exception as error:
                printed.write(told(error))
        return printed.getvalue()


def told(error: Exception) -> str:
    found = getattr(error, "diagnostics", [])
    if found:
        return render_rich(found, width=100, color=False)
    return f"{type(error).__name__}: {error}\n"


def command(line: str) -> str:
    """What a command prints, on both streams."""
    program, *words = shlex.split(line)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        if program == "rushlight":
            with contextlib.suppress(SystemExit):
                main(words)
        elif program == "python":
            try:
                with torch_is_rushlight():
                    runpy.run_path(words[0], run_name="__main__")
            except Exception as error:
                printed.write(told(error))
        else:
            raise AssertionError(f"no such program in the manual: {program}")
    return printed.getvalue()


def results(page: Path) -> Iterator[tuple[Block, str, str]]:
    """The blocks that say what is printed: each with what it says and what was printed."""
    state = Page(page.stem.replace("-", "_"))
    before: str | None = None
    for block in blocks(page.read_text(encoding="utf-8")):
        if block.file:
            Path(block.file).write_text(block.text, encoding="utf-8")
            before = None
        elif block.kind == "python":
            if before:
                yield block, "", before
            before = state.python(block.text)
        elif block.kind == "text" and before is not None:
            yield block, block.text, before
            before = None
        elif block.kind == "console":
            yield block, block.text, session(block.text)
        elif block.kind == "sh":
            for line in re.findall(r"^rushlight (.*)$", block.text, re.MULTILINE):
                parse(shlex.split(re.split(r" [|>] ", line)[0], comments=True))
    if before:
        yield blocks(page.read_text(encoding="utf-8"))[-1], "", before


def session(text: str) -> str:
    """The commands of a block with what they print."""
    lines = [line[2:] for line in text.splitlines() if line.startswith("$ ")]
    return "".join(f"$ {line}\n{command(line)}" for line in lines)


def even(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines()) + "\n"


def test_there_are_pages() -> None:
    assert len(PAGES) >= 10


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_examples(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    checker = doctest.OutputChecker()
    try:
        for block, said, printed in results(page):
            same = checker.check_output(even(said), even(printed), doctest.ELLIPSIS)
            assert same, f"{page.name}:{block.line} prints\n{printed}"
    finally:
        rushlight.debug(False)
        for name, module in list(sys.modules.items()):
            if str(getattr(module, "__file__", None) or "").startswith(str(tmp_path)):
                del sys.modules[name]


@pytest.mark.parametrize("tool", ["make_manual.py", "make_pictures.py"])
def test_what_is_generated_is_up_to_date(tool: str) -> None:
    words = [sys.executable, str(ROOT / "tools" / tool), "--check"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


_OURS = re.compile(r"\"(RUSHLIGHT_[A-Z_]+)\"")


def test_the_table_of_environment_variables_is_whole() -> None:
    table = (FOLDER / "environment.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| `(RUSHLIGHT_\w+)", table, re.MULTILINE))
    used = set()
    for part in ("frontend", "typecheck", "ops", "ir", "interpreter", "serialization", "rushlight"):
        for file in (ROOT / part).rglob("*.py"):
            used.update(_OURS.findall(file.read_text(encoding="utf-8")))
    assert listed == used


def test_every_page_is_in_the_table_of_contents() -> None:
    contents = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for page in (ROOT / "docs").rglob("*.md"):
        assert page.relative_to(ROOT / "docs").as_posix() in contents, page


def test_links_between_pages_lead_somewhere() -> None:
    for page in (ROOT / "docs").rglob("*.md"):
        text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text("utf-8"), flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)#\s:]+)(?:#[\w-]+)?\)", text):
            if not target.startswith("<"):
                assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_site_is_built(tmp_path: Path) -> None:
    pytest.importorskip("material", reason="mkdocs-material is not installed (extra docs)")
    words = [
        "build",
        "--strict",
        "-q",
        "-d",
        str(tmp_path / "site"),
        "-f",
        str(ROOT / "mkdocs.yml"),
    ]
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", *words],
        capture_output=True,
        text=True,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "site" / "manual" / "migrating" / "index.html").is_file()
