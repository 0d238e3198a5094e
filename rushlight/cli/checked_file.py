"""One file being checked: it is run as a module in which `import torch` gives rushlight.

A failing `script(...)` does not stop it.  What the file prints goes to standard error.
"""

from __future__ import annotations

import contextlib
import importlib.machinery
import importlib.util
import linecache
import re
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from ..frontend.diagnostics.diagnostics import Diagnostic, Edit, Help, Label
from ..frontend.sources.source import Source, Span
from ..jit.session import Gathered, collecting
from ..typecheck.definitions.functions import Function
from .alias import torch_is_rushlight
from .failure import CommandError, diagnostics_of, one_line

__all__ = ["Checked", "check_file", "check_text", "check_unsaved"]

_STDIN = "<stdin>"


@dataclass(frozen=True)
class Checked:
    """What was found in a file.

    `scripted` counts what it had compiled; `stopped` says where it could not go on because of the
    errors found before, "" if it was run to its end.  `functions` are those that were compiled.
    """

    diagnostics: list[Diagnostic]
    scripted: int = 0
    stopped: str = ""
    functions: Sequence[Function] = ()


def check_file(path: str) -> Checked:
    """Run one file and gather the diagnostics of all it scripts.

    A file of a package is imported as a part of it, so that its relative imports work.

    Raises:
        CommandError: there is no such file.
    """
    if not Path(path).is_file():
        raise CommandError(f"{path}: no such file")
    root, name = _place_of(Path(path).resolve())
    with _as_program(path, root):
        return _checked(path, importlib.machinery.SourceFileLoader(_free(name), path))


def check_text(text: str) -> Checked:
    """Check a program that has no file; it is called `<stdin>`."""
    _keep(_STDIN, text)
    with _as_program(_STDIN, Path.cwd()):
        return _checked(_STDIN, _TextLoader(_free("stdin"), _STDIN, text))


def check_unsaved(path: str, text: str, known: Callable[[object], bool] | None = None) -> Checked:
    """Check a file with another text than the one that is on disk, as an editor has it.

    Scripted functions of which all is `known` are compiled when something needs them.
    """
    _keep(path, text)
    root, name = _place_of(Path(path).resolve())
    with _as_program(path, root):
        return _checked(path, _TextLoader(_free(name), path, text), known)


def _keep(name: str, text: str) -> None:
    """Have a text found where a program's source is looked for."""
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)


class _TextLoader(importlib.machinery.SourceFileLoader):
    """Loads a module from a text."""

    def __init__(self, name: str, path: str, text: str) -> None:
        super().__init__(name, path)
        self._text = text

    def get_data(self, path: str) -> bytes:
        """The bytes of the text, whichever file is asked for: there is one."""
        return self._text.encode()


def _place_of(path: Path) -> tuple[Path, str]:
    """The folder to import a file from, and the name of its module there."""
    parts = [path.stem] if path.stem != "__init__" else []
    folder = path.parent
    while (folder / "__init__.py").is_file() and folder.name.isidentifier():
        parts.insert(0, folder.name)
        folder = folder.parent
    if len(parts) < 2 and path.stem != "__init__":
        name = re.sub(r"\W", "_", path.stem)  # class names of archives hold it
        return folder, name if name.isidentifier() else f"_{name}"
    return folder, ".".join(parts)


def _free(name: str) -> str:
    """A name for the module; a file may be called like one that is loaded already."""
    while name in sys.modules:
        name += "_checked"
    return name


def _checked(
    path: str,
    loader: importlib.machinery.SourceFileLoader,
    known: Callable[[object], bool] | None = None,
) -> Checked:
    with torch_is_rushlight(), collecting(known) as gathered:
        found, stopped = _found(path, loader, gathered)
    return Checked(found, gathered.compilations, stopped, gathered.functions)


