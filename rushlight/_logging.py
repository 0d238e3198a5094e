"""`torch._logging`: what torch's compiler would log, of which there is nothing."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final

__all__ = ["getArtifactLogger", "set_logs", "trace_structured", "warning_once"]

_LEVELS: Final = (50, 40, 30, 20, 10, 0)
_COMPONENTS: Final = frozenset(
    """all aot autograd c10d ddp distributed dtensor dynamic dynamo export fsdp inductor
    onnx""".split()
)
_ARTIFACTS: Final = frozenset(
    """aot_graphs aot_joint_graph autotuning benchmarking bytecode caching compiled_autograd
    compiled_autograd_verbose compute_dependencies cudagraph_static_inputs cudagraphs ddp_graphs
    fusion graph graph_breaks graph_code graph_code_verbose graph_region_expansion graph_sizes
    guards hierarchical_compile incremental inductor_metrics ir_post_fusion ir_pre_fusion
    kernel_code onnx_diagnostics output_code overlap perf_hints post_grad_graphs pre_grad_graphs
    recompiles recompiles_verbose schedule side_effects sym_node trace_bytecode trace_call
    trace_source""".split()
)


def set_logs(*, modules: Mapping[str, int | bool] | None = None, **logs: int | bool | None) -> None:
    """Say what is to be logged; nobody logs it.

    Args:
        modules: levels by the names of modules.
        logs: levels by the names of parts, and whether there are logs of some kinds.

    Raises:
        TypeError: there is no such part or kind.
        ValueError: something is no level.
    """
    for name, level in logs.items():
        if name in _COMPONENTS:
            if level is not None and level not in _LEVELS:
                raise ValueError(
                    f"Unrecognized log level for log {name}: {level}, valid level values are: "
                    f"{','.join(map(str, _LEVELS))}"
                )
        elif name not in _ARTIFACTS:
            raise TypeError(f"set_logs() got an unexpected keyword argument '{name}'")


def getArtifactLogger(module_qname: str, artifact_name: str) -> logging.Logger:
    """The logger of a kind of logs of a module.

    Raises:
        ValueError: there is no such kind.
    """
    if artifact_name not in _ARTIFACTS:
        raise ValueError(
            f"Artifact name: {artifact_name!r} not registered,please call "
            f"register_artifact({artifact_name!r}) in torch._logging.registrations."
        )
    return logging.getLogger(f"{module_qname}.__{artifact_name}")


@cache
def warning_once(logger_obj: logging.Logger, *args: Any, **kwargs: Any) -> None:
    """Log a warning, the same one not again."""
    logger_obj.warning(*args, **kwargs)


def trace_structured(name: str, metadata_fn: Callable[[], object] = dict, **more: object) -> None:
    """Note a step of the compiler for torch's readers of its logs, of whom there are none."""
