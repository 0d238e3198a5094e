"""`torch.fx.experimental`: further passes and tracers, and tracing below gradients, refused."""

from __future__ import annotations

from ...module_names import names_of

__getattr__ = names_of(
    __name__,
    "_config",
    "const_fold",
    "normalize",
    "optimization",
    "proxy_tensor",
    "rewriter",
    "symbolic_shapes",
)
