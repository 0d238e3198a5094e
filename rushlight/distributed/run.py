"""`python -m rushlight.distributed.run`: `torchrun` over MPI.

It has mpiexec start the processes, each with the environment that `torchrun` gives: `RANK`,
`LOCAL_RANK`, `WORLD_SIZE`, `LOCAL_WORLD_SIZE`, `GROUP_RANK`, `MASTER_ADDR`, `MASTER_PORT`.  When
one of them fails, or is killed, the others are ended.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import sysconfig
from argparse import REMAINDER
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ..module_names import names_of

__all__ = [
    *("REMAINDER", "determine_local_world_size", "get_args_parser", "main", "parse_args"),
    *("parse_min_max_nnodes", "run", "run_script_path"),
]

_REFUSED: Final = {
    "node_rank": "0",
    "max_restarts": "0",
    "redirects": "0",
    "tee": "0",
    "log_dir": None,
    "rdzv_conf": "",
    "local_ranks_filter": "",
}
"""Options of `torchrun` that are taken with these values alone."""


def get_args_parser() -> argparse.ArgumentParser:
    """The arguments, which have `torchrun`'s names."""
    parser = argparse.ArgumentParser(
        prog="python -m rushlight.distributed.run",
        description="Start a program in several processes, which talk over MPI.",
    )
    add = parser.add_argument
    add("--nnodes", default="1", help="the number of machines (1)")
    add("--nproc-per-node", "--nproc_per_node", default="1", help="processes on each: N, auto, cpu")
    add("--hosts", default="", help="the machines' names, divided by commas, for mpiexec")
    add("--standalone", action="store_true", help="one machine; nothing else is known here")
    add("--rdzv-id", "--rdzv_id", default="none", help="the run's name")
    add("--rdzv-backend", "--rdzv_backend", default="static", help="taken, and not needed")
    add("--rdzv-endpoint", "--rdzv_endpoint", default="", help="MASTER_ADDR:MASTER_PORT")
    add("--master-addr", "--master_addr", default="127.0.0.1", help="MASTER_ADDR")
    add("--master-port", "--master_port", default=29500, type=int, help="MASTER_PORT")
    add("-m", "--module", action="store_true", help="the program is a module, as in python -m")
    add("--no-python", "--no_python", action="store_true", help="the program is not Python's")
    for name, value in _REFUSED.items():
        dashed = f"--{name.replace('_', '-')}"
        add(dashed, f"--{name}", dest=name, default=value, help=argparse.SUPPRESS)
    add("training_script", help="the program")
    add("training_script_args", nargs=REMAINDER, help="its arguments")
    return parser


def parse_args(args: Sequence[str] | None) -> argparse.Namespace:
    """The arguments as a namespace.

    Raises:
        SystemExit: they are wrong.
    """
    parser = get_args_parser()
    known = parser.parse_args(args)
    for name, value in _REFUSED.items():
        if getattr(known, name) != value:
            parser.error(
                f"--{name.replace('_', '-')} {getattr(known, name)} is not supported: mpiexec "
                "starts all processes once, and passes their output on"
            )
    try:
        parse_min_max_nnodes(known.nnodes)
        determine_local_world_size(known.nproc_per_node)
    except ValueError as error:
        parser.error(str(error))
    hosts = [each for each in known.hosts.split(",") if each]
    if int(known.nnodes.partition(":")[0]) != max(1, len(hosts)):
        parser.error(f"--nnodes {known.nnodes}: --hosts names {len(hosts)} machines")
    return known


def parse_min_max_nnodes(nnodes: str) -> tuple[int, int]:
    """The least and the largest number of machines, which are the same.

    Raises:
        ValueError: they differ, or are no numbers.
    """
    parts = nnodes.split(":")
    if not all(part.isdecimal() and int(part) for part in parts) or len(parts) > 2:
        raise ValueError(f'nnodes={nnodes} is not in "MIN:MAX" format')
    least, most = int(parts[0]), int(parts[-1])
    if least != most:
        raise ValueError(f"nnodes={nnodes}: the number of machines cannot change during a run")
    return least, most


def determine_local_world_size(nproc_per_node: str) -> int:
    """How many processes a machine gets.

    Raises:
        ValueError: it is no number, "auto" or "cpu".
    """
    if nproc_per_node in ("auto", "cpu"):
        return os.cpu_count() or 1
    if nproc_per_node.isdecimal() and int(nproc_per_node):
        return int(nproc_per_node)
    raise ValueError(f"Unsupported nproc_per_node value: {nproc_per_node}")


def _mpiexec() -> str:
    """Where mpiexec is: that of the wheel, beside this Python, else on the path.

    Raises:
        SystemExit: there is none.
    """
    folders = [sysconfig.get_path("scripts"), str(Path(sys.executable).parent)]
    found = shutil.which("mpiexec", path=os.pathsep.join(folders)) or shutil.which("mpiexec")
    if found is None:
        raise SystemExit("error: there is no mpiexec; install `rushlight[mpi]`")
    return found


def _command(args: argparse.Namespace) -> list[str]:
    each = determine_local_world_size(args.nproc_per_node)
    nodes = parse_min_max_nnodes(args.nnodes)[0]
    where = ["-hosts", args.hosts, "-ppn", str(each)] if args.hosts else []
    kind = "module" if args.module else "program" if args.no_python else "script"
    start = [sys.executable, "-m", f"{__package__}.started", kind]
    program = [args.training_script, *args.training_script_args]
    return [_mpiexec(), *where, "-n", str(each * nodes), *start, *program]


def run(args: argparse.Namespace) -> None:
    """Start the processes, and wait for them.

    Raises:
        SystemExit: one of them failed; with its exit status.
    """
    environment = dict(os.environ)
    address, _, port = args.rdzv_endpoint.partition(":")
    environment["MASTER_ADDR"] = address or args.master_addr
    environment["MASTER_PORT"] = port or str(args.master_port)
    environment["TORCHELASTIC_RUN_ID"] = args.rdzv_id
    if determine_local_world_size(args.nproc_per_node) > 1:
        environment.setdefault("OMP_NUM_THREADS", "1")  # they share the cores
    done = subprocess.run(_command(args), env=environment, check=False)
    if done.returncode:
        raise SystemExit(done.returncode if done.returncode > 0 else 128 - done.returncode)


def run_script_path(training_script: str, *training_script_args: str) -> None:
    """Run a script in this process as `__main__`.

    Raises:
        what the script raises.
    """
    from .started import run_here

    run_here("script", [training_script, *training_script_args])


def main(args: Sequence[str] | None = None) -> None:
    """Do what the arguments say; those of the command line if None.

    Raises:
        SystemExit: they are wrong, or a process failed.
    """
    run(parse_args(args))


__getattr__ = names_of(__name__ if __name__ != "__main__" else f"{__package__}.run")

if __name__ == "__main__":
    main()
