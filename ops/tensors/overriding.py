"""`__torch_function__`: classes that see to functions themselves are asked before these run.

Values of the types in `PLAIN` are never asked, so a function finds out by one look at a type
whether it may run as it is.  While a mode is entered no type is plain.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, TypeVar

from ...frontend.foundations.port import Port
from ..memory.dtype import Device, DType, Layout, MemoryFormat
from ..memory.warned import warn_caller

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    *("ARMED", "MEMBERS", "OPERATORS", "PLAIN", "STATE", "DisableTorchFunction"),
    *("DisableTorchFunctionSubclass", "answer", "ask", "ask_for", "ask_operator", "askers"),
    *("asking", "asks", "asks_itself", "disabled", "handle_torch_function", "has_torch_function"),
    "has_torch_function_unary",
    *("is_left_alone", "last_mode_apart", "make_plain", "own_function"),
    *("plain_types", "refusal", "result_without_asking"),
]

Answer = TypeVar("Answer")

_TYPES: Final[set[type]] = {
    *(int, float, bool, complex, str, type(None), slice, type(Ellipsis)),
    *(DType, Device, Layout, MemoryFormat),
}
PLAIN: Final = set(_TYPES)
"""Types whose values are never asked; `Tensor` and `Parameter` join when they are made."""


class _State(threading.local):
    """Whether classes are asked in this thread, and the modes that are asked before them."""

    subclasses = True
    modes_too = True
    skips = 0
    """How many functions are to run as they are, though a class of an argument would be asked."""

    below: Any = None
    """What sees the operators below gradients, while somebody does (`ops/dispatching/`)."""

    def __init__(self) -> None:
        self.modes: list[Any] = []


STATE: Final = _State()

MEMBERS: Final[Port[Callable[[], type]]] = Port()
"""Gives the class of the members of tensors that ask."""

ARMED: Final[Port[Callable[[bool], None]]] = Port()
"""Has every function look for modes, or stop it."""


def disabled(
    func: Callable[..., object],
    types: object,
    args: tuple[object, ...] = (),
    kwargs: dict[str, object] | None = None,
) -> object:
    """The `__torch_function__` of classes that leave functions as they are."""
    with DisableTorchFunctionSubclass():
        return func(*args, **(kwargs or {}))


class DisableTorchFunctionSubclass:
    """A block in which no class is asked, though modes are."""

    _names: tuple[str, ...] = ("subclasses",)

    def __enter__(self) -> None:
        self._before = [getattr(STATE, name) for name in self._names]
        for name in self._names:
            setattr(STATE, name, False)

    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        for name, before in zip(self._names, self._before, strict=True):
            setattr(STATE, name, before)


class DisableTorchFunction(DisableTorchFunctionSubclass):
    """A block in which neither classes nor modes are asked."""

    _names = ("subclasses", "modes_too")


def result_without_asking(
    cls: type,
    func: Callable[..., object],
    types: Iterable[type],
    args: tuple[object, ...],
    kwargs: Mapping[str, object],
) -> object:
    """What a function gives where no class is asked; NotImplemented if `cls` does not know one."""
    if not all(issubclass(cls, each) for each in types):
        return NotImplemented
    with DisableTorchFunctionSubclass():
        return func(*args, **kwargs)


def is_left_alone(func: Callable[..., object]) -> bool:
    """Whether the results of a function stay what they are where those of others get a class."""
    reads = getattr(func, "__name__", "") == "__get__" and getattr(func, "__self__", None)
    return isinstance(reads, property) and reads.fget is not None and _is_link(reads.fget)


def _is_link(read: Callable[..., object]) -> bool:
    return read.__name__ in ("_base", "grad")


# --------------------------------------------------------------------------- who is asked


OPERATORS: Final[Port[Callable[..., object]]] = Port()
"""Asks for one of Python's operators, by its name and operands."""


def ask_operator(name: str, *operands: object) -> Any:
    """What classes make of `Tensor.__getitem__` and its like."""
    assert OPERATORS.installed is not None
    return OPERATORS.installed(name, *operands)


def own_function(kind: type) -> object:
    """The `__torch_function__` of a class that wants to be asked; None if it has none."""
    if kind in _TYPES:
        return None
    found = getattr(kind, "__torch_function__", None)
    return None if found is disabled else found


def _is_asked(value: object) -> bool:
    kind = type(value)
    return kind not in _TYPES and own_function(kind) is not None


def asking(cls: type) -> None:
    """Have the members of a new class of tensors ask it, if it wants that."""
    if own_function(cls) is None or MEMBERS.installed is None:
        return
    members = MEMBERS.installed()
    if members not in cls.__mro__:
        bases = list(cls.__bases__)
        place = next(i for i, base in enumerate(bases) if hasattr(base, "_array"))  # a tensor
        cls.__bases__ = (*bases[:place], members, *bases[place:])


def make_plain(kind: type) -> None:
    """Values of this class, a Tensor, are not asked, though it has a `__torch_function__`."""
    _TYPES.add(kind)
    PLAIN.add(kind)


def plain_types() -> frozenset[type]:
    """What is in `PLAIN` while no mode is entered."""
    return frozenset(_TYPES)


def _modes() -> bool:
    return bool(STATE.modes) and STATE.modes_too


def asks(*values: object) -> bool:
    """Whether a mode, or the class of one of some values, is to be asked."""
    if STATE.skips:
        STATE.skips -= 1
        return False
    return _modes() or (STATE.subclasses and any(map(_is_asked, values)))


def has_torch_function(relevant_args: Iterable[object]) -> bool:
    """Whether a mode, or the class of one of some arguments, sees to functions itself."""
    return asks(*relevant_args)


