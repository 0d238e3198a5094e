"""What the distribution promises: the parts, what importing costs, no accidental names; and that a
checkout needs no step before it works: links or a path lead from the package to its parts."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

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


def test_layers_are_imported_without_compiler_and_other_processes() -> None:
    names = "rushlight.jit rushlight.interpreter rushlight.distributed rushlight.sparse"
    code = (
        "import rushlight.nn, rushlight.optim, rushlight.utils.data, sys; "
        f"print([n for n in '{names}'.split() if n in sys.modules])"
    )
    assert run(code) == "[]"


def test_quantizable_layers_may_be_imported_before_quantization() -> None:
    assert run("import rushlight.ao.nn.quantizable as q; print(q.LSTM.__name__)") == "LSTM"


def test_archives_are_read_without_the_pickle_module() -> None:
    for file in (ROOT / "serialization").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [node.module or ""]
                if [each.name for each in node.names] == ["UnpicklingError"]:
                    continue  # a class of errors, which reads nothing
            assert not {"pickle", "_pickle", "marshal", "shelve"} & set(names), file


def test_no_part_is_imported_under_a_bare_name() -> None:
    code = f"import rushlight, rushlight.jit, sys; print({PARTS!r} & set(sys.modules))"
    assert run(code) == "set()"


def test_the_package_is_typed() -> None:
    assert (ROOT / "rushlight" / "py.typed").is_file()


PROGRAM = """
import os, sys
import rushlight as torch
torch.jit.script(torch.nn.Linear(2, 2))(torch.ones(1, 2))
files = {m.__file__ for n, m in list(sys.modules.items())
         if n.partition(".")[0] == "rushlight" and getattr(m, "__file__", None)}
assert len({os.path.realpath(f) for f in files}) == len(files), "a file under two paths"
print(os.path.relpath(sys.modules["rushlight.ir.graphs.graph"].__file__))
"""


def copied(target: Path, *, links: bool) -> Path:
    """The package in another place, with a hyphen in its name, its files linked one by one."""
    checkout = target / "rush-light"
    (checkout / "rushlight").mkdir(parents=True)
    for part in PARTS:
        (checkout / part).symlink_to(ROOT / part)
        if links:
            (checkout / "rushlight" / part).symlink_to(Path("..", part))
    for entry in (ROOT / "rushlight").iterdir():
        if entry.name not in {*PARTS, "__pycache__"}:
            (checkout / "rushlight" / entry.name).symlink_to(entry)
    return checkout


def test_each_part_has_its_link() -> None:
    if not (ROOT / "rushlight" / "ir").exists():
        pytest.skip("this checkout came without links")
    for part in PARTS:
        assert Path("..", part) == (ROOT / "rushlight" / part).readlink()


@pytest.mark.parametrize(
    ("links", "graph"), [(True, "rushlight/ir/graphs/graph.py"), (False, "ir/graphs/graph.py")]
)
def test_a_checkout_runs_with_links_and_without(tmp_path: Path, links: bool, graph: str) -> None:
    where = copied(tmp_path, links=links)
    env = {**os.environ, "PYTHONPATH": str(where), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=where, env=env, text=True, capture_output=True
    )
    assert (done.stdout.strip(), done.stderr) == (graph.replace("/", os.sep), "")
