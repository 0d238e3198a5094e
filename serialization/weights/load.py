"""Opening the files of `torch.save`, in the zip format and in the one before it."""

from __future__ import annotations

import codecs
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from functools import partial
from types import MappingProxyType
from typing import Final

import numpy as np

from ...ops.memory.dtype import Array, Dtype
from ..files.container import ArchiveReader
from ..files.errors import archive_error, within_limits
from ..files.file_bytes import OpenedFile, Readable
from ..files.identify import (
    LEGACY_PICKLE,
    MOBILE,
    SAFETENSORS,
    STATE_DICT,
    TORCHSCRIPT,
    FileKind,
    identify,
)
from ..files.limits import DEFAULT_LIMITS, Limits
from ..pickles.nodes import StorageNode
from ..pickles.tensors import StorageReader, swapped
from .given_pickles import GivenReader, is_own
from .objects import ObjectsReader
from .pickle import UNSAFE_MESSAGE, WeightsReader
from .safetensors import read_safetensors
from .save import MAGIC, PROTOCOL
from .skipping import SKIPPING
from .vouched import SAFE, VouchedReader

__all__ = ["UNSAID", "load_weights"]


_SCRIPT = (
    "Cannot use ``weights_only=True`` with TorchScript archives passed to ``torch.load``. "
    f"{UNSAFE_MESSAGE}"
)


class _Unsaid:
    """What is taken for granted of files in the zip format that do not say it."""

    byteorder = "little"


UNSAID: Final = _Unsaid()


@within_limits("the file")
def load_weights(
    source: Readable,
    limits: Limits = DEFAULT_LIMITS,
    *,
    trusted: bool = False,
    mapped: bool = False,
    without_data: bool = False,
    encoding: str = "utf-8",
    pickle_module: object = None,
    options: Mapping[str, object] = MappingProxyType({}),
) -> object:
    """What `torch.save` wrote: tensors and plain values; or the tensors of a safetensors file.

    Other Python objects are made if the file is `trusted`, which runs what it says.  `mapped` is as
    `load_archive` takes it; only files in the zip format can be mapped, or read `without_data`:
    then all tensors lie on the device `meta`.  Strings that Python 2 wrote are decoded as
    `encoding` says, or left as bytes if it says `bytes`.  A `pickle_module` that is not Python's
    own reads the pickles of a trusted file, with `options` for its `Unpickler`.

    Raises:
        ArchiveError: the file is something else (the message says what), is damaged, or holds
            Python objects and is not trusted (the message names one).
        OSError: the file cannot be opened.
        ValueError: it is to be mapped, and not at a path.
        LookupError: there is no such encoding.
    """
    with closing(OpenedFile(source, mapped)) as file:
        kind = identify(file)
        reader = _reader(trusted, encoding)
        if trusted and is_own(pickle_module):
            reader = partial(_given_reader, pickle_module, options)
        if file[:4] == b"PK\x03\x04":
            archive = ArchiveReader(file, limits)
            archive.unsaid_byteorder = UNSAID.byteorder
            return _load_zip(archive, kind, reader, mapped, without_data)
        if mapped:
            raise archive_error(
                "unsupported-value",
                f"{file.title} cannot be mapped: it is {kind.description}",
                torch="mmap can only be used with files saved with "
                "`torch.save(_use_new_zipfile_serialization=True), please torch.save your "
                "checkpoint with this option in order to use mmap.",
            )
        if kind is SAFETENSORS:
            return read_safetensors(file, without_data=without_data)
        if kind is LEGACY_PICKLE:
            return _load_legacy(bytes(file[:]), file.title, reader)
        raise _other(file.title, kind)


_Reader = Callable[..., WeightsReader | GivenReader]


def _given_reader(
    module: object,
    options: Mapping[str, object],
    data: bytes,
    title: str,
    storages: StorageReader,
    is_first: bool = False,
) -> GivenReader:
    """What reads pickles as a module of the caller's does, which says itself what is wrong."""
    return GivenReader(module, options, data, storages)


