"""`torch.utils.data.datapipes.utils`: files, functions of columns, and decoders by file names."""

from __future__ import annotations

from .....module_names import names_of

__all__: list[str] = []

__getattr__ = names_of(__name__, "common", "decoder", "snapshot")
