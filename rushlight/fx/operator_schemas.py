"""`torch.fx.operator_schemas`: the signatures of operators, and arguments in their form."""

from __future__ import annotations

import inspect
import numbers
import typing
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from .. import nn
from ..jit.builtin_functions import builtin_meaning
from ..module_names import names_of
from ..nn.modules.module import Module
from ..ops.eager.dispatch import EagerFunction
from ..ops.eager.packets import Overload, Packet
from ..ops.memory.dtype import Device
from ..ops.random_numbers.random import Generator
from ..ops.table.table import TABLE, Operator
from ..ops.tensors.tensor import Tensor
from ..typecheck.definitions.names import OperatorName
from ..typecheck.definitions.schema import Argument as SchemaArgument
from ..typecheck.types.types import Type
from ._names import schema_title

__all__ = [
    *("ArgsKwargsPair", "check_for_mutable_operation", "create_type_hint"),
    *("get_signature_for_torch_op", "normalize_function", "normalize_module", "type_matches"),
]

_SIMPLE: Final[dict[str, object]] = {
    "Tensor": Tensor,
    "int": int,
    "float": float,
    "bool": bool,
    "complex": complex,
    "str": str,
    "Scalar": numbers.Number,
    "number": numbers.Number,
    "Device": Device,
    "Generator": Generator,
    "NoneType": type(None),
}


class ArgsKwargsPair(NamedTuple):
    """Arguments of a call."""

    args: tuple[object, ...]
    kwargs: dict[str, object]


# ------------------------------------------------------------------------------ signatures


def _python_type(kind: Type) -> object:
    """The annotation for a type of schemas."""
    if kind.optional_of is not None:
        return typing.Optional[_python_type(kind.optional_of)]  # noqa: UP045
    if kind.list_of is not None:
        return typing.List[_python_type(kind.list_of)]  # type: ignore[misc]  # noqa: UP006
    if kind.dict_of is not None:
        key, value = kind.dict_of
        return typing.Dict[_python_type(key), _python_type(value)]  # type: ignore[misc]  # noqa: UP006
    if kind.tuple_of is not None:
        inner = tuple(_python_type(each) for each in kind.tuple_of)
        return typing.Tuple[inner]  # noqa: UP006
    text = str(kind)
    return _SIMPLE.get(text) or typing.TypeVar(text)


def _parameter(argument: SchemaArgument) -> inspect.Parameter:
    kinds = inspect.Parameter
    names = {"self": "input", "from": "from_"}
    return kinds(
        names.get(argument.name, argument.name),
        kinds.KEYWORD_ONLY if argument.keyword_only else kinds.POSITIONAL_OR_KEYWORD,
        default=argument.default if argument.has_default else kinds.empty,
        annotation=_python_type(argument.type),
    )


def _signature(entry: Operator) -> inspect.Signature:
    arguments = entry.signature.arguments
    returned = [_python_type(each.type) for each in entry.signature.returns]
    result: object = returned[0] if len(returned) == 1 else tuple(returned)
    parameters = [_parameter(each) for each in arguments]
    return inspect.Signature(parameters, return_annotation=result if returned else None)


def _entries(op: object) -> Sequence[Operator] | None:
    """The overloads of the operator that a function calls."""
    if isinstance(op, Overload):
        return [op.entry]
    if isinstance(op, (Packet, EagerFunction)):
        return TABLE.operators(op.operator_name)
    meaning = builtin_meaning(op)
    return TABLE.operators(meaning.name) if isinstance(meaning, OperatorName) else None


def get_signature_for_torch_op(op: Callable[..., object], return_schemas: bool = False) -> Any:
    """The signatures of a function's overloads; None where it is no operator's.

    Args:
        return_schemas: give the schemas, too.
    """
    entries = _entries(op)
    if entries is None:
        return (None, None) if return_schemas else None
    signatures = [_signature(each) for each in entries]
    if not return_schemas:
        return signatures
    from .._C.schemas import FunctionSchema

    return signatures, [FunctionSchema(each.signature) for each in entries]


# ------------------------------------------------------------------------------------ types


def create_type_hint(x: object) -> object:
    """The type of containers of types: `[int, int]` as `list[int]`; all else as it is."""
    if not isinstance(x, (list, tuple)):
        return x
    whole = list if isinstance(x, list) else tuple
    if not x:
        return whole[typing.Any] if whole is list else whole[typing.Any, ...]
    if not isinstance(x[0], type):
        warnings.warn(
            f"We were not able to successfully create type hint from the type {x}", stacklevel=2
        )
        return x
    kind = _widest(x)
    return whole[kind] if whole is list else whole[kind, ...]


def _widest(kinds: Sequence[object]) -> Any:
    """The one of some classes that all before and behind it are of; `Any` where two are apart."""
    found = kinds[0]
    for kind in kinds:
        if not isinstance(kind, type) or not isinstance(found, type):
            return typing.Any
        if issubclass(found, kind):
            found = kind
        elif not issubclass(kind, found):
            return typing.Any
    return found


def type_matches(signature_type: Any, argument_type: object) -> bool:
    """Whether a value of a type fits a parameter of a type."""
    if signature_type == argument_type:
        return True
    origin = getattr(signature_type, "__origin__", None)
    if origin is typing.Union:
        return any(type_matches(each, argument_type) for each in signature_type.__args__)
    if origin is list:
        return _fits_list(signature_type.__args__[0], argument_type)
    if signature_type is numbers.Number and argument_type in (int, float):
        return True
    return (
        inspect.isclass(argument_type)
        and inspect.isclass(signature_type)
        and issubclass(argument_type, signature_type)
    )


