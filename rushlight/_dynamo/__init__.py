"""`torch._dynamo`, as far as programs speak to the compiler that is not here."""

from __future__ import annotations

from typing import Any

from .. import compiler
from ..compiler import (
    allow_in_graph,
    assume_constant_result,
    disable,
    is_compiling,
    list_backends,
    reset,
)
from ..module_names import names_of
from . import eval_frame, exc, utils
from .eval_frame import OptimizedModule

__all__ = [
    "OptimizedModule",
    "allow_in_graph",
    "assume_constant_result",
    "disable",
    "disallow_in_graph",
    "eval_frame",
    "exc",
    "forbid_in_graph",
    "graph_break",
    "is_compiling",
    "is_dynamo_supported",
    "list_backends",
    "mark_dynamic",
    "mark_static",
    "mark_static_address",
    "maybe_mark_dynamic",
    "optimize",
    "reset",
    "reset_code_caches",
    "utils",
]

disallow_in_graph = forbid_in_graph = allow_in_graph


def optimize(backend: object = "inductor", **options: object) -> Any:
    """A decorator that leaves the function as it is."""
    return compiler.compile(backend=backend, **{k: v for k, v in options.items() if k == "dynamic"})


def is_dynamo_supported() -> bool:
    """Whether programs can be compiled from their byte code: no."""
    return False


def graph_break(msg: str = "") -> None:
    """End a compiled part, of which there is none."""


def mark_dynamic(t: object, index: object, **bounds: object) -> None:
    """Say that a size varies, as all sizes may."""


maybe_mark_dynamic = mark_dynamic


def mark_static(t: object, index: object = None) -> None:
    """Say that a size, or each, is always the same, which nobody asks."""


def mark_static_address(t: object, guard: bool = False) -> None:
    """Say that a tensor stays where it is."""


def reset_code_caches() -> None:
    """Forget compiled code, of which there is none."""


__getattr__ = names_of(__name__, "config")
