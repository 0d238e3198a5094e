"""Opening archives."""

from __future__ import annotations

from contextlib import closing
from importlib import import_module

from ...frontend.foundations.garbage import uncollected
from ...interpreter.values.objects import ScriptObject
from ..files.container import ArchiveReader
from ..files.errors import within_limits
from ..files.file_bytes import OpenedFile, Readable
from ..files.limits import DEFAULT_LIMITS, Limits
from ..loading.loader import NEWEST_VERSION, Loader, archive_version, old_meanings, run
from ..mobile.flatbuffer import is_flatbuffer, read_mobile_flatbuffer
from ..mobile.flatbuffer_load import FlatbufferLoader, FlatbufferRecords
from .package_load import PackageLoader, holds_scripts

__all__ = ["NEWEST_VERSION", "archive_version", "load_archive", "old_meanings", "run"]


@within_limits("the archive")
@uncollected
def load_archive(
    source: Readable,
    extra_files: dict[str, object] | None = None,
    limits: Limits = DEFAULT_LIMITS,
    trusted: bool = True,
    mapped: bool = False,
    restores: bool = True,
    without_data: bool = False,
    only_here: bool = False,
    examples: dict[str, list[object]] | None = None,
) -> ScriptObject:
    """The root object of a TorchScript archive, or of a flatbuffer with code.

    Code is read now and compiled when first needed; nothing is ever executed or imported.

    Args:
        source: a path, a file object opened for reading bytes, or the bytes.
        extra_files: names of extra records; those that exist are filled in, as bytes.
        limits: how much the file may ask for.
        trusted: whether its code may reach files, processes and networks and run without bounds;
            if not, all of it is compiled and looked at now.
        mapped: whether the weights stay in the file at a path, mapped into memory.  They are
            compared with their checksums now; nobody may write to the file or cut it off later.
        restores: whether objects may restore themselves by methods of code that is not trusted;
            if not, those objects stay without attributes, and no code of the archive runs.
        without_data: whether no weights are read, and all tensors lie on the device `meta`.
        only_here: whether devices that are not here, named by code and data, are taken for that
            of the weights.
        examples: is filled in, where the file tells it, with what each method was traced with;
            tensors have sizes and dtypes alone.

    Raises:
        ArchiveError: the file is no TorchScript archive, is damaged, too new, goes beyond the
            limits, or uses operators that do not exist here (all are named).
        OSError: the file cannot be opened.
        ValueError: it is to be mapped, and not at a path.
    """
    with closing(OpenedFile(source, mapped)) as file:
        if is_flatbuffer(file):
            contents = read_mobile_flatbuffer(file)
            records = FlatbufferRecords(contents, len(file))
            flat = FlatbufferLoader(records, limits, trusted, False)
            flat.restores = restores
            flat.without_data, flat.only_here = without_data, only_here
            return flat.load(extra_files)
        archive = ArchiveReader(file, limits)
        make = Loader
        if "model.json" in archive:
            make = import_module("..legacy.load", __package__).LegacyLoader
        elif holds_scripts(archive):
            make = PackageLoader
        loader = make(archive, limits, trusted, mapped)
        loader.restores = restores
        loader.without_data, loader.only_here = without_data, only_here
        loader.examples = examples
        return loader.load(extra_files)
