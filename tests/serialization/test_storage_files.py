"""Storages over files and over parts of storages."""

from __future__ import annotations

from pathlib import Path

import pytest

import rushlight as torch


def test_a_file_as_memory(tmp_path: Path) -> None:
    file = tmp_path / "bytes"
    file.write_bytes(bytes(range(64)))
    own = torch.UntypedStorage.from_file(str(file), False, 16)
    own[0] = 99
    assert own.untyped() is own
    assert (own.nbytes(), own[0], own[3], own.filename) == (16, 99, 3, None)
    assert file.read_bytes()[0] == 0  # what is written stays here
    assert torch.asarray(own[4:8], dtype=torch.uint8).tolist() == [4, 5, 6, 7]
    shared = torch.UntypedStorage.from_file(str(file), shared=True, nbytes=100)
    shared[1] = 77
    del shared
    assert file.read_bytes()[1] == 77
    assert file.stat().st_size == 100
    floats = torch.FloatStorage.from_file(str(file), False, 4)
    assert floats.size() == 4
    assert torch.UntypedStorage.from_file(str(file)).nbytes() == 0


def test_files_that_are_not_there_or_too_short(tmp_path: Path) -> None:
    file = tmp_path / "bytes"
    with pytest.raises(RuntimeError, match=r"unable to open file .* in read-only mode: No such"):
        torch.UntypedStorage.from_file(str(file), False, 4)
    file.write_bytes(b"abc")
    with pytest.raises(RuntimeError, match=r"size <3> is smaller than the required .* size <4>"):
        torch.UntypedStorage.from_file(str(file), False, 4)
    with pytest.raises(RuntimeError, match="unable to mmap -1 bytes"):
        torch.UntypedStorage.from_file(str(file), False, -1)
    with pytest.raises(TypeError, match="argument 1 must be str"):
        torch.UntypedStorage.from_file(file, False, 1)  # type: ignore[arg-type]


def test_a_slice_of_a_storage_is_its_own_over_the_same_memory() -> None:
    x = torch.arange(6, dtype=torch.uint8)
    whole = x.untyped_storage()
    part = whole[2:4]
    part[0] = 9
    assert part.tolist() == [9, 3]
    assert x.tolist() == [0, 1, 9, 3, 4, 5]
    with pytest.raises(RuntimeError, match="slice with a step of 2"):
        whole[::2]
