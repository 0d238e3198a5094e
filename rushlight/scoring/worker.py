"""What a worker does: open the archive once, and call its method for batches of rows.

This runs in whichever process Dask has it run.
"""

from __future__ import annotations

import io
import signal
import threading
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

import numpy as np

from ..interpreter.bounds.watch import WALL
from ..ops.memory.dtype import Array, of_numpy
from ..ops.table.grad_mode import no_grad
from ..ops.tensors.tensor import Tensor

__all__ = ["Failed", "Job", "dask_setup", "scored"]

_OWN: Final = __name__.partition(".")[0]


@dataclass(frozen=True)
class Job:
    """What is done with rows.

    Attributes:
        digest: of the archive.
        method: its method, which takes a batch of rows.
        trust: "none" or "full".
        batch: rows of a call.
        overrun: in a process of ours, the seconds after which the system ends it where a call of an
            archive that is not trusted overruns its time; 0 where the process is not to be ended.
    """

    digest: str
    method: str
    trust: str
    batch: int
    overrun: float


@dataclass(frozen=True)
class Failed:
    """Why there are no results: `text` is to be read, `begin` and `end` are the rows."""

    text: str
    begin: int
    end: int


def dask_setup(worker: object) -> None:
    """Dask calls this in a worker that was started here: its parent ends it, not the terminal."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


_OPENED: Final[dict[tuple[str, str, str], Any]] = {}
_OPENING: Final = threading.Lock()


def _method(job: Job, archive: bytes) -> Any:
    """The method; the archive is opened when this process first needs it, and kept."""
    key = job.digest, job.method, job.trust
    with _OPENING:
        if key not in _OPENED:
            _OPENED.clear()  # one at a time
            load = import_module(f"{_OWN}.jit").load
            find = import_module(f"{_OWN}.cli.archive").find_method
            if job.overrun and job.trust == "none" and not WALL:
                WALL.append(job.overrun)
            _OPENED[key] = find(load(io.BytesIO(archive), trust=job.trust), job.method)
        return _OPENED[key]


def scored(job: Job, archive: bytes, rows: Array) -> dict[str, Array] | Failed:
    """The results for some rows, by the names that `rushlight run --output` gives them.

    What the archive's code raises is a value, since it would be raised again by every worker.
    """
    script_output = import_module(f"{_OWN}.cli.speech").script_output
    arrays_of = import_module(f"{_OWN}.cli.output").arrays_of
    begin, end, parts = 0, 0, list[dict[str, Array]]()
    try:
        method = _method(job, archive)
        of_numpy(rows.dtype)
        for begin in range(0, len(rows), job.batch):
            end = min(begin + job.batch, len(rows))
            with script_output(job.trust), no_grad():
                result = method(Tensor._of(rows[begin:end].copy()))
            arrays = dict(arrays_of(result))
            wrong = _misshapen(arrays, end - begin)
            if wrong:
                return Failed(wrong, begin, end)
            parts.append(arrays)
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    except Exception as error:
        return Failed(str(error).strip() or type(error).__name__, begin, end)


def _misshapen(arrays: dict[str, Array], rows: int) -> str:
    """Why results cannot be put in order; empty if they can."""
    if not arrays:
        return "the result holds no tensor"
    for name, array in arrays.items():
        if not array.ndim or array.shape[0] != rows:
            sizes = list(array.shape)
            return f"`{name}` of sizes {sizes} has not a row for each of the {rows} rows"
    return ""
