"""More attacks on readers: safetensors, tensors and objects in pickles, names and texts in code."""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Callable
from typing import Any

from attacks_on_container import FAMILY, _attack, _data, _opened, _within
from harness import Broken, is_documented, refused
from making import MODULE, archive, integer, load, pickled, text, zipped

# --------------------------------------------------------------------------- safetensors


def _safe(header: object, body: bytes = bytes(64)) -> bytes:
    told = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(told)) + told + body


def _entry(shape: object = (4,), offsets: object = (0, 16), dtype: object = "F32") -> Any:
    return {"dtype": dtype, "shape": shape, "data_offsets": offsets}


MEGABYTE = _entry([1 << 18], [0, 1 << 20])
SAFE: dict[str, Callable[[], bytes]] = {
    "a header longer than the file": lambda: struct.pack("<Q", 10_000) + b'{"a": 1}',
    "a header of 2**64 - 1 bytes": lambda: b"\xff" * 8 + b"{}",
    "a header of 99,999,999 bytes": lambda: struct.pack("<Q", 99_999_999) + b"{}" + bytes(64),
    "a header that is a list": lambda: _safe([1, 2]),
    "a header that is a number": lambda: _safe(b"17      "),
    "10,000 tensors over one megabyte": lambda: _safe(
        {f"t{i}": MEGABYTE for i in range(10_000)}, bytes(1 << 20)
    ),
    "two tensors that overlap by a byte": lambda: _safe(
        {"a": _entry(), "b": _entry([4], [15, 31])}, bytes(31)
    ),
    "one name twice": lambda: _safe(
        b'{"a": %s, "a": %s}' % (json.dumps(_entry()).encode(), json.dumps(_entry()).encode())
    ),
    "offsets the wrong way around": lambda: _safe({"a": _entry([4], [16, 0])}),
    "offsets below nothing": lambda: _safe({"a": _entry([4], [-16, 0])}),
    "offsets of 2**64": lambda: _safe({"a": _entry([4], [2**64, 2**64 + 16])}),
    "offsets that are texts": lambda: _safe({"a": _entry([4], ["0", "16"])}),
    "offsets that are floats": lambda: _safe({"a": _entry([4], [0.5, 16.5])}),
    "infinite offsets": lambda: _safe(
        b'{"a":{"dtype":"F32","shape":[4],"data_offsets":[0,1e999]}}'
    ),
    "one offset": lambda: _safe({"a": _entry([4], [0])}),
    "a shape of 5,000 long numbers": lambda: _safe(
        b'{"a":{"dtype":"F32","shape":[%s],"data_offsets":[0,16]}}'
        % b",".join([b"9" * 4000] * 5000)
    ),
    "a shape of 100 dimensions": lambda: _safe({"a": _entry([1] * 99 + [4])}),
    "a shape of a negative number": lambda: _safe({"a": _entry([-2, -2])}),
    "a shape of bools": lambda: _safe({"a": _entry([True] * 2, [0, 4])}),
    "a shape of a text": lambda: _safe({"a": _entry("4")}),
    "a shape that wraps around": lambda: _safe({"a": _entry([2**32, 2**32 + 4])}),
    "a dtype that is a list": lambda: _safe({"a": _entry(dtype=["F32"])}),
    "a dtype of 4 bits": lambda: _safe({"a": _entry(dtype="F4")}),
    "metadata that is a list": lambda: _safe({"__metadata__": [1], "a": _entry()}),
    "JSON 50,000 deep": lambda: _safe(b"[" * 50_000 + b"]" * 50_000),
    "5 million empty lists": lambda: _safe(b'{"a":[' + b"[]," * 5_000_000 + b"[]]}"),
    "half a character as a name": lambda: _safe(b'{"\\ud800": %s}' % json.dumps(_entry()).encode()),
    "a name of control characters": lambda: _safe({"\x1b]0;evil\x07\x00": _entry([5])}),
    "a header in UTF-16": lambda: _safe(json.dumps({"a": _entry()}).encode("utf-16")),
    "a header with NaN": lambda: _safe(b'{"a":{"dtype":"F32","shape":[NaN],"data_offsets":[0,4]}}'),
}


