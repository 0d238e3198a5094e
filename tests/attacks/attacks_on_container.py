"""Attacks on readers: zip files, pickles, code texts, graph texts, flatbuffers, weights."""

from __future__ import annotations

import io
import json
import struct
import time
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness import Broken, Family, refused
from making import MODULE, archive, integer, load, pickled, text, zipped

FAMILY = Family(
    "container",
    "Whatever a file holds, reading it ends in a result or in a documented error, within seconds "
    "and without taking much more memory than the file's own size.",
    frozenset(
        {
            "zip: 30,000 entries over one",
            "zip: a bomb of 4 GB",
            "zip: 100,000 records",
            "pickle: 3 million opcodes",
            "pickle: 30 million pushes and pops",
            "pickle: 10 million empty lists",
            "pickle: 10 million empty dicts",
            "pickle: 10 million marks",
            "pickle: a million memo entries",
            "pickle: 100,000 slots",
            "code: 10,000 lines",
            "code: 2,000 functions",
            "code: 10,000 arguments",
            "code: 600 methods that call each other",
            "code: functions of 12 levels that call what is below four times",
            "code: 2,000 calls of a function of 50 lines",
            "code: 1,000 returns",
            "code: a dict of 3,000",
            "code: the inlined graph of 300 functions that call each other",
            "code: comparisons 20,000 long",
            "code: a sum of 20,000",
            "code: an annotation of pairs 30 deep",
            "graph text: pairs",
            "pickle: lists 100,000 deep",
            "keys: a member of 60 pairs of the same",
            "keys: a frozen member of 60 pairs of the same",
            "keys: an ordered key of 60 pairs of the same",
            "keys: a frozen member 200,000 deep",
            "keys: a counted key 200,000 deep",
        }
    ),
)
SECONDS = 15.0


def _within(action: Callable[[], object], wants: str = "either") -> None:
    """Run an action, which must end soon: in an error, in a result, or in either.

    Counted is the processor's time, which others that are at work do not make longer.
    """
    began = time.process_time()
    if wants == "error":
        with refused():
            action()
    else:
        action()
    took = time.process_time() - began
    if took > SECONDS:
        raise Broken(f"it took {took:.1f} s")


def _opened(data: bytes) -> None:
    """Load it, call it, look at it."""
    import rushlight as torch
    from rushlight.serialization.archives.audit import audit

    audit(data, "attack")
    module = load(data)
    str(module.code)
    module(torch.ones(2))


def _attack(name: str, make: Callable[[], bytes], wants: str = "either", **limits: Any) -> None:
    def run() -> None:
        data = make()
        _within(lambda: _opened(data), wants)

    FAMILY.attack(name, **limits)(run)


# --------------------------------------------------------------------------- zip files


def _entry(data: bytes, name: str, **changes: tuple[int, str, int]) -> bytes:
    """The central directory's entry of a record, with fields changed: (offset, format, value)."""
    out = bytearray(data)
    at = data.index(b"PK\x01\x02")
    while data[at + 46 : at + 46 + struct.unpack_from("<H", data, at + 28)[0]] != name.encode():
        at = data.index(b"PK\x01\x02", at + 4)
    for offset, kind, value in changes.values():
        struct.pack_into(kind, out, at + offset, value)
    return bytes(out)


DATA = "a/data.pkl"
FIELDS = {
    "a size of 4 GB": {"a": (24, "<I", 2**32 - 2)},
    "a compressed size of 4 GB": {"a": (20, "<I", 2**32 - 2)},
    "both sizes of 4 GB": {"a": (24, "<I", 2**32 - 2), "b": (20, "<I", 2**32 - 2)},
    "a size of nothing": {"a": (24, "<I", 0), "b": (20, "<I", 0)},
    "an offset behind the file": {"a": (42, "<I", 2**32 - 2)},
    "an offset at another record": {"a": (42, "<I", 0)},
    "a wrong checksum": {"a": (16, "<I", 12345)},
    "an unknown method": {"a": (10, "<H", 99)},
    "bzip2": {"a": (10, "<H", 12)},
    "lzma": {"a": (10, "<H", 14)},
    "a lie about deflation": {"a": (10, "<H", 8)},
    "encryption": {"a": (8, "<H", 1)},
    "strong encryption": {"a": (8, "<H", 0x2041)},
    "a name of 65535 bytes": {"a": (28, "<H", 65535)},
    "an extra field of 65535 bytes": {"a": (30, "<H", 65535)},
    "a comment of 65535 bytes": {"a": (32, "<H", 65535)},
    "another disk": {"a": (34, "<H", 7)},
    "a symbolic link": {"a": (38, "<I", 0xA1FF0000)},
}
for name, fields in FIELDS.items():
    wants = "either" if name in ("another disk", "a symbolic link") else "error"
    _attack(f"zip: {name}", lambda fields=fields: _entry(archive(), DATA, **fields), wants)


