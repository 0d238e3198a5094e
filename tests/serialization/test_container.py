"""The zip container: torch's bytes, atomic files, damage."""

from __future__ import annotations

import contextlib
import io
import os
import struct
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rushlight.serialization.files import container_writer
from rushlight.serialization.files.atomic_file import atomic_file
from rushlight.serialization.files.container import ArchiveReader
from rushlight.serialization.files.container_writer import ContainerWriter, archive_name
from rushlight.serialization.files.errors import ArchiveError
from rushlight.serialization.files.limits import Limits

DATA = Path(__file__).parent / "data"


def written(records: dict[str, bytes], name: str = "archive") -> bytes:
    sink = io.BytesIO()
    writer = ContainerWriter(sink, name)
    for record, content in records.items():
        writer.add(record, content)
    writer.finish()
    return sink.getvalue()


def records_of(data: bytes) -> dict[str, bytes]:
    with ArchiveReader(data) as archive:
        return {record: archive.read(record) for record in archive.records()}


def code_of(data: bytes) -> str:
    with pytest.raises(ArchiveError) as caught:
        records_of(data)
    return caught.value.code


@pytest.mark.parametrize("name", ["sample", "function"])
def test_written_again_differs_from_torch_in_deflated_bytes_only(name: str) -> None:
    original = (DATA / f"{name}.pt").read_bytes()
    records = records_of(original)
    again = written(records, name)
    assert records_of(again) == records
    # stored entries: the same local headers, padding, data and descriptors at the same places
    with ArchiveReader(original) as torch, ArchiveReader(again) as ours:
        for record, entry in torch.entries.items():
            mine = ours.entries[record]
            assert (entry.method, entry.data % 64) == (mine.method, 0)
            if entry.method == 0 and entry.header == mine.header:
                end = entry.data + entry.compressed + 16
                assert original[entry.header : end] == again[entry.header : end]


def test_short_records_make_the_same_file_as_torch() -> None:
    records = {
        r: c for r, c in records_of((DATA / "sample.pt").read_bytes()).items() if len(c) < 99
    }
    again = written(records, "sample")
    original = (DATA / "sample.pt").read_bytes()
    with ArchiveReader(original) as torch:
        end = torch.entries["data/4"].data + torch.entries["data/4"].compressed + 16
    assert again[:end] == original[:end]
    assert struct.unpack_from("<4sQHH", again, again.rindex(b"PK\6\6"))[1:] == (44, 0x031E, 45)


@settings(max_examples=30, deadline=None)
@given(
    st.dictionaries(
        st.text("abcdeé./", min_size=1).filter(lambda s: not s.endswith("/")),
        st.binary(max_size=300),
        min_size=1,
        max_size=6,
    )
)
def test_what_is_written_is_read(records: dict[str, bytes]) -> None:
    data = written(records)
    assert records_of(data) == records
    assert data == written(records)
    with zipfile.ZipFile(io.BytesIO(data)) as other:
        assert other.testzip() is None
        assert {i.filename.removeprefix("archive/") for i in other.infolist()} == set(records)


