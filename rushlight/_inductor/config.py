"""`torch._inductor.config`: settings of a compiler that is not here.

They are kept, and nobody reads them.
"""

from __future__ import annotations

from types import SimpleNamespace

from ..module_names import names_of

__all__: list[str] = []

triton, cpp, cuda, aot_inductor, trace = (SimpleNamespace() for _ in range(5))
coordinate_descent_tuning = False
coordinate_descent_check_all_directions = False
force_fuse_int_mm_with_mul = False
fx_graph_cache = True
fx_graph_remote_cache: bool | None = None
max_autotune = False
max_autotune_gemm = False
epilogue_fusion = True
freezing = False
use_mixed_mm = True
conv_1x1_as_mm = False
shape_padding = True
compile_threads = 1

__getattr__ = names_of(__name__)
