"""The floors: a part imports only the parts below it, and files import without cycles."""

from __future__ import annotations

import ast
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


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def imports(file: Path, *, at_run_time: bool = False) -> set[tuple[str, ...]]:
    """The dotted names a file imports; only those executed on import if `at_run_time`."""
    package = module_name(file) if file.name == "__init__.py" else module_name(file)[:-1]
    found: set[tuple[str, ...]] = set()
    pending: list[ast.AST] = [ast.parse(file.read_text(encoding="utf-8"))]
    while pending:
        node = pending.pop()
        inner = isinstance(node, ast.FunctionDef | ast.Lambda) or is_type_checking(node)
        if at_run_time and inner:
            continue
        pending.extend(ast.iter_child_nodes(node))
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            name = (*base, *(node.module.split(".") if node.module else ()))
            found |= {(*name, alias.name) for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {tuple(alias.name.split(".")) for alias in node.names}
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
        tensors eager gradients
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


def test_files_import_without_cycles() -> None:
    modules = {module_name(file): file for file in FILES}
    edges: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
    for name, file in modules.items():
        wanted = imports(file, at_run_time=True)
        targets = {w if w in modules else w[:-1] for w in wanted}
        edges[name] = {t for t in targets if t in modules and t != name}
    done: set[tuple[str, ...]] = set()

    def visit(name: tuple[str, ...], path: tuple[tuple[str, ...], ...]) -> None:
        cycle = " -> ".join(".".join(n) for n in (*path, name))
        assert name not in path, f"import cycle: {cycle}"
        if name not in done:
            for target in sorted(edges[name]):
                visit(target, (*path, name))
            done.add(name)

    for name in sorted(edges):
        visit(name, ())


@pytest.mark.parametrize("file", FILES, ids=lambda f: str(f.relative_to(ROOT)))
def test_files_stay_small(file: Path) -> None:
    assert len(file.read_text(encoding="utf-8").splitlines()) <= 600
