"""Operators that look elements up, order, count or move them, in sizes, dtypes and layouts.

A program's name is `SIZE DTYPE LAYOUT expression`, as `1e4 float32 flat torch.nonzero(m)`.
"""

import hashlib
import importlib.util
import sys
import tempfile
from pathlib import Path

import rushlight as torch

SIZES = {"1e2": 10, "1e4": 100, "1e6": 1000}
"""Rows and columns of `x`, by the number of its elements."""

ANY = [
    "torch.nonzero(x)",
    "torch.where(m)[0]",
    "torch.masked_select(x, m)",
    "x[m]",
    "x[r]",
    "x.masked_fill(m, 1)",
    "x.masked_scatter(m, y)",
    "torch.index_select(x, 0, i)",
    "torch.index_select(x, 1, i)",
    "torch.gather(x, 0, p)",
    "torch.gather(x, 1, p)",
    "torch.take(x, l)",
    "torch.take_along_dim(x, p, 1)",
    "x[i]",
    "x[:, i]",
    "x[i, j]",
    "x[i, :, None]",
    "x[1, r]",
    "x.reshape(-1)[l]",
    "x.clone().index_put_([i, j], y[0])",
    "torch.index_put(x, [m], z)",
    "torch.scatter(x, 1, p, y)",
    "torch.scatter(x, 0, p, 1)",
    "x.index_copy(0, i, y)",
    "x.index_fill(0, i, 1)",
    "torch.where(m, x, y)",
    "torch.cat([x, y])",
    "torch.cat([x, y], 1)",
    "torch.stack([x, y])",
    "torch.stack([x, y], -1)",
    "torch.split(x, 3)[0]",
    "torch.chunk(x, 3, 1)[0]",
    "torch.repeat_interleave(x, 2, 0)",
    "x.repeat(2, 2)",
    "torch.tril(x)",
    "torch.triu(x, 1)",
    "torch.diag(x[0])",
    "torch.unique(x)",
    "torch.unique_consecutive(x)",
    "torch.sort(x)[0]",
    "torch.argsort(x, 0)",
    "torch.any(x, 1)",
    "torch.all(x)",
    "torch.cumsum(x, 1)",
    "torch.count_nonzero(x)",
    "F.pad(x, [1, 1])",
]
"""Expressions for all dtypes."""

NUMBERS = [
    "torch.index_put(x, [i, j], y[0], True)",
    "torch.scatter_add(x, 1, p, y)",
    "torch.scatter_add(x, 0, p, y)",
    "x.scatter_reduce(1, p, y, 'amax')",
    "x.scatter_reduce(0, p, y, 'sum', include_self=False)",
    "torch.index_add(x, 0, i, y)",
    "torch.index_add(x, 1, i, y)",
    "torch.topk(x, 3)[0]",
    "torch.topk(x.reshape(-1), 10)[1]",
    "torch.kthvalue(x, 3)[0]",
    "torch.median(x)",
    "torch.median(x, 1)[0]",
    "torch.argmax(x)",
    "torch.argmax(x, 0)",
    "torch.max(x, 1)[1]",
    "torch.min(x, 0)[0]",
    "torch.cumprod(x, 0)",
    "torch.cummax(x, 1)[0]",
    "torch.diff(x)",
    "torch.searchsorted(s, x)",
    "torch.bucketize(x, s)",
    "torch.isin(x, s)",
]
"""Expressions for numbers."""

FLOATS = [
    "torch.logcumsumexp(x, 1)",
    "torch.histc(x, 20)",
    "torch.multinomial(w, 5)",
    "torch.bincount(l, z)",
    "F.interpolate(c, scale_factor=2.0)",
    "F.interpolate(c, scale_factor=2.0, mode='bilinear')",
    "F.grid_sample(c, g, align_corners=False)",
    "F.pad(c, [1, 1, 1, 1], 'reflect')",
    "F.pad(c, [1, 1, 1, 1], 'replicate')",
    "F.pad(c, [1, 1, 1, 1], 'circular')",
    "F.unfold(c, 2)",
    "F.fold(F.unfold(c, 2), (c.size(2), c.size(3)), 2)",
    "F.pixel_shuffle(h, 2)",
    "F.embedding(i, x)",
    "F.embedding_bag(q, x)",
    "torch.cdist(x, y)",
    "torch.einsum('ij,kj->ik', x, y)",
    "torch.quantile(x, 0.5, 1)",
    "torch.nan_to_num(x)",
    "keep(b, w)",
]
"""Expressions for floats."""

