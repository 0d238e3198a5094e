"""`torch.ao.pruning`: pruning, which is not here yet."""

from __future__ import annotations

from typing import Any

from ..refused_names import refusing

_NAMES = """BaseScheduler BaseSparsifier CubicSL FakeSparsity LambdaSL NearlyDiagonalSparsifier
WeightNormSparsifier fqn_to_module get_arg_info_from_tensor_fqn
get_dynamic_sparse_quantized_mapping get_static_sparse_quantized_mapping module_to_fqn"""
__all__ = _NAMES.split()
_REFUSED: dict[str, Any] = refusing(__name__, _NAMES, "rushlight prunes no models yet")
globals().update(_REFUSED)
