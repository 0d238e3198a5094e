"""`rushlight map`: a method of an archive over the rows of files, by several workers."""

from __future__ import annotations

import argparse
import hashlib
import os
from pathlib import Path

from ..scoring.cluster import computed, need_dask, workers
from ..scoring.errors import CannotScore, ScriptFailed
from ..scoring.folder import (
    claim_folder,
    existing,
    parts_of,
    rows_in_a_part,
    write_part,
)
from ..scoring.rows import Rows, files_of, rows_of
from ..scoring.worker import Job
from ..typecheck.types.types import TENSOR
from .archive import find_method, open_archive
from .failure import FAILED, CommandError
from .progress import progress
from .speech import complain, tell
from .wall import OVERRUN

__all__ = ["execute"]


def execute(arguments: argparse.Namespace) -> int:
    """Run the command."""
    for name in ("batch", "rows", "processes", "threads"):
        value = getattr(arguments, name)
        if value is not None and value < 1:
            raise CommandError(f"--{name} {value}: at least 1")
    try:
        return _run(arguments)
    except CannotScore as error:
        raise CommandError(str(error)) from None
    except ScriptFailed as error:
        complain(str(error))
        return FAILED


def _run(arguments: argparse.Namespace) -> int:
    need_dask()
    archive = _checked_archive(arguments)
    columns = arguments.columns.split(",") if arguments.columns else None
    sources = [rows_of(path, columns) for path in files_of(Path(arguments.input))]
    rows = arguments.rows or rows_in_a_part(sources, arguments.batch)
    parts, out = parts_of(sources, rows), Path(arguments.out)
    files = [_identity(source) for source in sources]
    digest = hashlib.sha256(archive).hexdigest()
    said = {"archive": digest, "method": arguments.method, "input": files, "rows": rows}
    said |= {"batch": arguments.batch, "dtype": arguments.dtype, "columns": columns}
    claim_folder(out, said)
    missing = [part for part in parts if not existing(out, part)]
    if missing:
        local = arguments.scheduler is None
        processes = 0 if arguments.threads else arguments.processes or os.cpu_count() or 1
        overrun = OVERRUN if local and processes else 0.0
        job = Job(digest, arguments.method, arguments.trust, arguments.batch, overrun)
        with workers(arguments.scheduler, processes, arguments.threads or 1) as client:
            results = computed(client, job, archive, missing, arguments.dtype)
            for part, arrays in progress(results, "scoring", count=len(missing)):
                write_part(out, part, arrays)
    count = sum(source.count for source in sources)
    kept = f", {len(parts) - len(missing)} of them from before" if len(parts) > len(missing) else ""
    tell(f"{out}: {count} rows in {len(parts)} parts{kept}")
    return 0


def _identity(source: Rows) -> dict[str, object]:
    """What tells a file from another one, as far as a run that goes on can see."""
    found = source.path.stat()
    return {
        "file": source.path.name,
        "rows": source.count,
        "bytes": found.st_size,
        "modified": found.st_mtime_ns,
    }


def _checked_archive(arguments: argparse.Namespace) -> bytes:
    """The archive's bytes, once it was opened and its method found to take rows.

    Raises:
        CommandError: it cannot be read, or there is no such method.
    """
    method = find_method(open_archive(arguments.archive, arguments.trust), arguments.method)
    takes = method._rushlight_function.signature.arguments[1:]
    if not takes or takes[0].type != TENSOR or not all(each.has_default for each in takes[1:]):
        shown = ", ".join(f"{each.name}: {each.type}" for each in takes) or "nothing"
        raise CommandError(f"`{arguments.method}` takes {shown}, and rows are one Tensor")
    return Path(arguments.archive).read_bytes()
