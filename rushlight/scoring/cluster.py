"""Dask: workers here or elsewhere, which get parts while others are being computed.

Dask has the parts of a worker that dies computed by others.
"""

from __future__ import annotations

import asyncio
import logging
import os
import queue
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib import import_module
from itertools import islice
from types import ModuleType
from typing import TYPE_CHECKING, Final, TypeVar

from ..ops.memory.dtype import Array, Dtype
from .errors import CannotScore, ScriptFailed
from .folder import Part
from .worker import Failed, Job, scored

if TYPE_CHECKING:
    from distributed import Client, Future

__all__ = ["computed", "need_dask", "workers"]

_WITHOUT_WORKERS: Final = 30.0
"""Seconds after which a run ends that no worker is left for."""

_CONNECT: Final = 15.0
_LOOK: Final = 1.0


def need_dask() -> ModuleType:
    """The package `distributed`, Dask's.

    Raises:
        CannotScore: it is not installed.
    """
    try:
        return import_module("distributed")
    except ImportError as error:
        raise CannotScore(f"map needs Dask; install `rushlight[dask]` ({error})") from None


@contextmanager
def workers(scheduler: str | None, processes: int, threads: int) -> Iterator[Client]:
    """A client of Dask's: of the scheduler at an address, else of workers here.

    Args:
        scheduler: the address.
        processes: how many processes to start here; 0 for threads of this one.
        threads: how many threads each has.

    Raises:
        CannotScore: there is no Dask, no scheduler at the address, or it has no workers.
    """
    dask = need_dask()
    with ExitStack() as stack:
        stack.enter_context(_silenced())
        if scheduler is None:
            try:
                cluster = dask.LocalCluster(
                    n_workers=max(1, processes),
                    threads_per_worker=threads,
                    processes=processes > 0,
                    preload=[scored.__module__] if processes else [],
                    dashboard_address=None,
                    silence_logs=logging.CRITICAL,
                )
            except (OSError, RuntimeError) as error:
                raise CannotScore(f"no workers can be started: {error}") from None
            scheduler = stack.enter_context(cluster)
        try:
            client = stack.enter_context(dask.Client(scheduler, timeout=_CONNECT))
            client.wait_for_workers(1, timeout=_CONNECT)
        except (OSError, ValueError, TimeoutError) as error:
            raise CannotScore(f"{scheduler}: no workers can be reached: {error}") from None
        yield client


@contextmanager
def _silenced() -> Iterator[None]:
    """Without what Dask logs about workers that come and go: what matters is an error of ours."""
    loggers = [logging.getLogger(name) for name in ("distributed", "distributed.client")]
    levels = [each.level for each in loggers]
    for each in loggers:
        each.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for each, level in zip(loggers, levels, strict=True):
            each.setLevel(level)


def computed(
    client: Client, job: Job, archive: bytes, parts: Sequence[Part], dtype: Dtype | None = None
) -> Iterator[tuple[Part, dict[str, Array]]]:
    """The results of parts, as they come.

    The archive is a value of Dask's own, which each worker gets once.  As many parts are under way
    as workers need, so that neither rows nor results pile up.

    Raises:
        ScriptFailed: the archive's code raised, or its results have no rows.
        CannotScore: rows cannot be read; workers died over a part, or none is left.
    """
    came, watch = queue.SimpleQueue["Future"](), _Watch(client)
    waiting, under_way = iter(parts), dict[str, tuple[Part, object]]()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sending large graph")
        held = client.submit(bytes, archive, key=f"rushlight-archive-{job.digest}-{os.getpid()}")
        run = f"{os.getpid()}-{time.time_ns()}"

        def send() -> None:
            room = 2 * watch.cores() + 2 - len(under_way)
            for part in islice(waiting, max(room, 0 if under_way else 1)):
                rows = part.source.read(part.begin, part.end)
                rows = rows if dtype is None else rows.astype(dtype)
                key = f"rushlight-{run}-{part.name}"
                future = client.submit(scored, job, held, rows, key=key, pure=False)
                under_way[key] = part, future
                future.add_done_callback(came.put)

        send()
        while under_way:
            future = watch.until(partial(came.get, timeout=_LOOK))
            part, _ = under_way.pop(future.key)
            yield part, _result(client, watch, future, part)
            send()


Result = TypeVar("Result")


class _Watch:
    """Looks whether there are workers while something is waited for."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._seen = time.monotonic()

    def cores(self) -> int:
        """Of all workers, 0 if there are none or the scheduler does not answer."""
        try:
            found = sum(self._client.ncores().values()) if self._client.status == "running" else 0
        except (OSError, TimeoutError):
            found = 0
        if found:
            self._seen = time.monotonic()
        return found

    def until(self, wait: Callable[[], Result]) -> Result:
        """What a wait gives, that is begun again each time it took too long.

        Raises:
            CannotScore: there have been no workers for a while.
        """
        while True:
            try:
                return wait()
            except (queue.Empty, TimeoutError):
                if not self.cores() and time.monotonic() - self._seen > _WITHOUT_WORKERS:
                    raise CannotScore("no worker is left, and none has come") from None


def _result(client: Client, watch: _Watch, future: Future, part: Part) -> dict[str, Array]:
    """What a worker made.  It may die before it has sent that: another one makes it then."""
    gathered = client.gather(future, asynchronous=True)
    sent = asyncio.run_coroutine_threadsafe(gathered, client.loop.asyncio_loop)
    try:
        result = watch.until(partial(sent.result, _LOOK))
    except CannotScore:
        sent.cancel()
        raise
    except need_dask().KilledWorker as error:
        raise CannotScore(f"{part.where()}: workers died over them: {error}") from None
    except Exception as error:  # of Dask's own: what the archive's code raises is a value
        told = str(error).strip().splitlines() or [type(error).__name__]
        raise CannotScore(f"{part.where()}: {type(error).__name__}: {told[0]}") from None
    if isinstance(result, Failed):
        begin, end = part.begin + result.begin, part.begin + result.end
        where = f"{part.source.path}, rows {begin} to {end - 1}" if end > begin else part.where()
        raise ScriptFailed(f"{where}: {result.text}")
    made: dict[str, Array] = result
    return made
