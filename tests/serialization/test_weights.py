"""Files of `torch.save` and of safetensors: those that torch 2.13 wrote, and our own."""

from __future__ import annotations

import contextlib
import io
import json
import pickle
import zipfile
from collections import OrderedDict, deque
from pathlib import Path
from typing import Any

import pytest

import rushlight as torch
from rushlight import nn, safetensors
from rushlight.serialization.files.errors import ArchiveError
from rushlight.serialization.weights.pickle import WeightsReader
from rushlight.serialization.weights.safetensors import write_safetensors

DATA = Path(__file__).parent / "data" / "weights"
KEYS = "0.weight 0.bias 1.weight 1.bias 1.running_mean 1.running_var 1.num_batches_tracked".split()


def model() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))


def again(value: Any) -> Any:
    file = io.BytesIO()
    torch.save(value, file)
    file.seek(0)
    return torch.load(file)


@pytest.mark.parametrize("name", ["state_dict", "state_dict_old", "state_dict_protocol_4"])
def test_state_dicts_of_torch(name: str) -> None:
    loaded = torch.load(DATA / f"{name}.pt")
    assert list(loaded) == KEYS
    assert loaded._metadata == {"": {"version": 1}, "0": {"version": 1}, "1": {"version": 2}}
    assert loaded["0.weight"].tolist() == model()[0].weight.tolist()
    assert loaded["1.num_batches_tracked"].dtype is torch.int64
    assert repr(model().load_state_dict(loaded)) == "<All keys matched successfully>"


@pytest.mark.parametrize("name", ["values", "values_old"])
@pytest.mark.parametrize("rewritten", [False, True])
def test_values(name: str, rewritten: bool) -> None:
    loaded = torch.load(DATA / f"{name}.pt")
    if rewritten:
        loaded = again(loaded)
    assert loaded["view"].tolist() == [[0, 3], [1, 4], [2, 5]]
    assert loaded["view"].stride() == (1, 3)
    loaded["shared"][0] = 7
    assert loaded["view"][2][0].item() == 7
    assert isinstance(loaded["parameter"], nn.Parameter)
    assert loaded["parameter"].requires_grad
    assert loaded["list"] == [1, 2.5, None, True, (1, "x")]
    assert loaded["set"] == {1, 2}
    assert (loaded["dtype"], loaded["device"].type) == (torch.float32, "cpu")
    assert (loaded["complex"], loaded["bytes"], loaded["big"]) == (1 + 2j, b"\x00\xff", 2**70)
    assert type(loaded["size"]) is torch.Size
    assert loaded["bfloat16"].dtype is torch.bfloat16
    assert (loaded["bool"].item(), loaded["empty"].shape) == (True, (0, 3))
    assert loaded["conj"].tolist() == [1 - 2j]
    if "uint16" in loaded:
        assert loaded["uint16"].dtype is torch.uint16
        assert loaded["uint16"].tolist() == [1, 1]


def test_sharing_and_metadata_survive() -> None:
    tensor = torch.ones(4)
    ring: list[Any] = [tensor]
    ring.append(ring)
    loaded = again({"a": tensor, "part": tensor[1:3], "ring": ring, "state": model().state_dict()})
    assert loaded["ring"][0] is loaded["a"]
    assert loaded["ring"][1] is loaded["ring"]
    loaded["part"][0] = 5
    assert loaded["a"].tolist() == [1, 5, 1, 1]
    assert type(loaded["state"]) is OrderedDict
    assert loaded["state"]._metadata["1"] == {"version": 2}


def test_paths_are_replaced_when_all_is_written(tmp_path: Path) -> None:
    file = tmp_path / "w.pt"
    torch.save([1], file)
    with pytest.raises(ArchiveError, match="not found under that name"):
        torch.save([2, lambda: None], file)
    assert torch.load(str(file), map_location="cpu", weights_only=True) == [1]


def _entry(dtype: object = "F32", shape: object = (2,), first: object = 0, last: object = 8) -> str:
    return json.dumps({"dtype": dtype, "shape": shape, "data_offsets": [first, last]})


