"""Making the model of a source that `source_text` wrote."""

from __future__ import annotations

import base64
import binascii
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...interpreter.values.objects import ScriptObject
from ...ops.memory.dtype import Array
from ...ops.quantized_tensors.arrays import quantizer_of
from ...ops.tensors.tensor import Tensor
from ...typecheck.definitions.names import Constant
from ..files.errors import archive_error
from ..files.identify import TORCHSCRIPT, FileKind
from ..files.limits import DEFAULT_LIMITS, Limits
from ..loading.loader import Loader
from ..pickles.nodes import Node, ObjectNode, TupleNode
from ..pickles.read_values import ValueReader
from ..pickles.tensors import dtype_of_storage

__all__ = ["NamedStorage", "Weights", "load_source", "weight_arrays"]

Weights = Mapping[str, Tensor | Array]


@dataclass(frozen=True, slots=True)
class NamedStorage:
    """A storage of `count` elements of a `kind` that the weight of a `name` fills, its dimensions
    in an `order` in memory."""

    name: str
    order: tuple[int, ...]
    kind: str
    count: int


def weight_arrays(weights: Weights) -> dict[str, Array]:
    """Weights by name as plain arrays; a quantized tensor as its numbers, with scale and zero
    point."""
    arrays: dict[str, Array] = {}
    for name, weight in weights.items():
        if not isinstance(weight, Tensor):
            arrays[name] = np.asarray(weight)
        elif weight.is_quantized:
            arrays[f"{name}.int_repr"] = weight.int_repr()._array
            scale, zero_point = quantizer_of(weight._array, "convert").numbers
            arrays[f"{name}.scale"] = np.asarray(scale)
            arrays[f"{name}.zero_point"] = np.asarray(zero_point)
        else:
            arrays[name] = weight._array
    return arrays


def load_source(
    code: Mapping[str, str],
    root: Node,
    constants: Node,
    storages: Mapping[str, NamedStorage | str],
    weights: Weights | None,
    version: int,
    *,
    title: str,
    trusted: bool,
    limits: Limits = DEFAULT_LIMITS,
) -> ScriptObject:
    """The root object of a source.

    Args:
        code: the text of code files by their names in archives.
        root: the description of the object.
        constants: the tuple of what code calls `CONSTANTS.c0` and so on.
        storages: where the bytes of each storage are: in a weight, or in a text (base64).
        weights: the weights by name; without them they are zero.
        version: the version of archives that the code is of.
        title: what messages call the source.
        trusted: as `load_archive` takes it.
        limits: as `load_archive` takes them.

    Raises:
        ArchiveError: a weight is missing or does not fit, or as `load_archive`.
    """
    arrays = None if weights is None else weight_arrays(weights)
    records = _Records(code, storages, arrays, version, title)
    return _SourceLoader(records, limits, trusted, root, constants).load(None)


class _Records:
    """A source as the records of an archive."""

    byteorder = "little"

    def __init__(
        self,
        code: Mapping[str, str],
        storages: Mapping[str, NamedStorage | str],
        weights: Mapping[str, Array] | None,
        version: int,
        title: str,
    ) -> None:
        self.title = title
        self._weights = weights
        self._storages = storages
        self._code = {name: text.encode("utf-8", "surrogateescape") for name, text in code.items()}
        self._code["version"] = f"{version}".encode()
        self.length = sum(map(len, self._code.values()))

    def __contains__(self, record: str) -> bool:
        return record in self._code or record in self._storages

    def kind(self) -> FileKind:
        return TORCHSCRIPT

    def records(self, folder: str = "") -> Iterator[str]:
        return (record for record in self._code if record.startswith(folder))

    def read(self, record: str) -> bytes:
        return self._code[record] if record in self._code else self._bytes(record)

    def size(self, record: str) -> int:
        return len(self.read(record))

    def read_into(self, record: str, target: memoryview) -> None:
        target[:] = self._bytes(record)[: len(target)]

    def mapped(self, record: str, alignment: int) -> None:
        return None

    def _bytes(self, record: str) -> bytes:
        storage = self._storages[record]
        if isinstance(storage, NamedStorage):
            return self._weight(storage)
        try:
            return base64.b64decode(storage, validate=True)
        except (binascii.Error, ValueError):
            message = f"storage `{record}` of {self.title} is no base64"
            raise archive_error("damaged-archive", message) from None

    def _weight(self, storage: NamedStorage) -> bytes:
        dtype = dtype_of_storage(storage.kind)
        if self._weights is None:
            return bytes(storage.count * dtype.itemsize)
        array = self._weights.get(storage.name)
        if array is None:
            message = f"the weights of {self.title} have no `{storage.name}`"
            raise archive_error("damaged-archive", message)
        if array.size != storage.count or sorted(storage.order) != list(range(array.ndim)):
            message = f"`{storage.name}` of the weights of {self.title} has another shape"
            raise archive_error("damaged-archive", message)
        flat = array.astype(dtype, copy=False).transpose(storage.order).reshape(-1)
        return (flat.byteswap() if sys.byteorder == "big" else flat).tobytes()


class _SourceLoader(Loader):
    """Makes the model of one source."""

    needed = ()
    is_all_code = False

    def __init__(
        self, records: _Records, limits: Limits, trusted: bool, root: Node, constants: Node
    ) -> None:
        super().__init__(records, limits, trusted, False)
        self._root = root
        self._constants = constants

    def root(self) -> ObjectNode:
        """The model."""
        if not isinstance(self._root, ObjectNode):
            raise self.error("damaged-archive", "holds no module in ROOT")
        return self._root

    def root_reader(self) -> ValueReader:
        """What makes the model."""
        return self.reader("ROOT", "")

    def constant_values(self) -> Sequence[Constant]:
        """The values that code calls `CONSTANTS.c0` and so on."""
        if not isinstance(self._constants, TupleNode):
            raise self.error("damaged-archive", "holds no tuple in CONSTANTS")
        reader = self.reader("CONSTANTS", "")
        return [self.constant(item, reader) for item in self._constants.items]