def _end(**changes: tuple[int, str, int]) -> bytes:
    out = bytearray(archive())
    at = out.rindex(b"PK\x05\x06")
    for offset, kind, value in changes.values():
        struct.pack_into(kind, out, at + offset, value)
    return bytes(out)


ENDS = {
    "65535 entries": {"a": (8, "<H", 65535), "b": (10, "<H", 65535)},
    "no entries": {"a": (8, "<H", 0), "b": (10, "<H", 0)},
    "a directory behind the file": {"a": (16, "<I", 2**32 - 2)},
    "a directory of 4 GB": {"a": (12, "<I", 2**32 - 2)},
    "a directory at the start": {"a": (16, "<I", 0)},
    "a comment that is not there": {"a": (20, "<H", 65535)},
}
for name, fields in ENDS.items():
    wants = "either" if name == "a comment that is not there" else "error"
    _attack(f"zip: {name}", lambda fields=fields: _end(**fields), wants)


def _bomb(size: int) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in zipped_records(archive()).items():
            file.writestr(f"a/{name}", content)
        with file.open("a/data/0", "w", force_zip64=True) as record:
            for _ in range(size >> 20):
                record.write(bytes(1 << 20))
    return sink.getvalue()


def zipped_records(data: bytes) -> dict[str, bytes]:
    """The records of an archive, without their folder."""
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        return {name.split("/", 1)[1]: file.read(name) for name in file.namelist()}


def _doubled(first: bytes, second: bytes) -> bytes:
    """Two records of one name."""
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as file:
        for name, content in zipped_records(archive()).items():
            file.writestr(f"a/{name}", first if name == "data.pkl" else content)
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            file.writestr(DATA, second)
    return sink.getvalue()


def _overlapping() -> bytes:
    """Many entries over one and the same deflated kilobyte."""
    body = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = body.compress(bytes(1 << 20)) + body.flush()
    local = (
        struct.pack(
            "<IHHHHHIIIHH",
            0x04034B50,
            20,
            0,
            8,
            0,
            0,
            zlib.crc32(bytes(1 << 20)),
            len(packed),
            1 << 20,
            8,
            0,
        )
        + b"a/data/0"
    )
    directory = b""
    for i in range(30_000):
        name = f"a/data/{i}".encode()
        directory += (
            struct.pack(
                *("<IHHHHHHIIIHHHHHII", 0x02014B50, 20, 20, 0, 8, 0, 0, zlib.crc32(bytes(1 << 20))),
                *(len(packed), 1 << 20, len(name), 0, 0, 0, 0, 0, 0),
            )
            + name
        )
    end = struct.pack(
        "<IHHHHIIH", 0x06054B50, 0, 0, 30_000, 30_000, len(directory), len(local + packed), 0
    )
    return local + packed + directory + end


