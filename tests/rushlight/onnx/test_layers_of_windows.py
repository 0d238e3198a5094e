"""Layers whose ONNX forms are put together: windows, uneven pools, losses, encoder layers, bags."""

from __future__ import annotations

import io
from typing import Any

import pytest

import rushlight as torch
from rushlight import nn

pytest.importorskip("onnx")

LINE = torch.linspace(-2, 3, 48).sin().reshape(2, 3, 8)
IMAGE = torch.linspace(-2, 3, 210).sin().reshape(1, 5, 6, 7)
ROWS = torch.linspace(-1, 2, 12).sin().reshape(3, 4)
WORDS = torch.tensor([1, 2, 0, 6, 3, 2])
LABELS = torch.tensor([1, 0, 3])
LAYERS: list[tuple[Any, tuple[Any, ...]]] = [
    *(
        (nn.EmbeddingBag(7, 3, mode=mode, padding_idx=2), (WORDS, torch.tensor([0, 2, 2])))
        for mode in ("sum", "mean", "max")
    ),
    (nn.EmbeddingBag(7, 3, include_last_offset=True), (WORDS, torch.tensor([0, 2, 6]))),
    (nn.EmbeddingBag(7, 3), (WORDS.reshape(2, 3),)),
    (nn.AdaptiveAvgPool1d(3), (LINE,)),
    (nn.AdaptiveAvgPool2d((4, 3)), (IMAGE,)),
    (nn.AdaptiveMaxPool2d((4, 3), return_indices=True), (IMAGE,)),
    (nn.AdaptiveMaxPool1d(5), (LINE[0],)),
    (nn.AvgPool2d(2, padding=1, divisor_override=3), (IMAGE,)),
    *(
        (pool, (IMAGE,))
        for stride in (None, 1, (2, 1))
        for up in (False, True)
        for pool in (
            nn.MaxPool2d(3, stride, 1, ceil_mode=up),
            nn.AvgPool2d(3, stride, 1, up, count_include_pad=False),
        )
    ),
    (nn.MaxPool2d(2, 1, dilation=2), (IMAGE,)),
    (nn.MaxPool1d(3, 2), (LINE,)),
    (nn.LPPool2d(2, 3, 2), (IMAGE,)),
    (nn.Unfold((2, 3), dilation=(1, 2), padding=1, stride=2), (IMAGE,)),
    (nn.Fold((4, 5), (2, 2)), (torch.linspace(0, 1, 96).reshape(1, 8, 12),)),
    *(
        (
            nn.FractionalMaxPool2d(
                (2, 3), size, return_indices=True, _random_samples=torch.rand(2, 5, 2)
            ),
            (IMAGE,),
        )
        for size in ((3, 4), (1, 5))
    ),
    (nn.FractionalMaxPool3d(2, (2, 3, 4), _random_samples=torch.rand(1, 1, 3)), (IMAGE,)),
    (nn.CrossEntropyLoss(label_smoothing=0.1), (ROWS, LABELS)),
    (nn.CrossEntropyLoss(label_smoothing=0.1), (ROWS, torch.softmax(ROWS, 1))),
    (nn.TripletMarginLoss(0.5, swap=True), (ROWS, ROWS + 0.1, -ROWS)),
    (nn.CosineEmbeddingLoss(0.1, reduction="none"), (ROWS, ROWS.flip(0), torch.tensor([1, -1, 1]))),
    (nn.TransformerEncoderLayer(4, 2, 8, batch_first=True).eval(), (ROWS.reshape(1, 3, 4),)),
    (
        nn.TransformerEncoderLayer(
            4, 2, 8, activation="gelu", norm_first=True, batch_first=True
        ).eval(),
        (ROWS.reshape(1, 3, 4),),
    ),
]


class Unpooled(nn.Module):
    """A pool, and back."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y, places = nn.functional.max_pool2d_with_indices(x, 2)
        return nn.functional.max_unpool2d(y, places, 2)


@pytest.mark.parametrize(("layer", "given"), [*LAYERS, (Unpooled(), (IMAGE[..., :6],))])
def test_layers_go_there_and_back(layer: Any, given: tuple[Any, ...]) -> None:
    program, file = torch.jit.script(layer), io.BytesIO()
    torch.onnx.export(program, given, file, dynamo=False)
    file.seek(0)
    found, wanted = torch.onnx.load(file)(*given), program(*given)
    for one, other in zip(_all(found), _all(wanted), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


def _all(value: Any) -> list[Any]:
    return list(value) if isinstance(value, tuple) else [value]
