"""`torch.export`: how sizes of exported programs vary; the programs themselves are refused."""

from __future__ import annotations

from ..module_names import names_of
from .dynamic_shapes import Dim, dims

__all__ = ["Dim", "dims"]

__getattr__ = names_of(__name__, "graph_signature")
