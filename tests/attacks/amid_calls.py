"""Attacks amid calls: between any two lines of an operator a tensor it was given becomes another.

`resize_`, `set_` and `data` change what a tensor is, and another thread may do so at any moment.
Nothing is left to chance here: a call is done again and again, each time with the change one line
of Python later, and where the memory of the new tensor ends no byte can be read or written.
"""

from __future__ import annotations

import contextlib
import copy
import ctypes
import io
import mmap
import os
import pickle
from collections.abc import Callable
from functools import partial
from typing import Any

from attacks_on_memory import FAMILY
from harness import Broken
from more_calls import MORE_CALLS
from places import Place, before, places_of

NUMBERS = "R(60, 160)"
IMAGES = "R(2, 8, 16, 16)"
FILTERS = f"{IMAGES}, R(8, 8, 3, 3), R(8)"
CHANNELS = "R(8), R(8)"
ROWS = "I(50, 200)"
TABLE = "R(50, 32)"
QUERIES = "R(2, 4, 40, 8), R(2, 4, 40, 8), R(2, 4, 40, 8)"
WEIGHTED = "lambda i, t, o, w: F.embedding_bag(i, t, o, mode='sum', per_sample_weights=w)"

CALLS = {
    "formulas": {
        "torch.tanh": NUMBERS,
        "torch.add": f"{NUMBERS}, R(160)",
        "torch.where": "R(60, 160) > 0.5, R(60, 160), R(60, 160)",
        "lambda x, y: x.mul_(y)": "R(60, 160), R(60, 160)",
        "lambda x, y: x.copy_(y)": "R(60, 160), R(60, 160)",
        "torch.clone": NUMBERS,
        "lambda x: x.bfloat16()": NUMBERS,
        "lambda x, y: torch.cat([x, y])": "R(60, 160), R(60, 160)",
        "lambda x: x.expand(3, 60, 160).clone()": NUMBERS,
        "lambda x: x.t().contiguous()": NUMBERS,
    },
    "folds": {
        "torch.sum": NUMBERS,
        "lambda x: x.sum(0)": NUMBERS,
        "lambda x: x.var(1)": NUMBERS,
        "lambda x: x.norm(dim=1)": NUMBERS,
        "lambda x: x.max(0)": NUMBERS,
        "lambda x: x.argmax(1)": NUMBERS,
        "lambda x: x.logsumexp(1)": NUMBERS,
        "lambda x: x.cumsum(1)": NUMBERS,
        "lambda x: x.cummax(0)": NUMBERS,
        "lambda x: x.topk(5)": NUMBERS,
        "lambda x: x.sort()": NUMBERS,
    },
    "rows": {
        "lambda x: x.softmax(1)": NUMBERS,
        "lambda x: x.log_softmax(1)": NUMBERS,
        "lambda x, w, b: F.layer_norm(x, (160,), w, b)": f"{NUMBERS}, R(160), R(160)",
        "lambda x, w: F.rms_norm(x, (160,), w)": f"{NUMBERS}, R(160)",
        "lambda x, w, b: F.group_norm(x, 4, w, b)": f"{IMAGES}, {CHANNELS}",
        "lambda x, m, v, w, b: F.batch_norm(x, m, v, w, b)": f"{IMAGES}, {CHANNELS}, {CHANNELS}",
        "lambda x, w, b: F.batch_norm(x, None, None, w, b, True)": f"{IMAGES}, {CHANNELS}",
    },
    "products": {
        "torch.dot": "R(9000), R(9000)",
        "torch.mm": "R(40, 50), R(50, 30)",
        "torch.addmm": "R(40, 30), R(40, 50), R(50, 30)",
        "torch.baddbmm": "R(4, 20, 10), R(4, 20, 30), R(4, 30, 10)",
        "F.linear": "R(16, 64), R(32, 64), R(32)",
        "lambda *x: F.linear(*[each.bfloat16() for each in x])": "R(16, 64), R(32, 64), R(32)",
        "F.scaled_dot_product_attention": QUERIES,
        "lambda *x: F.scaled_dot_product_attention(*x)": f"{QUERIES}, R(2, 4, 40, 40) > 0.5",
    },
    "windows": {
        "lambda x, w, b: F.conv2d(x, w, b, padding=1)": FILTERS,
        "lambda x, w, b: F.conv2d(x, w[:, :1], b, groups=8)": FILTERS,
        "lambda x, w, b: F.conv_transpose2d(x, w, b, stride=2)": FILTERS,
        "lambda x: F.max_pool2d(x, 2)": IMAGES,
        "lambda x: F.max_pool2d(x, 3, 2, 1, return_indices=True)": IMAGES,
        "lambda x: F.avg_pool2d(x, 2)": IMAGES,
        "lambda x: F.adaptive_avg_pool2d(x, 3)": IMAGES,
        "lambda x: F.adaptive_avg_pool3d(x, (2, 3, 5))": "R(2, 8, 8, 16, 16)",
        "lambda x: F.unfold(x, 3)": IMAGES,
    },
    "resampling": {
        "lambda x: F.interpolate(x, scale_factor=2.0, mode='bilinear')": IMAGES,
        "lambda x: F.interpolate(x, scale_factor=2.0)": IMAGES,
        "lambda x, g: F.grid_sample(x, g, align_corners=False)": f"{IMAGES}, R(2, 9, 9, 2)",
        "lambda x: F.pad(x, (1, 1, 1, 1))": IMAGES,
    },
    "places": {
        "lambda x, i: x.gather(1, i)": f"{NUMBERS}, I(160, 60, 160)",
        "lambda x, i: x[i]": f"{NUMBERS}, I(60, 100)",
        "lambda x, i, j: x[i, j]": f"{NUMBERS}, I(60, 900), I(160, 900)",
        "lambda x, i, s: x.index_put_((i,), s)": f"{NUMBERS}, I(60, 30), R(30, 160)",
        "lambda x, i, s: x.index_put_((i,), s, True)": f"{NUMBERS}, I(60, 30), R(30, 160)",
        "lambda x, i, s: x.index_add_(0, i, s)": f"{NUMBERS}, I(60, 30), R(30, 160)",
        "lambda x, i, s: x.scatter_(1, i, s)": f"{NUMBERS}, I(160, 60, 90), R(60, 90)",
        "lambda x, i, s: x.scatter_add_(1, i, s)": f"{NUMBERS}, I(160, 60, 90), R(60, 90)",
        "lambda x, i, s: x.scatter_reduce_(1, i, s, 'amax')": f"{NUMBERS}, I(160, 60, 90), R(60, 90)",
    },
    "masks": {
        "torch.nonzero": "R(60, 160) > 0.5",
        "lambda x, m: x[m]": "R(60, 160), R(60) > 0.5",
        "torch.masked_select": "R(60, 160), R(60, 160) > 0.5",
        "lambda x, m: x.masked_fill_(m, 1.0)": "R(60, 160), R(60, 160) > 0.5",
        "lambda x, m, s: x.masked_scatter_(m, s)": "R(60, 160), R(60, 160) > 0.5, R(60, 160)",
        "lambda x, m, s: x.__setitem__(m, s)": "R(9000), R(9000) > -1, R(9000)",
    },
    "tables": {
        "F.embedding": f"{ROWS}, {TABLE}",
        "F.embedding_bag": f"{ROWS}, {TABLE}, torch.arange(0, 200, 10)",
        WEIGHTED: f"{ROWS}, {TABLE}, torch.arange(0, 200, 10), R(200)",
        "lambda i: F.one_hot(i, 50)": ROWS,
        "F.one_hot": ROWS,
        "torch.bincount": "I(50, 9000)",
        "lambda i, w: torch.bincount(i, w)": "I(50, 9000), R(9000)",
    },
    "losses": {
        "F.cross_entropy": "R(200, 50), I(50, 200)",
        "F.nll_loss": "R(4, 5, 20, 20), I(5, 4, 20, 20)",
        "F.mse_loss": "R(60, 160), R(60, 160)",
        "F.huber_loss": "R(60, 160), R(60, 160)",
        "lambda x, t: F.ctc_loss(x, t, (30,) * 4, (8,) * 4)": "R(30, 4, 20), I(19, 4, 8) + 1",
    },
    "scripts": {
        "script('x, y', '(x * y + 1.0).tanh().relu()')": "R(60, 160), R(60, 160)",
        "script('x, y, z, w', 'torch.relu(torch.conv2d(x, y, z, 1, 1) + w)')": f"{FILTERS}, {IMAGES}",
        "script('x, y, z', 'torch.softmax(torch.matmul(x, y.t()) + z, -1)')": "R(16, 64), R(32, 64), R(32)",
    },
    "gradients": {
        "back(lambda x, w, b: F.batch_norm(x, None, None, w, b, True))": f"{IMAGES}, {CHANNELS}",
        "back(lambda x, w, b: F.conv2d(x, w, b, padding=1))": FILTERS,
        "back(lambda x: x.softmax(1))": NUMBERS,
        "back(F.cross_entropy)": "R(200, 50), I(50, 200)",
    },
    "steps of optimizers": {
        "adam": "R(9000), R(9000)",
    },
}