@pytest.mark.parametrize(
    ("header", "length", "message"),
    [
        (f'{{"x": {_entry()}}}', 7, "`x` of .* lies outside the file"),
        (f'{{"x": {_entry()}}}', 9, "not as long as its tensors"),
        (f'{{"x": {_entry()}}}', 8, None),
        (f'{{"x": {_entry(first=4, last=12)}}}', 12, "`x` of .* lies outside"),
        (f'{{"x": {_entry()}, "y": {_entry(first=8, last=16)}}}', 16, None),
        (f'{{"x": {_entry()}, "y": {_entry(first=4, last=12)}}}', 12, "`y` of .* lies outside"),
        (f'{{"x": {_entry(last=7)}}}', 7, "`x` of .* lies outside"),
        (f'{{"x": {_entry(shape=(1,) * 64, last=4)}}}', 4, None),
        (f'{{"x": {_entry(shape=(1,) * 65, last=4)}}}', 4, "`x` of .* lies outside"),
        (f'{{"x": {_entry(shape=(0,), last=0)}}}', 0, None),
        (f'{{"x": {_entry(dtype="F33")}}}', 8, "`x` of .* is of dtype F33"),
        (f'{{"x": {_entry(dtype=[])}}}', 8, "`x` of .* is of dtype"),
        (f'{{"x": {_entry(dtype=3)}}}', 8, "`x` of .* is of dtype 3"),
        (f'{{"x": {_entry(shape=(-2,))}}}', 8, "does not describe `x`"),
        (f'{{"x": {_entry(shape=(2.0,))}}}', 8, "does not describe `x`"),
        (f'{{"x": {_entry(shape=(True, 2))}}}', 8, "does not describe `x`"),
        (f'{{"x": {_entry(shape=3)}}}', 8, "does not describe `x`"),
        (f'{{"x": {_entry(last=1 << 63)}}}', 8, "does not describe `x`"),
        ('{"x": 3}', 0, "does not describe `x`"),
        ("[]", 0, "has no names in its header"),
        ("{", 0, "has a damaged header"),
        (f'{{"x": {_entry()}, "x": {_entry()}}}', 8, "a name is there twice"),
        ('{"__metadata__": 3}', 0, "has metadata that are no texts"),
        ('{"__metadata__": {"a": 3}}', 0, "has metadata that are no texts"),
        ('{"__metadata__": {"a": "b"}}', 0, None),
        ("[" * 100_001, 0, "lists and objects|damaged header"),
    ],
)
def test_headers_of_safetensors(header: str, length: int, message: str | None) -> None:
    data = len(header).to_bytes(8, "little") + header.encode() + bytes(length)
    if message is None:
        assert all(not tensor.any() for tensor in safetensors.load(data).values())
        return
    with pytest.raises(ArchiveError, match=message):
        safetensors.load(data)


def test_a_header_of_safetensors_has_a_limit() -> None:
    with pytest.raises(ArchiveError, match="header"):
        safetensors.load((1 << 40).to_bytes(8, "little") + b"{}")


@pytest.mark.parametrize("name", ["module", "module_old"])
def test_whole_modules_are_refused_by_name(name: str) -> None:
    with pytest.raises(ArchiveError, match=r"`torch\.nn\.modules\.container\.Sequential`") as info:
        torch.load(DATA / f"{name}.pt")
    assert info.value.code == "unsafe-pickle"


class Evil:
    """Runs a command when a general unpickler meets it."""

    def __reduce__(self) -> Any:
        import os

        return os.system, ("true",)


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "not-an-archive"),
        (b"hello", "not-an-archive"),
        (pickle.dumps(Evil(), 2), "not-an-archive"),
        ((DATA.parent / "function.pt").read_bytes(), "not-an-archive"),
        ((DATA / "state_dict_old.pt").read_bytes()[:-9], "damaged-archive"),
        ((DATA / "state_dict_old.pt").read_bytes()[:400], "damaged-archive"),
    ],
)
def test_other_files_are_refused(data: bytes, code: str) -> None:
    with pytest.raises(ArchiveError) as info:
        torch.load(io.BytesIO(data))
    assert info.value.code == code


