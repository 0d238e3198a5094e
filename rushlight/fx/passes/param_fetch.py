"""`torch.fx.passes.param_fetch`: the attributes of layers that compute what they compute."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ... import nn
from ...nn.modules.module import Module
from .._names import torch_module
from ..graph_module import GraphModule

__all__ = ["default_matching", "extract_attrs_for_lowering", "lift_lowering_attrs_to_nodes"]


def default_matching(name: str, target_version: int) -> str:
    """The name itself."""
    del target_version
    return name


_CONV: Final = """weight bias kernel_size stride padding dilation groups padding_mode""".split()
_NORM: Final = "weight bias running_mean running_var eps".split()
_POOL: Final = "kernel_size stride padding dilation return_indices ceil_mode".split()

module_fetch_book: Final[dict[object, tuple[int, list[str], Callable[[str, int], str]]]] = {
    nn.Linear: (1, ["weight", "bias"], default_matching),
    nn.Conv2d: (1, _CONV, default_matching),
    nn.BatchNorm2d: (2, _NORM, default_matching),
    nn.AdaptiveAvgPool2d: (1, [], default_matching),
    nn.MaxPool2d: (1, _POOL, default_matching),
    nn.ReLU: (1, ["inplace"], default_matching),
}
"""For each class its version, its attributes, and what matches those of other versions."""


def extract_attrs_for_lowering(mod: Module) -> dict[str, Any]:
    """The class's name and the attributes.

    Raises:
        RuntimeError: the class is not in the book, or the module of a later version.
    """
    name = f"{torch_module(type(mod))}.{type(mod).__qualname__}"
    if type(mod) not in module_fetch_book:
        raise RuntimeError(
            f"{name} is not in the module_fetch_book yet, please add it to the module_fetch_book, "
            "open an issue and @842974287 or report a bug to AIACC team directly."
        )
    version, names, matching = module_fetch_book[type(mod)]
    if version < mod._version:
        raise RuntimeError(
            f"Fetcher version {version} try to fetch {name} version {mod._version}, please "
            "upgrade the module_fetch_book, open an issue and @842974287 or report a bug to "
            "AIACC team directly."
        )
    found: dict[str, object] = {"name": name}
    for each in names:
        found[each] = getattr(mod, matching(each, mod._version))
    return found


def lift_lowering_attrs_to_nodes(fx_module: GraphModule) -> None:
    """Give each node that calls a layer the attributes, as `attrs_for_lowering`."""
    modules = dict(fx_module.named_modules())
    for node in fx_module.graph.nodes:
        if node.op != "call_module":
            continue
        module = modules[str(node.target)]
        if isinstance(module, GraphModule):
            lift_lowering_attrs_to_nodes(module)
        else:
            node.attrs_for_lowering = extract_attrs_for_lowering(module)