ZIPS: dict[str, tuple[Callable[[], bytes], str]] = {
    "nothing": (lambda: b"", "error"),
    "only the end record": (lambda: b"PK\x05\x06" + bytes(18), "error"),
    "a bomb of 4 GB": (lambda: _bomb(4 << 30), "either"),
    "two records of one name": (lambda: _doubled(MODULE, pickled(b"N")), "either"),
    "two records, the first one bad": (lambda: _doubled(pickled(b"N"), MODULE), "either"),
    "30,000 entries over one": (_overlapping, "error"),
    "trailing bytes": (lambda: archive() + bytes(100_000), "either"),
    "leading bytes": (lambda: bytes(100_000) + archive(), "either"),
    "another archive behind": (lambda: archive() + archive("return torch.neg(x)"), "either"),
    "names without a folder": (lambda: zipped(zipped_records(archive()), ""), "either"),
    "names in two folders": (
        lambda: zipped(
            {**{f"a/{k}": v for k, v in zipped_records(archive()).items()}, "b/data.pkl": MODULE},
            "",
        ),
        "either",
    ),
    "names of other case": (
        lambda: zipped({**zipped_records(archive()), "DATA.PKL": pickled(b"N")}),
        "either",
    ),
    "100,000 records": (
        lambda: zipped({**zipped_records(archive()), **{f"extra/{i}": b"" for i in range(60_000)}}),
        "either",
    ),
    "a name of control characters": (
        lambda: zipped({**zipped_records(archive()), "extra/\x1b]0;evil\x07\r\n": b"x"}),
        "either",
    ),
    "a name of NUL": (lambda: archive(more={"data.pkl\x00.txt": b""}), "either"),
    "a version of many digits": (lambda: archive(more={"version": b"9" * 100_000}), "error"),
    "a version below one": (lambda: archive(more={"version": b"-3"}), "error"),
    "a version in Arabic digits": (lambda: archive(more={"version": "٣".encode()}), "error"),
    "a version of nothing": (lambda: archive(more={"version": b""}), "error"),
    "another byte order": (lambda: archive(more={"byteorder": b"middle"}), "either"),
    "no data.pkl": (lambda: zipped({"version": b"3", "constants.pkl": pickled(b")")}), "error"),
}
for name, (make, wants) in ZIPS.items():
    if name.startswith("a version") or name == "another byte order":

        def remade(make: Callable[[], bytes] = make) -> bytes:
            return make()

        _attack(f"zip: {name}", remade, wants)
    else:
        _attack(f"zip: {name}", make, wants, seconds=60.0)


# --------------------------------------------------------------------------- pickles


def _data(body: bytes, slots: str = "  a : List[int]\n") -> bytes:
    return archive(slots=slots, data=b"\x80\x02c__torch__\nM\n)\x81}(" + text("a") + body + b"ub.")


def _pairs(depth: int) -> bytes:
    """Pairs of one and the same pair, so deep in each other."""
    out = b")q\x00"
    for i in range(depth):
        key = b"h" + bytes([i]) if i < 256 else b"j" + struct.pack("<I", i)
        out += b"0" + key + key + b"\x86" + b"r" + struct.pack("<I", i + 1)
    return out


def _list_pairs(depth: int) -> bytes:
    out = b"]q\x00"
    for i in range(depth):
        out += b"0](h" + bytes([i]) + b"h" + bytes([i]) + b"er" + struct.pack("<I", i + 1)
    return out


def _pair_type(depth: int, kind: str = "Tuple") -> str:
    text = "int"
    for _ in range(depth):
        text = f"{kind}[{text}, {text}]" if kind == "Tuple" else f"{kind}[{text}]"
    return text


