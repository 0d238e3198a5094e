"""Results do not depend on how many threads share the work."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Iterator
from threading import get_ident
from typing import Any

import pytest

import rushlight as torch
from rushlight import Tensor
from rushlight.nn import functional as F
from rushlight.ops.kernels.code.calls.run import CREW, run

X = torch.manual_seed(3) and torch.randn(64, 96, 56)
IMAGES = torch.randn(2, 24, 70, 66)
PLACES = torch.randint(0, 64, (300, 50))

CASES: dict[str, Callable[[], Any]] = {
    "tanh": lambda: torch.tanh(X),
    "gelu": lambda: F.gelu(X),
    "softmax": lambda: torch.softmax(X, -1),
    "log_softmax": lambda: torch.log_softmax(X, 1),
    "logsumexp": lambda: torch.logsumexp(X, -1),
    "layer_norm": lambda: F.layer_norm(X, (96, 56)),
    "batch_norm": lambda: F.batch_norm(IMAGES, None, None, training=True),
    "group_norm": lambda: F.group_norm(IMAGES, 4),
    "sum": lambda: (X.sum(), X.sum(0), X.sum(1), X.sum(-1), X.mean((0, 2))),
    "var": lambda: (X.var(), X.var(0), X.std(-1)),
    "norm": lambda: (X.norm(), torch.linalg.vector_norm(X, dim=-1)),
    "cumsum": lambda: (X.cumsum(0), X.cumsum(1), X.cumsum(-1)),
    "sort": lambda: (*X.sort(-1), *X.topk(7, 1)),
    "gather": lambda: X[:, 0].gather(1, PLACES[:64] % 56),
    "scatter_add": lambda: torch.zeros(64, 56).scatter_add(
        0, PLACES[:, :50], X[:5].reshape(-1, 56)[:300, :50]
    ),
    "index_add": lambda: torch.zeros(64, 96).index_add(0, PLACES[:, 0], torch.ones(300, 96) / 3),
    "embedding_bag": lambda: F.embedding_bag(PLACES, X[:, 0], mode="mean"),
    "conv2d": lambda: F.conv2d(IMAGES, IMAGES[:, :24, :3, :3].repeat(20, 1, 1, 1)),
    "conv2d strided": lambda: F.conv2d(
        IMAGES, IMAGES[:, :12, :3, :5].repeat(6, 1, 1, 1), stride=2, groups=2
    ),
    "conv2d small": lambda: F.conv2d(
        IMAGES[:, :, :9, :9], IMAGES[:, :, :3, :3].repeat(32, 1, 1, 1)
    ),
    "depthwise": lambda: F.conv2d(IMAGES, X[:24, :1, :9].reshape(24, 1, 3, 3), groups=24),
    "max_pool": lambda: F.max_pool2d(IMAGES, 3, 2),
    "avg_pool": lambda: F.avg_pool2d(IMAGES, 3, 2),
    "interpolate": lambda: F.interpolate(IMAGES, scale_factor=1.7, mode="bilinear"),
    "bicubic": lambda: F.interpolate(IMAGES, scale_factor=0.7, mode="bicubic"),
}


@pytest.fixture
def threads() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("name", CASES)
def test_results_are_the_same(name: str, threads: None) -> None:
    found = []
    for count in (1, 2, 3, 7):
        torch.set_num_threads(count)
        result = CASES[name]()
        parts = (result,) if isinstance(result, Tensor) else result
        found.append([part.numpy().tobytes() for part in parts])
    assert found[0] == found[1] == found[2] == found[3]


Ranges = list[tuple[int, int, int]]


def _ranges(count: int) -> Ranges:
    """Who did which ranges of shared work: a thread, the first number, the one behind the last."""
    found: Ranges = []

    def note(_: object, start: int, stop: int) -> None:
        found.append((get_ident(), start, stop))
        time.sleep(0.002)  # so that others have time to come

    kernel = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)(note)
    run(ctypes.cast(kernel, ctypes.c_void_p).value, count, 1)
    return sorted(found, key=lambda each: each[1])


def _bounds(found: Ranges) -> list[int]:
    return [0, *(stop for _, _, stop in found)]


@pytest.mark.skipif(CREW is None, reason="threads of native code")
def test_who_asks_does_the_first_part(threads: None) -> None:
    torch.set_num_threads(2)
    _ranges(100)  # which makes the threads
    found = _ranges(100)
    assert [start for _, start, _ in found] == _bounds(found)[:-1]
    assert _bounds(found)[-1] == 100
    mine = [who == get_ident() for who, _, _ in found]
    assert mine == sorted(mine, reverse=True)
    assert any(mine)


@pytest.mark.skipif(CREW is None, reason="threads of native code")
def test_work_for_more_threads_than_pieces_can_be_told_apart(threads: None) -> None:
    torch.set_num_threads(2)
    _ranges(2)
    assert CREW is not None
    for many in (1 << 20, 1 << 62, (1 << 63) - 1):
        CREW._state.threads = many
        found = _ranges(30)
        assert [start for _, start, _ in found] == _bounds(found)[:-1]
        assert _bounds(found)[-1] == 30
