"""`torch.ao.nn`: the layers that quantization puts into models."""

from __future__ import annotations

from ...module_names import names_of

__all__ = ["intrinsic", "qat", "quantizable", "quantized"]

__getattr__ = names_of(__name__, *__all__)
