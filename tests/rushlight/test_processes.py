"""`torch.distributed` of two processes, which mpiexec starts."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rushlight.distributed import DistBackendError, ReduceOp
from rushlight.distributed.agreement import Agreed
from rushlight.distributed.agreement import told as told_by_members
from rushlight.distributed.communicators import Alone

pytest.importorskip("mpi4py")
HERE = Path(__file__).with_name("processes")
RUN = [sys.executable, "-m", "rushlight.distributed.run", "--nproc-per-node", "2"]


def started(*words: str, runner: list[str] = RUN) -> subprocess.CompletedProcess[str]:
    root = str(Path(__file__).parents[2])
    paths = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.run(
        [*runner, *words],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": paths},
        check=False,
    )


Told = list[dict[str, Any]]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    """What the two processes of the program with all collectives got."""
    folder = tmp_path_factory.mktemp("told")
    done = started(str(HERE / "collectives_program.py"), str(folder))
    assert done.returncode == 0, done.stderr
    return [json.loads((folder / f"{rank}.json").read_text()) for rank in (0, 1)]


def both(told: Told, name: str) -> Any:
    first, second = (each[name] for each in told)
    assert first == second
    return first


def test_processes_know_their_numbers(told: Told) -> None:
    for rank, each in enumerate(told):
        names = [str(rank), str(rank), "2"]
        assert each["environment"] == [names, 2, rank, True]
        assert each["ranks"] == [[-1, -1], [0, 1]][rank]
    assert both(told, "members") == [[0, 1], "gloo"]
    assert "over MPI" in str(told[0]["note"])
    assert told[1]["note"] == []


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        ("SUM", [5, 10, -15]),
        ("AVG", [2.5, 5, -7.5]),
        ("PRODUCT", [6, 24, 54]),
        ("MIN", [2, 4, -9]),
        ("MAX", [3, 6, -6]),
        ("BAND", [12, 4]),
        ("BOR", [12, 7]),
        ("BXOR", [0, 3]),
    ],
)
def test_every_reduction(told: Told, op: str, expected: list[float]) -> None:
    assert both(told, f"all_reduce {op}") == expected


@pytest.mark.parametrize(
    "dtype", ["float16", "bfloat16", "float64", "int8", "uint8", "int16", "int32", "bool"]
)
def test_every_dtype(told: Told, dtype: str) -> None:
    one = 1 if dtype == "bool" else 2
    assert both(told, f"all_reduce {dtype}") == [f"torch.{dtype}", [one] * 3]


def test_what_is_reduced_lies_anywhere(told: Told) -> None:
    assert both(told, "all_reduce complex") == [[2, 4], [0, 3]]
    assert both(told, "all_reduce of what is not contiguous") == [[1, 7], [3, 9], [5, 11]]
    assert both(told, "all_reduce of a leaf") == [[1, 1], True]
    assert both(told, "all_reduce AVG of whole numbers") == [3, -3]
    assert both(told, "all_reduce_coalesced") == [[2, 2], [1]]
    assert [each["reduce"] for each in told] == [[1], [3]]


@pytest.mark.parametrize(
    ("name", "first", "second"),
    [
        ("broadcast", [10, 11, 12], [10, 11, 12]),
        ("all_gather", [[1, 2], [2, 3]], [[1, 2], [2, 3]]),
        ("all_gather_into_tensor", [[0, 0], [1, 1]], [[0, 0], [1, 1]]),
        ("gather", [None, None], [[5], [6]]),
        ("scatter", [1, 1], [2, 2]),
        ("reduce_scatter", [1, 1], [6, 8]),
        ("reduce_scatter_tensor", [1.5], [2.5]),
        ("all_to_all", [[1], [-1, -1]], [[7, 7, 7], [9]]),
        ("all_to_all_single", [0, 1, 10, 11], [2, 3, 12, 13]),
        ("all_to_all_single uneven", [0, 10], [1, 2, 11, 12]),
        ("recv", None, [0, [1]]),
        ("exchanged", [[True, True], [2], 1], [[True, True], [1], 0]),
        ("work", [True, True, True, [3], [3]], [True, True, True, [3], [3]]),
        ("all_gather_object", [[0, 0], [1, 1000]], [[0, 0], [1, 1000]]),
        ("gather_object", [["from", 0], ["from", 1]], None),
        ("broadcast_object_list", [1, "two"], [1, "two"]),
        ("scatter_object_list", [{"a": 1}], ["b"]),
        ("subgroups", [[0], 2], [[1], 2]),
    ],
)
def test_what_each_process_gets(told: Told, name: str, first: Any, second: Any) -> None:
    assert [each[name] for each in told] == [first, second]


def test_lists_of_objects_are_sent(told: Told) -> None:
    assert told[1]["recv_object_list"] == [0, [{"a": 0}, 0]]


def test_who_is_not_in_a_group_does_nothing(told: Told) -> None:
    warned = "Running all_reduce on global rank 0 which does not belong to the given group."
    assert [each["outside"] for each in told] == [[[1], [warned]], [[1], []]]


@pytest.mark.parametrize(
    ("name", "first", "second"),
    [
        ("nn.all_reduce", [[[3, 6]], [3, 3]], [[[3, 6]], [6, 6]]),
        ("nn.broadcast", [[[2, 4]], [0, 0]], [[[2, 4]], [6, 6]]),
        ("nn.reduce", [[[3, 6]], [1, 1]], [[[0, 0]], [2, 2]]),
        ("nn.all_gather", [[[1, 2], [2, 4]], [3, 3]], [[[1, 2], [2, 4]], [12, 12]]),
        ("nn.gather", [[[0, 0], [0, 0]], [2, 2]], [[[1, 2], [2, 4]], [8, 8]]),
        ("nn.scatter", [[[3, 6]], [13, 13]], [[[5, 10]], [0, 0]]),
        ("nn.reduce_scatter", [[[2, 4]], [9, 9]], [[[8, 16]], [9, 9]]),
        ("functional.all_reduce", [[5, 6], [7, 8]], [[5, 6], [7, 8]]),
        (
            "functional.all_gather_tensor",
            [[0, 1, 10, 11], [2, 3, 12, 13]],
            [[0, 1, 10, 11], [2, 3, 12, 13]],
        ),
        ("functional.reduce_scatter", [[10], [14]], [[12], [16]]),
        ("functional.permute_tensor", [[10, 11], [12, 13]], [[0, 1], [2, 3]]),
        ("functional.all_to_all", [[0, 1], [10, 11]], [[2, 3], [12, 13]]),
    ],
)
def test_results_with_gradients(told: Told, name: str, first: Any, second: Any) -> None:
    """Gradients are those of the sum of both processes' losses."""
    assert [each[name] for each in told] == [first, second]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("send to itself", "ValueError: Invalid destination rank: destination rank should not be"),
        ("send to nobody", "ValueError: Global rank 7 is not part of group"),
        ("send a list", "TypeError: Invalid function argument. Expected parameter `tensor`"),
        ("send across", "RuntimeError: input tensor has to be contiguous"),
        ("send a tag", "ValueError: a tag is from 0 to 32767"),
        ("broadcast from nobody", "ValueError: Must specify global_rank or group_rank"),
        (
            "list of one",
            "RuntimeError: all_gather: invalid tensor list at index 0 (expected length",
        ),
        (
            "list of sizes",
            "RuntimeError: all_gather: invalid tensor size at index 1 (expected (4),",
        ),
        ("list of dtypes", "ValueError: Invalid usage of tensors with different dtypesFound"),
        ("too short", "RuntimeError: all_gather_into_tensor: 2 parts of 4 elements are 8"),
        ("no equal parts", "RuntimeError: Tensor's dim 0 does not divide equally"),
        ("parts", "RuntimeError: Split sizes doesn't match total dim 0 size"),
        ("complex", "ValueError: all_reduce does not support RedOpType.MAX on complex tensors"),
        ("bits of floats", "RuntimeError: Cannot use ReduceOp.BAND with non-integral dtype"),
        ("op", "TypeError: all_reduce: op is to be a ReduceOp"),
        ("sparse", "NotImplementedError: a sparse tensor has no memory"),
        ("float8", "RuntimeError: Invalid scalar type"),
        ("gather list", "ValueError: Argument ``gather_list`` must "),
        ("twice", "ValueError: trying to initialize the default process group twice!"),
        ("new_group", "ValueError: ranks list must not contain duplicate entries, got [0, 0]"),
        ("timeout", "DistBackendError: Timed out waiting 300ms for recv operation to complete"),
    ],
)
def test_bad_calls_are_refused_in_both_processes(told: Told, name: str, said: str) -> None:
    assert all(each[name].startswith(said) for each in told)


