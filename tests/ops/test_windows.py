"""Convolution, pooling, normalisation, padding, resizing, sampling: samples recorded from torch.

A tensor is {"d": dtype, "o": where it begins in that dtype's pool, "s": shape}; bfloat16 is kept as
bit patterns.  {"T": ...} is a tuple, {"f": ...} a float that JSON has no word for, {"Sz": ...} a
size.  "mut" are the tensors among the arguments that the call changes.
"""

from __future__ import annotations

import json
import warnings
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rushlight
from rushlight.ops.eager.dispatch import eager_function
from rushlight.ops.layers.convolution import convolution

_FILE = np.load(Path(__file__).parent / "data" / "windows.npz")
_POOLS = {name: _FILE[name] for name in _FILE.files}
_SAMPLES = json.loads(_POOLS.pop("samples").tobytes())
_NEAR = {
    **{"float64": (1e-7, 1e-8), "float32": (1e-5, 1e-5), "complex64": (1e-5, 1e-5)},
    **{"float16": (2e-3, 2e-4), "bfloat16": (1.6e-2, 2e-3)},
}


def array_of(record: dict[str, Any]) -> Any:
    start, count = record["o"], prod(record["s"])
    flat = _POOLS.get(record["d"], np.zeros(0, np.float32))[start : start + count]
    if record["d"] == "bfloat16":
        flat = (flat.astype(np.uint32) << 16).view(np.float32)
    return flat.reshape(record["s"])


def value_of(recorded: Any) -> Any:
    if isinstance(recorded, list):
        return [value_of(each) for each in recorded]
    if not isinstance(recorded, dict):
        return recorded
    if "t" in recorded:
        dtype = getattr(rushlight, recorded["t"]["d"])
        return rushlight.from_numpy(array_of(recorded["t"]).copy()).to(dtype)
    if "T" in recorded or "N" in recorded:
        return tuple(value_of(each) for each in recorded.get("T", recorded.get("N")))
    if "Sz" in recorded:
        return rushlight.Size(recorded["Sz"])
    if "c" in recorded:
        return complex(*recorded["c"])
    assert set(recorded) == {"f"}
    return float(recorded["f"])


def call(sample: dict[str, Any]) -> tuple[Any, list[Any]]:
    function: Any = rushlight
    for name in sample["call"].split(".")[1:]:
        function = getattr(function, name)
    args = [value_of(each) for each in sample["a"]]
    named = {key: value_of(sample["kw"][key]) for key in sorted(sample["kw"])}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*args, **named), [*args, *named.values()]


def check(tensor: Any, record: dict[str, Any], near: list[float] | None) -> None:
    assert str(tensor.dtype) == f"torch.{record['d']}"
    assert list(tensor.shape) == record["s"]
    wanted = array_of(record)
    got = tensor.float().numpy() if record["d"] == "bfloat16" else tensor.numpy()
    relative, absolute = near or _NEAR.get(record["d"], (0, 0))
    finite = np.abs(wanted[np.isfinite(wanted)])
    scale = max(1.0, float(finite.max(initial=0)))
    np.testing.assert_allclose(got, wanted, relative, absolute * scale)


def flat(value: Any) -> list[Any]:
    if isinstance(value, dict) and ("T" in value or "N" in value):
        value = value.get("T", value.get("N"))
    if isinstance(value, (list, tuple)):
        return [part for each in value for part in flat(each)]
    return [value]


@pytest.mark.parametrize("sample", [s for s in _SAMPLES if "err" not in s], ids=lambda s: s["id"])
def test_results_are_torchs(sample: dict[str, Any]) -> None:
    result, args = call(sample)
    for part, record in zip(flat(result), flat(sample["r"]), strict=True):
        check(part, record["t"], sample.get("tol"))
    tensors = [each for each in args if isinstance(each, rushlight.Tensor)]
    for place, record in sample["mut"]:
        check(tensors[place], record, sample.get("tol"))


