"""Operators that are written as programs of others, and views of constants."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight import Tensor, nn
from rushlight.onnx.spelled import operators
from rushlight.ops.table.table import TABLE

pytest.importorskip("onnx.reference")

from tests.rushlight.onnx.test_export import run

PAGE = Path(__file__).resolve().parents[3] / "docs" / "onnx.md"
ROWS = torch.linspace(-1, 2, 12).sin().reshape(3, 4)
SCORES = torch.linspace(-3, 4, 40).sin().reshape(5, 2, 4).log_softmax(2)
TEXTS = torch.tensor([[1, 1, 0], [2, 3, 2]])
CASES: list[tuple[str, tuple[Any, ...]]] = [
    ("torch.ctc_loss(x, y, [5, 4], [2, 3])", (SCORES, TEXTS)),
    ("torch.ctc_loss(x, y, [5, 2], [2, 3], 0, 0, True)", (SCORES, TEXTS)),
    ("torch.cumprod(x, 1)", (ROWS,)),
    ("torch.cummax(x, 1)", (ROWS,)),
    ("torch.diag_embed(x, -1, 0, 2)", (ROWS,)),
    ("torch.kron(x, y)", (ROWS, ROWS[0])),
    ("torch.tensordot(x, y, dims=([1, 0], [0, 1]))", (ROWS, ROWS.t())),
    ("torch.nanmean(x, [1])", (torch.tensor([[1.0, float("nan")], [2.0, 1.0]]),)),
    ("torch.bincount(x, y, 6)", (torch.tensor([1, 3, 1, 0]), ROWS[0])),
    ("torch.rot90(x, -1, [0, 1])", (ROWS,)),
    ("torch.searchsorted(x, y, right=True)", (ROWS.sort(1)[0], ROWS)),
    ("torch.affine_grid_generator(x, [1, 1, 2, 3, 4], False)", (ROWS.unsqueeze(0),)),
]


def _same(program: Any, given: tuple[Any, ...]) -> None:
    wanted = program(*given)
    for found, one in zip(
        run(program, given), wanted if isinstance(wanted, tuple) else (wanted,), strict=True
    ):
        np.testing.assert_allclose(found, one.detach().numpy(), 1e-4, 1e-5)


@pytest.mark.parametrize(("text", "given"), CASES, ids=[text for text, _ in CASES])
def test_programs_compute_what_operators_do(text: str, given: tuple[Any, ...]) -> None:
    letters = ", ".join("xy"[: len(given)])
    _same(torch.jit.CompilationUnit(f"def f({letters}):\n    return {text}\n").f, given)


class Packed(nn.Module):
    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True)
        rows, lengths = nn.utils.rnn.pad_packed_sequence(self.layer(packed)[0], batch_first=True)
        return rows, lengths


@pytest.mark.parametrize(
    "layer",
    [lambda: nn.LSTM(4, 3, 2, bidirectional=True), lambda: nn.GRU(4, 3), lambda: nn.RNN(4, 3)],
)
def test_packed_sequences(layer: Any) -> None:
    torch.manual_seed(0)
    given = torch.stack([ROWS, ROWS * 2, -ROWS]), torch.tensor([3, 2, 1])
    _same(torch.jit.script(Packed(layer())), given)


class Projecting(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.LSTM(4, 3, proj_size=2, bidirectional=True, batch_first=True)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        y, (h, c) = self.layer(x)
        return y, h, c


def test_projections() -> None:
    torch.manual_seed(0)
    _same(torch.jit.script(Projecting()), (torch.stack([ROWS, -ROWS]),))


@torch.jit.script
def into_constants(x: Tensor) -> tuple[Tensor, Tensor]:
    wide = torch.full([3, 6], 0.5)
    wide[:, 2:] = x
    first = torch.zeros(2, 3).split(1)[0]
    flat = torch.zeros_like(x).view(-1)
    flat[1:3] += 1
    return wide, flat + first.sum()


def test_views_of_constants_write_into_them() -> None:
    _same(into_constants, (ROWS,))


@torch.jit.script
def by_lists(x: Tensor, y: Tensor) -> Tensor:
    if x.shape[1:] != y.shape[1:]:
        y = y[:, : x.size(1)]
    for i in range(1, x.size(0), 2):
        y = y + x[i]
    return y


def test_parts_of_sizes_are_compared_and_counted() -> None:
    axes = {"x": {0: "n", 1: "k"}, "y": {1: "m"}}
    for x, y in ((ROWS, ROWS), (torch.cat([ROWS, ROWS])[:, :2], ROWS)):
        (found,) = run(by_lists, (ROWS, ROWS), (x, y), dynamic_axes=axes)
        np.testing.assert_allclose(found, by_lists(x, y).numpy(), 1e-5)


def test_the_page_lists_the_programs() -> None:
    text = PAGE.read_text(encoding="utf-8")
    _, _, listed = text.partition("loops included:\n")
    words = listed.partition("\n\n")[0].replace("`", "").replace(",", "").split()
    assert words == sorted(operators())
    assert {f"aten::{name}" for name in words} <= set(TABLE.names())
