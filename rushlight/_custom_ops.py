"""`torch._custom_ops`: older names of `torch.library`."""

from .library import custom_op, get_ctx, impl_abstract

__all__ = ["custom_op", "get_ctx", "impl_abstract"]
