"""`torch.cuda.amp.autocast`: `torch.autocast` for one kind of device."""

# Script reads the bodies, and finds out what they return.
# mypy: disable-error-code="no-untyped-call, no-untyped-def, unreachable, attr-defined"

from __future__ import annotations

import warnings

from ...amp import autocast_mode
from ...module_names import names_of
from ...nn import dtype_names
from ...nn.sizes import is_scripting
from ...ops.memory.dtype import DType

__all__ = ["autocast"]


class autocast(autocast_mode.autocast):
    """`torch.autocast("cuda", ...)`."""

    _jit_override_qualname = "__torch__.torch.cuda.amp.autocast_mode.autocast"

    def __init__(
        self,
        enabled: bool = True,
        dtype: DType = dtype_names.float16,
        cache_enabled: bool = True,
    ) -> None:
        if is_scripting():
            self._enabled = enabled
            self.device = "cuda"
            self.fast_dtype = dtype
            return
        warnings.warn(
            "`torch.cuda.amp.autocast(args...)` is deprecated. Please use "
            "`torch.amp.autocast('cuda', args...)` instead.",
            FutureWarning,
            stacklevel=2,
        )
        super().__init__("cuda", dtype, enabled, cache_enabled)

    # which script does not inherit
    __enter__ = autocast_mode.autocast.__enter__
    __exit__ = autocast_mode.autocast.__exit__
    __call__ = autocast_mode.autocast.__call__


__getattr__ = names_of(__name__)
