"""`torch.utils.bundled_inputs`: example arguments kept in a scripted module and in its archive.

For a method `forward` the module gets the attribute `_bundled_inputs_deflated_forward`, what is
stored, and the methods `_generate_bundled_inputs_for_forward`, which makes arguments of that, and
`get_all_bundled_inputs_for_forward`.  Tensors whose elements are all the same are stored as one
element; how others are made of what is stored, an `InflatableArg` says.
"""

from __future__ import annotations

import gc
import textwrap
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from io import BytesIO
from typing import Any, Final, NamedTuple, Optional, TypeVar

from ..frontend.foundations.locks import DEFINING
from ..interpreter.values.objects import ScriptObject
from ..jit.archives import load
from ..jit.concrete import no_longer_shared
from ..jit.module import ScriptModule
from ..jit.unit import define_methods
from ..module_names import names_of
from ..nn.modules.module import Module
from ..ops.memory.dtype import MEMORY_FORMATS, DType
from ..ops.tensors.construct import tensor
from ..ops.tensors.tensor import Tensor
from ..typecheck.types import types

__all__ = [
    *("MAX_RAW_TENSOR_SIZE", "InflatableArg", "augment_many_model_functions_with_bundled_inputs"),
    *("augment_model_with_bundled_inputs", "bundle_inputs", "bundle_large_tensor", "bundle_randn"),
]

__getattr__ = names_of(__name__)

T = TypeVar("T")

MAX_RAW_TENSOR_SIZE: Final = 16
"""The elements that a tensor may have to be stored as it is."""

Inputs = Sequence[tuple[object, ...]]


class InflatableArg(NamedTuple):
    """A stored value and how the argument is made of it.

    `fmt` is an expression with `{}` in the value's place.  In its stead `fmt_fn` may be the text of
    a method with `{}` for its name, which is given the value.
    """

    value: Any
    fmt: str = "{}"
    fmt_fn: str = ""


def bundle_inputs(
    model: ScriptModule,
    inputs: Inputs | Mapping[Callable[..., object], Inputs | None] | None,
    info: list[str] | Mapping[Callable[..., object], list[str]] | None = None,
    *,
    _receive_inflate_expr: list[str] | None = None,
) -> ScriptModule:
    """A copy of a scripted module with example arguments in it.

    Args:
        model: scripted or traced.
        inputs: a list of tuples of arguments for `forward`, or such lists by method.
        info: texts that say something of them, in the same form.

    Raises:
        Exception: no scripted module, no inputs, or a tensor that is too large.
        TypeError: inputs of a call are no tuple or list.
        RuntimeError: inputs are of other types than the method takes, or the module cannot be
            saved.
    """
    if not isinstance(model, ScriptModule):
        raise Exception("Only ScriptModule is supported.")
    by_method = _by_method(inputs)
    texts = _info_by_method(inputs, info)
    ignored, attributes = _get_bundled_inputs_attributes_and_methods(model)
    copy = load(BytesIO(model.save_to_buffer()))
    _drop(copy._c, {*ignored, *attributes})
    _augment(copy, by_method, texts, _receive_inflate_expr, skip_size_check=False)
    return copy


def augment_model_with_bundled_inputs(
    model: ScriptModule,
    inputs: Inputs | None = None,
    _receive_inflate_expr: list[str] | None = None,
    info: list[str] | None = None,
    skip_size_check: bool = False,
) -> None:
    """Put example arguments of `forward` into a scripted module itself; raises as `bundle_inputs`.

    A module that has a method `_generate_bundled_inputs_for_forward` needs no `inputs`.
    """
    if not isinstance(model, ScriptModule):
        raise Exception("Only ScriptModule is supported.")
    forward: Callable[..., object] = model.forward
    # a list is made of other sequences, as in torch an empty one is not given at all
    augment_many_model_functions_with_bundled_inputs(
        model,
        {forward: inputs},
        _receive_inflate_expr,
        {forward: info} if info else None,
        skip_size_check,
    )


def augment_many_model_functions_with_bundled_inputs(
    model: ScriptModule,
    inputs: Mapping[Callable[..., object], Inputs | None],
    _receive_inflate_expr: list[str] | None = None,
    info: Mapping[Callable[..., object], list[str]] | None = None,
    skip_size_check: bool = False,
) -> None:
    """Put example arguments of several methods into a scripted module itself.

    Raises: as `bundle_inputs`.
    """
    if not isinstance(model, ScriptModule):
        raise Exception("Only ScriptModule is supported.")
    if not inputs:
        raise Exception("Please provide inputs for at least 1 function")
    if hasattr(model, "get_all_bundled_inputs") or hasattr(
        model, "get_bundled_inputs_functions_and_info"
    ):
        raise Exception(
            "Models can only be augmented with bundled inputs once. This Model seems to have "
            "already been augmented with bundled inputs. Please start afresh with one that doesn't "
            "have bundled inputs."
        )
    by_method = _by_method(inputs)
    texts = _info_by_method(inputs, info)
    _augment(model, by_method, texts, _receive_inflate_expr, skip_size_check)