def _weights(make: Callable[[], bytes], wants: str) -> Callable[[], None]:
    """Identify, load and list weights that nobody vouches for."""

    def run() -> None:
        import rushlight as torch
        from rushlight.serialization.files.identify import identify

        data = make()
        identify(data)

        def use() -> None:
            found = torch.load(io.BytesIO(data))
            if isinstance(found, dict):
                total = sum(t.nbytes for t in found.values() if isinstance(t, torch.Tensor))
                if total > 4 * len(data):
                    raise Broken(f"{len(data)} bytes became {total}")

        _within(use, wants)

    return run


for name, make in SAFE.items():
    short = name in ("two tensors that overlap by a byte", "one name twice")
    FAMILY.attack(f"safetensors: {name}", long=not short)(_weights(make, "error"))


# --------------------------------------------------------------------------- tensors in pickles

STORAGE = b"ctorch\nFloatStorage\n"
REBUILD = b"ctorch._utils\n_rebuild_tensor_v2\n"
HOOKS = b"ccollections\nOrderedDict\n)R"


def _numbers(*values: int) -> bytes:
    return b"(" + b"".join(map(integer, values)) + b"t"


def _persistent(*parts: bytes) -> bytes:
    return b"(" + b"".join(parts) + b"tQ"


def _stored(key: bytes = text("0"), count: bytes = integer(4), kind: bytes = STORAGE) -> bytes:
    return _persistent(text("storage"), kind, key, text("cpu"), count)


def _tensor(
    storage: bytes = _stored(),
    offset: bytes = integer(0),
    sizes: bytes = _numbers(4),
    strides: bytes = _numbers(1),
    rest: bytes = b"\x89" + HOOKS,
    function: bytes = REBUILD,
) -> bytes:
    return function + b"(" + storage + offset + sizes + strides + rest + b"tR"


def _circle() -> bytes:
    """A persistent id that holds itself, through a list."""
    return b"]q\x05h\x05ah\x05Q"


TENSORS: dict[str, tuple[bytes, str]] = {
    "plain": (_tensor(), "right"),
    "a persistent id that is a number": (_tensor(integer(7) + b"Q"), "error"),
    "a persistent id that is a text": (_tensor(text("storage") + b"Q"), "error"),
    "a persistent id of nothing": (_tensor(b")Q"), "error"),
    "a persistent id of two parts": (_tensor(_persistent(text("storage"), STORAGE)), "error"),
    "a persistent id of nine parts": (
        _tensor(_persistent(text("storage"), STORAGE, *[text("0")] * 7)),
        "error",
    ),
    "a persistent id of another kind": (
        _tensor(_persistent(text("module"), STORAGE, text("0"), text("cpu"), integer(4))),
        "error",
    ),
    "a persistent id that holds itself": (_tensor(_circle()), "error"),
    "a persistent id of persistent ids": (_tensor(_stored(_stored(), integer(4))), "error"),
    "a storage key that is a number": (_tensor(_stored(integer(0))), "either"),
    "a storage key that leads upwards": (_tensor(_stored(text("../version"))), "error"),
    "a storage key of an absolute path": (_tensor(_stored(text("/etc/passwd"))), "error"),
    "a storage key of another record": (_tensor(_stored(text("../code/__torch__.py"))), "error"),
    "a storage key of NUL": (_tensor(_stored(text("0\0"))), "error"),
    "a storage that is not there": (_tensor(_stored(text("1"))), "error"),
    "a storage of -1 elements": (_tensor(_stored(count=integer(-1))), "error"),
    "a storage of 2**62 elements": (_tensor(_stored(count=integer(2**62))), "error"),
    "a storage of 2**70 elements": (_tensor(_stored(count=integer(2**70))), "error"),
    "a storage of 5 elements, of which 4 are there": (_tensor(_stored(count=integer(5))), "error"),
    "a storage counted by a text": (_tensor(_stored(count=text("4"))), "error"),
    "a storage counted by True": (_tensor(_stored(count=b"\x88")), "either"),
    "a storage of no kind": (_tensor(_stored(kind=b"ctorch\nNoStorage\n")), "error"),
    "a storage whose kind is a number": (_tensor(_stored(kind=integer(1))), "error"),
    "an offset behind the storage": (_tensor(offset=integer(1)), "error"),
    "an offset of 2**63": (_tensor(offset=integer(2**63)), "error"),
    "an offset of -1": (_tensor(offset=integer(-1)), "error"),
    "an offset that is None": (_tensor(offset=b"N"), "error"),
    "sizes that wrap around": (
        _tensor(sizes=_numbers(2**32, 2**32), strides=_numbers(0, 0)),
        "either",
    ),
    "a size of 2**62 and a stride of nothing": (
        _tensor(sizes=_numbers(2**62), strides=_numbers(0)),
        "either",
    ),
    "a stride of -1": (_tensor(strides=_numbers(-1)), "error"),
    "a stride of 2**62": (_tensor(strides=_numbers(2**62)), "error"),
    "more sizes than strides": (_tensor(sizes=_numbers(2, 2)), "error"),
    "1,000 sizes": (_tensor(sizes=_numbers(*[1] * 1000), strides=_numbers(*[1] * 1000)), "error"),
    "sizes of texts": (_tensor(sizes=b"(" + text("4") + b"t"), "error"),
    "sizes in a dict": (_tensor(sizes=b"}"), "error"),
    "no hooks": (_tensor(rest=b"\x89"), "either"),
    "twenty arguments": (_tensor(rest=b"\x89" * 20), "either"),
    "hooks that are a call": (_tensor(rest=b"\x89cos\nsystem\n(X\x01\x00\x00\x00xtR"), "error"),
    "state for a tensor": (_tensor() + b"}b", "either"),
    "a parameter of a list": (
        b"ctorch._utils\n_rebuild_parameter\n(]\x89" + HOOKS + b"tR",
        "error",
    ),
    "a quantized tensor without a scheme": (
        _tensor(rest=b")\x89" + HOOKS, function=b"ctorch._utils\n_rebuild_qtensor\n"),
        "error",
    ),
    "a tensor of another function": (_tensor(function=b"ctorch._utils\n_rebuild_xla_tensor\n"), "error"),
}  # fmt: skip


