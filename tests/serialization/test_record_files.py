"""The records of archives, one by one."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest

import rushlight as torch
from rushlight import serialization

Reader, Writer = torch._C.PyTorchFileReader, torch._C.PyTorchFileWriter


def written(target: Any) -> Any:
    writer = Writer(target)
    writer.write_record("note", "héllo", 6)
    writer.write_record("data/0", torch.arange(3).untyped_storage(), 16)
    writer.write_record("raw", b"\0\1\2", 3)
    writer.write_end_of_file()
    return writer


def test_records_come_back(tmp_path: Path) -> None:
    path = tmp_path / "numbers.pt"
    writer = written(path)
    assert writer.archive_name() == "numbers"
    reader = Reader(path)
    names = ["note", "data/0", "raw", "version", "byteorder", ".data/serialization_id"]
    assert reader.get_all_records() == names
    assert writer.get_all_written_records() == set(names)
    assert reader.get_record("note").decode() == "héllo"
    assert reader.get_record("version") == b"3\n"
    assert reader.get_record("raw") == b"\0\1\2"
    assert reader.get_record_size("data/0") == 16
    assert reader.has_record("raw")
    assert not reader.has_record("cooked")
    assert len(reader.serialization_id()) == 40
    place = reader.get_record_offset("data/0")
    assert place % 64 == 0
    assert reader.get_record_header_offset("data/0") < place
    assert path.read_bytes()[place : place + 8] == bytes(8)
    with zipfile.ZipFile(path) as file:
        assert file.read("numbers/raw") == b"\0\1\2"


def test_numbers_of_a_record() -> None:
    file = io.BytesIO()
    written(file)
    file.seek(0)
    reader = Reader(file)
    empty = reader.get_storage_from_record("data/0", 2, torch.int64)
    assert empty.numel() == 0
    assert torch.tensor([]).long().set_(empty.untyped_storage()).tolist() == [0, 1]
    with pytest.raises(RuntimeError, match="16 bytes, fewer than 3 elements"):
        reader.get_storage_from_record("data/0", 3, torch.int64)


def test_an_identity_that_is_no_text_is_read() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as written:
        written.writestr("a/.data/serialization_id", b"1\xff2")
        written.writestr("a/version", b"3")
    file.seek(0)
    assert Reader(file).serialization_id() == "1\ufffd2"


def test_files_of_torch_save_are_read_and_made() -> None:
    file = io.BytesIO()
    torch.save({"x": torch.ones(2)}, file)
    file.seek(0)
    assert serialization._is_zipfile(file)
    assert file.tell() == 0
    with serialization._open_zipfile_reader(file) as reader:
        assert not serialization._is_torchscript_zip(reader)
        records = {name: reader.get_record(name) for name in reader.get_all_records()}
    del records[".data/serialization_id"]
    again = io.BytesIO()
    with serialization._open_zipfile_writer(again) as writer:
        for name, content in records.items():
            writer.write_record(name, content, len(content))
    again.seek(0)
    assert torch.load(again)["x"].tolist() == [1.0, 1.0]
    assert not serialization._is_zipfile(io.BytesIO(b"PK"))


def test_what_is_no_record(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="failed reading zip archive"):
        Reader(io.BytesIO(b"abc"))
    with pytest.raises(RuntimeError, match=r"Parent directory .* does not exist"):
        Writer(tmp_path / "absent" / "x.pt")
    with pytest.raises(NotImplementedError, match="64 bytes"):
        Writer(io.BytesIO(), storage_alignment=4096)
    file = io.BytesIO()
    writer = Writer(file)
    with pytest.raises(RuntimeError, match="record q has 3 bytes, not 7"):
        writer.write_record("q", b"abc", 7)
    with pytest.raises(TypeError, match="not of int"):
        writer.write_record("q", 12, 7)
    writer.write_record("q", b"abc", 3)
    with pytest.raises(RuntimeError, match="Tried to serialize file twice: q"):
        writer.write_record("q", b"abc", 3)
    writer.write_end_of_file()
    with pytest.raises(RuntimeError, match="after the end"):
        writer.write_record("r", b"", 0)
    file.seek(0)
    with pytest.raises(RuntimeError, match="failed locating file r: file not found"):
        Reader(file).get_record("r")


def test_nothing_is_written_before_the_end(tmp_path: Path) -> None:
    path = tmp_path / "a.pt"
    writer = Writer(path)
    writer.write_record("q", b"abc", 3)
    assert list(tmp_path.iterdir()) == []
    writer.write_end_of_file()
    assert list(tmp_path.iterdir()) == [path]


def test_a_block_that_fails_writes_nothing(tmp_path: Path) -> None:
    def fail() -> None:
        with serialization._open_zipfile_writer(tmp_path / "a.pt") as writer:
            writer.write_record("q", b"abc", 4)

    with pytest.raises(RuntimeError, match="3 bytes, not 4"):
        fail()
    assert list(tmp_path.iterdir()) == []
