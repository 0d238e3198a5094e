"""Pickles of `torch.save` that a module of the caller's reads and writes (`pickle_module=dill`).

The module has what `pickle` has of it: `Pickler` and `Unpickler`.  Tensors go through it by
what rebuilds them, and their memory, as ever, lies in records beside the pickle.
"""

from __future__ import annotations

import io
import sys
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Final

from ...ops.conjugates.tensors import is_turned
from ...ops.eager.typed_storage import TypedStorage
from ...ops.memory.dtype import DTYPES, DType, dtype_of
from ...ops.tensors.tensor import PLAIN_TENSORS, Parameter, Tensor
from ...ops.tensors.untyped_storage import Storage
from ..files.errors import archive_error
from ..pickles.nodes import StorageNode, TensorNode
from ..pickles.object_names import found, torch_module
from ..pickles.tensors import TYPED_STORAGES, StorageReader, StorageTable
from .states import state_of

__all__ = ["GivenReader", "is_own", "pickled_with"]

_KINDS: Final[dict[str, DType]] = {f"{d.scalar_name}Storage": d for d in DTYPES.values()}
_UNTYPED: Final = "UntypedStorage"


def is_own(module: Any) -> bool:
    """Whether a module reads and writes in ways of its own, which those of Python are not."""
    return module is not None and module is not sys.modules.get("pickle")


class GivenReader:
    """The values of pickles that follow each other in `data`, read by a module's `Unpickler`, whose
    keywords `options` are; tensors have their memory in `storages`."""

    wants_contents = False

    def __init__(
        self,
        module: Any,
        options: Mapping[str, object],
        data: bytes,
        storages: StorageReader,
    ) -> None:
        self._file = io.BytesIO(data)
        self._options = options

        class Unpickler(module.Unpickler):  # type: ignore[misc]
            """Finds storages by their kinds, and what is torch's under the name it has here."""

            def find_class(self, module: str, name: str) -> Any:
                if name == _UNTYPED or name in _KINDS:
                    return name
                here = torch_module(module)
                is_torch = sys.modules.get("torch") is sys.modules[torch_module("torch")]
                try:
                    return super().find_class(module if is_torch else here, name)
                except (ImportError, AttributeError):
                    return found(module, name)

            def persistent_load(self, given: Any) -> object:
                return _storage(given, storages)

        self._kind = Unpickler

    @property
    def at(self) -> int:
        """Where the next pickle begins."""
        return self._file.tell()

    def read(self) -> Any:
        """The value that comes next."""
        return self._kind(self._file, **self._options).load()


def _storage(given: Any, storages: StorageReader) -> object:
    """The storage that a pickle speaks of.

    Raises:
        ArchiveError: it speaks of something else, of a storage that is not there, or of one that is
            to have no data.
    """
    match given:
        case ("storage", str(kind), key, str(location), int(count), *_):
            dtype = _KINDS.get(kind, DTYPES["uint8"])
            node = StorageNode(dtype.scalar_name, str(key), location, count)
            if storages.is_meta(node):
                raise archive_error(
                    "unsupported-value", "a `pickle_module` reads no tensors without their data"
                )
            memory = Storage.over(storages.array(TensorNode(node, 0, (count,), (1,), False)))
            return memory if kind == _UNTYPED else TypedStorage._over(memory, dtype)
    raise archive_error("damaged-archive", f"a pickle refers to {given!r}, which is no storage")


class _Stored:
    """A storage in a pickle that is being written: it becomes a reference to a record."""

    def __init__(self, node: StorageNode, in_zip: bool) -> None:
        kind = found("torch", f"{node.kind}Storage")
        reference = "storage", kind, node.key, node.location, node.numel
        self.reference: tuple[object, ...] = reference if in_zip else (*reference, None)


def pickled_with(
    module: Any, value: object, storages: StorageTable, protocol: int, in_zip: bool
) -> bytes:
    """The pickle of a value, whose tensors share memory in `storages` as they do here.

    Raises:
        ArchiveError: memory is seen as two dtypes.
    """
    made: dict[int, tuple[object, _Stored]] = {}

    def stored(tensor: Tensor) -> tuple[TensorNode, _Stored]:
        node = storages.tensor(tensor._array, tensor.requires_grad)
        _, storage = made.setdefault(
            id(node.storage), (node.storage, _Stored(node.storage, in_zip))
        )
        return node, storage

    class Pickler(module.Pickler):  # type: ignore[misc]
        """Writes references to storages, and has all else written as ever."""

        def persistent_id(self, value: object) -> object:
            return value.reference if isinstance(value, _Stored) else None

        def reducer_override(self, value: Any) -> Any:
            if type(value) is Parameter:
                state = state_of(value)
                parts = value.data, value.requires_grad, OrderedDict[int, object]()
                if state is None:
                    return found("torch._utils", "_rebuild_parameter"), parts
                return found("torch._utils", "_rebuild_parameter_with_state"), (*parts, state)
            if type(value) in PLAIN_TENSORS and _is_dense(value):
                node, storage = stored(value)
                lies = storage, node.offset, tuple(node.size), tuple(node.stride)
                rest = node.requires_grad, OrderedDict[int, object]()
                return found("torch._utils", "_rebuild_tensor_v2"), (*lies, *rest)
            own = getattr(super(), "reducer_override", None)
            return NotImplemented if own is None else own(value)

    file = io.BytesIO()
    Pickler(file, protocol=protocol).dump(value)
    return file.getvalue()


def _is_dense(tensor: Tensor) -> bool:
    """Whether a tensor is numbers of a kind of storage, and nothing more."""
    if is_turned(tensor) or state_of(tensor):
        return False
    array = tensor._array
    plain = type(array).__name__ == "ndarray" and array.dtype.names is None
    return plain and dtype_of(array).scalar_name in TYPED_STORAGES