def _holding(body: bytes) -> bytes:
    return archive(
        "return torch.add(x, torch.sum(self.a))",
        slots="  a : Tensor\n",
        data=b"\x80\x02c__torch__\nM\n)\x81}(" + text("a") + body + b"ub.",
        more={"data/0": struct.pack("<4f", 1, 2, 3, 4)},
    )


def _saved(body: bytes) -> bytes:
    return zipped(
        {
            "data.pkl": pickled(b"}(" + text("a") + body + b"u"),
            "version": b"3\n",
            "byteorder": b"little",
            "data/0": struct.pack("<4f", 1, 2, 3, 4),
        }
    )


for name, (body, wants) in TENSORS.items():

    def tensor(body: bytes = body, wants: str = wants) -> None:
        import rushlight as torch

        def use() -> None:
            module = load(_holding(body))
            found = module(torch.zeros(2)).tolist()
            if wants == "right" and found != [10.0, 10.0]:
                raise Broken(f"it gave {found}")

        _within(use, wants)
        _within(lambda: torch.load(io.BytesIO(_saved(body))), wants)

    FAMILY.attack(
        f"tensor: {name}",
        long=name
        not in (
            "plain",
            "a persistent id that holds itself",
            "a storage key that leads upwards",
            "sizes that wrap around",
            "a storage counted by True",
        ),
    )(tensor)


# --------------------------------------------------------------------------- opcodes

