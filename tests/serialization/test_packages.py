"""Archives of `torch.package` with scripted modules in them."""

from __future__ import annotations

import io

import pytest

import rushlight as torch
from rushlight.serialization.files.container import ArchiveReader
from rushlight.serialization.files.container_writer import ContainerWriter
from rushlight.serialization.files.errors import ArchiveError

CODE = f"code/__torch__/{__name__.replace('.', '/')}.py"


class Layer(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.tensor([1.0, 2.0]))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.weight


def package(modules: int = 1, without: str = "") -> bytes:
    """The records as packages have them, made of those of an archive."""
    data = torch.jit.script(Layer()).save_to_buffer()
    sink = io.BytesIO()
    writer = ContainerWriter(sink, "package")
    with ArchiveReader(data) as archive:
        pickled = archive.read("data.pkl").replace(b"X\x01\0\0\x000q", b"X\x09\0\0\x000.storageq")
        records = {
            ".data/0.storage": archive.read("data/0"),
            f".data/ts_code/{CODE}": archive.read(CODE),
            ".data/extern_modules": b"torch\n",
            ".data/version": b"6\n",
            "scripted/m.pkl": b"cos\nsystem\n(X\x04\0\0\0truetR.",
        }
        for number in range(modules):
            records[f".data/ts_code/{number}/data.pkl"] = pickled
            records[f".data/ts_code/{number}/constants.pkl"] = archive.read("constants.pkl")
    for record, content in records.items():
        if record != without:
            writer.add(record, content)
    writer.finish()
    return sink.getvalue()


@pytest.mark.parametrize("trust", ["full", "none"])
def test_the_module_of_a_package(trust: str) -> None:
    loaded = torch.jit.load(io.BytesIO(package()), trust=trust)
    assert loaded(torch.tensor([3.0, 4.0])).tolist() == [3.0, 8.0]
    again = torch.jit.load(io.BytesIO(loaded.save_to_buffer()))
    assert again.weight.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (package(0), "holds no scripted module"),
        (package(2), "holds 2 scripted modules"),
        (package(without=".data/0.storage"), r"no record `\.data/0\.storage`"),
        (package(without=".data/ts_code/0/constants.pkl"), "no record"),
        (package(without=f".data/ts_code/{CODE}"), "no code file defines"),
        (package(without=".data/extern_modules"), "not a TorchScript archive"),
    ],
)
def test_other_packages_are_refused(data: bytes, message: str) -> None:
    with pytest.raises(ArchiveError, match=message):
        torch.jit.load(io.BytesIO(data))
