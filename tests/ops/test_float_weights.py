"""Layers over weights of floats that archives for phones hold packed."""

from __future__ import annotations

import io
import pickle
from copy import deepcopy
from typing import Any

import pytest

import rushlight as torch
from rushlight.ops.memory.errors import OperatorError
from rushlight.ops.quantized_tensors.packed_weights import PACKED_CLASSES

F = torch.nn.functional
OPS = torch.ops.prepacked
X = torch.linspace(-2, 2, 2 * 4 * 6 * 6).reshape(2, 4, 6, 6)
WEIGHT = torch.linspace(-1, 1, 6 * 2 * 9).reshape(6, 2, 3, 3)
TURNED = torch.linspace(-1, 1, 4 * 3 * 4).reshape(4, 3, 2, 2)
BIAS = torch.linspace(-0.5, 0.5, 6)


def test_linear() -> None:
    x, w = X.reshape(-1, 6), WEIGHT.reshape(18, 6)
    packed = OPS.linear_clamp_prepack(w, None)
    assert torch.equal(OPS.linear_clamp_run(x, packed), F.linear(x, w))
    held = OPS.linear_clamp_prepack(w, torch.ones(18), 0, 1.5)
    assert torch.equal(OPS.linear_clamp_run(x, held), F.linear(x, w, torch.ones(18)).clamp(0, 1.5))


def test_convolutions() -> None:
    packed = OPS.conv2d_clamp_prepack(WEIGHT, BIAS, [2, 1], [1, 0], [1, 2], 2, None, 0.25)
    wanted = F.conv2d(X, WEIGHT, BIAS, [2, 1], [1, 0], [1, 2], 2).clamp(max=0.25)
    assert torch.equal(OPS.conv2d_clamp_run(X, packed), wanted)
    assert torch.equal(OPS.conv2d_clamp_run(X[1], packed), wanted[1])
    turned = OPS.conv2d_transpose_clamp_prepack(
        *(TURNED, BIAS, [2, 2], [0, 1], [1, 1], [1, 1], 2, 0)
    )
    wanted = F.conv_transpose2d(X, TURNED, BIAS, [2, 2], [0, 1], [1, 1], 2, [1, 1]).clamp(0)
    assert torch.equal(OPS.conv2d_transpose_clamp_run(X, turned), wanted)


def test_what_they_do_not_take() -> None:
    with pytest.raises(RuntimeError, match="weights of float32, of 2 dimensions"):
        OPS.linear_clamp_prepack(BIAS)
    with pytest.raises(RuntimeError, match="bias of float32, of size"):
        OPS.linear_clamp_prepack(TURNED.reshape(8, 6), BIAS)
    with pytest.raises(RuntimeError, match="of 4 dimensions"):
        OPS.conv2d_clamp_prepack(BIAS, None, [1, 1], [0, 0], [1, 1], 1)
    packed = OPS.linear_clamp_prepack(TURNED.reshape(8, 6))
    with pytest.raises(RuntimeError, match="take tensors of float32"):
        OPS.linear_clamp_run(torch.ones(2, 6, dtype=torch.float64), packed)


def layer(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    packed = torch.ops.prepacked.conv2d_clamp_prepack(w, b, [1, 1], [1, 1], [1, 1], 2, 0.0)
    return torch.ops.prepacked.conv2d_clamp_run(x, packed)


def test_in_scripts_and_archives() -> None:
    wanted = layer(X, WEIGHT, BIAS)
    script = torch.jit.script(layer)
    assert torch.equal(script(X, WEIGHT, BIAS), wanted)
    again = torch.jit.load(io.BytesIO(script.save_to_buffer()))
    for _ in range(3):
        assert torch.equal(again(X, WEIGHT, BIAS), wanted)


def all_of_them() -> list[Any]:
    return [
        OPS.linear_clamp_prepack(TURNED.reshape(8, 6), None, 0, 6),
        OPS.conv2d_clamp_prepack(WEIGHT, BIAS, [1, 1], [0, 0], [1, 1], 2, 0.5),
        OPS.conv2d_transpose_clamp_prepack(TURNED, None, [1, 1], [0, 0], [0, 0], [1, 1], 1),
    ]


@pytest.mark.parametrize("number", range(3))
def test_states(number: int) -> None:
    packed = all_of_them()[number]
    make = PACKED_CLASSES[packed.class_name]
    for again in (make(packed.state), deepcopy(packed), pickle.loads(pickle.dumps(packed))):
        assert again.class_name == packed.class_name
        assert str(again.state) == str(packed.state)
    for bad in (packed.state[:-1], (*packed.state[:-1], "0"), (None, *packed.state[1:]), None):
        with pytest.raises(OperatorError, match="the state of a"):
            make(bad)
