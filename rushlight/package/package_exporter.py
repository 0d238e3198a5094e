"""`torch.package.package_exporter`: a program and its objects in one file.

Modules are taken in as they are needed: what the source of a module or a pickled object names is
looked up among the patterns given (`intern`, `extern`, `mock`, `deny`), and so on with what those
name.  All is written at the end, if nothing was missing.
"""

from __future__ import annotations

import linecache
import os
import platform
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from types import ModuleType, TracebackType
from typing import IO, Final

from ..nn.handles import RemovableHandle
from ..nn.modules.module import Module
from ..serialization.archives.package_load import DATA
from ..serialization.archives.package_save import ScriptModules
from ..serialization.files.container_writer import ContainerWriter, Sink, write_container
from ..serialization.pickles.tensors import StorageTable
from ._digraph import DiGraph
from ._mangling import demangle, is_mangled
from .find_file_dependencies import find_files_source_depends_on
from .glob_group import GlobGroup, GlobPattern
from .importer import Importer, OrderedImporter, sys_importer
from .pickles import SUFFIX, PackageWriter
from .resources import path_of

__all__ = ["EmptyMatchError", "PackageExporter", "PackagingError", "PackagingErrorReason"]

_OWN: Final = frozenset({"torch", __name__.partition(".")[0]})
_POWERFUL: Final = frozenset({"sys", "io"})
"""Modules of the standard library that a package has to ask for."""
_MOCKS: Final = "_mock"
_MOCKED: Final = (
    "from _mock import MockedObject\n\n\n"
    "def __getattr__(attr: str):\n"
    "    return MockedObject(f'{__name__}.{attr}', _suppress_err=True)\n"
)

ActionHook = Callable[["PackageExporter", str], None]


class _ModuleProviderAction(Enum):
    """What becomes of a module that a package needs."""

    INTERN = 1
    EXTERN = 2
    MOCK = 3
    DENY = 4
    REPACKAGED_MOCK_MODULE = 5
    SKIP = 6


