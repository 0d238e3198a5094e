"""What files of `torch.save` hold beside plain tensors, their older format, who may read them."""

from __future__ import annotations

import copy
import gzip
import io
import pickle
import pickletools
import shutil
import struct
from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest

import rushlight as torch
from rushlight import nn
from rushlight.serialization.files.container import ArchiveReader
from rushlight.serialization.files.container_writer import ContainerWriter


class Marked(torch.Tensor):
    """A tensor of a class of its own."""


class Strange:
    """An object that nobody vouches for."""


def saved(value: object, **options: Any) -> io.BytesIO:
    file = io.BytesIO()
    torch.save(value, file, **options)
    file.seek(0)
    return file


@pytest.mark.parametrize("in_zip", [True, False])
@pytest.mark.parametrize("weights_only", [True, False])
def test_attributes_of_tensors_survive(in_zip: bool, weights_only: bool) -> None:
    tensor, parameter = torch.arange(3.0), nn.Parameter(torch.ones(2))
    tensor.note = [1, "x"]
    parameter.note = {"a": 2}
    file = saved([tensor, parameter, tensor], _use_new_zipfile_serialization=in_zip)
    loaded = torch.load(file, weights_only=weights_only)
    assert (loaded[0].note, loaded[1].note) == ([1, "x"], {"a": 2})
    assert loaded[2] is loaded[0]
    assert type(loaded[1]) is nn.Parameter


@pytest.mark.parametrize("weights_only", [True, False])
def test_names_that_are_values_by_themselves(weights_only: bool) -> None:
    kinds = [
        *(OrderedDict, set, complex, bytearray, torch.Size, torch.device, torch.Tensor),
        *(nn.Parameter, torch.UntypedStorage, torch.storage.TypedStorage, torch.FloatTensor),
        *(torch.sparse.FloatTensor, torch._utils._rebuild_tensor_v2),
    ]
    value = {
        "list": kinds,
        "nested": (1, [(kinds[0], (kinds[-1],))]),
        "made": OrderedDict(a=torch.Size([2])),
        kinds[4]: {kinds[5]},
    }
    file = saved(value)
    assert torch.load(file, weights_only=weights_only) == value
    assert torch.load(saved(set), weights_only=weights_only) is set
    file = saved([torch.FloatStorage, torch.ones(2)])
    kind, ones = torch.load(file, weights_only=weights_only)
    assert (str(kind), ones.tolist()) == ("StorageType(dtype=torch.float32)", [1.0, 1.0])


def test_names_of_classes_are_those_that_torch_finds() -> None:
    content = saved([nn.Parameter, torch.storage.TypedStorage, torch.HalfTensor]).getvalue()
    for name in (b"torch.nn.parameter\nParameter", b"torch.storage\nTypedStorage"):
        assert name in content
    assert b"torch\nHalfTensor" in content


def test_a_class_that_is_not_there_is_named() -> None:
    file = io.BytesIO()
    writer = ContainerWriter(file, "archive")
    writer.add("data.pkl", b"\x80\x02]ctorch\nWrongTensor\na.")
    writer.finish()
    with pytest.raises(pickle.UnpicklingError, match=r"torch\.WrongTensor was not an allowed"):
        torch.load(io.BytesIO(file.getvalue()))


@pytest.mark.parametrize("weights_only", [True, False])
@pytest.mark.parametrize("named", [b"K\x01", b"ctorch\nFloatTensor\n"])
def test_tuples_that_are_in_each_other_twice_are_looked_through_once(
    named: bytes, weights_only: bool
) -> None:
    doubled = b"".join(b"h%c\x86q%c" % (n, n + 1) for n in range(200))
    file = io.BytesIO()
    writer = ContainerWriter(file, "archive")
    writer.add("data.pkl", b"\x80\x02]" + named + b"\x85q\x00" + doubled + b"a.")
    writer.finish()
    (found,) = torch.load(io.BytesIO(file.getvalue()), weights_only=weights_only)
    while len(found) == 2:
        assert found[0] is found[1]
        found = found[0]
    assert found == (1 if named == b"K\x01" else torch.FloatTensor,)


