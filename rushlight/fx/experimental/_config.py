"""`torch.fx.experimental._config`: settings of symbolic sizes, kept and read by nobody."""

from __future__ import annotations

from ...compiler_settings import settle

settle(__name__)
