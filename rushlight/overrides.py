"""`torch.overrides`: functions that tensor-like classes see to, by their `__torch_function__`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, wraps
from importlib import import_module
from inspect import Parameter as Argument
from inspect import Signature, signature
from keyword import iskeyword
from types import FunctionType, TracebackType
from typing import Any, Final, ParamSpec, Self, TypeVar

from .module_names import names_of
from .nn.flag_dispatch import FlagDispatch
from .ops.eager.asking import asking_names, public_function
from .ops.eager.dispatch import EagerFunction, EagerMethod
from .ops.tensors.differentiable import Differentiable
from .ops.tensors.overriding import (
    ARMED,
    STATE,
    asks,
    asks_itself,
    handle_torch_function,
    has_torch_function,
    has_torch_function_unary,
    last_mode_apart,
    own_function,
)
from .ops.tensors.tensor import Tensor
from .typecheck.definitions.schema import Argument as SchemaArgument

__all__ = [
    *("BaseTorchFunctionMode", "TorchFunctionMode", "get_default_nowrap_functions"),
    *("get_ignored_functions", "get_overridable_functions", "get_testing_overrides"),
    *("handle_torch_function", "has_torch_function"),
    "has_torch_function_unary",
    *("has_torch_function_variadic", "is_tensor_like", "is_tensor_method_or_property"),
    *("redispatch_function", "resolve_name", "wrap_torch_function"),
]

P = ParamSpec("P")
R = TypeVar("R")


def has_torch_function_variadic(*relevant_args: object) -> bool:
    """Whether a mode, or the class of one of some arguments, sees to functions itself."""
    return asks(*relevant_args)


def wrap_torch_function(
    dispatcher: Callable[..., Iterable[object]],
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A decorator that has the classes of arguments asked first; `dispatcher` picks these."""

    def inner(func: Callable[P, R]) -> Callable[P, R]:
        @wraps(func)
        def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
            relevant: Sequence[object] = tuple(dispatcher(*args, **kwargs))
            if has_torch_function(relevant):
                answer: R = handle_torch_function(wrapped, relevant, *args, **kwargs)
                return answer
            return func(*args, **kwargs)

        return wrapped

    return inner


def is_tensor_like(inp: object) -> bool:
    """Whether a value is a tensor, or its class sees to torch's functions."""
    return type(inp) is Tensor or hasattr(inp, "__torch_function__")


def redispatch_function(
    func: Callable[..., object],
    types: Iterable[type],
    args: Sequence[object],
    kwargs: Mapping[str, object] | None,
) -> Any:
    """Call a function that does not ask this time, while what it calls does: for a
    `__torch_function__` that only looks at what is called.

    Args:
        func: the function, as `__torch_function__` is told it.
        types: the classes that are asked, as told.
        args: its arguments.
        kwargs: those by name.
    """
    before = STATE.skips
    if isinstance(func, EagerFunction) or asks_itself(func):
        STATE.skips = before + 1
    try:
        return func(*args, **(kwargs or {}))
    finally:
        STATE.skips = min(before, STATE.skips)  # it may have asked nobody


# --------------------------------------------------------------------------- which functions

_SPACES: Final = ("linalg", "fft", "special")


def _root() -> object:
    return import_module(__package__)


def _functions_of(
    space: object, names: Iterable[str], asking: bool = True
) -> list[Callable[..., object]]:
    """The functions of a module that ask the classes of their arguments, or those that do not."""
    found = {getattr(space, name, None): None for name in names if not name.startswith("_")}
    kinds = (FunctionType, EagerFunction, FlagDispatch)
    return [f for f in found if isinstance(f, kinds) and _asks(f) is asking]


def _asks(function: Callable[..., object]) -> bool:
    """Whether a function asks the classes of its arguments."""
    if isinstance(function, EagerFunction):
        return any(_takes_tensors(form.arguments) for form in function.forms)
    written = getattr(function, "if_true", function)
    return not {"ask_for", "handle_torch_function"}.isdisjoint(written.__code__.co_names)


def _takes_tensors(arguments: Iterable[SchemaArgument]) -> bool:
    return any("Tensor" in str(argument.type) for argument in arguments)


@cache
def _members() -> dict[Callable[..., object], str]:
    """The methods and properties of tensors, as classes are told them, and their names."""
    found: dict[Callable[..., object], str] = {}
    plain = [n for n, f in vars(Tensor).items() if isinstance(f, EagerMethod)]
    for name in dict.fromkeys([*plain, *asking_names()]):
        found.setdefault(public_function(name), name)
    return found


@cache
def _named() -> dict[Callable[..., object], str]:
    """The functions of torch, and the names by which they are found."""
    root = _root()
    names = import_module(".ops.eager.namespace", __package__).public_names()
    functional = import_module(".functional", __package__)
    layers = import_module(".nn.functional", __package__)
    found: dict[Callable[..., object], str] = {}
    for f in _functions_of(root, functional.__all__):
        if isinstance(f, FunctionType):
            found[f] = f"torch.functional.{f.__name__}"
    for f in _functions_of(root, sorted(names)):
        found.setdefault(f, f"torch.{f.__name__}")
    for f in _functions_of(layers, layers.__all__):
        found.setdefault(f, f"torch.nn.functional.{f.__name__}")
    for space in _SPACES:
        module = import_module(f".{space}", __package__)
        for name in dir(module):
            if isinstance(getattr(module, name), EagerFunction):
                found[getattr(module, name)] = f"torch.{space}.{name}"
    return found


def is_tensor_method_or_property(func: Callable[..., object]) -> bool:
    """Whether a function is a method of Tensor, or what reads or writes one of its properties."""
    return func in _members() or getattr(func, "__name__", "") in ("__get__", "__set__")


