"""Files that are read: what others do to them meanwhile ends in an error, never in a crash."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import rushlight as torch
from rushlight.safetensors import load_file, save_file
from rushlight.serialization.files.container import ArchiveReader
from rushlight.serialization.files.errors import ArchiveError
from rushlight.serialization.files.file_bytes import OpenedFile
from rushlight.serialization.files.identify import identify


class Weights(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("one", torch.arange(300_000))
        self.register_buffer("two", torch.ones(300_000))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.one + self.two


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "m.pt"
    torch.jit.script(Weights()).save(path)
    return path


def test_a_file_that_shrinks_while_it_is_read(archive: Path) -> None:
    with ArchiveReader(archive) as reader:
        os.truncate(archive, 100_000)
        with pytest.raises(ArchiveError, match="was cut off or changed while it was read"):
            reader.read("data/1")


def test_a_file_that_changes_while_it_is_read(archive: Path) -> None:
    with ArchiveReader(archive) as reader:
        with open(archive, "r+b") as file:
            file.seek(reader.entries["data/1"].data + 10)
            file.write(b"changed")
        memory = bytearray(8)
        for attempt in (reader.check, lambda record: reader.read_into(record, memoryview(memory))):
            with pytest.raises(ArchiveError, match="checksum"):
                attempt("data/1")
        with pytest.raises(ArchiveError, match="checksum"):
            reader.mapped("data/1", 1)


@pytest.mark.parametrize("load", [torch.jit.load, torch.load, load_file], ids=["jit", "sd", "safe"])
def test_what_is_loaded_needs_the_file_no_more(
    load: Callable[[Path], object], tmp_path: Path
) -> None:
    """A mapping of a file that somebody cuts off kills whoever looks at it."""
    path = tmp_path / "m.pt"
    values = {"two": torch.ones(500_000)}
    if load is load_file:
        save_file(values, path)
    elif load is torch.load:
        torch.save(values, path)
    else:
        module = torch.jit.script(Weights())
        module.two = values["two"]
        module.save(path)
    loaded = load(path)
    os.truncate(path, 0)
    state = loaded if isinstance(loaded, dict) else loaded.state_dict()  # type: ignore[attr-defined]
    assert state["two"].sum().item() == 500_000


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs another process at work")
def test_loading_survives_a_writer(archive: Path) -> None:
    """Another process cuts the file off and fills it again without end."""
    writer = (
        "import os, sys\n"
        "data = open(sys.argv[1], 'rb').read()\n"
        "file = os.open(sys.argv[1], os.O_RDWR)\n"
        "print(flush=True)\n"
        "while True:\n"
        "    os.truncate(file, len(data) // 3)\n"
        "    os.pwrite(file, data, 0)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", writer, str(archive)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        process.stdout.readline()
        outcomes, codes = {True: 0, False: 0}, set()
        for _ in range(30):
            try:
                outcomes[torch.jit.load(archive).two.sum().item() == 300_000] += 1
            except RuntimeError as error:
                codes.add(getattr(error, "code", ""))
        assert outcomes[False] == 0
        assert codes <= {"truncated", "damaged-archive"}
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("load", [torch.jit.load, torch.load])
def test_mapped_on_request(load: Callable[..., object], archive: Path, tmp_path: Path) -> None:
    states = tmp_path / "s.pt"
    torch.save({"two": torch.ones(300_000)}, states)
    path = archive if load is torch.jit.load else states
    before = path.read_bytes()
    loaded = load(path, mmap=True)
    state = loaded if isinstance(loaded, dict) else loaded.state_dict()  # type: ignore[attr-defined]
    assert (
        "mmap"
        in type(_memory_of(state["two"])).__module__ + type(_memory_of(state["two"])).__name__
    )
    state["two"][0] = 5.0
    assert path.read_bytes() == before
    with pytest.raises(ValueError, match="f must be a file path in order to use the mmap argument"):
        load(io.BytesIO(before), mmap=True)
    place = before.index(np.ones(1000, np.float32).tobytes())
    path.write_bytes(before[:place] + b"\1" + before[place + 1 :])
    with pytest.raises(ArchiveError, match="checksum"):
        load(path, mmap=True)


def _memory_of(tensor: torch.Tensor) -> object:
    """What lies under all views of an array."""
    memory: object = tensor._array
    while True:
        under = memory.obj if isinstance(memory, memoryview) else getattr(memory, "base", None)
        if under is None:
            return memory
        memory = under


def test_only_zip_files_are_mapped(tmp_path: Path) -> None:
    save_file({"a": torch.ones(1)}, tmp_path / "a.safetensors")
    with pytest.raises(RuntimeError, match="mmap can only be used with files saved with"):
        torch.load(tmp_path / "a.safetensors", mmap=True)


def test_what_is_no_regular_file(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, "/dev/zero"):
        assert identify(path).name == "no-file"  # and nobody waits for a writer
        for load in (torch.jit.load, torch.load):
            with pytest.raises(ArchiveError, match="it is a pipe, a socket or a device"):
                load(path)
    for load in (torch.jit.load, torch.load):
        with pytest.raises(IsADirectoryError):
            load(tmp_path)


def test_slices_are_those_of_bytes(tmp_path: Path) -> None:
    content = bytes(range(256)) * 5000
    (tmp_path / "f").write_bytes(content)
    parts = [slice(0, 4), slice(-5, None), slice(10, 5), slice(1_279_000, 9_999_999), slice(None)]
    for source in (tmp_path / "f", content, io.BytesIO(content)):
        file = OpenedFile(source)
        assert [bytes(file[part]) for part in parts] == [content[part] for part in parts]
        file.close()


def test_a_sparse_file_of_a_terabyte(tmp_path: Path) -> None:
    """Directories are bounded before they are read."""
    end = b"PK\6\7" + bytes(4) + (1 << 40).to_bytes(8, "little") + b"\1\0\0\0"
    end64 = b"PK\6\6" + (44).to_bytes(8, "little") + bytes(4 + 8)
    end64 += (5).to_bytes(8, "little") * 2 + (1 << 40).to_bytes(8, "little") + bytes(8)
    tail = end64 + end + b"PK\5\6" + bytes(4) + b"\xff" * 12 + b"\0\0"
    with open(tmp_path / "sparse", "wb") as file:
        file.seek(1 << 40)
        file.write(tail)
    with pytest.raises(ArchiveError) as caught:
        torch.jit.load(tmp_path / "sparse")
    assert caught.value.code == "limit-exceeded"
