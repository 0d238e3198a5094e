"""The records of archives, one by one: `torch._C.PyTorchFileReader` and `PyTorchFileWriter`."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

import numpy as np

from .ops.memory.dtype import DType
from .ops.tensors.tensor import Tensor
from .ops.tensors.untyped_storage import Storage
from .serialization.files.atomic_file import atomic_file, is_path, write_all
from .serialization.files.container import ArchiveReader
from .serialization.files.container_writer import ContainerWriter, archive_name

__all__ = [
    *("PyTorchFileReader", "PyTorchFileWriter", "is_script_archive", "is_zipfile"),
    *("opened_reader", "opened_writer"),
]

File = str | os.PathLike[str] | IO[bytes]

_ID = ".data/serialization_id"
_ZIP = b"PK\x03\x04"


class PyTorchFileReader:
    """The records of an archive, at a path or in a file object.

    Raises:
        RuntimeError: the file is no archive, or is damaged.
        OSError: it cannot be read.
    """

    def __init__(self, file: File) -> None:
        self._reader = ArchiveReader(file)

    def _known(self, name: str) -> str:
        if name not in self._reader:
            raise RuntimeError(f"PytorchStreamReader failed locating file {name}: file not found")
        return name

    def get_all_records(self) -> list[str]:
        """The names of the records, without the archive's folder."""
        return list(self._reader.records())

    def has_record(self, name: str) -> bool:
        """Whether there is a record of that name."""
        return name in self._reader

    def get_record(self, name: str) -> bytes:
        """The bytes of a record.

        Raises:
            RuntimeError: there is none of that name, or it is damaged.
        """
        return self._reader.read(self._known(name))

    def get_record_size(self, name: str) -> int:
        """The number of bytes of a record."""
        return self._reader.size(self._known(name))

    def get_record_offset(self, name: str) -> int:
        """Where the bytes of a record begin in the file."""
        return self._reader.entries[self._known(name)].data

    def get_record_header_offset(self, name: str) -> int:
        """Where what the file says of a record begins, before its bytes."""
        return self._reader.entries[self._known(name)].header

    def get_storage_from_record(self, name: str, numel: int, dtype: DType) -> Tensor:
        """A tensor without elements over the memory of `numel` numbers of a record.

        Raises:
            RuntimeError: there is no such record, or it is shorter.
        """
        content = self.get_record(name)
        size = numel * dtype.itemsize
        if not 0 <= size <= len(content):
            raise RuntimeError(
                f"record {name} has {len(content)} bytes, fewer than {numel} elements of {dtype}"
            )
        storage = Storage.over(np.frombuffer(bytearray(content[:size]), np.uint8))
        made = Tensor._of(np.empty(0, dtype.numpy))
        made.set_(storage, 0, (0,), (1,))
        return made

    def serialization_id(self) -> str:
        """The digits that stand for what the archive holds; empty where it has none."""
        return self._reader.read(_ID).decode("utf-8", "replace") if _ID in self._reader else ""


class PyTorchFileWriter:
    """Writes records to a path or a file object, which gets all of them at the end.

    Raises:
        RuntimeError: the path lies in no folder, or gives the archive no name.
    """

    def __init__(
        self,
        file: File,
        compute_crc32: bool = True,
        storage_alignment: int = 64,
    ) -> None:
        if storage_alignment != 64:
            raise NotImplementedError("PyTorchFileWriter: records are aligned at 64 bytes only")
        if is_path(file):
            folder = os.path.dirname(os.fsdecode(file))
            if folder and not os.path.isdir(folder):
                raise RuntimeError(f"Parent directory {folder} does not exist.")
        self._file = file
        self._name = archive_name(file) if is_path(file) else "archive"
        self._sink = io.BytesIO()
        self._writer = ContainerWriter(self._sink, self._name)
        self._names: set[str] = set()
        self._version = 3
        self._is_finished = False

    def archive_name(self) -> str:
        """The folder of the records in the archive."""
        return self._name

    def set_min_version(self, version: int) -> None:
        """Say that the archive is of that version at least."""
        self._version = max(self._version, version)

    def write_record(self, name: str, data: str | bytes | Storage, size: int) -> None:
        """Write the first `size` bytes.

        Raises:
            RuntimeError: there is a record of that name, the archive is complete, or there are
                fewer bytes.
        """
        if self._is_finished:
            raise RuntimeError(f"record {name} comes after the end of the archive")
        if name in self._names:
            raise RuntimeError(f"Tried to serialize file twice: {name}")
        content = _content(data)
        if not 0 <= size <= len(content):
            raise RuntimeError(f"record {name} has {len(content)} bytes, not {size}")
        self._names.add(name)
        self._writer.add(name, content[:size])

    def get_all_written_records(self) -> set[str]:
        """The names of the records so far."""
        return set(self._names)

    def serialization_id(self) -> str:
        """The digits that stand for the records so far."""
        return self._writer.serialization_id()

    def write_end_of_file(self) -> None:
        """Add version and byte order where they are not there, and write the file.

        Raises:
            OSError: it cannot be written.
        """
        if self._is_finished:
            raise RuntimeError("the archive is complete")
        for name, text in (("version", f"{self._version}\n"), ("byteorder", sys.byteorder)):
            if name not in self._names and f".data/{name}" not in self._names:
                self.write_record(name, text, len(text))
        self._is_finished = True
        self._names.add(_ID)
        self._writer.finish_identified()
        whole = self._sink.getbuffer()
        if is_path(self._file):
            with atomic_file(self._file) as opened:
                write_all(opened, whole)
        else:
            write_all(self._file, whole)


def _content(data: object) -> bytes:
    if isinstance(data, str):
        return data.encode()
    if isinstance(data, (bytes, bytearray, memoryview)):
        return bytes(data)
    if isinstance(data, Storage):
        return data._bytes().tobytes()
    raise TypeError(f"a record is made of bytes, text or a storage, not of {type(data).__name__}")


# --------------------------------------------------------------------------- torch.serialization


def is_zipfile(f: IO[bytes]) -> bool:
    """Whether a file object goes on with an archive; its place is left as it is."""
    start = f.tell()
    found = f.read(len(_ZIP))
    f.seek(start)
    return found == _ZIP


@contextmanager
def opened_reader(name_or_buffer: File) -> Iterator[PyTorchFileReader]:
    """A block that reads an archive's records."""
    reader = PyTorchFileReader(name_or_buffer)
    try:
        yield reader
    finally:
        reader._reader.close()


def is_script_archive(zip_file: PyTorchFileReader) -> bool:
    """Whether an archive holds a program."""
    return "constants.pkl" in zip_file.get_all_records()


@contextmanager
def opened_writer(name_or_buffer: File) -> Iterator[PyTorchFileWriter]:
    """A block that writes an archive, which is complete at its end."""
    writer = PyTorchFileWriter(name_or_buffer)
    yield writer
    writer.write_end_of_file()
    if not is_path(name_or_buffer):
        name_or_buffer.flush()
