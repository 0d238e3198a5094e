"""`torch._dynamo.config`: settings of a compiler that is not here, kept and read by nobody."""

from __future__ import annotations

from ..compiler_settings import settle

settle(__name__)
