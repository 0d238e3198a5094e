"""`torch.package.package_importer`: the modules and objects of a package.

A package is a program: its modules run when they are imported, as those of any Python package do.
`torch.jit.load` opens the scripted module of a package and runs none of that.
"""

from __future__ import annotations

import builtins
import linecache
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from importlib.abc import InspectLoader
from importlib.machinery import ModuleSpec
from importlib.util import decode_source, module_from_spec, resolve_name
from pathlib import Path
from types import CodeType, ModuleType
from typing import IO, Any, Final
from weakref import finalize

from ..jit.module import ScriptModule, wrap
from ..map_location import check_location
from ..serialization.archives.package_load import DATA, PackageLoader
from ..serialization.files.container import ArchiveReader
from ..serialization.pickles.object_names import torch_module
from ..serialization.pickles.tensors import StorageReader
from ._mangling import PackageMangler, demangle
from .file_structure_representation import Directory, directory_of
from .folder_records import FolderRecords
from .glob_group import GlobPattern
from .importer import Importer
from .pickles import PackageReader
from .resources import PackageResources, path_of

__all__ = ["PackageImporter"]

_ORIGIN: Final = "<package_importer>"
_EXTERN: Final = f"{DATA}extern_modules"
_ALWAYS: Final = frozenset({"builtins", "numpy", "numpy.core", "numpy.core._multiarray_umath"})
"""What old packages use and do not list."""


