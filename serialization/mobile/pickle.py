"""Mobile archives whose functions are in `bytecode.pkl`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from ..files.container import ArchiveReader
from ..files.errors import ArchiveError, archive_error
from ..files.limits import Limits
from ..loading.loader import archive_version
from ..pickles.nodes import Node, TupleNode
from ..pickles.reader import read_record
from ..pickles.tensors import StorageReader
from .contents import MobileArgument, MobileContents, MobileFunction
from .debug import MobileDebug, read_mobile_debug

__all__ = ["read_mobile_pickle"]

_PART = "`bytecode.pkl`"


def read_mobile_pickle(archive: ArchiveReader, limits: Limits) -> MobileContents:
    """What a mobile archive holds; to be used before it is closed.

    Raises:
        ArchiveError: it is no mobile archive, or is damaged.
    """
    return _Reader(archive, limits).contents()


class _Reader:
    def __init__(self, archive: ArchiveReader, limits: Limits) -> None:
        self.archive = archive
        self.limits = limits
        if "bytecode.pkl" not in archive or "data.pkl" not in archive:
            raise archive_error(
                "not-an-archive",
                f"{archive.title} is no archive of the lite interpreter: it is "
                f"{archive.kind().description}",
                torch="PytorchStreamReader failed locating file bytecode.pkl: file not found",
            )

    def contents(self) -> MobileContents:
        archive = self.archive
        root = read_record(archive, "bytecode.pkl", self.limits)
        match root:
            case TupleNode((int() as version, *functions)) if not isinstance(version, bool):
                pass
            case _:
                raise self.damaged("begins with no version")
        folder = "bytecode/" if any(archive.records("bytecode/")) else "constants/"
        return MobileContents(
            title=archive.title,
            part=_PART,
            version=version,
            operator_version=archive_version(archive),
            functions=tuple(self.function(node) for node in functions),
            root=lambda: read_record(archive, "data.pkl", self.limits),
            storages=StorageReader(archive, "data/"),
            constants=StorageReader(archive, folder),
            extra={
                record.removeprefix("extra/"): partial(archive.read, record)
                for record in archive.records("extra/")
            },
            debug=self.debug(),
        )

    def debug(self) -> Callable[[], MobileDebug | None] | None:
        """What reads where instructions come from, from records that are copied now."""
        archive = self.archive
        if "mobile_debug_handles.pkl" not in archive or "callstack_debug_map.pkl" not in archive:
            return None
        handles = archive.read("mobile_debug_handles.pkl")
        places = archive.read("callstack_debug_map.pkl")
        codes = [archive.read(r) for r in archive.records("code/") if r.endswith(".debug_pkl")]
        return partial(read_mobile_debug, handles, places, codes, self.limits)

    def damaged(self, what: str) -> ArchiveError:
        return archive_error(
            "damaged-archive", f"{self.archive.title} is damaged: in {_PART}, {what}"
        )

    def function(self, node: Node) -> MobileFunction:
        match node:
            case TupleNode((str(name), TupleNode() as body, *schema)):
                parts = self.table(body)
            case _:
                raise self.damaged("a function has no name or no code")
        size = parts.get("register_size")
        if not isinstance(size, int):
            raise self.damaged(f"`{name}` has no number of registers")
        arguments, returns, has_schema = self.signature(schema)
        return MobileFunction(
            name,
            tuple(self.instruction(n) for n in self.items(parts, "instructions")),
            tuple(self.operator(n) for n in self.items(parts, "operators")),
            self.items(parts, "constants"),
            tuple(self.type(n) for n in self.items(parts, "types")),
            size,
            arguments,
            returns,
            has_schema,
        )

    def table(self, node: TupleNode) -> dict[str, Node]:
        """A tuple of named values."""
        found: dict[str, Node] = {}
        for item in node.items:
            match item:
                case TupleNode((str(name), value)):
                    found[name] = value
                case _:
                    raise self.damaged("a table has an entry without a name")
        return found

    def items(self, table: dict[str, Node], name: str) -> tuple[Node, ...]:
        found = table.get(name)
        if not isinstance(found, TupleNode):
            raise self.damaged(f"a function has no {name}")
        return found.items

    def instruction(self, node: Node) -> tuple[str, int, int]:
        match node:
            case TupleNode((str(name), int(x), int(n))):
                return name, x, n
        raise self.damaged("an instruction is none")

    def type(self, node: Node) -> str:
        if not isinstance(node, str):
            raise self.damaged("a type is no text")
        return node

    def operator(self, node: Node) -> tuple[str, str, int]:
        match node:
            case TupleNode((str(name), str(overload), *rest)):
                count = rest[0] if rest and isinstance(rest[0], int) else -1
                return name, overload, count
        raise self.damaged("an operator has no name")

    def signature(
        self, schema: Sequence[Node]
    ) -> tuple[tuple[MobileArgument, ...], tuple[MobileArgument, ...], bool]:
        """Arguments and results, if they are written."""
        if not schema or not isinstance(schema[0], TupleNode):
            return (), (), False
        parts = self.table(schema[0])
        arguments = tuple(self.argument(n) for n in self.items(parts, "arguments"))
        return arguments, tuple(self.argument(n) for n in self.items(parts, "returns")), True

    def argument(self, node: Node) -> MobileArgument:
        if not isinstance(node, TupleNode):
            raise self.damaged("an argument is none")
        table = self.table(node)
        type = self.type(table.get("type"))
        return MobileArgument(str(table.get("name")), type, table.get("default_value"))