NUL = b"0"
PICKLES: dict[str, tuple[Callable[[], bytes], str]] = {
    "40 pairs of the same": (lambda: archive(constants=pickled(_pairs(40) + b"\x85")), "either"),
    "140 pairs of the same": (lambda: archive(constants=pickled(_pairs(140) + b"\x85")), "either"),
    "5,000 pairs of the same": (
        lambda: archive(constants=pickled(_pairs(5000) + b"\x85")),
        "error",
    ),
    "40 lists of the same": (
        lambda: archive(constants=pickled(_list_pairs(40) + b"\x85")),
        "either",
    ),
    "40 pairs as an attribute": (lambda: _data(_pairs(40), "  a : Any\n"), "either"),
    "40 lists as an attribute": (lambda: _data(_list_pairs(40), "  a : Any\n"), "either"),
    "a list that holds itself": (lambda: _data(b"]q\x00(h\x00e", "  a : Any\n"), "either"),
    "a dict that holds itself": (lambda: _data(b"}q\x00(K\x01h\x00u", "  a : Any\n"), "either"),
    "a tuple that holds itself": (
        lambda: _data(b"]q\x000h\x00\x85q\x010h\x00(h\x01eh\x01", "  a : Any\n"),
        "either",
    ),
    "an object that holds itself": (
        lambda: archive(
            slots="  a : __torch__.M\n",
            data=b"\x80\x02c__torch__\nM\n)\x81q\x00}(X\x01\x00\x00\x00ah\x00ub.",
        ),
        "either",
    ),
    "3 million opcodes": (lambda: _data(b"](" + b"N" * 3_000_000 + b"e"), "either"),
    "30 million pushes and pops": (lambda: _data(b"N0" * 15_000_000 + b"]"), "either"),
    "10 million empty lists": (
        lambda: _data(b"](" + b"]" * 10_000_000 + b"e", "  a : Any\n"),
        "either",
    ),
    "10 million empty dicts": (
        lambda: _data(b"](" + b"}" * 10_000_000 + b"e", "  a : Any\n"),
        "either",
    ),
    "10 million marks": (lambda: _data(b"(" * 10_000_000), "error"),
    "a million memo entries": (
        lambda: _data(b"N" + b"r\xff\xff\xff\x7f" * 1_000_000 + b"0]"),
        "either",
    ),
    "a memo that is not there": (lambda: _data(b"j\xff\xff\xff\x7f"), "error"),
    "a number of a million bytes": (
        lambda: _data(b"\x8b" + struct.pack("<i", 1_000_000) + b"\x7f" * 1_000_000, "  a : int\n"),
        "error",
    ),
    "a number of less than no bytes": (
        lambda: _data(b"\x8b" + struct.pack("<i", -5), "  a : int\n"),
        "error",
    ),
    "a number beyond 64 bits": (lambda: _data(integer(2**64), "  a : int\n"), "error"),
    "a string that says 4 GB": (lambda: _data(b"X\xff\xff\xff\xff", "  a : str\n"), "error"),
    "a string of 8 bytes length": (lambda: _data(b"\x8d" + b"\xff" * 8, "  a : str\n"), "error"),
    "a string that is not UTF-8": (
        lambda: _data(b"X\x02\x00\x00\x00\xff\xfe", "  a : str\n"),
        "either",
    ),
    "a string of half a pair": (lambda: _data(text("\ud800"), "  a : str\n"), "either"),
    "depth of 100,000": (lambda: _data(b"(" * 100_000 + b"t" * 100_000, "  a : Any\n"), "error"),
    "lists 100,000 deep": (lambda: _data(b"]" * 100_000 + b"a" * 99_999, "  a : Any\n"), "error"),
    "nothing but a stop": (lambda: archive(data=b"\x80\x02."), "error"),
    "no stop": (lambda: archive(data=MODULE[:-1]), "error"),
    "an empty pickle": (lambda: archive(data=b""), "error"),
    "another protocol": (lambda: archive(data=b"\x80\x05" + MODULE[2:]), "error"),
    "state for a list": (lambda: _data(b"]}b"), "error"),
    "append to a number": (lambda: _data(b"K\x01K\x02a"), "error"),
    "items of odd number": (lambda: _data(b"}(K\x01u"), "error"),
    "a list as a key": (lambda: _data(b"}(]K\x01u", "  a : Any\n"), "error"),
    "a class without a name": (lambda: archive(data=b"\x80\x02c__torch__\n\n)\x81}b."), "error"),
    "a class that is not there": (
        lambda: archive(data=b"\x80\x02c__torch__\nNone\n)\x81}b."),
        "error",
    ),
    "a slot that is not there": (lambda: archive(slots=""), "either"),
    "a slot of another type": (lambda: _data(text("text")), "error"),
    "a slot twice": (lambda: _data(b"]" + text("a") + b"]"), "either"),
    "100,000 slots": (
        lambda: archive(
            slots="".join(f"  a{i} : int\n" for i in range(20_000)),
            data=b"\x80\x02c__torch__\nM\n)\x81}("
            + b"".join(text(f"a{i}") + b"K\x01" for i in range(20_000))
            + b"ub.",
        ),
        "either",
    ),
    "a type tag 40 pairs deep": (
        lambda: _data(
            b"ctorch.jit._pickle\nrestore_type_tag\n(]" + text(f"List[{_pair_type(14)}]") + b"tR",
            "  a : Any\n",
        ),
        "either",
    ),
    "a type tag 10,000 deep": (
        lambda: _data(
            b"ctorch.jit._pickle\nrestore_type_tag\n(]" + text(_pair_type(10_000, "List")) + b"tR",
            "  a : Any\n",
        ),
        "either",
    ),
    "a type tag of a million letters": (
        lambda: _data(
            b"ctorch.jit._pickle\nrestore_type_tag\n(]" + text("A" * 1_000_000) + b"tR",
            "  a : Any\n",
        ),
        "either",
    ),
}
for name, (make, wants) in PICKLES.items():
    _attack(f"pickle: {name}", make, wants, seconds=60.0, megabytes=3000)


# --------------------------------------------------------------------------- code


def _nested(depth: int, of: str) -> str:
    opened, closed = {"()": ("(", ")"), "[]": ("[", "]"), "neg": ("torch.neg(", ")")}[of]
    return opened * depth + "x" + closed * depth


