"""Functions in processes of their own, and what is raised there."""

from __future__ import annotations

import os
import pickle
import signal
import sys
from pathlib import Path

import pytest

import rushlight.multiprocessing as mp

pytestmark = pytest.mark.skipif(
    "fork" not in mp.get_all_start_methods(), reason="processes are not forked here"
)


def _write(number: int, folder: str) -> None:
    Path(folder, str(number)).write_text("done")


def _fail(number: int) -> None:
    if number == 1:
        raise ValueError(f"process {number} does not like it")
    signal.pause()


def _leave(number: int, code: int) -> None:
    if code < 0:
        os.kill(os.getpid(), -code)
    sys.exit(code)


def test_processes_are_waited_for(tmp_path: Path) -> None:
    mp.start_processes(_write, (str(tmp_path),), nprocs=2, start_method="fork")
    assert sorted(os.listdir(tmp_path)) == ["0", "1"]


def test_what_is_raised_is_raised_here_and_the_others_are_ended() -> None:
    with pytest.raises(mp.ProcessRaisedException, match="does not like it") as raised:
        mp.start_processes(_fail, nprocs=2, start_method="fork")
    error = raised.value
    assert error.msg.startswith("\n\n-- Process 1 terminated with the following error:\nTraceback")
    assert (error.error_index, error.error_pid > 0) == (1, True)
    assert pickle.loads(pickle.dumps(error)).msg == error.msg


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (3, "process 0 terminated with exit code 3"),
        (-int(signal.SIGKILL), "process 0 terminated with signal SIGKILL"),
    ],
)
def test_processes_that_end_otherwise_are_told(code: int, said: str) -> None:
    with pytest.raises(mp.ProcessExitedException) as raised:
        mp.start_processes(_leave, (code,), start_method="fork")
    assert raised.value.msg == said
    assert raised.value.exit_code == code
    assert raised.value.signal_name == ("SIGKILL" if code < 0 else None)
    assert pickle.loads(pickle.dumps(raised.value)).exit_code == code


def test_processes_can_be_waited_for_later(tmp_path: Path) -> None:
    started = mp.start_processes(
        _write, (str(tmp_path),), nprocs=2, join=False, start_method="fork"
    )
    assert isinstance(started, mp.ProcessContext)
    assert len(started.pids()) == 2
    while not started.join(timeout=10, grace_period=1):
        pass
    assert not [name for name in started.error_files if Path(name).exists()]
    assert started.join()
