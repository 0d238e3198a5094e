"""Reading and writing the pickles of archives."""

from __future__ import annotations

import contextlib
import io
import pickle
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rushlight.serialization.files.container import ArchiveReader
from rushlight.serialization.files.errors import ArchiveError
from rushlight.serialization.files.limits import Limits
from rushlight.serialization.pickles.nodes import (
    ComplexNode,
    DeviceNode,
    DictNode,
    EnumNode,
    Global,
    ListNode,
    Node,
    ObjectNode,
    StorageNode,
    TensorNode,
    TupleNode,
)
from rushlight.serialization.pickles.reader import read_pickle, read_record
from rushlight.serialization.pickles.writer import write_pickle

DATA = Path(__file__).parent / "data"


class Inflated:
    """An archive whose records are far larger than its file."""

    def size(self, record: str) -> int:
        return 1 << 40

    def read(self, record: str) -> bytes:
        raise AssertionError("too large to be read")


def test_a_pickle_beyond_the_limits_is_not_inflated() -> None:
    with pytest.raises(ArchiveError, match=r"`data.pkl` has 1099511627776 bytes") as caught:
        read_record(Inflated(), "data.pkl", Limits())
    assert caught.value.code == "limit-exceeded"


def record(archive: str, name: str) -> bytes:
    with ArchiveReader(DATA / archive) as reader:
        return reader.read(name)


@pytest.mark.parametrize(
    ("archive", "name"),
    [
        ("sample.pt", "data.pkl"),
        ("sample.pt", "constants.pkl"),
        ("function.pt", "data.pkl"),
        ("function.pt", "constants.pkl"),
    ],
)
def test_torch_pickles_are_written_again_byte_for_byte(archive: str, name: str) -> None:
    data = record(archive, name)
    assert write_pickle(read_pickle(data, name)) == data


def test_values_of_a_torch_pickle() -> None:
    root = read_pickle(record("sample.pt", "data.pkl"), "data.pkl")
    assert isinstance(root, ObjectNode)
    assert root.cls == Global("__torch__.sample_module", "Sample")
    assert isinstance(root.state, DictNode)
    state = root.state.by_name()
    assert (state["big"], state["negative"], state["title"]) == (2**40, -1, "gr\u00fcn")
    base, view = state["base"], state["view"]
    assert isinstance(base, TensorNode)
    assert isinstance(view, TensorNode)
    assert view.storage == base.storage == StorageNode("Long", "0", "cpu", 10)
    assert (view.offset, view.size, view.stride) == (2, (3,), (1,))
    tensors = state["tensors"]
    assert isinstance(tensors, ListNode)
    assert tensors.tag == "List[Tensor]"
    assert tensors.items[0] is base
    steps = state["steps"]
    assert isinstance(steps, DictNode)
    assert steps.tag == "Dict[str, List[int]]"
    assert isinstance(state["z"], ComplexNode)
    assert state["z"].value == 1 + 2j


def same(a: Node, b: Node) -> bool:
    """Equal by value; nodes themselves are compared by identity."""
    if type(a) is not type(b):
        return False
    match a, b:
        case (TupleNode(x), TupleNode(y)):
            return len(x) == len(y) and all(map(same, x, y))
        case (ListNode(x, s), ListNode(y, t)):
            return s == t and len(x) == len(y) and all(map(same, x, y))
        case (DictNode(x, s), DictNode(y, t)):
            pairs = zip(x, y, strict=True)
            return s == t and all(same(k, m) and same(v, w) for (k, v), (m, w) in pairs)
        case (ObjectNode(c, x), ObjectNode(d, y)) | (EnumNode(c, x), EnumNode(d, y)):
            return c == d and same(x, y)
        case (ComplexNode(x), ComplexNode(y)):
            return repr(x) == repr(y)
        case (DeviceNode(x), DeviceNode(y)):
            return x == y
        case (TensorNode(), TensorNode()):
            return all(getattr(a, n) == getattr(b, n) for n in TensorNode.__slots__)
    return repr(a) == repr(b)


NAMES = st.builds(Global, st.just("__torch__.a"), st.sampled_from(["A", "B"]))
TENSORS = st.builds(
    TensorNode,
    st.builds(StorageNode, st.just("Float"), st.sampled_from("01"), st.just("cpu"), st.just(70000)),
    st.integers(0, 300),
    st.lists(st.integers(0, 5), max_size=4).map(tuple),
    st.lists(st.integers(0, 5), max_size=4).map(tuple),
    st.booleans(),
    st.sampled_from([frozenset(), frozenset({"conj"})]),
)
LEAVES: st.SearchStrategy[Node] = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats()
    | st.text(st.characters(codec="utf-8"), max_size=5)
    | st.builds(ComplexNode, st.complex_numbers())
    | st.builds(DeviceNode, st.just("cpu"))
    | TENSORS
)


