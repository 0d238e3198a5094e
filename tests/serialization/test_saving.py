"""Files that are there stay whole: saving that is killed, equal bytes, threads."""

from __future__ import annotations

import io
import os
import random
import signal
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rushlight as torch


class Scaled(torch.nn.Module):
    def __init__(self, factor: float, size: int = 4) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.full((size,), factor))
        self.factor = factor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(2):
            x = x * self.weight.sum() + 1e10
        return x


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_killed_save_leaves_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    modules = [torch.jit.script(Scaled(float(i), 200_000)) for i in range(2)]
    path = tmp_path / "model.pt"
    contents = []
    for module in modules:
        module.save(str(path))
        contents.append(path.read_bytes())
    chance = random.Random(5)
    for _ in range(12):
        child = os.fork()
        if child == 0:
            while True:
                for module in modules:
                    module.save(str(path))
        time.sleep(chance.random() * 0.05)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        assert path.read_bytes() in contents
    left = [p for p in tmp_path.iterdir() if p != path]
    assert all(p.name.endswith(".tmp") for p in left)


def test_a_save_that_fails_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    torch.jit.script(Scaled(1.0)).save(str(path))
    before = path.read_bytes()

    class Bad:
        def __bytes__(self) -> bytes:
            raise OSError("no bytes")

    with pytest.raises(OSError, match="no bytes"):
        torch.jit.script(Scaled(2.0)).save(str(path), _extra_files={"x": Bad()})
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_equal_modules_make_equal_bytes() -> None:
    first = torch.jit.script(Scaled(3.0)).save_to_buffer(_extra_files={"a": "b"})
    assert torch.jit.script(Scaled(3.0)).save_to_buffer(_extra_files={"a": "b"}) == first
    again = torch.jit.load(io.BytesIO(first)).save_to_buffer()
    assert torch.jit.load(io.BytesIO(again)).save_to_buffer() == again


def test_whole_floats_stay_floats() -> None:
    loaded = torch.jit.load(io.BytesIO(torch.jit.script(Scaled(1.0)).save_to_buffer()))
    assert loaded(torch.zeros(1)).item() == pytest.approx(5e10)


def test_weights_can_be_mapped(tmp_path: Path) -> None:
    path = str(tmp_path / "model.pt")
    torch.jit.script(Scaled(2.0, 5000)).save(path)
    before = Path(path).read_bytes()
    module = torch.jit.load(path, mmap=True)
    module.weight.data[3] = 7.0
    assert module.weight.detach().numpy()[2:5].tolist() == [2.0, 7.0, 2.0]
    assert Path(path).read_bytes() == before
    module.save(path)  # over the file its weights come from
    assert torch.jit.load(path, mmap=True).weight.detach().numpy()[3] == 7.0
    assert module.weight.detach().numpy()[3] == 7.0


def test_bytes_of_the_other_order() -> None:
    import zipfile

    data = torch.jit.script(Scaled(2.5)).save_to_buffer()
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(buffer, "w") as target:
        for name in source.namelist():
            content = source.read(name)
            if name.endswith("byteorder"):
                content = b"big"
            elif "/data/" in name:
                content = np.frombuffer(content, "<f4").astype(">f4").tobytes()
            target.writestr(name, content)
    assert torch.jit.load(io.BytesIO(buffer.getvalue())).weight.tolist() == [2.5] * 4


def test_threads_load_compile_and_run_at_once() -> None:
    archives = [torch.jit.script(Scaled(float(i))).save_to_buffer() for i in range(4)]
    x = torch.ones(2)
    wanted = [torch.jit.load(io.BytesIO(data))(x) for data in archives]
    wrong: list[Any] = []
    begin = threading.Barrier(8)
    shared = torch.jit.load(io.BytesIO(archives[1]))

    def work(number: int) -> None:
        try:
            begin.wait()
            for turn in range(5):
                which = (number + turn) % 4
                module = torch.jit.load(io.BytesIO(archives[which]))
                for _ in range(3):
                    assert torch.equal(module(x), wanted[which])
                    assert torch.equal(shared(x), wanted[1])
                module.save_to_buffer()
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_classes_of_equal_names_live_side_by_side() -> None:
    one = torch.jit.load(io.BytesIO(torch.jit.script(Scaled(1.0)).save_to_buffer()))

    class Holder(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = 5

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * self.weight

    made = torch.jit.script(Holder()).save_to_buffer()
    other = torch.jit.load(io.BytesIO(made))
    x = torch.ones(1)
    assert other(x).item() == 5
    assert one(x).item() == pytest.approx(5e10)
    assert other(x).item() == 5
