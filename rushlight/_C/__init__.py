"""What Python sees of torch's compiled part: graphs, types, schemas, passes, settings.

Everything is found when it is first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ..module_names import names_of
from . import _nn as _nn

_MODULES = {
    ".handles": "AliasDb Block Graph Node Use Value",
    ".alias_checks": "_jit_check_alias_annotation",
    ".schemas": "Argument FunctionSchema parse_schema",
    ".functions": (
        "CompilationUnit ScriptFunction ScriptMethod ScriptModule ScriptObject "
        "_create_function_from_graph _get_model_extra_files_from_buffer "
        "_ivalue_debug_python_object _jit_assert_is_instance "
        "_jit_get_all_schemas _jit_get_schemas_for_operator _jit_interpret_graph "
        "_last_executed_optimized_graph parse_ir"
    ),
    "..interpreter.values.shared": "ScriptDict ScriptList",
    "..interpreter.values.tasks": "Future",
    "..interpreter.values.awaits": "_Await",
    ".script_objects": "_jit_debug_module_iterators",
    "..jit._await": "_awaitable _awaitable_nowait _awaitable_wait",
    "..jit.freezing": "_freeze_module",
    "..jit.shared_types": "_jit_clear_class_registry",
    "..testing.file_check": "FileCheck",
    ".asked": (
        "DisableTorchFunction DisableTorchFunctionSubclass _TensorMeta "
        "_disabled_torch_dispatch_impl _disabled_torch_function_impl "
        "_get_privateuse1_backend_name _log_api_usage_once "
        "_log_api_usage_metadata _warn_deprecation _TensorBase _are_functorch_transforms_active "
        "_get_accelerator _get_default_device _is_alias_of _is_torch_function_mode_enabled "
        "_len_torch_function_stack _len_torch_dispatch_stack _get_dispatch_stack_at "
        "_get_cudnn_enabled TensorBase _set_grad_enabled _LinAlgError "
        "_get_cpu_capability _infer_size "
        "_has_cuda _has_cudnn _has_cusparselt _has_magma _has_mps _has_xpu _mps_is_available"
    ),
    "..": "Generator",
    ".convolution_ways": "_ConvBackend _select_conv_backend",
    ".dispatch": (
        "DispatchKey DispatchKeySet Tag _AutoDispatchBelowAutograd _DisableFuncTorch "
        "_DisableTorchDispatch _ExcludeDispatchKeyGuard"
    ),
    ".tracing": "_get_tracing_state _is_tracing _set_tracing_state",
    ".walks": (
        "_WeakTensorRef _current_autograd_node _current_graph_task_id _will_engine_execute_node"
    ),
    ".function_state": (
        "_TorchFunctionState _get_torch_function_state _set_torch_function_state "
        "_is_torch_function_all_disabled _pop_torch_function_stack"
    ),
    ".variable_functions": "_VariableFunctions _VariableFunctionsClass",
    "..record_files": "PyTorchFileReader PyTorchFileWriter",
    "..settings": "has_lapack has_spectral",
}
_PLACES = {name: module for module, names in _MODULES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    if name in _PLACES:
        return getattr(import_module(_PLACES[name], __name__), name)
    for module, table in ((".types", "CLASSES"), (".passes", "PASSES"), (".settings", "SWITCHES")):
        found = getattr(import_module(module, __name__), table)
        if name in found:
            return found[name]
    return _listed(name)


_listed = names_of(
    __name__, *("_autograd", "_cpu", "_fft", "_functions", "_functorch", "_linalg", "_special")
)


def __dir__() -> list[str]:
    tables = ((".types", "CLASSES"), (".passes", "PASSES"), (".settings", "SWITCHES"))
    names = {n for m, t in tables for n in getattr(import_module(m, __name__), t)}
    return sorted(names | set(_PLACES) | set(globals()))
