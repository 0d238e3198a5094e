"""`torch.jit`: compile, save and load TorchScript."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Final

from .._C.handles import Graph
from .._C.tracing import _get_tracing_state
from ..frontend.diagnostics.exceptions import ScriptError as Error
from ..frontend.diagnostics.exceptions import ScriptWarning
from ..module_names import names_of
from ..ops.tensors.overriding import asks, has_torch_function, has_torch_function_unary
from ..typecheck.definitions.names import SpecialForm
from . import _state, frontend
from . import host as host  # it tells the floors below
from ._await import _Await, _awaitable, _awaitable_nowait, _awaitable_wait
from .classes import interface
from .decorators import (
    Attribute,
    _drop,
    _IgnoreContextManager,
    annotate,
    export,
    ignore,
    is_scripting,
    is_tracing,
    unused,
)
from .function import ScriptFunction, ScriptMethod
from .module import RecursiveScriptModule, ScriptModule
from .overloads import overload as _overload
from .overloads import overload_method as _overload_method
from .resolver import register_special
from .script import script, script_method
from .scripted_objects import RecursiveScriptClass
from .session import collecting
from .settings import (
    enable_onednn_fusion,
    fuser,
    onednn_fusion_enabled,
    optimized_execution,
    set_fusion_strategy,
    strict_fusion,
)
from .special_names import unwrap_optional as _unwrap_optional
from .tasks import Future, fork, wait
from .tasks import fork as _fork
from .tasks import wait as _wait
from .trace import (
    TracerWarning,
    _get_trace_graph,
    _unique_state_dict,
    script_if_tracing,
    trace,
    trace_module,
)
from .trace_checks import TracingCheckError
from .traced_modules import TopLevelTracedModule, TracedModule
from .type_tests import isinstance  # noqa: A004
from .unit import CompilationUnit

if TYPE_CHECKING:  # programs that neither read, write nor freeze need not load what does
    from .archives import jit_module_from_flatbuffer, load, save, save_jit_module_to_flatbuffer
    from .freezing import freeze, optimize_for_inference, run_frozen_optimizations
    from .inspection import export_opnames, last_executed_optimized_graph

__all__ = [
    "run_frozen_optimizations",
    "optimize_for_inference",
    "freeze",
    "last_executed_optimized_graph",
    "export_opnames",
    "strict_fusion",
    "onednn_fusion_enabled",
    "fuser",
    "enable_onednn_fusion",
    "Attribute",
    "CompilationUnit",
    "Error",
    "Future",
    "Final",
    "RecursiveScriptClass",
    "RecursiveScriptModule",
    "ScriptFunction",
    "ScriptMethod",
    "ScriptModule",
    "ScriptWarning",
    "_Await",
    "_IgnoreContextManager",
    "_awaitable",
    "_awaitable_nowait",
    "_awaitable_wait",
    "_overload",
    "_overload_method",
    "_unwrap_optional",
    "_fork",
    "_script_if_tracing",
    "_state",
    "_wait",
    "annotate",
    "annotations",
    "collecting",
    "export",
    "fork",
    "frontend",
    "ignore",
    "interface",
    "is_scripting",
    "is_tracing",
    "isinstance",
    "jit_module_from_flatbuffer",
    "load",
    "save",
    "save_jit_module_to_flatbuffer",
    "optimized_execution",
    "script",
    "script_if_tracing",
    "script_method",
    "set_fusion_strategy",
    "TopLevelTracedModule",
    "TracedModule",
    "TracerWarning",
    "TracingCheckError",
    "_drop",
    "_get_trace_graph",
    "_unique_state_dict",
    "trace",
    "trace_module",
    "unused",
    "wait",
]

_script_if_tracing = script_if_tracing


@contextmanager
def _hide_source_ranges() -> Iterator[None]:
    """Inside, texts of graphs do not say where their nodes came from."""
    before = Graph.global_print_source_ranges
    try:
        Graph.set_global_print_source_ranges(False)
        yield
    finally:
        Graph.set_global_print_source_ranges(before)


annotations = import_module(f"{__name__}.annotations")  # type: ignore[assignment]  # not the feature

register_special(annotate, SpecialForm("annotate"))
register_special(is_scripting, SpecialForm("is_scripting"))
register_special(asks, SpecialForm("asks"))
register_special(has_torch_function, SpecialForm("asks"))
register_special(has_torch_function_unary, SpecialForm("asks"))
register_special(is_tracing, SpecialForm("is_tracing"))
register_special(_get_tracing_state, SpecialForm("is_tracing"))
register_special(isinstance, SpecialForm("isinstance"))
register_special(fork, SpecialForm("fork"))
register_special(wait, SpecialForm("wait"))

_ARCHIVES = ("jit_module_from_flatbuffer", "load", "save", "save_jit_module_to_flatbuffer")
_FREEZING = ("freeze", "optimize_for_inference", "run_frozen_optimizations")
_INSPECTION = ("export_opnames", "last_executed_optimized_graph")
__getattr__ = names_of(  # which most programs never name
    *(__name__, "mobile", "_logging", "_recursive"),
    **dict.fromkeys(_ARCHIVES, "archives"),
    **dict.fromkeys(_FREEZING, "freezing"),
    **dict.fromkeys(_INSPECTION, "inspection"),
)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