def _adam(parameter: Any, gradient: Any) -> None:
    import rushlight as torch

    parameter.grad = gradient
    torch.optim.Adam([parameter], lr=0.1).step()


def _step(make: Callable[[list[Any]], Any], sparse: bool = False) -> Callable[..., object]:
    """A step of an optimizer, whose state may be given after the parameter and its gradient."""

    def call(parameter: Any, gradient: Any, *state: Any) -> None:
        parameter = parameter.requires_grad_()
        optimizer = make([parameter])
        parameter.grad = gradient.to_sparse(1) if sparse else gradient
        optimizer.step(*[lambda: parameter.sum()][: type(optimizer).__name__ == "LBFGS"])
        kept = optimizer.state[parameter]
        names = [
            name for name, each in kept.items() if getattr(each, "shape", ()) == gradient.shape
        ]
        for name, each in zip(names, state, strict=False):
            kept[name] = each
        optimizer.step(*[lambda: parameter.sum()][: type(optimizer).__name__ == "LBFGS"])

    return call


def _quantized(name: str) -> Callable[[Any], Any]:
    import rushlight as torch

    dtype = getattr(torch, name)
    return lambda x: torch.quantize_per_tensor(x, 0.01, 0, dtype)


def _by_rows(table: Any) -> Any:
    import rushlight as torch

    count = len(table)
    numbers = (torch.full((count,), 0.1), torch.zeros(count), 0, torch.quint8)
    return torch.quantize_per_channel(table, *numbers)


