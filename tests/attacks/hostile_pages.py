"""Attacks on commands that measure, draw, map, compile and strip: names and texts that are markup,
escapes or options, archives that lie, and files of others in their way."""

from __future__ import annotations

import io
import json
import os
import re
import struct
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from attacks_on_container import FAMILY
from harness import Broken
from making import archive, integer, text
from odd_commands import ODD, _command

__all__: list[str] = []

MARKUP = "</script><script>evil()</script><img src=x onerror=evil()>\"'`${evil}&lt;"
ESCAPES = "\x1b]0;evil\x07\x9b31m\u202e\r\x08"
LONG = "n" * 200_000


def _name(name: str) -> bytes:
    """An archive whose names, texts and records are this wherever they can be."""
    slots = b"\x80\x02c__torch__\nM\n)\x81}(X\x08\x00\x00\x00training\x89"
    slots += text("note") + text(name) + b"ub."
    quoted = repr(name)
    return archive(
        f"print({quoted})\ny = annotate(str, {quoted})\nreturn torch.add(x, torch.len(self.note))",
        slots="  training : bool\n  note : str\n",
        data=slots,
        more={
            f"extra/{name[:200].encode('utf-8', 'replace').decode()}": name.encode(
                "utf-8", "surrogatepass"
            ),
            "producer_info.json": json.dumps({"pytorch_version": name}).encode(),
            f"code/__torch__/{name[:100].encode('utf-8', 'replace').decode()}.py": b"class X(Module):\n  pass\n",
        },
    )


def _many_modules(count: int) -> bytes:
    """An archive whose module holds itself under many names."""
    slots = "".join(f"  m{i} : __torch__.M\n" for i in range(count))
    data = b"\x80\x02c__torch__\nM\n)\x81q\x00}(X\x08\x00\x00\x00training\x89"
    data += b"".join(text(f"m{i}") + b"h\x00" for i in range(count)) + b"ub."
    return archive(slots="  training : bool\n" + slots, data=data)


def _weights(sizes: tuple[int, ...], strides: tuple[int, ...], said: int) -> bytes:
    """An archive with a parameter of sizes and strides over a storage of a few bytes."""
    storage = text("storage") + b"ctorch\nFloatStorage\n" + text("0") + text("cpu") + integer(said)
    tensor = b"ctorch._utils\n_rebuild_tensor_v2\n((" + storage + b"tQ" + integer(0)
    tensor += b"(" + b"".join(map(integer, sizes)) + b"t(" + b"".join(map(integer, strides)) + b"t"
    tensor += b"\x89ccollections\nOrderedDict\n)RtR"
    data = b"\x80\x02c__torch__\nM\n)\x81}(X\x08\x00\x00\x00training\x89" + text("w") + tensor
    slots = "  __parameters__ = ['w', ]\n  training : bool\n  w : Tensor\n"
    return archive(slots=slots, data=data + b"ub.", more={"data/0": bytes(64)})


ARCHIVES: dict[str, Callable[[], bytes]] = {
    "markup in all names": lambda: _name(MARKUP),
    "escapes in all names": lambda: _name(ESCAPES),
    "names of 200,000 letters": lambda: _name(LONG),
    "half pairs in all names": lambda: _name("\ud800x\udfff"),
    "a thousand ways to one module": lambda: _many_modules(1000),
    "a weight of 2**60 elements": lambda: _weights((2**30, 2**30), (0, 0), 1),
    "a weight of 2**40 of one element": lambda: _weights((2**20, 2**20), (0, 0), 16),
    "a weight behind its storage": lambda: _weights((4, 4), (2**40, 1), 16),
    "a loop without an end": lambda: archive(
        "n = 0\nwhile True:\n  n = torch.add(n, 1)\nreturn torch.add(x, n)"
    ),
    "a list that fills memory": lambda: archive(
        "l = [1]\nfor i in range(60):\n  l = torch.add(l, l)\nreturn torch.add(x, torch.len(l))"
    ),
    "an exception of markup": lambda: archive(f"ops.prim.RaiseException({MARKUP!r})\nreturn x"),
    "no archive": lambda: b"PK\x03\x04 but no more",
}