class PackagingErrorReason(Enum):
    """Why a module that a package needs cannot be had."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}.{self.name}>"

    IS_EXTENSION_MODULE = (
        "Module is a C extension module. torch.package supports Python modules only."
    )
    NO_DUNDER_FILE = "Module had no __file__ defined."
    SOURCE_FILE_NOT_FOUND = "Module had a __file__, but we could not find it in your filesystem."
    DEPENDENCY_RESOLUTION_FAILED = "Dependency resolution failed."
    NO_ACTION = "Module did not match against any action pattern. Extern, mock, or intern it."
    DENIED = "Module was denied by a pattern."
    MOCKED_BUT_STILL_USED = (
        "Module was mocked out, but is still being used in the package. Please intern or extern "
        "the mocked modules if objects are supposed to be in the package."
    )


@dataclass
class _Pattern:
    """Modules, and what becomes of them."""

    modules: GlobGroup
    action: _ModuleProviderAction
    allow_empty: bool
    was_matched: bool = False


class EmptyMatchError(Exception):
    """No module matched a pattern that had to be."""


class PackagingError(Exception):
    """Modules that a package needs cannot be had; the text says which, and why each."""

    def __init__(self, dependency_graph: DiGraph, debug: bool = False) -> None:
        self.dependency_graph = dependency_graph
        broken: dict[PackagingErrorReason, list[str]] = {}
        for name, attributes in dependency_graph.nodes.items():
            if attributes.get("error") is not None:
                broken.setdefault(attributes["error"], []).append(name)
        lines = ["\n"]
        for reason, names in broken.items():
            lines.append(f"* {reason.value}\n")
            for name in names:
                lines += _told(name, dependency_graph, debug)
        if not debug:
            lines.append(
                "\nSet debug=True when invoking PackageExporter for a visualization of where "
                "broken modules are coming from!\n"
            )
        super().__init__("".join(lines))


def _told(name: str, graph: DiGraph, debug: bool) -> Iterator[str]:
    yield f"    {name}\n"
    context = graph.nodes[name].get("error_context")
    if context is not None:
        yield f"      Context: {context}\n"
    if name in _POWERFUL:
        yield (
            "      Note: While we usually use modules in the python standard library from the "
            f"local environment, `{name}` has a lot of system level access and therefore can pose "
            f"a security risk. We heavily recommend removing `{name}` from your packaged code. "
            "However, if that is not possible, add it to the extern list by calling "
            f'PackageExporter.extern("`{name}`")\n'
        )
    if debug:
        yield f"      A path to {name}: {' -> '.join(graph.first_path(name))}\n"


class PackageExporter:
    """Writes a package to a path or a file object; as a `with` block it is closed at the end.

    Nothing is written where the block ends in an exception.

    Args:
        f: where to.
        importer: where modules are found, or several such, asked in order: an importer of another
            package gives its modules and objects.
        debug: whether errors tell how each module came to be needed.
    """

    def __init__(
        self,
        f: str | os.PathLike[str] | IO[bytes],
        importer: Importer | Sequence[Importer] = sys_importer,
        debug: bool = False,
    ) -> None:
        self.debug = debug
        self.importer = importer if isinstance(importer, Importer) else OrderedImporter(*importer)
        self.dependency_graph = DiGraph()
        self.patterns: list[_Pattern] = []
        self._target = f
        self._records: dict[str, bytes] = {}
        self._storages = StorageTable(SUFFIX)
        self._scripts = ScriptModules(self._storages)
        self._unique = 0
        self._hooks: dict[_ModuleProviderAction, OrderedDict[int, ActionHook]] = {
            action: OrderedDict() for action in _ModuleProviderAction
        }

    # -- what becomes of modules

    def intern(
        self, include: GlobPattern, *, exclude: GlobPattern = (), allow_empty: bool = True
    ) -> None:
        """Take modules of these names into the package, where something needs them.

        Args:
            include: a pattern or several, see `GlobGroup`.
            exclude: names that are not meant.
            allow_empty: whether it is no error if nothing needs such a module.
        """
        self._add_pattern(_ModuleProviderAction.INTERN, include, exclude, allow_empty)

    def mock(
        self, include: GlobPattern, *, exclude: GlobPattern = (), allow_empty: bool = True
    ) -> None:
        """Put modules in place of these that can be imported and not used; see `intern`."""
        self._add_pattern(_ModuleProviderAction.MOCK, include, exclude, allow_empty)

    def extern(
        self, include: GlobPattern, *, exclude: GlobPattern = (), allow_empty: bool = True
    ) -> None:
        """Leave these modules to the Python that opens the package; see `intern`."""
        self._add_pattern(_ModuleProviderAction.EXTERN, include, exclude, allow_empty)

    def deny(self, include: GlobPattern, *, exclude: GlobPattern = ()) -> None:
        """Make it an error that something needs these modules; see `intern`."""
        self._add_pattern(_ModuleProviderAction.DENY, include, exclude, True)

    def _add_pattern(
        self,
        action: _ModuleProviderAction,
        include: GlobPattern,
        exclude: GlobPattern,
        allow_empty: bool,
    ) -> None:
        self.patterns.append(_Pattern(GlobGroup(include, exclude=exclude), action, allow_empty))

    def register_extern_hook(self, hook: ActionHook) -> RemovableHandle:
        """Call `hook(exporter, name)` for each module that is left outside."""
        return self._register(_ModuleProviderAction.EXTERN, hook)

    def register_mock_hook(self, hook: ActionHook) -> RemovableHandle:
        """Call `hook(exporter, name)` for each module that is mocked."""
        return self._register(_ModuleProviderAction.MOCK, hook)

    def register_intern_hook(self, hook: ActionHook) -> RemovableHandle:
        """Call `hook(exporter, name)` for each module that is taken in."""
        return self._register(_ModuleProviderAction.INTERN, hook)

    def _register(self, action: _ModuleProviderAction, hook: ActionHook) -> RemovableHandle:
        handle = RemovableHandle(self._hooks[action])
        self._hooks[action][handle.id] = hook
        return handle

    def add_dependency(self, module_name: str, dependencies: bool = True) -> None:
        """Say that the package needs a module; the first pattern that matches says what becomes
        of it."""
        nodes = self.dependency_graph.nodes
        if nodes.get(module_name, {}).get("provided"):
            return
        action = self._action_for(module_name)
        if action is None:
            error = PackagingErrorReason.NO_ACTION
            self.dependency_graph.add_node(module_name, action=None, error=error)
            return
        self.dependency_graph.add_node(module_name, action=action, provided=True)
        if action is _ModuleProviderAction.DENY:
            self.dependency_graph.add_node(module_name, error=PackagingErrorReason.DENIED)
        if action is _ModuleProviderAction.INTERN:
            self._intern_module(module_name, dependencies)

    def _action_for(self, module_name: str) -> _ModuleProviderAction | None:
        if module_name == "torch_package_importer":
            return _ModuleProviderAction.SKIP
        if module_name == _MOCKS:
            return _ModuleProviderAction.REPACKAGED_MOCK_MODULE
        top = module_name.partition(".")[0]
        if top in _OWN or (top in sys.stdlib_module_names and top not in _POWERFUL):
            return _ModuleProviderAction.EXTERN
        for pattern in self.patterns:
            if pattern.modules.matches(module_name):
                pattern.was_matched = True
                return pattern.action
        return None

    # -- what goes in

    def get_unique_id(self) -> str:
        """A text that this exporter has not given before."""
        self._unique += 1
        return str(self._unique - 1)

    def save_module(self, module_name: str, dependencies: bool = True) -> None:
        """Take in the source of a module, and with `dependencies` what it needs.

        Raises:
            ModuleNotFoundError: there is no such module.
            TypeError: it is no name.
        """
        if not isinstance(module_name, str):
            raise TypeError(
                "save_module() expects a string input, did you perhaps mean to pass `__name__`?"
            )
        self._intern_module(demangle(module_name), dependencies)

    def save_source_file(
        self, module_name: str, file_or_directory: str, dependencies: bool = True
    ) -> None:
        """Take in a source file as a module, or a folder of them as modules below one.

        Raises:
            OSError: it cannot be read.
        """
        path = Path(file_or_directory)
        if not path.is_dir():
            self.save_source_string(module_name, _source_in(path), False, dependencies)
            return
        for file in sorted(path.rglob("*.py")):
            *above, last = file.relative_to(path).with_suffix("").parts
            is_package = last == "__init__"
            name = ".".join([module_name, *above, *([] if is_package else [last])])
            self.save_source_string(name, _source_in(file), is_package, dependencies)

    def save_source_string(
        self, module_name: str, src: str, is_package: bool = False, dependencies: bool = True
    ) -> None:
        """Take in a source as a module; `is_package` says that others lie below it."""
        self.dependency_graph.add_node(
            module_name,
            source=src,
            is_package=is_package,
            provided=True,
            action=_ModuleProviderAction.INTERN,
            error=None,  # something may have needed it before
        )
        if dependencies:
            self._add_imported(module_name, src, is_package)

    def save_pickle(
        self,
        package: str,
        resource: str,
        obj: object,
        dependencies: bool = True,
        pickle_protocol: int = 3,
    ) -> None:
        """Put an object into a file beside the modules of `package`.

        Classes and functions are written by name, and with `dependencies` the modules that have
        them are taken in.  `pickle_protocol` changes nothing.

        Raises:
            PicklingError: a class or function is not found by its name.
            ArchiveError: something has no form in a pickle.
        """
        path = path_of(package, resource)
        writer = PackageWriter(self._storages, self.importer, self)
        pickled = writer.pickle(obj)
        if dependencies:
            self._add_pickled(f"<{package}.{resource}>", package, resource, writer.names)
        self._write(path, pickled)

    def save_text(self, package: str, resource: str, text: str) -> None:
        """Put a text into a file beside the modules of `package`, as UTF-8."""
        self.save_binary(package, resource, text.encode("utf-8"))

    def save_binary(self, package: str, resource: str, binary: bytes) -> None:
        """Put bytes into a file beside the modules of `package`."""
        self._write(path_of(package, resource), bytes(binary))

    def add_script_module(self, module: Module) -> str:
        """Take in a scripted module; the number by which a pickle speaks of it."""
        return self._scripts.add(module._c)

    def _write(self, path: str, content: bytes) -> None:
        assert path not in self._records, (
            f"Tried to write file '{path}', but it already exists in this archive. "
            "Please file a bug."
        )
        self._records[path] = content

    # -- what is needed

    def _intern_module(self, module_name: str, dependencies: bool) -> None:
        module = self.importer.import_module(module_name)
        is_package = hasattr(module, "__path__")
        self.dependency_graph.add_node(
            module_name,
            action=_ModuleProviderAction.INTERN,
            is_package=is_package,
            provided=True,
        )
        source = _source_of(module)
        if isinstance(source, PackagingErrorReason):
            self.dependency_graph.add_node(
                module_name, error=source, error_context=_refusing_file(module, source)
            )
            return
        self.dependency_graph.add_node(module_name, source=source)
        if dependencies:
            self._add_imported(module_name, source, is_package)

    def _add_imported(self, module_name: str, source: str, is_package: bool) -> None:
        package = module_name if is_package else module_name.rpartition(".")[0]
        try:
            needed = list(dict.fromkeys(self._modules_in(source, package)))
        except (ImportError, SyntaxError, RecursionError) as error:
            self.dependency_graph.add_node(
                module_name,
                error=PackagingErrorReason.DEPENDENCY_RESOLUTION_FAILED,
                error_context=str(error),
            )
            return
        for each in needed:
            self.dependency_graph.add_edge(module_name, each)
            self.add_dependency(each)

    def _modules_in(self, source: str, package: str) -> Iterator[str]:
        """The modules that a source imports; those that do not exist are left to its checks."""
        for module_name, name in find_files_source_depends_on(source, package):
            below = f"{module_name}.{name}"
            if name is not None and self._is_module(below):
                yield below
            elif self._is_module(module_name):
                yield module_name

    def _is_module(self, name: str) -> bool:
        if self.dependency_graph.nodes.get(name, {}).get("provided"):
            return True
        try:
            self.importer.import_module(name)
        except Exception:  # whatever the module does when it runs
            return False
        return True

    def _add_pickled(
        self, node: str, package: str, resource: str, names: dict[tuple[str, str], None]
    ) -> None:
        self.dependency_graph.add_node(node, action=None, provided=True, is_pickle=True)
        taken: dict[str, list[str]] = {}
        for module_name, name in names:
            taken.setdefault(module_name, []).append(name)
        for module_name, objects in taken.items():
            self.dependency_graph.add_edge(node, module_name)
            self.add_dependency(module_name)
            known = self.dependency_graph.nodes[module_name]
            if known.get("action") is _ModuleProviderAction.MOCK:
                known["error"] = PackagingErrorReason.MOCKED_BUT_STILL_USED
                known["error_context"] = (
                    f"Object(s) '{objects}' from module `{module_name}` was mocked out during "
                    f"packaging but is being used in resource - `{resource}` in package "
                    f"`{package}`. "
                )

    # -- the end

    def __enter__(self) -> PackageExporter:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if exc_type is None:
            self.close()

    def close(self) -> None:
        """Write the package.  A file at the path is replaced once all is written.

        Raises:
            PackagingError: modules that it needs cannot be had.
            EmptyMatchError: nothing needed the modules of a pattern.
            OSError: the file cannot be written.
        """
        self._check()
        self._collect_modules()
        write_container(self._target, self._write_archive)

    def _check(self) -> None:
        if any(node.get("error") is not None for node in self.dependency_graph.nodes.values()):
            raise PackagingError(self.dependency_graph, debug=self.debug)
        for pattern in self.patterns:
            if not pattern.allow_empty and not pattern.was_matched:
                raise EmptyMatchError(
                    f"Exporter did not match any modules to {pattern.modules}, which was marked "
                    "as allow_empty=False"
                )

    def _collect_modules(self) -> None:
        """Put the sources of all modules among the files, and the list of those outside."""
        outside = []
        for name, attributes in list(self.dependency_graph.nodes.items()):
            action = attributes.get("action")
            for hook in list(self._hooks[action].values()) if action is not None else ():
                hook(self, name)
            if action is _ModuleProviderAction.EXTERN:
                outside.append(name)
            elif action is _ModuleProviderAction.MOCK:
                module = self.importer.import_module(name)
                self._write_module(name, _MOCKED, hasattr(module, "__path__"))
            elif action is _ModuleProviderAction.INTERN:
                self._write_module(name, attributes["source"], attributes["is_package"])
        if self._with_action(_ModuleProviderAction.REPACKAGED_MOCK_MODULE):
            mocks = str(_source_of(self.importer.import_module(_MOCKS)))
            self._write_module(_MOCKS, mocks, False)
        elif self.mocked_modules():
            mocks = _source_in(Path(__file__).with_name(f"{_MOCKS}.py"))
            self._write_module(_MOCKS, mocks, False)
        listed = "".join(f"{name}\n" for name in outside)
        self._write(f"{DATA}extern_modules", listed.encode("utf-8"))
        self._write(f"{DATA}python_version", platform.python_version().encode())

    def _write_module(self, name: str, source: str, is_package: bool) -> None:
        path = name.replace(".", "/") + ("/__init__.py" if is_package else ".py")
        self._write(path, source.encode("utf-8"))

    def _write_archive(self, sink: Sink, name: str) -> None:
        writer = ContainerWriter(sink, name)
        scripts = self._scripts.records()  # before the storages: it finds more of them
        self._storages.write(writer, DATA)
        for record, content in (*self._records.items(), *scripts):
            writer.add(record, content)
        writer.add(f"{DATA}version", b"6\n")
        writer.add("byteorder", b"little")
        writer.finish_identified()

    # -- questions

    def dependency_graph_string(self) -> str:
        """What needs what, as a text of Graphviz."""
        return self.dependency_graph.to_dot()

    def _with_action(self, action: _ModuleProviderAction) -> list[str]:
        nodes = self.dependency_graph.nodes.items()
        return sorted(name for name, attributes in nodes if attributes.get("action") is action)

    def externed_modules(self) -> list[str]:
        """The modules that are left outside."""
        return self._with_action(_ModuleProviderAction.EXTERN)

    def interned_modules(self) -> list[str]:
        """The modules that are taken in."""
        return self._with_action(_ModuleProviderAction.INTERN)

    def mocked_modules(self) -> list[str]:
        """The modules that are mocked."""
        return self._with_action(_ModuleProviderAction.MOCK)

    def denied_modules(self) -> list[str]:
        """The modules that were denied."""
        return self._with_action(_ModuleProviderAction.DENY)

    def get_rdeps(self, module_name: str) -> list[str]:
        """The modules that need a module."""
        known = module_name in self.dependency_graph
        return list(self.dependency_graph.predecessors(module_name)) if known else []

    def all_paths(self, src: str, dst: str) -> str:
        """How one module comes to need another, as a text of Graphviz."""
        return self.dependency_graph.all_paths(src, dst)


def _source_in(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _source_of(module: ModuleType) -> str | PackagingErrorReason:
    """The source of a module, or why there is none."""
    name, file = demangle(module.__name__), getattr(module, "__file__", None)
    if file is None:
        return "" if is_mangled(module.__name__) else PackagingErrorReason.NO_DUNDER_FILE
    if file.endswith(tuple(EXTENSION_SUFFIXES)):
        return PackagingErrorReason.IS_EXTENSION_MODULE
    get_source = getattr(module.__loader__, "get_source", None)
    source = get_source(name) if get_source is not None else None
    if source is None:  # frozen modules have files and loaders that do not read them
        source = "".join(linecache.getlines(file, module.__dict__)) or None
    return PackagingErrorReason.SOURCE_FILE_NOT_FOUND if source is None else str(source)


def _refusing_file(module: ModuleType, reason: PackagingErrorReason) -> str | None:
    is_missing = reason is PackagingErrorReason.SOURCE_FILE_NOT_FOUND
    return f"filename: {module.__file__}" if is_missing else None
