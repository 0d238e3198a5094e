"""Observers of a traced model exchanged for quantizers, and layers for reference ones."""

from __future__ import annotations

import copy
from typing import Any, Final

from ....fx.graph_module import GraphModule
from ....fx.node import Node
from ....module_names import names_of
from ....nn.modules.container import Sequential
from ....nn.modules.module import Module
from ....ops.eager.dispatch import eager_function
from ....ops.memory.dtype import DTYPES, QSCHEMES, DType
from ....ops.tensors.tensor import Tensor
from ...nn.intrinsic.modules.fused import _FusedModule
from ..backend_config.backend_config import BackendConfig
from ..qconfig_traits import get_qparam_dict, is_per_channel
from .fuse import put_module
from .prepare import Quantized

__all__ = ["exchange_observers", "exchange_weights"]

_PER_TENSOR: Final = eager_function("aten::quantize_per_tensor")
_PER_CHANNEL: Final = eager_function("aten::quantize_per_channel")
_QUANTIZED: Final = ("quint8", "qint8", "qint32")


# --------------------------------------------------------------------------- observers


def exchange_observers(model: GraphModule) -> None:
    """Put quantizers and dequantizers in the place of observers; those that only say go."""
    places = _Places(model)
    for node in list(model.graph.nodes):
        if _is_observer(node):
            _exchange(model, node, places)
    model.recompile()


def _is_observer(node: Node) -> bool:
    return node.op == "call_module" and str(node.target).startswith("activation_post_process_")


class _Places:
    """Names for scales and zero points: by the layers at whose results or operands they are."""

    def __init__(self, model: GraphModule) -> None:
        self.model = model

    def prefix(self, node: Node) -> str:
        made = node.args[0]
        assert isinstance(made, Node)
        if made.op == "call_module":
            return str(made.target).replace(".", "_") + "_"
        if made.op in ("placeholder", "get_attr"):
            user = next(iter(node.users), None)
            owner = "" if user is None or user.op != "call_module" else str(user.target)
            kept = "" if made.op == "get_attr" else "input_"
            return f"{owner.replace('.', '_')}_{kept}"
        return "_"

    def put(self, prefix: str, kind: str, value: Tensor) -> str:
        """Keep a number as a buffer; its name."""
        count = 0
        while hasattr(self.model, f"{prefix}{kind}_{count}"):
            count += 1
        name = f"{prefix}{kind}_{count}"
        self.model.register_buffer(name, value)
        return name


def _exchange(model: GraphModule, node: Node, places: _Places) -> None:
    observer = model.get_submodule(str(node.target))
    source, graph = node.args[0], model.graph
    assert isinstance(source, Node)
    dtype: DType = observer.dtype
    if dtype.name not in _QUANTIZED or getattr(observer, "is_dynamic", False):
        node.replace_all_uses_with(source)
        graph.erase_node(node)
        return
    scale, zero_point = observer.calculate_qparams()
    prefix = places.prefix(node)
    by_channel = is_per_channel(observer.qscheme)
    if not by_channel:
        scale, zero_point = scale.reshape([]), zero_point.reshape([])
    with graph.inserting_before(node):
        numbers = tuple(
            graph.get_attr(places.put(prefix, kind, value.detach()))
            for kind, value in (("scale", scale), ("zero_point", zero_point))
        )
        axis = (int(observer.ch_axis),) if by_channel else ()
        function = _PER_CHANNEL if by_channel else _PER_TENSOR
        made = graph.call_function(function, (source, *numbers, *axis, dtype))
        result = graph.call_method("dequantize", (made,))
    node.replace_all_uses_with(result)
    graph.erase_node(node)


# --------------------------------------------------------------------------- weights


def exchange_weights(
    model: GraphModule, quantized: list[Quantized], backend: BackendConfig
) -> None:
    """Put reference layers in the place of those whose weights are quantized.

    Raises:
        NotImplementedError: a layer that has no reference form.
    """
    references = {
        entry.root_module: entry.reference_quantized_module
        for entry in backend.configs
        if entry.root_module is not None
    }
    for each in quantized:
        node = each.found.first
        module: Any = model.get_submodule(str(node.target)) if node.op == "call_module" else None
        inner = module[0] if isinstance(module, _FusedModule) and len(module) else module
        is_trained = hasattr(module, "weight_fake_quant")
        if type(inner) not in references and not is_trained:
            continue
        kind = references.get(type(inner)) or each.found.entry.reference_quantized_module
        if kind is None:
            raise NotImplementedError(
                f"convert_to_reference_fx: {type(inner).__name__} ({node.target}) has no "
                "reference form"
            )
        put_module(model, str(node.target), _referring(module, each, kind))


def _referring(module: Module, each: Quantized, kind: Any) -> Module:
    """The reference layer of a float one, or of one that was trained; within the fused layer."""
    observer = getattr(module, "weight_fake_quant", None)
    if observer is not None:
        module = module.to_float()
    outer = module
    if isinstance(module, Sequential):
        module = module[0]
    observer = each.qconfig.weight() if observer is None else observer
    observer(module.weight)
    made: Module = kind.from_float(module, _parameters(observer))
    if outer is module:
        return made
    outer = copy.copy(outer)
    outer._modules = {**outer._modules, "0": made}
    return outer


def _parameters(observer: Module) -> dict[str, object]:
    """How a weight is to be quantized, by its observer."""
    if observer.dtype is DTYPES["float16"]:
        return {"qscheme": None, "dtype": DTYPES["float16"]}
    made = get_qparam_dict(observer)
    name = str(made["qscheme"]).removeprefix("torch.").replace("symmetric", "affine")
    return {**made, "qscheme": QSCHEMES[name]}


__getattr__ = names_of(__name__)