def _row(count: int, times: int = 1) -> str:
    """Functions that each call the one before, so many times."""
    calls = ((f"__torch__.f{i - 1}(" * times) if i else "torch.add(x, 1" for i in range(count))
    return "".join(
        f"def f{i}(x: Tensor) -> Tensor:\n  return {call}{'x' if i else ''}{')' * (times if i else 1)}\n"
        for i, call in enumerate(calls)
    )


CODES: dict[str, tuple[Callable[[], bytes], str]] = {
    "brackets 5,000 deep": (lambda: archive(f"return {_nested(5000, '()')}"), "either"),
    "lists 5,000 deep": (lambda: archive(f"y = {_nested(5000, '[]')}\nreturn x"), "error"),
    "calls 5,000 deep": (lambda: archive(f"return {_nested(5000, 'neg')}"), "either"),
    "a sum of 20,000": (lambda: archive("return " + " + ".join(["x"] * 20_000)), "either"),
    "attributes 20,000 long": (lambda: archive("return self" + ".a" * 20_000), "error"),
    "subscripts 20,000 long": (lambda: archive("return x" + "[0]" * 20_000), "either"),
    "minus 20,000 times": (lambda: archive("return " + "-" * 20_000 + "x"), "either"),
    "not 20,000 times": (lambda: archive("y = " + "not " * 20_000 + "True\nreturn x"), "either"),
    "comparisons 20,000 long": (
        lambda: archive("y = 1" + " < 1" * 20_000 + "\nreturn x"),
        "either",
    ),
    "elif 500 times": (
        lambda: archive(
            "if bool(x):\n  y = x\n"
            + "".join(f"elif {i} > 1:\n  y = x\n" for i in range(500))
            + "else:\n  y = x\nreturn y"
        ),
        "either",
    ),
    "blocks 95 deep": (
        lambda: archive(
            "".join("  " * i + "if bool(torch.any(x)):\n" for i in range(95))
            + "  " * 95
            + "x = torch.neg(x)\nreturn x"
        ),
        "either",
    ),
    "blocks 1,000 deep": (
        lambda: archive(
            "".join(" " * i + "if bool(x):\n" for i in range(1000)) + " " * 1000 + "x = x\nreturn x"
        ),
        "error",
    ),
    "loops 60 deep": (
        lambda: archive(
            "n = 0\n"
            + "".join("  " * i + f"for i{i} in range(1):\n" for i in range(60))
            + "  " * 60
            + "n = torch.add(n, 1)\nreturn torch.add(x, n)"
        ),
        "either",
    ),
    "pairs of pairs 40 times": (
        lambda: archive(
            "y0 = (x, x)\n"
            + "".join(f"y{i} = (y{i - 1}, y{i - 1})\n" for i in range(1, 40))
            + "return x"
        ),
        "either",
    ),
    "lists of lists 40 times": (
        lambda: archive(
            "y0 = [x, x]\n"
            + "".join(f"y{i} = [y{i - 1}, y{i - 1}]\n" for i in range(1, 40))
            + "return x"
        ),
        "either",
    ),
    "pairs 40 times, printed": (
        lambda: archive(
            "y0 = (x, x)\n"
            + "".join(f"y{i} = (y{i - 1}, y{i - 1})\n" for i in range(1, 40))
            + "print(y39)\nreturn x"
        ),
        "either",
    ),
    "pairs 40 times, returned": (
        lambda: _returned(
            "y0 = (x, x)\n"
            + "".join(f"y{i} = (y{i - 1}, y{i - 1})\n" for i in range(1, 30))
            + "return y29",
            30,
        ),
        "either",
    ),
    "an annotation of pairs 30 deep": (
        lambda: archive(f"y : {_pair_type(16)} = 1\nreturn x"),
        "error",
    ),
    "an annotation 5,000 deep": (
        lambda: archive(f"y : {_pair_type(5000, 'List')} = []\nreturn x"),
        "error",
    ),
    "a string of a million letters": (
        lambda: archive(f"y = '{'a' * 1_000_000}'\nprint(torch.len(y))\nreturn x"),
        "either",
    ),
    "a number of a million digits": (lambda: archive(f"y = {'9' * 1_000_000}\nreturn x"), "error"),
    "a number of 5,000 digits": (lambda: archive(f"y = {'9' * 5_000}\nreturn x"), "error"),
    "a float of many digits": (lambda: archive(f"y = 0.{'9' * 100_000}\nreturn x"), "either"),
    "1e999999": (lambda: archive("return torch.mul(x, 1e999999)"), "either"),
    "a name of a million letters": (lambda: archive(f"{'y' * 1_000_000} = x\nreturn x"), "either"),
    "10,000 arguments": (
        lambda: archive(f"return torch.cat([{', '.join(['x'] * 10_000)}])"),
        "either",
    ),
    "10,000 lines": (lambda: archive("x = torch.add(x, 1)\n" * 10_000 + "return x"), "either"),
    "2,000 functions": (lambda: archive("return __torch__.f1999(x)", _row(2000)), "either"),
    "600 methods that call each other": (
        lambda: archive(
            "return (self).m599(x)",
            methods="".join(
                f"  def m{i}(self: __torch__.M, x: Tensor) -> Tensor:\n"
                f"    return torch.add({f'(self).m{i - 1}(x)' if i else 'x'}, {i})\n"
                for i in range(600)
            ),
        ),
        "either",
    ),
    "functions of 12 levels that call what is below four times": (
        lambda: archive("return __torch__.f11(x)", _row(12, 4)),
        "error",
    ),
    "2,000 calls of a function of 50 lines": (
        lambda: archive(
            "x = __torch__.f(x)\n" * 2000 + "return x",
            "def f(x: Tensor) -> Tensor:\n" + "  x = torch.add(x, 1)\n" * 50 + "  return x\n",
        ),
        "either",
    ),
    "500 tasks": (
        lambda: archive(
            "".join(f"t{i} = fork(__torch__.f0, x)\n" for i in range(500)) + "return x", _row(1)
        ),
        "either",
    ),
    "a tuple of 3,000, unpacked": (
        lambda: archive(
            f"y = ({'x, ' * 3000})\n{', '.join(f'a{i}' for i in range(3000))}, = y\nreturn a9"
        ),
        "either",
    ),
    "a dict of 3,000": (
        lambda: archive(
            "y = {" + ", ".join(f'"a{i}": {i}' for i in range(3000)) + "}\n"
            "return torch.add(x, torch.len(y))"
        ),
        "either",
    ),
    "300 variables through 300 branches": (
        lambda: archive(
            "".join(f"v{i} = {i}\n" for i in range(300))
            + "".join(f"if bool(x):\n  v{i} = torch.add(v{i}, 1)\n" for i in range(300))
            + "return torch.add(x, v0)"
        ),
        "either",
    ),
    "400 variables in a loop in a loop": (
        lambda: archive(
            "".join(f"v{i} = {i}\n" for i in range(400))
            + "for i in range(2):\n  for j in range(2):\n"
            + "".join(f"    v{i} = torch.add(v{(i + 1) % 400}, 1)\n" for i in range(400))
            + "return torch.add(x, v0)"
        ),
        "either",
    ),
    "1,000 returns": (
        lambda: archive(
            "".join(f"if bool(x):\n  return torch.add(x, {i})\n" for i in range(1000)) + "return x"
        ),
        "either",
    ),
    "a list that goes through 400 lists": (
        lambda: archive(
            "l0 = [x]\n"
            + "".join(f"l{i + 1} = [l{i}[0]]\ntorch.append(l{i}, x)\n" for i in range(400))
            + "return l400[0]"
        ),
        "either",
    ),
    "600 writes into one tensor": (
        lambda: archive(
            "".join(f"y{i} = torch.add(x, 0)\nz{i} = torch.neg_(y{i})\n" for i in range(600))
            + "return x"
        ),
        "either",
    ),
    "a function that calls itself": (
        lambda: archive(
            "return __torch__.f(x)", "def f(x: Tensor) -> Tensor:\n  return __torch__.f(x)\n"
        ),
        "error",
    ),
    "functions that call each other": (
        lambda: archive(
            "return __torch__.f(x)",
            "def f(x: Tensor) -> Tensor:\n  return __torch__.g(x)\ndef g(x: Tensor) -> Tensor:\n  return __torch__.f(x)\n",
        ),
        "error",
    ),
    "a class that is its own slot": (
        lambda: archive(before="class A(Module):\n  a : __torch__.A\n"),
        "either",
    ),
    "a class that is its own base": (lambda: archive(before="class A(A):\n  a : int\n"), "either"),
    "a named tuple of itself": (
        lambda: archive(
            before="class A(NamedTuple):\n  a : __torch__.A\n", slots="  training : bool\n"
        ),
        "either",
    ),
    "tabs and spaces": (lambda: archive("if True:\n\tx = x\n        y = x\nreturn x"), "either"),
    "NUL bytes": (lambda: archive("return x\x00"), "error"),
    "a byte order mark": (lambda: archive(before="\ufeff"), "either"),
    "form feeds": (lambda: archive("\x0c\x0creturn x"), "either"),
    "carriage returns": (lambda: archive("y = x\rreturn y"), "either"),
    "half a pair of surrogates": (lambda: archive("y = '\ud800'\nreturn x"), "either"),
    "not UTF-8": (lambda: archive(more={"code/__torch__/b.py": b"\xff\xfe\xff"}), "either"),
    "the wrong way around": (lambda: archive("return \u202ex"), "error"),
    "nothing": (lambda: archive(more={"code/__torch__.py": b""}), "error"),
    "an unclosed string": (lambda: archive("y = 'abc\nreturn x"), "error"),
    "an unclosed bracket": (lambda: archive("y = (x\nreturn x"), "error"),
    "a constant of 2**63": (lambda: archive("return torch.add(x, 9223372036854775808)"), "error"),
    "a division of the least by minus one": (
        lambda: archive("n = torch.floordiv(-9223372036854775807 - 1, -1)\nreturn torch.add(x, n)"),
        "either",
    ),
    "a remainder of the least by minus one": (
        lambda: archive(
            "n = torch.remainder(-9223372036854775807 - 1, -1)\nreturn torch.add(x, n)"
        ),
        "either",
    ),
    "a shift by 10**6": (
        lambda: archive("n = torch.__lshift__(1, 1000000)\nreturn torch.add(x, n)"),
        "either",
    ),
    "a power of 10**9": (
        lambda: archive("n = torch.pow(10, 1000000000)\nreturn torch.add(x, n)"),
        "either",
    ),
}