COMMANDS: dict[str, list[list[str]]] = {
    "summary": [
        ["summary", "a.pt"],
        ["summary", "a.pt", "--json"],
        ["summary", "a.pt", "--input", "2"],
        ["summary", "a.pt", "--input", "2", "--values"],
        ["summary", "a.pt", "--input", "9223372036854775807,9223372036854775807"],
    ],
    "profile": [
        ["profile", "a.pt", "[1.0]", "--seconds", "0.05"],
        ["profile", "a.pt", "[1.0]", "--seconds", "0.05", "--json"],
        ["profile", "a.pt", "[1.0]", "--seconds", "0.05", "--html", "out.html"],
    ],
    "view": [
        ["view", "a.pt", "--no-open", "-o", "out.html"],
        ["view", "a.pt", "--no-open", "-o", "sized.html", "--input", "2"],
        ["view", "a.pt", "b.pt", "--no-open", "-o", "both.html"],
        ["view", "a.pt", "--svg", "--no-open", "-o", "out.svg"],
        ["view", "a.pt", "--dot", "--no-open", "-o", "out.dot"],
        ["view", "a.pt", "--json"],
    ],
    "map": [["map", "a.pt", "rows.npy", "results", "--processes", "1", "--trust", "none"]],
    "diff of pages": [["diff", "a.pt", "b.pt", "--trust", "none"]],
}


def _clean(name: str, told: str) -> None:
    bad = [c for c in told if c != "\n" and (ord(c) < 32 or 127 <= ord(c) < 160 or c == "\u202e")]
    if bad:
        raise Broken(f"{name}: {bad[:5]} reached the terminal")


def _harmless(name: str) -> None:
    """Pages that were written hold no markup of others."""
    for path in Path().glob("*.*"):
        if path.suffix in (".html", ".svg"):
            page = path.read_text("utf-8", "surrogateescape")
            if re.search(r"<script>\s*evil\(|<img[^>]*onerror=evil", page):
                raise Broken(f"{name}: {path} holds the markup of an archive")
            path.unlink()


def _commanded(name: str, words: list[list[str]]) -> None:
    import numpy as np

    Path("a.pt").write_bytes(ARCHIVES[name]())
    Path("b.pt").write_bytes(archive())
    np.save("rows.npy", np.ones((4, 2), np.float32))
    for each in words:
        more = [] if "--trust" in each else ["--trust", "none"]
        status, told = _command(*each, *more)
        if status != 0 and not told.strip():
            raise Broken(f"{' '.join(each)}: status {status} without a word")
        _clean(f"{name}, {' '.join(each)}", told.replace("\t", ""))
        _harmless(f"{name}, {' '.join(each)}")


for command, words in COMMANDS.items():
    for name in ARCHIVES:

        def attack(name: str = name, words: list[list[str]] = words) -> None:
            _commanded(name, words)

        short = (len(command) + len(name)) % 7 == 0 and name != "a list that fills memory"
        FAMILY.attack(f"pages: {command} of {name}", seconds=120.0, megabytes=6000, long=not short)(
            attack
        )


# --------------------------------------------------------------------------- rows and tables


def _npy(header: bytes, data: bytes = b"") -> bytes:
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


ROWS: dict[str, Callable[[], bytes]] = {
    "objects": lambda: _npy(
        b"{'descr': '|O', 'fortran_order': False, 'shape': (2,)}\n", b"cos\nsystem\n(S'x'\ntR."
    ),
    "2**62 rows": lambda: _npy(
        b"{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 2)}\n"
    ),
    "less than no rows": lambda: _npy(
        b"{'descr': '<f4', 'fortran_order': False, 'shape': (-1, 2)}\n", bytes(64)
    ),
    "no dimension": lambda: _npy(
        b"{'descr': '<f4', 'fortran_order': False, 'shape': ()}\n", b"abcd"
    ),
    "a header that is code": lambda: _npy(
        b"{'descr': __import__('os').system('touch evil'), 'fortran_order': 0, 'shape': (1,)}\n"
    ),
    "records": lambda: _npy(
        b"{'descr': [('a', '<f4'), ('b', '|O')], 'fortran_order': False, 'shape': (1,)}\n",
        bytes(64),
    ),
    "half a file": lambda: _npy(
        b"{'descr': '<f4', 'fortran_order': False, 'shape': (1000, 2)}\n", bytes(64)
    ),
    "texts": lambda: _npy(b"{'descr': '<U4', 'fortran_order': False, 'shape': (1,)}\n", bytes(16)),
    "nothing": lambda: b"",
    "a table that is none": lambda: b"PAR1" + bytes(64) + b"PAR1",
    "a table with a footer of 2 GB": lambda: b"PAR1" + struct.pack("<I", 2**31 - 1) + b"PAR1",
}


def _maps() -> bool:
    """Whether there is what shares out rows."""
    return find_spec("distributed") is not None


@FAMILY.attack("map: rows of odd files", seconds=120.0)
def mapped() -> None:
    if not _maps():
        return
    Path("a.pt").write_bytes(archive())
    for name, make in ROWS.items():
        path = "rows.parquet" if "table" in name else "rows.npy"
        Path(path).write_bytes(make())
        status, told = _command("map", "a.pt", path, f"out {name}", "--processes", "1")
        if status == 0 or not told.strip():
            raise Broken(f"{name}: status {status}, {told[:200]!r}")
        if os.path.exists("evil"):
            raise Broken(f"{name} ran code")


