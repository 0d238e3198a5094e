"""What a file is, from its bytes."""

from __future__ import annotations

import gzip
import io
import pickle
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rushlight.serialization.files.container import ArchiveReader
from rushlight.serialization.files.errors import ArchiveError
from rushlight.serialization.files.identify import identify

DATA = Path(__file__).parent / "data"


def zipped(*names: str, **contents: bytes) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as file:
        for name in names:
            file.writestr(name, contents.get(Path(name).stem, b""))
    return sink.getvalue()


def numpy_file(save: object) -> bytes:
    sink = io.BytesIO()
    save(sink, np.ones(3))  # type: ignore[operator]
    return sink.getvalue()


def tar() -> bytes:
    sink = io.BytesIO()
    with tarfile.open(fileobj=sink, mode="w", format=tarfile.USTAR_FORMAT) as file:
        file.addfile(tarfile.TarInfo("sys_info"))
    return sink.getvalue()


SAMPLE = (DATA / "sample.pt").read_bytes()
TENSORS = b"\x80\x02ccollections\nOrderedDict\nq\x00)Rctorch._utils\n_rebuild_tensor_v2\n"
FILES = {
    "torchscript": SAMPLE,
    "mobile": zipped("m/data.pkl", "m/bytecode.pkl", "m/version"),
    "state-dict": zipped("m/data.pkl", "m/data/0", "m/version", data=TENSORS),
    "pickled-module": zipped("m/data.pkl", data=TENSORS + b"ctorch.nn.modules.linear\nLinear\n"),
    "exported-program": zipped("e/archive_format", "e/models/model.json"),
    "torch-package": zipped("p/.data/extern_modules", "p/a/b.pkl"),
    "torch-package-scripted": zipped("p/.data/extern_modules", "p/.data/ts_code/0/data.pkl"),
    "legacy-torchscript": zipped("m/model.json", "m/code/m.py"),
    "npz": numpy_file(np.savez),
    "torchserve": zipped("model.pt", "handler.py", "MAR-INF/MANIFEST.json"),
    "zip": zipped("readme.txt"),
    "truncated-zip": SAMPLE[:1000],
    "legacy-pickle": pickle.dumps(0x1950A86A20F9469CFC6C, 2) + b"\x80\x02M\xe9\x03.",
    "legacy-tar": tar(),
    "pickle": pickle.dumps({"a": 1}, 4),
    "npy": numpy_file(np.save),
    "safetensors": (13).to_bytes(8, "little") + b'{"a":{"b":1}}',
    "onnx": b"\x08\x08\x12\x07pytorch\x1a\x052.1.0:\x10",
    "git-lfs": b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
    "html": b"\n<!DOCTYPE html><html><title>404</title>",
    "xml": b'<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>',
    "json": b'{"error": "not found"}',
    "gzip": gzip.compress(b"x"),
    "hdf5": b"\x89HDF\r\n\x1a\n\0\0",
    "empty": b"",
    "text": b"Not Found\n",
    "unknown": bytes(range(256)),
}


@pytest.mark.parametrize("name", FILES)
def test_kinds(name: str, tmp_path: Path) -> None:
    assert identify(FILES[name]).name == name
    path = tmp_path / "file"
    path.write_bytes(FILES[name])
    assert identify(path).name == name


@pytest.mark.parametrize("name", [n for n, data in FILES.items() if not data.startswith(b"PK")])
def test_the_reader_says_what_a_foreign_file_is(name: str) -> None:
    with pytest.raises(ArchiveError) as caught:
        ArchiveReader(FILES[name])
    assert caught.value.code == "not-an-archive"
    assert identify(FILES[name]).description in str(caught.value)
    assert "PytorchStreamReader failed reading zip archive" in str(caught.value)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=60), st.sampled_from(sorted(FILES)), st.integers(0, 80))
def test_any_bytes_have_a_kind(data: bytes, name: str, place: int) -> None:
    mixed = FILES[name][:place] + data + FILES[name][place + len(data) :]
    assert identify(mixed).description
