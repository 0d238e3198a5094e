"""Tables of models: layers, sizes of what they give, parameters, multiply-adds.

    from rushlight.summary import summary
    print(summary(model, (1, 3, 224, 224)))

Models run on the device `meta`, where nothing is computed and weights take no memory, so that one
that does not fit memory is summarised as quickly as any other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from math import prod
from typing import Any, Final

from .func import functional_call
from .interpreter.running.calling import call
from .interpreter.values.handles import keeping_handles
from .interpreter.values.objects import ScriptObject
from .jit.module import ScriptModule
from .nn.modules.module import Module
from .ops.eager.dispatch import eager_function
from .ops.memory.dtype import DTYPES, DType
from .ops.meta.tensors import META
from .ops.tensors.tensor import Parameter, Tensor
from .utils._python_dispatch import TorchDispatchMode
from .utils.flop_counter import flop_registry, shape_wrapper

__all__ = ["Layer", "Summary", "inputs_without_data", "of_tensors", "summary", "without_data"]


@dataclass
class Layer:
    """A layer of a model: its dotted `name`, the name of its class, and the layers in it.

    `outputs` are the sizes of what its first call gave (none if it was not called), `bytes_out`
    their bytes, `multiply_adds` those of all its calls.
    """

    name: str
    kind: str
    tensors: dict[str, Tensor] = field(default_factory=dict)
    layers: list[Layer] = field(default_factory=list)
    outputs: list[list[int]] | None = None
    bytes_out: int = 0
    multiply_adds: int = 0

    def walk(self, depth: int = 0) -> Iterator[tuple[int, Layer]]:
        """The layer and those in it, with how deep they lie."""
        yield depth, self
        for layer in self.layers:
            yield from layer.walk(depth + 1)

    @property
    def parameters(self) -> int:
        """The elements of its own parameters."""
        return sum(t.numel() for t in self.tensors.values() if isinstance(t, Parameter))


class Summary:
    """What is known of a model; `str()` is a table, `data()` plain values for JSON.

    `inputs` are the sizes of what it was called with, None if it was not called.
    """

    def __init__(self, root: Layer, inputs: list[Tensor] | None, depth: int | None) -> None:
        self.root = root
        self.inputs = inputs
        self.depth = depth

    def _tensors(self) -> list[Tensor]:
        """All tensors of the model, each once."""
        found = {id(t): t for _, layer in self.root.walk() for t in layer.tensors.values()}
        return list(found.values())

    @property
    def parameters(self) -> int:
        """The elements of all parameters, shared ones once."""
        return sum(t.numel() for t in self._tensors() if isinstance(t, Parameter))

    @property
    def trainable(self) -> int:
        """The elements of those parameters that want gradients."""
        found = [t for t in self._tensors() if isinstance(t, Parameter) and t.requires_grad]
        return sum(t.numel() for t in found)

    @property
    def bytes(self) -> int:
        """The bytes of all parameters and buffers."""
        return sum(t.numel() * t.itemsize for t in self._tensors())

    @property
    def multiply_adds(self) -> int | None:
        """Those of products, convolutions and recurrent layers; None without a call."""
        return None if self.inputs is None else self.root.multiply_adds

    def data(self) -> dict[str, object]:
        """The summary as plain values."""
        called = self.inputs is not None
        return {
            "model": self.root.kind,
            "inputs": None if self.inputs is None else [list(t.shape) for t in self.inputs],
            "parameters": self.parameters,
            "trainable": self.trainable,
            "bytes": self.bytes,
            "multiply_adds": self.multiply_adds,
            "layers": [
                {
                    "name": layer.name,
                    "class": layer.kind,
                    "depth": depth,
                    "outputs": layer.outputs,
                    "parameters": layer.parameters,
                    "multiply_adds": layer.multiply_adds if called else None,
                    "tensors": {n: list(t.shape) for n, t in layer.tensors.items()},
                }
                for depth, layer in self.root.walk()
            ],
        }

    def __str__(self) -> str:
        return "\n".join(_table(self))


def summary(
    model: Module,
    input_size: Sequence[object] | None = None,
    *,
    input_data: Sequence[Tensor] | None = None,
    dtypes: Sequence[DType] | None = None,
    depth: int | None = None,
    values: bool = False,
) -> Summary:
    """Summarise a module, scripted ones too; the module stays as it is.

    Args:
        model: the module.
        input_size: the sizes of its input, or of several; nothing is called if there are none.
        input_data: the inputs themselves, of which sizes and dtypes are taken.
        dtypes: of the inputs of `input_size`, float32 if they are not said.
        depth: how deep layers lie in each other in the table; all of them if it is not said.
        values: whether the model is computed with its weights, on `input_data` or on ones: for
            programs that decide by values, which tensors without data do not have.

    Raises:
        ValueError: there are not as many dtypes as inputs.
        Exception: what the model raises for such inputs, on tensors without data.
    """
    given = None if input_size is None else inputs_without_data(input_size, dtypes)
    if given is not None and values:
        given = [eager_function("aten::ones")(list(t.shape), dtype=t.dtype) for t in given]
    if input_data is not None:
        given = [each if values else _without_data(each) for each in input_data]
    if isinstance(model, ScriptModule):
        target = model._c if values else without_data(model._c)
        return Summary(_scripted(target, given), given, depth)
    return Summary(_live(model, given, values), given, depth)


def of_tensors(kind: str, tensors: Mapping[str, Tensor], depth: int | None = None) -> Summary:
    """The summary of tensors by dotted names, as files of weights have them."""
    root = Layer("", kind)
    for name, tensor in tensors.items():
        *path, last = name.split(".")
        layer = root
        for part in path:
            layer = _child(layer, part)
        layer.tensors[last] = Parameter(tensor, False)
    return Summary(root, None, depth)


def _child(layer: Layer, part: str) -> Layer:
    name = f"{layer.name}.{part}" if layer.name else part
    for child in layer.layers:
        if child.name == name:
            return child
    layer.layers.append(Layer(name, ""))
    return layer.layers[-1]


def inputs_without_data(
    sizes: Sequence[Any], dtypes: Sequence[DType] | None = None
) -> list[Tensor]:
    """Tensors on `meta` of these sizes (of one, or of several), float32 if no dtypes are said.

    Raises:
        ValueError: there are not as many dtypes as sizes.
    """
    several = sizes if not sizes or not isinstance(sizes[0], int) else [sizes]
    kinds = list(dtypes or [DTYPES["float32"]])
    if len(kinds) == 1:
        kinds *= len(several)
    if len(kinds) != len(several):
        raise ValueError(f"{len(several)} inputs have {len(kinds)} dtypes")
    empty = eager_function("aten::empty")
    return [
        empty(list(size), dtype=kind, device=META)
        for size, kind in zip(several, kinds, strict=True)
    ]


def _without_data(tensor: Tensor) -> Tensor:
    if tensor.device == META:
        return tensor
    empty = eager_function("aten::empty")
    made: Tensor = empty(list(tensor.shape), dtype=tensor.dtype, device=META)
    made.requires_grad_(tensor.requires_grad)
    return Parameter(made, tensor.requires_grad) if isinstance(tensor, Parameter) else made


# --------------------------------------------------------------------------- running


class _Counting(TorchDispatchMode):
    """Counts the multiply-adds of operators for the layers that run."""

    def __init__(self) -> None:
        super().__init__()
        self.running = list[Layer]()

    def __torch_dispatch__(
        self,
        func: Any,
        types: object,
        args: tuple[object, ...] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        out = func(*args, **(kwargs or {}))
        formula = _FORMULAS.get(func.overloadpacket) or flop_registry.get(func.overloadpacket)
        if formula is not None:
            count = int(formula(*args, **(kwargs or {}), out_val=out)) // 2
            for layer in self.running:
                layer.multiply_adds += count
        return out

    def hear(self, layer: Layer | None, run: Callable[[], object]) -> object:
        """Run a layer, and note what it gives."""
        if layer is None:
            return run()
        self.running.append(layer)
        try:
            result = run()
        finally:
            self.running.pop()
        if layer.outputs is None:
            found = list(_tensors_of(result))
            layer.outputs = [list(each.shape) for each in found]
            layer.bytes_out = sum(each.numel() * each.itemsize for each in found)
        return result


def _tensors_of(value: object) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _tensors_of(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _tensors_of(each)


def _recurrent(
    input: list[int],
    hx: object,
    params: Sequence[Sequence[int]],
    *args: object,
    out_shape: object = None,
    **kw: object,
) -> int:
    """Every step multiplies by all matrices of weights."""
    weights = sum(int(prod(each)) for each in params if len(each) == 2)
    return 2 * int(prod(input[:-1])) * weights


def _formulas() -> dict[object, Callable[..., int]]:
    from . import ops

    names = ("lstm", "gru", "rnn_tanh", "rnn_relu")
    return {getattr(ops.aten, name): shape_wrapper(_recurrent) for name in names}


_FORMULAS: Final = _formulas()
"""Of operators that no counter of torch's meets: they come down to others there."""


