"""What mpiexec starts for `rushlight.distributed.run`: one process of the program.

On Linux the program runs in a forked child, and this process says what became of it, so that a
rank that is killed is named.
"""

from __future__ import annotations

import os
import runpy
import signal
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from .printed import wait_until_read

__all__ = ["main", "run_here"]

_RANKS: Final = {
    "RANK": ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK"),
    "WORLD_SIZE": ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE"),
    "LOCAL_RANK": ("MPI_LOCALRANKID", "OMPI_COMM_WORLD_LOCAL_RANK"),
    "LOCAL_WORLD_SIZE": ("MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE"),
}
"""Variables of `torchrun`'s, each with those in which starters of MPI say the same."""


def _name_ranks() -> None:
    """Set the variables of `torchrun`'s."""
    for name, said in _RANKS.items():
        found = next((os.environ[each] for each in said if each in os.environ), None)
        if found is None:
            raise SystemExit(
                f"error: mpiexec does not say {name}: none of {', '.join(said)} is set"
            )
        os.environ[name] = found
    local = int(os.environ["LOCAL_WORLD_SIZE"])
    node = int(os.environ["RANK"]) // local
    os.environ.update(GROUP_RANK=str(node), ROLE_RANK=os.environ["RANK"], ROLE_NAME="default")
    os.environ.update(ROLE_WORLD_SIZE=os.environ["WORLD_SIZE"])


def run_here(kind: str, program: Sequence[str]) -> None:
    """Run a program in this process as `__main__`.

    Args:
        kind: "script", "module", or "program" for one that is not Python's.
        program: its name and arguments.
    """
    name, sys.argv[:] = program[0], list(program)
    if kind == "program":
        os.execvp(name, list(program))
    elif kind == "module":
        sys.path[0] = os.getcwd()
        runpy.run_module(name, run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = str(Path(name).resolve().parent)
        runpy.run_path(name, run_name="__main__")


def _run(kind: str, program: Sequence[str]) -> None:
    """Run the program; where it fails this process ends at once, since MPI's own end would wait for
    the others."""
    try:
        run_here(kind, program)
    except SystemExit as end:
        if end.code in (None, 0):
            raise
        if not isinstance(end.code, int):
            print(end.code, file=sys.stderr)
        _end(end.code if isinstance(end.code, int) else 1)
    except BaseException as error:
        traceback.print_exception(_without_our_frames(error))
        _end(1)


def _without_our_frames(error: BaseException) -> BaseException:
    at = error.__traceback__
    ours = (__file__, runpy.__file__, "<frozen runpy>")
    while at is not None and at.tb_frame.f_code.co_filename in ours:
        at = at.tb_next
    return error.with_traceback(at) if at is not None else error


def _end(code: int) -> None:
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    os._exit(code & 255 or 1)


def _end_with_parent() -> None:
    """Have the system end this process when the one that watches it ends."""
    import ctypes

    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def _watch(child: int) -> int:
    """Wait for the program, and say how it failed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal sends it to the child as well
    signal.signal(signal.SIGTERM, lambda number, frame: os.kill(child, number))
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status:
        rank, host = os.environ["RANK"], os.uname().nodename
        how = f"exit status {status}"
        if status < 0:
            how = f"signal {-status} ({signal.Signals(-status).name})"
        print(
            f"rushlight: rank {rank} (process {child} on {host}) ended with {how}; "
            "the other processes are ended",
            file=sys.stderr,
            flush=True,
        )
        wait_until_read()
        _abort(status if status > 0 else 128 - status)
    return status if status >= 0 else 128 - status


def _abort(code: int) -> None:
    """Ask mpiexec to end all processes: Hydra may not notice that a process ended so."""
    with suppress(KeyError, ValueError, OSError):
        os.write(int(os.environ["PMI_FD"]), f"cmd=abort exitcode={code}\n".encode())
        signal.sigtimedwait((), 10)  # until it ends this one


def main(argv: Sequence[str]) -> None:
    """Run a program: its kind, its name, its arguments."""
    _name_ranks()
    if sys.platform != "linux":
        _run(argv[0], argv[1:])
        return
    child = os.fork()
    if child:
        os._exit(_watch(child))
    _end_with_parent()
    _run(argv[0], argv[1:])


if __name__ == "__main__":
    main(sys.argv[1:])
