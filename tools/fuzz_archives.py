"""Mutated archives, pickles and graph texts must end in a documented error or a right result.

    python tools/fuzz_archives.py --count 100000 --state fuzz.json
    python tools/fuzz_archives.py --count 100000 --kind pickles

`--kind` leaves all but one kind of files away: archives (zip), pickles, graphs (their texts),
flatbuffers or bytecode (mobile archives whose instructions alone change); all but the first are
quick, since they meet their reader alone.  Seeds are fixed:
mutation N is always the same.  With `--state` the run can be stopped and goes on where it was.
Every mutation is loaded without trust, in a worker process with a limit of memory and time; what
breaks a rule (another exception, a hang, a crash, a file touched) is printed with its number, and
`--show N` runs a single one again, with its traceback.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import re
import struct
import sys
import traceback
import zipfile
import zlib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
for _folder in (ROOT, ROOT / "tools"):
    if str(_folder) not in sys.path:
        sys.path.insert(0, str(_folder))

from fuzz_bytecode import change_instructions
from mutation_worker import Batches

BATCH = 500
"""Mutations between two notes in the file of `--state`."""

__all__ = ["main", "mutated", "originals", "sources", "trials_of", "try_one"]

Mutation = Callable[[random.Random, bytes], bytes]


def originals() -> list[bytes]:
    """The archives that are mutated: those of the tests, and some made now."""
    import rushlight as torch

    found = [path.read_bytes() for path in sorted((ROOT / "tests").rglob("*.pt"))]
    found += [path.read_bytes() for path in sorted((ROOT / "tests").rglob("*.ptl"))]

    class Small(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(2, 3)
            self.names = {"a": [1, 2], "b": [3]}
            self.pair = (1.5, "text")
            weight = torch.quantize_per_tensor(torch.ones(3, 2), 0.5, 1, torch.qint8)
            self.register_buffer("weight", weight)

        def forward(self, x: torch.Tensor, n: int = 2) -> torch.Tensor:
            for i in range(n):
                x = x + i if bool(x.sum() > 0) else x * 2
            return self.linear(x)

    module: Any = torch.jit.script(Small())
    found += [module.save_to_buffer(), module._save_to_buffer_for_lite_interpreter()]
    found.append(module._save_to_buffer_for_lite_interpreter(_use_flatbuffer=True))
    return [*found, *(GRAPH + text.encode() for text in _graph_texts(module))]


def kind_of(data: bytes) -> str:
    """What kind of file an original is: one of `KINDS`."""
    if data.startswith(GRAPH):
        return "graphs"
    if data.startswith(PICKLE):
        return "pickles"
    if data.startswith(BYTECODE):
        return "bytecode"
    return "flatbuffers" if data[4:8] == b"PTMF" else "archives"


def sources(kind: str) -> list[bytes]:
    """The originals of a kind; those of all kinds but the pickles inside them, for "all"."""
    found = originals()
    if kind == "pickles":
        records = [_readable(data) for data in found if kind_of(data) == "archives"]
        pairs = [pair for each in records for pair in each.items()]
        return [PICKLE + content for name, content in pairs if name.endswith(".pkl")]
    if kind == "bytecode":
        return [BYTECODE + data for data in found if "bytecode.pkl" in _flat(_readable(data))]
    return [data for data in found if kind in ("all", kind_of(data))]


def _flat(entries: dict[str, bytes]) -> set[str]:
    """The names of records without the folder that they are in."""
    return {name.partition("/")[2] for name in entries}


def _readable(data: bytes) -> dict[str, bytes]:
    """The records of an original; none, if it is no right zip file itself."""
    try:
        return _entries(data)
    except _UNREADABLE:
        return {}


KINDS = ("all", "archives", "pickles", "graphs", "flatbuffers", "bytecode")
BYTECODE = b"bytecode\n"
"""What mobile archives begin with whose instructions alone change; mutations leave it."""
PICKLE = b"pickle\n"
"""What bare pickles begin with here; mutations leave it."""


GRAPH = b"graph text\n"
"""What graph texts begin with here, to tell them from archives; mutations leave it."""


def _graph_texts(module: Any) -> list[str]:
    """Graphs with branches, loops, tasks, containers, classes and constants of most types."""
    import rushlight as torch

    def forked(x: torch.Tensor) -> torch.Tensor:
        return torch.cat([x, x * 2.5], dim=0)

    def several(x: torch.Tensor, names: dict[str, list[int]]) -> tuple[torch.Tensor, str, float]:
        task = torch.jit.fork(forked, x)
        total = 0
        for name in names:
            while total < 10 and name != "stop\n":
                total += len(names[name]) + 1
        return torch.jit.wait(task) + total, f"{total}", float("inf")

    scripted: Any = torch.jit.script(several)
    return [str(module.graph), str(module.inlined_graph), str(scripted.graph)]


# --------------------------------------------------------------------------- mutations


def flip(chance: random.Random, data: bytes) -> bytes:
    """Some bytes changed anywhere."""
    out = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 5, 20))):
        out[chance.randrange(len(out))] = chance.randrange(256)
    return bytes(out)


def cut(chance: random.Random, data: bytes) -> bytes:
    """The end, or a piece in the middle, missing; or something put in."""
    place = chance.randrange(len(data))
    kind = chance.randrange(3)
    if kind == 0:
        return data[:place]
    length = chance.choice((1, 4, 64, 1000))
    if kind == 1:
        return data[:place] + data[place + length :]
    return data[:place] + chance.randbytes(length) + data[place:]


def records(chance: random.Random, data: bytes) -> bytes:
    """Records swapped, emptied, doubled, renamed or changed, with right checksums."""
    entries = _entries(data)
    if not entries:
        return flip(chance, data)
    names = list(entries)
    name = chance.choice(names)
    kind = chance.randrange(6)
    if kind == 0:
        other = chance.choice(names)
        entries[name], entries[other] = entries[other], entries[name]
    elif kind == 1:
        del entries[name]
    elif kind == 2:
        entries[name] = b""
    elif kind == 3:
        entries[chance.choice((name + "x", "a/../" + name, name.upper()))] = entries.pop(name)
    else:
        entries[name] = _changed(chance, name, entries[name])
    return _zipped(chance, entries)


def pickles(chance: random.Random, data: bytes) -> bytes:
    """Opcodes of a pickle exchanged, left out, doubled or followed by others."""
    entries = _entries(data)
    names = [name for name in entries if name.endswith(".pkl")]
    if not names:
        return flip(chance, data)
    name = chance.choice(names)
    for _ in range(chance.choice((1, 1, 3))):
        entries[name] = _pickle(chance, entries[name])
    return _zipped(chance, entries)


def code(chance: random.Random, data: bytes) -> bytes:
    """Words and lines of a code file exchanged, left out or doubled."""
    entries = _entries(data)
    names = [name for name in entries if name.endswith(".py")]
    if not names:
        return flip(chance, data)
    name = chance.choice(names)
    for _ in range(chance.choice((1, 1, 3))):
        entries[name] = _text(chance, entries[name])
    return _zipped(chance, entries)


def graph_text(chance: random.Random, data: bytes) -> bytes:
    """Words, signs and lines of a graph's text exchanged, left out, doubled or changed."""
    for _ in range(chance.choice((1, 1, 2, 4))):
        cuts = not chance.randrange(4)
        data = cut(chance, data or b"\n") if cuts else _text(chance, data, _GRAPH_WORDS)
    return data


