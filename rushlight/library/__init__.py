"""`torch.library`: operators of one's own, with schemas, for eager calls, scripts and archives.

    @rushlight.library.custom_op("mine::scale", mutates_args=())
    def scale(x: Tensor, by: float) -> Tensor: ...

    rushlight.ops.mine.scale(x, 2.0)

An operator is a record of the operator table as rushlight's own are, and goes when the library
that defined it does.
"""

from __future__ import annotations

from .checking import OpCheckError, opcheck
from .custom import CustomOpDef, custom_op, triton_op, wrap_triton
from .inferring import infer_schema
from .libraries import Library, define, fallthrough_kernel, impl
from .libraries import _scoped_library as _scoped_library
from .registering import (
    get_ctx,
    get_kernel,
    impl_abstract,
    register_autocast,
    register_autograd,
    register_fake,
    register_kernel,
    register_torch_dispatch,
    register_vmap,
)

__all__ = [
    "CustomOpDef",
    "Library",
    "OpCheckError",
    "custom_op",
    "define",
    "fallthrough_kernel",
    "get_ctx",
    "get_kernel",
    "impl",
    "impl_abstract",
    "infer_schema",
    "opcheck",
    "register_autocast",
    "register_autograd",
    "register_fake",
    "register_kernel",
    "register_torch_dispatch",
    "register_vmap",
    "triton_op",
    "wrap_triton",
]
