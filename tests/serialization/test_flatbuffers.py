"""Mobile modules in flatbuffers: read, written, and refused when damaged."""

from __future__ import annotations

import io
import random
import re
from pathlib import Path
from typing import Any

import pytest

import rushlight as torch
from rushlight.__main__ import main
from rushlight.jit.archives import get_flatbuffer_module_info
from rushlight.jit.mobile import _get_model_bytecode_version, _load_for_lite_interpreter
from rushlight.serialization.archives.audit import audit
from rushlight.serialization.files.errors import ArchiveError
from rushlight.serialization.files.identify import identify
from rushlight.serialization.mobile.flatbuffer_save import save_mobile_flatbuffer_to_buffer
from rushlight.serialization.mobile.flatbuffers import FlatBuffer

DATA = Path(__file__).parent / "data"
SAMPLE = (DATA / "mobile.ff").read_bytes()


def again(data: bytes) -> bytes:
    """The module of a flatbuffer written by us."""
    module = torch.jit.load(io.BytesIO(data))
    return save_mobile_flatbuffer_to_buffer(module._c, {"note": b"hi"})


@pytest.fixture(scope="module", params=["of PyTorch", "of our own"])
def data(request: pytest.FixtureRequest) -> bytes:
    return SAMPLE if request.param == "of PyTorch" else again(SAMPLE)


def check(run: Any, count: Any) -> None:
    """The results that PyTorch gives."""
    x = torch.ones(2, 2)
    values, numbers = run(x)
    assert values.tolist() == [[5.5, 8.5], [9.5, 12.5]]
    assert numbers == [0.5, 1.5]
    assert run(x, "b")[1] == [0.5, 1.5, 2.0]
    assert count() == 4
    assert count(5) == 10


def test_the_lite_interpreter_runs_it(data: bytes) -> None:
    extra = {"note": b""}
    module = _load_for_lite_interpreter(io.BytesIO(data), _extra_files=extra)
    check(module, lambda *args: module.run_method("count", *args))
    assert extra == {"note": b"hi"}
    assert module.calls.item() == 2
    assert _get_model_bytecode_version(io.BytesIO(data)) == 9


def test_the_code_in_it_is_loaded_as_from_an_archive(data: bytes) -> None:
    extra = {"note": b""}
    module = torch.jit.load(io.BytesIO(data), _extra_files=extra)
    check(module, module.count)
    assert extra == {"note": b"hi"}
    assert [name for name, _ in module.named_parameters()] == ["part.scale"]
    assert module.words == ["x", "y"]
    assert module.turn == 1 + 2j
    assert module.rows.q_per_channel_axis() == 0
    check(torch.jit.load(io.BytesIO(data), trust="none"), module.count)


def test_what_it_says_of_itself(data: bytes) -> None:
    found = get_flatbuffer_module_info(io.BytesIO(data))
    assert found["bytecode_version"] == 9
    assert {name.rpartition(".")[2] for name in found["function_names"]} == {"forward", "count"}
    assert found["opname_to_num_args"]["aten::add.Tensor"] == 2
    assert found["type_names"] == {"List", "float"}


def test_all_fields_that_pytorch_writes_are_there() -> None:
    found = [FlatBuffer(memoryview(data)).root() for data in (SAMPLE, again(SAMPLE))]
    theirs, own = ({number for number in range(20) if number in root} for root in found)
    assert own == theirs


def test_saved_at_a_path(tmp_path: Path) -> None:
    module = torch.jit.load(DATA / "mobile.ff")
    torch.jit.save_jit_module_to_flatbuffer(module, tmp_path / "a.ff", {"note": "x"})
    extra = {"note": b""}
    made = torch.jit.load(tmp_path / "a.ff", _extra_files=extra)
    assert extra == {"note": b"x"}
    check(torch.jit.jit_module_from_flatbuffer(tmp_path / "a.ff"), made.count)


def test_commands_know_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert identify(SAMPLE).name == "mobile-flatbuffer"
    path = str(DATA / "mobile.ff")
    for command, told in (
        (["show", path], "def forward"),
        (["show", "--bytecode", path], "STOREN"),
        (["show", "--extra", path], "note: 2 bytes"),
        (["what", path], "flatbuffer"),
        (["audit", path], "note"),
        (["convert", path, str(tmp_path / "b.ff")], "b.ff"),
    ):
        assert main(command) == 0
        assert told in capsys.readouterr().out
    assert _get_model_bytecode_version(tmp_path / "b.ff") == 9
    assert audit(SAMPLE, "sample").severity == "note"


def test_damage_is_told(data: bytes) -> None:
    """Cut off, or with bytes changed: it still loads, or an ArchiveError says so."""
    chance = random.Random(1)
    damaged = [data[:length] for length in range(8, len(data), 97)]
    for _ in range(150):
        changed = bytearray(data)
        for _ in range(chance.choice((1, 2, 8))):
            changed[chance.randrange(8, len(changed))] = chance.choice((0, 1, 127, 255))
        damaged.append(bytes(changed))
    refused = 0
    for content in damaged:
        try:
            _load_for_lite_interpreter(io.BytesIO(content))
        except ArchiveError as error:
            refused += error.code in ("damaged-archive", "unknown-op", "version-too-new")
    assert refused > len(range(8, len(data), 97))


def test_vectors_cannot_be_read_more_often_than_they_are_long() -> None:
    """A thousand values that refer to one long vector are not a thousand long lists."""
    from rushlight.serialization.mobile.flatbuffer_writer import (
        Number,
        Packed,
        TableOf,
        VectorOf,
        write_flatbuffer,
    )

    class Once:
        """A part that is put down once and referred to again and again."""

        def __init__(self, part: Any) -> None:
            self.part, self.at = part, -1

        def place(self, buffer: Any) -> int:
            self.at = self.part.place(buffer) if self.at < 0 else self.at
            return self.at

    shared = Once(TableOf({0: Packed(bytes(8 << 12), 1 << 12, 8)}))
    ints = Once(TableOf({0: Number("B", 11), 1: shared}))
    content = write_flatbuffer(
        TableOf({0: Number("I", 9), 4: VectorOf([TableOf({}), *[ints] * 1000])}), b"PTMF"
    )
    with pytest.raises(ArchiveError, match="Malformed Flatbuffer module"):
        _load_for_lite_interpreter(io.BytesIO(content))


def test_a_code_file_whose_name_is_not_unicode() -> None:
    module: Any = torch.jit.script(torch.nn.Linear(2, 2))
    data = module._save_to_buffer_for_lite_interpreter(_use_flatbuffer=True)
    name = min(re.findall(rb"__torch__[\w.]+\0", data), key=len)
    assert data.count(name) == 1
    content = data.replace(name, name[:-2] + b"\xff\0")
    with pytest.raises(ArchiveError, match="which no code file defines"):
        torch.jit.load(io.BytesIO(content), trust="none")