Forward = Callable[..., object]


def _live(model: Module, given: list[Tensor] | None, values: bool) -> Layer:
    layers = dict[int, Layer]()
    root = _layer_of(model, "", layers)
    if given is None:
        return root
    counting = _Counting()
    tensors = (*model.named_parameters(), *model.named_buffers())
    state = {} if values else {name: _without_data(tensor) for name, tensor in tensors}
    with ExitStack() as stack:
        for module in model.modules():
            layer = layers[id(module)]
            forward = module.forward

            def heard(
                *args: object, layer: Layer = layer, own: Forward = forward, **kw: object
            ) -> object:
                return counting.hear(layer, lambda: own(*args, **kw))

            stack.callback(_put_back, module, module.__dict__.get("forward"))
            module.__dict__["forward"] = heard
        stack.enter_context(counting)
        if values:
            model(*given)
        else:
            functional_call(model, state, tuple(given))
    return root


def _put_back(module: Module, forward: object) -> None:
    if forward is None:
        del module.__dict__["forward"]
    else:
        module.__dict__["forward"] = forward


def _layer_of(module: Module, name: str, layers: dict[int, Layer]) -> Layer:
    known = layers.get(id(module))
    if known is not None:
        return known
    own = {**module._parameters, **module._buffers}
    tensors = {key: tensor for key, tensor in own.items() if tensor is not None}
    made = layers[id(module)] = Layer(name, type(module).__name__, tensors)
    for key, child in module.named_children():
        if id(child) not in layers:
            made.layers.append(_layer_of(child, f"{name}.{key}" if name else key, layers))
    return made


