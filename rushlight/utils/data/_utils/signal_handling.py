"""`torch.utils.data._utils.signal_handling`: an error for workers that ended, as soon as they do.

rushlight's own loaders look after their workers themselves; loaders of other packages say here
which they have.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Sequence

__all__ = [
    *("_error_if_any_worker_fails", "_remove_worker_pids", "_set_SIGCHLD_handler"),
    *("_set_worker_pids", "_set_worker_signal_handlers"),
]

_SIGCHLD_handler_set = False
_PIDS: dict[int, tuple[int, ...]] = {}
"""The numbers of processes, by the loader's iterator."""


def _set_worker_pids(key: int, child_pids: Sequence[int]) -> None:
    """Say which workers an iterator has.

    Raises:
        ValueError: that was said before.
    """
    if key in _PIDS:
        raise ValueError(
            "_set_worker_pids should be called only once for each _BaseDataLoaderIter."
        )
    _PIDS[key] = tuple(child_pids)


def _remove_worker_pids(key: int) -> None:
    """Say that an iterator needs its workers no longer.

    Raises:
        ValueError: it has none.
    """
    if key not in _PIDS:
        raise ValueError(f"Cannot find worker information for _BaseDataLoaderIter with id {key}")
    del _PIDS[key]


def _error_if_any_worker_fails() -> None:
    """See that no worker has ended otherwise than as it should.

    Raises:
        RuntimeError: one has; the workers of its iterator are then asked for no more.
    """
    for key, pids in list(_PIDS.items()):
        for pid in pids:
            fault = _fault(pid)
            if fault:
                _PIDS[key] = ()
                raise RuntimeError(f"DataLoader worker (pid {pid}) {fault}")


def _fault(pid: int) -> str:
    """How a child has failed, which it may still be asked for afterwards; nothing if not."""
    try:
        found = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:  # somebody has waited for it
        return ""
    if found is None or (found.si_code == os.CLD_EXITED and not found.si_status):
        return ""
    if found.si_code == os.CLD_EXITED:
        return (
            f"exited unexpectedly with exit code {found.si_status}. Details are lost due to "
            "multiprocessing. Rerunning with num_workers=0 may give better error trace."
        )
    hint = ""
    if found.si_status == signal.SIGBUS:
        hint = (
            "It is possible that dataloader's workers are out of shared memory. Please try to "
            "raise your shared memory limit."
        )
    return f"is killed by signal: {signal.strsignal(found.si_status)}. {hint}"


def _set_SIGCHLD_handler() -> None:
    """Have workers looked at whenever a child ends, before whoever did so until now."""
    global _SIGCHLD_handler_set
    is_here = hasattr(signal, "SIGCHLD") and hasattr(os, "waitid")
    if _SIGCHLD_handler_set or not is_here:
        return
    if threading.current_thread() is not threading.main_thread():
        return
    before: object = signal.getsignal(signal.SIGCHLD)

    def look(number: int, frame: object) -> None:
        _error_if_any_worker_fails()
        if callable(before):
            before(number, frame)

    signal.signal(signal.SIGCHLD, look)
    _SIGCHLD_handler_set = True


def _set_worker_signal_handlers() -> None:
    """Have a worker that its program ends by SIGTERM end as if its work were done.

    What else may end it is told where somebody looks for it (`_error_if_any_worker_fails`).
    """
    signal.signal(signal.SIGTERM, lambda number, frame: os._exit(0))