OPCODES: dict[str, tuple[bytes, str, str]] = {
    "a set": (b"\x8f", "Any", "error"),
    "items for a set": (b"\x8f(K\x01\x90", "Any", "error"),
    "a frozen set": (b"(K\x01\x91", "Any", "error"),
    "a frame": (b"\x95" + struct.pack("<Q", 2**63) + b"]", "List[int]", "either"),
    "memoize": (b"]\x94", "List[int]", "either"),
    "a bytearray of 2**63": (b"\x96" + struct.pack("<Q", 2**63), "Any", "error"),
    "a read-only buffer": (b"]\x98", "Any", "error"),
    "a put of many digits": (b"]p" + b"9" * 5000 + b"\n", "List[int]", "either"),
    "a put of no number": (b"]px\n", "List[int]", "error"),
    "a get below nothing": (b"]q\x00g-1\n", "List[int]", "error"),
    "a get of many digits": (b"g" + b"9" * 5000 + b"\n", "List[int]", "error"),
    "a text int with underscores": (b"I1_0\n", "int", "either"),
    "a text int of Arabic digits": ("I٣\n".encode(), "int", "either"),
    "a text int of 5,000 digits": (b"I" + b"9" * 5000 + b"\n", "int", "error"),
    "a long text of 5,000 digits": (b"L" + b"9" * 5000 + b"L\n", "int", "error"),
    "a text float of nothing": (b"F\n", "float", "error"),
    "a text float nan": (b"Fnan\n", "float", "either"),
    "a quoted text with an escape": (b"S'\\x00\\xff\\u1234'\n", "str", "either"),
    "a quoted text without an end": (b"S'abc\n", "str", "error"),
    "a raw text of half a pair": (b"V\\ud800\n", "str", "either"),
    "a raw text of many": (b"V\\U00110000\n", "str", "error"),
    "a pop of a mark": (b"(0]", "List[int]", "either"),
    "a pop of nothing": (b"0000000000", "List[int]", "error"),
    "marks without a mark": (b"1]", "List[int]", "error"),
    "a protocol in the middle": (b"\x80\xff]", "List[int]", "error"),
    "two stops": (b"].].", "List[int]", "error"),
    "a duplicate": (b"]2a", "Any", "either"),
    "a dict of itself as a key": (b"}q\x05h\x05K\x01s", "Any", "error"),
    "a tuple of its own list": (b"]q\x05h\x05\x85ah\x05", "Any", "either"),
    "nan as a key, twice": (b"}(G\x7f\xf8" + bytes(6) + b"K\x01G\x7f\xf8" + bytes(6) + b"K\x02u", "Dict[float, int]", "either"),
    "a bool and an int as keys": (b"}(\x88K\x01K\x01K\x02u", "Any", "either"),
    "a reduce of a list": (b"])R", "Any", "error"),
    "a new object of a number": (b"K\x01)\x81", "Any", "error"),
    "an object as its own state": (b"c__torch__\nM\n)\x81q\x05h\x05b", "Any", "error"),
    "state twice": (b"c__torch__\nM\n)\x81}b}b", "Any", "either"),
    "an int of 255 bytes": (b"\x8a\xff" + b"\x01" * 255, "int", "error"),
    "an int of no bytes": (b"\x8a\x00", "int", "either"),
}  # fmt: skip
for name, (body, kind, wants) in OPCODES.items():
    _attack(
        f"opcode: {name}",
        lambda body=body, kind=kind: _data(body, f"  a : {kind}\n"),
        wants,
        long=name not in ("a get below nothing", "an object as its own state", "a set"),
    )


@FAMILY.attack("pickle: 300,000 keys that share their low bits", seconds=60.0, long=True)
def sharing_bits() -> None:
    keys = b"".join(integer(i << 40) + b"K\x01" for i in range(100_000))
    _within(lambda: _opened(_data(b"}(" + keys + b"u", "  a : Dict[int, int]\n")))


# --------------------------------------------------------------------------- code