WHOLE = [
    "torch.bincount(l)",
    "torch.bincount(l, minlength=20)",
    "F.one_hot(l % 10, 10)",
    "F.one_hot(i)",
]
"""Expressions that take no numbers of `x`."""

_TEXT = """
from typing import List
import rushlight as torch
F = torch.nn.functional

def keep(b, w):
    order, kept = w.argsort(descending=True), []
    while order.numel() > 0 and len(kept) < 20:
        first = order[0]
        kept.append(first)
        low = torch.maximum(b[first, :2], b[order, :2])
        high = torch.minimum(b[first, 2:], b[order, 2:])
        both = (high - low).clamp(min=0).prod(1)
        order = order[both < 0.3]
    return torch.stack(kept)

def call({names}):
    return {expression}
"""


def tensors(size, dtype, layout):
    """The inputs by name."""
    torch.manual_seed(3)
    n = SIZES[size]
    made = {name: torch.randn(n, n) * 10 for name in "xy"}
    made = {
        name: each > 5 if dtype == torch.bool else each.to(dtype) for name, each in made.items()
    }
    made["m"], made["p"] = torch.randn(n, n) > 0.7, torch.randint(0, n, (n, n))
    if layout == "turned":
        made = {name: each.t() for name, each in made.items()}
    made["r"], made["z"] = torch.randn(n) > 0.7, made["x"][0, 0]
    made["i"], made["j"] = torch.randint(0, n, (n,)), torch.randint(0, n, (n,))
    made["l"], made["s"] = torch.randint(0, n, (n * n,)), (torch.arange(n) - n // 2).to(dtype)
    made["q"], made["w"] = torch.randint(0, n, (n // 2, 4)), torch.rand(n)
    made["c"], made["h"] = torch.randn(1, 4, n // 2, n // 2), torch.randn(1, 16, n // 4, n // 4)
    made["g"] = torch.rand(1, n // 2, n // 2, 2) * 2 - 1
    if layout == "turned":
        made = {name: made[name].mT if name in "chg" else made[name] for name in made}
    corners = torch.rand(n, 2) * 10
    made["b"] = torch.cat([corners, corners + 2], 1)
    return made


def _names(expression, known):
    words = "".join(each if each.isalnum() or each in "_'" else " " for each in expression).split()
    return [name for name in known if name in words]


def _made(size, dtype, layout, expression):
    def make():
        given = tensors(size, getattr(torch, dtype), layout)
        names = _names(expression, given)
        text = _TEXT.format(names=", ".join(names), expression=expression)
        if "torch.bincount(l, z)" in expression:
            text = text.replace("l, z", "l, l * 0.5")
        name = f"irregular_{hashlib.sha256(text.encode()).hexdigest()[:12]}"
        path = Path(tempfile.mkdtemp()) / f"{name}.py"
        path.write_text(text, encoding="utf-8")
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        return module.call, torch.jit.script(module.call), tuple(given[name] for name in names)

    return make


def _expressions(dtype):
    return [
        *ANY,
        *(NUMBERS if dtype != "bool" else []),
        *(FLOATS if dtype.startswith("float") else []),
        *(WHOLE if dtype == "int64" else []),
    ]


PROGRAMS = {
    f"{size} {dtype} {layout} {expression}": _made(size, dtype, layout, expression)
    for size in SIZES
    for dtype in ("float32", "int64", "bool", "float64")
    for layout in ("flat", "turned")
    for expression in _expressions(dtype)
}
