"""`torch.multiprocessing.spawn`: a function in several processes, and what is raised there."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from multiprocessing import connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

__all__ = [
    "ENV_VAR_PARALLEL_START",
    "ProcessContext",
    "ProcessException",
    "ProcessExitedException",
    "ProcessRaisedException",
    "SpawnContext",
    "spawn",
    "start_processes",
]

ENV_VAR_PARALLEL_START = "TORCH_MP_PARALLEL_START"
"""A variable that changes nothing: processes are started one after the other."""

_GRACE = 30.0
"""Seconds that processes have to end after SIGTERM, before SIGKILL, where none are said."""


class ProcessException(Exception):
    """What ended a process: `error_index` says which of them, `error_pid` its number."""

    def __init__(self, msg: str, error_index: int, pid: int) -> None:
        super().__init__(msg)
        self.msg = msg
        self.error_index = error_index
        self.error_pid = pid

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.msg, self.error_index, self.error_pid)


class ProcessRaisedException(ProcessException):
    """The function raised; the message is the traceback of the process."""

    def __init__(self, msg: str, error_index: int, error_pid: int) -> None:
        super().__init__(msg, error_index, error_pid)


class ProcessExitedException(ProcessException):
    """The process ended by itself, or by a signal (`signal_name`), with an `exit_code`."""

    def __init__(
        self,
        msg: str,
        error_index: int,
        error_pid: int,
        exit_code: int,
        signal_name: str | None = None,
    ) -> None:
        super().__init__(msg, error_index, error_pid)
        self.exit_code = exit_code
        self.signal_name = signal_name

    def __reduce__(self) -> tuple[object, ...]:
        own = (self.msg, self.error_index, self.error_pid, self.exit_code, self.signal_name)
        return type(self), own


class ProcessContext:
    """Processes that run a function, and the files into which they write what they raise."""

    def __init__(self, processes: Sequence[BaseProcess], error_files: Sequence[str]) -> None:
        self.processes = list(processes)
        self.error_files = list(error_files)
        self.sentinels = {process.sentinel: i for i, process in enumerate(self.processes)}

    def pids(self) -> list[int | None]:
        """The numbers of the processes."""
        return [process.pid for process in self.processes]

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Wait until one process has failed, or until some have ended.

        Args:
            timeout: seconds to wait at most; None waits as long as it takes.
            grace_period: seconds that the others have to end when one has failed.

        Returns:
            Whether all have ended.

        Raises:
            ProcessRaisedException: the function raised in a process; the others are ended.
            ProcessExitedException: a process ended otherwise than by coming back.
        """
        if not self.sentinels:
            return True
        failed = None
        for sentinel in connection.wait(list(self.sentinels), timeout):
            assert isinstance(sentinel, int)
            number = self.sentinels.pop(sentinel)
            self.processes[number].join()
            if self.processes[number].exitcode:
                failed = number
                break
        if failed is None:
            for number in set(range(len(self.processes))) - set(self.sentinels.values()):
                Path(self.error_files[number]).unlink(missing_ok=True)
            return not self.sentinels
        self._end_all(_GRACE if grace_period is None else grace_period)
        raise self._failure(failed)

    def _end_all(self, grace: float) -> None:
        running = [process for process in self.processes if process.is_alive()]
        for process in running:
            process.terminate()
        end = time.monotonic() + grace
        for process in running:
            process.join(max(0.0, end - time.monotonic()))
            if process.is_alive():
                process.kill()
                process.join()

    def _failure(self, number: int) -> ProcessException:
        """What ended a process; the files are gone after that."""
        written = [Path(name) for name in self.error_files]
        said = written[number].read_text() if written[number].exists() else ""
        for file in written:
            file.unlink(missing_ok=True)
        process = self.processes[number]
        pid, code = process.pid or 0, process.exitcode or 0
        if said:
            said = f"\n\n-- Process {number} terminated with the following error:\n{said}"
            return ProcessRaisedException(said, number, pid)
        name = _signal_name(-code) if code < 0 else None
        how = f"signal {name}" if name else f"exit code {code}"
        return ProcessExitedException(
            f"process {number} terminated with {how}", number, pid, code, name
        )


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"<Unknown signal {number}>"


class SpawnContext(ProcessContext):
    """`ProcessContext` by an older name."""


def _call(fn: Callable[..., object], i: int, args: tuple[object, ...], error_file: str) -> None:
    """What a process runs; it says what was raised in a file, and by its exit code."""
    try:
        fn(i, *args)
    except KeyboardInterrupt:
        pass  # the parent is told, too
    except Exception:
        Path(error_file).write_text(traceback.format_exc())
        sys.exit(1)


def start_processes(
    fn: Callable[..., object],
    args: tuple[object, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Run `fn(i, *args)` in processes of their own.

    Args:
        join: wait for them; otherwise they come back as a `ProcessContext`.

    Raises:
        ProcessRaisedException: the function raised in a process; the others are ended.
        ProcessExitedException: a process ended otherwise than by coming back.
    """
    context: Any = multiprocessing.get_context(start_method)
    processes, files = [], []
    for i in range(nprocs):
        handle, name = tempfile.mkstemp(prefix="rushlight-", suffix=".error")
        os.close(handle)
        process = context.Process(target=_call, args=(fn, i, args, name), daemon=daemon)
        process.start()
        processes.append(process)
        files.append(name)
    started = ProcessContext(processes, files)
    if not join:
        return started
    while not started.join():
        pass  # one has ended, others run
    return None


def spawn(
    fn: Callable[..., object],
    args: tuple[object, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """`start_processes` under its usual name."""
    return start_processes(fn, args, nprocs, join, daemon, start_method)
