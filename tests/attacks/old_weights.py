"""Attacks on weights of before torch 1.6: bare pickles with storages behind them, and tar files."""

from __future__ import annotations

import io
import struct
import tarfile
from collections.abc import Callable

from attacks_on_container import FAMILY, _within
from harness import Broken
from making import integer, pickled, text

MAGIC = pickled(integer(0x1950A86A20F9469CFC6C))
PROTOCOL = pickled(integer(1001))
SYSTEM = pickled(
    b"}(" + text("little_endian") + b"\x88" + text("protocol_version") + integer(1001) + b"u"
)
_REBUILD = b"ctorch._utils\n_rebuild_tensor_v2\n"
_HOOKS = b"ccollections\nOrderedDict\n)R"


def _tensor(
    key: str = "0", count: int = 4, size: int = 4, stride: int = 1, offset: int = 0
) -> bytes:
    """The opcodes of a tensor of one dimension over a storage."""
    storage = (
        b"(" + text("storage") + b"ctorch\nFloatStorage\n" + text(key) + text("cpu")
        + integer(count) + b"NtQ"
    )  # fmt: skip
    numbers = integer(offset) + integer(size) + b"\x85" + integer(stride) + b"\x85"
    return _REBUILD + b"(" + storage + numbers + b"\x89" + _HOOKS + b"tR"


def _legacy(
    value: bytes, keys: bytes = b"](" + text("0") + b"e", body: bytes = b"", count: int = 4
) -> bytes:
    body = body or struct.pack("<q", count) + bytes(16)
    return MAGIC + PROTOCOL + SYSTEM + pickled(value) + pickled(keys) + body


def _view(root: str, offset: int, size: int) -> bytes:
    """A tensor over a view of a storage, as torch 0.3 wrote them."""
    view = b"(" + text("v") + integer(offset) + integer(size) + b"t"
    storage = (
        b"(" + text("storage") + b"ctorch\nFloatStorage\n" + text(root) + text("cpu")
        + integer(4) + view + b"tQ"
    )  # fmt: skip
    return _REBUILD + b"(" + storage + integer(0) + integer(1) + b"\x85" + integer(1) + b"\x85\x89" + _HOOKS + b"tR"  # fmt: skip


LEGACY: dict[str, Callable[[], bytes]] = {
    "as it should be": lambda: _legacy(_tensor()),
    "a storage of 2**62 numbers": lambda: _legacy(_tensor(count=2**62), count=2**62),
    "a storage of less than nothing": lambda: _legacy(_tensor(count=-4), count=-4),
    "a count that differs": lambda: _legacy(_tensor(count=4), count=2**20),
    "a tensor behind its storage": lambda: _legacy(_tensor(offset=2**40)),
    "a tensor before its storage": lambda: _legacy(_tensor(offset=-4)),
    "a stride that wraps around": lambda: _legacy(_tensor(stride=2**62)),
    "a stride below nothing": lambda: _legacy(_tensor(stride=-1)),
    "a view behind its storage": lambda: _legacy(_view("0", 2**40, 1)),
    "a view before its storage": lambda: _legacy(_view("0", -4, 1)),
    "a million keys": lambda: _legacy(b"N", b"](" + text("0") * 1_000_000 + b"e"),
    "keys that are no texts": lambda: _legacy(_tensor(), b"](]}Ne"),
    "no list of keys": lambda: _legacy(_tensor(), b"N"),
    "a key that nothing named": lambda: _legacy(b"N", b"](" + text("9") + b"e"),
    "a storage that is not there": lambda: _legacy(_tensor("9")),
    "two dtypes of one storage": lambda: _legacy(
        b"(" + _tensor() + _tensor().replace(b"FloatStorage", b"DoubleStorage") + b"t"
    ),
    "another protocol": lambda: MAGIC + pickled(integer(9)) + SYSTEM + pickled(b"N"),
    "a protocol of a million digits": lambda: MAGIC + b"\x80\x02L" + b"9" * 1_000_000 + b"L\n.",
    "the magic number for ever": lambda: MAGIC * 100_000,
    "big-endian numbers": lambda: (
        MAGIC + PROTOCOL + SYSTEM.replace(b"\x88", b"\x89") + _legacy(_tensor())[-90:]
    ),
    "nothing behind the system": lambda: MAGIC + PROTOCOL + SYSTEM,
    "half a storage": lambda: _legacy(_tensor())[:-7],
    "100,000 tensors over one storage": lambda: _legacy(b"](" + _tensor() * 100_000 + b"e"),
    "1,000 storages of 2**40": lambda: _legacy(
        b"](" + b"".join(_tensor(str(i), 2**40) for i in range(1000)) + b"e",
        b"](" + b"".join(text(str(i)) for i in range(1000)) + b"e",
        struct.pack("<q", 2**40) * 1000,
    ),
}


