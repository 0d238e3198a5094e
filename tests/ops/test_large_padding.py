"""Tensors padded by their own elements: by a kernel as by index."""

from __future__ import annotations

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops.shapes import pad


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
@pytest.mark.parametrize("widths", [(1, 2), (0, 2, 1, 0), (2, 1, 0, 0, 1, 1)])
@pytest.mark.parametrize("channels_last", [False, True])
def test_edges_are_as_by_index(
    mode: str, widths: tuple[int, ...], channels_last: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    shape = (2, 3, *(4, 5, 6)[: max(len(widths) // 2, 1)])
    x = torch.from_numpy(np.random.default_rng(1).standard_normal(shape).astype(np.float32))
    if channels_last and x.dim() == 4:
        x = x.to(memory_format=torch.channels_last)
    made = torch.nn.functional.pad(x, widths, mode)
    monkeypatch.setattr(pad, "family", lambda name: None)
    want = torch.nn.functional.pad(x.double(), widths, mode).float()
    assert made.equal(want)
    assert made.stride() == want.stride()


def test_one_of_several_dimensions_may_become_empty() -> None:
    made = torch.nn.functional.pad(torch.ones(2, 3, 5), (-1, 3, -1, -2), "replicate")
    assert made.shape == (2, 0, 7)
    with pytest.raises(RuntimeError, match=r"input \(W: 3\) is too small. Calculated output W: 0"):
        torch.nn.functional.pad(torch.ones(2, 3), (-1, -2), "replicate")


@pytest.mark.parametrize("shape", [(2,), (2, 3, 4, 5), (1, 1, 1, 1, 1, 1)])
@pytest.mark.parametrize("mode", ["circular", "reflect", "replicate"])
def test_ranks_that_two_widths_do_not_pad(shape: tuple[int, ...], mode: str) -> None:
    told = f"Padding size 2 is not supported for {len(shape)}D input tensor.\nSupported"
    with pytest.raises(NotImplementedError, match=told):
        torch.nn.functional.pad(torch.ones(shape), [1, 1], mode)
