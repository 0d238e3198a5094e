"""What an archive's pickle puts into slots is what the code of its classes declares."""

from __future__ import annotations

import io
import zipfile

import pytest

import rushlight as torch

INTERFACE = """class I(ModuleInterface):
  def go(self, x: Tensor) -> Tensor:
    pass
class A(Module):
  q : int
  def go(self: __torch__.A, x: int) -> int:
    return x
"""
RESTORED = """class A(Module):
  q : int
  def __getstate__(self: __torch__.A) -> int:
    return 1
  def __setstate__(self: __torch__.A, s: int) -> NoneType:
    {}
    return None
"""
OBJECT = b"c__torch__\nA\n)\x81}X\x01\0\0\0qK\x01sb"
ONE, WORD, LIST, MIXED = b"K\x01", b"X\x01\0\0\0a", b"](K\x01K\x02e", b"](K\x01X\x01\0\0\0ae"
RESTORE = b"c__torch__\nA\n)\x81%sb"

WRONG = [
    ("int", "", WORD),
    ("int", "", b"N"),
    ("int", "", b"\x88"),
    ("float", "", ONE),
    ("str", "", ONE),
    ("Tensor", "", LIST),
    ("List[int]", "", MIXED),
    ("List[str]", "", LIST),
    ("Dict[str, int]", "", LIST),
    ("Dict[str, int]", "", b"}(K\x01K\x02u"),
    ("Dict[str, int]", "", b"}(" + WORD + b"\x88u"),
    ("Dict[int, Optional[str]]", "", b"}(K\x01NK\x02K\x03u"),
    ("Tuple[int, int]", "", ONE + WORD + b"\x86"),
    ("Optional[int]", "", WORD),
    ("__torch__.A", "class A(Module):\n  q : int\n", b"c__torch__\nM\n)\x81}X\x01\0\0\0aNsb"),
    ("__torch__.I", INTERFACE, OBJECT),
    ("__torch__.A", RESTORED.format("pass"), RESTORE % ONE),
    ("__torch__.A", RESTORED.format("self.q = s"), RESTORE % WORD),
]
RIGHT = [
    ("Dict[str, int]", "", b"}(" + WORD + b"K\x02u"),
    ("Dict[int, Optional[str]]", "", b"}(K\x01NK\x02" + WORD + b"u"),
    ("List[int]", "", b"]"),
    ("Optional[int]", "", b"N"),
    ("Tuple[()]", "", b")"),
    ("Any", "", MIXED),
    ("__torch__.A", RESTORED.format("self.q = s"), RESTORE % ONE),
]


def opened(type: str, before: str, value: bytes) -> object:
    """A module with a slot `a` of a type, which its archive fills with a value."""
    code = f"{before}class M(Module):\n  a : {type}\n"
    records = {
        "version": b"3\n",
        "constants.pkl": b"\x80\x02).",
        "data.pkl": b"\x80\x02c__torch__\nM\n)\x81}X\x01\0\0\0a" + value + b"sb.",
        "code/__torch__.py": code.encode(),
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name, content in records.items():
            file.writestr(f"a/{name}", content)
    buffer.seek(0)
    return torch.jit.load(buffer)


@pytest.mark.parametrize(("type", "before", "value"), WRONG)
def test_slots_hold_what_is_declared(type: str, before: str, value: bytes) -> None:
    with pytest.raises(RuntimeError) as caught:
        opened(type, before, value)
    assert [d.code for d in caught.value.diagnostics] == ["damaged-archive"]  # type: ignore[attr-defined]


@pytest.mark.parametrize(("type", "before", "value"), RIGHT)
def test_what_is_declared_is_taken(type: str, before: str, value: bytes) -> None:
    assert isinstance(opened(type, before, value), torch.jit.ScriptModule)
