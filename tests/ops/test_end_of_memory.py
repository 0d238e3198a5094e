"""Kernels read nothing behind their inputs, which end here where no memory is."""

import ctypes
import itertools
import mmap
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops.kernels import family

ROOT = Path(__file__).parents[2]
SIZES = itertools.product((1, 9), (3, 17, 60, 130), (1, 3), (1, 2, 20), (0, 1))


def _at_the_end(array: np.ndarray) -> torch.Tensor:
    """The tensor in memory whose following page may not be touched."""
    page = mmap.PAGESIZE
    length = -(-array.nbytes // page) * page
    memory = np.frombuffer(mmap.mmap(-1, length + page), np.uint8)
    protect = ctypes.CDLL(None).mprotect
    protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    assert protect(memory.ctypes.data + length, page, 0) == 0
    view = memory[length - array.nbytes : length].view(array.dtype).reshape(array.shape)
    view[...] = array
    return torch.from_numpy(view)


def convolve_all() -> None:
    draw = np.random.default_rng(0)
    for height, width, kernel, channels, pad in SIZES:
        if min(height, width) + 2 * pad < kernel:
            continue
        x = draw.random((1, 2, height, width), np.float32)
        weight = draw.random((channels, 2, kernel, kernel), np.float32)
        arrays = (x, weight, draw.random(channels, np.float32))
        made = torch.nn.functional.conv2d(*map(_at_the_end, arrays), padding=pad)
        edges = ((0, 0), (0, 0), (pad, pad), (pad, pad))
        windows = np.lib.stride_tricks.sliding_window_view(
            np.pad(x, edges), (kernel, kernel), (2, 3)
        )
        wanted = np.einsum("nchwij,ocij->nohw", windows, weight) + arrays[2][:, None, None]
        np.testing.assert_allclose(made.numpy(), wanted, 1e-4, 1e-4)


def _numbers(*shape: int) -> torch.Tensor:
    return _at_the_end(np.random.default_rng(0).random(shape, np.float32) + np.float32(0.1))


def compute_all() -> None:
    F = torch.nn.functional
    for count, size in itertools.product((1, 3, 15, 16, 17, 33), (1, 2, 3, 5, 8)):
        matrices = _at_the_end(
            _numbers(count, size, size).numpy() + np.eye(size, dtype="f4") * size
        )
        torch.linalg.solve(matrices, _numbers(count, size, 2))
        torch.linalg.inv(matrices), torch.linalg.det(matrices)
        torch.linalg.cholesky_ex(_at_the_end((matrices @ matrices.mT).numpy()))
    for size in (1, 7, 8, 9, 31, 33, 100, 1025):
        row, rows, columns = _numbers(size), _numbers(3, size), _numbers(size, 3)
        for each in (row, rows, columns):
            each.exp(), each.softmax(0), each.softmax(-1), each.sum(0), each.mean(-1), each.amax(0)
            each.cumsum(-1), each.var(-1, correction=0), each.sort(0), each.topk(1, 0), each + each
            F.gelu(each), torch.lgamma(each), F.layer_norm(each, each.shape[-1:])
            F.log_softmax(each, 0), each.median(), each.t().contiguous()
        torch.matmul(rows, columns), torch.matmul(columns, rows), torch.cdist(rows, rows)
        F.cross_entropy(columns, torch.zeros(size, dtype=torch.int64))
    for height, width in ((3, 3), (5, 7), (8, 8), (9, 33)):
        image, weight = _numbers(2, 4, height, width), _numbers(4, 4, 3, 3)
        F.conv2d(image, _numbers(4, 1, 3, 3), groups=4), F.conv2d(image, _numbers(4, 4, 1, 1))
        F.conv_transpose2d(image, weight, stride=2), F.pad(image, (1, 1, 1, 1), "reflect")
        F.max_pool2d(image, 2), F.avg_pool2d(image, 2), F.adaptive_avg_pool2d(image, 2)
        F.interpolate(image, scale_factor=2.0, mode="bilinear")
        F.grid_sample(image, _numbers(2, 3, 5, 2), align_corners=False)
        F.grid_sample(image, _numbers(2, 3, 5, 2), "bicubic", align_corners=False)
        F.batch_norm(image, None, None, training=True), F.group_norm(image, 2)
        F.batch_norm(image, _numbers(4), _numbers(4), _numbers(4), _numbers(4))
        F.nll_loss(image, torch.zeros(2, height, width, dtype=torch.int64))


@pytest.mark.parametrize("what", ["convolve_all", "compute_all"])
@pytest.mark.skipif(sys.platform != "linux", reason="asks the kernel for a page")
@pytest.mark.skipif(family("convolutions.convolutions") is None, reason="no native code")
def test_kernels_stay_inside(what: str) -> None:
    command = f"from {Path(__file__).stem} import {what}; {what}()"
    paths = os.pathsep.join([str(ROOT), str(Path(__file__).parent)])
    run = subprocess.run(
        [sys.executable, "-c", command],
        env={**os.environ, "PYTHONPATH": paths},
        check=False,
        timeout=300,
    )
    assert run.returncode == 0
