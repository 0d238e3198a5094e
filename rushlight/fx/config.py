"""`torch.fx.config`: settings of tracing, which change nothing here."""

from __future__ import annotations

from ..module_names import names_of

disable_progress = True
verbose_progress = False

__getattr__ = names_of(__name__)
