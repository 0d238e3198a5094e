"""More attacks on readers and on strings: keys that are never hashed to the end, headers that lie,
searches whose time is a product, guards that leave by a package."""

from __future__ import annotations

import io
import struct
from pathlib import Path

import attacks_on_bounds as bounds
import attacks_on_container as container
from harness import Broken, is_documented, refused
from making import archive, integer, load, pickled, text, zipped

__all__: list[str] = []

# --------------------------------------------------------------------------- keys

_TOWER = b"K\x01K\x02\x86" + b"".join(b"q%ch%c\x86" % (place, place) for place in range(60))
_DEEP = b")" + b"\x85" * 200_000
_MODULUS = 2**61 - 1


def _complex(number: int) -> bytes:
    """One of many complex numbers whose hash is nought."""
    parts = struct.pack(">d", -1000003.0 * number), struct.pack(">d", float(number))
    return b"cbuiltins\ncomplex\n(G" + parts[0] + b"G" + parts[1] + b"tR"


KEYS = {
    "a key of 60 pairs of the same": b"}" + _TOWER + b"Ns",
    "a member of 60 pairs of the same": b"cbuiltins\nset\n]" + _TOWER + b"a\x85R",
    "a frozen member of 60 pairs of the same": b"(" + _TOWER + b"\x91",
    "an ordered key of 60 pairs of the same": b"ccollections\nOrderedDict\n]"
    + _TOWER
    + b"K\x01\x86a\x85R",
    "a key 200,000 deep": b"}" + _DEEP + b"Ns",
    "a member 200,000 deep": b"\x8f(" + _DEEP + b"\x90",
    "a frozen member 200,000 deep": b"(" + _DEEP + b"\x91",
    "a counted key 200,000 deep": b"ccollections\nCounter\n}" + _DEEP + b"K\x01s\x85R",
    "100,000 keys of one hash": b"}("
    + b"".join(integer(_MODULUS * n) + b"N" for n in range(100_000))
    + b"u",
    "100,000 members of one hash": b"\x8f("
    + b"".join(integer(_MODULUS * n) for n in range(100_000))
    + b"\x90",
    "30,000 pairs of one hash": b"}("
    + b"".join(integer(_MODULUS * n) + b"\x85N" for n in range(30_000))
    + b"u",
    "30,000 complex keys of one hash": b"}(" + b"".join(_complex(n) + b"N" for n in range(1, 30_000)) + b"u",
}  # fmt: skip
for name, body in KEYS.items():

    def keys(body: bytes = body) -> None:
        import rushlight as torch

        file = zipped({"data.pkl": pickled(body), "version": b"3\n", "byteorder": b"little"})
        with refused("limit-exceeded"):
            torch.load(io.BytesIO(file))

    container.FAMILY.attack(f"keys: {name}")(keys)


def _with_dict(opcodes: bytes, type: str) -> bytes:
    data = b"\x80\x02c__torch__\nM\n)\x81}(" + text("a") + opcodes + b"ub."
    return archive(data=data, slots=f"  a : {type}\n")


@container.FAMILY.attack("keys: a slot with a key of 60 pairs of the same")
def tower_in_an_archive() -> None:
    with refused():
        load(_with_dict(b"}" + _TOWER + b"K\x01s", "Dict[int, int]"))


@container.FAMILY.attack("keys: a slot with 30,000 complex keys of one hash")
def alike_in_an_archive() -> None:
    items = b"".join(_complex(n) + b"K\x01" for n in range(1, 30_000))
    with refused("limit-exceeded"):
        load(_with_dict(b"}(" + items + b"u", "Dict[complex, int]"))


# --------------------------------------------------------------------------- arrays

SHAPES = {
    "true": "(True, True)",
    "beyond 64 bits": f"({2**70}, 0)",
    "without an end": "(" * 5000,
    "of many minus signs": f"({'-' * 9000}1,)",
    "of many numbers": f"({'1,' * 200})",
}
for name, shape in SHAPES.items():

    def header(shape: str = shape) -> None:
        from rushlight.__main__ import main

        told = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}}}".encode()
        Path("good.pt").write_bytes(archive())
        for version, size in ((1, 2), (2, 4)):
            start = b"\x93NUMPY" + bytes([version, 0]) + len(told).to_bytes(size, "little")
            Path("in.npy").write_bytes(start + told + bytes(4))
            try:
                ended = main(["run", "good.pt", "in.npy"])
            except SystemExit as left:
                ended = left.code  # type: ignore[assignment]
            if ended not in (1, 2):
                raise Broken(f"it ended with {ended!r}")

    container.FAMILY.attack(f"an input array whose shape is {name}")(header)


@container.FAMILY.attack("a dump of an archive with deep JSON beside it")
def dumped() -> None:
    from rushlight.utils.model_dump import get_model_info

    data = archive(more={"extra/deep.json": b"[" * 100_000})
    try:
        get_model_info(io.BytesIO(data))
    except Exception as error:
        if not is_documented(error):
            raise


# --------------------------------------------------------------------------- strings

_LONG = "s = torch.add('b', torch.ljust('', 3000000, 'a'))\nt = torch.add('ab', torch.ljust('', 1500000, 'a'))\n"
SEARCHES = {
    "rfind": _LONG + "return torch.add(x, torch.rfind(s, t, 0, -1))",
    "rsplit": _LONG + "return torch.add(x, torch.len(torch.rsplit(s, t, -1)))",
    "rpartition": _LONG + "return torch.add(x, torch.len((torch.rpartition(s, t))[2]))",
    "strip": "s = torch.ljust('', 3000000, 'a')\nt = torch.add(torch.ljust('', 3000000, 'b'), 'a')\n"
    "return torch.add(x, torch.len(torch.strip(s, t)))",
}
for name, body in SEARCHES.items():
    bounds.FAMILY.attack(f"time: {name} of long texts", megabytes=6000, seconds=40.0)(
        bounds._bounded(body, code="")
    )

_PLACES = (
    "k = torch.mul(torch.size(x, 0), 20000)\n"
    "s = torch.ljust('', k, 'a')\n"
    "t = torch.add(torch.ljust('', torch.sub(k, 1), 'a'), 'b')\n"
    "l = torch.mul([s], 1000000)\n"
)
PLACES = {
    "sorted": "return torch.add(x, torch.len(torch.sorted(l)))",
    "searched": "return torch.add(x, int(torch.__contains__(l, t)))",
    "counted": "return torch.add(x, torch.count(l, t))",
    "compared": "return torch.add(x, int(torch.eq(l, torch.mul([t], 1000000))))",
}
for name, body in PLACES.items():
    long = name in ("searched", "counted")
    attack = bounds.FAMILY.attack(
        f"time: a million places for one text, {name}", megabytes=6000, seconds=40.0, long=long
    )
    attack(bounds._bounded(_PLACES + body, code=""))
