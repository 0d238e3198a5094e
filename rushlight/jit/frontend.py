"""`torch.jit.frontend`: what is raised for Python that script does not have."""

from __future__ import annotations

from ..frontend.diagnostics.exceptions import FrontendError, NotSupportedError, UnsupportedNodeError
from ..module_names import names_of

__all__ = ["FrontendError", "NotSupportedError", "UnsupportedNodeError"]

__getattr__ = names_of(__name__)
