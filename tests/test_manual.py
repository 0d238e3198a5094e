"""The manual: its examples do what they say, its generated pages and tables are up to date.

On a page, blocks of Python run one after the other in one namespace; a block of text that follows
is what is printed, or the diagnostics of the error that is raised; a `pycon` block has both.  A
block with a title is a file.  In a `console` block lines after `$` are commands; those of a `sh`
block are read by the parser of the command line.  `...` stands for any text.  Blocks behind
`<!-- needs x -->` run where the package x is installed.
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
from importlib.util import find_spec
from pathlib import Path

import pytest

import rushlight
from rushlight import as_torch as stand_in
from rushlight.__main__ import main
from rushlight.cli.alias import torch_is_rushlight
from rushlight.cli.parser import all_parsers, parse
from rushlight.distributed.run import parse_args
from rushlight.frontend.diagnostics.render import render_rich

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "manual"
GENERATED = ("commands.md", "json.md", "errors.md", "operators.md", "coverage.md")
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md")),
    *(p for p in sorted((ROOT / "docs").glob("*.md")) if p.name not in GENERATED),
    *(p for p in sorted(FOLDER.glob("*.md")) if p.name not in GENERATED),
]
"""All but those of the language, which have tests of their own."""
APART = ("adding", "custom-operators", "many-machines", "packages")
"""Pages whose examples leave something behind in the process: each gets one of its own."""
_BLOCK = re.compile(
    r"(?:^<!-- needs (\w+) -->\n)?^```(\w*)(?: title=\"([^\"]+)\")?\n(.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """A block of a page: the package that it needs, if any, its language, its file if it is one,
    its text, and its line."""

    needs: str
    kind: str
    file: str
    text: str
    line: int

    @property
    def runs(self) -> bool:
        return not self.needs or find_spec(self.needs) is not None


def blocks(page: str) -> list[Block]:
    return [
        Block(m[1] or "", m[2], m[3] or "", m[4], page[: m.start(4)].count("\n"))
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
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            try:
                self.run(text, "exec")
            except Exception as error:
                printed.write(told(error))
        return printed.getvalue()

    def run(self, text: str, mode: str) -> None:
        """Run a text as a file of its own."""
        self.count += 1
        file = f"example_{self.count}.py"
        linecache.cache[file] = (len(text), None, text.splitlines(True), file)
        self.module.__file__ = file
        exec(compile(text, file, mode, dont_inherit=True), self.module.__dict__)

    def session(self, text: str) -> str:
        """The block of an interactive session, with what is really printed."""
        written = []
        for example in doctest.DocTestParser().get_examples(text):
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                self.run(example.source, "single")
            first, *others = example.source.splitlines()
            written += [f">>> {first}", *(f"... {line}" for line in others)]
            written += (line or "<BLANKLINE>" for line in printed.getvalue().splitlines())
        return "\n".join(written)


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
        elif words[:2] == ["-m", "rushlight.as_torch"]:
            with rushlight.as_torch():
                stand_in._run(words[2:])
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
    found = blocks(page.read_text(encoding="utf-8"))
    for block in found:
        if not block.runs:
            before = None
        elif block.file:
            Path(block.file).write_text(block.text, encoding="utf-8")
            before = None
        elif block.kind == "python":
            if before:
                yield block, "", before
            before = state.python(block.text)
        elif block.kind == "text" and before is not None:
            yield block, block.text, before
            before = None
        elif block.kind == "pycon":
            yield block, block.text, state.session(block.text)
        elif block.kind == "console":
            yield block, block.text, session(block.text)
        elif block.kind == "sh":
            for line in block.text.splitlines():
                read(re.split(r" [|>&]+ |;", line)[0])
    if before:
        yield found[-1], "", before


def read(line: str) -> None:
    """A command of a page, as the parser of the command line or of the starter reads it."""
    words = shlex.split(line, comments=True)
    if words[:1] == ["rushlight"]:
        parse(words[1:])
    elif words[:3] == ["python", "-m", "rushlight.distributed.run"]:
        parse_args(words[3:])


def session(text: str) -> str:
    """The commands of a block with what they print."""
    lines = [line[2:] for line in text.splitlines() if line.startswith("$ ")]
    return "".join(f"$ {line}\n{command(line)}" for line in lines)


def even(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines()) + "\n"


def check(page: Path) -> None:
    checker = doctest.OutputChecker()
    for block, said, printed in results(page):
        same = checker.check_output(even(said), even(printed), doctest.ELLIPSIS)
        assert same, f"{page.name}:{block.line} prints\n{printed}"


def test_there_are_pages() -> None:
    assert len(PAGES) >= 30


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_block_says_what_it_is(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert [block.line for block in blocks(text) if not block.kind] == []
    before = None
    for block in blocks(text):
        assert block.kind != "text" or before in ("python", "text"), block.line
        before = block.kind
    others = _BLOCK.sub("", text)
    assert re.findall(r"\n\n    (?:python|pip|rushlight|>>>|import) .*", others) == []


def test_commands_within_sentences_exist() -> None:
    """With their options."""
    parsers = all_parsers()
    for page in PAGES:
        for line in re.findall(r"`rushlight ([a-z][^`\n]*)`", page.read_text(encoding="utf-8")):
            command, *words = line.split()
            options = {word.partition("=")[0] for word in words if word.startswith("-")}
            assert options <= parsers[command]._option_string_actions.keys(), (page.name, line)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_examples(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    if page.stem in APART:
        words = [sys.executable, str(Path(__file__)), str(page)]
        parts = {**os.environ, "PYTHONPATH": os.pathsep.join(["", str(ROOT), *sys.path])}
        done = subprocess.run(words, capture_output=True, text=True, env=parts)
        assert done.returncode == 0, done.stderr
        return
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    try:
        check(page)
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


if __name__ == "__main__":
    check(Path(sys.argv[1]))
