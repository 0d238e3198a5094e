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
            yield from _called(name, node, rest)


def _absolute(module: str, level: int, package: str) -> str:
    if level == 0:
        return module
    base = package.rsplit(".", level - 1)[0]
    return f"{base}.{module}" if module else base


def _called(name: str, call: ast.Call, rest: list[ast.expr]) -> Iterator[tuple[str, str | None]]:
    """What `__import__(name, globals, locals, fromlist)` imports."""
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    taken = rest[2] if len(rest) > 2 else keywords.get("fromlist")
    names = taken.elts if isinstance(taken, ast.List | ast.Tuple) else []
    texts = [each.value for each in names if isinstance(each, ast.Constant)]
    if not texts:
        yield name, None
    for text in texts:
        yield name, str(text)