def _tar(
    entries: dict[str, bytes], change: Callable[[tarfile.TarInfo], None] | None = None
) -> bytes:
    sink = io.BytesIO()
    with tarfile.open(fileobj=sink, mode="w", format=tarfile.PAX_FORMAT) as file:
        for name, content in entries.items():
            told = tarfile.TarInfo(name)
            told.size = len(content)
            if change is not None:
                change(told)
            file.addfile(told, io.BytesIO(content))
    return sink.getvalue()


_COUNT = pickled(integer(2**40))
_WHOLE = {"storages": pickled(integer(0)), "tensors": pickled(integer(0)), "pickle": pickled(b"}")}


def _linked(told: tarfile.TarInfo) -> None:
    told.type, told.linkname, told.size = tarfile.SYMTYPE, "/etc/passwd", 0


def _headed(told: tarfile.TarInfo) -> None:
    told.pax_headers = {"comment": "a" * 3_000_000}


def _huge(data: bytes) -> bytes:
    """The first entry says that it has 8 GB; its checksum is right."""
    head = bytearray(data[:512])
    head[124:136], head[148:156] = b"77777777777\x00", b" " * 8
    head[148:156] = b"%06o\x00 " % sum(head)
    return bytes(head) + data[512:]


TARS: dict[str, Callable[[], bytes]] = {
    "nothing in it": lambda: _tar(_WHOLE),
    "2**40 storages": lambda: _tar({**_WHOLE, "storages": _COUNT}),
    "2**40 tensors": lambda: _tar({**_WHOLE, "tensors": _COUNT}),
    "links out of it": lambda: _tar(_WHOLE, _linked),
    "headers of megabytes": lambda: _tar(_WHOLE, _headed),
    "an entry of 8 GB": lambda: _huge(_tar(_WHOLE)),
    "names that lead out of it": lambda: _tar({f"../../{n}": c for n, c in _WHOLE.items()}),
    "20,000 entries": lambda: _tar({**_WHOLE, **{f"x{i}": b"" for i in range(20_000)}}),
    "a pickle that asks for the system": lambda: _tar({**_WHOLE, "pickle": pickled(b"cos\nsystem\n" + text("true") + b"\x85R")}),
}  # fmt: skip


def _read(make: Callable[[], bytes]) -> Callable[[], None]:
    def run() -> None:
        import rushlight as torch
        from rushlight.serialization.files.identify import identify

        data = make()

        def use() -> None:
            identify(data)
            found = torch.load(io.BytesIO(data), weights_only=True)
            if isinstance(found, torch.Tensor):
                if found.untyped_storage().nbytes() > len(data):
                    raise Broken("a tensor is larger than its file")
                found.sum()

        _within(use)

    return run


for word, table in (("legacy", LEGACY), ("tar", TARS)):
    for name, make in table.items():
        long = name[0] in "12" or "million" in name
        FAMILY.attack(f"weights: {word}: {name}", seconds=60.0, long=long)(_read(make))
