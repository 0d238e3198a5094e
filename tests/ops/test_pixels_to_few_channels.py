"""Convolutions whose windows are single numbers, of which few channels are made."""

from __future__ import annotations

import numpy as np
import pytest

import rushlight as torch
import rushlight.nn.functional as F
from rushlight.ops.kernels import threads


@pytest.mark.parametrize("made", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("shape", [(2, 3, 9, 7), (1, 40, 14, 14), (1, 16, 64, 64), (3, 300, 21)])
def test_sums_and_bits(made: int, shape: tuple[int, ...]) -> None:
    x, weight = torch.randn(shape), torch.randn(made, shape[1], *(1,) * (len(shape) - 2))
    bias, found = torch.randn(made), set[bytes]()
    call = F.conv2d if len(shape) == 4 else F.conv1d
    wanted = np.einsum("nc...,oc->no...", x.double().numpy(), weight.double().flatten(1).numpy())
    wanted = wanted + bias.double().numpy().reshape(-1, *(1,) * (len(shape) - 2))
    before = threads.get_threads()
    for count in (1, 2, 3):
        threads.set_threads(count)
        result = call(x, weight, bias).numpy()
        np.testing.assert_allclose(result, wanted, 0, 1e-5 * shape[1] ** 0.5 * 4)
        found.add(result.tobytes())
    threads.set_threads(before)
    assert len(found) == 1
