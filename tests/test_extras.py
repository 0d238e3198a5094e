"""Packages of extras: named where users look, imported late, and told of when they are absent."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

import pytest

import rushlight as torch
from rushlight.__main__ import main

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS: dict[str, list[str]] = {
    name: packages
    for name, packages in PROJECT["optional-dependencies"].items()
    if name not in ("dev", "test")
}
PARTS = "grammar frontend typecheck ops ir interpreter serialization rushlight".split()
WHOLE_FILES = {"rushlight/lsp/server.py"}
"""Files that are loaded when their extra is wanted, and import it at their top."""


def imported_names(extra: str) -> set[str]:
    """What the packages of an extra are called when they are imported."""
    names = {re.split(r"[><=;\[ ]", each)[0].replace("-", "_") for each in EXTRAS[extra]}
    return names | {"lsp": {"lsprotocol"}, "mpi": {"mpi4py.MPI"}}.get(extra, set())


def at_the_top(tree: ast.Module) -> Iterator[str]:
    """The packages that a file imports when it is loaded itself."""
    waiting: list[ast.AST] = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield (node.module or "").partition(".")[0]
        elif isinstance(node, ast.ClassDef | ast.Try | ast.With):
            waiting += node.body


def test_packages_of_extras_are_imported_late() -> None:
    late = set[str]().union(*map(imported_names, EXTRAS))
    named = re.compile("|".join(late))
    for part in PARTS:
        for file in (ROOT / part).rglob("*.py"):
            name, text = file.relative_to(ROOT).as_posix(), file.read_text("utf-8")
            if name not in WHOLE_FILES and named.search(text):
                assert not late & set(at_the_top(ast.parse(text))), name


@pytest.mark.parametrize("extra", sorted(EXTRAS))
def test_extras_are_documented(extra: str) -> None:
    assert f"(extra `{extra}`)" in (ROOT / "docs" / "dependencies.md").read_text("utf-8")
    assert f"rushlight[{extra}]" in (ROOT / "docs" / "manual" / "install.md").read_text("utf-8")


def _exported(folder: Path) -> None:
    torch.onnx.export(torch.nn.ReLU(), (torch.ones(1),), str(folder / "m.onnx"))


def _delegated(folder: Path) -> None:
    import_module("rushlight.backends.onnxruntime").delegate(torch.nn.ReLU().eval())


def _of_several(folder: Path) -> None:
    mpi = import_module("rushlight.distributed.mpi")._mpi
    mpi.cache_clear()
    mpi()


@pytest.mark.parametrize(
    ("extra", "use"), [("onnx", _exported), ("onnxruntime", _delegated), ("mpi", _of_several)]
)
def test_absent_packages_are_told_of(
    extra: str, use: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in imported_names(extra):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises((RuntimeError, ImportError), match=rf"rushlight\[{extra}\]"):
        use(tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("extra", "words"), [("lsp", ["lsp"]), ("dask", ["map", "m.pt", "x.npy", "out"])]
)
def test_commands_tell_of_absent_packages(
    extra: str,
    words: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    torch.jit.script(torch.nn.ReLU()).save("m.pt")
    for name in imported_names(extra):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "rushlight.lsp.server", raising=False)
    assert main(words) == 2
    assert f"rushlight[{extra}]" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["m.pt"]
