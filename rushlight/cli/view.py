"""`rushlight view`: an archive as one page to look at, or its graph as a picture."""

from __future__ import annotations

import argparse
import sys
import tempfile
import webbrowser
from collections.abc import Iterator
from pathlib import Path

from ..jit.module import RecursiveScriptModule
from ..ops.tensors.tensor import Tensor
from ..pictures.changes import mark_changes, tensor_change
from ..pictures.document import Document, describe
from ..pictures.dot import dot_of
from ..pictures.page import page_of
from ..pictures.svg import svg_of
from ..pictures.weights import Tree, module_tree
from ..summary import inputs_without_data, without_data
from .archive import find_method, method_names, open_archive
from .atomic import refuse_existing, replacing
from .dtypes import dtypes_of
from .failure import CommandError, one_line
from .json_lines import tell_data
from .progress import progress
from .speech import complain, script_output, tell_lines, write
from .wall import unconfined

__all__ = ["execute"]


def execute(arguments: argparse.Namespace) -> int:
    """Run the command."""
    is_page = not (arguments.svg or arguments.dot)
    if arguments.output not in (None, "-"):
        refuse_existing([arguments.output], arguments.force)
    if not is_page and arguments.second is not None:
        raise CommandError("--svg and --dot show one archive; the page compares two")
    dtypes_of(arguments)  # which would fail when half of the work is done
    text = _page(arguments) if is_page else _picture(arguments)
    if arguments.output == "-" or (arguments.output is None and not is_page):
        write(text, sys.stdout)
        return 0
    path = Path(arguments.output) if arguments.output is not None else _new_file(arguments.archive)
    with replacing(path) as file:
        file.write(text.encode("utf-8"))
    if arguments.json:
        tell_data({"file": arguments.archive, "written": str(path)})
    else:
        tell_lines([f"wrote {path}"])
    if is_page and not arguments.no_open:
        _open(path)
    return 0


def _open(path: Path) -> None:
    with unconfined():
        if not webbrowser.open(path.resolve().as_uri()):
            complain("there is no browser to open it with")


def _new_file(archive: str) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="rushlight-view-"))
    return folder / f"{Path(archive).stem}.html"


def _page(arguments: argparse.Namespace) -> str:
    paths = [arguments.archive] + [arguments.second] * (arguments.second is not None)
    modules = [_module(path, arguments, arguments.no_weights) for path in paths]
    names = [Path(path).name for path in paths]
    if len(set(names)) < len(names):
        names = paths
    documents = [
        _document(module, name, arguments, not arguments.no_weights)
        for module, name in zip(modules, names, strict=True)
    ]
    changes = None
    if len(documents) == 2:
        if not arguments.no_weights:
            _compare_tensors(documents, modules)
        changes = mark_changes(*documents)
    return page_of(documents, changes)


def _compare_tensors(documents: list[Document], modules: list[RecursiveScriptModule]) -> None:
    sides = []
    for document, module in zip(documents, modules, strict=True):
        entries = dict(_entries(document["modules"]))
        tensors = {path: tensor for path, (_, tensor) in _tensors(module).items()}
        sides.append({path: (entries[path], tensors[path]) for path in entries})
    for path in progress(sorted(sides[0].keys() & sides[1].keys()), "comparing"):
        tensor_change(sides[0][path], sides[1][path])


def _entries(tree: Tree) -> Iterator[tuple[str, Tree]]:
    for entry in tree["tensors"]:
        yield f"{tree['path']}.{entry['name']}", entry
    for child in tree["modules"]:
        yield from _entries(child)


def _tensors(module: RecursiveScriptModule) -> dict[str, tuple[Tree, Tensor]]:
    tree, found = module_tree(module._c)
    return dict(zip((path for path, _ in _entries(tree)), found, strict=True))


def _picture(arguments: argparse.Namespace) -> str:
    module = _module(arguments.archive, arguments, True)
    find_method(module, arguments.method)
    document = _document(module, Path(arguments.archive).name, arguments, False)
    draw = svg_of if arguments.svg else dot_of
    return draw(document, arguments.method, arguments.depth)


def _module(path: str, arguments: argparse.Namespace, bare: bool) -> RecursiveScriptModule:
    """The module of an archive; without its data where none is read."""
    module = open_archive(path, arguments.trust, without_data=bare)
    if not method_names(module):
        raise CommandError(f"{path}: there is no method to draw; `rushlight show` lists the rest")
    return module


def _document(
    module: RecursiveScriptModule, name: str, arguments: argparse.Namespace, weights: bool
) -> Document:
    given = bare = None
    if arguments.input:
        given = inputs_without_data(
            [each.numbers for each in arguments.input], dtypes_of(arguments)
        )
        try:
            bare = without_data(module._c)
        except RuntimeError as error:
            raise CommandError(f"{name}: a weight is larger than tensors are: {error}") from None
    find_method(module, arguments.method)
    with script_output(arguments.trust):
        document, failure = describe(
            module._c,
            name,
            method=arguments.method,
            inputs=given,
            bare=bare,
            weights=weights,
            progress=progress,
        )
    if failure is not None:
        complain(f"{name}: the run on such inputs ended, so that some sizes are missing:")
        complain(one_line(Exception(document["failure"])))
    return document
