"""Models written as Python source run as the archives did; nothing is replaced without force."""

from __future__ import annotations

import ast
import os
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.__main__ import main
from rushlight.serialization.files.errors import ArchiveError
from rushlight.serialization.source.text import _in_quotes
from tests.frontend.frontend_support import load_module

DATA = Path(__file__).resolve().parent / "data"
Captured = pytest.CaptureFixture[str]


class Shade(Enum):
    LIGHT = 1
    DARK = 2


class Layer(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.arange(6.0).reshape(2, 3).t())
        self.third = torch.nn.Parameter(torch.ones(3, dtype=torch.bfloat16) / 3)
        self.register_buffer("part", torch.arange(10.0)[2:5])
        self.register_buffer("empty", torch.zeros(0, 3))
        self.register_buffer("number", torch.tensor(5))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.weight + self.third.float().sum() + self.part.sum() + self.number


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList([Layer(), Layer()])
        self.layers[1].weight = self.layers[0].weight
        self.names = {"quote": 'a """ \\ \\" \n \r \x1b', "inf": "\u202e"}
        self.sizes = [float("inf"), -0.0, 1e300]
        self.pair = (1, torch.ones(2))
        self.shade = Shade.DARK
        self.constant = torch.full((2,), 7.0)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, str, float, bool]:
        for layer in self.layers:
            x = layer(x) if x.shape[1] == 3 else x
        text = self.names["quote"] + '"""' + "\x1b\\" + self.names["inf"]
        return x + self.constant[0] + self.pair[1][0], text, self.sizes[0], self.shade == Shade.DARK


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("convert") / "m.pt"
    torch.jit.script(Model()).save(path)
    return str(path)


def convert(*words: str | Path) -> int:
    return main(["convert", *map(str, words)])


@pytest.mark.parametrize("weights", [".safetensors", ".npz", ".pth", "dict"])
def test_written_source_runs(weights: str, archive: str, tmp_path: Path) -> None:
    original = torch.jit.load(archive)
    given: Any = tmp_path / f"m{weights}"
    if weights == ".pth":
        torch.save(original.state_dict(), given)
    elif weights == "dict":
        given = original.state_dict()
    else:
        assert convert(archive, given) == 0
    if weights != ".safetensors":
        assert convert(archive, tmp_path / "m.py") == 0
    source = load_module(tmp_path / "m.py")
    made = source.load() if weights == ".safetensors" else source.load(given)
    x = torch.tensor([[1.0, 2.0, 3.0], [-1.0, 0.0, 0.5]])
    for ours, theirs in zip(made(x), original(x), strict=True):
        assert torch.equal(ours, theirs) if isinstance(ours, torch.Tensor) else ours == theirs
    assert getattr(made.layers, "0").weight is getattr(made.layers, "1").weight
    assert (
        getattr(made.layers, "0").weight.stride() == getattr(original.layers, "0").weight.stride()
    )
    assert [(n, p.dtype, p.requires_grad) for n, p in made.named_parameters()] == [
        (n, p.dtype, p.requires_grad) for n, p in original.named_parameters()
    ]


def test_weights_that_are_no_arrays_are_told(archive: str, tmp_path: Path) -> None:
    assert convert(archive, tmp_path / "m.py") == 0
    source, odd = load_module(tmp_path / "m.py"), tmp_path / "m.npz"
    odd.write_bytes(b"PK no zip")
    with pytest.raises(ArchiveError, match="holds no arrays"):
        source.load(odd)
    with odd.open("wb") as file:
        np.save(file, np.ones(2))
    with pytest.raises(RuntimeError, match="holds no weights by name"):
        source.load(odd)
    with pytest.raises(FileNotFoundError):
        source.load(tmp_path / "none.npz")


def test_source_without_weights(archive: str, tmp_path: Path) -> None:
    assert convert(archive, tmp_path / "m.py") == 0
    source = load_module(tmp_path / "m.py")
    made = source.load()
    assert getattr(made.layers, "0").weight.abs().sum().item() == 0
    made.load_state_dict(torch.jit.load(archive).state_dict())
    assert getattr(made.layers, "0").weight.sum().item() == 15
    state = dict(torch.jit.load(archive).state_dict())
    del state["layers.0.third"]
    with pytest.raises(ArchiveError, match=r"have no `layers\.0\.third`"):
        source.load(state)
    with pytest.raises(ArchiveError, match="another shape"):
        source.load({**state, "layers.0.third": torch.ones(7)})