def test_classes_of_tensors_survive() -> None:
    marked = torch.arange(4.0)[1:].as_subclass(Marked)
    marked.note = 5
    file = saved(marked)
    with pytest.raises(pickle.UnpicklingError, match=r"GLOBAL .*Marked was not an allowed global"):
        torch.load(file)
    file.seek(0)
    with torch.serialization.safe_globals([Marked]):
        vouched = torch.load(file)
    file.seek(0)
    for loaded in (
        vouched,
        torch.load(file, weights_only=False),
        pickle.loads(pickle.dumps(marked)),
    ):
        assert type(loaded) is Marked
        assert (loaded.note, loaded.tolist()) == (5, [1, 2, 3])
    assert copy.deepcopy(marked).note == 5


def test_attributes_cannot_change_what_tensors_do() -> None:
    tensor = torch.ones(2)
    tensor.note = 1
    reader = ArchiveReader(saved(tensor))
    file = io.BytesIO()
    writer = ContainerWriter(file, "archive")
    for record in reader.records():
        content = reader.read(record)
        writer.add(record, content.replace(b"\x04\0\0\0note", b"\x05\0\0\0shape"))
    writer.finish()
    file.seek(0)
    with pytest.raises(RuntimeError, match="a state which sets 'shape'"):
        torch.load(file)


@pytest.mark.parametrize("in_zip", [True, False])
def test_storages_are_values(in_zip: bool) -> None:
    tensor = torch.arange(4.0)
    value = [tensor[1:3], tensor.storage(), torch.ones(3, dtype=torch.uint8).untyped_storage()]
    loaded = torch.load(saved(value, _use_new_zipfile_serialization=in_zip))
    assert isinstance(loaded[1], torch.FloatStorage)
    assert loaded[1].tolist() == [0, 1, 2, 3]
    loaded[1][1] = 9
    assert loaded[0].tolist() == [9, 2]
    assert loaded[2].tolist() == [1, 1, 1]
    assert torch.is_storage(loaded[2])


def test_parts_of_storages_of_the_first_format() -> None:
    """Two halves of one storage, as PyTorch 0.3 wrote them."""

    def text(value: str) -> bytes:
        return b"X" + struct.pack("<I", len(value)) + value.encode()

    def half(start: int, name: str) -> bytes:
        part = b"(" + text(name) + bytes((0x4B, start)) + b"K\x01t"
        named = text("storage") + b"ctorch\nFloatStorage\n" + text("77") + text("cpu")
        return b"(" + named + b"K\x02" + part + b"tQ"

    system = {"protocol_version": 1001, "little_endian": True, "type_sizes": {}}
    parts = [0x1950A86A20F9469CFC6C, 1001, system]
    data = b"".join(pickle.dumps(part, 2) for part in parts)
    data += b"\x80\x02(" + half(0, "a") + half(1, "b") + b"t." + pickle.dumps(["77"], 2)
    data += struct.pack("<qff", 2, 3.0, 4.0)
    first, second = torch.load(io.BytesIO(data))
    assert (first.tolist(), second.tolist()) == ([3.0], [4.0])


@pytest.mark.parametrize("said", [True, False])
def test_the_other_byte_order(said: bool) -> None:
    value = {"f": torch.tensor([1.5, -2.0]), "c": torch.tensor([1 + 2j]), "b": torch.tensor([True])}
    reader = ArchiveReader(saved(value))
    file = io.BytesIO()
    writer = ContainerWriter(file, "archive")
    for record in reader.records():
        content = reader.read(record)
        if record == "byteorder":
            if said:
                writer.add(record, b"big")
            continue
        if record.startswith("data/") and len(content) > 1:
            content = b"".join(content[i : i + 4][::-1] for i in range(0, len(content), 4))
        writer.add(record, content)
    writer.finish()
    file.seek(0)
    if not said:
        torch.serialization.set_default_load_endianness(torch.serialization.LoadEndianness.BIG)
    try:
        loaded = torch.load(file)
    finally:
        torch.serialization.set_default_load_endianness(None)
    assert loaded["f"].tolist() == [1.5, -2.0]
    assert loaded["c"].tolist() == [1 + 2j]
    assert loaded["b"].tolist() == [True]


