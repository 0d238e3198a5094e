"""Record small samples of operators from real torch: `python tools/record_operators.py`.

Run with a Python that has torch and its testing package.  It writes tests/ops/data/operators.npz.
`text` in it is JSON, a list of [function, samples]; a sample is {"a": arguments, "k": keyword
arguments, and "r": result or "e": [exception class, first line of the message]}.  A tensor is
{"t": [dtype, shape, where its bytes begin in `bytes`, strides if not contiguous]}.
"""

from __future__ import annotations

import json
import math
import random
import signal
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.testing._internal.common_methods_invocations import op_db

OUT = Path(__file__).resolve().parent.parent / "tests" / "ops" / "data" / "operators.npz"
DTYPES = (
    *(torch.float32, torch.int64, torch.bool, torch.complex64, torch.bfloat16, torch.float16),
    *(torch.float64, torch.uint8),
)
LARGEST = 400
"""No sample has more elements than this, inputs and results together."""
PER_DTYPE = {torch.float32: 3, torch.int64: 2}


WITHOUT_VALUES = frozenset(
    "bernoulli multinomial svd_lowrank pca_lowrank linalg.eig linalg.eigh matrix_exp empty_strided "
    "empty empty_permuted empty_like Tensor.new_empty Tensor.new_empty_strided kthvalue mode "
    "topk".split()
)
"""Functions whose values are random, not defined, or one of several right answers."""


class Unfit(Exception):
    """The sample is too large, or of a kind that is not recorded."""


class Encoder:
    """Makes JSON of values; the bytes of tensors go to one pool."""

    def __init__(self) -> None:
        self.pool = bytearray()
        self.left = LARGEST

    def tensor(self, value: torch.Tensor, given: bool) -> dict[str, Any]:
        if value.layout != torch.strided or value.is_quantized or value.device.type != "cpu":
            raise Unfit
        self.left -= value.numel()
        if self.left < 0:
            raise Unfit
        value = value.detach().resolve_conj().resolve_neg()
        strides = None if value.is_contiguous() else list(value.stride())
        if strides is not None and given and 0 in strides:
            raise Unfit
        name = str(value.dtype).removeprefix("torch.")
        if name == "complex32" or name.startswith("float8"):
            raise Unfit
        start = len(self.pool)
        flat = value.contiguous()
        bits = flat.view(torch.int16) if name == "bfloat16" else flat
        self.pool += bits.numpy().tobytes()
        return {"t": [name, list(value.shape), start, strides]}

    def value(self, value: Any, given: bool = True) -> Any:
        if isinstance(value, torch.Tensor):
            return self.tensor(value, given)
        if value is None or isinstance(value, (bool, int, str)):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {"f": str(value)}
        if isinstance(value, complex):
            return {"c": [value.real, value.imag]}
        if isinstance(value, (list, tuple)):
            return {"l" if isinstance(value, list) else "u": [self.value(v, given) for v in value]}
        if isinstance(value, (torch.dtype, torch.memory_format, torch.layout)):
            return {"n": str(value).removeprefix("torch.")}
        raise Unfit


def resolve(name: str) -> Any:
    found: Any = torch
    for part in name.split("."):
        found = getattr(found, part)
    return found


def spelled(op: Any) -> str:
    """How the function is called: a path below torch, or `Tensor.name`."""
    for name in (op.name, f"Tensor.{op.name}"):
        try:
            resolve(name)
        except AttributeError:
            continue
        return name
    raise Unfit


def same(a: Any, b: Any) -> bool:
    if isinstance(a, torch.Tensor):
        return (
            isinstance(b, torch.Tensor)
            and a.dtype == b.dtype
            and torch.equal(
                a.nan_to_num() if a.dtype != torch.bool else a,
                b.nan_to_num() if b.dtype != torch.bool else b,
            )
        )
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(a == b)


def recorded(encoder: Encoder, name: str, sample: Any) -> dict[str, Any]:
    """The sample with what torch makes of it."""
    encoder.left, before = LARGEST, len(encoder.pool)
    args = [sample.input, *sample.args]
    try:
        found = {
            "a": [encoder.value(arg) for arg in args],
            "k": {key: encoder.value(arg) for key, arg in sample.kwargs.items()},
        }
        function = resolve(name)
        try:
            result = function(*args, **sample.kwargs)
        except Exception as error:
            return {**found, "e": [type(error).__name__, str(error).split("\n")[0]]}
        found["r"] = encoder.value(result, False)
        if not same(result, function(*args, **sample.kwargs)):  # it is random, or works in place
            raise Unfit
        return found
    except Unfit:
        del encoder.pool[before:]
        raise


def samples_of(encoder: Encoder, op: Any, name: str) -> list[dict[str, Any]]:
    found = []
    for dtype in DTYPES:
        torch.manual_seed(0)
        random.seed(0)
        if dtype not in op.dtypes:
            continue
        count = 0
        for sample in op.sample_inputs("cpu", dtype):
            if count == PER_DTYPE.get(dtype, 1):
                break
            try:
                found.append(recorded(encoder, name, sample))
            except Unfit:
                continue
            count += 1
    try:
        for wrong in list(op.error_inputs("cpu"))[:2]:
            found.append(recorded(encoder, name, wrong.sample_input))
    except Exception:  # some makers of wrong inputs ask for other devices
        return found
    return found


def stop(*_: Any) -> None:
    raise TimeoutError


def main() -> None:
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    signal.signal(signal.SIGALRM, stop)
    encoder, entries = Encoder(), []
    for op in op_db:
        if op.variant_test_name == "partial_views" or op.name.startswith("__r"):
            continue
        signal.alarm(20)
        try:
            name = spelled(op)
            if name in WITHOUT_VALUES:
                continue
            samples = samples_of(encoder, op, name)
        except (Unfit, TimeoutError):
            continue
        finally:
            signal.alarm(0)
        if samples:
            entries.append([name, samples])
    text = json.dumps(entries, separators=(",", ":")).encode()
    np.savez_compressed(
        OUT, text=np.frombuffer(text, np.uint8), bytes=np.frombuffer(bytes(encoder.pool), np.uint8)
    )
    print(len(entries), "entries,", sum(len(s) for _, s in entries), "samples")


if __name__ == "__main__":
    main()