def _returned(body: str, depth: int) -> bytes:
    kind = "Tensor"
    for _ in range(min(depth, 3)):
        kind = f"Tuple[{kind}, {kind}]"
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    return archive(more={}, methods=f"  def pairs(self: __torch__.M, x: Tensor) -> Any:\n{lines}")


for name, (make, wants) in CODES.items():
    _attack(f"code: {name}", make, wants, seconds=90.0, megabytes=3000)


@FAMILY.attack("code: the inlined graph of 300 functions that call each other")
def inlined() -> None:
    data = archive("return __torch__.f299(x)", _row(300))
    _within(lambda: str(load(data).inlined_graph))


@FAMILY.attack("code: the inlined graph of functions that double")
def doubled() -> None:
    data = archive("return __torch__.f39(x)", _row(40, 2))
    _within(lambda: str(load(data).inlined_graph), "error")


# --------------------------------------------------------------------------- others

LEGACY = {
    "deep JSON": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "a JSON number of a million digits": b'{"mainModule": ' + b"9" * 1_000_000 + b"}",
    "JSON that says nothing": b"{}",
    "JSON of other types": b'{"mainModule": [], "tensors": {}, "protoVersion": "x"}',
    "modules in modules": json.dumps(
        {"mainModule": {"submodules": [{"submodules": []}] * 1000}}
    ).encode(),
    "tensors that point nowhere": b'{"mainModule": {"parameters": [{"tensorId": "99999999999"}]}, "tensors": []}',
}
for name, content in LEGACY.items():
    _attack(
        f"model.json: {name}",
        lambda content=content: zipped({"model.json": content, "version": b"1"}),
        "error",
    )

