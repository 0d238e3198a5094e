"""How long an operator will take is estimated from sizes: a count for each kind of cost."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rushlight.interpreter.bounds.guard import resident
from rushlight.interpreter.bounds.work import work_of
from rushlight.ops.quantized_tensors.packed_weights import FloatConvolution, PackedLinear
from rushlight.ops.table.table import TABLE


def f(*sizes: int) -> Any:
    return np.zeros(sizes, np.float32)


def i(*sizes: int) -> Any:
    return np.zeros(sizes, np.int64)


def packed_linear(*sizes: int) -> PackedLinear:
    return PackedLinear(f(*sizes), None)


def packed_filters(stride: list[int]) -> FloatConvolution:
    return FloatConvolution(FILTERS, None, stride, [1, 1], None, [1, 1], 1, None, None)


IMAGE, FILTERS = f(2, 3, 8, 8), f(4, 3, 3, 3)


@pytest.mark.parametrize(
    ("operator", "values", "steps"),
    [
        ("relu", [f(2, 3)], 0),
        ("mm", [f(2, 3), f(3, 5)], 0.2 * 2 * 3 * 5),
        ("mm", [i(2, 3), i(3, 5)], 2.0 * 2 * 3 * 5),
        ("matmul", [f(4, 1, 2, 3), f(7, 3, 5)], 0.2 * 4 * 7 * 2 * 3 * 5),
        ("matmul", [f(7, 2, 3), f(4, 1, 3, 5)], 0.2 * 4 * 7 * 2 * 3 * 5),
        ("matmul", [f(3), f(3, 5)], 0.2 * 3 * 5),
        ("matmul", [f(2, 3), f(3)], 0.2 * 2 * 3),
        ("matmul", [f(), f(3)], 0),
        ("matmul", [f(3), f()], 0),
        ("linear", [f(2, 3), f(5, 3), None], 0.2 * 2 * 3 * 5),
        ("addmm", [f(2, 5), f(2, 3), f(3, 5), 1, 1], 0.2 * 2 * 3 * 5),
        ("inner", [f(2, 3), f(4, 3)], 0.2 * 2 * 4 * 3),
        ("tensordot", [f(2, 3, 4), f(3, 4, 5), [1, -1], [0, 1]], 0.2 * 2 * 12 * 5),
        ("tensordot", [f(2, 3), f(3, 4), [], []], 0.2 * 6 * 12),
        ("linalg_multi_dot", [[f(2, 3), f(3, 5)]], 0.2 * 5 * (6 + 15)),
        ("einsum", ["ij, jk -> ik", [f(2, 3), f(3, 4)], None], 0.5 * 2 * 3 * 4),
        ("einsum", ["ij,jk", [f(2, 3), f(3, 4)], None], 0.5 * 2 * 3 * 4),
        (
            "einsum",
            ["ij,jk,kl->il", [f(2, 3), f(3, 4), f(4, 5)], None],
            0.5 * (2 * 3 * 4 + 2 * 4 * 5),
        ),
        ("bilinear", [f(2, 3), f(2, 4), f(5, 3, 4), None], 2 * 60),
        ("conv2d", [IMAGE, FILTERS, None, [2, 2], [1, 1], [1, 1], 1], 0.2 * 2 * 4 * 4 * 108),
        ("conv2d", [IMAGE[0], FILTERS, None, [2, 2], [1, 1], [1, 1], 1], 0.2 * 4 * 4 * 108),
        ("conv2d", [IMAGE, FILTERS, None, [2], [0], [1], 1], 0.2 * 2 * 3 * 3 * 108),
        ("conv2d", [IMAGE, f(4, 3, 9, 9), None, 1, 0, 1, 1], 0.2 * 2 * 972),
        ("quantized::linear", [f(2, 3), packed_linear(5, 3), 1.0, 0], 0.2 * 2 * 3 * 5),
        ("prepacked::conv2d_clamp_run", [IMAGE, packed_filters([2, 2])], 0.2 * 2 * 4 * 4 * 108),
        ("conv1d", [f(3, 8), f(4, 3, 3), None, [1], [0], [1], 1], 0.2 * 6 * 36),
        ("conv_transpose2d", [IMAGE, f(3, 4, 3, 3), None], 0.2 * 2 * 8 * 8 * 108),
        ("convolution", [IMAGE, FILTERS, None, [2], [1], [1], False], 0.2 * 2 * 4 * 4 * 108),
        ("convolution", [IMAGE, FILTERS, None, [2], [1], [1], True], 0.2 * 2 * 8 * 8 * 108),
        (
            "convolution_backward",
            [f(2, 4, 4, 4), IMAGE, FILTERS],
            2 * 0.2 * 2 * 4 * 4 * 108,
        ),
        ("svd", [f(2, 5, 3), True, True], 3 * 30 * 3),
        ("inverse", [f(3, 3)], 3 * 9 * 3),
        ("cdist", [f(4, 3), f(5, 3)], 2 * 4 * 3 * 5),
        ("pdist", [f(4, 3)], 2 * 4 * 3 * 4),
        ("cdist", [f(3), f(5, 3)], 0),
        ("scaled_dot_product_attention", [f(2, 3, 8), f(2, 5, 8), f(2, 5, 8)], 48 * 5),
        (
            "_transformer_encoder_layer_fwd",
            [f(2, 3, 8), 8, 2, f(24, 8)],
            2 * 3 * 3 * (0.5 * 8 + 4 * 2) + 0.2 * 192 * 6,
        ),
        ("max_pool2d", [f(1, 1, 6, 6), [3, 3], [1, 1]], 4 * 36 * 9),
        ("max_pool2d", [f(1, 1, 6, 6), [3, 3], []], 4 * 36),
        ("max_pool2d", [f(1, 1, 6, 6), [3, 3], [2, 5]], 4 * 36 * 1.5),
        ("rnn_tanh", [f(2, 3, 4), f(1, 3, 5), [f(5, 4), f(5, 5)]], 6 * (15 + 20 + 25)),
        ("rnn_tanh_cell", [f(3, 4), f(3, 5), f(5, 4), f(5, 5)], 3 * (15 + 20 + 25)),
        ("_ctc_loss", [f(5, 2, 7), i(2, 3)], 20 * 5 * 2 * 3),
        ("_ctc_loss", [f(5, 2, 7), i()], 20 * 5 * 2),
    ],
)
def test_steps_besides_reading(operator: str, values: list[Any], steps: float) -> None:
    arrays = [each for value in values for each in (value if type(value) is list else [value])]
    read = 4.0 * sum(each.size for each in arrays if isinstance(each, np.ndarray))
    entry = TABLE.operators(operator if "::" in operator else f"aten::{operator}")[0]
    assert work_of(entry)(values) == pytest.approx(read + steps)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells")
def test_the_memory_of_the_process_is_counted_in_bytes() -> None:
    told = Path("/proc/self/status").read_text(encoding="utf-8").partition("VmRSS:")[2].split()
    assert told[1] == "kB"
    assert 0.5 < resident() / (int(told[0]) * 1024) < 2