def _fits_list(element: type, argument: Any) -> bool:
    if argument is element and element is int:  # one number for a list of them
        return True
    if getattr(argument, "__origin__", None) not in (list, tuple):
        return False
    parts = [each for each in argument.__args__ if each is not ...]
    return all(
        each == element
        or (inspect.isclass(each) and inspect.isclass(element) and issubclass(each, element))
        for each in parts
    )


# ----------------------------------------------------------------------------- normal forms


def check_for_mutable_operation(
    target: Callable[..., object], args: tuple[object, ...], kwargs: Mapping[str, object]
) -> None:
    """Check that a call changes none of its arguments, where one overload alone fits it.

    Raises:
        RuntimeError: it does.
    """
    fitting = _fitting(_entries(target) or (), args, kwargs)
    if len(fitting) == 1 and fitting[0][1].signature.is_mutable:
        raise RuntimeError(
            f"Tried to trace mutable operation {fitting[0][1].schema}. FX only supports "
            "functional code, so operations that mutate operands in-place (e.g. via `out` "
            "arguments) are not supported"
        )


def _fitting(
    entries: Sequence[Operator], args: tuple[object, ...], kwargs: Mapping[str, object]
) -> list[tuple[inspect.Signature, Operator]]:
    found = []
    for entry in entries:
        signature = _signature(entry)
        try:
            signature.bind(*args, **kwargs)
        except TypeError:
            continue
        found.append((signature, entry))
    return found


def normalize_function(
    target: Callable[..., object],
    args: tuple[object, ...],
    kwargs: Mapping[str, object] | None = None,
    arg_types: tuple[object, ...] | None = None,
    kwarg_types: Mapping[str, object] | None = None,
    normalize_to_only_use_kwargs: bool = False,
) -> ArgsKwargsPair | None:
    """The arguments of a call as its signature has them, defaults put in.

    Args:
        arg_types: types of the arguments, for overloads that differ in nothing else.
        kwarg_types: those of keyword arguments.
        normalize_to_only_use_kwargs: name all of them.

    Returns:
        None where no signature fits.

    Raises:
        RuntimeError: several overloads fit.
    """
    kwargs = kwargs or {}
    entries = None if _is_written_in_python(target) else _entries(target)
    if entries is None:
        return _by_python_signature(target, args, kwargs, normalize_to_only_use_kwargs)
    fitting = [signature for signature, _ in _fitting(entries, args, kwargs)]
    if len(fitting) > 1 and (arg_types is not None or kwarg_types is not None):
        types = arg_types or (), kwarg_types or {}
        fitting = [each for each in fitting if _types_fit(each, *types)][:1] or fitting
    elif len(fitting) > 1:
        listed = "\n".join(map(_text, fitting))
        raise RuntimeError(
            f"Tried to normalize arguments to {schema_title(target)} but the schema match was "
            "ambiguous! Please provide argument types to the normalize_arguments() call. "
            f"Available schemas:\n{listed}"
        )
    if not fitting:
        return None
    return _pair(fitting[0], args, kwargs, normalize_to_only_use_kwargs)


def _text(signature: inspect.Signature) -> str:
    own = f"{Tensor.__module__}.{Tensor.__qualname__}"
    return str(signature).replace(own, "torch.Tensor")


def _is_written_in_python(target: object) -> bool:
    return inspect.isfunction(target) or hasattr(target, "if_true")


def _types_fit(
    signature: inspect.Signature, arg_types: tuple[object, ...], kwarg_types: Mapping[str, object]
) -> bool:
    bound = signature.bind_partial(*arg_types, **kwarg_types)
    return all(
        type_matches(signature.parameters[name].annotation, kind)
        for name, kind in bound.arguments.items()
    )


def _by_python_signature(
    target: Any, args: tuple[object, ...], kwargs: Mapping[str, object], only_kwargs: bool
) -> ArgsKwargsPair | None:
    if not _is_written_in_python(target):
        return None
    try:
        signature = inspect.signature(getattr(target, "if_true", target))
    except ValueError:
        return None
    return _pair(signature, args, kwargs, only_kwargs)


def normalize_module(
    root: Module,
    target: str,
    args: tuple[object, ...],
    kwargs: Mapping[str, object] | None = None,
    normalize_to_only_use_kwargs: bool = False,
) -> ArgsKwargsPair | None:
    """The arguments of a call of one of torch's layers as its `forward` has them.

    Returns:
        None for other modules.

    Raises:
        RuntimeError: there is no such module.
    """
    try:
        module = root.get_submodule(target)
    except AttributeError as error:
        raise RuntimeError(
            f"Tried to normalize node with target {target} but root did not have that target!"
        ) from error
    cls = type(module)
    if getattr(nn, cls.__name__, None) is not cls:
        return None
    signature = inspect.signature(module.forward)
    return _pair(signature, args, kwargs or {}, normalize_to_only_use_kwargs)


def _pair(
    signature: inspect.Signature, args: tuple[object, ...], kwargs: Mapping[str, object], only: bool
) -> ArgsKwargsPair | None:
    plain = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    parameters = signature.parameters.values()
    if any(each.kind not in plain for each in parameters):
        return None
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError:
        return None
    bound.apply_defaults()
    named = list(bound.arguments.items())
    count = 0 if only else len(args)
    return ArgsKwargsPair(tuple(value for _, value in named[:count]), dict(named[count:]))


__getattr__ = names_of(__name__)
