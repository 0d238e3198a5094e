"""Copies of scripted modules with copies of their classes, so that both can be changed.

All values but the modules below are shared with the original, lists and dicts too; a module with
`__getstate__` and `__setstate__` takes its state by these.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ...ir.graphs.clone import clone_graph
from ...ir.graphs.graph import Block, Graph
from ...typecheck.definitions.class_types import ClassType, FunctionType
from ...typecheck.definitions.functions import Function
from ...typecheck.definitions.schema import Argument, Signature
from ...typecheck.types.types import Type
from .objects import ScriptObject

__all__ = ["ObjectCloning"]


class ObjectCloning:
    """One copy of each class and object; `rename` gives the copied classes their names."""

    def __init__(self, rename: Callable[[str], str]) -> None:
        self._rename = rename
        self.classes: dict[ClassType, ClassType] = {}
        self.objects: dict[int, ScriptObject] = {}

    def instance(self, source: ScriptObject) -> ScriptObject:
        """The copy of an object."""
        known = self.objects.get(id(source))
        if known is None:
            known = self.objects[id(source)] = ScriptObject(self.cls(source.cls))
            known.slots[:] = [self._value(value) for value in source.slots]
            if source.has_state_methods:
                known.take_state(source.state())
        return known

    def _value(self, value: object) -> object:
        if isinstance(value, ScriptObject) and value.cls.is_module:
            return self.instance(value)
        return value

    def cls(self, source: ClassType) -> ClassType:
        """The copy of a class, its methods included."""
        known = self.classes.get(source)
        if known is not None:
            return known
        copy = replace(
            source,
            qualified_name=self._rename(source.qualified_name),
            constants=dict(source.constants),
            attributes={},
            methods={},
            properties={},
            finder=[],
            forward_pre_hooks=[],
            forward_hooks=[],
        )
        self.classes[source] = copy
        for attribute in source.attributes.values():
            copy.add_attribute(attribute.name, self.type(attribute.type), attribute.kind)
        for name, method in list(source.methods.items()):
            copy.methods[name] = self._function(method, copy)
        for name, (getter, setter) in source.properties.items():
            made = None if setter is None else self._function(setter, copy)
            copy.properties[name] = (self._function(getter, copy), made)
        copy.forward_pre_hooks.extend(self._function(f, copy) for f in source.forward_pre_hooks)
        copy.forward_hooks.extend(self._function(f, copy) for f in source.forward_hooks)
        copy.finder.append(lambda name: self._found(source, copy, name))
        return copy

    def _found(self, source: ClassType, copy: ClassType, name: str) -> Function | None:
        """A method that the source's class finds only now."""
        method = source.method(name)
        if method is None:
            return None
        copy.methods[name] = self._function(method, copy)
        return copy.methods[name]

    def _function(self, source: Function, owner: ClassType) -> Function:
        def define(function: Function) -> None:
            source.ensure_defined()
            function.declared = self._signature(source.signature)
            if isinstance(source.graph, Graph):
                function.graph = self.graph(source.graph)

        name = f"{owner.qualified_name}.{source.name}"
        copy = Function(name, define=define, owner=owner, python=source.python, guard=source.guard)
        copy.ensure_defined()
        return copy

    def _signature(self, signature: Signature) -> Signature:
        def argument(one: Argument) -> Argument:
            return replace(one, type=self.type(one.type))

        return replace(
            signature,
            arguments=tuple(map(argument, signature.arguments)),
            returns=tuple(map(argument, signature.returns)),
        )

    def type(self, source: Type) -> Type:
        """A type with the copies of the modules' classes in it."""
        if isinstance(source, ClassType):
            return self.cls(source) if source.is_module else source
        if not source.contained or isinstance(source, FunctionType):
            return source
        return source.with_contained(tuple(map(self.type, source.contained)))

    def graph(self, source: Graph) -> Graph:
        """A copy of a graph over the copied classes."""
        copy = clone_graph(source)
        self._retype(copy.block)
        return copy

    def _retype(self, block: Block) -> None:
        for value in block.inputs:
            value.type = self.type(value.type)
        for node in block.nodes:
            for value in node.outputs:
                value.type = self.type(value.type)
            for inner in node.blocks:
                self._retype(inner)
            task = node.attributes.get("Subgraph")
            if isinstance(task, Graph):
                node.attributes["Subgraph"] = self.graph(task)