def _found(
    path: str, loader: importlib.machinery.SourceFileLoader, gathered: Gathered
) -> tuple[list[Diagnostic], str]:
    """The diagnostics of a file that is run, and where it could not go on."""
    try:
        _run(path, loader)
    except (Exception, SystemExit) as error:
        found, carried = gathered.found, diagnostics_of(error)
        if carried:
            return [*found, *carried], ""
        if isinstance(error, SystemExit) and not error.code:
            return found, ""
        if any(each.severity != "warning" for each in found):
            return found, _place(error, path)
        return [*found, _told(error, path)], ""
    return gathered.found, ""


def _run(path: str, loader: importlib.machinery.SourceFileLoader) -> None:
    name = loader.name
    parent = name.rpartition(".")[0]
    if parent:
        importlib.import_module(parent)
        if name in sys.modules:  # its package imports it: it has been run
            return
    is_package = Path(path).name == "__init__.py"
    places = [str(Path(path).resolve().parent)] if is_package else None
    spec = importlib.util.spec_from_file_location(
        name, path, loader=loader, submodule_search_locations=places
    )
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    loader.exec_module(module)


@contextlib.contextmanager
def _as_program(path: str, root: Path) -> Iterator[None]:
    """Let the file find its neighbours, see itself as `sys.argv`, and print to standard error."""
    argv, modules, where = sys.argv, set(sys.modules), list(sys.path)
    cached = sys.dont_write_bytecode
    sys.argv, sys.dont_write_bytecode = [path], True
    sys.path.insert(0, str(root))
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        sys.argv, sys.path[:], sys.dont_write_bytecode = argv, where, cached
        for name in set(sys.modules) - modules:
            if _is_within(sys.modules[name], root, path):
                del sys.modules[name]


def _is_within(module: ModuleType, root: Path, path: str) -> bool:
    """Whether a module comes from the file's folder: another file may have one of that name."""
    file = getattr(module, "__file__", None)
    if file is None:
        return False
    is_installed = "site-packages" in Path(file).parts
    return file == path or (Path(file).resolve().is_relative_to(root) and not is_installed)


def _told(error: BaseException, path: str) -> Diagnostic:
    """The diagnostic of an error of the file itself."""
    helps: tuple[Help, ...] = ()
    if isinstance(error, SystemExit):
        text = f"the file calls `sys.exit({error.code!r})`"
    else:
        said = error.msg if isinstance(error, SyntaxError) else one_line(error)
        notes = getattr(error, "__notes__", [])
        helps = tuple(Help(n.removeprefix("help: ")) for n in notes if n.startswith("help: "))
        text = f"{type(error).__name__}: {said}"
    label = _label(error, path)
    return Diagnostic("file-stopped", text, label, helps=helps or _helps(text, label))


def _helps(text: str, label: Label | None) -> tuple[Help, ...]:
    """What to do where the constructor of a module does not begin with that of `nn.Module`."""
    if label is None or "before Module.__init__() call" not in text:
        return ()
    span = label.span
    indent = span.source.text[: span.start]
    edit = Edit(Span(span.source, span.start, span.start), f"super().__init__()\n{indent}")
    return (Help("begin `__init__` with `super().__init__()`", (edit,)),)


def _line(error: BaseException, path: str) -> int:
    """The line of the file that an error came from; 0 if it is not known."""
    if isinstance(error, SyntaxError) and error.filename == path:
        return error.lineno or 0
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame.lineno or 0 for frame in frames if Path(frame.filename) == Path(path)]
    return own[-1] if own else 0


def _place(error: BaseException, path: str) -> str:
    line = _line(error, path)
    return f"{path}:{line}" if line else path


def _label(error: BaseException, path: str) -> Label | None:
    """The line that failed, from its first sign or the one that is no Python."""
    number = _line(error, path)
    text = linecache.getline(path, number).rstrip()
    if not text:
        return None
    start, end = len(text) - len(text.lstrip()), len(text)
    if isinstance(error, SyntaxError) and error.offset:
        start = min(max(error.offset - 1, start), end - 1)
    return Label(Span(Source(text, path, number), start, end), "the file cannot go on from here")