def bare_pickle(chance: random.Random, data: bytes) -> bytes:
    """Opcodes of a pickle exchanged, left out, doubled or followed by others; bytes changed."""
    for _ in range(chance.choice((1, 1, 2, 4))):
        change = chance.choice((_pickle, _pickle, _pickle, flip, cut))
        data = change(chance, data) if change is _pickle else change(chance, data or b"N")
    return data


def bytecode(chance: random.Random, data: bytes) -> bytes:
    """Instructions of a mobile archive changed, moved, left out or added."""
    entries = _entries(data)
    name = next(name for name in entries if name.endswith("bytecode.pkl"))
    return _zipped(chance, entries | {name: change_instructions(chance, entries[name])})


MUTATIONS: tuple[Mutation, ...] = (flip, cut, records, pickles, pickles, code, code)


def _entries(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        return {name: file.read(name) for name in file.namelist()}


def _zipped(chance: random.Random, entries: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    method = chance.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    with zipfile.ZipFile(buffer, "w", method) as file:
        for name, content in entries.items():
            entry = zipfile.ZipInfo(name)  # of no time, which would be another at each run
            file.writestr(entry, content, method)
    return buffer.getvalue()


def _changed(chance: random.Random, name: str, content: bytes) -> bytes:
    if name.endswith(".py"):
        return _text(chance, content)
    return flip(chance, content) if content else b"\x00"


_OPCODES = (
    b"(.0123:;<=>?@ABCDEFGHIJKLMNOPQRSTUVX]abcdeghijlopqrstu})"
    b"\x80\x81\x82\x83\x85\x86\x87\x88\x89\x8a\x8b"
)
_PIECES: Sequence[bytes] = (
    b"cos\nsystem\n",
    b"cbuiltins\neval\n",
    b"c__torch__\nM\n",
    b"ctorch._utils\n_rebuild_tensor_v2\n",
    b"ctorch.jit._pickle\nrestore_type_tag\n",
    b"X\x04\x00\x00\x00List",
    b"X\xff\xff\xff\xff",
    b"J" + struct.pack("<i", -(2**31)),
    b"\x8a\x08" + struct.pack("<q", 2**62),
    b"\x8a\xff",
    b"(" * 300,
    b"]" * 300,
    b"h\x00",
    b"q\x00",
    b"tR",
    b"Q",
)


def _pickle(chance: random.Random, content: bytes) -> bytes:
    if len(content) < 6:
        return content + b"."
    out = bytearray(content)
    place = chance.randrange(2, len(out))
    kind = chance.randrange(5)
    if kind == 0:
        out[place] = chance.choice(_OPCODES)
    elif kind == 1:
        out[place:place] = chance.choice(_PIECES)
    elif kind == 2:
        del out[place : place + chance.choice((1, 2, 5, 9))]
    elif kind == 3:
        start = chance.randrange(2, len(out))
        out[place:place] = out[start : start + chance.choice((1, 5, 20))]
    else:
        out[place] = (out[place] + chance.choice((1, 255, 128))) % 256
    return bytes(out)


_WORDS = (
    "torch.add(x, x)|x|self|return|if True:|while True:|for i in range(9999999999):|None|1|0|-1|"
    "9223372036854775807|1e308|[]|{}|()|List[int]|Tensor|int|CONSTANTS.c0|__torch__.M|(|)|[|:|\n|"
    "torch.zeros([99999, 99999, 99])|torch.neg|ops.prim.RaiseException|uninitialized(Tensor)|"
    "annotate(List[int], [])|unchecked_cast(int, x)|fork(x)|lambda|import os|__import__|\t|  |\\|"
    '"|\'|"""|#|@|\x00|\u2028|getattr(x, "a")|isinstance(x, int)|x.x.x|x[0][0]|del x|'
    "with x:|global x"
).split("|")


_GRAPH_WORDS = (
    "%0|%x|%x.1|%99|graph|(|)|[|]|{|}|:|,|=|->|return|block0|block1|with|prim::If|prim::Loop|"
    "prim::Constant|prim::fork_0|prim::ListConstruct|prim::TupleUnpack|prim::GetAttr|aten::add|"
    "aten::nothing|no::such|Tensor|int|float|Tensor[]|Dict(str, int)|(int, str)|int?|Float(2, 3)|"
    "Float(2, strides=[1])|Future[Tensor]|__torch__.M|NoneType|[value=1]|[value={1}]|"
    '[value="a"]|[name="n"]|[value=<Tensor>]|[value=annotate(List[int], [])]|1e400|-1|'
    '99999999999999999999|"|#|\\|\n|\t|\x00|\u2028'
).split("|")


def _text(chance: random.Random, content: bytes, choices: Sequence[str] | None = None) -> bytes:
    choices = _WORDS if choices is None else choices
    text = content.decode("utf-8", "surrogateescape")
    words = _WORD.findall(text)
    if not words:
        return content
    place = chance.randrange(len(words))
    kind = chance.randrange(6)
    if kind == 0:
        words[place] = chance.choice(choices)
    elif kind == 1:
        words.insert(place, chance.choice(choices))
    elif kind == 2:
        del words[place]
    elif kind == 3:
        other = chance.randrange(len(words))
        words[place], words[other] = words[other], words[place]
    elif kind == 4:
        lines = text.split("\n")
        line = chance.randrange(len(lines))
        moved = lines.pop(line)
        lines.insert(chance.randrange(len(lines) + 1), moved)
        if chance.randrange(2):
            lines.insert(chance.randrange(len(lines) + 1), moved)
        return "\n".join(lines).encode("utf-8", "surrogateescape")
    else:
        words[place] = words[place] * chance.choice((2, 50))
    return "".join(words).encode("utf-8", "surrogateescape")


_WORD = re.compile(r"[^\W_]+[_.]?|.", re.DOTALL)
"""Letters and digits with a sign behind them that often goes on, or any other character."""


_UNREADABLE = (
    *(zipfile.BadZipFile, zlib.error, struct.error, EOFError, KeyError, OverflowError),
    *(NotImplementedError, OSError, RuntimeError, ValueError),
)
"""What reading a mutated archive in order to mutate it again may raise."""


def mutated(number: int, sources: Sequence[bytes]) -> bytes:
    """Mutation `number`: always the same for the same originals."""
    chance = random.Random(number)
    data = sources[chance.randrange(len(sources))]
    if data.startswith(GRAPH):
        return GRAPH + graph_text(chance, data.removeprefix(GRAPH))
    if data.startswith(PICKLE):
        return PICKLE + bare_pickle(chance, data.removeprefix(PICKLE))
    if data.startswith(BYTECODE):
        return BYTECODE + bytecode(chance, data.removeprefix(BYTECODE))
    for _ in range(chance.choice((1, 1, 1, 2))):
        mutation = chance.choice(MUTATIONS)
        try:
            data = mutation(chance, data)
        except _UNREADABLE:
            data = flip(chance, data) if data else b"PK"
        if not data:
            return b""
    return data


# --------------------------------------------------------------------------- running


def try_one(data: bytes) -> str:
    """Load an archive without trust, run its `forward`; or parse a graph's text.

    Returns what rule that breaks, if any.
    """
    from rushlight.interpreter.bounds.guard import Bounds
    from rushlight.serialization.files.limits import Limits

    limits = Limits(running=Bounds(instructions=100_000, memory=1 << 28, seconds=3.0))
    uses: dict[str, tuple[Callable[[bytes, Any], None], ...]] = {
        "graphs": (_parse,),
        "pickles": (_read_pickle,),
        "flatbuffers": (_look, _load_mobile),
        "bytecode": (_run_mobile,),
        "archives": (_look, _load_mobile, _load_weights, _run),
    }
    for use in uses[kind_of(data)]:
        try:
            use(data, limits)
        except Exception as error:  # which ones may come is the question here
            if not _is_documented(error):
                return "".join(traceback.format_exception(error))
    return ""


def _look(data: bytes, limits: Any) -> None:
    from rushlight.serialization.archives.audit import audit
    from rushlight.serialization.files.identify import identify

    identify(data)
    audit(data, "fuzzed", limits)


def _load_mobile(data: bytes, limits: Any) -> None:
    from rushlight.jit.mobile import _load_for_lite_interpreter

    if b"bytecode.pkl" in data or data[4:8] == b"PTMF":
        _load_for_lite_interpreter(io.BytesIO(data), trust="none", limits=limits)


def _run_mobile(data: bytes, limits: Any) -> None:
    import rushlight as torch
    from rushlight.jit.mobile import _load_for_lite_interpreter

    content = io.BytesIO(data.removeprefix(BYTECODE))
    _load_for_lite_interpreter(content, trust="none", limits=limits)(torch.ones(1, 2), 2)


def _load_weights(data: bytes, limits: Any) -> None:
    import rushlight as torch

    torch.load(io.BytesIO(data))


def _read_pickle(data: bytes, limits: Any) -> None:
    """A bare pickle, for both of its readers."""
    import rushlight as torch
    from rushlight.serialization.files.errors import ArchiveError
    from rushlight.serialization.pickles.reader import read_pickle

    content = data.removeprefix(PICKLE)
    try:
        read_pickle(content, "fuzzed", limits)
    except ArchiveError as error:
        if "internal" in [d.code for d in error.diagnostics]:
            raise
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as file:
        for name, record in (("data.pkl", content), ("version", b"3"), ("data/0", bytes(64))):
            file.writestr(f"a/{name}", record)
    torch.load(io.BytesIO(sink.getvalue()))


def _run(data: bytes, limits: Any) -> None:
    import rushlight as torch

    module = torch.jit.load(io.BytesIO(data), trust="none", limits=limits)
    if hasattr(module, "forward"):
        module(torch.ones(1, 2))


def _parse(data: bytes, limits: Any) -> None:
    """A graph's text; what is read is printed, which must be read again and print the same."""
    import rushlight as torch

    text = data.removeprefix(GRAPH).decode("utf-8", "surrogateescape")
    printed = str(torch._C.parse_ir(text, parse_tensor_constants=True))
    again = str(torch._C.parse_ir(printed, parse_tensor_constants=True))
    if again != printed:
        raise AssertionError(f"the graph\n{printed}\nis read as\n{again}")


def _is_documented(error: Exception) -> bool:
    """Errors of archives and scripts carry diagnostics, or are of torch's kinds."""
    from rushlight.frontend.diagnostics.exceptions import ScriptError
    from rushlight.ops.memory.errors import OperatorError

    if isinstance(error, ScriptError | OperatorError):
        return True
    if getattr(error, "diagnostics", None):
        codes = [d.code for d in error.diagnostics]
        return "internal" not in codes
    return type(error) in (RuntimeError, NotImplementedError, AttributeError) and bool(str(error))


def trials_of(kind: str) -> Callable[[int], str]:
    """What tries a mutation of a kind of files by its number, with all that it uses imported."""
    found = sources(kind)
    for data in found:
        try_one(data)
    return lambda number: try_one(mutated(number, found))


def main(argv: Sequence[str] | None = None) -> int:
    """Run mutations; the exit status says whether a rule was broken."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--kind", choices=KINDS, default="all", help="which files (default: all)")
    parser.add_argument("--state", type=Path, help="a file that remembers how far the run is")
    parser.add_argument("--show", type=int, help="run this one mutation here")
    parser.add_argument("--write", type=Path, help="with --show: write the mutated archive there")
    arguments = parser.parse_args(argv)
    if arguments.show is not None:
        data = mutated(arguments.show, sources(arguments.kind))
        if arguments.write is not None:
            arguments.write.write_bytes(data)
        print(try_one(data) or "no rule broken")
        return 0
    state = {"next": arguments.start, "broken": []}
    if arguments.state is not None and arguments.state.exists():
        state = json.loads(arguments.state.read_text())
    worker = Batches(partial(trials_of, arguments.kind))
    end = arguments.start + arguments.count
    while (first := state["next"]) < end:
        state["next"] = min(first + BATCH, end)
        for number, told in worker.run(first, state["next"]):
            state["broken"].append(number)
            print(f"mutation {number}: {told.strip().splitlines()[-1]}", flush=True)
        if arguments.state is not None:
            arguments.state.write_text(json.dumps(state))
    worker.stop()
    print(f"{state['next'] - arguments.start} mutations, {len(state['broken'])} broke a rule")
    return 1 if state["broken"] else 0


if __name__ == "__main__":
    sys.exit(main())
