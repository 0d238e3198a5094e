"""What is said where several processes cannot be had, and the words of `run`."""

from __future__ import annotations

import sys

import pytest

from rushlight import distributed
from rushlight.distributed import run


def test_several_processes_need_mpi(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="Default process group has not been initialized"):
        distributed.get_rank()
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    monkeypatch.setitem(sys.modules, "mpi4py.MPI", None)
    monkeypatch.setenv("WORLD_SIZE", "2")
    for backend in ("gloo", "mpi", "cpu:gloo,cuda:nccl", None):
        with pytest.raises(RuntimeError, match=r"install `rushlight\[mpi\]`"):
            distributed.init_process_group(backend)
    assert not distributed.is_initialized()


def test_groups_that_cannot_be(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RuntimeError, match="doesn't have NCCL built in"):
        distributed.init_process_group("nccl", world_size=2, rank=0)
    with pytest.raises(ValueError, match="rank 2 is no process's, there are 2"):
        distributed.init_process_group("mpi", world_size=2, rank=2)
    with pytest.raises(ValueError, match="names none for the CPU"):
        distributed.init_process_group("cuda:nccl")
    monkeypatch.setenv("WORLD_SIZE", "many")
    with pytest.raises(ValueError, match="WORLD_SIZE is no whole number: 'many'"):
        distributed.init_process_group("gloo")


def test_processes_are_as_many_as_mpi_started() -> None:
    pytest.importorskip("mpi4py")
    with pytest.raises(ValueError, match=r"to be 3 processes, and MPI started 1; .*--nproc-per"):
        distributed.init_process_group("mpi", world_size=3)


@pytest.mark.parametrize(("count", "processes"), [(6, 6), (None, 1)])
def test_a_machine_gets_a_process_for_each_processor(
    count: int | None, processes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run.os, "cpu_count", lambda: count)
    found = [run.determine_local_world_size(word) for word in ("cpu", "auto", "3")]
    assert found == [processes, processes, 3]


def test_the_words_of_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "_mpiexec", lambda: "mpiexec")
    words = ["--nnodes", "2", "--hosts", "a,b", "--nproc_per_node=3", "-m", "train", "--lr", "1"]
    made = run._command(run.parse_args(words))
    assert made[:7] == ["mpiexec", "-hosts", "a,b", "-ppn", "3", "-n", "6"]
    assert made[-4:] == ["module", "train", "--lr", "1"]
    assert run.determine_local_world_size("auto") >= 1
    assert run.parse_min_max_nnodes("2:2") == (2, 2)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--nproc-per-node", "gpu", "x"], "Unsupported nproc_per_node value: gpu"),
        (["--nproc-per-node", "0", "x"], "Unsupported nproc_per_node value: 0"),
        (["--nnodes", "1:4", "x"], "the number of machines cannot change"),
        (["--nnodes", "2", "x"], "--nnodes 2: --hosts names 0 machines"),
        (["--max-restarts", "3", "x"], "--max-restarts 3 is not supported"),
        ([], "training_script"),
    ],
)
def test_words_that_run_refuses(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        run.parse_args(words)
    assert end.value.code == 2
    assert said in capsys.readouterr().err


def test_run_without_mpiexec(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run.shutil, "which", lambda *names, **options: None)
    with pytest.raises(SystemExit, match=r"install `rushlight\[mpi\]`"):
        run.main(["x.py"])
