"""For tests: `assert_close` and `make_tensor`; the names are those of `torch.testing`."""

from __future__ import annotations

from .closeness import assert_close
from .random_tensors import make_tensor

__all__ = ["assert_close", "make_tensor"]