def bundle_randn(*size: int, dtype: DType | None = None) -> InflatableArg:
    """An argument of normal random numbers, drawn when it is asked for."""
    stub: object = tensor([0.0], dtype=dtype).expand(*size)
    return InflatableArg(value=stub, fmt="torch.randn_like({})")


def bundle_large_tensor(t: Tensor) -> InflatableArg:
    """A tensor stored as it is, however large."""
    return InflatableArg(value=t, fmt="{}")


# ---------------------------------------------------------------------- what is asked for


def _by_method(
    inputs: Inputs | Mapping[Callable[..., object], Inputs | None] | None,
) -> dict[str, Inputs | None]:
    if isinstance(inputs, Mapping):
        if not inputs:
            raise Exception("Please provide inputs for at least 1 function")
        return {_name_of(function): given for function, given in inputs.items()}
    return {"forward": inputs}


def _info_by_method(inputs: object, info: object) -> dict[str, list[str]]:
    if info is None:
        return {}
    if isinstance(inputs, Mapping):
        if not isinstance(info, Mapping):
            raise AssertionError("If inputs is a dict, info must be a dict or None")
        return {_name_of(function): texts for function, texts in info.items()}
    if not isinstance(info, list):
        raise AssertionError("If inputs is a list, info must be a list or None")
    return {"forward": info}


def _name_of(function: object) -> str:
    name = getattr(function, "__name__", None) or getattr(function, "name", None)
    if name is None:
        raise Exception(
            "At least one of your functions has no attribute name please ensure all have one. "
            'm.foo.name = "foo"'
        )
    return str(name)


def _drop(target: ScriptObject, names: set[str]) -> None:
    """Take members out of an object that alone has its class."""
    cls = target.cls
    kept = [target.slots[cls.slot(name)] for name in cls.attributes if name not in names]
    for name in names:
        cls.attributes.pop(name, None)
        cls.methods.pop(name, None)
    target.slots[:] = kept


def _add_slot(target: ScriptObject, name: str, type: types.Type) -> None:
    """A new attribute of a class: each of its objects has an empty list there."""
    with DEFINING:
        no_longer_shared(target.cls)
        target.cls.add_attribute(name, type)
        for each in gc.get_referrers(target.cls):
            if isinstance(each, ScriptObject) and each.cls is target.cls:
                each.slots.append([])


# ---------------------------------------------------------------------- what is added


def _augment(
    model: Module,
    inputs: Mapping[str, Inputs | None],
    info: Mapping[str, list[str]],
    seen: list[str] | None,
    skip_size_check: bool,
) -> None:
    told = []
    for name, given in inputs.items():
        _add_inputs(model, name, given, seen, skip_size_check)
        texts = repr([str(text) for text in info[name]]) if info.get(name) else "[]"
        told.append(
            "temp_dict : Dict[str, List[str]] = {}\n"
            f"info : List[str] = {texts}\n"
            "temp_dict['info'] = info\n"
            f"temp_dict['get_inputs_function_name'] = ['get_all_bundled_inputs_for_{name}']\n"
            f"all_inputs['{name}'] = temp_dict\n"
        )
        if name == "forward":
            _define(
                model,
                "def get_all_bundled_inputs(self):\n"
                "    return self.get_all_bundled_inputs_for_forward()\n"
                "def get_num_bundled_inputs(self):\n"
                "    return len(self.get_all_bundled_inputs_for_forward())\n",
            )
    _define(
        model,
        "def get_bundled_inputs_functions_and_info(self):\n"
        "    all_inputs : Dict[str, Dict[str, List[str]]] = {}\n"
        f"{textwrap.indent(''.join(told), '    ')}"
        "    return all_inputs\n",
    )


def _add_inputs(
    model: Module, name: str, given: Inputs | None, seen: list[str] | None, skip_size_check: bool
) -> None:
    maker = f"_generate_bundled_inputs_for_{name}"
    function = model._c.cls.method(name)
    if function is None:
        raise AttributeError(f"the module has no method '{name}'")
    taken = tuple(argument.type for argument in function.signature.arguments[1:])
    kept = types.ListType(types.TupleType(taken))
    if hasattr(model, maker):
        if given is not None:
            raise Exception(f"inputs[{name}] is not None, but {maker} is already defined")
    elif not given:
        raise Exception(f"inputs for {name} must be specified if {maker} is not already defined")
    else:
        _store(model, name, list(given), kept, seen, skip_size_check)
    _define(
        model,
        f"def get_all_bundled_inputs_for_{name}(self):\n"
        f"    all_inputs = self.{maker}()\n"
        f"    assert all_inputs is not None\n"
        "    return all_inputs\n",
    )


