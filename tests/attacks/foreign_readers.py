"""Attacks on what is read beside archives: ONNX files, caches of kernels, packages, downloads, what
workers of a data loader send."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import stat
import subprocess
import sys
import warnings
import zipfile
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from attacks_on_container import FAMILY
from attacks_on_threads import FAMILY as THREADS
from harness import ROOT, Broken, is_documented
from making import zipped

__all__: list[str] = []


# --------------------------------------------------------------------------- ONNX

EVIL = "x'); __import__('os').system('touch evil'); ('"


def _tensor(
    name: str = "w", dims: tuple[int, ...] = (2,), kind: int = 1, raw: bytes = bytes(8)
) -> Any:
    import onnx

    found = onnx.TensorProto(name=name, data_type=kind, raw_data=raw)
    found.dims.extend(dims)
    return found


def _outside(**facts: str) -> Any:
    import onnx

    found = onnx.TensorProto(name="w", data_type=1, data_location=1)
    found.dims.extend((2,))
    for key, value in facts.items():
        found.external_data.add(key=key, value=value)
    return found


def _model(*nodes: Any, weights: tuple[Any, ...] = (), **more: Any) -> bytes:
    import onnx
    from onnx import helper

    value = partial(helper.make_tensor_value_info, elem_type=onnx.TensorProto.FLOAT, shape=[2])
    graph = helper.make_graph(
        nodes or [helper.make_node("Add", ["x", "w"], ["y"])],
        *("g", [value("x")], [value("y")]),
        initializer=weights,
    )
    settings = {"opset_imports": [helper.make_opsetid("", 18)], "ir_version": 9, **more}
    return bytes(helper.make_model(graph, **settings).SerializeToString())


def _node(kind: str, inputs: list[str], outputs: list[str], **attributes: Any) -> Any:
    from onnx import helper

    return helper.make_node(kind, inputs, outputs, **attributes)


def _nested(depth: int) -> bytes:
    from onnx import TensorProto, helper

    value = partial(helper.make_tensor_value_info, elem_type=TensorProto.FLOAT, shape=[2])
    inner = helper.make_graph([_node("Neg", ["x"], ["r"])], "g", [], [value("r")])
    for _ in range(depth):
        both = {"then_branch": inner, "else_branch": inner}
        inner = helper.make_graph([_node("If", ["c"], ["r"], **both)], "g", [], [value("r")])
    return _model(
        _node("Constant", [], ["c"], value=_tensor("c", (), 9, b"\1")),
        _node("If", ["c"], ["y"], then_branch=inner, else_branch=inner),
    )


def _calling_each_other() -> bytes:
    from onnx import helper

    opset = [helper.make_opsetid("", 18), helper.make_opsetid("d", 1)]
    make = partial(helper.make_function, "d", inputs=["a"], outputs=["b"], opset_imports=opset)
    first = make("F", nodes=[_call("G", "a", "b")])
    second = make("G", nodes=[_call("F", "a", "b")])
    return _model(_call("F", "x", "y"), functions=[first, second], opset_imports=opset)


def _call(name: str, given: str, made: str) -> Any:
    from onnx import helper

    return helper.make_node(name, [given], [made], domain="d")


ONNX: dict[str, Callable[[], bytes]] = {
    "a weight of 2**62 elements": lambda: _model(weights=(_tensor(dims=(2**31, 2**31)),)),
    "a weight of less than no elements": lambda: _model(weights=(_tensor(dims=(-2,)),)),
    "a weight of fewer bytes": lambda: _model(weights=(_tensor(dims=(1000,)),)),
    "a weight of more bytes": lambda: _model(weights=(_tensor(raw=bytes(4000)),)),
    "a weight of no known type": lambda: _model(weights=(_tensor(kind=999),)),
    "a weight of texts": lambda: _model(weights=(_tensor(kind=8),)),
    "a weight of half a number": lambda: _model(weights=(_tensor(raw=bytes(7)),)),
    "a weight in another folder": lambda: _model(weights=(_outside(location="../../etc/passwd"),)),
    "a weight at an absolute place": lambda: _model(weights=(_outside(location="/etc/passwd"),)),
    "a weight in a device": lambda: _model(weights=(_outside(location="/dev/zero"),)),
    "a weight in no file": lambda: _model(weights=(_outside(),)),
    "a weight in the model itself": lambda: _model(weights=(_outside(location="m.onnx"),)),
    "a weight before its file": lambda: _model(weights=(_outside(location="d", offset="-8"),)),
    "a weight far behind": lambda: _model(
        weights=(_outside(location="d", offset=str(2**62), length="8"),)
    ),
    "a weight of an odd place": lambda: _model(
        weights=(_outside(location="d", offset="many", length="0x10"),)
    ),
    "a weight in a pipe": lambda: os.mkfifo("f") or _model(weights=(_outside(location="f"),)),
    "a weight in a link": lambda: (
        os.symlink("/etc/passwd", "l") or _model(weights=(_outside(location="l"),))
    ),
    "names that are code": lambda: _model(
        _node("Add", ["x", EVIL], ["y"]), weights=(_tensor(EVIL),)
    ),
    "names with line ends": lambda: _model(
        _node("Neg", ["x"], ["a\nimport os\n"]), _node("Neg", ["a\nimport os\n"], ["y"])
    ),
    "a mode that is code": lambda: _model(
        _node("Pad", ["x", "p"], ["y"], mode=EVIL), weights=(_tensor("p", (2,), 7, bytes(16)),)
    ),
    "an equation that is code": lambda: _model(_node("Einsum", ["x"], ["y"], equation=EVIL)),
    "an axis far outside": lambda: _model(_node("Softmax", ["x"], ["y"], axis=2**62)),
    "an order of axes that is none": lambda: _model(_node("Transpose", ["x"], ["y"], perm=[7, -9])),
    "an attribute of another kind": lambda: _model(_node("Softmax", ["x"], ["y"], axis="one")),
    "nodes in a circle": lambda: _model(_node("Neg", ["b"], ["y"]), _node("Neg", ["y"], ["b"])),
    "one name twice": lambda: _model(_node("Neg", ["x"], ["y"]), _node("Abs", ["x"], ["y"])),
    "branches 5 deep, both the same": lambda: _nested(5),
    "functions that call each other": _calling_each_other,
    "10,000 nodes in a row": lambda: _model(
        *(_node("Neg", [f"v{i}" if i else "x"], [f"v{i + 1}"]) for i in range(9999)),
        _node("Neg", ["v9999"], ["y"]),
    ),
    "an opset of the far future": lambda: _model(ir_version=2**40),
    "half a file": lambda: _model()[:40],
    "no file": lambda: b"",
    "zeros": lambda: bytes(1 << 20),
    "fields that never end": lambda: b"\xff" * 100_000,
    "deep messages": lambda: b"\x3a\xff\xff\x03" * 20_000,
}


def _loaded(make: Callable[[], bytes]) -> None:
    if find_spec("onnx") is None:
        return
    import rushlight as torch

    Path("d").write_bytes(bytes(64))
    data = make()
    Path("m.onnx").write_bytes(data)
    for source in ("m.onnx", io.BytesIO(data)):
        try:
            module = torch.onnx.load(source)
            str(module.code)
            module(torch.ones(2))
        except Exception as error:
            if not is_documented(error) and type(error).__name__ != "OnnxLoadError":
                raise
            if "root:" in str(error):
                raise Broken("the error tells what is in a foreign file") from error
    if os.path.exists("evil"):
        raise Broken("it ran code")


for name, make in ONNX.items():
    FAMILY.attack(f"onnx: {name}", seconds=60.0, long=len(name) % 4 != 0)(partial(_loaded, make))


# --------------------------------------------------------------------------- caches

PROGRAM = """
import os, rushlight as torch
x = torch.linspace(0, 1, 60000).reshape(200, 300)
f = torch.jit.CompilationUnit('def f(x):\\n    return (x * 2.0 + 1.0).tanh().softmax(1)\\n').f
for _ in range(80):
    y = f(x)
