"""Writing archives."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import IO, NamedTuple

from ...frontend.diagnostics.diagnostics import Diagnostic, Label
from ...frontend.sources.source import UNKNOWN
from ...interpreter.values.objects import ScriptObject
from ...ir.graphs.clone import clone_graph
from ...typecheck.definitions.class_types import ClassType
from ...typecheck.definitions.functions import Function
from ...typecheck.definitions.schema import NO_DEFAULT, Argument, Signature
from ...typecheck.types.tensor_facts import without_facts
from ...typecheck.types.types import ANY, BOOL, STRING, DictType, ListType
from ..files.atomic_file import FilePath
from ..files.container_writer import ContainerWriter, Sink, write_container
from ..files.errors import ArchiveError, archive_error, within_limits
from ..loading.debug_info import PlaceTags, write_debug_records
from ..loading.loader import run
from ..pickles.nodes import TupleNode
from ..pickles.tensors import StorageTable
from ..pickles.writer import write_pickle
from ..printing.classes import PrintedFile, PrintedUnit, print_unit
from ..printing.expressions import PythonCallError
from ..printing.printer import PrintError, graph_of
from ..printing.types import Named, TypeNames
from .write_values import ValueWriter

__all__ = [
    "Bytecode",
    "Examples",
    "ExtraFiles",
    "Records",
    "Target",
    "code_records",
    "make_records",
    "pickled_constants",
    "savable",
    "write_records",
    "save_archive",
    "save_function",
    "save_function_to_buffer",
    "save_to_buffer",
]

Target = FilePath | IO[bytes]

ExtraFiles = Mapping[str, bytes | str]

Examples = Mapping[str, Sequence[object]]
"""The arguments that methods were traced with, by the names of the methods."""

_EXAMPLES = DictType(STRING, ListType(ANY))


def save_archive(
    target: ScriptObject,
    file: Target,
    extra_files: ExtraFiles | None = None,
    examples: Examples | None = None,
) -> None:
    """Write a script object, usually a module, as a TorchScript archive.

    Of the tensors that methods were traced with, the `examples`, no data is written.  Equal objects
    make equal bytes.  A file at the path is replaced once all is written, or stays as it was; a
    file object only gets bytes when everything has a form in an archive.

    Raises:
        ArchiveError: something has no form in an archive.
        OSError: the file cannot be written.
    """
    write_container(file, partial(write_records, make_records(target, extra_files, examples)))


def save_to_buffer(
    target: ScriptObject,
    extra_files: ExtraFiles | None = None,
    examples: Examples | None = None,
) -> bytes:
    """The bytes of the archive of a script object; raises as `save_archive`."""
    sink = io.BytesIO()
    write_records(make_records(target, extra_files, examples), sink, "archive")
    return sink.getvalue()


def save_function(function: Function, file: Target, extra_files: ExtraFiles | None = None) -> None:
    """Write a function as an archive: a module without attributes whose `forward` it is."""
    save_archive(_placeholder(function), file, extra_files)


def save_function_to_buffer(function: Function, extra_files: ExtraFiles | None = None) -> bytes:
    """The bytes of the archive of a function."""
    return save_to_buffer(_placeholder(function), extra_files)


# -- an archive's records


@within_limits("the module")
def make_records(
    target: ScriptObject, extra_files: ExtraFiles | None, examples: Examples | None = None
) -> Records:
    with savable():
        return Records(target, extra_files or {}, examples or {})


@contextmanager
def savable() -> Iterator[None]:
    """Around what makes records: what has no form in an archive is an ArchiveError."""
    try:
        yield
    except PythonCallError as error:
        raise _python_call(error) from None
    except PrintError as error:
        what = error.message if error.span is UNKNOWN else str(error)
        raise archive_error("unsupported-value", f"this cannot be saved: {what}") from None
    except UnicodeEncodeError as error:
        what = f"a text that is no Unicode, {error.object[:80]!a}"
        raise archive_error("unsupported-value", f"this cannot be saved: it holds {what}") from None
    except ValueError as error:
        raise archive_error("unsupported-value", f"this cannot be saved: {error}") from None


def _python_call(error: PythonCallError) -> ArchiveError:
    """The error about a call of a function that is left to Python, at the call."""
    torch = (
        f"Could not export Python function call '{error.name}'. Remove calls to Python functions "
        "before export. Did you forget to add @script or @script_method annotation? If this is a "
        "nn.ModuleList, add it to __constants__"
    )
    return ArchiveError(
        [
            Diagnostic(
                "unsupported-value",
                f"`{error.name}` is left to Python, so this cannot be saved",
                Label(error.span.whole, "called here"),
                torch_message=torch,
                torch_span=error.span,
            )
        ]
    )


class Records:
    """Everything that goes into an archive, made before the first byte is written."""

    def __init__(self, target: ScriptObject, extra_files: ExtraFiles, examples: Examples) -> None:
        self.extra = {
            name: content.encode() if isinstance(content, str) else bytes(content)
            for name, content in extra_files.items()
        }
        for name in self.extra:
            _check_extra(name)
        names = self.names = TypeNames(unique=True)
        names.name_of(target.cls)
        self.storages = StorageTable()
        data = ValueWriter(self.storages, names, run)
        self.data = write_pickle(data.node(target, target.cls))
        unit = print_unit(*_roots(target, data), names=names)
        self.files = unit.files
        self.constant_storages = StorageTable()
        self.constants = pickled_constants(unit, self.constant_storages)
        self.example_storages = StorageTable()
        self.examples = b""
        if examples:
            writer = ValueWriter(self.example_storages, names, run)
            given = {method: list(values) for method, values in examples.items()}
            self.examples = write_pickle(writer.node(given, _EXAMPLES))


class Bytecode(NamedTuple):
    """What an archive for the lite interpreter holds besides: a pickle, its storages and the folder
    they lie in, and what gives the records that tell where instructions are from."""

    pickle: bytes
    storages: StorageTable
    folder: str
    debug: Callable[[PlaceTags], Iterable[tuple[str, bytes]]] | None = None


def pickled_constants(unit: PrintedUnit, storages: StorageTable) -> bytes:
    """The pickle of what printed code calls `CONSTANTS.c0` and so on."""
    writer = ValueWriter(storages, unit.names, run)
    return write_pickle(TupleNode(tuple(map(writer.node, unit.constants, unit.types))))


def code_records(files: Iterable[PrintedFile], folder: str) -> Iterator[tuple[str, bytes]]:
    """The records of printed code, with those that tell where it is from."""
    yield from _code_records(files, folder, PlaceTags())


def _code_records(
    files: Iterable[PrintedFile], folder: str, tags: PlaceTags
) -> Iterator[tuple[str, bytes]]:
    for file in files:
        record = f"{folder}{file.namespace.replace('.', '/')}.py"
        yield record, file.text.encode("utf-8", "surrogateescape")
        yield f"{record}.debug_pkl", write_debug_records(file.text, file.records, tags)


def _check_extra(name: str) -> None:
    """Refuse the name of an extra file that would not be found again, with an ArchiveError."""
    name.encode()
    if not name or name.endswith("/") or len(name) > 60_000:
        raise archive_error("unsupported-value", f"no extra file can be called {name[:80]!r}")


def _roots(target: ScriptObject, data: ValueWriter) -> list[Named]:
    """The root's class, and the classes of objects that only the data names."""
    return [target.cls, *(cls for cls in data.classes if cls is not target.cls)]


