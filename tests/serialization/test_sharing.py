"""Archives whose values, types and code share parts, nest deeply or are many: each is read in a
bound of time and memory, or refused by an error that names the bound."""

from __future__ import annotations

import io
import struct
import time
import zipfile
from collections.abc import Callable

import pytest

import rushlight as torch
from rushlight.frontend.limits import clock
from rushlight.frontend.syntax.from_text import MAXIMUM_LENGTH, MAXIMUM_WORDS
from rushlight.interpreter.bounds.guard import Bounds
from rushlight.serialization.archives.audit import audit
from rushlight.serialization.archives.load import load_archive
from rushlight.serialization.files.errors import ArchiveError
from rushlight.serialization.files.limits import Limits
from rushlight.serialization.pickles.nodes import DictNode, Global, ListNode, ObjectNode
from rushlight.serialization.pickles.reader import read_pickle
from rushlight.serialization.pickles.writer import write_pickle

LISTS = "List[" * 41 + "int" + "]" * 41
CODE = """class M(Module):
  __parameters__ = []
  __buffers__ = []
  a : {type}
  def forward(self: __torch__.M) -> int:
    return 1
  def get(self: __torch__.M) -> {type}:
    return self.a
  def text(self: __torch__.M) -> str:
    return str(self.a)
"""


def shared(opening: bytes, closing: bytes, value: bytes = b"K\x01", levels: int = 40) -> bytes:
    """A pickled value that holds the same one twice, which holds the same one twice, and so on."""
    for level in range(levels):
        number = struct.pack("<I", level)
        value = opening + value + b"r" + number + b"j" + number + closing
    return value


PAIRS = shared(b"", b"\x86")
INNER = shared(b"](", b"e", b"](K\x01e")


def archive(
    value: bytes = b"K\x01", type: str = "int", constant: bytes = b"", code: str = ""
) -> io.BytesIO:
    """An archive of a module with an attribute and a constant."""
    file = io.BytesIO()
    data = b"\x80\x02c__torch__\nM\n)\x81}(X\x01\x00\x00\x00a" + value + b"ub."
    constants = b"\x80\x02" + (constant + b"\x85." if constant else b").")
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as writer:
        writer.writestr("m/data.pkl", data)
        writer.writestr("m/constants.pkl", constants)
        writer.writestr("m/code/__torch__.py", code or CODE.format(type=type))
        writer.writestr("m/version", "10")
    file.seek(0)
    return file


def loaded(**parts: object) -> torch.jit.ScriptModule:
    return torch.jit.load(archive(**parts), trust="none")  # type: ignore[arg-type, no-any-return]


def forward(body: str) -> str:
    return CODE.format(type="int").replace("    return 1\n", body)


REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "a constant of pairs": (lambda: loaded(constant=PAIRS), "a type has 131071 parts"),
    "a constant nested deeply": (
        lambda: loaded(constant=b")" + b"\x85" * 5000),
        "more than 250 deep",
    ),
    "members of enumerations in each other": (
        lambda: loaded(constant=b"c__torch__\nE\n" * 5000 + b"K\x01" + b"R" * 5000),
        "more than 250 deep",
    ),
    "a type nested deeply": (
        lambda: loaded(value=b"N", type="List[" * 101 + "int" + "]" * 101),
        "types lie more than 100 deep",
    ),
    "named tuples of pairs": (
        lambda: loaded(
            code="".join(
                f"class N{i}(NamedTuple):\n  a : {inner}\n  b : {inner}\n"
                for i in range(40)
                for inner in [f"__torch__.N{i - 1}" if i else "int"]
            )
            + CODE.format(type="__torch__.N39")
        ),
        "a type has 131071 parts",
    ),
    "variables of pairs": (
        lambda: loaded(
            code=forward("".join(f"    x{i + 1} = (x{i}, x{i})\n" for i in range(40))).replace(
                "    x1 =", "    x0 = 1\n    x1 ="
            )
        ),
        "a type has 131071 parts",
    ),
    "too many words": (
        lambda: loaded(code=forward("    a;" + "a;" * MAXIMUM_WORDS + "\n")),
        "words and signs",
    ),
    "too many characters": (lambda: loaded(code="#" * (MAXIMUM_LENGTH + 1)), "bytes"),
    "an expression nested deeply": (
        lambda: loaded(code=forward(f"    return {'-' * 10000}1\n")),
        "nested too deeply",
    ),
    "lists read from outside": (lambda: loaded(value=INNER, type=LISTS).a, "more than 67108864 el"),
    "lists returned": (lambda: loaded(value=INNER, type=LISTS).get(), "more than 67108864 el"),
    "the text of lists": (lambda: loaded(value=INNER, type=LISTS).text(), "134217728 characters"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_asks_for_too_much_is_refused(name: str) -> None:
    attempt, text = REFUSED[name]
    with pytest.raises(RuntimeError) as error:
        attempt()
    assert text in str(error.value)
    assert not isinstance(error.value, RecursionError)


def test_lists_in_many_places_are_loaded_saved_copied_and_frozen_as_they_are() -> None:
    module = loaded(value=INNER, type=LISTS)
    assert module() == 1
    out = io.BytesIO()
    torch.jit.save(module, out)
    assert len(out.getvalue()) < 20_000
    again = torch.jit.load(io.BytesIO(out.getvalue()))
    assert again() == 1
    level, depth = again._c.slots[0], 0
    while isinstance(level[0], list):
        assert level[0] is level[1]
        level, depth = level[0], depth + 1
    assert (depth, level) == (40, [1])
    assert torch.jit.freeze(module.eval(), preserved_attrs=["get", "text"])() == 1
    assert not audit(archive(INNER, LISTS).getvalue(), "it").severity


def test_a_list_that_contains_itself_is_neither_loaded_nor_saved() -> None:
    with pytest.raises(ArchiveError, match="contains itself"):
        loaded(constant=b"]q\x00(h\x00e")
    node = ListNode([], "List[int]")
    node.items.append(node)
    with pytest.raises(ValueError, match="contains itself"):
        write_pickle(node)


def test_values_nested_deeply_are_written_and_read_without_recursion() -> None:
    node = ObjectNode(Global("__torch__", "M"), 1)
    for _ in range(5000):
        node = ObjectNode(Global("__torch__", "M"), DictNode([("a", node)]))
    data = write_pickle(node)
    assert write_pickle(read_pickle(data, "it")) == data


def test_limits_of_pickles_are_those_given() -> None:
    with pytest.raises(ArchiveError, match="more than 3 opcodes"):
        read_pickle(b"\x80\x02NNNN.", "it", Limits(opcodes=3))
    with pytest.raises(ArchiveError, match="more than 1 tuples, lists, dicts, names and objects"):
        read_pickle(b"\x80\x02]].", "it", Limits(nodes=1))
    assert read_pickle(b"\x80\x02N.", "it", Limits(opcodes=2)) is None


def test_groups_that_are_open_are_counted() -> None:
    most = 64 * 3
    after_another = b"(t" * (most + 1)
    read_pickle(b"\x80\x02" + after_another + b".", "it", Limits(depth=3))
    with pytest.raises(ArchiveError, match="ends in the middle"):
        read_pickle(b"\x80\x02" + b"(" * most, "it", Limits(depth=3))
    with pytest.raises(ArchiveError, match="nested too deeply") as caught:
        read_pickle(b"\x80\x02" + b"(" * (most + 1), "it", Limits(depth=3))
    assert caught.value.code == "limit-exceeded"
    with pytest.raises(ArchiveError, match="contains itself"):
        load_archive(archive(constant=b"]q\x00(h\x00e"))


def test_a_text_that_would_be_parsed_for_too_long_is_refused_unread() -> None:
    limits = Limits(running=Bounds(seconds=0.2))
    with pytest.raises(
        ArchiveError, match=r"cannot be loaded: a text of \d+ characters is too long"
    ):
        load_archive(archive(code=forward("    a;" + "a;" * 200_000)), limits=limits, trusted=False)


LONG = "    x = 1\n" + "    x = x + 1\n" * 300 + "    return x\n"


def time_is_up(monkeypatch: pytest.MonkeyPatch, after: int) -> Callable[[], int]:
    """Let all time be over after so many looks at the clock; gives how many there were."""
    looks = 0

    def monotonic() -> float:
        nonlocal looks
        looks += 1
        return time.monotonic() + (1000.0 if looks > after else 0.0)

    monkeypatch.setattr(clock, "monotonic", monotonic)
    return lambda: looks


def test_compiling_what_takes_too_long_ends_at_a_statement(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    time_is_up(monkeypatch, after=500)  # while the statements are read
    with pytest.raises(RuntimeError, match=r"has run for more than 60 seconds") as error:
        load_archive(archive(code=forward(LONG)), trusted=False)
    (found,) = error.value.diagnostics  # type: ignore[attr-defined]
    assert found.code == "limit-exceeded"
    assert found.primary is not None
    assert found.primary.span.filename == "code/__torch__.py"
    assert found.primary.span.text in LONG


@pytest.mark.parametrize("after", range(0, 10_000, 700))
def test_compiling_looks_at_the_clock_by_itself(
    after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever the time is up, the next look at the clock ends it, before anything is sent."""
    looks = time_is_up(monkeypatch, after)
    with pytest.raises(RuntimeError, match=r"more than 60 seconds|too long") as error:
        load_archive(archive(code=forward(LONG)), trusted=False)
    assert error.value.diagnostics  # type: ignore[attr-defined]
    assert looks() <= after + 20