def test_the_format_before_zip_keeps_what_is_shared() -> None:
    tensor = torch.arange(6.0)
    value = OrderedDict(whole=tensor, part=tensor[2:4], half=torch.ones(2, dtype=torch.bfloat16))
    file = saved(value, _use_new_zipfile_serialization=False)
    assert file.getvalue()[:2] == b"\x80\x02"
    loaded = torch.load(file)
    loaded["part"][0] = 7
    assert loaded["whole"].tolist() == [0, 1, 7, 3, 4, 5]
    assert loaded["half"].dtype is torch.bfloat16


def test_refusals_are_unpickling_errors() -> None:
    with pytest.raises(pickle.UnpicklingError, match="add_safe_globals") as told:
        torch.load(saved(Strange()))
    assert isinstance(told.value, RuntimeError)
    torch.serialization.add_safe_globals([Strange, shutil.rmtree])
    try:
        assert isinstance(torch.load(saved(Strange())), Strange)
        with pytest.raises(
            pickle.UnpicklingError, match=r"posix\.system whose module posix is blocked"
        ):
            torch.load(io.BytesIO(_calling(b"cposix\nsystem\n")))
    finally:
        torch.serialization.clear_safe_globals()


def test_names_of_python_2_are_vouched_for_by_those_of_today() -> None:
    numbers = b"K\x01K\x03\x86R."
    for name, made in ((b"slice", slice(1, 3)), (b"xrange", range(1, 3))):
        file = _holding(b"c__builtin__\n" + name + b"\n" + numbers)
        kind = type(made)
        unsafe = torch.serialization.get_unsafe_globals_in_checkpoint(io.BytesIO(file))
        assert unsafe == [f"builtins.{kind.__name__}"]
        with torch.serialization.safe_globals([kind]):
            assert torch.load(io.BytesIO(file)) == made
            assert not torch.serialization.get_unsafe_globals_in_checkpoint(io.BytesIO(file))


def _calling(name: bytes) -> bytes:
    return _holding(name + b"X\x04\0\0\0true\x85R.")


def _holding(pickled: bytes) -> bytes:
    file = io.BytesIO()
    writer = ContainerWriter(file, "archive")
    writer.add("data.pkl", b"\x80\x02" + pickled)
    writer.finish()
    return file.getvalue()