def _script(names: str, result: str) -> Any:
    import rushlight as torch

    os.environ["RUSHLIGHT_NATIVE"] = "now"  # kernels of plans are waited for
    return torch.jit.CompilationUnit(f"def f({names}):\n    return {result}\n").f


def _back(function: Callable[..., Any]) -> Callable[..., object]:
    def call(*given: Any) -> object:
        leaves = [each.requires_grad_() if each.is_floating_point() else each for each in given]
        return function(*leaves).sum().backward()

    return call


def _closed(shape: tuple[int, ...], dtype: Any) -> Any:
    """Ones of a dtype where memory ends: no byte behind them can be reached."""
    import numpy as np

    libc = ctypes.CDLL(None, use_errno=True)
    libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    count = int(np.prod(shape))
    size = count * np.dtype(dtype).itemsize
    behind = -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
    memory = mmap.mmap(-1, behind + mmap.PAGESIZE)
    begin = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    if libc.mprotect(begin + behind, mmap.PAGESIZE, 0):
        raise OSError(ctypes.get_errno(), "mprotect")
    made = np.frombuffer(memory, dtype, count, behind - size)
    made[...] = 1
    return made.reshape(shape)


def _other(tensor: Any, form: str) -> Any:
    """What a tensor becomes: one element "spread" over its shape, "half" of it, or its "bytes"."""
    import numpy as np

    import rushlight as torch
    from rushlight.ops.quantized_tensors.arrays import numbers_of, quantized_array

    if tensor.is_quantized:
        numbers = numbers_of(tensor._array)
        other = _other(torch.from_numpy(numbers), form)._array.view(numbers.dtype)
        return type(tensor)._of(quantized_array(other, tensor.dtype, tensor._array.quantizer))
    array = tensor.numpy()
    if form == "spread" and not array.ndim:
        return torch.from_numpy(_closed((), array.dtype))
    if form == "spread":
        return torch.from_numpy(np.broadcast_to(_closed((1,), array.dtype), array.shape))
    if form == "bytes":
        return torch.from_numpy(_closed(array.shape, np.uint8))
    longest = array.shape.index(max(array.shape)) if array.ndim else -1
    shape = tuple(n // 2 if dim == longest else n for dim, n in enumerate(array.shape))
    return torch.from_numpy(_closed(shape, array.dtype))


def _quietly(function: Callable[..., object], *given: object) -> None:
    """Call; whatever that says, the memory must be whole."""
    with contextlib.suppress(Exception):
        function(*given)


def _never_learned() -> None:
    """Have calls done by Python, which native code would do at once."""
    from rushlight.ops.kernels.code.calls import prepared

    for known in [*prepared._EVERY]:
        known.forget()
        known.waits.wait_all(1 << 62)


def _always_first() -> None:
    """Have every call done as the first ones are, before anything is written out for it."""
    from rushlight.ops.eager import recipes, shortcuts
    from rushlight.ops.tensors import indexing

    for module in (recipes, shortcuts, indexing):
        vars(module)["TRIALS"] = 1 << 60


def names_of_calls() -> dict[str, Any]:
    """What the texts of calls mean."""
    import rushlight as torch

    names = {"torch": torch, "F": torch.nn.functional, "R": torch.rand, "adam": _adam}
    names |= {"script": _script, "back": _back, "step": _step}
    names["I"] = lambda most, *shape: torch.randint(0, most, shape)
    names |= {"Q": _quantized("quint8"), "Q8": _quantized("qint8"), "QR": _by_rows}
    names |= {"copy": copy, "pickle": pickle, "io": io}
    return names


def _attack(
    calls: dict[str, str], forms: tuple[str, ...], step: int, *, is_first: bool = False
) -> None:
    from rushlight.ops.memory import metadata

    metadata._may_be_read = lambda: True  # as if this were another thread
    if is_first:
        _always_first()
    names = names_of_calls()
    for source, given in calls.items():
        function, arguments = eval(source, names), eval(f"({given},)", names)
        for _ in range(2 if is_first and not source.startswith("script") else 60):
            function(*[each.clone() for each in arguments])
        _never_learned()
        for _ in range(2):  # what the first remembers is not done again
            copies = [each.clone() for each in arguments]
            places = places_of(partial(_quietly, function, *copies))
        for at in range(len(arguments)):
            for turn, form in enumerate(forms):  # at another of the lines each, if not at all
                lines = places[turn * step // len(forms) :: step]
                _one_after_the_other(function, arguments, at, form, lines)


def _one_after_the_other(
    function: Callable[..., object],
    arguments: tuple[Any, ...],
    at: int,
    form: str,
    places: list[Place],
) -> None:
    import rushlight as torch

    changes = 0
    for place in places:
        copies = [each.clone() for each in arguments]
        changed, other = copies[at], _other(copies[at], form)

        def change(changed: Any = changed, other: Any = other) -> None:
            nonlocal changes
            changes += 1
            with contextlib.suppress(Exception):  # what gradients are wanted of takes no bytes
                if form == "bytes":
                    changed.data = other
                else:
                    with torch.no_grad():
                        changed.set_(other)

        _never_learned()
        before(partial(_quietly, function, *copies), place, change)
    if changes < 0.75 * len(places):
        raise Broken(f"of {len(places)} changes {changes} were made")


FORMS = ("spread", "half", "bytes")
for name, calls in {**CALLS, **MORE_CALLS}.items():
    is_long = name not in CALLS
    FAMILY.attack(f"amid calls: {name}", seconds=100.0, long=is_long)(
        partial(_attack, calls, FORMS if is_long else FORMS[:2], 2 if is_long else 10)
    )
    for source, given in calls.items():
        FAMILY.attack(f"amid calls, every line: {source} of {given}", seconds=900.0, long=True)(
            partial(_attack, {source: given}, FORMS, 1)
        )
        FAMILY.attack(
            f"amid first calls, every line: {source} of {given}", seconds=900.0, long=True
        )(partial(_attack, {source: given}, FORMS[:1], 1, is_first=True))
