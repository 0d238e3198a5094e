"""`torch.ao`: quantization, and the layers that it puts into models."""

from __future__ import annotations

from ..module_names import names_of

__all__ = ["nn", "quantization"]

__getattr__ = names_of(__name__, "nn", "quantization")
