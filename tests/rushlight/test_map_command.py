"""`rushlight map`: rows scored by workers, parts that are never half written, runs that go on."""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.__main__ import main
from rushlight.scoring import cluster, folder
from rushlight.scoring.errors import CannotScore
from rushlight.scoring.folder import parts_of
from rushlight.scoring.rows import rows_of
from rushlight.scoring.worker import Job

needs_dask = pytest.mark.skipif(
    "not __import__('importlib').util.find_spec('distributed')", reason="Dask is not installed"
)


class Scores(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x)

    @torch.jit.export
    def named(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        if bool((x > 90).any()):
            raise ValueError("too large")
        return {"double": x * 2, "sum": x.sum(1)}

    @torch.jit.export
    def mean(self, x: torch.Tensor) -> torch.Tensor:
        return x.mean()

    @torch.jit.export
    def endless(self, x: torch.Tensor) -> torch.Tensor:
        while True:
            x = x + 1
        return x

    @torch.jit.export
    def two(self, x: torch.Tensor, y: int) -> torch.Tensor:
        return x * y


HOLDING = """
import os
import time

import rushlight as torch


def held(x: torch.Tensor) -> torch.Tensor:
    if bool((x == 40).any()):
        try:
            with open({path!r}, "x") as file:
                file.write(str(os.getpid()))
        except FileExistsError:
            return x * 2
        time.sleep(600)
    return x * 2


if not hasattr(torch.ops.test_map, "held"):  # Dask may read this file several times
    torch.library.custom_op("test_map::held", mutates_args=())(held)
"""
"""A worker is held up at a row, the first time that any comes to it, and says so in a file."""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    torch.manual_seed(3)
    torch.jit.script(Scores()).save(str(tmp_path / "m.pt"))
    np.save(tmp_path / "x.npy", np.arange(80, dtype=np.float32).reshape(20, 4))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def mapped(*words: str) -> int:
    return main(["map", *words, "--threads", "1"])


def joined(out: Path) -> Any:
    return np.concatenate([np.load(path) for path in sorted(out.glob("*.npy"))])


@needs_dask
def test_rows_are_scored_and_a_run_goes_on(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["m.pt", "x.npy", "out", "--rows", "6", "--batch", "4"]
    assert mapped(*words) == 0
    assert capsys.readouterr().out == "out: 20 rows in 4 parts\n"
    expected = torch.jit.load("m.pt")(torch.from_numpy(np.load("x.npy"))).detach().numpy()
    np.testing.assert_allclose(joined(place / "out"), expected, rtol=1e-6)
    kept, gone = place / "out" / "x-00000.npy", place / "out" / "x-00002.npy"
    before = kept.stat().st_mtime_ns
    gone.unlink()
    assert mapped(*words) == 0
    assert capsys.readouterr().out == "out: 20 rows in 4 parts, 3 of them from before\n"
    assert kept.stat().st_mtime_ns == before
    np.testing.assert_allclose(joined(place / "out"), expected, rtol=1e-6)
    assert mapped(*words[:3], "--rows", "5") == 2
    assert "of another run (rows, batch differ)" in capsys.readouterr().err


@needs_dask
def test_folders_tables_and_named_results(place: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    arrow = pytest.importorskip("pyarrow")
    (place / "in").mkdir()
    np.save(place / "in" / "a.npy", np.ones((3, 4), np.float32))
    table = arrow.table({name: [1.0, 2.0] for name in "abcd"})
    parquet.write_table(table, place / "in" / "b.parquet")
    words = ["--method", "named", "--dtype", "float32"]
    assert mapped("m.pt", "in", "out", *words) == 0
    assert sorted(path.name for path in (place / "out").iterdir()) == [
        *("a-00000.npz", "b-00000.npz", "map.json"),
    ]
    found = np.load(place / "out" / "b-00000.npz")
    assert found["sum"].tolist() == [4, 8]
    assert found["double"].dtype == np.float32


@needs_dask
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["x.npy", "--method", "mean"], "has not a row for each of the 20 rows"),
        (["x.npy", "--method", "endless"], "x.npy, rows 0 to 19: The following operation failed"),
        (["large.npy", "--method", "named", "--batch", "2"], "large.npy, rows 4 to 5: "),
        (["wide.npy"], "wide.npy, rows 0 to 2: The following operation failed"),
        (["x.npy", "--dtype", "float64"], "x.npy, rows 0 to 19: The following operation failed"),
    ],
)
def test_what_the_code_raises_is_told_with_its_rows(
    place: Path, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    large = np.zeros((8, 4), np.float32)
    large[5] = 91
    np.save(place / "large.npy", large)
    np.save(place / "wide.npy", np.ones((3, 5), np.float32))
    assert mapped("m.pt", words[0], "out", *words[1:]) == 1
    assert said in capsys.readouterr().err
    assert [path.name for path in (place / "out").iterdir()] == ["map.json"]


@needs_dask
def test_a_full_disk_loses_nothing(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    written = folder.atomic_file
    names: list[str] = []

    def full(path: Any) -> Any:
        names.append(str(path))
        if len(names) == 4:  # map.json comes first
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        return written(path)

    words = ["m.pt", "x.npy", "out", "--rows", "4"]
    monkeypatch.setattr(folder, "atomic_file", full)
    assert mapped(*words) == 2
    assert ".npy: No space left on device" in capsys.readouterr().err
    monkeypatch.undo()
    monkeypatch.chdir(place)
    assert len(list((place / "out").iterdir())) == 3
    assert mapped(*words) == 0
    assert "5 parts, 2 of them from before" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["m.pt", "x.npy", "out", "--batch", "0"], "--batch 0: at least 1"),
        (["m.pt", "x.npy", "out", "--method", "two"], "takes x: Tensor, y: int, and rows are one"),
        (["m.pt", "x.npy", "out", "--method", "tow"], "did you mean `two`"),
        (["none.pt", "x.npy", "out"], "none.pt: no such file"),
        (["m.pt", "none.npy", "out"], "none.npy: no such file or folder"),
        (["m.pt", "m.pt", "out"], "is an .npy or .parquet file"),
        (["x.npy", "x.npy", "out"], "x.npy"),
    ],
)
def test_bad_input_writes_nothing(
    place: Path, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("distributed")
    assert mapped(*words) == 2
    assert said in capsys.readouterr().err
    assert not (place / "out").exists()


def test_map_needs_dask(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert mapped("m.pt", "x.npy", "out") == 2
    assert "install `rushlight[dask]`" in capsys.readouterr().err
    assert not (place / "out").exists()


@pytest.mark.skipif(os.name == "nt", reason="nobody is killed there")
def test_a_worker_that_is_killed_while_it_works_loses_nothing(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dask = pytest.importorskip("distributed")
    seen = place / "seen"
    (place / "holding.py").write_text(HOLDING.format(path=str(seen)))
    exec(HOLDING.format(path=str(seen)), {})

    def forward(x: torch.Tensor) -> torch.Tensor:
        return torch.ops.test_map.held(x)  # type: ignore[no-any-return]

    torch.jit.script(forward).save("held.pt")
    killed = list[int]()

    def kill() -> None:
        until = time.monotonic() + 60
        while not (seen.exists() and seen.read_text()) and time.monotonic() < until:
            time.sleep(0.05)
        killed.append(int(seen.read_text()))
        os.kill(killed[0], signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    options = {
        "dashboard_address": None,
        "silence_logs": 60,
        "preload": [str(place / "holding.py")],
    }
    words = ["held.pt", "x.npy", "out", "--rows", "2", "--batch", "2"]
    with dask.LocalCluster(n_workers=2, threads_per_worker=1, **options) as made:
        assert main(["map", *words, "--scheduler", made.scheduler_address]) == 0
    killer.join()
    assert killed
    assert capsys.readouterr().out == "out: 20 rows in 10 parts\n"
    assert np.array_equal(joined(place / "out"), np.load("x.npy") * 2)


def test_no_scheduler_and_no_workers(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    dask = pytest.importorskip("distributed")
    monkeypatch.setattr(cluster, "_CONNECT", 0.5)
    words = ["map", "m.pt", "x.npy", "out", "--scheduler"]
    assert main([*words, "tcp://127.0.0.1:9"]) == 2
    assert "tcp://127.0.0.1:9: no workers can be reached" in capsys.readouterr().err
    options = {"dashboard_address": None, "silence_logs": 60, "processes": False}
    with dask.LocalCluster(n_workers=0, **options) as made:
        assert main([*words, made.scheduler_address]) == 2
    assert "no workers can be reached" in capsys.readouterr().err


def test_workers_that_leave(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dask = pytest.importorskip("distributed")
    monkeypatch.setattr(cluster, "_WITHOUT_WORKERS", 0.3)
    monkeypatch.setattr(cluster, "_LOOK", 0.1)
    options = {"dashboard_address": None, "silence_logs": 60, "processes": False}
    job = Job("a", "forward", "none", 4, 0.0)
    parts = parts_of([rows_of(place / "x.npy")], 4)
    with dask.LocalCluster(n_workers=1, **options) as made, dask.Client(made) as client:
        results = cluster.computed(client, job, (place / "m.pt").read_bytes(), parts)
        assert len(next(results)[1]["result"]) == 4
        made.scale(0)
        made.sync(made._correct_state)
        with pytest.raises(CannotScore, match="no worker is left, and none"):
            list(results)


def test_a_scheduler_that_goes(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dask = pytest.importorskip("distributed")
    monkeypatch.setattr(cluster, "_WITHOUT_WORKERS", 0.3)
    monkeypatch.setattr(cluster, "_LOOK", 0.1)
    options = {"dashboard_address": None, "silence_logs": 60, "processes": False}
    parts = parts_of([rows_of(place / "x.npy")], 2)
    archive = (place / "m.pt").read_bytes()
    with dask.LocalCluster(n_workers=1, **options) as made, dask.Client(made) as client:
        results = cluster.computed(client, Job("a", "forward", "none", 4, 0.0), archive, parts)
        next(results)
        made.close()
        with pytest.raises(CannotScore, match=r"no worker is left|rows"):
            list(results)
