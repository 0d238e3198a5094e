"""`torch.fx.passes.shape_prop`: what tensors the nodes of a graph give, found by running it."""

from __future__ import annotations

import traceback
from typing import Any, Final, NamedTuple

from ...ops.memory.dtype import MEMORY_FORMATS, DType, MemoryFormat
from ...ops.tensors.sizes import Size
from ...ops.tensors.tensor import Tensor
from ..graph_module import GraphModule
from ..interpreter import Interpreter
from ..node import Node, map_aggregate

__all__ = ["ShapeProp", "TensorMetadata"]

_FORMATS: Final = tuple(
    MEMORY_FORMATS[name] for name in ("contiguous_format", "channels_last", "channels_last_3d")
)


class TensorMetadata(NamedTuple):
    """All of a tensor but its elements."""

    shape: Size
    dtype: DType
    requires_grad: bool
    stride: tuple[int, ...]
    memory_format: MemoryFormat | None
    is_quantized: bool
    qparams: dict[str, object]


def _quantization(tensor: Tensor) -> dict[str, object]:
    scheme = tensor.qscheme()
    known = {"qscheme": scheme}
    if "channel" not in str(scheme):
        return {**known, "scale": tensor.q_scale(), "zero_point": tensor.q_zero_point()}
    return {
        **known,
        "scale": tensor.q_per_channel_scales().tolist(),
        "zero_point": tensor.q_per_channel_zero_points().tolist(),
        "axis": tensor.q_per_channel_axis(),
    }


def _extract_tensor_metadata(result: Tensor, include_contiguity: bool = True) -> TensorMetadata:
    """What is known of a tensor."""
    formats = _FORMATS if include_contiguity else ()
    fitting = (each for each in formats if result.is_contiguous(memory_format=each))
    return TensorMetadata(
        result.shape,
        result.dtype,
        result.requires_grad,
        tuple(result.stride()),
        next(fitting, None),
        result.is_quantized,
        _quantization(result) if result.is_quantized else {},
    )


class ShapeProp(Interpreter):
    """Runs a graph and leaves in each node's `meta` what it gave.

    `tensor_meta` is of a tensor, or of the containers of tensors; `type` is the value's class.
    """

    def __init__(self, gm: GraphModule, fake_mode: object = None) -> None:
        super().__init__(gm)
        self.fake_module: GraphModule | None = None
        self.fake_mode = fake_mode
        self.real_module = self.module

    def run_node(self, n: Node) -> Any:
        """Run a node and note what it gives.

        Raises:
            RuntimeError: it fails.
        """
        try:
            result = super().run_node(n)
        except Exception as error:
            traceback.print_exc()
            raise RuntimeError(
                f"ShapeProp error for: node={n.format_node()} with meta={n.meta}"
            ) from error
        found: list[Tensor] = []

        def known(value: object) -> object:
            if not isinstance(value, Tensor):
                return value
            found.append(value)
            return _extract_tensor_metadata(value)

        meta = map_aggregate(result, known)
        if found:
            n.meta["tensor_meta"] = meta
        n.meta["type"] = type(result)
        return result

    def propagate(self, *args: object) -> Any:
        """Run the whole graph."""
        return super().run(*args)