def test_messages_of_another_length_are_refused(told: Told) -> None:
    assert told[1]["longer than the tensor"] == "DistBackendError: MPI: Message truncated"
    shorter = "DistBackendError: recv: 8 bytes came, and the tensor has 16"
    assert told[1]["shorter than the tensor"] == shorter


def test_processes_that_begin_what_differs_are_told() -> None:
    done = started(str(HERE / "differs_program.py"))
    assert "no error" not in done.stdout
    assert (
        "Detected mismatch between collectives on ranks. Rank 0 is running collective: all_reduce "
        "of 4 int32 elements by SUM, but Rank 1 is running collective: all_reduce of 4 float32 "
        "elements by SUM"
    ) in done.stdout


THREE, FOUR = np.zeros(3, np.float32), np.zeros(4, np.float32)
SAME: Any = (("barrier", 2), {})


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (SAME, SAME, None),
        (
            SAME,
            (("broadcast", 2, THREE), {"root": 0}),
            "barrier, but Rank 1 is running collective: broadcast of 3 bytes with root 0",
        ),
        (
            (("all_reduce", 2, THREE, ReduceOp.SUM), {}),
            (("all_reduce", 2, FOUR, ReduceOp.SUM), {}),
            "of 3 float32 elements by SUM, but",
        ),
        (
            (("all_reduce", 2, THREE, ReduceOp.SUM), {}),
            (("all_reduce", 2, THREE, ReduceOp.MAX), {}),
            "by SUM, but",
        ),
        ((("gather", 2), {"root": 0}), (("gather", 2), {"root": 1}), "gather with root 0, but"),
        (
            (("all_to_all", 2), {"exchanged": ([8, 4], [8, 12])}),
            (("all_to_all", 2), {"exchanged": ([12, 0], [4, 0])}),
            None,
        ),
        (
            (("all_to_all", 2), {"exchanged": ([8, 4], [8, 12])}),
            (("all_to_all", 2), {"exchanged": ([8, 0], [4, 0])}),
            "Rank 1 gives 8 bytes to Rank 0, which expects 12",
        ),
    ],
)
def test_what_members_tell_each_other_is_compared(
    one: Any, other: Any, expected: str | None
) -> None:
    rows = np.stack([told_by_members(*given, **named) for given, named in (one, other)])

    agreed = Agreed(Alone().barrier(), rows, Alone().barrier())
    if expected is None:
        assert agreed.done()
    else:
        with pytest.raises(DistBackendError, match=re.escape(expected)):
            agreed.done()


@pytest.mark.parametrize(
    ("way", "how"),
    [
        ("killed", "signal 9 (SIGKILL)"),
        ("raises", "exit status 1"),
        ("exits", "exit status 7"),
    ],
)
def test_a_process_that_fails_ends_the_others(way: str, how: str) -> None:
    if sys.platform != "linux":
        pytest.skip("processes are watched on Linux")
    done = started(str(HERE / "ends_program.py"), way)
    assert done.returncode != 0
    said = [line for line in done.stderr.splitlines() if line.startswith("rushlight: ")]
    assert len(said) == 1
    assert said[0].startswith("rushlight: rank 1 (process ")
    assert f"ended with {how}; the other processes are ended" in said[0]
    assert ("ValueError: a reason" in done.stderr) == (way == "raises")


def test_an_exception_ends_all_that_mpiexec_started() -> None:
    from rushlight.distributed import run

    mpiexec = run._command(run.parse_args(["x"]))[0]
    runner = [mpiexec, "-n", "2", sys.executable]
    done = started(str(HERE / "ends_program.py"), "raises", runner=runner)
    assert done.returncode != 0
    assert "ValueError: a reason" in done.stderr