print(float(y.sum()), float(torch.nn.functional.conv2d(torch.ones(1, 8, 16, 16), torch.ones(8, 8, 3, 3)).sum()))
"""


def _ran() -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "RUSHLIGHT_CACHE": "cache"}
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM],
        *(),
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if ran.returncode:
        raise Broken(f"it ended with {ran.returncode}: {ran.stderr[-800:]}")
    return ran.stdout


def _as_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _as_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _as_link(target: str, path: Path) -> None:
    path.unlink()
    path.symlink_to(target)


def _as_holes(path: Path) -> None:
    with open(path, "wb") as file:
        file.truncate(1 << 40)


def _as_other(path: Path) -> None:
    data = bytearray(path.read_bytes())
    for place in range(40, len(data), 97):
        data[place] ^= 0xFF
    path.write_bytes(bytes(data))


CACHED: dict[str, Callable[[Path], None]] = {
    "pipes": _as_pipe,
    "folders": _as_folder,
    "links to themselves": lambda path: _as_link(path.name, path),
    "links to an endless device": lambda path: _as_link("/dev/zero", path),
    "links to nothing": lambda path: _as_link("not there", path),
    "holes of a terabyte": _as_holes,
    "other bytes": _as_other,
    "nothing": lambda path: path.write_bytes(b"") and None,
    "what nobody may read": lambda path: path.chmod(0),
}


def _cached(change: Callable[[Path], None]) -> None:
    """What lies in the folder of kernels is believed only if it is what was written there."""
    expected = _ran()
    files = [path for path in Path("cache").rglob("*") if path.is_file()]
    if not files:
        return
    for path in files:
        path.chmod(stat.S_IRUSR | stat.S_IWUSR)
        change(path)
    if _ran() != expected:
        raise Broken("another result")


for name, change in CACHED.items():
    FAMILY.attack(f"cache: kernels become {name}", seconds=120.0, megabytes=6000, long=True)(
        partial(_cached, change)
    )


# --------------------------------------------------------------------------- packages, downloads

PACKAGES: dict[str, dict[str, bytes]] = {
    "no version": {"x.py": b""},
    "a version of a million digits": {".data/version": b"9" * 1_000_000},
    "a version that is code": {".data/version": b"__import__('os').system('touch evil')"},
    "foreign modules that lead out": {".data/version": b"6", ".data/extern_modules": b"../../os\n"},
    "modules of the system": {".data/version": b"6", ".data/extern_modules": b"os\nsubprocess\n"},
    "code that runs": {".data/version": b"6", "evil.py": b"open('evil', 'w')"},
    "100,000 folders": {".data/version": b"6", "/".join(["d"] * 30_000): b""},
    "no texts": {".data/version": b"\xff\xfe", ".data/extern_modules": b"\xff\n\0\n"},
    "a Python of another world": {
        ".data/version": b"6",
        ".data/python_version": b"\x1b[31m" * 1000,
    },
}


def _packaged(records: dict[str, bytes]) -> None:
    """Opening a package, and looking what is in it, runs nothing."""
    import rushlight as torch

    for data in (zipped(records), zipped(records, ""), zipped({**records, "../up": b""})):
        try:
            importer = torch.package.PackageImporter(io.BytesIO(data))
            str(importer.file_structure())
            importer.python_version()
            importer.id()
        except Exception as error:
            if not is_documented(error):
                raise
    if os.path.exists("evil") or os.path.exists("../up"):
        raise Broken("something was run or written")


for name, records in PACKAGES.items():
    FAMILY.attack(f"package: {name}", seconds=60.0)(partial(_packaged, records))


def _zip_of(names: list[tuple[str, bytes, int]]) -> bytes:
    sink = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as file:
        warnings.simplefilter("ignore")  # of one name twice
        for name, content, mode in names:
            entry = zipfile.ZipInfo(name)
            entry.external_attr = mode << 16
            file.writestr(entry, content)
    return sink.getvalue()


CONF = ("o-r-main/hubconf.py", b"def model():\n    return 1\n", 0o644)
DOWNLOADS: dict[str, bytes | Callable[[], bytes]] = {
    "an entry above the folder": _zip_of([CONF, ("o-r-main/../../up", b"x", 0o644)]),
    "an entry far above": _zip_of([CONF, ("../" * 20 + "tmp/up-by-rushlight", b"x", 0o644)]),
    "an absolute entry": _zip_of([CONF, ("/tmp/up-by-rushlight", b"x", 0o644)]),
    "a link out": _zip_of([CONF, ("o-r-main/l", b"/etc", 0o120777), ("o-r-main/l/x", b"", 0o644)]),
    "no folder": _zip_of([("hubconf.py", b"", 0o644)]),
    "two folders": _zip_of([CONF, ("other/x", b"", 0o644)]),
    "nothing": _zip_of([]),
    "no zip file": b"<html>not found</html>",
    "half a zip file": _zip_of([CONF])[:60],
    "one name twice": _zip_of([CONF, CONF]),
    "a device's name": _zip_of([CONF, ("o-r-main/dev", b"", 0o020666)]),
}


def _downloaded(data: bytes) -> None:
    import urllib.request

    import rushlight as torch

    class Answer(io.BytesIO):
        headers: dict[str, str] = {}  # noqa: RUF012

        def info(self) -> Any:
            import email.message

            return email.message.Message()

    def opened(*_: Any, **__: Any) -> Any:
        return Answer(data)

    urllib.request.urlopen = opened
    torch.hub.set_dir("hub")
    before = {each for each in os.listdir() if each != "hub"}
    with contextlib.suppress(Exception):
        torch.hub.load("o/r:main", "model", trust_repo=True, skip_validation=True)
    above = Path("/tmp/up-by-rushlight")
    if {each for each in os.listdir() if each != "hub"} != before or above.exists():
        above.unlink(missing_ok=True)
        raise Broken("something lies outside the folder of downloads")


for name, content in DOWNLOADS.items():
    FAMILY.attack(f"hub: {name}", seconds=60.0)(partial(_downloaded, content))


# --------------------------------------------------------------------------- workers


class Odd:
    """A data set whose elements do something; its name is what a worker that is no fork gets."""

    def __init__(self, act: str) -> None:
        self.act = act

    def __len__(self) -> int:
        return 8

    def __getitem__(self, place: int) -> Any:
        return WORKERS[self.act]() if place == 5 else float(place)


class Picky(Exception):
    """An exception that is not made of one text."""

    def __init__(self, first: int, second: int) -> None:
        super().__init__(f"{first} {second}")


class Trap:
    """What cannot be read where it arrives."""

    def __reduce__(self) -> Any:
        return _raise, (RuntimeError("a trap"),)


def _raise(error: BaseException) -> Any:
    raise error


_GOOD = "gives a number"

WORKERS: dict[str, Callable[[], Any]] = {
    _GOOD: lambda: 5.0,
    "leaves": lambda: os._exit(0),
    "kills itself": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "crashes": lambda: os.kill(os.getpid(), signal.SIGSEGV),
    "raises what is made of two": lambda: _raise(Picky(1, 2)),
    "asks to end": lambda: _raise(SystemExit(3)),
    "is interrupted": lambda: _raise(KeyboardInterrupt()),
    "wants too much memory": lambda: bytearray(1 << 50),
    "goes too deep": lambda: (lambda f: f(f))(lambda f: f(f)),
    "gives a function": lambda: lambda: 1,
    "gives a generator": lambda: (each for each in ()),
    "gives a trap": Trap,
    "gives another shape": lambda: [[1.0], [2.0, 3.0]],
    "closes what it is told by": lambda: os.closerange(3, 256),
}


def _fed(act: str) -> None:
    """A worker that fails ends the walk in an error, and a walk afterwards is as any."""
    import rushlight as torch

    loader = torch.utils.data.DataLoader(Odd(act), batch_size=2, num_workers=2, timeout=4)
    try:
        for _ in loader:
            pass
    except Exception as error:
        if not is_documented(error) and not isinstance(error, Picky | MemoryError | RecursionError):
            raise
    except (KeyboardInterrupt, SystemExit) as error:
        raise Broken(f"{error!r} of a worker came to who walks") from error
    again = torch.utils.data.DataLoader(Odd(_GOOD), batch_size=2, num_workers=2, timeout=4)
    found = [each.tolist() for each in again]
    if found != [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0], [6.0, 7.0]]:
        raise Broken(f"the next walk gives {found}")


for name in WORKERS:
    THREADS.attack(f"a worker of a data loader {name}", seconds=60.0, long="two" not in name)(
        partial(_fed, name)
    )