class PackageImporter(Importer, InspectLoader):
    """Opens a package: a path, also of a folder with its files, or a file object opened for
    reading bytes.

    Its modules have names of their own in this process, under which `sys.modules` has nothing but
    where their files are.  They find each other, and outside only those modules that the package
    lists; `torch` is rushlight.

    **Importing a module or unpickling an object runs code of the package**: open only packages that
    you trust.

    Raises:
        ImportError: the package needs a module that `module_allowed` says no to.
        ArchiveError: the file is no package, or is damaged.
        OSError: it cannot be opened.
    """

    def __init__(
        self,
        file_or_buffer: str | os.PathLike[str] | IO[bytes],
        module_allowed: Callable[[str], bool] = lambda module_name: True,
    ) -> None:
        self.zip_reader: Final = _records_of(file_or_buffer)
        self.filename: Final = (
            os.fspath(file_or_buffer)
            if isinstance(file_or_buffer, str | os.PathLike)
            else "<binary>"
        )
        self.modules: Final[dict[str, Any]] = {"torch_package_importer": self}
        self._mangler: Final = PackageMangler()
        self._storages: Final = StorageReader(self.zip_reader, DATA)
        self.extern_modules: Final = self._listed(file_or_buffer, module_allowed)
        self._files: Final = _modules_in(self.zip_reader.records(), self.extern_modules)
        self.patched_builtins: Final = dict(vars(builtins), __import__=self.__import__)

    def _listed(self, source: object, module_allowed: Callable[[str], bool]) -> list[str]:
        """The modules outside that the package may have."""
        listed = self._text(_EXTERN).splitlines() if _EXTERN in self.zip_reader else []
        for name in listed:
            if not module_allowed(name):
                raise ImportError(
                    f"package '{source}' needs the external module '{name}' but that module has "
                    "been disallowed"
                )
        return listed

    # -- modules

    def import_module(self, name: str, package: str | None = None) -> ModuleType:
        """A module of the package, or one outside that it lists.

        Raises:
            ModuleNotFoundError: it is neither.
        """
        return self._module(resolve_name(self._mangler.demangle(name), package))

    def _module(self, name: str) -> ModuleType:
        parent = name.rpartition(".")[0]
        holder = self._module(parent) if parent else None
        if name not in self.modules:  # its package may have imported it
            self._find(name)
            if holder is not None and parent in self._files:
                setattr(holder, name.rpartition(".")[2], self.modules[name])
        found: ModuleType = self.modules[name]
        return found

    def _find(self, name: str) -> None:
        """Put a module into the table."""
        if name in self._files:
            self._run(name)
        elif self._is_extern(name):
            self.modules[name] = import_module(torch_module(name))
        else:
            raise ModuleNotFoundError(
                f'No module named "{name}" in self-contained archive "{self.filename}" and the '
                "module is also not in the list of allowed external modules: "
                f"{self.extern_modules}",
                name=name,
            )

    def _is_extern(self, name: str) -> bool:
        """Whether a module or a package above it is one of those outside."""
        return name in _ALWAYS or any(each in self.extern_modules for each in _upwards(name))

    def _run(self, name: str) -> None:
        """Make a module and run its source, if it has one and is no mere folder."""
        path = self._files[name]
        is_package = path is None or path.endswith("/__init__.py")
        spec = ModuleSpec(name, self, origin=_ORIGIN, is_package=is_package)
        module = module_from_spec(spec)
        module.__name__ = self._mangler.mangle(name)
        module.__dict__["__torch_package__"] = True
        module.__dict__["__builtins__"] = self.patched_builtins
        module.__file__ = None if path is None else self._mangler.mangle(path)
        self.modules[name] = module
        if path is None:
            return
        self._make_known(module)
        try:
            exec(self._compiled(name, path), module.__dict__)
        except BaseException:
            self.modules.pop(name, None)
            raise

    def _make_known(self, module: ModuleType) -> None:
        """Let `inspect` find the file by the module's name, as long as this importer lives."""
        shown = sys.modules[module.__name__] = ModuleType(module.__name__)
        shown.__file__ = module.__file__  # the module itself would keep this alive
        finalize(self, sys.modules.pop, module.__name__, None)

    def _compiled(self, name: str, path: str) -> CodeType:
        """The code of a module; tracebacks and `inspect` find its source from now on."""
        source, filename = self.get_source(name), self._mangler.mangle(path)
        linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
        return compile(source, filename, "exec", dont_inherit=True)

    def __import__(
        self,
        name: str,
        globals: Mapping[str, Any] | None = None,
        locals: Mapping[str, object] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        """What `import` calls in modules of the package."""
        base = (globals or {}).get("__package__") or ""
        whole = resolve_name("." * level + name, demangle(base)) if level else name
        module = self._module(whole)
        if fromlist:
            self._import_below(whole, module, fromlist)
            return module
        below = len(name) - len(name.partition(".")[0])
        return self._module(whole[: len(whole) - below])

    def _import_below(self, name: str, module: ModuleType, fromlist: Iterable[str]) -> None:
        """Import those names of a package that are modules."""
        if not hasattr(module, "__path__"):
            return
        for each in fromlist:
            if each == "*":
                named = getattr(module, "__all__", ())
                self._import_below(name, module, [n for n in named if n != "*"])
            elif not hasattr(module, each):
                below = f"{name}.{each}"
                try:
                    self._module(below)
                except ModuleNotFoundError as error:
                    if error.name != below:
                        raise

    # -- files

    def load_binary(self, package: str, resource: str) -> bytes:
        """The bytes of a file beside the modules of `package`.

        Raises:
            RuntimeError: there is none.
        """
        return self._bytes(path_of(package, resource))

    def load_text(
        self, package: str, resource: str, encoding: str = "utf-8", errors: str = "strict"
    ) -> str:
        """The text of a file beside the modules of `package`; raises as `load_binary`."""
        return self.load_binary(package, resource).decode(encoding, errors)

    def load_pickle(self, package: str, resource: str, map_location: object = None) -> Any:
        """An object beside the modules of `package`.  What it needs is imported, and runs.

        Raises:
            RuntimeError: there is none, it is damaged, or it is to be put on another device.
            ModuleNotFoundError: it needs a module that the package has not.
        """
        check_location(map_location)
        path = path_of(package, resource)
        return PackageReader(self._bytes(path), f"`{path}`", self._storages, self).read()

    def script_module(self, number: str) -> ScriptModule:
        """The scripted module of a number; tensors it shares with pickled objects stay shared."""
        if isinstance(self.zip_reader, FolderRecords):
            raise RuntimeError(
                "Loading ScriptObjects from a PackageImporter created from a directory is not "
                "supported. Use a package archive file instead."
            )
        loader = PackageLoader.of_module(self.zip_reader, number, self._storages)
        found = wrap(loader.load(None))
        assert isinstance(found, ScriptModule)
        return found

    def id(self) -> str:
        """The prefix of the names of this importer's modules."""
        return self._mangler.parent_name()

    def python_version(self) -> str | None:
        """The version of Python that wrote the package, if it says."""
        record = f"{DATA}python_version"
        return self._text(record).strip() if record in self.zip_reader else None

    def file_structure(
        self, *, include: GlobPattern = "**", exclude: GlobPattern = ()
    ) -> Directory:
        """The files of the package as a tree, those that match."""
        return directory_of(self.filename, self.paths(), include, exclude)

    def file_of(self, path: str) -> Path | None:
        """Where a file of an unpacked package lies; None for those in archives."""
        return self.zip_reader.file_of(path) if isinstance(self.zip_reader, FolderRecords) else None

    def paths(self) -> Iterator[str]:
        """The paths of all files of the package."""
        return self.zip_reader.records()

    def _bytes(self, path: str) -> bytes:
        if path not in self.zip_reader:
            raise RuntimeError(f"PytorchStreamReader failed locating file {path}: file not found")
        return self.zip_reader.read(path)

    def _text(self, path: str) -> str:
        try:
            return self._bytes(path).decode("utf-8")
        except UnicodeDecodeError as error:
            raise RuntimeError(f"{path}: this is no text in UTF-8: {error.reason}") from None

    # -- what Python asks of a loader

    def get_source(self, module_name: str) -> str:
        """The source of a module of the package.

        Raises:
            ImportError: it has none.
        """
        name = demangle(module_name)
        path = self._files.get(name)
        if path is None:
            raise ImportError(f'no source of "{name}" in "{self.filename}"', name=name)
        return decode_source(self._bytes(path))

    def is_package(self, fullname: str) -> bool:
        """Whether a module has others below it."""
        path = self._files.get(demangle(fullname))
        return path is None or path.endswith("/__init__.py")

    def get_resource_reader(self, fullname: str) -> PackageResources | None:
        """The files beside a package's modules, for `importlib.resources`."""
        name = demangle(fullname)
        has_files = name in self._files and self.is_package(name)
        return PackageResources(self, name) if has_files else None


def _records_of(source: str | os.PathLike[str] | IO[bytes]) -> ArchiveReader | FolderRecords:
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        return FolderRecords(path) if path.is_dir() else ArchiveReader(path)
    return ArchiveReader(source)


_DEEPEST: Final = 500
"""Folders above a module; Python imports each inside the import of the next, and comes no deeper.
The names of all packages above a module grow with the square of its depth."""


def _upwards(name: str) -> Iterator[str]:
    """A name and those of the packages above it, the highest first."""
    parts = name.split(".")
    return (".".join(parts[:count]) for count in range(1, len(parts) + 1))


def _modules_in(paths: Iterable[str], outside: Sequence[str]) -> dict[str, str | None]:
    """The paths of modules by their names, which are no deeper than Python can import.

    A folder without `__init__.py` is a module without a path, and so is a package of which only
    modules below are outside.
    """
    found: dict[str, str | None] = {}
    for name in outside:
        *above, _ = _upwards(name)
        if not any(each in outside for each in above):
            found.update(dict.fromkeys(above))
    for path in paths:
        folder = path.rpartition("/")[0]
        if path.startswith(DATA) or path.count("/") > _DEEPEST:
            continue
        for package in _upwards(folder.replace("/", ".")) if folder else ():
            found.setdefault(package, None)
        if path.endswith(".py"):
            name = path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
            found[name] = path
    return found