GRAPHS = {
    "depth": "graph(%x : " + "List[" * 5000 + "int" + "]" * 5000 + "):\n  return (%x)\n",
    "pairs": "graph(%x : "
    + _pair_type(14).replace("Tuple[", "(").replace("]", ")")
    + "):\n  return (%x)\n",
    "a value that is not there": "graph(%x : Tensor):\n  return (%y)\n",
    "a number beyond": "graph():\n  %1 : int = prim::Constant[value=99999999999999999999999]()\n  return (%1)\n",
    "blocks 2,000 deep": "graph(%c : bool):\n"
    + "".join(
        " " * (2 * i + 2) + f"%{i} : int = prim::If(%c)\n" + " " * (2 * i + 4) + "block0():\n"
        for i in range(2000)
    ),
    "NUL": "graph(%x\x00 : Tensor):\n  return (%x)\n",
    "no end": "graph(%x : Tensor",
    "a million spaces": "graph(" + " " * 1_000_000 + "):\n  return ()\n",
}
EITHER = ("pairs", "a million spaces", "a number beyond")
for name, content in GRAPHS.items():

    def graph(name: str = name, content: str = content) -> None:
        import rushlight as torch

        def parse() -> None:
            str(torch._C.parse_ir(content))

        _within(parse, "error" if name not in EITHER else "either")

    FAMILY.attack(f"graph text: {name}", seconds=60.0)(graph)


