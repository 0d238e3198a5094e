"""Functions in processes of their own, and what is raised there."""

from __future__ import annotations

import os
import pickle
import signal
import sys
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import Any

import pytest

import rushlight as torch
import rushlight.multiprocessing as mp
from rushlight.ops.memory.growing import FOLLOWING

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


def test_a_process_is_told_of_whose_temporary_file_somebody_has_removed() -> None:
    context = mp.start_processes(_leave, (3,), nprocs=1, join=False, start_method="fork")
    assert context is not None
    Path(context.error_files[0]).unlink()
    with pytest.raises(mp.ProcessExitedException, match="exit code 3"):
        context.join()


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


def _train(module: torch.nn.Module, tensor: torch.Tensor, queue: Any, done: Any) -> None:
    with torch.no_grad():
        for each in module.parameters():
            each.fill_(3.0)
    tensor[1] = 7
    queue.put(tensor[1:])
    done.wait(60)  # who receives it asks for the descriptor


def test_forked_processes_write_to_memory_that_is_shared() -> None:
    module, base = torch.nn.Linear(2, 2), torch.zeros(4, dtype=torch.bfloat16)
    view = base[2:]
    assert not any(each.is_shared() for each in (base, view, module.weight))
    module.share_memory()
    view.share_memory_()
    assert all(each.is_shared() for each in (base, base.untyped_storage(), *module.parameters()))
    assert base.data_ptr() + 4 == view.data_ptr()
    context = mp.get_context("fork")
    queue, done = context.Queue(), context.Event()
    process = context.Process(target=_train, args=(module, base, queue, done))
    process.start()
    received = queue.get(timeout=60)
    done.set()
    process.join()
    assert all(torch.equal(each, torch.full_like(each, 3.0)) for each in module.parameters())
    assert (base.tolist(), received.tolist()) == ([0, 7, 0, 0], [7, 0, 0])
    received[2] = 5
    assert (view.tolist(), received.data_ptr() - base.data_ptr()) == ([0, 5], 2)


def test_shared_memory_is_told_by_its_descriptor() -> None:
    parameter = torch.nn.Parameter(torch.arange(6.0).reshape(2, 3).t(), requires_grad=False)
    copied = ForkingPickler.loads(ForkingPickler.dumps(parameter))
    assert (type(copied), copied.is_shared()) == (torch.nn.Parameter, False)
    parameter.share_memory_()
    sent = ForkingPickler.loads(ForkingPickler.dumps(parameter))
    assert (type(sent), sent.requires_grad) == (torch.nn.Parameter, False)
    assert (sent.stride(), sent.is_shared()) == ((1, 3), True)
    sent[0, 1] = 9
    assert parameter[0, 1] == 9


def test_shared_memory_keeps_its_size_and_goes_with_its_tensors() -> None:
    x = torch.ones(3)
    with pytest.raises(RuntimeError, match="storage that is not resizable"):
        x.share_memory_().resize_(100)
    assert (x.clone().is_shared(), x.untyped_storage().resizable()) == (False, False)
    if Path("/proc/self/fd").exists():
        before = os.listdir("/proc/self/fd")
        for _ in range(20):
            torch.ones(10).share_memory_()
        assert len(os.listdir("/proc/self/fd")) <= len(before)
    storage = torch.UntypedStorage(8)
    storage.share_memory_()[0] = 3
    assert (storage.is_shared(), storage[0], storage.nbytes()) == (True, 3, 8)
    with pytest.raises(RuntimeError, match="only available on CPU"):
        torch.empty(2, device="meta").share_memory_()


def test_nobody_is_looked_for_who_shares_the_memory_of_a_tensor_that_is_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked: list[object] = []
    follow = FOLLOWING.installed
    assert follow is not None
    monkeypatch.setattr(
        FOLLOWING, "installed", lambda *given: (looked.append(given), follow(*given))
    )
    torch.nn.Linear(3, 3).share_memory()
    assert not looked
    x = torch.zeros(3)
    part = x[1:]
    x.share_memory_().add_(1)
    assert (len(looked), part.tolist()) == (1, [1.0, 1.0])


def test_gradients_reach_what_has_moved_to_shared_memory() -> None:
    x = torch.ones(2, requires_grad=True)
    y = x * x
    x.share_memory_()
    y.sum().backward()
    assert x.grad.tolist() == [2, 2]