def without_data(source: ScriptObject) -> ScriptObject:
    """The same module with tensors on `meta`; the module stays as it is."""
    return _bare(source, {})


def _bare(source: ScriptObject, known: dict[int, ScriptObject]) -> ScriptObject:
    """The same module with tensors without data."""
    made = known.get(id(source))
    if made is None:
        made = known[id(source)] = ScriptObject(source.cls)
        made.slots[:] = [_bare_slot(slot, known) for slot in source.slots]
    return made


def _bare_slot(slot: object, known: dict[int, ScriptObject]) -> object:
    if isinstance(slot, ScriptObject) and slot.cls.is_module:
        return _bare(slot, known)
    return _without_data(slot) if isinstance(slot, Tensor) else slot


def _scripted(target: ScriptObject, given: list[Tensor] | None) -> Layer:
    layers = dict[int, Layer]()
    root = _layer_of_object(target, "", layers)
    if given is None:
        return root
    forward = target.cls.method("forward")
    if forward is None:
        raise RuntimeError(f"`{target.cls.name}` has no method `forward`")
    counting = _Counting()

    def heard(owner: ScriptObject, name: str, run: Callable[[], object]) -> object:
        is_forward = name.partition("__")[0] == "forward"  # overloads have numbers behind it
        return counting.hear(layers.get(id(owner)) if is_forward else None, run)

    with counting, keeping_handles(heard):
        counting.hear(root, lambda: call(forward, given, self=target))
    return root


