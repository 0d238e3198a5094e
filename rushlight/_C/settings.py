"""Switches of torch's executor and fusers: kept, and read back, but code runs the same way.

A setter gives what the setting was before where torch's does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from ..frontend.foundations.chosen import Chosen
from ..ops.table.autocast import script_autocasts
from .emit_hooks import emit_hooks, set_emit_hooks

__all__ = ["SWITCHES", "set_fusion_strategy", "shows_all_differentiated", "tracer_warns"]

_VALUES: Final[dict[str, Chosen[object]]] = {
    name: Chosen(usual)
    for name, usual in {
        "profiling_executor": True,
        "profiling_mode": True,
        "num_profiled_runs": 1,
        "graph_executor_optimize": True,
        "texpr_fuser": True,
        "texpr_fallback": False,
        "texpr_reductions": False,
        "texpr_dynamic_shape": False,
        "te_must_use_llvm_cpu": False,
        "te_generate_block_code": False,
        "can_fuse_on_cpu": True,
        "can_fuse_on_cpu_legacy": False,
        "can_fuse_on_gpu": True,
        "llga": False,
        "inline_everything": False,
        "symbolic_shapes_test": False,
        "opt_conditionals": False,
        "cat_wo_conditionals": True,
        "fusion_group_inlining": True,
        "autodiff_subgraph_inlining": True,
        "logging_option": "",
        "tracer_warnings": True,
        "utf8_ignore": False,
        "nvfuser": False,
        "nvfuser_guard_mode": True,
        "vmap_fallback_warnings": False,
    }.items()
}
_STRATEGY: Final[Chosen[list[tuple[str, int]]]] = Chosen([("STATIC", 2), ("DYNAMIC", 10)])


def set_fusion_strategy(strategy: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    """Set how often torch would specialise for shapes; gives the strategy that was set before."""
    return _STRATEGY.exchange(list(strategy))


def tracer_warns() -> bool:
    """Whether tracing warns of what a trace cannot show."""
    return bool(_VALUES["tracer_warnings"].now)


def shows_all_differentiated() -> bool:
    """Whether graphs show the smallest parts that torch differentiates itself, too."""
    return not _VALUES["autodiff_subgraph_inlining"].now


def _get(name: str) -> Callable[..., object]:
    return _VALUES[name].asked


def _set(name: str) -> Callable[..., None]:
    return _VALUES[name].choose


def _exchange(name: str) -> Callable[..., object]:
    return _VALUES[name].exchange


def _set_and_tell(name: str) -> Callable[..., object]:
    def put(value: object) -> object:
        _VALUES[name].choose(value)
        return value

    return put


def _optimizes(new_value: bool | None = None) -> object:
    chosen = _VALUES["graph_executor_optimize"]
    return chosen.now if new_value is None else chosen.exchange(new_value)


def _set_bailout_depth(depth: int) -> int:
    before = set_fusion_strategy([("STATIC", depth)])
    return sum(count for _, count in before)


SWITCHES: dict[str, Callable[..., object]] = {
    "_get_graph_executor_optimize": _optimizes,
    "_set_graph_executor_optimize": _set("graph_executor_optimize"),
    "_debug_only_are_vmap_fallback_warnings_enabled": _get("vmap_fallback_warnings"),
    "_debug_only_display_vmap_fallback_warnings": _set("vmap_fallback_warnings"),
    "_jit_set_profiling_executor": _exchange("profiling_executor"),
    "_jit_set_profiling_mode": _exchange("profiling_mode"),
    "_get_jit_profiling_executor": _get("profiling_executor"),
    "_jit_set_num_profiled_runs": _exchange("num_profiled_runs"),
    "_jit_get_num_profiled_runs": _get("num_profiled_runs"),
    "_jit_set_bailout_depth": _set_bailout_depth,
    "_jit_set_fusion_strategy": set_fusion_strategy,
    "_jit_set_texpr_fuser_enabled": _set("texpr_fuser"),
    "_jit_texpr_fuser_enabled": _get("texpr_fuser"),
    "_jit_texpr_set_fallback_allowed": _set_and_tell("texpr_fallback"),
    "_jit_texpr_fallback_allowed": _get("texpr_fallback"),
    "_jit_set_texpr_reductions_enabled": _exchange("texpr_reductions"),
    "_jit_texpr_reductions_enabled": _get("texpr_reductions"),
    "_jit_set_texpr_dynamic_shape_enabled": _set("texpr_dynamic_shape"),
    "_jit_texpr_dynamic_shape_enabled": _get("texpr_dynamic_shape"),
    "_jit_set_te_must_use_llvm_cpu": _set("te_must_use_llvm_cpu"),
    "_jit_get_te_must_use_llvm_cpu": _get("te_must_use_llvm_cpu"),
    "_jit_set_te_generate_block_code": _exchange("te_generate_block_code"),
    "_jit_get_te_generate_block_code": _get("te_generate_block_code"),
    "_jit_override_can_fuse_on_cpu": _set("can_fuse_on_cpu"),
    "_jit_can_fuse_on_cpu": _get("can_fuse_on_cpu"),
    "_jit_override_can_fuse_on_cpu_legacy": _set("can_fuse_on_cpu_legacy"),
    "_jit_can_fuse_on_cpu_legacy": _get("can_fuse_on_cpu_legacy"),
    "_jit_override_can_fuse_on_gpu": _set("can_fuse_on_gpu"),
    "_jit_can_fuse_on_gpu": _get("can_fuse_on_gpu"),
    "_jit_set_nvfuser_enabled": _set("nvfuser"),
    "_jit_nvfuser_enabled": _get("nvfuser"),
    "_jit_set_nvfuser_guard_mode": _exchange("nvfuser_guard_mode"),
    "_jit_set_llga_enabled": _set_and_tell("llga"),
    "_jit_llga_enabled": _get("llga"),
    "_jit_set_inline_everything_mode": _set("inline_everything"),
    "_jit_get_inline_everything_mode": _get("inline_everything"),
    "_jit_set_autocast_mode": script_autocasts,
    "_jit_set_symbolic_shapes_test_mode": _exchange("symbolic_shapes_test"),
    "_jit_symbolic_shapes_test_mode_enabled": _get("symbolic_shapes_test"),
    "_jit_opt_conditionals": _set("opt_conditionals"),
    "_jit_cat_wo_conditionals": _set("cat_wo_conditionals"),
    "_debug_set_fusion_group_inlining": _set("fusion_group_inlining"),
    "_debug_get_fusion_group_inlining": _get("fusion_group_inlining"),
    "_debug_set_autodiff_subgraph_inlining": _set("autodiff_subgraph_inlining"),
    "_jit_set_logging_option": _set("logging_option"),
    "_jit_get_logging_option": _get("logging_option"),
    "_jit_set_tracer_state_warn": _set("tracer_warnings"),
    "_jit_has_cpp_tests": lambda: False,
    "_jit_set_emit_hooks": set_emit_hooks,
    "_jit_get_emit_hooks": emit_hooks,
    "_jit_get_tracer_state_warn": _get("tracer_warnings"),
    "_jit_set_utf8_decoding_ignore": _set("utf8_ignore"),
}
"""The functions that `torch._C` has for them, by name."""
