"""Defaults that are no plain constants: of functions in archives, and in texts."""

from __future__ import annotations

import io
import zipfile
from enum import Enum
from typing import Any, NamedTuple

import pytest

import rushlight as torch

CPU = torch.device("cpu")


class Pair(NamedTuple):
    count: int
    share: float


class Colour(Enum):
    RED = 1


def on_device(device: torch.device = CPU) -> torch.Tensor:
    return torch.ones(2, device=device)


def on_device_of_pair(chosen: tuple[torch.device, int] = (torch.device("cpu"), 2)) -> torch.Tensor:
    return torch.ones(chosen[1], device=chosen[0])


def of_complex(z: complex = complex(-1, float("inf"))) -> complex:
    return z


PAIR = Pair(3, 0.5)


def of_pair(pair: Pair = PAIR) -> float:
    return pair.count * pair.share


def of_colour(colour: Colour = Colour.RED) -> int:
    return colour.value


def in_archive(module: Any) -> Any:
    sink = io.BytesIO()
    torch.jit.save(torch.jit.script(module), sink)
    sink.seek(0)
    return torch.jit.load(sink)


@pytest.mark.parametrize("function", [on_device, on_device_of_pair, of_complex, of_pair, of_colour])
def test_functions_keep_their_defaults_in_archives(function: Any) -> None:
    class Calls(torch.nn.Module):
        def forward(self):  # type: ignore[no-untyped-def]
            return function()

    module = Calls()
    assert str(in_archive(module)()) == str(module())


TEXTS = {
    "int = 2 * 3": 6,
    'float = float("inf")': float("inf"),
    'str = "a" + "b"': "ab",
    "bool = not True": False,
    "int = 1 if True else 2": 1,
    "int = len([1, 2])": 2,
    "complex = complex(1, 2)": 1 + 2j,
    "List[int] = [1, 2]": [1, 2],
    'Dict[str, int] = {"a": 1}': {"a": 1},
    "List[int] = torch.jit.annotate(List[int], [])": [],
    'Device = torch.device("cpu")': CPU,
    'Optional[Device] = torch.device("cpu")': CPU,
}


@pytest.mark.parametrize("text", TEXTS)
def test_defaults_of_texts_are_computed(text: str) -> None:
    type = text.partition(" = ")[0]
    unit = torch.jit.CompilationUnit(f"def f(x: {text}) -> {type}:\n    return x\n")
    assert unit.f() == TEXTS[text]


def test_default_that_is_a_tensor() -> None:
    unit = torch.jit.CompilationUnit("def f(x: Tensor = torch.ones([2])):\n    return x + 1\n")
    assert unit.f().tolist() == [2.0, 2.0]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("int = y", "undefined value y"),
        ("int = 1.0", "default value of type int"),
        ("int = 1 // 0", "default value of type int"),
        ("int = len('a') + 0.5", "int"),
    ],
)
def test_what_is_no_default(text: str, told: str) -> None:
    with pytest.raises(RuntimeError, match=told):
        torch.jit.CompilationUnit(f"def f(x: {text}):\n    return x\n")


class Adding(torch.nn.Module):
    def forward(self, x: torch.Tensor, n: int = 3) -> torch.Tensor:
        return x + n


def untrusted_with_default(body: str) -> Any:
    """The module of an untrusted file whose code has a function's result as its default."""
    sink = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(torch.jit.script(Adding()).save_to_buffer())) as read,
        zipfile.ZipFile(sink, "w") as written,
    ):
        for each in read.namelist():
            content = read.read(each)
            if each.endswith(".py"):
                text = content.decode()
                assert "n: int=3" in text
                called = (
                    "__torch__." + each.partition("__torch__/")[2][:-3].replace("/", ".") + ".g()"
                )
                text = text.replace("n: int=3", f"n: int={called}")
                content = f"{text}\ndef g() -> int:\n{body}".encode()
            written.writestr(each, content)
    sink.seek(0)
    return torch.jit.load(sink, trust="none")


ENDLESS = "  k = 0\n  while True:\n    k = torch.add(k, 1)\n  return k\n"
LARGE = "  return torch.numel(torch.zeros([1000000000000]))\n"


@pytest.mark.parametrize("body", [ENDLESS, LARGE], ids=["endless", "large"])
def test_defaults_of_untrusted_files_are_bounded(body: str) -> None:
    with pytest.raises(RuntimeError, match='default value of type int on parameter "n"'):
        untrusted_with_default(body)


def test_untrusted_files_have_computed_defaults() -> None:
    module = untrusted_with_default("  return torch.add(2, 5)\n")
    assert module(torch.ones(1)).tolist() == [8.0]
