"""What `torch.save` writes when script calls it: a value with its types, for `torch.load`."""

from __future__ import annotations

from functools import partial

from ..files.container_writer import ContainerWriter, Sink, write_container
from ..files.errors import within_limits
from ..loading.loader import run
from ..pickles.tensors import StorageTable
from ..pickles.value_types import machine_type
from ..pickles.writer import write_pickle
from ..printing.types import TypeNames
from .save import savable
from .write_values import ValueWriter

__all__ = ["save_value"]


@within_limits("the value")
def save_value(value: object, path: str) -> None:
    """Write a machine value; a file at the path is replaced once all is written.

    Raises:
        ArchiveError: it has no form in a file.
        OSError: the file cannot be written.
    """
    storages = StorageTable()
    with savable():
        writer = ValueWriter(storages, TypeNames(unique=True), run)
        pickled = write_pickle(writer.node(value, machine_type(value)))
    write_container(path, partial(_write, pickled, storages))


def _write(pickled: bytes, storages: StorageTable, sink: Sink, name: str) -> None:
    writer = ContainerWriter(sink, "archive")
    storages.write(writer, "data/")
    writer.add("data.pkl", pickled)
    writer.add("version", b"3\n")
    writer.add("byteorder", b"little")
    writer.finish_identified()
