"""Tensors and the operator table.

Importing this part fills the table: each room of operators imports the files that declare them.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from . import (
    arithmetic,
    layers,
    linear_algebra,
    losses,
    pooling,
    python_values,
    quantized_tensors,
    random_numbers,
    reductions,
    resizing,
    selection,
    shapes,
    signals,
)
from .eager import elsewhere
from .memory import metadata
from .quantized_tensors import dispatch  # joins forms to what is declared above
from .table import autocast, grad_mode
from .table.table import TABLE
from .tensors import script_gradients, tape_port

TABLE.later("torchvision::", lambda: import_module(".detection", __name__))
for _name in ("torchaudio", "_torchaudio"):
    TABLE.later(f"{_name}::", lambda: import_module(".audio", __name__))
TABLE.later("prims::", lambda: import_module(".primitives", __name__))
for _name in ("_foreach_", "_fused_ada", "_fused_sgd"):
    TABLE.later(f"aten::{_name}", lambda: import_module(".tensor_lists.calls", __name__))
TABLE.later("_test::", lambda: import_module(".layers.example_operators", __name__))
TABLE.later("profiler::", lambda: import_module(".python_values.labels", __name__))
elsewhere.install("conjugate", lambda: import_module(".conjugates.calls", __name__))
elsewhere.install("dispatch", lambda: import_module(".dispatching.calls", __name__))
elsewhere.install("meta", lambda: import_module(".meta.calls", __name__))
elsewhere.install("nested", lambda: import_module(".nested_tensors.calls", __name__))
elsewhere.install("slices", lambda: import_module(".batching.calls", __name__))
elsewhere.install("sparse", lambda: import_module(".sparse_tensors.calls", __name__))
tape_port.install(lambda: import_module(".gradients.recording.tape", __name__))
tape_port.WAY_THROUGH.install(lambda: import_module(".gradients.calls.composed", __name__).composed)

__all__ = [
    "arithmetic",
    "autocast",
    "dispatch",
    "grad_mode",
    "layers",
    "linear_algebra",
    "losses",
    "metadata",
    "pooling",
    "python_values",
    "quantized_tensors",
    "random_numbers",
    "reductions",
    "resizing",
    "script_gradients",
    "selection",
    "shapes",
    "signals",
    "elsewhere",
    "tape_port",
]


def __getattr__(name: str) -> Any:
    """`ops.aten` is `torch.ops.aten`, the operators of that namespace by name."""
    packets = import_module(".eager.packets", __name__)
    if name == "load_library":
        return packets.load_library
    if name == "loaded_libraries":
        return packets.LOADED
    if name.startswith("__"):
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    found = globals()[name] = packets.Namespace(name)
    return found