TEXTS: dict[str, tuple[Callable[[], bytes], str]] = {
    "letters that mean others": (lambda: archive("return torch.\ufb01ll_(x, 1)"), "either"),
    "letters of the width of two": (lambda: archive("return torch.\uff4eeg(x)"), "either"),
    "UTF-16": (lambda: _file("class M(Module):\n  pass\n".encode("utf-16")), "error"),
    "UTF-7 by a coding line": (lambda: _file(b"# coding: utf-7\n+AGE-\n" + b""), "error"),
    "a coding line of no coding": (lambda: archive(before="# coding: no_such\n"), "either"),
    "a long line continued": (lambda: archive("return x" + " \\\n" * 50_000 + "  "), "either"),
    "100,000 lines of nothing": (lambda: archive("\n" * 100_000 + "return x"), "either"),
    "100,000 comments": (lambda: archive("# \n" * 100_000 + "return x"), "either"),
    "texts in a row": (lambda: archive("y = " + "'a' " * 50_000 + "\nreturn x"), "either"),
    "a formatted text 300 deep": (lambda: archive("y = " + "f'{" * 20 + "x" + "}'" * 20 + "\nreturn x"), "either"),
    "bytes": (lambda: archive("y = b'" + "a" * 100_000 + "'\nreturn x"), "error"),
    "an imaginary number beyond": (lambda: archive("y = 1e999j\nreturn x"), "either"),
    "a number of 10,000 hexadecimal digits": (lambda: archive(f"y = 0x{'f' * 10_000}\nreturn x"), "error"),
    "choices 3,000 deep": (lambda: archive("y = " + "1 if True else " * 3000 + "0\nreturn x"), "either"),
    "and 20,000 times": (lambda: archive("y = " + " and ".join(["True"] * 20_000) + "\nreturn x"), "either"),
    "comprehensions 60 deep": (lambda: archive("y = " + "[" * 60 + "1" + "for i in range(1)]" * 60 + "\nreturn x"), "either"),
    "assignments in a row": (lambda: archive(" = ".join(f"y{i}" for i in range(5000)) + " = 1\nreturn x"), "either"),
    "10,000 targets": (lambda: archive(", ".join(["y"] * 10_000) + " = " + ", ".join(["1"] * 10_000) + "\nreturn x"), "either"),
    "a star among targets": (lambda: archive("*y, z = (1, 2, 3)\nreturn x"), "either"),
    "10,000 decorators": (lambda: archive(before="@a\n" * 10_000 + "def f():\n  pass\n"), "either"),
    "5,000 bases": (lambda: archive(before=f"class A({', '.join(['B'] * 5000)}):\n  pass\n"), "either"),
    "5,000 arguments": (
        lambda: archive(before=f"def f({', '.join(f'a{i}: int=1' for i in range(5000))}) -> int:\n  return 1\n"),
        "either",
    ),
    "one argument twice": (lambda: archive("return __torch__.f(1, 2)", "def f(a: int, a: int) -> Tensor:\n  return a\n"), "error"),
    "one function twice": (lambda: archive("return __torch__.f(x)", "def f(x: Tensor) -> Tensor:\n  return x\n" * 2), "either"),
    "one class twice": (lambda: archive(before="class M(Module):\n  training : int\n"), "either"),
    "a class beside its own module": (
        lambda: archive(more={"code/__torch__/M.py": b"class M(Module):\n  pass\n"}),
        "either",
    ),
    "a class in the place of torch": (lambda: archive("return torch.neg(x)", "class torch(Module):\n  a : int\n"), "either"),
    "a name of 10,000 parts": (lambda: archive("return __torch__" + ".a" * 10_000 + "(x)"), "error"),
    "a file 300 folders deep": (
        lambda: archive("return __torch__." + "a." * 300 + "f(x)", more={"code/__torch__/" + "a/" * 299 + "a.py": b"def f(x: Tensor) -> Tensor:\n  return x\n"}),
        "either",
    ),
    "a return before anything": (lambda: archive("return x\nreturn torch.nothing(x)"), "either"),
    "a loop that never begins": (lambda: archive("for i in range(-9223372036854775807):\n  x = x\nreturn x"), "either"),
    "a slice of the least": (lambda: archive("return torch.slice(x, 0, -9223372036854775807 - 1, 9223372036854775807, 1)"), "either"),
}  # fmt: skip


def _file(content: bytes) -> bytes:
    return zipped(
        {
            "version": b"3\n",
            "constants.pkl": b"\x80\x02).",
            "data.pkl": MODULE,
            "code/__torch__.py": content,
        }
    )


for name, (make, wants) in TEXTS.items():
    _attack(
        f"code: {name}", make, wants, seconds=90.0, megabytes=3000,
        long=name not in ("letters that mean others", "UTF-16", "one argument twice"),
    )  # fmt: skip

