"""`torch.fx.config`: settings of tracing, which change nothing here."""

from __future__ import annotations

disable_progress = True
verbose_progress = False