def write_records(
    records: Records,
    sink: Sink,
    name: str,
    bytecode: Bytecode | None = None,
) -> None:
    """The records in the order of PyTorch's own writer."""
    writer = ContainerWriter(sink, name)
    for extra, content in records.extra.items():
        writer.add(f"extra/{extra}", content)
    records.storages.write(writer, "data/")
    writer.add("data.pkl", records.data)
    tags = PlaceTags()
    for record, content in _code_records(records.files, "code/", tags):
        writer.add(record, content)
    records.constant_storages.write(writer, "constants/")
    writer.add("constants.pkl", records.constants)
    if records.examples:
        records.example_storages.write(writer, "traced_inputs/", without_data=True)
        writer.add("traced_inputs.pkl", records.examples)
    if bytecode is not None:
        bytecode.storages.write(writer, bytecode.folder)
        writer.add("bytecode.pkl", bytecode.pickle)
        for record, content in () if bytecode.debug is None else bytecode.debug(tags):
            writer.add(record, content)
    version = _version(file.text for file in records.files)
    writer.add("version" if version < 6 else ".data/version", f"{version}\n".encode())
    writer.add("byteorder", b"little")
    writer.finish_identified()


_BUMPS = {"div": 4, "div_": 4, "full": 5, "linspace": 8, "logspace": 9, "gelu": 10}
"""The file version from which on an operator means what it means now."""

_BUMPED = re.compile(rf"torch\.({'|'.join(_BUMPS)})\(")


def _version(texts: Iterable[str]) -> int:
    """The lowest file version in which all operators of the code mean what they mean now."""
    used = (name for text in texts for name in _BUMPED.findall(text))
    return max(3, *(_BUMPS[name] for name in used), 3)


# -- functions


def _placeholder(function: Function) -> ScriptObject:
    """An object of class `PlaceholderModule` whose `forward` is the function.

    A method needs a first parameter self; as in torch, default arguments are lost and results have
    the types that the graph gives, be they narrower than those declared.
    """
    cls = ClassType("__torch__.PlaceholderModule", is_module=True)
    cls.add_attribute("training", BOOL)
    graph = clone_graph(graph_of(function))
    graph.block.param.insert_output(0, cls).name = "self"
    signature = function.signature
    arguments = (
        Argument("self", cls),
        *(Argument(a.name, a.type, NO_DEFAULT) for a in signature.arguments),
    )
    returns = tuple(Argument("", without_facts(value.type)) for value in graph.outputs)
    forward = Function(
        f"{cls.qualified_name}.forward",
        tree=function.tree,
        declared=Signature("forward", "", arguments, returns),
        graph=graph,
        owner=cls,
    )
    cls.methods["forward"] = forward
    return ScriptObject(cls, [True])