SLOTS = {
    **{name: f"  {name} : int\n" for name in ("__class__", "__dict__", "__slots__", "__del__")},
    **{name: f"  {name} : int\n" for name in ("forward", "_c", "training", "code", "graph")},
    "None": "  None : int\n",
    "a text": "  'a' : int\n",
    "a name with a dot": "  a.b : int\n",
    "a subscript": "  a[0] : int\n",
    "a call": "  f() : int\n",
}
for name, slots in SLOTS.items():
    plain = name.isidentifier() and name not in ("None",)

    def slot(name: str = name, slots: str = slots, plain: bool = plain) -> None:
        """A slot of a wild name is refused, or holds its value and hides nothing of Python's."""
        state = b"}(" + text(name) + b"K\x07ub"
        data = archive(slots=slots, data=b"\x80\x02c__torch__\nM\n)\x81" + state + b".")
        try:
            module = load(data)
        except Exception as error:
            if not is_documented(error):
                raise
            return
        if type(module).__name__ != "RecursiveScriptModule":
            raise Broken(f"the module became a {type(module)}")
        str(module.code), module.state_dict(), list(module.modules()), repr(module)

    FAMILY.attack(f"slot: {name}", long=name not in ("__class__", "a name with a dot"))(slot)


# --------------------------------------------------------------------------- flatbuffers


def _words(replacement: Callable[[int], int]) -> Callable[[], None]:
    """Each word of a flatbuffer in turn becomes another one."""

    def run() -> None:
        import rushlight as torch
        from rushlight.serialization.archives.audit import audit

        class Net(torch.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.linear, self.names = torch.nn.Linear(2, 2), {"a": [1, 2]}

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                return self.linear(x) + self.names["a"][0]

        module: Any = torch.jit.script(Net())
        whole = module._save_to_buffer_for_lite_interpreter(_use_flatbuffer=True)
        for at in range(0, len(whole) - 4, 4):
            data = bytearray(whole)
            struct.pack_into("<I", data, at, replacement(at) & 0xFFFFFFFF)
            try:
                audit(bytes(data), "attack")
                torch.jit.mobile._load_for_lite_interpreter(io.BytesIO(bytes(data)))(
                    torch.ones(1, 2)
                )
            except Exception as error:
                if not is_documented(error):
                    raise Broken(f"the word at {at}: {error!r}") from error

    return run


for name, replacement in {
    "zero": lambda at: 0,
    "one": lambda at: 1,
    "the largest": lambda at: 2**32 - 1,
    "the largest with a sign": lambda at: 2**31 - 1,
    "the way back to the start": lambda at: -at,
    "the way to itself": lambda at: 4,
    "the way to the one before": lambda at: -4,
    "64 Ki": lambda at: 1 << 16,
}.items():
    FAMILY.attack(f"flatbuffer: each word {name}", seconds=300.0, long=True)(_words(replacement))


# --------------------------------------------------------------------------- file objects


class _Lying(io.RawIOBase):
    """A file object whose answers are not those of a file."""

    def __init__(self, data: bytes, how: str) -> None:
        super().__init__()
        self._data, self._how, self._at = data, how, 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> Any:
        answers: dict[str, Any] = {
            "texts": "abc",
            "None": None,
            "numbers": 7,
            "more than was asked for": self._data * 2,
            "nothing": b"",
            "a list": [1, 2],
        }
        if self._how == "an error":
            raise OSError("the disk is gone")
        return answers.get(self._how, self._data)

    def seekable(self) -> bool:
        return self._how != "no seeking"

    def seek(self, offset: int, whence: int = 0) -> int:
        return -1 if self._how == "places below nothing" else 0

    def tell(self) -> int:
        return 2**62 if self._how == "places far away" else 0


for how in (
    *("texts", "None", "numbers", "more than was asked for", "nothing", "a list", "an error"),
    *("no seeking", "places below nothing", "places far away"),
):

    def lying(how: str = how) -> None:
        import rushlight as torch

        for read in (torch.jit.load, torch.load):
            try:
                read(_Lying(archive(), how))
            except Exception as error:
                if not is_documented(error):
                    raise Broken(f"{error!r}") from error

    FAMILY.attack(f"a file object that reads {how}", long=how != "numbers")(lying)


@FAMILY.attack("a file object that writes nothing of what it is given")
def writing_nothing() -> None:
    import rushlight as torch

    class Sink(io.RawIOBase):
        def writable(self) -> bool:
            return True

        def write(self, data: Any) -> int:
            return 0

    module: Any = torch.jit.script(torch.nn.Linear(2, 2))
    with refused():
        torch.jit.save(module, Sink())
