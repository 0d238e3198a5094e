"""What the operators of an archive could do to the world outside of it."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["KINDS", "REFUSED", "kind_of"]

_RULES: Final = (
    (
        "files",
        r"aten::(save|load|from_file|_save_.*|_load_.*|_cuda_.*serialize.*)$|image::(read|write)_.*"
        r"|torchaudio::.*(load|save|file|stream).*|video_reader::.*|fb::.*file.*",
    ),
    (
        "network",
        r"(rpc|c10d|_c10d_functional|_c10d_functional_autograd|dist_autograd|symm_mem|gloo)::.*"
        r"|aten::(get_gradients|_allgather_base_)$|prim::rpc_.*",
    ),
    ("memory", r"inductor::.*"),
    ("python", r"prim::(CallPython|PythonOp|IgnoredPythonOp)$|aten::\^.*"),
    (
        "state",
        r"aten::(manual_seed|seed|initial_seed|set_grad_enabled|_set_.*|set_data|set_num_threads"
        r"|_cudnn_set_.*|autocast_.*|set_autocast_.*|_autocast_.*)$|cuda::.*",
    ),
    ("output", r"prim::Print$|aten::(warn|_print|print)$|profiler::.*"),
    (
        "random",
        r"aten::(rand.*|normal_?|dropout_?|bernoulli_?|multinomial|uniform_?|poisson"
        r"|exponential_?|cauchy_?|geometric_?|log_normal_?|random_?|rrelu.*|alpha_dropout.*"
        r"|feature_.*dropout.*|_fused_dropout|native_dropout)$",
    ),
    ("tasks", r"prim::(fork|awaitable.*)$|aten::wait$"),
)
_COMPILED: Final = tuple((kind, re.compile(pattern)) for kind, pattern in _RULES)

KINDS: Final = (*(kind for kind, _ in _RULES), "computing", "unknown")
"""Every kind, the most worrying first."""

REFUSED: Final = {
    "files": "reads or writes files",
    "network": "reaches other machines",
    "memory": "reaches memory that is no tensor's own",
    "python": "calls Python",
}
"""The kinds that code which is not trusted may not use, and what they do."""


def kind_of(operator: str, is_known: bool = True) -> str:
    """The kind of an operator, given its qualified name (`aten::save`)."""
    for kind, pattern in _COMPILED:
        if pattern.match(operator):
            return kind
    return "computing" if is_known else "unknown"
