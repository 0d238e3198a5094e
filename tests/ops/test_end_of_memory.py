"""Convolutions read nothing behind their inputs, which end here where no memory is."""

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


@pytest.mark.skipif(sys.platform != "linux", reason="asks the kernel for a page")
@pytest.mark.skipif(family("convolutions") is None, reason="no native code")
def test_convolutions_stay_inside() -> None:
    command = f"from {Path(__file__).stem} import convolve_all; convolve_all()"
    paths = os.pathsep.join([str(ROOT), str(Path(__file__).parent)])
    run = subprocess.run(
        [sys.executable, "-c", command],
        env={**os.environ, "PYTHONPATH": paths},
        check=False,
        timeout=300,
    )
    assert run.returncode == 0