class Doubled(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2


def test_source_keeps_the_trust_it_was_written_with(tmp_path: Path) -> None:
    torch.jit.script(Doubled()).save(tmp_path / "m.pt")
    for trust in ("none", "full"):
        assert convert("--trust", trust, tmp_path / "m.pt", tmp_path / f"{trust}.py") == 0
        source = load_module(tmp_path / f"{trust}.py")
        (record,) = source.CODE
        assert "torch.mul(x, 2)" in source.CODE[record]
        source.CODE[record] = source.CODE[record].replace("mul(x, 2)", "mul(x, 3)")
        for given in ([], ["none"], ["full"]):
            made = source.load(None, *given)
            assert made(torch.ones(1)).item() == 3
            is_bounded = made._c.cls.method("forward").guard is not None
            assert is_bounded == ([trust, *given][-1] == "none")


@pytest.mark.parametrize("path", sorted(DATA.glob("*.pt")), ids=lambda path: path.stem)
def test_archives_of_torch_become_source(path: Path, tmp_path: Path, capsys: Captured) -> None:
    """What cannot be loaded or written is told before anything is written."""
    status = convert(path, tmp_path / "m.py")
    if status:
        assert os.listdir(tmp_path) == []
        assert capsys.readouterr().err
        return
    made, original = load_module(tmp_path / "m.py").load(), torch.jit.load(path)
    assert made.state_dict().keys() == original.state_dict().keys()
    assert [name for name, _ in made.named_modules()] == [n for n, _ in original.named_modules()]


# -- files that are there


def test_nothing_is_replaced_without_force(archive: str, tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "m.py").write_text("the user's own")
    assert convert(archive, tmp_path / "m.safetensors") == 2
    assert "m.py: there is such a file; --force replaces it" in capsys.readouterr().err
    assert os.listdir(tmp_path) == ["m.py"]
    assert (tmp_path / "m.py").read_text() == "the user's own"
    assert convert(archive, tmp_path / "m.safetensors", "--force") == 0
    before = {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)}
    for suffix in (".pt", ".ptl", ".ff", ".npz"):
        (tmp_path / f"m{suffix}").write_bytes(b"old")
        assert convert(archive, tmp_path / f"m{suffix}") == 2
        assert (tmp_path / f"m{suffix}").read_bytes() == b"old"
    assert convert(archive, tmp_path / "m.py") == 2
    assert {name: (tmp_path / name).read_bytes() for name in before} == before
    output = tmp_path / "out.npz"
    output.write_bytes(b"old")
    words = ["run", archive, "[[1., 2., 3.]]", "--output", str(output)]
    assert main(words) == 2
    assert output.read_bytes() == b"old"
    assert main([*words, "--force"]) == 0
    assert np.load(output)["0"].shape == (1, 2)


def test_what_a_format_lacks_is_told_by_name(tmp_path: Path, capsys: Captured) -> None:
    class Complex(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("wide", torch.ones(2, dtype=torch.complex128))
            self.register_buffer("file", torch.ones(1))

        def forward(self) -> torch.Tensor:
            return self.wide

    torch.jit.script(Complex()).save(tmp_path / "m.pt")
    assert convert(tmp_path / "m.pt", tmp_path / "n.safetensors") == 2
    assert "`wide` is of dtype torch.complex128" in capsys.readouterr().err
    assert os.listdir(tmp_path) == ["m.pt"]
    assert convert(tmp_path / "m.pt", tmp_path / "n.npz") == 0
    assert np.load(tmp_path / "n.npz")["file"].tolist() == [1.0]


def test_containers_have_constants(archive: str, capsys: Captured) -> None:
    assert main(["show", "--constants", archive]) == 0
    assert main(["diff", archive, archive]) == 0
    assert capsys.readouterr().out.endswith("no differences\n")


@pytest.mark.parametrize(
    "text", ["two\nlines", "a\ttab", "\x00", "\r\n", "\u2028", "é", 'an end"', '"""', "back\\n"]
)
def test_any_text_can_stand_between_quotes(text: str) -> None:
    quoted = _in_quotes(text)
    assert ast.literal_eval(f'"""\\\n{quoted}"""') == text
    assert quoted.count("\n") == text.count("\n")