@pytest.mark.parametrize("sample", [s for s in _SAMPLES if "err" in s], ids=lambda s: s["id"])
def test_errors_are_torchs(sample: dict[str, Any]) -> None:
    kind, message = sample["err"]
    with pytest.raises(Exception) as caught:  # noqa: PT011
        call(sample)
    assert kind in [each.__name__ for each in type(caught.value).__mro__]
    assert str(caught.value).splitlines()[0] == message.splitlines()[0]


# --------------------------------------------------------------------------- ways to convolve


def direct(x: Any, w: Any, stride: int, padding: int, dilation: int, groups: int) -> Any:
    """A convolution of images by its definition."""
    x = np.pad(x, [(0, 0), (0, 0), (padding, padding), (padding, padding)])
    reach = [dilation * (k - 1) + 1 for k in w.shape[2:]]
    high, wide = [(s - r) // stride + 1 for s, r in zip(x.shape[2:], reach, strict=True)]
    made = np.zeros((x.shape[0], w.shape[0], high, wide))
    per_group = w.shape[0] // groups
    for out in range(w.shape[0]):
        first = out // per_group * w.shape[1]
        for i in range(high):
            for j in range(wide):
                top, left = i * stride, j * stride
                seen = x[
                    :,
                    first : first + w.shape[1],
                    top : top + reach[0] : dilation,
                    left : left + reach[1] : dilation,
                ]
                made[:, out, i, j] = (seen * w[out]).sum((1, 2, 3))
    return made


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("padding", [0, 2])
@pytest.mark.parametrize("dilation", [1, 2])
@pytest.mark.parametrize(("groups", "kernel"), [(1, 3), (2, 3), (4, 3), (1, 1), (2, 1)])
def test_every_way_to_convolve(
    stride: int, padding: int, dilation: int, groups: int, kernel: int
) -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((2, 4, 7, 9))
    w = rng.standard_normal((8, 4 // groups, kernel, kernel))
    made = convolution(x, w, None, [stride], [padding], [dilation], False, [0], groups)
    np.testing.assert_allclose(made, direct(x, w, stride, padding, dilation, groups), atol=1e-12)


def test_large_columns_are_made_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((1, 3, 11, 6)), rng.standard_normal((2, 3, 3, 3))
    whole = convolution(x, w, None, [1], [1], [1], False, [0], 1)
    monkeypatch.setattr("rushlight.ops.layers.plain_convolution._DENSE_LIMIT", 3 * 9 * 8 * 2)
    np.testing.assert_allclose(convolution(x, w, None, [1], [1], [1], False, [0], 1), whole)


def test_transposing_turns_a_convolution_around() -> None:
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((2, 4, 8, 9)), rng.standard_normal((6, 2, 3, 3))
    y = rng.standard_normal((2, 6, 4, 5))
    forth = convolution(x, w, None, [2], [1], [1], False, [0], 2)
    back = convolution(y, w, None, [2], [1], [1], True, [1, 0], 2)
    assert (forth * y).sum() == pytest.approx((x * back).sum())


def test_memory_follows_the_input() -> None:
    x = rushlight.rand(2, 3, 6, 6).contiguous(memory_format=rushlight.channels_last)
    w = rushlight.rand(4, 3, 3, 3)
    conv, pool = eager_function("aten::conv2d"), eager_function("aten::max_pool2d")
    for made in (conv(x, w), pool(x, 2), eager_function("aten::avg_pool2d")(x, 2)):
        assert made.is_contiguous(memory_format=rushlight.channels_last)
        assert not made.is_contiguous()


def test_resizing_by_mode_is_resizing() -> None:
    by_mode = eager_function("aten::__interpolate")
    x = rushlight.rand(1, 2, 4, 5)
    for mode in ("nearest", "bilinear", "bicubic", "area"):
        wanted = rushlight.nn.functional.interpolate(x, scale_factor=1.5, mode=mode)
        assert rushlight.equal(by_mode(x, None, 1.5, mode), wanted)
    with pytest.raises(NotImplementedError):
        by_mode(x, 3, None, "trilinear")
