"""More attacks on the reader of zip files: headers that contradict each other, written byte by byte."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from attacks_on_container import FAMILY, _within, zipped_records
from harness import Broken, is_documented
from making import archive, load, zipped

RECORDS = zipped_records(archive())
EVIL = zipped_records(archive("return torch.neg(x)"))


@dataclass
class Record:
    """A record as it is to be written; what is None follows from the rest."""

    name: bytes
    data: bytes
    flags: int = 0
    method: int = 0
    checksum: int | None = None
    packed: bytes | None = None
    local_name: bytes | None = None
    local_sizes: tuple[int, int] | None = None
    local_flags: int | None = None
    behind: bytes = b""
    extra: bytes = b""
    offset: int | None = None
    sizes: tuple[int, int] | None = None
    signature: bytes = b"PK\x03\x04"

    def local(self) -> bytes:
        """The local header and the content."""
        packed = self.data if self.packed is None else self.packed
        name = self.name if self.local_name is None else self.local_name
        sizes = self.local_sizes or (len(packed), len(self.data))
        flags = self.flags if self.local_flags is None else self.local_flags
        head = struct.pack(
            "<HHHHHIIIHH", 20, flags, self.method, 0, 0, self._sum(), *sizes, len(name), 0
        )
        return self.signature + head + name + packed + self.behind

    def central(self, offset: int) -> bytes:
        """The directory's entry."""
        packed = self.data if self.packed is None else self.packed
        sizes = self.sizes or (len(packed), len(self.data))
        at = offset if self.offset is None else self.offset
        head = struct.pack("<HHHHHHIII", 20, 20, self.flags, self.method, 0, 0, self._sum(), *sizes)
        rest = struct.pack("<HHHHHII", len(self.name), len(self.extra), 0, 0, 0, 0, at)
        return b"PK\x01\x02" + head + rest + self.name + self.extra

    def _sum(self) -> int:
        return zlib.crc32(self.data) if self.checksum is None else self.checksum


@dataclass
class Zip:
    """A zip file as it is to be written."""

    records: Sequence[Record]
    comment: bytes = b""
    comment_length: int | None = None
    count: int | None = None
    before_end: bytes = b""
    offset: int | None = None
    again: bytes = b""

    def bytes(self) -> bytes:
        """Its content."""
        out, directory = b"", b""
        for record in self.records:
            directory += record.central(len(out))
            out += record.local()
        count = len(self.records) if self.count is None else self.count
        at = len(out) if self.offset is None else self.offset
        length = len(self.comment) if self.comment_length is None else self.comment_length
        end = struct.pack(
            "<HHHHIIH", 0, 0, count & 65535, count & 65535, len(directory), at, length
        )
        return out + directory + self.before_end + b"PK\x05\x06" + end + self.comment + self.again


def _records(records: dict[str, bytes] = RECORDS) -> dict[str, Record]:
    return {name: Record(f"a/{name}".encode(), content) for name, content in records.items()}


def _with(name: str = "data.pkl", **changes: object) -> bytes:
    """An archive, one of whose records is written otherwise."""
    records = _records()
    records[name] = replace(records[name], **changes)  # type: ignore[arg-type]
    return Zip([*records.values()]).bytes()


def _and(*more: Record, **changes: object) -> bytes:
    """An archive with more records."""
    return Zip([*_records().values(), *more], **changes).bytes()  # type: ignore[arg-type]


def _deflated(data: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


CODE = RECORDS["code/__torch__.py"]
PICKLE = RECORDS["data.pkl"]


def _within_another() -> bytes:
    """A record whose content lies inside another's, with a header of its own."""
    inner = Record(b"a/extra/inner", b"x" * 40).local()
    records = [*_records().values(), Record(b"a/extra/outer", b"y" * 10 + inner + b"z")]
    start = sum(len(record.local()) for record in records[:-1]) + 30 + len(records[-1].name) + 10
    return Zip([*records, Record(b"a/extra/inner", b"x" * 40, offset=start)]).bytes()


def _zip64(count: int, size: int, offset: int, locator: int = -1) -> bytes:
    plain = Zip([*_records().values()]).bytes()
    at = plain.index(b"PK\x01\x02")
    end = plain.index(b"PK\x05\x06")
    large = b"PK\x06\x06" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, count, count, size, offset)
    where = b"PK\x06\x07" + struct.pack("<IQI", 0, end if locator < 0 else locator, 1)
    tail = b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 65535, 65535, 2**32 - 1, 2**32 - 1, 0)
    assert at > 0
    return plain[:end] + large + where + tail