def resolve_name(f: Callable[..., object]) -> str | None:
    """The name by which a function that can be overridden is found; None for others."""
    if f in _members():
        name = f"torch.Tensor.{_members()[f]}"
        return f"{name}.__get__" if getattr(f, "__name__", "") == "__get__" else name
    return _named().get(f)


def get_default_nowrap_functions() -> set[Callable[..., object]]:
    """Functions whose results are not made instances of a subclass of Tensor."""
    return {vars(Differentiable)[name].__get__ for name in ("_base", "grad", "_grad")}


def get_ignored_functions() -> set[Callable[..., object]]:
    """Functions that no class can see to."""
    names = import_module(".ops.eager.namespace", __package__).public_names()
    found = {*_functions_of(_root(), names, asking=False), public_function("as_subclass")}
    return {*found, Tensor.__hash__} - _members().keys()


def get_overridable_functions() -> dict[object, list[Callable[..., object]]]:
    """Functions that classes can see to, by the module or class that they are found in."""
    found: dict[object, list[Callable[..., object]]] = {}
    for function, name in _named().items():
        space = import_module(name.rpartition(".")[0].replace("torch", __package__, 1))
        found.setdefault(space, []).append(function)
    for function in _members():
        owner = getattr(function, "__self__", None)
        found.setdefault(owner if isinstance(owner, property) else Tensor, []).append(function)
    return found


def get_testing_overrides() -> dict[Callable[..., object], Callable[..., object]]:
    """Functions of the same signatures as those that classes can see to; each gives -1."""
    return {f: _like(f) for f in (*_named(), *_members())}


def _like(function: Callable[..., object]) -> Callable[..., int]:
    def like(*args: object, **kwargs: object) -> int:
        return -1

    like.__signature__ = _signature_of(function)  # type: ignore[attr-defined]
    return like


def _signature_of(function: Callable[..., object]) -> Signature:
    if getattr(function, "__name__", "") == "__get__":
        return Signature([Argument("self", Argument.POSITIONAL_OR_KEYWORD)])
    if not isinstance(function, EagerFunction):
        return signature(getattr(function, "if_true", function))
    if not function.forms:
        return signature(lambda *args, **kwargs: -1)
    form = function.forms[0]
    arguments = [
        Argument(
            f"{name}_" if iskeyword(name) else name,
            Argument.KEYWORD_ONLY if argument.keyword_only else Argument.POSITIONAL_OR_KEYWORD,
            default=argument.default if argument.has_default else Argument.empty,
        )
        for name, argument in zip(form.names, form.arguments, strict=True)
    ]
    return Signature(arguments, __validate_parameters__=False)


# --------------------------------------------------------------------------- modes


class TorchFunctionMode:
    """A block in which `__torch_function__` of this object sees all functions first.

    While it answers the mode is left, so that it can call functions itself.
    """

    inner: TorchFunctionMode

    def __init__(self) -> None:
        pass

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[object, ...] = (),
        kwargs: dict[str, object] | None = None,
    ) -> Any:
        """What the call of a function gives.

        Raises:
            NotImplementedError: always; subclasses say it.
        """
        raise NotImplementedError

    def __enter__(self) -> Self:
        _push_mode(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        _pop_mode()

    @classmethod
    def push(cls, *args: object, **kwargs: object) -> Self:
        """A mode of this class."""
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that leaves functions as they are."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[object, ...] = (),
        kwargs: dict[str, object] | None = None,
    ) -> Any:
        """The function's own result."""
        return func(*args, **(kwargs or {}))


def _push_mode(mode: TorchFunctionMode) -> None:
    assert ARMED.installed is not None
    ARMED.installed(True)
    STATE.modes.append(mode)


def _pop_mode() -> TorchFunctionMode:
    assert ARMED.installed is not None
    mode: TorchFunctionMode = STATE.modes.pop()
    ARMED.installed(False)
    return mode


def _get_current_function_mode() -> TorchFunctionMode | None:
    """The mode that is asked first; None outside of all."""
    return STATE.modes[-1] if STATE.modes else None


def _get_current_function_mode_stack() -> list[TorchFunctionMode]:
    """The modes that are entered, the last one last."""
    return list(STATE.modes)


def _len_torch_function_stack() -> int:
    return len(STATE.modes)


def _is_torch_function_mode_enabled() -> bool:
    return bool(STATE.modes) and STATE.modes_too


def _get_overloaded_args(
    relevant_args: Iterable[object], get_type_fn: Callable[[object], type] | None = None
) -> list[object]:
    """The arguments that are asked, those of subclasses before those of their bases."""
    kind_of = get_type_fn or type
    found: list[object] = []
    for each in relevant_args if STATE.subclasses else ():
        kind = kind_of(each)
        if kind is not Tensor and own_function(kind) is None:
            continue
        if not any(kind_of(other) is kind for other in found):
            later = [i for i, other in enumerate(found) if issubclass(kind, kind_of(other))]
            found.insert(later[0] if later else len(found), each)
    return found


@contextmanager
def _pop_mode_temporarily() -> Iterator[TorchFunctionMode]:
    """A block without the last mode, which it gives."""
    with last_mode_apart() as mode:
        yield mode


@contextmanager
def _enable_torch_function() -> Iterator[None]:
    """A block in which classes and modes are asked again."""
    before = STATE.subclasses, STATE.modes_too
    STATE.subclasses = STATE.modes_too = True
    try:
        yield
    finally:
        STATE.subclasses, STATE.modes_too = before


enable_reentrant_dispatch = _enable_torch_function

__getattr__ = names_of(__name__)
