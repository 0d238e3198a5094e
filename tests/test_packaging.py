"""What the distribution promises: the parts, what importing costs, no accidental names."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PARTS = {"grammar", "frontend", "typecheck", "ops", "ir", "interpreter", "serialization"}


def run(code: str) -> str:
    """What a fresh interpreter, started in the checkout, prints."""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, text=True, capture_output=True, check=True
    )
    return done.stdout.strip()


def test_every_part_is_mapped_into_the_wheel() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert set(wheel["only-include"]) == {"rushlight", *PARTS}
    assert wheel["sources"] == {part: f"rushlight/{part}" for part in PARTS}


def test_importing_leaves_heavy_libraries_alone() -> None:
    names = "numba llvmlite lark ml_dtypes torch"
    code = f"import rushlight, sys; print([n for n in '{names}'.split() if n in sys.modules])"
    assert run(code) == "[]"


def test_archives_are_read_without_the_pickle_module() -> None:
    for file in (ROOT / "serialization").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [node.module or ""]
            assert not {"pickle", "_pickle", "marshal", "shelve"} & set(names), file


def test_no_part_is_imported_under_a_bare_name() -> None:
    code = f"import rushlight, rushlight.jit, sys; print({PARTS!r} & set(sys.modules))"
    assert run(code) == "set()"


def test_the_package_is_typed() -> None:
    assert (ROOT / "rushlight" / "py.typed").is_file()
