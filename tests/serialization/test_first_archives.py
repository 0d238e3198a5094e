"""Archives as PyTorch 1.3 to 2.0 wrote them: forms of values, names and meanings that are gone.

They are made here, by the descriptions of the forms; texts of code are torch's.
"""

from __future__ import annotations

import io
import zipfile
from typing import Any

import pytest

import rushlight as torch
from rushlight.serialization.files.errors import ArchiveError
from rushlight.serialization.pickles.nodes import TensorNode
from rushlight.serialization.pickles.reader import read_pickle


def text(word: str) -> bytes:
    return b"X" + len(word).to_bytes(4, "little") + word.encode()


def tensor_pickle(maker: str, kind: str, view: bytes, more: bytes) -> bytes:
    """A pickle of a tensor of four elements."""
    storage = b"(" + text("storage") + f"ctorch\n{kind}Storage\n".encode() + text("0") + text("cpu")
    parts = storage + b"K\x04" + view + b"tQ" + b"K\x00K\x04\x85K\x01\x85" + more
    hooks = b"ccollections\nOrderedDict\n)R"
    return b"\x80\x02" + f"ctorch._utils\n{maker}\n(".encode() + parts + b"\x89" + hooks + b"tR."


def test_storages_said_that_they_are_no_part_of_others() -> None:
    plain = tensor_pickle("_rebuild_tensor_v2", "Float", b"", b"")
    first = read_pickle(tensor_pickle("_rebuild_tensor_v2", "Float", b"N", b""), "data.pkl")
    assert isinstance(first, TensorNode)
    assert str(first) == str(read_pickle(plain, "data.pkl"))
    part = b"(" + text("1") + b"K\x00K\x04t"
    with pytest.raises(ArchiveError, match="storage in an unknown way"):
        read_pickle(tensor_pickle("_rebuild_tensor_v2", "Float", part, b""), "data.pkl")


def test_quantized_tensors_said_scale_and_zero_point_alone() -> None:
    scale = b"G?\xd0\x00\x00\x00\x00\x00\x00"
    made = read_pickle(
        tensor_pickle("_rebuild_qtensor", "QInt8", b"N", scale + b"K\x03"), "data.pkl"
    )
    assert isinstance(made, TensorNode)
    assert made.quantizer is not None
    assert (made.quantizer.scheme, made.quantizer.scale, made.quantizer.zero_point) == (
        *("per_tensor_affine", 0.25),
        3,
    )


# --------------------------------------------------------------------------- code


def loaded(module: Any, version: int = 10, without: str = "", **texts: str) -> Any:
    """A scripted module whose archive says another file version, without a record, with texts
    changed."""
    sink = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(torch.jit.script(module).save_to_buffer())) as made,
        zipfile.ZipFile(sink, "w") as changed,
    ):
        for name in made.namelist():
            data = made.read(name)
            if name.endswith("/version"):
                data = f"{version}\n".encode()
            for old, new in texts.items() if name.endswith(".py") else ():
                data = data.replace(old.encode(), new.encode())
            if not without or not name.endswith(without):
                changed.writestr(name, data)
    return torch.jit.load(io.BytesIO(sink.getvalue()))


class Sizes(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> list[int]:
        return x.size()


def test_size_was_called_shape() -> None:
    made = loaded(Sizes(), **{"torch.size(x)": "ops.prim.shape(x)"})
    assert "torch.size(x)" in made.code
    assert made(torch.ones(2, 3)) == [2, 3]


class Quotients(torch.nn.Module):
    def forward(self, x: torch.Tensor, n: int) -> torch.Tensor:
        return (x / n) / x


QUOTIENTS = """def forward(self,
    x: Tensor,
    n: int) -> Tensor:
  if torch.is_floating_point(x):
    _0 = True
  else:
    _1 = isinstance(n, float)
    _0 = _1
  if _0:
    _2 = torch.div(x, n)
  else:
    other = unchecked_cast(Union[complex, int], n)
    _3 = torch.div(x, other, rounding_mode="trunc")
    _2 = _3
  if torch.is_floating_point(_2):
    _4 = True
  else:
    _4 = torch.is_floating_point(x)
  if _4:
    _5 = torch.div(_2, x)
  else:
    _6 = torch.div(_2, x, rounding_mode="trunc")
    _5 = _6
  return _5
"""


def test_quotients_of_whole_numbers_were_cut() -> None:
    made = loaded(Quotients(), version=3)
    assert made.code == QUOTIENTS
    assert made(torch.tensor([7, -7]), 2).tolist() == [0, 0]
    assert loaded(Quotients(), version=4)(torch.tensor([7, -7]), 2).tolist() == [0.5, 0.5]


class Gelu(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        made = torch.nn.functional.gelu(x)
        return made + 1


def test_gelu_had_no_kinds() -> None:
    before, after = (loaded(Gelu(), version=version) for version in (9, 10))
    assert before.code.endswith("  return torch.add(torch.gelu(x), 1)\n")
    assert after.code.endswith("  made = torch.gelu(x)\n  return torch.add(made, 1)\n")
    x = torch.linspace(-1, 1, 5)
    assert torch.equal(before(x), after(x))


class Spectrum(torch.nn.Module):
    def __init__(self, is_complex: bool | None) -> None:
        super().__init__()
        self.is_complex = is_complex

    def forward(self, x: torch.Tensor, whole: bool | None = None) -> torch.Tensor:
        if whole is None:
            whole = self.is_complex
        return torch.stft(x, 4, return_complex=whole)


def test_spectra_were_real_where_nothing_was_said() -> None:
    x = torch.linspace(0, 1, 9)
    wanted = torch.stft(x, 4, return_complex=True)
    made = loaded(Spectrum(None), without="byteorder")
    assert torch.equal(made(x), torch.view_as_real(wanted))
    assert torch.equal(made(x, True), wanted)
    z = torch.complex(x, x)
    one_sided = torch.stft(z, 4, onesided=False, return_complex=True)
    assert torch.equal(made(z), one_sided)
    again = torch.jit.load(io.BytesIO(made.save_to_buffer()))
    assert torch.equal(again(x), torch.view_as_real(wanted))
    with pytest.raises(RuntimeError, match="stft requires the return_complex parameter"):
        loaded(Spectrum(None))(x)
