"""Debug records: code text <-> the user's source."""

from __future__ import annotations

from pathlib import Path

import pytest

from rushlight.frontend.sources.source import UNKNOWN, Source, Span
from rushlight.serialization.files.container import ArchiveReader
from rushlight.serialization.loading.debug_info import (
    Origins,
    read_debug_records,
    write_debug_records,
)
from rushlight.serialization.pickles.nodes import ListNode, Node, TupleNode
from rushlight.serialization.pickles.reader import read_pickle

DATA = Path(__file__).parent / "data"
CODE = "code/__torch__/sample_module.py"


def torch_records() -> tuple[str, Origins]:
    with ArchiveReader(DATA / "sample.pt") as archive:
        text = archive.read(CODE).decode()
        root = read_pickle(archive.read(CODE + ".debug_pkl"), "debug")
    origins = read_debug_records(root, text)
    assert origins is not None
    return text, origins


@pytest.mark.parametrize(
    ("code", "source", "line"),
    [
        ("(affine).forward", "self.affine", 45),
        ("torch.tensor([1.5])", "torch.tensor", 45),
        ("torch.add(y0, i)", "y + i", 47),
        ("torch.matmul", "x @ self.w", 16),
    ],
)
def test_torch_records_lead_to_the_source(code: str, source: str, line: int) -> None:
    text, origins = torch_records()
    span = origins(text.index(code))
    assert span is not None
    assert (span.text, span.line, span.filename) == (source, line, "sample_module.py")


def test_text_printed_for_nothing_has_no_origin() -> None:
    _, origins = torch_records()
    assert origins(0) is UNKNOWN


def test_a_source_without_text_is_none() -> None:
    source = TupleNode((ListNode([0]), 0, 0))
    record = TupleNode((0, TupleNode((source, 0, 1)), 1))
    root = TupleNode(("FORMAT_WITH_STRING_TABLE", TupleNode(("",)), TupleNode((record,))))
    origins = read_debug_records(root, "x = 1\n")
    assert origins is not None
    assert origins(0) is UNKNOWN


def test_records_survive_writing_and_reading() -> None:
    source = Source("def f(x):\n    # größer\n    return x.ä(1)\n", "f.py", 12)
    code = "é = torch.f(x)\nreturn é\n"
    call = Span(source, source.text.index("x.ä"), source.text.index("(1)") + 3)
    records = [(0, UNKNOWN), (4, call), (14, Span(source, 0, 3))]
    root = read_pickle(write_debug_records(code, records), "debug")
    origins = read_debug_records(root, code)
    assert origins is not None
    assert origins(3) is UNKNOWN
    found = origins(code.index("torch.f"))
    assert found is not None
    assert (found.text, found.line, found.filename) == ("x.ä(1)", 14, "f.py")
    last = origins(len(code) - 1)
    assert last is not None
    assert last.text == "def"


def test_code_that_was_loaded_keeps_its_first_origin() -> None:
    text, origins = torch_records()
    loaded = Source(text, CODE, origin=origins)
    place = text.index("torch.matmul")
    data = write_debug_records("abc", [(0, Span(loaded, place, place + 5))])
    again = read_debug_records(read_pickle(data, "debug"), "abc")
    assert again is not None
    span = again(0)
    assert span is not None
    assert (span.text, span.line) == ("x @ self.w", 16)


@pytest.mark.parametrize(
    "root",
    [
        None,
        TupleNode(("FORMAT_WITH_STRING_TABLE", TupleNode((1,)), TupleNode(()))),
        TupleNode(("SOMETHING_ELSE", TupleNode(()), TupleNode(()))),
        TupleNode(("FORMAT_WITH_STRING_TABLE", TupleNode(()), TupleNode((1,)))),
    ],
)
def test_unknown_records_are_passed_over(root: Node) -> None:
    assert read_debug_records(root, "abc") is None


def test_records_of_older_archives_hold_their_sources_as_text() -> None:
    written = "def f(x):\n    return x * 2\n"
    nothing = TupleNode((TupleNode(("", "", 1)), 0, 0))
    source = TupleNode((written, "old.py", 7))
    nameless = TupleNode((written, None, 1))
    root = TupleNode(
        (
            TupleNode((0, nothing)),
            TupleNode((4, TupleNode((source, 21, 26)))),
            TupleNode((9, TupleNode((nameless, 21, 22)), 3)),
        )
    )
    origins = read_debug_records(root, "      code of it")
    assert origins is not None
    assert origins(1) is UNKNOWN
    found, other = origins(5), origins(12)
    assert found is not None
    assert other is not None
    assert (found.text, found.line, found.filename) == ("x * 2", 8, "old.py")
    assert (other.text, other.filename) == ("x", None)


@pytest.mark.parametrize(
    "record",
    [
        "no record",
        TupleNode((0,)),
        TupleNode((0, TupleNode((TupleNode(("text", 1, 1)), 0, 0)))),
        TupleNode((0, TupleNode((TupleNode(("text", None)), 0, 0)))),
    ],
)
def test_other_records_are_passed_over(record: Node) -> None:
    assert read_debug_records(TupleNode((record,)), "code") is None