def nested(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    lists = st.lists(inner, max_size=4)
    pairs = st.lists(
        st.tuples(st.text(st.characters(codec="utf-8"), max_size=3), inner), max_size=4
    )
    return (
        lists.map(lambda items: TupleNode(tuple(items)))
        | st.builds(ListNode, lists, st.sampled_from(["List[int]", "List[Any]"]))
        | st.builds(DictNode, pairs, st.just("Dict[str, Any]"))
        | st.builds(EnumNode, NAMES, st.integers(0, 9) | st.sampled_from("ab"))
        | st.builds(ObjectNode, NAMES, st.builds(DictNode, pairs))
    )


@settings(max_examples=150, deadline=None)
@given(st.recursive(LEAVES, nested, max_leaves=12))
def test_what_is_written_is_read(node: Node) -> None:
    data = write_pickle(node)
    again = read_pickle(data, "p")
    assert same(node, again)
    assert write_pickle(again) == data


def test_sharing_survives() -> None:
    shared = ListNode([1, 2], "List[int]")
    obj = ObjectNode(Global("__torch__", "A"), DictNode([("x", shared)]))
    root = read_pickle(write_pickle(TupleNode((shared, obj, shared, obj))), "p")
    assert isinstance(root, TupleNode)
    first, second, third, fourth = root.items
    assert first is third
    assert second is fourth
    assert isinstance(second, ObjectNode)
    assert isinstance(second.state, DictNode)
    assert second.state.items[0][1] is first


def test_many_memo_entries() -> None:
    node = TupleNode(tuple(f"text {i}" for i in range(300)) * 2)
    assert same(read_pickle(write_pickle(node), "p"), node)


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1])
def test_integers_beyond_64_bits_are_not_written(value: int) -> None:
    with pytest.raises(ValueError, match="64 bits"):
        write_pickle(value)


# -- what is refused


class Calls:
    def __reduce__(self) -> tuple[object, ...]:
        return (print, ("called",))


@pytest.mark.parametrize(
    "data",
    [
        pickle.dumps(Calls(), 2),
        pickle.dumps(io.BytesIO, 2)[:-1] + b")R.",
        b"\x80\x02cos\nsystem\nX\x02\x00\x00\x00lsq\x00\x85R.",
        b"\x80\x02c__builtin__\neval\n(X\x01\x00\x00\x001tR.",
        b"\x80\x02(S'ls'\nios\nsystem\n.",
        b"\x80\x02ctorch\nload\nX\x01\x00\x00\x00a\x85R.",
    ],
)
def test_nothing_is_called(data: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ArchiveError):
        read_pickle(data, "data.pkl")
    assert capsys.readouterr().out == ""


def test_errors_name_the_opcode_and_its_place() -> None:
    with pytest.raises(ArchiveError) as caught:
        read_pickle(b"\x80\x02K\x01cos\nsystem\n)R.", "data.pkl")
    assert caught.value.code == "unsafe-pickle"
    assert "`os.system`" in str(caught.value)
    assert "(opcode REDUCE at offset 16)" in str(caught.value)
    with pytest.raises(ArchiveError, match=r"opcode DUP at offset 4"):
        read_pickle(b"\x80\x02K\x012.", "data.pkl")


@pytest.mark.parametrize(
    "data",
    [b"", b"\x80\x04K\x01.", b"\x80\x02", b"\x80\x02.", b"\x80\x02h\x00.", b"\x80\x02(.",
     b"\x80\x02e.", b"\x80\x02X\xff\xff\xff\xff.", b"\x80\x02}(K\x01u.", b"\x80\x02K\x01K\x02b.",
     b"\x80\x02cabc", b"\x80\x02\x8a\x09\1\1\1\1\1\1\1\1\1.", b"\x80\x02K\x01Q."],
)  # fmt: skip
def test_damaged_pickles(data: bytes) -> None:
    with pytest.raises(ArchiveError) as caught:
        read_pickle(data, "data.pkl")
    assert caught.value.code == "damaged-archive"


def test_length_is_limited() -> None:
    with pytest.raises(ArchiveError) as caught:
        read_pickle(b"\x80\x02K\x01.", "data.pkl", Limits(pickle=4))
    assert caught.value.code == "limit-exceeded"


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("_rebuild_sparse_csr_tensor", "holds a sparse tensor, which is not supported"),
        ("_rebuild_qtensor", "has a quantized tensor without the parts of one"),
    ],
)
def test_kinds_of_tensors_are_named(name: str, problem: str) -> None:
    data = f"\x80\x02ctorch._utils\n{name}\n)R.".encode("latin-1")
    with pytest.raises(ArchiveError, match=problem):
        read_pickle(data, "data.pkl")


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_mutated_pickles_fail_as_documented(data: st.DataObject) -> None:
    original = bytearray(record("sample.pt", "data.pkl"))
    for _ in range(data.draw(st.integers(1, 5))):
        place = data.draw(st.integers(0, len(original) - 1))
        original[place] = data.draw(st.integers(0, 255))
    with contextlib.suppress(ArchiveError):
        read_pickle(bytes(original), "data.pkl")


def _python(node: object) -> object:
    """What a node stands for."""
    if isinstance(node, DictNode):
        return {_python(key): _python(value) for key, value in node.items}
    if isinstance(node, ListNode):
        return [_python(item) for item in node.items]
    return tuple(map(_python, node.items)) if isinstance(node, TupleNode) else node


@pytest.mark.parametrize(
    "value",
    [
        *({}, {"a": 1}, {"a": 1, "b": [2]}, [], [1], [1, 2], (), (1,), (1, 2), (1, 2, 3)),
        *((1, 2, 3, 4), [(), [[]], {}], None, True, False, 1.5, "", "x", "ü" * 300, "x" * 70_000),
        *(0, 255, 256, 65_535, 65_536, -1, 2**31 - 1, -(2**31), 2**31, 2**63 - 1, -(2**63)),
        *([["same"] * 3, "same"], [1] * 2000),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_what_python_writes_is_read(value: object) -> None:
    found = _python(read_pickle(pickle.dumps(value, 2), "data.pkl"))
    assert found == value
    assert type(found) is type(value)
