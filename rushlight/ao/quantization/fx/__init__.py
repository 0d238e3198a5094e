"""Quantization of traced graphs: the steps behind `quantize_fx`."""

from __future__ import annotations

from ....module_names import names_of

__all__: list[str] = []

__getattr__ = names_of(__name__)
