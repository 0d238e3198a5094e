"""Safetensors files, by the names that `safetensors.torch` gives these functions."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import closing

from .frontend.diagnostics.exceptions import trimmed
from .ops.tensors.tensor import Tensor
from .serialization.files.atomic_file import atomic_file
from .serialization.files.file_bytes import OpenedFile, Readable
from .serialization.weights.safetensors import read_safetensors, write_safetensors

__all__ = ["load", "load_file", "save", "save_file"]

File = str | os.PathLike[str]


def load(data: bytes) -> dict[str, Tensor]:
    """The tensors in the bytes of a file.

    Raises:
        RuntimeError: they are damaged, or have a dtype that does not exist here.
    """
    with trimmed():
        return _read(data)


def load_file(filename: File) -> dict[str, Tensor]:
    """The tensors of a file; raises as `load`."""
    with trimmed():
        return _read(filename)


def _read(source: Readable) -> dict[str, Tensor]:
    with closing(OpenedFile(source)) as file:
        return read_safetensors(file)


def save(tensors: Mapping[str, Tensor], metadata: Mapping[str, str] | None = None) -> bytes:
    """The bytes of a file of these tensors; `metadata` are texts kept with them.

    Raises:
        RuntimeError: a value is no tensor, or the format has no such dtype.
    """
    with trimmed():
        return write_safetensors(tensors, metadata)


def save_file(
    tensors: Mapping[str, Tensor], filename: File, metadata: Mapping[str, str] | None = None
) -> None:
    """Write a file of these tensors, in place of one that is there; raises as `save`."""
    content = save(tensors, metadata)
    with atomic_file(filename) as opened:
        opened.write(content)