def test_damage_is_never_anything_else() -> None:
    """Every byte of an old file changed: a value or an ArchiveError comes out, nothing else."""
    data = (DATA / "state_dict_old.pt").read_bytes()
    for place in range(0, len(data), 3):
        changed = bytearray(data)
        changed[place] ^= 0x15
        with contextlib.suppress(ArchiveError):
            torch.load(io.BytesIO(bytes(changed)))


@pytest.mark.parametrize("opcodes", [b"q\x00", b"a", b"}s", b"\x85", b"R"])
def test_the_beginning_of_a_group_is_no_value(opcodes: bytes) -> None:
    with pytest.raises(ArchiveError, match="takes a value where there is none"):
        WeightsReader(b"\x80\x02(" + opcodes + b"t.", "it", None).read()  # type: ignore[arg-type]


def test_safetensors() -> None:
    tensors = {"b": torch.arange(3), "a": torch.ones(2, 2, dtype=torch.bfloat16)}
    data = write_safetensors(tensors, {"format": "pt"})
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    assert header["a"] == {"dtype": "BF16", "shape": [2, 2], "data_offsets": [24, 32]}
    loaded = torch.load(io.BytesIO(data))
    assert {n: (t.tolist(), t.dtype) for n, t in loaded.items()} == {
        n: (t.tolist(), t.dtype) for n, t in tensors.items()
    }
    with pytest.raises(ArchiveError, match="lies outside the file"):
        torch.load(io.BytesIO(data[:-1]))
    with pytest.raises(ArchiveError, match="`x` is no tensor"):
        write_safetensors({"x": 3}, None)  # type: ignore[dict-item]


def test_safetensors_files(tmp_path: Path) -> None:
    file = tmp_path / "w.safetensors"
    state = model().state_dict()
    safetensors.save_file(state, file, {"format": "pt"})
    loaded = safetensors.load_file(file)
    assert sorted(loaded) == sorted(KEYS)
    model().load_state_dict(loaded)
    assert torch.load(file)["0.bias"].tolist() == state["0.bias"].tolist()
    assert safetensors.load(safetensors.save(state)).keys() == loaded.keys()
    with pytest.raises(ArchiveError, match="does not describe `x`"):
        safetensors.load((12).to_bytes(8, "little") + b'{"x": {}}   ')


@pytest.mark.parametrize("name", ["module", "module_old"])
def test_whole_modules_are_loaded_from_trusted_files(name: str) -> None:
    loaded = torch.load(DATA / f"{name}.pt", weights_only=False)
    assert isinstance(loaded, torch.nn.Sequential)
    assert all(isinstance(p, torch.nn.Parameter) for p in loaded.parameters())


@pytest.mark.parametrize(
    ("header", "told"),
    [
        ('{"a": %s, "b": {"dtype": "U8", "shape": [2], "data_offsets": [3, 5]}}', "`b` of"),
        ('{"a": %s, "b": {"dtype": "U8", "shape": [2], "data_offsets": [5, 7]}}', "`b` of"),
        ('{"a": %s, "a": %s}', "a name is there twice"),
        ('{"a": %s}', "not as long as its tensors"),
        ('{"\\ud800": %s}', "damaged header"),
        ('{"__metadata__": {"a": 1}, "a": %s}', "metadata that are no texts"),
        (
            '{"a": {"dtype": "U8", "shape": [true], "data_offsets": [0, 1]}}',
            "does not describe `a`",
        ),
        ('{"a": {"dtype": "U8", "shape": "4", "data_offsets": [0, 4]}}', "does not describe `a`"),
        ('{"a": {"dtype": "U8", "shape": [1], "data_offsets": [0.0, 1]}}', "does not describe `a`"),
        ('{"a": {"dtype": "U8", "shape": [' + ", ".join(["9" * 4000] * 2000) + "]}}", "`a`"),
    ],
)
def test_safetensors_fill_their_file(header: str, told: str) -> None:
    """No two lie over each other, nothing lies between them, and numbers are whole."""
    entry = '{"dtype": "U8", "shape": [4], "data_offsets": [0, 4]}'
    text = header.replace("%s", entry).encode()
    with pytest.raises(ArchiveError, match=told):
        safetensors.load(len(text).to_bytes(8, "little") + text + bytes(5))
    whole = f'{{"a": {entry}, "n": {{"dtype": "U8", "shape": [0], "data_offsets": [4, 4]}}}}'
    found = safetensors.load(len(whole).to_bytes(8, "little") + whole.encode() + bytes(4))
    assert {name: list(tensor.shape) for name, tensor in found.items()} == {"a": [4], "n": [0]}


