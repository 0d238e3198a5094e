"""`torch.quantization`: the old name of `torch.ao.quantization`."""

from __future__ import annotations

from typing import Any

from .ao import quantization as _new

_NAMES: dict[str, Any] = {
    name: value for name, value in vars(_new).items() if not name.startswith("_")
}
globals().update(_NAMES)