def has_torch_function_unary(obj: object) -> bool:
    """The same for one argument."""
    return asks(obj)


def askers(args: Iterable[object], kwargs: Mapping[str, object]) -> list[object] | None:
    """The arguments, also those in lists, whose classes are asked; None if nothing is."""
    found: list[object] = []
    if STATE.skips:
        STATE.skips -= 1
        return None
    if STATE.subclasses:
        value: Any
        for value in (*args, *kwargs.values()):
            kind = type(value)
            if kind in _TYPES:
                continue
            if kind is list or kind is tuple:
                _add(found, filter(_is_asked, value))
            elif own_function(kind) is not None:
                _add(found, (value,))
    return found if found or _modes() else None


def asks_itself(func: object) -> bool:
    """Whether a function is written in Python and asks the classes of its arguments."""
    written = getattr(func, "if_true", func)
    code = getattr(written, "__code__", None)
    return code is not None and not _ASKING.isdisjoint(code.co_names)


_ASKING: Final = frozenset({"ask_for", "handle_torch_function"})


def _add(found: list[object], values: Iterable[object]) -> None:
    """One value for each class, those of subclasses before those of their bases."""
    for value in values:
        if any(type(value) is type(other) for other in found):
            continue
        later = [i for i, other in enumerate(found) if isinstance(value, type(other))]
        found.insert(later[0] if later else len(found), value)


# --------------------------------------------------------------------------- asking


@contextmanager
def last_mode_apart() -> Iterator[Any]:
    """A block without the last mode, which it gives."""
    mode = STATE.modes.pop()
    try:
        yield mode
    finally:
        STATE.modes.append(mode)


def answer(
    func: Callable[..., Any], asked: Sequence[Any], args: tuple[object, ...], *rest: object
) -> Any:
    """What the mode, or the first class that knows the function, makes of it.

    It is NotImplemented where none does.
    """
    types = tuple(map(type, asked))
    if _modes():
        with last_mode_apart() as mode:
            made = mode.__torch_function__(func, types, args, *rest)
        if made is not NotImplemented:
            return made
    for each in asked:
        method = each.__torch_function__
        if getattr(method, "__self__", None) is each:
            warn_caller(_PLAIN_METHOD)
        made = method(func, types, args, *rest)
        if made is not NotImplemented:
            return made
    return NotImplemented


_PLAIN_METHOD: Final = (
    "Defining your `__torch_function__` as a plain method is deprecated and will be an error in "
    "future, please define it as a classmethod."
)


def ask(
    func: Callable[..., Answer],
    asked: Sequence[object],
    args: tuple[object, ...],
    kwargs: Mapping[str, object],
    name: str,
) -> Answer:
    """What a mode or the classes of some arguments make of a call of an operator.

    Raises:
        TypeError: none of them knows it.
    """
    made: Answer = answer(func, asked, args, *([kwargs] if kwargs else []))
    if made is NotImplemented:
        raise TypeError(refusal(name, asked))
    return made


def refusal(name: str, asked: Sequence[object]) -> str:
    """What is said where all who were asked do not know an operator."""
    modes = STATE.modes[-1:] if _modes() else []
    lines = "".join(f"\n  - mode object {each}" for each in modes)
    lines += "".join(f"\n  - tensor subclass {type(each)}" for each in asked)
    return (
        f"Multiple dispatch failed for '{name}'; all __torch_function__ handlers returned "
        f"NotImplemented:\n{lines}\n\n"
        "For more information, try re-running with TORCH_LOGS=not_implemented"
    )


def handle_torch_function(
    public_api: Callable[..., object],
    relevant_args: Iterable[object],
    *args: object,
    **kwargs: object,
) -> Any:
    """What a mode, or the classes of some arguments, make of a function that is written in Python.

    Tensors are asked among the others, and know only functions that no other class sees to.

    Raises:
        TypeError: none of them knows it.
    """
    asked: list[object] = []
    if STATE.subclasses:
        _add(asked, (each for each in relevant_args if _may_be_asked(each)))
    made = answer(public_api, asked, args, kwargs)
    if made is NotImplemented:
        module = _module_of(public_api)
        text = (
            f"no implementation found for '{module}.{public_api.__name__}' on types that implement "
            f"__torch_function__: {[type(each) for each in asked]}"
        )
        if _modes():
            text += f" nor in mode {STATE.modes[-1]}"
        raise TypeError(text)
    return made


def ask_for(function: Callable[..., Answer], given: Mapping[str, object]) -> Answer:
    """The same for the function that runs, from its arguments by name: those without a default are
    passed on by position, the others by name.

    Raises:
        TypeError: no class of an argument knows the function.
    """
    written = getattr(function, "if_true", function)
    count = len(given) - len(written.__kwdefaults__ or ()) - len(written.__defaults__ or ())
    names = list(given)
    by_name = {name: given[name] for name in names[count:]}
    relevant = [*given.values()]
    for each in given.values():
        relevant += each if isinstance(each, (list, tuple)) else ()
    made: Answer = handle_torch_function(
        function, relevant, *(given[name] for name in names[:count]), **by_name
    )
    return made


def _module_of(function: Callable[..., object]) -> str:
    """The module of a function, by torch's name if it is one of ours."""
    own, _, inside = function.__module__.partition(".")
    if own != "rushlight":
        return function.__module__
    return "torch.functional" if inside.startswith("ops.") else f"torch.{inside}"


def _may_be_asked(value: object) -> bool:
    found = getattr(type(value), "__torch_function__", None)
    return found is not None and found is not disabled
