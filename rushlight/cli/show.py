"""`rushlight show`: print what an archive holds and what its methods were compiled to."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from typing import Final

from ..jit import ScriptMethod
from ..serialization.files.container import ArchiveReader
from ..serialization.files.identify import MOBILE_FLATBUFFER, identify
from ..serialization.mobile.load import load_mobile, opened_mobile
from ..typecheck.trees.dump import dump
from ..typecheck.trees.typed import TypedFunction
from .archive import find_method, open_archive
from .failure import CommandError
from .json_lines import tell_data
from .outline import bytecode_text, constants_of, extra_of, modules_of, tree_lines
from .several import ARCHIVES, each_file
from .speech import tell, tell_lines

__all__ = ["execute"]


def _code(method: ScriptMethod) -> str:
    text, constants = method.code_with_constants
    lines = [text.rstrip("\n")]
    lines.extend(f"CONSTANTS.{name} = {value!r}" for name, value in constants.items())
    return "\n".join(lines)


def _graph(method: ScriptMethod) -> str:
    return str(method.graph).rstrip("\n")


def _inlined_graph(method: ScriptMethod) -> str:
    return str(method.inlined_graph).rstrip("\n")


def _instructions(method: ScriptMethod) -> str:
    return method.instructions.rstrip("\n")


def _tree(method: ScriptMethod) -> str:
    function = method._rushlight_function
    function.ensure_defined()  # a loaded method is compiled when it is first needed
    if not isinstance(function.typed, TypedFunction):
        raise CommandError(f"there is no typed tree of `{method.name}`")
    return dump(function.typed).rstrip("\n")


_TEXTS: Final[dict[str, Callable[[ScriptMethod], str]]] = {
    "code": _code,
    "graph": _graph,
    "inlined-graph": _inlined_graph,
    "instructions": _instructions,
    "tree": _tree,
}
"""What `VIEWS` names, made of a method."""


def execute(arguments: argparse.Namespace) -> int:
    """Run the command."""
    return each_file(
        arguments.archives, lambda path: _show(path, arguments), ARCHIVES, headed=not arguments.json
    )


def _show(path: str, arguments: argparse.Namespace) -> int:
    view, as_json = arguments.view, arguments.json
    if view == "bytecode" or (not view and _is_mobile_only(path)):
        text = bytecode_text(load_mobile(path, trusted=False, restores=False))
        _tell_text(as_json, {"file": path, "bytecode": text}, text)
        return 0
    if view == "extra":
        found = extra_of(path)
        lines = (f"{name}: {size} bytes" for name, size in found.items())
        _tell(as_json, {"file": path, "extra": found}, lines)
        return 0
    module = open_archive(path, arguments.trust, restores=False)
    if view == "modules":
        outline = modules_of(module._c)
        _tell(as_json, {"file": path, "modules": outline}, tree_lines(outline))
    elif view == "constants":
        constants = constants_of(module)
        text = "\n".join(f"{name} = {text}" for name, text in constants.items())
        _tell_text(as_json, {"file": path, "constants": constants}, text)
    else:
        method = find_method(module, arguments.method)
        text = _TEXTS[view or "code"](method)
        data = {"file": path, "method": arguments.method, view or "code": text}
        _tell_text(as_json, data, text)
    return 0


def _tell(as_json: bool, data: object, lines: Iterable[str]) -> None:
    if as_json:
        tell_data(data)
    else:
        tell_lines(lines)


def _tell_text(as_json: bool, data: object, text: str) -> None:
    if as_json:
        tell_data(data)
    elif text:
        tell(text)


def _is_mobile_only(path: str) -> bool:
    try:
        if identify(path) is MOBILE_FLATBUFFER:
            with opened_mobile(path) as contents:
                return not contents.code
        with ArchiveReader(path) as archive:
            has_code = any(archive.records("code/"))
            return "bytecode.pkl" in archive and not has_code
    except (OSError, RuntimeError):
        return False  # opening it properly says what is wrong
