"""Facts of example tensors, put into the types of a graph's inputs.

`torch._C._jit_pass_propagate_dtype` and its kin carry them from there through the graph.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..._C import Graph, TensorType
from ...ops.tensors.tensor import Tensor

__all__ = ["apply_input_props_using_example"]


def apply_input_props_using_example(graph: Graph, example_input: Sequence[object]) -> None:
    """Note sizes, strides, dtypes and devices of examples in the types of a graph's inputs.

    Args:
        graph: of a function or a method, whose `self` gets no example.
        example_input: one for each input; None tells nothing of its input.

    Raises:
        RuntimeError: there are more or fewer examples than inputs, or only one of an input and its
            example is a tensor.
    """
    inputs = list(graph.inputs())
    if inputs and inputs[0].debugName() == "self" and inputs[0].type().kind() == "ClassType":
        del inputs[0]
    if not inputs:
        return
    if len(inputs) != len(example_input):
        raise RuntimeError(
            "Number of inputs in graph does not match number of inputs in the example"
        )
    for place, (value, example) in enumerate(zip(inputs, example_input, strict=True)):
        if example is None:
            continue
        if isinstance(example, Tensor) != isinstance(value.type(), TensorType):
            raise RuntimeError(f"Input {place} does not match type of example", value, example)
        if isinstance(example, Tensor):
            value.setType(TensorType.create_from_tensor(example))