def _tower(height: int) -> Any:
    made: Any = (1, 2)
    for _ in range(height):
        made = (made, made)
    return made


def _deep(depth: int) -> Any:
    made: Any = ()
    for _ in range(depth):
        made = (made,)
    return made


def _pickled(opcodes: bytes) -> io.BytesIO:
    """A file of an old `torch.save` whose object is made by these opcodes."""
    parts = [0x1950A86A20F9469CFC6C, 1001, {"little_endian": True}]
    head = b"".join(pickle.dumps(part, protocol=2) for part in parts)
    return io.BytesIO(head + b"\x80\x02" + opcodes + b"." + pickle.dumps([], protocol=2))


_TOWER = b"K\x01K\x02\x86" + b"".join(b"q%ch%c\x86" % (place, place) for place in range(40))
_DEEP = b")" + b"\x85" * 300_000
_SET = b"cbuiltins\nset\n]%ba\x85R"
_ORDERED = b"ccollections\nOrderedDict\n]%bK\x01\x86a\x85R"


@pytest.mark.parametrize("key", [_TOWER, _DEEP], ids=["tower", "deep"])
@pytest.mark.parametrize(
    "around", [b"}%bNs", _SET, _SET.replace(b"set", b"frozenset"), _ORDERED, b"\x80\x04(%b\x91"]
)
def test_keys_that_are_never_hashed_to_the_end_are_refused(around: bytes, key: bytes) -> None:
    with pytest.raises(ArchiveError) as told:
        torch.load(_pickled(around % key))
    assert told.value.code == "limit-exceeded"


def test_keys_of_one_hash_are_refused() -> None:
    alike = {(2**61 - 1) * n: n for n in range(2000)}
    with pytest.raises(ArchiveError, match="different keys of one hash"):
        torch.load(_pickled(pickle.dumps(alike, protocol=2)[2:-1]))
    with pytest.raises(ArchiveError, match="different keys of one hash"):
        torch.load(_pickled(pickle.dumps(set(alike), protocol=4)[11:-1]))


def test_keys_of_all_kinds_come_back() -> None:
    keys = [-1, -2, 1.5, 2**70, True, None, (1, (2, "a")), frozenset({1}), b"a", 1j, _tower(8)]
    kept = {key: place for place, key in enumerate(keys)}
    assert again(kept) == kept
    assert again(OrderedDict(kept)) == kept
    assert again([{(1, 2): 3}, {1.5: 1}] * 500) == [{(1, 2): 3}, {1.5: 1}] * 500
    assert again({_deep(100)}) == {_deep(100)}


def records(value: object) -> dict[str, bytes]:
    file = io.BytesIO()
    torch.save(value, file)
    with zipfile.ZipFile(file) as archive:
        return {name.partition("/")[2]: archive.read(name) for name in archive.namelist()}


def test_objects_with_items_of_their_own_keep_them() -> None:
    file = io.BytesIO()
    torch.save(deque([1, "b"], maxlen=3), file)
    file.seek(0)
    loaded = torch.load(file, weights_only=False)
    assert (loaded, loaded.maxlen) == (deque([1, "b"]), 3)


def test_tensors_without_data_keep_their_form_alone() -> None:
    loaded = again(torch.empty_strided((2, 3), (1, 2), dtype=torch.float16, device="meta"))
    assert (loaded.device.type, loaded.dtype) == ("meta", torch.float16)
    assert (loaded.shape, loaded.stride()) == ((2, 3), (1, 2))


@pytest.mark.parametrize(
    ("dtype", "maker"), [("float32", "_rebuild_tensor_v2"), ("uint16", "_rebuild_tensor_v3")]
)
def test_dtypes_without_typed_storages_are_made_by_a_function_of_their_own(
    dtype: str, maker: str
) -> None:
    made = torch.tensor([1, 2], dtype=getattr(torch, dtype))
    assert maker.encode() in records(made)["data.pkl"]
    assert again(made).dtype is made.dtype
