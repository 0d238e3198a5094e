"""For tests: `assert_close`, `make_tensor`, `FileCheck`; the names are those of `torch.testing`."""

from __future__ import annotations

from ..module_names import names_of
from . import _utils as _utils
from .closeness import assert_allclose, assert_close
from .file_check import FileCheck
from .random_tensors import make_tensor

__all__ = ["FileCheck", "assert_allclose", "assert_close", "make_tensor"]

__getattr__ = names_of(__name__)
