"""Layers of a traced model that become one."""

from __future__ import annotations

from ....fx.graph_module import GraphModule
from ....module_names import names_of
from ....nn.modules import activation
from ....nn.modules.module import Module
from ..backend_config.backend_config import BackendConfig
from ..backend_config.native import get_native_backend_config
from .matching import Found, find

__all__ = ["fuse", "put_module", "with_used"]


def put_module(model: Module, path: str, module: Module) -> None:
    """Put a module at a path, in the place of another."""
    parent, _, name = path.rpartition(".")
    setattr(model.get_submodule(parent) if parent else model, name, module)


def with_used(model: GraphModule) -> GraphModule:
    """A model with the parts that its graph names, and no others."""
    model.graph.lint()
    made = GraphModule(model, model.graph, type(model).__name__)
    made.meta.update(model.meta)
    made.training = model.training
    return made


def fuse(
    model: GraphModule, is_qat: bool, backend_config: BackendConfig | None = None
) -> GraphModule:
    """Fuse what a backend's patterns fuse; the model's graph changes.

    Raises:
        AssertionError: layers that cannot be fused, such as norms in training.
    """
    backend = backend_config or get_native_backend_config()
    modules = dict(model.named_modules())
    nodes = list(model.graph.nodes)
    for found in find(nodes, modules, backend, lambda entry: entry.fuser_method is not None):
        if found.first.op == "call_module":
            _fuse(model, found, modules, is_qat)
    return with_used(model)


def _fuse(model: GraphModule, found: Found, modules: dict[str, Module], is_qat: bool) -> None:
    parts: list[Module] = []
    for node in found.nodes:
        is_module = node.op == "call_module"
        part = modules[str(node.target)] if is_module else activation.ReLU()
        parts.append(part.train(parts[0].training) if parts and not is_module else part)
    assert found.entry.fuser_method is not None
    made = found.entry.fuser_method(is_qat, *parts)
    path = str(found.first.target)
    put_module(model, path, made)
    modules[path] = made
    found.last.replace_all_uses_with(found.first)
    for node in reversed(found.nodes[1:]):
        model.graph.erase_node(node)


__getattr__ = names_of(__name__)
