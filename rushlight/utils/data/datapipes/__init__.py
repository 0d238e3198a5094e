"""`torch.utils.data.datapipes`: streams and mappings of samples, and what makes others of them."""

from __future__ import annotations

from ....module_names import names_of

__all__ = ["iter", "map"]

__getattr__ = names_of(__name__, "iter", "map", "utils")
