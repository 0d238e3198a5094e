"""What opens one archive: its records, its code, its objects."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from ...frontend.diagnostics.diagnostics import Collector
from ...frontend.diagnostics.exceptions import raise_for
from ...frontend.limits.clock import OutOfTime
from ...interpreter.bounds.guard import Guard, LimitExceeded
from ...interpreter.failures.errors import Failure, script_error
from ...interpreter.running.evaluating import CONTEXT, evaluate
from ...interpreter.running.invoking import invoke
from ...interpreter.values.objects import ScriptObject
from ...ir.functions.define import define_function
from ...ir.graphs.graph import Graph
from ...ir.passes.constant_pooling import pool_constants
from ...ir.passes.constant_propagation import propagate_constants
from ...ops.memory.dtype import CPU, META, Device
from ...typecheck.definitions.class_types import ClassType
from ...typecheck.definitions.functions import Function
from ...typecheck.definitions.names import Constant
from ...typecheck.definitions.turns import Postponed
from ..files.errors import ArchiveError, archive_error
from ..files.identify import FileKind
from ..files.limits import Limits
from ..pickles.nodes import DictNode, ListNode, Node, ObjectNode, TupleNode, class_names
from ..pickles.read_values import UNRESTORED, ValueReader
from ..pickles.reader import read_pickle, read_record
from ..pickles.tensors import Records, StorageReader
from ..pickles.value_types import machine_type
from .absent_devices import take_for
from .archive_table import ARCHIVE_TABLE
from .builtin_methods import packed_class
from .debug_info import LateOrigins, Origins, read_debug_records
from .import_code import CodeFile, CodeImporter
from .operator_kinds import REFUSED, kind_of
from .refuse import refuse_operators
from .unknown_operators import unknown_operators
from .upgraders import NAMESPACE, TEXT, Upgraders

__all__ = ["Archive", "NEWEST_VERSION", "Loader", "archive_version", "old_meanings", "run"]

NEWEST_VERSION = 10
"""The newest file version that is read."""


class Archive(Records, Protocol):
    """Where everything is read from, see `container.ArchiveReader`."""

    @property
    def length(self) -> int:
        """The bytes of the whole file."""

    def kind(self) -> FileKind:
        """What kind of file it is, for messages."""

    def records(self, folder: str = "") -> Iterator[str]:
        """The names of the records in a folder."""

    def read(self, record: str) -> bytes:
        """The bytes of a record."""


def archive_version(archive: Archive) -> int:
    """The file version of an archive.

    Raises:
        ArchiveError: it has none, or one that is not read here.
    """
    record = next((r for r in (".data/version", "version") if r in archive), None)
    if record is None:
        raise archive_error("damaged-archive", f'{archive.title} has no record "version"')
    text = archive.read(record)[:32].decode("ascii", "replace").strip()
    if not text.isdigit():
        message = f"{archive.title} has no version number, but {text!r}"
        raise archive_error("damaged-archive", message)
    version = int(text)
    if not 1 <= version <= NEWEST_VERSION:
        raise archive_error(
            "version-too-new" if version else "damaged-archive",
            f"{archive.title} is of file version {version}; versions 1 to {NEWEST_VERSION} are "
            "read here",
            torch=f"Attempted to read a PyTorch file with version {version}, but the maximum "
            f"supported version for reading is {NEWEST_VERSION}.",
        )
    return version


def old_meanings(version: int) -> Callable[[str], Function | None]:
    """What an overload meant in archives of a file version, if that has changed since."""
    collector = Collector()
    upgraders = Upgraders(version, _old_meanings(collector).function_named)
    return upgraders.overload


def _old_meanings(collector: Collector) -> CodeImporter:
    """The importer of what operators meant in earlier versions."""
    files = {NAMESPACE: lambda: CodeFile(TEXT)}
    importer = CodeImporter(files, (), collector, ARCHIVE_TABLE.names)

    def define(function: Function) -> None:
        if importer.read(function):
            define_function(function, importer.resolver, collector, ARCHIVE_TABLE, evaluate)

    importer.define = define
    return importer


class Loader:
    """Opens one archive; `trusted` and `mapped` are as `load_archive` takes them.

    The parts that differ between formats are methods: where the code is, what the constants and
    the root are, and what makes values of them.
    """

    needed: tuple[str, ...] = ("data.pkl", "constants.pkl")
    """The records without which it is none."""

    code_folder = "code/"

    restores = True
    """Whether objects whose code is not trusted may restore themselves by it."""

    is_all_code = True
    """Whether functions follow from the code files, where these use no constants."""

    without_data = False
    """Whether the weights are left in the file, and all tensors lie on the device `meta`."""

    only_here = False
    """Whether devices that are not here, named by code and data, are taken for the weights'."""

    examples: dict[str, list[object]] | None = None
    """Where to put what methods were traced with, if that is asked for."""

    def __init__(self, archive: Archive, limits: Limits, trusted: bool, mapped: bool) -> None:
        self.mapped = mapped
        self.archive = archive
        self.limits = limits
        self.guard = None if trusted else Guard(limits.running)
        self.collector = Collector(warnings=False)
        self.constants: list[Constant] = []
        self._digest = hashlib.sha256()
        self._check_kind()
        version, is_before_2_1 = archive_version(archive), self.is_before_2_1(archive)
        self._digest.update(f"{version}{is_before_2_1}\0".encode())
        meanings = _old_meanings(self.collector).function_named
        self.upgraders = Upgraders(version, meanings, is_before_2_1)
        self.importer = CodeImporter(
            self._files(),
            self.constants,
            self.collector,
            ARCHIVE_TABLE.names,
            self.upgraders.name,
            packed_class,
        )
        self.importer.define = self._define
        self.importer.guard = self.guard
        self._defining: list[Function] = []

    @staticmethod
    def is_before_2_1(archive: Archive) -> bool:
        """Whether PyTorch has written an archive before 2.1, which added a record."""
        return "data.pkl" in archive and "byteorder" not in archive

    def load(self, extra_files: dict[str, object] | None) -> ScriptObject:
        """The root object."""
        if self.guard is None:
            return self._load(extra_files)
        try:
            with self.guard.entered(room=self.weights()):
                return self._load(extra_files)
        except (LimitExceeded, OutOfTime) as error:
            raise self.error("limit-exceeded", f"cannot be loaded: {error}") from None

    def _load(self, extra_files: dict[str, object] | None) -> ScriptObject:
        self.constants.extend(self.constant_values())
        if self.only_here:
            self._digest.update(f"{self._home}\0".encode())
        if self.is_all_code and not self.constants:
            self.importer.digest = self._digest.hexdigest()
        root = self.root()
        self._check_operators(root)
        if self.guard is not None:
            self._compile_all(root)
        try:
            made = self.root_reader().value(root)
        except ArchiveError:
            raise_for(self.collector)  # what is wrong with the code says more
            raise
        raise_for(self.collector)
        if not isinstance(made, ScriptObject):
            raise self.error("damaged-archive", "holds no module in `data.pkl`")
        for name in extra_files or ():
            if f"extra/{name}" in self.archive:
                assert extra_files is not None
                extra_files[name] = self.archive.read(f"extra/{name}")
        if self.examples is not None:
            self.examples.update(self._examples())
        return made

    @property
    def _home(self) -> Device:
        """The device of the weights."""
        return META if self.without_data else CPU

    def weights(self) -> int:
        """What the records take up besides what reading them needs: about the weights, twice."""
        archive = self.archive
        return archive.length + sum(map(archive.size, archive.records()))

    # -- what differs between formats

    def root(self) -> ObjectNode:
        """The description of the root object."""
        return self.object_of("data.pkl")

    def described(self, root: ObjectNode) -> list[Node]:
        """The descriptions of all objects, some inside others."""
        return [root]

    def root_reader(self) -> ValueReader:
        """What makes the root object."""
        return self.reader("data.pkl", "data/")

    def constant_values(self) -> Sequence[Constant]:
        """What code calls `CONSTANTS.c0` and so on."""
        return self.constants_of("constants.pkl", "constants/")

    def _examples(self) -> dict[str, list[object]]:
        """What each method was traced with, as far as the archive tells it."""
        record = "traced_inputs.pkl"
        if record not in self.archive:
            return {}
        storages = StorageReader(self.archive, "traced_inputs/")
        storages.without_data, storages.only_here = True, True
        made = self._reader(record, storages).value(self._pickle(record))
        if not isinstance(made, dict) or not all(isinstance(v, list) for v in made.values()):
            raise self.error("damaged-archive", f"holds no lists of arguments in `{record}`")
        return made

    # -- records

    def error(self, code: str, what: str, torch: str = "", help: str = "") -> ArchiveError:
        """What is wrong with the archive."""
        return archive_error(code, f"{self.archive.title} {what}", torch=torch, help=help)

    def _check_kind(self) -> None:
        if all(record in self.archive for record in self.needed):
            return
        kind = self.archive.kind()
        raise self.error(
            "not-an-archive",
            f"is not a TorchScript archive: it is {kind.description}",
            torch="PytorchStreamReader failed locating file constants.pkl: file not found",
            help=kind.hint,
        )

    def object_of(self, record: str) -> ObjectNode:
        """The description of the object in a record."""
        root = self._pickle(record)
        if not isinstance(root, ObjectNode):
            raise self.error("damaged-archive", f"holds no module in `{record}`")
        return root

    def constants_of(self, record: str, folder: str) -> Sequence[Constant]:
        """The values of the tuple in a record, with their storages in a folder."""
        root = self._pickle(record)
        if not isinstance(root, TupleNode):
            raise self.error("damaged-archive", f"holds no tuple in `{record}`")
        reader = self.reader(record, folder)
        return [self.constant(item, reader) for item in root.items]

    def constant(self, node: Node, reader: ValueReader) -> Constant:
        """The value of a node.  A list or dict is of the type that is said: what is empty in it
        tells nothing of its own."""
        value = reader.value(node)
        if isinstance(node, ListNode | DictNode) and node.tag:
            return Constant(value, self.importer.type_of_text(node.tag, "a constant"))
        return Constant(value, machine_type(value))

    def _pickle(self, record: str) -> Node:
        if record not in self.archive:
            raise self.error("damaged-archive", f"has no record `{record}`")
        return read_record(self.archive, record, self.limits)

    def reader(self, record: str, folder: str) -> ValueReader:
        """What makes the values of a pickle, with its storages in a folder."""
        return self._reader(record, self.storage_reader(folder))

    def _reader(self, record: str, storages: StorageReader) -> ValueReader:
        named = self.importer.type_named
        return ValueReader(storages, named, self.call, f"`{record}`", self.limits)

    def storage_reader(self, folder: str) -> StorageReader:
        """What reads the storages in a folder."""
        storages = StorageReader(self.archive, folder, self.mapped)
        storages.without_data, storages.only_here = self.without_data, self.only_here
        return storages

    def call(self, function: Function, values: Sequence[object]) -> object:
        """Run a method that restores an object, unless the archive's code is only looked at."""
        may_run = self.restores or function.guard is None
        return run(function, values) if may_run else UNRESTORED

    # -- code

    def _files(self) -> dict[str, Callable[[], CodeFile]]:
        found: dict[str, Callable[[], CodeFile]] = {}
        folder = self.code_folder
        for record in self.archive.records(folder):
            if record.endswith(".py"):
                namespace = record.removeprefix(folder).removesuffix(".py").replace("/", ".")
                found[namespace] = self.file(record)
        return found

    def file(self, record: str, debug_record: str = "") -> Callable[[], CodeFile]:
        """What decodes a code file; its bytes are read now, since the archive will be closed."""
        if self.archive.size(record) > self.limits.code:
            what = f"has a code file of {self.archive.size(record)} bytes: `{record}`"
            raise self.error("limit-exceeded", what)
        code = self.archive.read(record)
        self._digest.update(f"{record}\0{len(code)}\0".encode("utf-8", "surrogatepass") + code)
        debug_record = debug_record or f"{record}.debug_pkl"
        debug = self.archive.read(debug_record) if debug_record in self.archive else None

        def decode() -> CodeFile:
            text = code.decode("utf-8", "surrogateescape")
            if debug is None:
                return CodeFile(text)
            return CodeFile(text, LateOrigins(lambda: self._origins(debug, debug_record, text)))

        return decode

    def _origins(self, debug: bytes, record: str, text: str) -> Origins | None:
        try:
            root = read_pickle(debug, f"`{record}`", self.limits)
        except ArchiveError:
            return None  # such records serve messages only
        return read_debug_records(root, text)

    def _check_operators(self, root: ObjectNode) -> None:
        may_be_used = _is_known if self.guard is None else _is_harmless
        unknown = unknown_operators(self.importer, class_names(self.described(root)), may_be_used)
        if unknown:
            raise ArchiveError(unknown)

    def _compile_all(self, root: ObjectNode) -> None:
        """Compile the methods of all classes of the data: what is refused in them is refused now.

        Functions and further classes that they use are compiled with them.
        """
        for name in reversed(class_names(self.described(root))):  # what lies inside first
            cls = self.importer.type_named(name)
            if isinstance(cls, ClassType):
                for method in (*cls.methods.values(), *cls.forward_pre_hooks, *cls.forward_hooks):
                    method.ensure_defined()

    def _define(self, function: Function) -> None:
        """Compile a function; what is wrong is raised at the end of the outermost one."""
        outermost = not self._defining
        self._defining.append(function)
        try:
            self._fill_in(function)
        except Postponed:
            self._defining.remove(function)
            raise
        except BaseException:
            if outermost:
                self._defining.clear()
                self.collector.found.clear()
            raise
        if outermost:
            self._finish()

    def _fill_in(self, function: Function) -> None:
        if self.importer.read(function):
            names = self.importer.resolver
            define_function(function, names, self.collector, ARCHIVE_TABLE, evaluate)
        graph = function.graph
        if isinstance(graph, Graph) and self.upgraders.needed and self.upgraders.upgrade(graph):
            for each in graph.with_tasks:  # much of what was put in is known for this call
                propagate_constants(each, CONTEXT, asks_types=False)
                pool_constants(each, CONTEXT)
        if self.only_here and isinstance(graph, Graph):
            take_for(self._home, graph)
        if self.guard is not None and isinstance(function.graph, Graph):
            refuse_operators(function.graph, self.collector)

    def _finish(self) -> None:
        """Raise what was found; functions that failed can be tried again."""
        functions, self._defining = self._defining, []
        found, self.collector.found[:] = self.collector.found[:], []
        for function in functions:
            if function.graph is None:
                function.define, function.declared = self._define, None
        raise_for(Collector(found))


def _is_known(operator: str) -> bool:
    return ARCHIVE_TABLE.has(operator)


def _is_harmless(operator: str) -> bool:
    return _is_known(operator) and kind_of(operator) not in REFUSED


def run(function: Function, values: Sequence[object]) -> object:
    """Run a function on machine values."""
    try:
        return invoke(function, values)
    except Failure as failure:
        error = script_error(failure, function)
    raise error from None