def _store(
    model: Module,
    name: str,
    given: Sequence[object],
    kept: types.Type,
    seen: list[str] | None,
    skips: bool,
) -> None:
    """Add the attribute with what is stored, and the method that makes the arguments of it."""
    attribute = f"_bundled_inputs_deflated_{name}"
    stored, calls = [], []
    helpers = ""
    for i, args in enumerate(given):
        if not isinstance(args, (tuple, list)):
            raise TypeError(
                f"Error bundled input for function {name} idx: {i} is not a Tuple or a List"
            )
        values, parts = [], []
        for j, arg in enumerate(args):
            helper = _get_inflate_helper_fn_name(j, i, name)
            value, part, text = _inflate_expr(arg, f"deflated[{i}][{j}]", helper, skips)
            values.append(value)
            parts.append(part)
            helpers += textwrap.dedent(text).strip("\n") + "\n" if text else ""
        stored.append(tuple(values))
        calls.append("(" + "".join(part + "," for part in parts) + "),")
    _add_slot(model._c, attribute, kept)
    setattr(model, attribute, stored)
    if helpers:
        _define(model, helpers)
    inflated = "".join("        " + call + "\n" for call in calls)
    if seen is not None:
        seen.extend(calls)
    _define(
        model,
        f"def _generate_bundled_inputs_for_{name}(self):\n"
        f"    deflated = self.{attribute}\n"
        f"    return [\n{inflated}    ]\n",
    )


def _define(model: Module, text: str) -> None:
    names = {"torch": import_module(__name__.partition(".")[0]), "Tensor": Tensor}
    define_methods(model._c.cls, text, {**names, "Dict": dict, "List": list, "Optional": Optional})


def _inflate_expr(
    arg: T, ref: str, inflate_helper_fn_name: str, skip_size_check: bool = False
) -> tuple[T | Tensor, str, str | None]:
    """What is stored for an argument, the expression that makes it of what stands at `ref`, and
    the text of a method that this calls, if there is one.

    Raises:
        Exception: a tensor is too large to be stored.
    """
    if isinstance(arg, InflatableArg):
        if arg.fmt_fn:
            if arg.fmt not in ("{}", ""):
                raise Exception(
                    "Bundled input argument at position "
                    f"'{ref}' has both arg.fmt_fn => \n{arg.fmt_fn} \n and arg.fmt  => {arg.fmt}. "
                    "Please choose `arg.fmt` if the deflater is straightforward or `arg.fmt_fn` if "
                    "you need a function."
                )
            text = arg.fmt_fn.format(inflate_helper_fn_name)
            return arg.value, f"self.{inflate_helper_fn_name}({ref})", text
        return arg.value, arg.fmt.format(ref), None
    if not isinstance(arg, Tensor):
        return arg, ref, None
    count = arg.untyped_storage().nbytes() // max(arg.itemsize, 1)
    if count <= MAX_RAW_TENSOR_SIZE or skip_size_check:
        return arg, ref, None
    if arg.numel() <= MAX_RAW_TENSOR_SIZE and arg.is_contiguous():
        return arg.clone(), ref, None
    for form in ("contiguous_format", "channels_last"):
        first = arg.flatten()[:1]
        is_laid_so = arg.is_contiguous(memory_format=MEMORY_FORMATS[form])
        if is_laid_so and bool((arg == first).all()):
            made = first.clone().expand(*arg.size())
            return made, f"{ref}.contiguous(memory_format=torch.{form})", None
    raise Exception(
        f"Bundled input argument at position '{ref}' is a tensor with storage size {count}. You "
        "probably don't want to bundle this as an input. "
    )


def _get_bundled_inputs_attributes_and_methods(
    script_module: ScriptModule,
) -> tuple[list[str], list[str]]:
    """The methods of bundled inputs that a module has, and the attributes."""
    methods: list[str] = []
    attributes: list[str] = []
    module: Module = script_module
    if hasattr(module, "get_all_bundled_inputs"):
        methods += ("get_all_bundled_inputs", "get_num_bundled_inputs", "run_on_bundled_input")
    if hasattr(module, "get_bundled_inputs_functions_and_info"):
        methods.append("get_bundled_inputs_functions_and_info")
        for name in module.get_bundled_inputs_functions_and_info():
            methods.append("get_all_bundled_inputs_for_" + name)
            methods.append("_generate_bundled_inputs_for_" + name)
            attributes.append("_bundled_inputs_deflated_" + name)
            methods += _helpers_of(module, name)
    return methods, attributes


def _helpers_of(module: object, function_name: str) -> list[str]:
    """The methods that make some arguments of a method's inputs."""
    inputs = range(len(getattr(module, f"get_all_bundled_inputs_for_{function_name}")()))
    arguments = range(len(getattr(module, function_name).schema.arguments) - 1)
    names = [_get_inflate_helper_fn_name(j, i, function_name) for j in arguments for i in inputs]
    return [name for name in names if hasattr(module, name)]


def _get_inflate_helper_fn_name(arg_idx: int, input_idx: int, function_name: str) -> str:
    return f"_inflate_helper_for_{function_name}_input_{input_idx}_arg_{arg_idx}"
