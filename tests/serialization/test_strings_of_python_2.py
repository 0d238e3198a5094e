"""Strings that Python 2 wrote into files of `torch.save`, decoded as the caller says."""

from __future__ import annotations

import io
import pickle
from typing import Any

import pytest

import rushlight as torch

_TEXT = "żąąóżąż"


def _file(text: bytes) -> io.BytesIO:
    """A file of PyTorch 0.4 on Python 2: a list of a string, a tensor and a number."""
    string = (
        b"U" + bytes([len(text)]) if len(text) < 256 else b"T" + len(text).to_bytes(4, "little")
    )
    head = [
        pickle.dumps(each, 2) for each in (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True})
    ]
    value = (
        b"\x80\x02](" + string + text + b"ctorch._utils\n_rebuild_tensor_v2\n((U\x07storage"
        b"ctorch\nFloatStorage\nU\x0212U\x03cpu\x8a\x01\x01NtQK\x00K\x01\x85K\x01\x85\x89NtRK\x02e."
    )
    keys = b"\x80\x02]U\x0212a."
    data = (1).to_bytes(8, "little") + b"\x00\x00\x80\x3f"
    return io.BytesIO(b"".join(head) + value + keys + data)


@pytest.mark.parametrize("weights_only", [True, False])
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, _TEXT),
        ({"encoding": "bytes"}, _TEXT.encode()),
        ({"encoding": "latin1"}, _TEXT.encode().decode("latin1")),
    ],
)
def test_decoding(weights_only: bool, options: dict[str, Any], expected: object) -> None:
    text, tensor, number = torch.load(_file(_TEXT.encode()), weights_only=weights_only, **options)
    assert (text, tensor.tolist(), number) == (expected, [1.0], 2)


def test_long_strings() -> None:
    assert torch.load(_file(b"a" * 300))[0] == "a" * 300


def test_what_cannot_be_decoded() -> None:
    with pytest.raises(RuntimeError, match="'ascii' codec can't decode byte 0xc5 in position 0"):
        torch.load(_file(_TEXT.encode()), encoding="ascii")
    with pytest.raises(LookupError, match="unknown encoding: nope"):
        torch.load(_file(b""), encoding="nope")
