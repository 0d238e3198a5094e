"""`torch.package.find_file_dependencies`: what a module imports, by its source."""

from __future__ import annotations

import ast
from collections.abc import Iterator

__all__ = ["find_files_source_depends_on"]


def find_files_source_depends_on(src: str, package: str) -> list[tuple[str, str | None]]:
    """The modules that a source imports, anywhere in it, each with the name that is taken from it.

    Calls of `__import__` with a text count as well.  Such a name may be a module itself.

    Args:
        src: the source.
        package: the package to which imports such as `from . import a` are relative.

    Raises:
        ImportError: such an import leaves the package.
        SyntaxError: it is no source.
    """
    found = (pair for node in _in_order(ast.parse(src)) for pair in _imported(node, package))
    return list(dict.fromkeys(found))


def _in_order(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes as they stand in the source; `ast.walk` goes level by level."""
    left = [tree]
    while left:
        node = left.pop()
        yield node
        left.extend(reversed(list(ast.iter_child_nodes(node))))


def _imported(node: ast.AST, package: str) -> Iterator[tuple[str, str | None]]:
    match node:
        case ast.Import(names=names):
            for alias in names:
                yield alias.name, None
        case ast.ImportFrom(module=module, names=names, level=level):
            whole = _absolute(module or "", level, package)
            for alias in names:
                yield whole, None if alias.name == "*" else alias.name
        case ast.Call(func=ast.Name(id="__import__"), args=[ast.Constant(value=str(name)), *rest]):
            yield from _called(name, node, rest, package)


def _absolute(module: str, level: int, package: str) -> str:
    if level == 0:
        return module
    parts = package.split(".")
    if level > len(parts):
        raise ImportError("attempted relative import beyond top-level package")
    base = ".".join(parts[: len(parts) - level + 1])
    return f"{base}.{module}" if module else base


def _called(
    name: str, call: ast.Call, rest: list[ast.expr], package: str
) -> Iterator[tuple[str, str | None]]:
    """What `__import__(name, globals, locals, fromlist, level)` imports."""
    order = ("globals", "locals", "fromlist", "level")
    given = dict(zip(order, rest, strict=False))
    given.update((keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg)
    match given.get("level"):
        case ast.Constant(value=int(level)):
            name = _absolute(name, level, package)
    match given.get("fromlist"):
        case ast.List(elts=taken) | ast.Tuple(elts=taken):
            texts = [each.value for each in taken if isinstance(each, ast.Constant)]
        case _:
            texts = []
    names = [text for text in texts if text not in ("", "*")]
    if not names:
        yield name, None
    for each in names:
        yield name, str(each)
