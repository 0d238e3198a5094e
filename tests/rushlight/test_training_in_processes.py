"""`DistributedDataParallel` of two processes trains as one does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mpi4py")
PROGRAM = Path(__file__).with_name("processes") / "training_program.py"
Told = dict[str, Any]


def trained(processes: int, folder: Path) -> list[Told]:
    folder.mkdir()
    root = str(Path(__file__).parents[2])
    paths = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
    run = [sys.executable, "-m", "rushlight.distributed.run", "--nproc-per-node", str(processes)]
    done = subprocess.run(
        [*run, str(PROGRAM), str(folder)],
        capture_output=True,
        text=True,
        timeout=100,
        env={**os.environ, "PYTHONPATH": paths},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads((folder / f"{rank}.json").read_text()) for rank in range(processes)]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[Told, list[Told]]:
    """What one process says, and what two do."""
    folder = tmp_path_factory.mktemp("trained")
    return trained(1, folder / "one")[0], trained(2, folder / "two")


@pytest.mark.parametrize(
    "name", ["plain", "views", "scripted", "accumulated", "static", "normalised"]
)
def test_losses_and_parameters_are_those_of_one_process(
    told: tuple[Told, list[Told]], name: str
) -> None:
    one, two = told
    assert len(set(one[name])) > 4
    for each in two:
        assert each[name] == pytest.approx(one[name], abs=1e-6)
        sums = f"{name} parameters"
        assert each[sums] == pytest.approx(one[sums], abs=1e-5)
    assert two[0][f"{name} parameters"] == two[1][f"{name} parameters"]


def test_parameters_without_part_in_some_processes(told: tuple[Told, list[Told]]) -> None:
    """The mean counts every process; what none has used keeps its `grad`."""
    for each in told[1]:
        assert each["branches"] == {
            "module.first.weight": [1, 1, 1, 1],
            "module.first.bias": 1,
            "module.second.weight": [2, 2, 2, 2],
            "module.second.bias": 1,
            "module.never.weight": None,
            "module.never.bias": None,
        }


def test_parameters_without_part_are_to_be_announced(told: tuple[Told, list[Told]]) -> None:
    for rank, each in enumerate(told[1]):
        said = each["unannounced"]
        assert said.startswith("Expected to have finished reduction in the prior iteration")
        assert said.endswith(
            f"on rank {rank}: second.weight, second.bias, never.weight, never.bias"
        )


def test_buffers_are_those_of_the_first_process(told: tuple[Told, list[Told]]) -> None:
    assert [each["buffers"] for each in told[1]] == [pytest.approx([0.37, 0.46])] * 2


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("another size", "[1]: params[0] in this process with sizes [3, 3] appears not to match"),
        ("another number", "DDP expects same model across all ranks, but Rank 1 has 1 params,"),
        ("join", "DistributedDataParallel.join: uneven numbers of batches"),
        ("comm hook", "DistributedDataParallel.register_comm_hook: "),
        ("sparse", "DistributedDataParallel: the gradient of weight is sparse"),
        ("option", "DistributedDataParallel: mixed_precision is not supported"),
    ],
)
def test_what_is_refused_is_refused_in_both(
    told: tuple[Told, list[Told]], name: str, said: str
) -> None:
    assert all(each[name].startswith(said) for each in told[1])
