"""Which files of the library go into a bundle.

A file that was imported stays if somebody who stays needs it: whoever imports it at its top or has
imported it while running.  Packages import all that is in them; of these files only those stay that
declare an operator that is needed, or declare none.  Of what nobody has imported yet, errors and
faster tiers may still want some: what files of those parts name inside functions stays as well.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.util import resolve_name
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from .needs import Needs

__all__ = ["chosen", "file_of", "without_dropped"]

_ROOT: Final = Path(__file__).resolve().parents[1]
_OWN: Final = __name__.partition(".")[0]
_LATE: Final = tuple(
    f"{_OWN}.{part}"
    for part in (
        *("frontend", "grammar", "typecheck", "ir.passes", "interpreter", "cli.failure"),
        *("serialization.files", "serialization.pickles", "serialization.loading"),
        *("ops.kernels", "ops.memory", "ops.table"),
    )
)
"""The parts of which it is not known beforehand what a run will want."""
_DEFINITIONS: Final = tuple(
    f"{_OWN}.{name}" for name in ("nn", "optim", "utils", "autograd", "jit")
)
"""Packages whose files define what has to be asked for by name."""
_BEGINNINGS: Final = (f"{_OWN}.__main__", f"{_OWN}.bundling.needs")
"""What a bundle's start imports."""


@cache
def file_of(module: str) -> Path | None:
    """The file of one of the library's modules; None if there is none of that name."""
    inside = _ROOT.joinpath(*module.split(".")[1:])
    for path in (inside / "__init__.py", inside.with_name(f"{inside.name}.py")):
        if path.is_file():
            return path
    return None


def chosen(needs: Needs) -> set[str]:
    """The modules that a bundle is made of, by what `needs` has found out."""
    wanted = set(needs["operators"])
    declared = {
        file: {name.partition(".")[0] for name in names}
        for file, names in needs["declared"].items()
    }
    hard: dict[str, set[str]] = {}
    for importer, name, is_top in needs["edges"]:
        if not _is_loose(importer, name, is_top, declared, wanted):
            hard.setdefault(importer, set()).add(name)
    kept: set[str] = set()
    waiting = list(_BEGINNINGS)
    while waiting:
        module = waiting.pop()
        path = file_of(module)
        if module in kept or path is None:
            continue
        kept.add(module)
        waiting.extend(hard.get(module, ()))
        waiting.extend(_parents(module))
        if module.startswith(_LATE):
            waiting.extend(_late_imports(module, path))
        elif module not in needs["modules"]:
            waiting.extend(_early_imports(module, path))
    return kept


def _is_loose(
    importer: str, name: str, is_top: bool, declared: Mapping[str, set[str]], wanted: set[str]
) -> bool:
    """Whether an import is only a package's list of what there is."""
    path = file_of(importer)
    is_list = path is not None and path.name == "__init__.py" and name.startswith(f"{importer}.")
    if not is_top or not is_list:
        return False
    if name in declared:
        return declared[name].isdisjoint(wanted)
    return importer.startswith(_DEFINITIONS)


def _parents(module: str) -> Iterator[str]:
    while module := module.rpartition(".")[0]:
        yield module


def _imports(module: str, path: Path, body: Iterable[ast.AST]) -> Iterator[str]:
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in body:
        if isinstance(node, ast.ImportFrom) and (
            node.level or (node.module or "").startswith(_OWN)
        ):
            name = "." * node.level + (node.module or "")
            base = resolve_name(name, package) if node.level else name
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and _is_import_module(node):
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                text = first.value
                yield resolve_name(text, package) if text.startswith(".") else text


def _is_import_module(node: ast.Call) -> bool:
    return bool(node.args) and isinstance(node.func, ast.Name) and node.func.id == "import_module"


def _late_imports(module: str, path: Path) -> Iterator[str]:
    """What a file imports anywhere."""
    yield from _imports(module, path, ast.walk(ast.parse(path.read_text("utf-8"))))


def _early_imports(module: str, path: Path) -> Iterator[str]:
    """What a file imports when it is imported itself."""
    yield from _imports(module, path, ast.parse(path.read_text("utf-8")).body)


def without_dropped(module: str, path: Path, kept: set[str]) -> str:
    """The text of a file; a package's without the imports of files that are not kept."""
    text = path.read_text("utf-8")
    if path.name != "__init__.py":
        return text
    lines = text.splitlines(keepends=True)
    dropped: set[str] = set()
    for node in ast.parse(text).body:
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            base = resolve_name("." + (node.module or ""), module).rstrip(".")
            stays = [alias for alias in node.names if _stays(base, alias.name, kept)]
            if len(stays) < len(node.names):
                dropped |= {a.asname or a.name for a in node.names if a not in stays}
                made = ast.ImportFrom(node.module, stays, node.level)
                _replace(lines, node, f"{ast.unparse(made)}\n" if stays else "\n")
        elif isinstance(node, (ast.Assign, ast.AugAssign, ast.Expr)) and _names(node) & dropped:
            rest = _Without(dropped).visit(node)  # a list of what there is
            _replace(lines, node, "\n" if _names(rest) & dropped else f"{ast.unparse(rest)}\n")
    return "".join(lines)


class _Without(ast.NodeTransformer):
    """Tuples without some names."""

    def __init__(self, dropped: set[str]) -> None:
        self._dropped = dropped

    def visit_Tuple(self, node: ast.Tuple) -> ast.Tuple:
        self.generic_visit(node)
        kept = [each for each in node.elts if not _is_name(each, self._dropped)]
        return ast.Tuple(kept, node.ctx)


def _is_name(node: ast.expr, names: set[str]) -> bool:
    return isinstance(node, ast.Name) and node.id in names


def _replace(lines: list[str], node: ast.stmt, text: str) -> None:
    assert node.end_lineno is not None
    lines[node.lineno - 1 : node.end_lineno] = [text, *[""] * (node.end_lineno - node.lineno)]


def _names(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def _stays(base: str, name: str, kept: set[str]) -> bool:
    inner = f"{base}.{name}"
    return (base if file_of(inner) is None else inner) in kept
