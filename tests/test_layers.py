"""The floors: a part imports only the parts below it, and files import without cycles."""

from __future__ import annotations

import ast
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FLOORS = [
    "grammar",
    "frontend",
    "typecheck",
    "ops",
    "ir",
    "interpreter",
    "serialization",
    "rushlight",
]


def module_name(file: Path) -> tuple[str, ...]:
    """The installed name: ir/graph.py is ("rushlight", "ir", "graph")."""
    inside = file.relative_to(ROOT).with_suffix("").parts
    name = inside if inside[0] == "rushlight" else ("rushlight", *inside)
    return name[:-1] if name[-1] == "__init__" else name


@cache
def imports(file: Path, *, by_text: bool = False) -> set[tuple[str, ...]]:
    """The dotted names a file imports anywhere, in functions and for types alone too; also those
    that `import_module` is asked for, if `by_text`."""
    package = module_name(file) if file.name == "__init__.py" else module_name(file)[:-1]
    found: set[tuple[str, ...]] = set()

    def add(level: int, *names: str) -> None:
        base = package[: len(package) - level + 1] if level else ()
        found.add((*base, *(part for name in names for part in name.split(".") if part)))

    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                add(node.level, node.module or "", alias.name)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                add(0, alias.name)
        elif by_text and isinstance(node, ast.Call) and ast.unparse(node.func) == "import_module":
            text = node.args[0]
            if isinstance(text, ast.Constant) and isinstance(text.value, str):
                add(len(text.value) - len(text.value.lstrip(".")), text.value)
    return found


def part_of(name: tuple[str, ...]) -> str | None:
    """The part that an imported name belongs to; None for another library's."""
    if name[0] != "rushlight":
        return None
    return name[1] if len(name) > 1 and name[1] in FLOORS else "rushlight"


ROOMS = {
    "ops": """
        memory table special_functions arithmetic reductions shapes selection linear_algebra
        random_numbers signals layers pooling resizing losses quantized_tensors python_values
        tensors eager meta sparse_tensors nested_tensors batching detection audio gradients
        dispatching
    """.split(),
    "interpreter": "values bounds code plans failures native running".split(),
    "serialization": """
        files printing pickles loading saving legacy weights mobile archives source
    """.split(),
}
"""The rooms of a part, the lower first; kernels are asked for by name."""


FILES = [file for part in FLOORS for file in sorted((ROOT / part).rglob("*.py"))]


@pytest.mark.parametrize("part", FLOORS)
def test_a_part_imports_only_lower_floors(part: str) -> None:
    allowed = {None, *FLOORS[: FLOORS.index(part) + 1]}
    files = sorted((ROOT / part).rglob("*.py"))
    assert files, f"{part} has no files"
    for file in files:
        reached = {name: part_of(name) for name in imports(file)}
        wrong = {".".join(name) for name, target in reached.items() if target not in allowed}
        assert not wrong, f"{file.relative_to(ROOT)} reaches up: {wrong}"


@pytest.mark.parametrize("part", ROOMS)
def test_a_room_imports_only_lower_rooms(part: str) -> None:
    rooms = ROOMS[part]
    folders = {file.name for file in (ROOT / part).iterdir() if (file / "__init__.py").is_file()}
    assert folders - {"kernels"} == set(rooms)
    for position, room in enumerate(rooms):
        above = set(rooms[position + 1 :])
        for file in sorted((ROOT / part / room).rglob("*.py")):
            reached = {n for n in imports(file) if n[:2] == ("rushlight", part) and len(n) > 2}
            wrong = {".".join(name) for name in reached if name[2] in above}
            assert not wrong, f"{file.relative_to(ROOT)} reaches up: {wrong}"


def test_files_import_in_no_circle() -> None:
    """Late imports, and those for types alone, count."""
    modules = {module_name(file): file for file in FILES}
    edges = {}
    for name, file in modules.items():
        reached = {w if w in modules else w[:-1] for w in imports(file, by_text=True)}
        edges[name] = reached & set(modules) - {name}
    TopologicalSorter(edges).prepare()


FOREIGN = {
    # What is derived from the operator table is put into the class of tensors.
    "ops/eager/methods.py": {"Tensor"},
    "ops/eager/namespace.py": {"Generator", "Tensor"},
    # Errors that nobody caught are shown as people read them.
    "frontend/uncaught.py": {"sys"},
    # The commands stand in for Python's own.
    "rushlight/__main__.py": {"warnings"},
    "rushlight/as_torch.py": {"sys"},
    "rushlight/bundling/needs.py": {"builtins", "importlib"},
    "rushlight/cli/checked_file.py": {"sys"},
}
"""Modules and classes of other files whose attributes a file sets.  Let it not grow."""


def owners_of_set_attributes(code: ast.Module) -> set[str]:
    """The imported names (`CONSTANTS` are objects and do not count) of what has attributes set."""
    nodes = list(ast.walk(code))
    imported = {
        alias.asname or alias.name.partition(".")[0]
        for node in nodes
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }
    owners = [
        n.value for n in nodes if isinstance(n, ast.Attribute) and type(n.ctx) is not ast.Load
    ]
    owners += [
        node.args[0]
        for node in nodes
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("setattr", "delattr")
    ]
    names = {owner.id for owner in owners if isinstance(owner, ast.Name)}
    return {name for name in names & imported if not name.isupper()}


def test_attributes_of_other_files_are_set_in_known_places_alone() -> None:
    found = {
        str(file.relative_to(ROOT)): owners_of_set_attributes(ast.parse(file.read_text("utf-8")))
        for file in FILES
    }
    assert {file: owners for file, owners in found.items() if owners} == FOREIGN


@pytest.mark.parametrize("file", FILES, ids=lambda f: str(f.relative_to(ROOT)))
def test_files_stay_small(file: Path) -> None:
    assert len(file.read_text(encoding="utf-8").splitlines()) <= 600
