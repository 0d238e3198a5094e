"""`torch.jit.frontend`: what is raised for Python that script does not have."""

from __future__ import annotations

from ..frontend.exceptions import FrontendError, NotSupportedError, UnsupportedNodeError

__all__ = ["FrontendError", "NotSupportedError", "UnsupportedNodeError"]
