"""`torch.fx.graph_module`: a module that computes a graph, by Python code made of it."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from ..frontend.foundations.port import Port
from ..module_names import names_of
from ..nn.modules.module import Module
from ._attributes import assign_attr as _assign_attr
from ._attributes import copy_attr as _copy_attr
from ._attributes import del_attr as _del_attr
from ._attributes import get_attr as _get_attr
from ._attributes import has_attr as _has_attr
from ._folder import write_folder
from ._generated_source import forward_of as _forward_from_src
from ._generated_source import import_block as _import_block
from ._generated_source import tell_line
from ._readable import readable
from .graph import Graph, PythonCode, _PyTreeCodeGen

__all__ = ["GraphModule", "reduce_graph_module", "reduce_package_graph_module"]

_HOOKS: Final = ("_replace_hooks", "_create_node_hooks", "_erase_node_hooks", "_deepcopy_hooks")
TRACER: Final[Port[type[Any]]] = Port()
"""The class that makes graphs of modules."""
_USER_PRESERVED_ATTRIBUTES_KEY: Final = "_user_preserved_attributes"
"""The key in `GraphModule.meta` of attributes that copies have too."""
_KEPT_IN_COPIES: Final = (
    *("_state_dict_hooks", "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks"),
    *("_state_dict_pre_hooks", *_HOOKS),
)


# --------------------------------------------------------------------------------- pickles


class _CodeOnlyModule(Module):
    """What a pickle holds of a GraphModule; its `forward` gives the graph again."""

    def __init__(self, body: dict[str, object]) -> None:
        super().__init__()
        self.__dict__ = body


def reduce_graph_module(body: dict[str, Any], import_block: str) -> Module:
    """A GraphModule of what a pickle holds: attributes, source and the imports of this."""
    source = body.get("_code") or body["code"]
    forward = _forward_from_src(import_block + source, {})
    return _deserialize_graph_module(forward, body)


def reduce_package_graph_module(
    importer: Any, body: dict[str, object], generated_module_name: str
) -> Module:
    """A GraphModule of what a package of `torch.package` holds."""
    forward = importer.import_module(generated_module_name).forward
    return _deserialize_graph_module(forward, body)


def _deserialize_graph_module(
    forward: Callable[..., object],
    body: dict[str, Any],
    graph_module_cls: type[GraphModule] | None = None,
) -> Module:
    assert TRACER.installed is not None
    tracer: Any = (body.get("_tracer_cls") or TRACER.installed)()
    tracer.is_leaf_module = lambda module, name: True  # modules below were kept as they are
    shell = type("_CodeOnlyModule", (_CodeOnlyModule,), {"forward": forward})(body)
    name = body.get("_graphmodule_cls_name", "GraphModule")
    graph = tracer.trace(shell, **(body.get("_tracer_extras") or {}))
    graph._tracer_cls = body.get("_tracer_cls")
    made = (graph_module_cls or GraphModule)(shell, graph, class_name=name)
    for key, value in body.items():
        if not hasattr(made, key):
            setattr(made, key, value)
    for table in ("_modules", "_parameters", "_buffers"):  # of which the graph needs only some
        for key, value in body.get(table, {}).items():
            vars(made)[table].setdefault(key, value)
    return made


# ------------------------------------------------------------------------------ the module


class GraphModule(Module):
    """A module whose `forward` is made of a graph.

    Every instance has a class of its own, which holds its `forward`.

    Args:
        root: what the graph's names refer to: a module, or a dict of dotted names.
        class_name: the name that its class shows.

    Raises:
        RuntimeError: `root` is neither, or lacks something that the graph names.
    """

    __jit_unused_properties__: Final = ["graph"]

    def __new__(cls: type[GraphModule], *args: object, **kwargs: object) -> GraphModule:
        for base in cls.__mro__:
            if not base.__qualname__.endswith("GraphModuleImpl"):
                cls = base
                break
        made: GraphModule = super().__new__(_class_of_one(cls))
        return made

    def __init__(
        self, root: Module | dict[str, object], graph: Graph, class_name: str = "GraphModule"
    ) -> None:
        super().__init__()
        self.__class__.__name__ = class_name
        if isinstance(root, Module):
            self._take_from_module(root, graph)
        elif isinstance(root, dict):
            self._take_from_dict(root, graph)
        else:
            raise RuntimeError(f"Unsupported type {root} passed for root!")
        self.graph = graph
        tracer = graph._tracer_cls
        self._tracer_cls = None
        if tracer is not None and "<locals>" not in tracer.__qualname__:
            self._tracer_cls = tracer
        self._tracer_extras = graph._tracer_extras or {}
        self.meta: dict[str, Any] = {}
        for hooks in _HOOKS:
            setattr(self, hooks, [])
        self.shape_env: object = None

    def _take_from_module(self, root: Module, graph: Graph) -> None:
        if hasattr(root, "training"):
            self.training = root.training
        for node in graph.nodes:
            if node.op in ("get_attr", "call_module"):
                _copy_attr(root, self, str(node.target))

    def _take_from_dict(self, root: Mapping[str, object], graph: Graph) -> None:
        named = [node for node in graph.nodes if node.op in ("get_attr", "call_module")]
        for node in named:
            if node.target not in root:
                raise RuntimeError(
                    f"Node {node} referenced target {node.target} but that target was not "
                    "provided in ``root``!"
                )
        targets = {str(node.target): None for node in named}
        for target in sorted(targets, key=lambda each: each.count(".")):
            _assign_attr(root[target], self, target)

    @property
    def graph(self) -> Graph:
        """The graph; after a change of it, `recompile` makes the code anew."""
        return self._graph

    @graph.setter
    def graph(self, g: Graph) -> None:
        if not isinstance(g, Graph):
            raise AssertionError(f"Expected a Graph instance, but got {type(g)}")
        self._graph = g
        g.owning_module = self
        self.recompile()

    # -- code ----------------------------------------------------------------------------------

    @property
    def code(self) -> str:
        """The source of `forward`.

        Raises:
            RuntimeError: none has been made.
        """
        if not hasattr(self, "_code"):
            raise RuntimeError("Code has not been generated! Please report a bug to PyTorch")
        return self._code

    def recompile(self) -> PythonCode:
        """Make the code anew after the graph was changed."""
        codegen = self._graph._codegen
        if isinstance(codegen, _PyTreeCodeGen):
            self._in_spec = codegen.pytree_info.in_spec
            self._out_spec = codegen.pytree_info.out_spec
        made = self._graph.python_code(root_module="self")
        self._code = made.src
        self._lineno_map = made._lineno_map
        self._prologue_start = made._prologue_start
        cls = type(self)
        cls.forward = _forward_from_src(self._code, made.globals, self._graph._co_fields)
        return made

    def print_readable(
        self,
        print_output: bool = True,
        include_stride: bool = False,
        include_device: bool = False,
        colored: bool = False,
        *,
        fast_sympy_print: bool = False,
        expanded_def: bool = False,
        additional_meta: list[str] | None = None,
    ) -> str:
        """The source, and those of GraphModules below, as classes; printed and given back.

        Args:
            include_stride: tell strides of tensors.
            include_device: tell devices of tensors.
            colored: with codes for terminals.
            expanded_def: each parameter on a line of its own.
            additional_meta: keys of `Node.meta` to tell.
        """
        del fast_sympy_print
        options = {
            "include_stride": include_stride,
            "include_device": include_device,
            "colored": colored,
            "expanded_def": expanded_def,
            "additional_meta": additional_meta,
        }
        text = readable(self, type(self).__name__, options)
        if print_output:
            print(text)
        return text

    def __str__(self) -> str:
        note = "# To see more debug info, please use `graph_module.print_readable()`"
        return "\n".join([super().__repr__(), self._code, note])

    def to_folder(self, folder: str | os.PathLike[str], module_name: str = "FxModule") -> None:
        """Write a package that defines the module: source, a state dict, modules below.

        Args:
            module_name: the name of the class in it.
        """
        write_folder(self, Path(folder), module_name)

    # -- modules below -------------------------------------------------------------------------

    def add_submodule(self, target: str, m: Module) -> bool:
        """Put a module at a dotted name, with plain modules on the way.

        Returns:
            False where something else than a module is on the way.
        """
        *path, last = target.split(".")
        module: Module = self
        for part in path:
            if not hasattr(module, part):
                setattr(module, part, Module())
            below = getattr(module, part)
            if not isinstance(below, Module):
                return False
            module = below
        module.add_module(last, m)
        return True

    def delete_submodule(self, target: str) -> bool:
        """Take the module at a dotted name away.

        Returns:
            False where there is none.
        """
        if not _has_attr(self, target) or not isinstance(_get_attr(self, target), Module):
            return False
        _del_attr(self, target)
        return True

    def delete_all_unused_submodules(self) -> None:
        """Take away all modules below that no node calls, reads from, or needs a part of."""
        used: set[str] = set()
        for node in self.graph.nodes:
            if node.op in ("call_module", "get_attr"):
                parts = str(node.target).split(".")
                used |= {".".join(parts[: place + 1]) for place in range(len(parts))}
            if node.op == "call_module":
                used |= self._below(str(node.target))
        for name in [name for name, _ in self.named_modules() if name and name not in used]:
            self.delete_submodule(name)

    def _below(self, target: str) -> set[str]:
        try:
            module = self.get_submodule(target)
        except AttributeError:  # it is not there, so nothing below it is needed
            return set()
        return {f"{target}.{name}" for name, _ in module.named_modules() if name}

    # -- calls ---------------------------------------------------------------------------------

    def __call__(self, *args: object, **kwargs: object) -> Any:
        """What `forward` gives; of what a line of its code raises, stderr hears which it was."""
        try:
            return super().__call__(*args, **kwargs)
        except Exception as raised:
            tell_line(raised, type(self).forward)
            raise

    # -- copies --------------------------------------------------------------------------------

    def _replicate_for_data_parallel(self) -> GraphModule:
        """A copy with the same graph, parameters and modules."""
        made = copy.copy(self)
        vars(made)["_is_replica"] = True
        return made

    def _deepcopy_init(self) -> Callable[..., None]:
        return GraphModule.__init__

    def __deepcopy__(self, memo: dict[int, object]) -> GraphModule:
        made = type(self).__new__(type(self))
        memo[id(self)] = made
        shell = _CodeOnlyModule(copy.deepcopy(self.__dict__, memo))
        self._deepcopy_init()(made, shell, shell.__dict__["_graph"])
        for name in _KEPT_IN_COPIES:
            if name in self.__dict__:
                setattr(made, name, copy.deepcopy(self.__dict__[name], memo))
        made.meta = copy.deepcopy(getattr(self, "meta", {}), memo)
        for name, value in made.meta.get(_USER_PRESERVED_ATTRIBUTES_KEY, {}).items():
            setattr(made, name, value)
        for hook in self._deepcopy_hooks:
            hook(made)
        return made

    def __copy__(self) -> GraphModule:
        made = GraphModule(self, self.graph)
        made.meta = getattr(self, "meta", {})
        return made

    def __reduce__(self) -> tuple[object, ...]:
        body = self.__dict__.copy()
        python = self.recompile()
        del body["_graph"]
        return reduce_graph_module, (body, _import_block(python.globals))

    def __reduce_package__(self, exporter: Any) -> Any:
        body = self.__dict__.copy()
        body["_graphmodule_cls_name"] = type(self).__name__
        del body["_graph"]
        name = f"fx-generated._{exporter.get_unique_id()}"
        python = self.recompile()
        imports = _import_block(python.globals, exporter.importer.get_name)
        source = f"{imports}\n{self.code}"
        exporter.save_source_string(name, source)
        return reduce_package_graph_module, (body, name)

    # -- hooks ---------------------------------------------------------------------------------

    def _register_replace_node_hook(self, f: Callable[..., object]) -> None:
        """Call a function whenever an argument of a node is exchanged for another."""
        self._replace_hooks.append(f)

    def _unregister_replace_node_hook(self, f: Callable[..., object]) -> None:
        self._replace_hooks.remove(f)

    def _register_create_node_hook(self, f: Callable[..., object]) -> None:
        """Call a function with every new node."""
        self._create_node_hooks.append(f)

    def _unregister_create_node_hook(self, f: Callable[..., object]) -> None:
        self._create_node_hooks.remove(f)

    def _register_erase_node_hook(self, f: Callable[..., object]) -> None:
        """Call a function with every node that is taken out."""
        self._erase_node_hooks.append(f)

    def _unregister_erase_node_hook(self, f: Callable[..., object]) -> None:
        self._erase_node_hooks.remove(f)

    def _register_deepcopy_hook(self, f: Callable[..., object]) -> None:
        """Call a function with every deep copy."""
        self._deepcopy_hooks.append(f)

    def _unregister_deepcopy_hook(self, f: Callable[..., object]) -> None:
        self._deepcopy_hooks.remove(f)


def _class_of_one(cls: type[GraphModule]) -> type[GraphModule]:
    """A class for one instance."""

    class GraphModuleImpl(cls):  # type: ignore[valid-type,misc]
        """Holds the `forward` of one GraphModule."""

    GraphModuleImpl.__module__ = GraphModule.__module__
    GraphModuleImpl.__qualname__ = "GraphModule.__new__.<locals>.GraphModuleImpl"
    return GraphModuleImpl


__getattr__ = names_of(__name__)