def _layer_of_object(target: ScriptObject, name: str, layers: dict[int, Layer]) -> Layer:
    made = layers[id(target)] = Layer(name, target.cls.name)
    for attribute, slot in zip(target.cls.attributes.values(), target.slots, strict=True):
        if isinstance(slot, Tensor):
            made.tensors[attribute.name] = slot
        elif isinstance(slot, ScriptObject) and slot.cls.is_module and id(slot) not in layers:
            inner = f"{name}.{attribute.name}" if name else attribute.name
            made.layers.append(_layer_of_object(slot, inner, layers))
    return made


# --------------------------------------------------------------------------- the table


_HEADS: Final = ("Layer (type (name))", "Output Shape", "Param #", "Mult-Adds")


def _table(found: Summary) -> Iterator[str]:
    rows = list(_rows(found))
    widths = [max(len(row[at]) for row in (_HEADS, *rows)) for at in range(4)]

    def line(row: Sequence[str]) -> str:
        return "  ".join(
            cell.ljust(width) for cell, width in zip(row, widths, strict=True)
        ).rstrip()

    rule = "=" * (sum(widths) + 6)
    yield from (rule, line(_HEADS), rule, *map(line, rows), rule)
    if found.root.kind:
        yield f"Total params: {found.parameters:,}"
        yield f"Trainable params: {found.trainable:,}"
        yield f"Non-trainable params: {found.parameters - found.trainable:,}"
    else:  # of a file of weights, which does not say which of them are parameters
        yield f"Total elements: {found.parameters:,}"
    if found.inputs is not None:
        yield f"Total mult-adds: {found.root.multiply_adds:,}"
    yield rule
    if found.inputs is not None:
        taken = sum(each.numel() * each.itemsize for each in found.inputs)
        ends = [layer for _, layer in found.root.walk() if not layer.layers]
        passed = 2 * sum(layer.bytes_out for layer in ends)
        yield f"Input size (MB): {taken / 1e6:.2f}"
        yield f"Forward/backward pass size (MB): {passed / 1e6:.2f}"
        yield f"Params size (MB): {found.bytes / 1e6:.2f}"
        yield f"Estimated Total Size (MB): {(taken + passed + found.bytes) / 1e6:.2f}"
    else:
        yield f"Params size (MB): {found.bytes / 1e6:.2f}"
    yield rule


def _rows(found: Summary) -> Iterator[tuple[str, ...]]:
    counted = found.inputs is not None
    for indent, depth, layer in _indented(found.root, "", 0):
        if found.depth is not None and depth > found.depth:
            continue
        part = layer.name.rpartition(".")[2]
        told = f"{layer.kind} ({part})" if layer.kind and part else layer.kind or part
        shapes = ", ".join(map(str, layer.outputs or ())) or "--"
        parameters = f"{layer.parameters:,}" if layer.parameters else "--"
        count = f"{layer.multiply_adds:,}" if counted and layer.multiply_adds else "--"
        yield indent + told, shapes, parameters, count


def _indented(layer: Layer, indent: str, depth: int) -> Iterator[tuple[str, int, Layer]]:
    yield indent, depth, layer
    before = indent.replace("├─", "│  ").replace("└─", "   ")
    for child in layer.layers:
        ends = child is layer.layers[-1]
        yield from _indented(child, before + ("└─" if ends else "├─"), depth + 1)
