"""`torch.fx.experimental`: further passes, and tracing below gradients, which is refused."""

from __future__ import annotations

from ...module_names import names_of

__getattr__ = names_of(__name__, "const_fold", "normalize", "optimization", "proxy_tensor")