@FAMILY.attack("map: odd arguments", seconds=120.0, long=True)
def mapped_arguments() -> None:
    if not _maps():
        return
    for name, make in ODD.items():
        Path("a.pt").write_bytes(archive())
        odd = make()
        for words in (["a.pt", odd, "out"], [odd, odd, "out"]):
            status, told = _command("map", *words, "--processes", "1")
            if status == 0 or not told.strip():
                raise Broken(f"{name}: status {status}, {told[:200]!r}")
        if os.path.lexists("odd"):
            os.rmdir("odd") if os.path.isdir("odd") else os.unlink("odd")


@FAMILY.attack("map: results of others in the way", seconds=120.0)
def mapped_over() -> None:
    """What lies where results go is neither followed nor believed."""
    import numpy as np

    if not _maps():
        return
    Path("a.pt").write_bytes(archive())
    np.save("rows.npy", np.ones((4, 2), np.float32))
    Path("secret").write_text("secret")
    for content in (b"", b"[]", b"{}", b"[" * 100_000, b'{"parts": 1e400}', b'{"rows": -1}'):
        os.makedirs("out", exist_ok=True)
        Path("out/map.json").write_bytes(content)
        _command("map", "a.pt", "rows.npy", "out", "--processes", "1")
        if Path("secret").read_text() != "secret":
            raise Broken("a file beside the results was changed")


# --------------------------------------------------------------------------- file names


NAMES = (
    *("--help", "-o", "-", "--", "$(touch evil)", "`touch evil`", "; touch evil", "| touch evil"),
    *("a\nb", "a\x1b[31mb", "%s%n%d", "{0.__class__}", "~", "*", "a'b\"c", "\u202eb", "CON"),
    *("https://example.org/x", "file:///etc/passwd", "s3://x", "\udcff\udcfe", " ", "\t"),
)


@FAMILY.attack("names: files that look like options, escapes and commands", seconds=200.0)
def odd_names() -> None:
    import contextlib

    commands = (
        ["what"],
        ["audit"],
        ["summary"],
        ["show", "--code"],
        ["convert"],
        ["check"],
        ["profile", "--seconds", "0.01"],
    )
    for name in NAMES:
        with contextlib.suppress(OSError):
            Path(name).write_bytes(archive())
        for words in commands:
            given = [*words, "--", name] if name.startswith("-") else [*words, name]
            _, told = _command(*given)
            _clean(f"{words} {name!r}", told.replace("\t", ""))
            if os.path.exists("evil"):
                raise Broken(f"{words} {name!r} ran a command")
        with contextlib.suppress(OSError):
            os.unlink(name)


@FAMILY.attack("names: completions of odd files", seconds=60.0)
def completed() -> None:
    for shell in ("bash", "zsh", "fish", "evil; touch x", ""):
        _command("completions", shell)


@FAMILY.attack("strip and compile of odd archives", seconds=300.0, megabytes=6000, long=True)
def stripped() -> None:
    for name in (
        "escapes in all names",
        "half pairs in all names",
        "no archive",
        "markup in all names",
    ):
        Path("a.pt").write_bytes(ARCHIVES[name]())
        for words in (
            ["compile", "a.pt", "-o", "out", "--input", "2"],
            ["strip", "a.pt", "--input", "[1.0, 2.0]", "-o", "b.pyz"],
        ):
            _, told = _command(*words)
            _clean(f"{words} of {name}", told.replace("\t", ""))
        for header in Path().glob("out*"):
            if b"\x1b" in header.read_bytes() and header.suffix != ".o":
                raise Broken(f"{header} holds escapes")
            header.unlink()


def _page_of(names: dict[str, Any]) -> str:
    """What `view` writes of live weights under odd names."""
    import rushlight as torch

    sink = io.BytesIO()
    torch.save(names, sink)
    Path("w.pt").write_bytes(sink.getvalue())
    _command("view", "w.pt", "--no-open", "-o", "w.html")
    return Path("w.html").read_text("utf-8") if Path("w.html").exists() else ""


@FAMILY.attack("pages: weights under names that are markup", seconds=60.0)
def weights_page() -> None:
    import rushlight as torch

    page = _page_of({MARKUP: torch.ones(2), MARKUP * 2: {MARKUP: torch.ones(1)}})
    if re.search(r"<script>\s*evil\(|<img[^>]*onerror=evil", page):
        raise Broken("the page holds the markup of a name")