def _flat(change: Callable[[bytearray], None]) -> Callable[[], None]:
    def run() -> None:
        import rushlight as torch

        module: Any = torch.jit.script(torch.nn.Linear(2, 2))
        data = bytearray(module._save_to_buffer_for_lite_interpreter(_use_flatbuffer=True))
        change(data)

        def use() -> None:
            from rushlight.serialization.archives.audit import audit

            audit(bytes(data), "attack")
            torch.jit.mobile._load_for_lite_interpreter(io.BytesIO(bytes(data)))(torch.ones(1, 2))

        _within(use)

    return run


def _set_root(value: int) -> Callable[[bytearray], None]:
    def change(data: bytearray) -> None:
        struct.pack_into("<I", data, 0, value)

    return change


def _fill(start: float, byte: int) -> Callable[[bytearray], None]:
    def change(data: bytearray) -> None:
        at = int(len(data) * start)
        for i in range(max(at, 8), min(at + 64, len(data))):
            data[i] = byte

    return change


def _cut(data: bytearray) -> None:
    del data[len(data) // 2 :]


for name, change in {
    "a root behind the file": _set_root(2**31),
    "a root before the file": _set_root(2**32 - 1),
    "a root at the start": _set_root(0),
    "half of it": _cut,
    **{
        f"{byte:#x} at {place}": _fill(place, byte)
        for place in (0, 0.2, 0.4, 0.6, 0.8, 0.95)
        for byte in (0, 0xFF)
    },
}.items():
    FAMILY.attack(f"flatbuffer: {name}")(_flat(change))

WEIGHTS = {
    "a tar of torch 0.1": b"storages" + bytes(600),
    "a bare pickle": pickled(b"}"),
    "a pickle 100,000 deep": b"\x80\x02" + b"]" * 100_000 + b"a" * 99_999 + b".",
    "lists of the same": pickled(_list_pairs(40)),
    "legacy magic alone": b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.",
    "safetensors": struct.pack("<Q", 2**60) + b"{}",
    "HDF5": b"\x89HDF\r\n\x1a\n" + bytes(100),
    "NumPy": b"\x93NUMPY\x01\x00v\x00{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
}
for name, content in WEIGHTS.items():

    def weights(content: bytes = content) -> None:
        import rushlight as torch
        from rushlight.serialization.files.identify import identify

        def use() -> None:
            identify(content)
            torch.load(io.BytesIO(content))

        _within(use)

    FAMILY.attack(f"weights: {name}")(weights)


COMMANDS = (
    "what",
    "audit",
    "show --code",
    "show --graph",
    "show --constants",
    "show --tree",
    "run",
    "diff",
    "convert",
)
for command in COMMANDS:

    def control(command: str = command) -> None:
        import contextlib

        from rushlight.__main__ import main

        evil = "\x1b]0;evil\x07\x9b31m\u202e\r"
        data = archive(
            f"print('{evil}')\nops.prim.RaiseException('{evil}')\nreturn x",
            more={
                f"extra/{evil}": b"",
                "producer_info.json": json.dumps({"pytorch_version": evil}).encode(),
            },
        )
        Path("evil.pt").write_bytes(data)
        Path("other.pt").write_bytes(archive("return torch.neg(x)", more={"extra/b" + evil: b"1"}))
        words = command.split()
        rest = {"run": ["[1.0]"], "diff": ["other.pt"], "convert": ["weights.npz"]}.get(
            words[0], []
        )
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            try:
                main([words[0], *["evil.pt"], *words[1:], *rest])
            except SystemExit as left:
                if left.code not in (0, 1, 2):
                    raise Broken(f"it ended with {left.code!r}") from left
        wrong = {
            char
            for char in out.getvalue()
            if (ord(char) < 32 and char not in "\n\t") or 127 <= ord(char) < 160 or char == "\u202e"
        }
        if wrong:
            raise Broken(f"`{command}` printed {wrong!r}")

    FAMILY.attack(f"terminal: {command}")(control)
