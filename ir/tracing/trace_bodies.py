"""Forks and functions of Python in traces: nodes with blocks, until `passes/trace_scopes.py` lifts
those out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from ...ops.tensors.tensor import Tensor
from ...typecheck.definitions.functions import PythonFunction
from ...typecheck.definitions.schema import Argument, Signature
from ...typecheck.types.types import NONE, TENSOR, FutureType, TupleType, Type
from ..graphs.graph import Node, Value
from ..graphs.tensor_types import type_of_array
from .tracing import GraphTracer

__all__ = ["TracedPythonCall", "TracedTask"]


@contextmanager
def _within(tracer: GraphTracer, node: Node) -> Iterator[None]:
    """A new block of the node is written: what is made in it is known in there alone."""
    outside, known = tracer.graph.insertion, tracer.known
    tracer.graph.insertion, tracer.known = node.add_block().ret, dict(known)
    try:
        yield
    finally:
        tracer.graph.insertion, tracer.known = outside, known


class TracedTask:
    """A fork in a graph that is being traced."""

    def __init__(self, tracer: GraphTracer) -> None:
        self.tracer = tracer
        self._node: Node = tracer.insert("prim::fork", (), [FutureType(NONE)])

    def run(self, body: Callable[[], object], type_of: Callable[[object], Type]) -> object:
        """Run the body; gives its result."""
        tracer = self.tracer
        with _within(tracer, self._node):
            result = body()
            tracer.settle()
            value = tracer.any_value(result, type_of(result))
            self._node.blocks[0].add_output(value)
        self._node.output.type = FutureType(value.type)
        return result

    def waited(self, result: object) -> None:
        """The program waited for the task, whose result it knows from then on."""
        tracer = self.tracer
        tracer.settle()
        future: Value = self._node.output
        assert isinstance(future.type, FutureType)
        tracer.spread(result, tracer.apply("aten::wait", [future], future.type.element, False))


class TracedPythonCall:
    """A call of `autograd.Function.apply` in a graph that is being traced.

    The graph calls Python again when it runs.  What the example's call computed stands beside.
    """

    def __init__(self, tracer: GraphTracer, cls: type, args: Sequence[object]) -> None:
        self.tracer = tracer
        self.cls = cls
        self.args = args
        tracer.settle()
        self._given = [each for each in args if isinstance(each, Tensor)]
        inputs = [tracer.value_of(tensor) for tensor in self._given]
        self._node = tracer.insert("prim::PythonOp", inputs, (), placed=True)

    def run(self, forward: Callable[[], object]) -> object:
        """Run the forward; gives its result."""
        with _within(self.tracer, self._node):
            result = forward()
            parts = result if isinstance(result, (tuple, list)) else (result,)
            for each in parts:
                if isinstance(each, Tensor):
                    self._node.blocks[0].add_output(self.tracer.value_of(each))
        return result

    def give(self, result: Tensor, apply: Callable[..., object], *, in_place: bool) -> None:
        """Its results are made; `apply` makes them again."""
        tracer, node = self.tracer, self._node
        several = isinstance(result, tuple)
        parts = result if several else (result,)
        types = tuple(_type_of(each) for each in parts)
        node.add_output(TupleType(types) if several else types[0])
        node.attributes["function"] = self._function(apply, len(parts), several, in_place)
        node.attributes["inplace"] = int(in_place)
        node.attributes["module"] = self.cls.__module__
        values: Sequence[Value] = node.outputs
        if several:
            values = tracer.insert("prim::TupleUnpack", [node.output], list(types)).outputs
        for each, value in zip(parts, values, strict=True):
            if isinstance(each, Tensor):
                tracer.learn(each, value)

    def _function(
        self, apply: Callable[..., object], count: int, several: bool, in_place: bool
    ) -> PythonFunction:
        name = self.cls.__name__
        template = [None if isinstance(each, Tensor) else (each,) for each in self.args]

        def call(*values: object) -> object:
            if in_place:
                raise RuntimeError(f"inplace {name} not supported in the JIT")
            given = iter(values)  # those behind the arguments are what the example's call read
            return apply(*(next(given) if each is None else each[0] for each in template))

        arguments = tuple(Argument(f"argument_{i}", TENSOR) for i in range(len(self._given)))
        made = TupleType((TENSOR,) * count) if several else TENSOR
        scalars = tuple(each[0] for each in template if each is not None)
        signature = Signature(name, "", arguments, (Argument("", made),))
        return PythonFunction(name, call, signature, scalars=scalars, object=apply)


def _type_of(value: object) -> Type:
    return type_of_array(value._array, value.requires_grad) if isinstance(value, Tensor) else TENSOR