def test_who_vouches_for_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    file = saved(Strange())

    def load(**options: Any) -> Any:
        file.seek(0)
        return torch.load(file, **options)

    assert isinstance(load(pickle_module=pickle), Strange)
    with pytest.raises(RuntimeError, match="explicit pickle_module is specified"):
        load(pickle_module=pickle, weights_only=True)
    monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")
    with pytest.warns(UserWarning, match="forcing weights_only=False"):
        assert isinstance(load(), Strange)
    with pytest.raises(pickle.UnpicklingError):
        load(weights_only=True)
    monkeypatch.setenv("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "1")
    with pytest.raises(RuntimeError, match="both were set"):
        load()
    monkeypatch.delenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD")
    with pytest.raises(pickle.UnpicklingError):
        load(weights_only=False)


def test_file_objects_are_flushed_and_must_seek(tmp_path: Path) -> None:
    path = tmp_path / "w.pt"
    with path.open("wb") as file:
        torch.save([1], file)
        with path.open("rb") as again, gzip.open(tmp_path / "w.gz", "wb") as packed:
            shutil.copyfileobj(again, packed)
    with gzip.open(tmp_path / "w.gz") as unpacked:
        assert torch.load(unpacked) == [1]

    class Stream:
        def read(self) -> bytes:
            raise AssertionError

    with pytest.raises(AttributeError, match=r"only torch\.load from a file that is seekable"):
        torch.load(Stream())


def test_storages_change_their_elements() -> None:
    storage = torch.tensor([0.0, 2.5]).storage()
    assert storage.bool().tolist() == [False, True]
    assert storage.long().dtype is torch.int64
    assert storage.resize_(3).size() == 3
    assert storage.tolist()[:2] == [0.0, 2.5]
    assert storage.pickle_storage_type() == "FloatStorage"


def test_contents_can_be_left_out() -> None:
    value = {"a": torch.ones(3), "b": torch.arange(4)[2:]}
    blank, full = io.BytesIO(), io.BytesIO()
    torch.save(value, full)
    with torch.serialization.skip_data():
        with torch.serialization.skip_data():
            torch.save(value, blank)
        with pytest.raises(RuntimeError, match="Cannot use skip_data=True"):
            torch.save(value, io.BytesIO(), _use_new_zipfile_serialization=False)
        full.seek(0)
        unread = torch.load(full)
    assert len(blank.getvalue()) == len(full.getvalue())
    blank.seek(0)
    for found in (torch.load(blank), unread):
        assert (found["a"].tolist(), found["b"].tolist()) == ([0.0] * 3, [0, 0])
    full.seek(0)
    assert torch.load(full)["b"].tolist() == [2, 3]


@pytest.mark.parametrize("in_zip", [True, False])
def test_memory_seen_as_two_dtypes_is_not_saved(in_zip: bool) -> None:
    numbers = torch.arange(4.0)
    with pytest.raises(RuntimeError, match="view the same data as different types"):
        torch.save(
            [numbers, numbers.view(torch.int32)],
            io.BytesIO(),
            _use_new_zipfile_serialization=in_zip,
        )


@pytest.mark.parametrize(
    ("location", "told"),
    [
        ("cuda", "Attempting to deserialize object on a CUDA device"),
        (torch.device("cuda:1"), "Attempting to deserialize object on a CUDA device"),
        ({"cpu": "elsewhere"}, r"\(tagged with elsewhere\)"),
        ("elsewhere:0", r"don't know how to restore data location .*\(tagged with elsewhere:0\)"),
    ],
)
def test_devices_that_are_not_there(location, told: str) -> None:
    file = io.BytesIO()
    torch.save(torch.ones(1), file)
    file.seek(0)
    with pytest.raises(RuntimeError, match=told):
        torch.load(file, map_location=location)
    for place in ("cpu", {"cuda:0": "cpu"}, lambda storage, _: storage, None):
        file.seek(0)
        assert torch.load(file, map_location=place).tolist() == [1.0]


FUNCTIONS = {
    "torch.nn.functional linear": torch.nn.functional.linear,
    "torch._C._fft fft_fft": torch.fft.fft,
    "torch._C._linalg linalg_norm": torch.linalg.norm,
    "torch._C._nn log_sigmoid": torch._C._nn.log_sigmoid,
    "torch._C._special special_erf": torch.special.erf,
    "__builtin__ getattr": torch.Tensor.add,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_saved_by_names_of_torchs(name: str) -> None:
    file = io.BytesIO()
    torch.save(FUNCTIONS[name], file)
    data = ArchiveReader(file.getvalue()).read("data.pkl")
    assert next(a for o, a, _ in pickletools.genops(data) if o.name == "GLOBAL") == name
    file.seek(0)
    assert torch.load(file, weights_only=False) is FUNCTIONS[name]
    assert pickle.loads(pickle.dumps(FUNCTIONS[name])) is FUNCTIONS[name]


def test_modules_of_old_name_the_table_of_their_functions() -> None:
    named = b"ctorch.nn.backends.thnn\n_get_thnn_function_backend\n"
    pickled = b"\x80\x02}X\x08\x00\x00\x00_backend" + named + b")Rs."
    whole = b"".join(map(_plain, (_MAGIC, 1001, {"little_endian": True}))) + pickled + _plain([])
    assert torch.load(io.BytesIO(whole), weights_only=False) == {"_backend": None}
    with pytest.raises(pickle.UnpicklingError, match="_get_thnn_function_backend"):
        torch.load(io.BytesIO(whole))


_MAGIC = 0x1950A86A20F9469CFC6C


def _plain(value: object) -> bytes:
    return pickle.dumps(value, 2)


@pytest.mark.filterwarnings("ignore:'torch.load' received a zip file")
def test_archives_for_mobiles_are_scripts_to_load(tmp_path: Path) -> None:
    scripted = torch.jit.script(torch.nn.Linear(2, 2))
    data = scripted._save_to_buffer_for_lite_interpreter()
    path = tmp_path / "linear.ptl"
    path.write_bytes(data)
    for given in (path, io.BytesIO(data)):
        loaded = torch.load(given, weights_only=False)
        assert torch.equal(loaded(torch.ones(2)), scripted(torch.ones(2)))
    with pytest.raises(RuntimeError, match="with TorchScript archives passed to"):
        torch.load(path)