def _extra64(*values: int) -> bytes:
    return struct.pack("<HH", 1, 8 * len(values)) + struct.pack(f"<{len(values)}Q", *values)


FULL = (2**32 - 1, 2**32 - 1)
MANY = len(RECORDS)
TRICKS: dict[str, Callable[[], bytes]] = {
    "a record inside another": _within_another,
    "two entries over one record": lambda: _and(Record(b"a/extra/b", PICKLE, offset=0)),
    "another name in front of the record": lambda: _with(local_name=b"b/data.pkl"),
    "a longer name in front of the record": lambda: _with(local_name=b"a/data.pkl" + b"x" * 50),
    "a name of nothing in front of the record": lambda: _with(local_name=b""),
    "other sizes in front of the record": lambda: _with(local_sizes=(1, 1)),
    "sizes behind the record": lambda: _with(
        flags=8, local_sizes=(0, 0), behind=b"PK\x07\x08" + struct.pack("<III", zlib.crc32(PICKLE), len(PICKLE), len(PICKLE))
    ),
    "wrong sizes behind the record": lambda: _with(
        flags=8, local_sizes=(0, 0), behind=b"PK\x07\x08" + struct.pack("<III", 1, 2, 3)
    ),
    "nothing behind the record that says so": lambda: _with(flags=8, local_sizes=(0, 0)),
    "encryption in front of the record alone": lambda: _with(local_flags=1),
    "encryption in the directory alone": lambda: _with(flags=1, local_flags=0),
    "an encrypted directory": lambda: _with(flags=0x2000),
    "patched data": lambda: _with(flags=0x20),
    "no record where it should be": lambda: _with(signature=b"PK\x03\x05"),
    "a checksum of nothing": lambda: _with(checksum=0),
    "deflated, with a wrong checksum": lambda: _with(method=8, packed=_deflated(PICKLE), checksum=1),
    "deflated, with bytes behind": lambda: _with(method=8, packed=_deflated(PICKLE) + b"more"),
    "deflated, and cut": lambda: _with(method=8, packed=_deflated(PICKLE)[:-3]),
    "deflated to more than it says": lambda: _with(method=8, packed=_deflated(PICKLE), sizes=(len(_deflated(PICKLE)), 5)),
    "deflated to less than it says": lambda: _with(method=8, packed=_deflated(b"ab"), sizes=(len(_deflated(b"ab")), 10_000)),
    "deflated, never ending": lambda: _with(method=8, packed=b"\x00\x00\x00\xff\xff" * 5000),
    "stored, of two sizes": lambda: _with(sizes=(len(PICKLE), len(PICKLE) - 3)),
    "stored, of two other sizes": lambda: _with(sizes=(len(PICKLE) - 3, len(PICKLE))),
    "an offset in the directory": lambda: _with(offset=len(Zip([*_records().values()]).bytes()) - 30),
    "a name that leads upwards": lambda: _and(Record(b"a/../../evil", b"x")),
    "a record that leads upwards and back": lambda: _and(Record(b"a/x/../data.pkl", EVIL["data.pkl"])),
    "an absolute name": lambda: _and(Record(b"/etc/evil", b"x")),
    "a drive": lambda: _and(Record(b"C:\\evil", b"x"), Record(b"a\\data.pkl", b"x")),
    "a name of nothing": lambda: _and(Record(b"", b"x")),
    "a name of dots": lambda: _and(Record(b".", b"x"), Record(b"..", b"x"), Record(b"a/.", b"x")),
    "a folder with content": lambda: _and(Record(b"a/", b"x" * 100), Record(b"a/data.pkl/", b"x")),
    "a name that is not UTF-8": lambda: _and(Record(b"a/extra/\xff\xfe", b"x", flags=0x800)),
    "a name of half a pair": lambda: _and(Record(b"a/extra/\xed\xa0\x80", b"x", flags=0x800)),
    "another name in an extra field": lambda: _and(
        Record(b"a/extra/b", b"x", extra=struct.pack("<HHBI", 0x7075, 15, 1, zlib.crc32(b"a/extra/b")) + b"a/data.pkl")
    ),
    "one name in two spellings": lambda: _and(
        Record("a/extra/é".encode(), b"x", flags=0x800), Record("a/extra/e\u0301".encode(), b"y", flags=0x800)
    ),
    "the same name thrice": lambda: _and(*(Record(b"a/data.pkl", EVIL["data.pkl"]) for _ in range(2))),
    "code of one name twice": lambda: _and(Record(b"a/code/__torch__.py", EVIL["code/__torch__.py"])),
    "a comment of 65535 bytes": lambda: _and(comment=b"c" * 65535),
    "a comment with another end inside": lambda: _and(comment=b"PK\x05\x06" + bytes(18)),
    "a comment with a whole archive inside": lambda: _and(comment=zipped(EVIL)),
    "a comment with a thousand ends inside": lambda: _and(comment=b"PK\x05\x06" * 16_000),
    "a comment that is longer than it says": lambda: _and(comment=b"c" * 100, comment_length=3),
    "a comment that is shorter than it says": lambda: _and(comment=b"c", comment_length=300),
    "an end twice": lambda: _and(again=Zip([*_records().values()]).bytes()[-22:]),
    "more entries than there are": lambda: _and(count=MANY + 5),
    "fewer entries than there are": lambda: _and(count=MANY - 1),
    "a signature before the end": lambda: _and(before_end=b"PK\x05\x05" + struct.pack("<H", 4) + b"sign"),
    "a directory that begins elsewhere": lambda: _and(offset=3),
    "zip64": lambda: _zip64(MANY, _directory()[1], _directory()[0]),
    "zip64 of 2**63 entries": lambda: _zip64(2**63, _directory()[1], _directory()[0]),
    "zip64 with a directory of 2**63 bytes": lambda: _zip64(MANY, 2**63, _directory()[0]),
    "zip64 with a directory far away": lambda: _zip64(MANY, _directory()[1], 2**63),
    "zip64 whose end is far away": lambda: _zip64(MANY, *reversed(_directory()), 2**62),
    "zip64 whose end is at the start": lambda: _zip64(MANY, *reversed(_directory()), 0),
    "zip64 sizes of 2**64 - 1": lambda: _with(sizes=FULL, extra=_extra64(2**64 - 1, 2**64 - 1)),
    "zip64 sizes that are missing": lambda: _with(sizes=FULL),
    "zip64 sizes, one of them": lambda: _with(sizes=FULL, extra=_extra64(len(PICKLE))),
    "zip64 sizes that are right": lambda: _with(sizes=FULL, extra=_extra64(len(PICKLE), len(PICKLE))),
    "a zip64 field that is cut": lambda: _with(sizes=FULL, extra=_extra64(1, 2)[:-5]),
    "an extra field longer than it is": lambda: _with(extra=struct.pack("<HH", 9, 60_000) + b"x"),
}  # fmt: skip


def _directory() -> tuple[int, int]:
    """Where the directory of the plain archive is, and its length."""
    plain = Zip([*_records().values()]).bytes()
    at = plain.index(b"PK\x01\x02")
    return at, plain.index(b"PK\x05\x06") - at


def _tried(make: Callable[[], bytes]) -> Callable[[], None]:
    """What is read is one archive or an error, and every reader reads the same."""

    def run() -> None:
        import rushlight as torch
        from rushlight.serialization.archives.audit import audit

        data = make()

        def use() -> None:
            audit(data, "attack")
            try:
                module = load(data)
            except Exception as error:
                if not is_documented(error):
                    raise
                return
            found = module(torch.ones(2)).tolist()
            if found not in ([1.0, 1.0], [-1.0, -1.0]):
                raise Broken(f"it gave {found}")
            if ("neg" in module.code) != (found[0] < 0):
                raise Broken("what is shown is not what runs")

        _within(use)

    return run


for name, make in TRICKS.items():
    FAMILY.attack(f"zip headers: {name}")(_tried(make))
