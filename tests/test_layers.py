"""The floors: a part imports only the parts below it, and files import without cycles."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import NamedTuple

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
    """The installed name: ir/graphs/graph.py is ("rushlight", "ir", "graphs", "graph")."""
    inside = file.relative_to(ROOT).with_suffix("").parts
    name = inside if inside[0] == "rushlight" else ("rushlight", *inside)
    return name[:-1] if name[-1] == "__init__" else name


class Facts(NamedTuple):
    """What a file says that is asked about here; its tree is not kept."""

    imports: set[tuple[str, ...]]
    """The dotted names that it imports anywhere, in functions and for types alone too."""

    loads: set[tuple[str, ...]]
    """Those that `import_module` is asked for."""

    sets: set[str]
    """The imported names (`CONSTANTS` are objects and do not count) of what has attributes set."""

    lengths: dict[str, int]
    """How many lines the bodies of functions and methods have, signatures and docstrings aside."""


def statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """All statements, without a look at what they compute."""
    for statement in body:
        yield statement
        for field in ("body", "orelse", "finalbody"):
            yield from statements(getattr(statement, field, []))
        for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
            yield from statements(part.body)


def targets(statement: ast.stmt) -> list[ast.expr]:
    """What a statement binds, changes or deletes."""
    match statement:
        case ast.Assign(targets=several) | ast.Delete(targets=several):
            return several
        case ast.AugAssign(target=one) | ast.AnnAssign(target=one) | ast.For(target=one):
            return [one]
        case ast.With(items=items):
            return [item.optional_vars for item in items if item.optional_vars]
    return []


def called(tree: ast.Module, *functions: str) -> list[ast.expr]:
    """The first operands of calls of some functions."""
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    return [
        call.args[0]
        for call in calls
        if isinstance(call.func, ast.Name) and call.func.id in functions
    ]


def lengths(body: list[ast.stmt], owner: str = "") -> Iterator[tuple[str, int]]:
    for statement in body:
        if isinstance(statement, ast.ClassDef):
            yield from lengths(statement.body, f"{owner}{statement.name}.")
        elif isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            inside = statement.body[ast.get_docstring(statement, clean=False) is not None :]
            if inside:
                lines = (inside[-1].end_lineno or 0) - inside[0].lineno + 1
                yield f"{owner}{statement.name}", lines


@cache
def facts(file: Path) -> Facts:
    text = file.read_text(encoding="utf-8")
    tree = ast.parse(text)
    package = module_name(file) if file.name == "__init__.py" else module_name(file)[:-1]

    def named(level: int, *names: str) -> tuple[str, ...]:
        base = package[: len(package) - level + 1] if level else ()
        return (*base, *(part for name in names for part in name.split(".") if part))

    found = Facts(set(), set(), set(), dict(lengths(tree.body)))
    bound = set()
    owners = called(tree, "setattr", "delattr") if "setattr(" in text or "delattr(" in text else []
    for statement in statements(tree.body):
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            level, module = getattr(statement, "level", 0), getattr(statement, "module", None)
            for alias in statement.names:
                found.imports.add(named(level, module or "", alias.name))
                bound.add(alias.asname or alias.name.partition(".")[0])
        for target in targets(statement):
            nodes = [target] if isinstance(target, ast.Attribute) else ast.walk(target)
            owners += [
                node.value
                for node in nodes
                if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load)
            ]
    for asked in called(tree, "import_module") if "import_module(" in text else ():
        if isinstance(asked, ast.Constant) and isinstance(asked.value, str):
            level = len(asked.value) - len(asked.value.lstrip("."))
            found.loads.add(named(level, asked.value))
    found.sets.update(
        owner.id
        for owner in owners
        if isinstance(owner, ast.Name) and owner.id in bound and not owner.id.isupper()
    )
    return found


def part_of(name: tuple[str, ...]) -> str | None:
    """The part that an imported name belongs to; None for another library's."""
    if name[0] != "rushlight":
        return None
    return name[1] if len(name) > 1 and name[1] in FLOORS else "rushlight"


ROOMS = {
    "frontend": "foundations sources diagnostics limits syntax".split(),
    "typecheck": """
        types definitions trees relations scopes reports expressions binding calls statements
    """.split(),
    "ops": """
        memory table special_functions arithmetic reductions shapes selection linear_algebra
        random_numbers signals layers pooling resizing losses quantized_tensors python_values
        tensors eager conjugates meta sparse_tensors nested_tensors batching detection audio
        primitives tensor_lists gradients dispatching
    """.split(),
    "ops/gradients": "table nodes recording formulas direct calls".split(),
    "ops/kernels/code": """
        language loading fronts functions calls elementwise quantized transforms rows products
        decompositions windows drawing ordering convolutions attention sequences indexing
    """.split(),
    "ir": "graphs text aliases lowering passes functions tracing".split(),
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
        reached = {name: part_of(name) for name in facts(file).imports}
        wrong = {".".join(name) for name, target in reached.items() if target not in allowed}
        assert not wrong, f"{file.relative_to(ROOT)} reaches up: {wrong}"


@pytest.mark.parametrize("part", ROOMS)
def test_a_room_imports_only_lower_rooms(part: str) -> None:
    rooms = ROOMS[part]
    folders = {file.name for file in (ROOT / part).iterdir() if (file / "__init__.py").is_file()}
    assert folders - {"kernels"} == set(rooms)
    folder = "rushlight", *part.split("/")
    depth = len(folder)
    for position, room in enumerate(rooms):
        above = set(rooms[position + 1 :])
        for file in sorted((ROOT / part / room).rglob("*.py")):
            reached = {n for n in facts(file).imports if n[:depth] == folder and len(n) > depth}
            wrong = {".".join(name) for name in reached if name[depth] in above}
            assert not wrong, f"{file.relative_to(ROOT)} reaches up: {wrong}"


def test_files_import_in_no_circle() -> None:
    """Late imports, and those for types alone, count."""
    modules = {module_name(file): file for file in FILES}
    edges = {}
    for name, file in modules.items():
        reached = {w if w in modules else w[:-1] for w in facts(file).imports | facts(file).loads}
        edges[name] = reached & set(modules) - {name}
    TopologicalSorter(edges).prepare()


FOREIGN = {
    # What is derived from the operator table is put into the class of tensors.
    "ops/eager/methods.py": {"Tensor"},
    "ops/eager/namespace.py": {"Generator", "Tensor"},
    # Errors that nobody caught are shown as people read them.
    "frontend/diagnostics/uncaught.py": {"sys"},
    # The commands stand in for Python's own.
    "rushlight/__main__.py": {"warnings"},
    "rushlight/as_torch.py": {"sys"},
    "rushlight/bundling/needs.py": {"builtins", "importlib"},
    "rushlight/cli/checked_file.py": {"sys"},
}
"""Modules and classes of other files whose attributes a file sets.  Let it not grow."""


def test_attributes_of_other_files_are_set_in_known_places_alone() -> None:
    found = {str(file.relative_to(ROOT)): facts(file).sets for file in FILES}
    assert {file: owners for file, owners in found.items() if owners} == FOREIGN


def test_files_stay_small() -> None:
    lines = {file: len(file.read_text(encoding="utf-8").splitlines()) for file in FILES}
    assert not {str(file.relative_to(ROOT)): n for file, n in lines.items() if n > 600}


def test_functions_stay_short() -> None:
    """What has a long signature, and a long docstring for it, may be longer by these."""
    long = {
        f"{file.relative_to(ROOT)}: {name}": lines
        for file in FILES
        for name, lines in facts(file).lengths.items()
    }
    assert not {name: lines for name, lines in long.items() if lines > 60}
