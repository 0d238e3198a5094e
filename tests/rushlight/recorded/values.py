"""Values of torch as plain ones, so that two libraries' can be compared and kept as JSON."""

from __future__ import annotations

import math
import re
from typing import Any

FILES = [
    *("observers", "eager_quantization", "graph_quantization", "traced_quantization"),
    *("graph_passes", "graph_nodes", "graph_rewriting", "quantized_layers"),
]
"""The files of cases, each with a table `CASES`."""


def plain(value: Any) -> Any:
    """Tensors as lists, quantized ones with their scales; floats rounded to 6 digits."""
    if getattr(value, "is_quantized", False):
        return [str(value.dtype), plain(value.int_repr()), quantizer(value)]
    if hasattr(value, "tolist"):
        return [str(value.dtype).removeprefix("torch."), plain(value.tolist())]
    if isinstance(value, float):
        return value if math.isfinite(value) and value == 0 else float(f"{value:.5g}")
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if value is None or isinstance(value, bool | int | str):
        return value
    return repr(value)


def quantizer(value: Any) -> Any:
    """The scales and zero points of a quantized tensor."""
    if "channel" in str(value.qscheme()):
        return plain([value.q_per_channel_scales(), value.q_per_channel_zero_points()])
    return plain([value.q_scale(), value.q_zero_point()])


def said(function: Any) -> str:
    """The class and text of what a function raises."""
    try:
        function()
    except Exception as error:
        text = f"{type(error).__name__}: {error}".replace("rushlight.", "torch.")
        return re.sub("0x[0-9a-f]+", "0x", text)
    return "nothing"


def wave(torch: Any, *sizes: int, step: float = 0.7) -> Any:
    """Numbers between -3 and 3, the same everywhere."""
    count = math.prod(sizes)
    return torch.tensor([3 * math.sin(step * i * i) for i in range(count)]).reshape(sizes)
