"""`rushlight warm-up`: compile native code before somebody waits for it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from types import ModuleType
from typing import Final

from ..ops.kernels import KERNELS_VARIABLE, family
from ..ops.kernels.cache_folder import CACHE_VARIABLE, cache_folder
from .failure import BAD_INPUT
from .json_lines import tell_data
from .progress import progress
from .speech import complain, tell_lines

__all__ = ["execute"]


def execute(arguments: argparse.Namespace) -> int:
    """Run the command."""
    if family("rows.rows") is None:
        complain(f"there is no native code here: llvmlite is missing, or {KERNELS_VARIABLE} is set")
        return BAD_INPUT
    folder = cache_folder()
    if folder is None:
        complain(f"there is no folder to keep kernels in; {CACHE_VARIABLE} may name one")
        return BAD_INPUT
    before = set(folder.iterdir())
    for call in progress(_CALLS, "compiling"):
        call()
    now = set(folder.iterdir())
    if arguments.json:
        tell_data({"folder": str(folder), "files": len(now), "new": len(now - before)})
        return 0
    tell_lines([f"{folder}: {len(now)} files, {len(now - before)} of them new"])
    return 0


def _torch() -> ModuleType:
    """The library itself, which commands that need none of it do not wait for."""
    import rushlight

    return rushlight


def _functions() -> None:
    torch = _torch()
    functions = torch.nn.functional
    x = torch.ones(96, 96)
    for name in ("gelu", "silu", "mish", "softmax", "log_softmax", "leaky_relu", "relu", "elu"):
        options = {"dim": -1} if name.endswith("softmax") else {}
        getattr(functions, name)(x, **options)
    for name in ("exp", "log", "tanh", "sigmoid", "erf", "sqrt", "abs", "sin", "cos"):
        getattr(x, name)()
    for name in ("exp", "expm1", "log", "log1p"):  # few numbers have kernels of their own
        getattr(x[0], name)()
    functions.layer_norm(x, (96,), x[0], x[1])
    functions.rms_norm(x, (96,), x[0])
    functions.group_norm(x[None], 4, x[0], x[1])
    _ = x + x, x * x, x / x, x - 1, x * 2 + x, x > 0
    torch.where(x > 0, x, x)
    x.clamp(0, 1)
    x.masked_fill(x > 0, 0.0)


def _along_dimensions() -> None:
    torch = _torch()
    x = torch.ones(96, 96)
    index = torch.zeros(96, 96, dtype=torch.int64)
    for dim in (0, 1):
        for name in ("sum", "mean", "amax", "amin", "prod", "var", "logsumexp", "cumsum", "cummax"):
            getattr(x, name)(dim)
        x.gather(dim, index)
        x.scatter(dim, index, x)
        x.scatter_add(dim, index, x)
        x.index_select(dim, index[0])
        x.index_add(dim, index[0], x)
    _ = x.sum(), x.prod(), x.norm(), x.std()
    torch.nn.functional.embedding(index, x)
    torch.nn.functional.embedding_bag(index, x)
    torch.nn.functional.embedding_bag(index, x, mode="sum")


def _products() -> None:
    torch = _torch()
    functions = torch.nn.functional
    x = torch.ones(4, 128, 64)
    _ = x @ x.transpose(1, 2), x[0] @ x[0].T
    functions.linear(x, x[0], x[0, :, 0])
    attend = functions.scaled_dot_product_attention
    mask = torch.ones(128, 128) > 0
    for rows, shown in ((x, (None, mask, mask[:1])), (x[:, :1], (None, mask[:1]))):
        for each in shown:
            attend(rows, x, x, each)
    for is_causal in (False, True):
        learned = x.clone().requires_grad_()
        attend(learned, learned, learned, is_causal=is_causal).sum().backward()


def _images() -> None:
    torch = _torch()
    functions = torch.nn.functional
    x = torch.ones(1, 32, 28, 28)
    for size, groups in ((1, 1), (3, 1), (3, 32)):
        weight = torch.ones(32, 32 // groups, size, size)
        for stride in (1, 2):
            functions.conv2d(x, weight, x[0, :, 0, 0], stride, size // 2, 1, groups)
    channel = x[0, :, 0, 0]
    functions.batch_norm(x, channel, channel, channel, channel)
    functions.max_pool2d(x, 2)
    functions.avg_pool2d(x, 2)
    functions.interpolate(x, scale_factor=2.0, mode="bilinear")


_CALLS: Final[tuple[Callable[[], None], ...]] = (
    _functions,
    _along_dimensions,
    _products,
    _images,
)
"""What uses the kernels: of enough elements that native code is asked for."""