def test_zip64_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond 4 GiB sizes and offsets move into zip64 fields; here that begins at 1000 bytes."""
    monkeypatch.setattr(container_writer, "LARGE", 1000)
    sink = io.BytesIO()
    writer = ContainerWriter(sink, "a")
    writer.add("data/0", b"x" * 2000)
    writer.add("data/1", b"y" * 10)
    writer.finish()
    data = sink.getvalue().replace(struct.pack("<I", 1000), b"\xff\xff\xff\xff")
    assert records_of(data) == {"data/0": b"x" * 2000, "data/1": b"y" * 10}
    with zipfile.ZipFile(io.BytesIO(data)) as other:
        assert other.read("a/data/0") == b"x" * 2000


def test_serialization_id_depends_on_content_alone() -> None:
    def identity(content: bytes) -> str:
        writer = ContainerWriter(io.BytesIO(), "a")
        writer.add("data.pkl", content)
        return writer.serialization_id()

    assert identity(b"x") == identity(b"x") != identity(b"y")
    assert len(identity(b"x")) == 40
    assert identity(b"x").isdigit()


def test_reads_what_zipfile_writes() -> None:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as other:
        other.writestr("top/data.pkl", b"abc" * 99)
        other.writestr("top/folder/", b"")
        other.writestr("elsewhere/version", b"3")
    assert records_of(sink.getvalue() + b"trailing") == {"data.pkl": b"abc" * 99}


def test_reads_paths_file_objects_and_bytes(tmp_path: Path) -> None:
    data = written({"version": b"3\n"})
    path = tmp_path / "m.pt"
    path.write_bytes(data)
    for source in (path, str(path), data, bytearray(data), memoryview(data), io.BytesIO(data)):
        with ArchiveReader(source) as archive:
            assert archive.read("version") == b"3\n"
    with pytest.raises(TypeError, match="binary mode"):
        ArchiveReader(io.StringIO("text"))  # type: ignore[arg-type]


# -- names and files


@pytest.mark.parametrize(
    ("path", "name"), [("/x/a.b.c.pt", "a.b.c"), ("noext", "noext"), ("my net.pt", "my net")]
)
def test_archive_name(path: str, name: str) -> None:
    assert archive_name(path) == name


def test_a_file_without_a_name_is_refused() -> None:
    with pytest.raises(RuntimeError, match="nothing before its suffix"):
        archive_name("/x/.hidden")


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "m.pt"
    path.write_bytes(b"old")

    def fail() -> None:
        with atomic_file(path) as file:
            file.write(b"half")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["m.pt"]


def test_a_write_replaces_the_file_through_links_and_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "m.pt"
    path.write_bytes(b"old")
    path.chmod(0o640)
    link = tmp_path / "link.pt"
    link.symlink_to(path)
    with atomic_file(link) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o640


# -- damage


def test_damage_is_told_apart() -> None:
    data = written({"data.pkl": b"z" * 50, "version": b"3\n"})
    assert code_of(data[: len(data) // 2]) == "truncated"
    assert code_of(data[:-1]) == "truncated"
    assert code_of(b"") == "not-an-archive"
    assert code_of(b"MZ" + data) == "damaged-archive"
    assert code_of(data.replace(b"z" * 50, b"z" * 49 + b"y")) == "damaged-archive"


def duplicate_entries() -> bytes:
    data = written({"version": b"33", "versiom": b"44"})
    return data.replace(b"archive/versiom", b"archive/version")


def overlapping_entries() -> bytes:
    data = bytearray(written({"a": b"1" * 90, "b": b"1" * 90}))
    first = data.index(b"PK\1\2")
    second = data.index(b"PK\1\2", first + 1)
    data[second + 42 : second + 46] = data[first + 42 : first + 46]
    data[second + 46 : second + 55] = data[first + 46 : first + 55]
    return bytes(data)


@pytest.mark.parametrize("data", [duplicate_entries(), overlapping_entries()])
def test_ambiguous_directories_are_refused(data: bytes) -> None:
    assert code_of(data) == "damaged-archive"


def test_inflation_is_limited() -> None:
    data = written({"code/a.py": b"0" * 100_000})
    limits = Limits(inflated=50_000, ratio=10)
    with pytest.raises(ArchiveError) as caught:
        ArchiveReader(data, limits)
    assert caught.value.code == "limit-exceeded"
    assert "100000 bytes once inflated" in str(caught.value)


def test_an_entry_that_lies_about_its_size_is_not_inflated_further() -> None:
    data = bytearray(written({"code/a.py": b"0" * 100_000}))
    directory = data.index(b"PK\1\2")
    data[directory + 24 : directory + 28] = struct.pack("<I", 1000)
    assert code_of(bytes(data)) == "damaged-archive"


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_mutated_archives_fail_as_documented(data: st.DataObject) -> None:
    original = bytearray((DATA / "function.pt").read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(original) - 1))
        original[place] = data.draw(st.integers(0, 255))
    with contextlib.suppress(ArchiveError):
        records_of(bytes(original[: data.draw(st.integers(0, len(original)))]))


# -- directories that lie


def patched(data: bytes, place: int, form: str, *values: int) -> bytes:
    changed = bytearray(data)
    struct.pack_into(form, changed, place, *values)
    return bytes(changed)


def central(data: bytes, number: int = 0) -> int:
    place = -1
    for _ in range(number + 1):
        place = data.index(b"PK\1\2", place + 1)
    return place


TWO = written({"a": b"1" * 90, "b": b"2" * 90})


@pytest.mark.parametrize(
    "data",
    [
        patched(TWO, central(TWO) + 8, "<H", 0x0809),  # encrypted
        patched(TWO, central(TWO) + 10, "<H", 12),  # bzip2
        patched(TWO, central(TWO) + 16, "<I", 1),  # checksum
        patched(TWO, central(TWO) + 20, "<I", 89),  # two sizes of a stored entry
        patched(TWO, central(TWO) + 20, "<II", 5000, 5000),  # beyond the directory
        patched(TWO, central(TWO) + 42, "<I", 2**31),  # outside the file
        patched(TWO, central(TWO) + 42, "<I", 1),  # no entry there
        patched(TWO, central(TWO) + 20, "<II", 0xFFFFFFFF, 0xFFFFFFFF),  # zip64 without its field
        patched(TWO, central(TWO) + 28, "<H", 60000),  # a name beyond the directory
        patched(TWO, central(TWO) + 32, "<H", 60000),  # a comment beyond the directory
        patched(TWO, TWO.index(b"PK\6\7") + 8, "<Q", 2**63),  # zip64 end outside the file
        patched(TWO, TWO.index(b"PK\6\6") + 32, "<Q", 3),  # an entry too many
        patched(TWO, TWO.index(b"PK\6\6") + 48, "<Q", 2**64 - 1),  # directory outside the file
        patched(TWO, TWO.index(b"PK\6\6") + 40, "<Q", 2**64 - 1),  # and its length
        b"before" + TWO,
    ],
)
def test_directories_that_lie(data: bytes) -> None:
    assert code_of(data) in {"damaged-archive", "not-an-archive"}


def test_what_harms_nobody() -> None:
    """Comments, bytes behind the end, links and names like paths: nothing is written anywhere."""
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as other:
        for name in ("top/a", "top/A", "top/../../up", "top//x", "/root", "top/link"):
            info = zipfile.ZipInfo(name)
            info.external_attr = 0o120777 << 16 if name == "top/link" else 0
            other.writestr(info, b"/etc/passwd")
        other.comment = b"c" * 60_000
    records = records_of(sink.getvalue())
    assert set(records) == {"a", "A", "../../up", "/x", "link"}
    assert set(records.values()) == {b"/etc/passwd"}
    assert records_of(sink.getvalue()[:-60_000] + b"x" * 60_000) == records


def test_too_many_entries() -> None:
    with pytest.raises(ArchiveError) as caught:
        ArchiveReader(TWO, Limits(entries=1))
    assert caught.value.code == "limit-exceeded"


def test_what_is_mapped_is_stored_as_it_is_and_lies_well(tmp_path: Path) -> None:
    content = bytes(range(64)) * 4
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        file = tmp_path / f"{method}.pt"
        with zipfile.ZipFile(file, "w", method) as archive:
            archive.writestr("archive/version", b"3\n")
            archive.writestr("archive/data/0", content)
        with ArchiveReader(str(file)) as reader:
            found = reader.mapped("data/0", 1)
            if method == zipfile.ZIP_STORED:
                assert found == content
                place = reader.entries["data/0"].data
                assert (reader.mapped("data/0", 64) is None) == bool(place % 64)
            else:
                assert found is None
            assert reader.read("data/0") == content
    with ArchiveReader(file.read_bytes()) as in_memory:
        assert in_memory.mapped("version", 1) is None