def _reader(trusted: bool, encoding: str) -> _Reader:
    """What reads the pickles of a file.

    Raises:
        LookupError: there is no such encoding.
    """
    reader = ObjectsReader if trusted else VouchedReader if SAFE else WeightsReader
    if encoding == WeightsReader.encoding:
        return reader
    if encoding != "bytes":
        codecs.lookup(encoding)
    return type(reader.__name__, (reader,), {"encoding": encoding})


def _other(title: str, kind: FileKind) -> Exception:
    return archive_error(
        "not-an-archive",
        f"{title} is no file of `torch.save`: it is {kind.description}",
        help=kind.hint,
        torch=_SCRIPT if kind in (TORCHSCRIPT, MOBILE) else "",
    )


def _load_zip(
    archive: ArchiveReader,
    kind: FileKind,
    reader: _Reader,
    mapped: bool,
    without_data: bool,
) -> object:
    title = archive.title
    if "data.pkl" not in archive or "constants.pkl" in archive:
        raise _other(title, kind)
    if archive.size("data.pkl") > archive.limits.pickle:
        size = archive.size("data.pkl")
        raise archive_error("limit-exceeded", f"`data.pkl` of {title} has {size} bytes")
    pickled = archive.read("data.pkl")
    storages = StorageReader(archive, "data/", mapped)
    storages.without_data, storages.blank = without_data, SKIPPING.data
    return reader(pickled, title, storages).read()


class _LaterStorages(StorageReader):
    """Storages that come behind the pickle that speaks of them: memory first, contents later."""

    def __init__(self, title: str, size: int) -> None:
        self._title = title
        self._left = size
        self._folder = ""
        self._read = {}
        self._dtypes: dict[str, Dtype] = {}
        self.is_little = True

    @property
    def swaps(self) -> bool:
        return self.is_little != (sys.byteorder == "little")

    def _load(self, node: StorageNode, dtype: Dtype) -> Array:
        wanted = node.numel * dtype.itemsize
        self._dtypes[node.key] = dtype
        self._left -= wanted
        if wanted < 0 or self._left < 0:
            raise archive_error("damaged-archive", f"{self._title} is too short for its tensors")
        return np.zeros(wanted, np.uint8)

    def fill(self, keys: Sequence[object], data: bytes, at: int) -> None:
        """Take the contents: for each key the number of its elements, then the elements."""
        for given in keys:
            key = given.decode() if isinstance(given, bytes) else given
            array = self._read.get(str(key))
            if array is None:
                raise archive_error(
                    "damaged-archive", f"{self._title} has a storage {key!r} of no tensor"
                )
            at += 8
            content = np.frombuffer(data[at : at + array.nbytes], np.uint8)
            if content.size != array.nbytes:
                raise archive_error("damaged-archive", f"{self._title} ends in the middle")
            array[:] = swapped(content, self._dtypes[str(key)]) if self.swaps else content
            at += array.nbytes


def _load_legacy(data: bytes, title: str, kind: _Reader) -> object:
    """Three pickles that say what follows, the value, the storages' keys, the storages.

    The value is read before its storages are; where it depends on their contents (packed weights,
    negated values), it is read once more.
    """
    storages = _LaterStorages(title, len(data))
    reader = kind(data, title, storages, is_first=True)
    magic, protocol, system = reader.read(), reader.read(), reader.read()
    if isinstance(system, dict):
        storages.is_little = bool(system.get("little_endian", True))
    if magic != MAGIC or protocol != PROTOCOL:
        raise _other(title, STATE_DICT if magic == MAGIC else identify(data))
    begin = reader.at
    value = reader.read()
    keys = reader.read()
    if not isinstance(keys, list):
        raise archive_error("damaged-archive", f"{title} does not list its storages")
    storages.fill(keys, data, reader.at)
    if reader.wants_contents:
        return kind(data, title, storages, begin).read()
    return value
