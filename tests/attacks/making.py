"""Archives made by hand, for attacks: any code, any pickle, any record."""

from __future__ import annotations

import io
import struct
import zipfile
from typing import Any

__all__ = ["MODULE", "archive", "big_text", "integer", "load", "pickled", "text", "zipped"]

MODULE = b"\x80\x02c__torch__\nM\n)\x81}(X\x08\x00\x00\x00training\x89ub."
"""The pickle of a module `M` whose only slot is `training`."""


def zipped(records: dict[str, bytes], top: str = "a") -> bytes:
    """A zip file of stored records below one folder."""
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as file:
        for name, content in records.items():
            file.writestr(f"{top}/{name}" if top else name, content)
    return sink.getvalue()


def archive(
    body: str = "return x",
    before: str = "",
    data: bytes = MODULE,
    constants: bytes = b"\x80\x02).",
    slots: str = "  training : bool\n",
    methods: str = "",
    more: dict[str, bytes] | None = None,
) -> bytes:
    """An archive of a module whose `forward(x: Tensor) -> Tensor` has this body."""
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    code = (
        f"{before}class M(Module):\n{slots}"
        f"  def forward(self: __torch__.M, x: Tensor) -> Tensor:\n{lines}{methods}"
    )
    records = {
        "version": b"3\n",
        "constants.pkl": constants,
        "data.pkl": data,
        "code/__torch__.py": code.encode("utf-8", "surrogatepass"),
    }
    return zipped({**records, **(more or {})})


def load(data: bytes, **more: Any) -> Any:
    """Load without trust."""
    import rushlight as torch

    return torch.jit.load(io.BytesIO(data), **{"trust": "none", **more})


def text(value: str) -> bytes:
    """A string in a pickle."""
    data = value.encode("utf-8", "surrogatepass")
    return b"X" + struct.pack("<I", len(data)) + data


def integer(value: int) -> bytes:
    """An integer in a pickle."""
    size = (value.bit_length() + 8) // 8
    return b"\x8a" + bytes([size]) + value.to_bytes(size, "little", signed=True)


def pickled(body: bytes) -> bytes:
    """A pickle of protocol 2 around its opcodes."""
    return b"\x80\x02" + body + b"."


def big_text(length: int) -> bytes:
    """A string of that many letters in a pickle."""
    return b"X" + struct.pack("<I", length) + b"a" * length
