"""What running some archives takes: operators, and files with what they import.

    python -m rushlight.bundling.needs < request.json > needs.json

It must be the first of this library's modules that a process imports, so that it sees the others
come.  A request is a list of runs, each the words of `rushlight run`.
"""

from __future__ import annotations

import builtins
import contextlib
import importlib
import importlib.util
import io
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.machinery import ModuleSpec
from types import FrameType, ModuleType
from typing import TYPE_CHECKING, Any, Final, TypedDict

if TYPE_CHECKING:
    from ..ops.table.record import Operator

__all__ = ["Needs", "main", "prepared"]

_OWN: Final = (__package__ or "").partition(".")[0]
_TIMES: Final = 3
"""Runs of each archive that is trusted: functions change their tiers."""


class Needs(TypedDict):
    """What is found out: of each run its status and what it wrote, the operators by name, by file
    those that it declares, imports (who, what, whether at the top), and the modules that came."""

    results: list[tuple[int, str]]
    operators: list[str]
    declared: dict[str, list[str]]
    edges: list[tuple[str, str, bool]]
    modules: list[str]


class Imports:
    """Watches who imports which of the library's modules, and whether by a statement at the top."""

    def __init__(self) -> None:
        self.edges: set[tuple[str, str, bool]] = set()

    def watch(self) -> None:
        """Watch from now on."""
        plain, by_name = builtins.__import__, importlib.import_module

        def imported(
            name: str,
            globals: Mapping[str, object] | None = None,
            locals: Mapping[str, object] | None = None,
            fromlist: Sequence[str] | None = (),
            level: int = 0,
        ) -> ModuleType:
            result = plain(name, globals, locals, fromlist, level)
            if level or name.partition(".")[0] == _OWN:
                frame = sys._getframe(1)
                importer, is_top = frame.f_globals.get("__name__", ""), _is_top(frame)
                self._note(importer, is_top, result.__name__ if fromlist else name, fromlist)
            return result

        def import_module(name: str, package: str | None = None) -> ModuleType:
            result = by_name(name, package)
            importer = sys._getframe(1).f_globals.get("__name__", "")
            self._note(importer, False, result.__name__, ())
            return result

        builtins.__import__ = imported
        importlib.import_module = import_module

    def _note(self, importer: str, is_top: bool, name: str, parts: Sequence[str] | None) -> None:
        if name.partition(".")[0] != _OWN or importer.partition(".")[0] != _OWN:
            return
        self.edges.add((importer, name, is_top))
        for part in parts or ():
            if f"{name}.{part}" in sys.modules:
                self.edges.add((importer, f"{name}.{part}", is_top))
            else:  # a package may have it from one of its files
                whence = getattr(getattr(sys.modules.get(name), part, None), "__module__", None)
                if isinstance(whence, str) and whence.startswith(f"{name}."):
                    self.edges.add((importer, whence, is_top))


def _is_top(frame: FrameType) -> bool:
    return frame.f_code.co_name == "<module>"


class Declarations:
    """Watches which files declare which operators."""

    def __init__(self) -> None:
        self.by_file: dict[str, list[str]] = {}

    def watch(self) -> None:
        """Have the table of operators watched when its file is imported."""
        sys.meta_path.insert(0, self)

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """The table's file, with what is done once it has run."""
        if name != f"{_OWN}.ops.table.table":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        assert spec is not None
        assert spec.loader is not None
        run = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            run(module)
            self._wrap(module.Table)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec

    def _wrap(self, table: Any) -> None:
        add = table.add

        def noted(this: object, entry: Operator) -> None:
            self.by_file.setdefault(_file_that_runs(), []).append(entry.full_name)
            add(this, entry)

        table.add = noted


def _file_that_runs() -> str:
    """The module whose top runs now, the innermost one; "" if none does."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and not _is_top(frame):
        frame = frame.f_back
    return "" if frame is None else str(frame.f_globals["__name__"])


@contextlib.contextmanager
def _captured() -> Iterator[io.StringIO]:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        yield out


def prepared() -> None:
    """What every bundle does before it runs anything: no gradients are recorded."""
    table = importlib.import_module(f"{_OWN}.ops.table.grad_mode")
    table.set_grad_enabled(False)


def main() -> int:
    """Read a request from standard input, write what it takes to standard output."""
    runs: list[list[str]] = json.load(sys.stdin)
    imports, declarations = Imports(), Declarations()
    imports.watch()
    declarations.watch()
    prepared()
    command = importlib.import_module(f"{_OWN}.__main__").main
    results = list[tuple[int, str]]()
    for words in runs:
        with _captured() as out:
            status = command(["run", *words])
        results.append((status, out.getvalue()))
        with _captured():
            for _ in range(_TIMES):
                command(["run", "--trust", "full", *words])
            command(["run", words[0], "no_such_parameter=1"])  # how it fails is needed too
            command(["run", words[0], "--method", "no_such_method"])
    used = sorted({name for words in runs for name in _operators(words[0])})
    found: Needs = {
        "results": results,
        "operators": used,
        "declared": declarations.by_file,
        "edges": sorted(imports.edges),
        "modules": sorted(name for name in sys.modules.copy() if name.partition(".")[0] == _OWN),
    }
    json.dump(found, sys.stdout)
    return 0


def _operators(path: str) -> set[str]:
    """The names of the operators in an archive's code, and in its graphs with calls inlined."""
    audit = importlib.import_module(f"{_OWN}.serialization.archives.audit").audit
    found = {name for names in audit(path, path).operators.values() for name in names}
    module = importlib.import_module(f"{_OWN}.jit").load(path)
    for inner in module.modules():
        for name in list(inner._c.cls.methods):
            graph = inner._script_method(name).inlined_graph._inner
            found.update(node.kind for node in graph.all_nodes)
    return found


if __name__ == "__main__":
    sys.exit(main())
