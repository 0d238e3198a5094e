"""The class of tensors whose elements are the conjugates, or negatives, of what lies in memory.

Such a tensor is a view: it stands for an ordinary tensor over that memory (`under`) and says what
is done to each element that is read, and to each one that is written.  No array stands behind the
handle: asking for one raises `OnConjugate`, and an eager call goes on in `calls.py`.

Its history is that of a `holder`, an ordinary tensor of these elements when it was made; what it
holds is never looked at, so memory may be written behind its back.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn, Self, TypeGuard

import numpy as np

from ..eager import methods  # noqa: F401  (adds the methods that are called here)
from ..eager.aten import aten
from ..eager.dispatch import EagerFunction, eager_function
from ..memory.complex_parts import is_complex
from ..memory.dtype import Array, Scalar
from ..memory.errors import OnConjugate
from ..memory.versions import owner_of, version_of
from ..table.grad_mode import is_recording
from ..table.pointwise import as_array
from ..tensors import overriding
from ..tensors.display import format_array
from ..tensors.marked_parameters import marked
from ..tensors.tape_port import tape
from ..tensors.tensor import Parameter, Tensor

__all__ = [
    *("CONJUGATED", "NEGATED", "ConjugateTensor", "Turns", "check_written", "holder"),
    *("in_memory", "is_turned", "move", "resolved", "shares", "turned_view", "turns_of", "under"),
    *("is_wanted", "turned_as_said", "wants_gradients", "write"),
]


class Turns(NamedTuple):
    """What is done to each element between memory and its reader."""

    conj: bool = False
    neg: bool = False

    def __xor__(self, other: Turns) -> Turns:
        """Both, one after the other."""
        return Turns(self.conj is not other.conj, self.neg is not other.neg)

    @property
    def words(self) -> list[str]:
        """The names that files have for what is done."""
        return [name for name, is_done in zip(self._fields, self, strict=True) if is_done]

    def elements(self, array: Array) -> Array:
        """New elements, made of those of an array."""
        made = np.conjugate(array) if self.conj and is_complex(array.dtype) else array
        if not self.neg:
            return as_array(made) if made is not array else array.copy("K")
        return as_array(np.logical_not(made) if made.dtype == bool else np.negative(made))

    def recorded(self, tensor: Tensor) -> Tensor:
        """The same of a tensor, as operators that gradients know."""
        made = _of_elements(_conj, tensor) if self.conj else tensor
        return aten.neg(made) if self.neg else made


CONJUGATED: Final = Turns(conj=True)
NEGATED: Final = Turns(neg=True)
_conj: Final = eager_function("aten::conj")


def _of_elements(function: EagerFunction, tensor: Tensor) -> Tensor:
    """What an operator computes at once that else gives such a view."""
    made: Tensor = EagerFunction.__call__(function, tensor)
    return made


class _State:
    """What such a tensor is made of."""

    __slots__ = ("holder", "turns", "under", "version")

    def __init__(self, under: Tensor, turns: Turns, holder: Tensor | None) -> None:
        self.under, self.turns, self.holder = under, turns, holder
        self.version = version_of(under._array)


def _state(tensor: Any) -> _State:
    state: _State = tensor._turned
    return state


def is_turned(value: object) -> TypeGuard[Tensor]:
    """Whether a value is such a tensor."""
    return type(value) is ConjugateTensor


def under(tensor: Tensor) -> Tensor:
    """The ordinary tensor over a tensor's memory."""
    return _state(tensor).under


def turns_of(tensor: object) -> Turns:
    """What is done to the elements of a tensor's memory."""
    return _state(tensor).turns if is_turned(tensor) else Turns()


def turned_view(memory: Tensor, turns: Turns, holder: Tensor | None = None) -> Tensor:
    """A view of a tensor's memory with something done to each element: an ordinary one if nothing
    is.  A `holder` has its history."""
    if not any(turns):
        return memory
    made = object.__new__(ConjugateTensor)
    made._view_of = None
    made._turned = _State(memory, turns, holder)
    return made


def turned_as_said(memory: Tensor, words: Iterable[str], requires_grad: bool = False) -> Tensor:
    """A view of memory with done to elements what a file says, a leaf."""
    made = turned_view(memory, Turns(**dict.fromkeys({*words} & {*Turns._fields}, True)))
    return made._want_gradients(requires_grad)


def is_wanted(tensor: Tensor) -> bool:
    """Whether gradients of an ordinary tensor are wanted, be it for directions alone."""
    return bool(tensor._requires_grad) and tape().is_wanted(tensor)


def wants_gradients(tensor: Tensor) -> bool:
    """The same of such a tensor."""
    state = _state(tensor)
    return (state.holder is not None and is_wanted(state.holder)) or is_wanted(state.under)


def holder(tensor: Tensor) -> Tensor:
    """The tensor that has the history, made anew where memory got another one."""
    state = _state(tensor)
    version = version_of(state.under._array)
    if state.holder is None or (version != state.version and is_wanted(state.under)):
        state.holder = state.turns.recorded(state.under)
    state.version = version
    return state.holder


def resolved(tensor: Tensor) -> Tensor:
    """An ordinary tensor of the elements that there are now, with the tensor's history."""
    state = _state(tensor)
    made = Tensor._of(state.turns.elements(state.under._array))
    if state.holder is None and state.under._requires_grad is False:
        return made
    if is_recording() and wants_gradients(tensor):
        edge = tape().edge_of(holder(tensor))
        if edge is not None:
            made._requires_grad = True
            made.__dict__["_grad_node"], made.__dict__["_output_number"] = edge
    return made


def in_memory(tensor: Tensor) -> Tensor:
    """The same of such a tensor; any other one as it is."""
    return resolved(tensor) if is_turned(tensor) else tensor


def shares(made: object, memory: Tensor) -> bool:
    """Whether something made of a tensor is a view of its memory, of elements of its dtype."""
    return (
        isinstance(made, Tensor)
        and not is_turned(made)
        and made.dtype is memory.dtype
        and owner_of(made._array) is owner_of(memory._array)
    )


def move(tensor: Tensor, function: Callable[[Tensor], Any]) -> object:
    """What a function gives that only moves elements: views where it gives views of memory."""
    state = _state(tensor)
    made = function(state.under)
    if made is state.under:
        return tensor
    parts = made if isinstance(made, (tuple, list)) else (made,)
    if not all(shares(part, state.under) for part in parts):
        return function(resolved(tensor))
    held = function(holder(tensor)) if is_recording() and wants_gradients(tensor) else None
    if parts is not made:
        return turned_view(made, state.turns, held)
    all_held = held if held is not None else [None] * len(parts)
    views = [turned_view(p, state.turns, h) for p, h in zip(parts, all_held, strict=True)]
    return type(made)(views)


def check_written(tensor: Tensor) -> None:
    """Refuse to write what is a leaf, or a view of one, that gradients are wanted of.

    Raises:
        RuntimeError: it is.
    """
    held = _state(tensor).holder
    if held is None or not (is_recording() and is_wanted(held)):
        return
    if is_wanted(_state(tensor).under):
        return  # which is refused by itself
    raise RuntimeError(
        "a view of a leaf Variable that requires grad is being used in an in-place operation."
    )


def _written_by(tensor: Tensor, value: object) -> object:
    """What is to be put into memory for a value to be read."""
    turns = _state(tensor).turns
    if isinstance(value, Tensor):
        plain = resolved(value) if is_turned(value) else value
        return turns.recorded(plain) if plain.is_complex() or turns.neg else plain
    if isinstance(value, (bool, int, float, complex, np.number)):
        value = value.conjugate() if turns.conj else value
        return -value if turns.neg else value
    return value


def write(tensor: Tensor, elements: Tensor) -> None:
    """Write all elements of such a tensor."""
    state = _state(tensor)
    state.under.copy_(state.turns.recorded(elements))


# --------------------------------------------------------------------------- the class


def _array(self: object) -> NoReturn:
    raise OnConjugate(
        "a view of conjugated or negated elements has no memory in which these lie: "
        "resolve_conj() and resolve_neg() give tensors that have"
    )


def _edge(tensor: Tensor) -> tuple[object, int]:
    """The node that the history came from, and which of its results that is."""
    edge = tape().edge_of(holder(tensor)) if wants_gradients(tensor) else None
    return (None, 0) if edge is None else edge


def _gradient(tensor: Tensor) -> Tensor | None:
    """The gradient, if there is one."""
    return holder(tensor).grad if wants_gradients(tensor) else None


def _give_gradient(tensor: Tensor, gradient: Tensor | None) -> None:
    holder(tensor).grad = gradient


def _passed_on(to: Callable[[Tensor], Tensor], name: str) -> object:
    """A member that another tensor has for this one."""
    known = getattr(Tensor, name)
    if isinstance(known, property) or not callable(known):
        return property(lambda self: getattr(to(self), name))
    return lambda self, *args, **named: getattr(to(self), name)(*args, **named)


def _moved(name: str) -> object:
    """A member that gives a view."""
    if isinstance(getattr(Tensor, name), property):
        return property(lambda self: move(self, lambda t: getattr(t, name)))
    return lambda self, *args, **named: move(self, lambda t: getattr(t, name)(*args, **named))


_OF_ELEMENTS: Final = (
    *("item", "tolist", "__bool__", "__int__", "__float__", "__complex__", "__index__"),
    *("__contains__", "__format__"),
)
_OF_MEMORY: Final = (
    *("shape", "dtype", "ndim", "itemsize", "nbytes", "names", "is_nested", "is_quantized"),
    *("size", "stride", "data_ptr", "untyped_storage", "__len__", "_version", "storage"),
    *("share_memory_", "is_shared", "_typed_storage", "const_data_ptr"),
)
_OF_HISTORY: Final = (
    *("grad_fn", "is_leaf", "retains_grad", "output_nr", "backward", "register_hook"),
    *("register_post_accumulate_grad_hook", "retain_grad", "_origin"),
)
_MOVED: Final = ("T", "mT", "to", "__getitem__", "__reversed__")


if TYPE_CHECKING:
    _Base = Tensor
else:
    _Base = object


class _Turned(_Base):
    """What is otherwise about such a tensor."""

    __slots__ = ()
    _turned: _State
    _array = property(_array)
    __class__ = property(lambda self: Tensor)
    _is_turned = True

    def _under(self) -> Tensor:
        return under(self)

    def _resolved(self) -> Tensor:
        return resolved(self)

    @property
    def _history_holder(self) -> Tensor:
        """The ordinary tensor in whose place walks go back."""
        return holder(self)

    @property
    def _requires_grad(self) -> bool:
        return wants_gradients(self)

    _grad_node = property(lambda self: _edge(self)[0])
    _output_number = property(lambda self: _edge(self)[1])

    @property
    def requires_grad(self) -> bool:
        """Whether gradients are wanted."""
        state = _state(self)
        held = state.holder is not None and state.holder.requires_grad
        return held or bool(state.under.requires_grad)

    @requires_grad.setter
    def requires_grad(self, wanted: bool) -> None:
        self._want_gradients(wanted)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Say whether gradients are wanted."""
        if requires_grad is not self.requires_grad:
            holder(self).requires_grad_(requires_grad)
        return self

    def _want_gradients(self, requires_grad: bool = True) -> Self:
        if requires_grad is not self.requires_grad:
            holder(self)._want_gradients(requires_grad)
        return self

    grad = property(_gradient, _give_gradient)

    _base = property(lambda self: under(self)._base)

    def _is_view(self) -> bool:
        return under(self)._is_view()

    @property
    def data(self) -> Tensor:
        """The same view without gradients."""
        return turned_view(under(self).data, turns_of(self))

    @data.setter
    def data(self, other: Tensor) -> None:
        known = is_turned(other)
        self._turned = _State(
            under(other) if known else other.detach(),
            turns_of(other),
            _state(self).holder,
        )

    @property
    def mH(self) -> Tensor:
        """The conjugate transposes of matrices."""
        return aten.mH(self)

    @property
    def H(self) -> Tensor:
        """The conjugate transpose of a matrix."""
        if self.ndim not in (0, 2):
            _ = under(self).H
        turned = self.transpose(0, 1) if self.ndim else self
        return turned.conj() if turned.is_complex() else turned

    @property
    def real(self) -> Tensor:
        """The real parts."""
        return aten.real(self)

    @real.setter
    def real(self, value: Tensor | Scalar) -> None:
        _write_part(self.real, value)

    @property
    def imag(self) -> Tensor:
        """The imaginary parts."""
        return aten.imag(self)

    @imag.setter
    def imag(self, value: Tensor | Scalar) -> None:
        _write_part(self.imag, value)

    def __repr__(self) -> str:
        state = _state(self)
        elements = state.turns.elements(state.under._array)
        prefix = "Parameter containing:\n" * isinstance(self, Parameter)
        return prefix + format_array(elements, self._history(), "tensor(")

    def numpy(self, *, force: bool = False) -> Array:
        """An array of the elements, if it may be a copy.

        Raises:
            RuntimeError: it may not.
        """
        if force:
            return resolved(self.detach()).numpy()
        which = "conj" if turns_of(self).conj else "neg"
        bit = "conjugate" if turns_of(self).conj else "negative"
        raise RuntimeError(
            f"Can't call numpy() on Tensor that has {bit} bit set. "
            f"Use tensor.resolve_{which}().numpy() instead."
        )

    def __dlpack__(self, *args: object, **named: object) -> NoReturn:
        raise BufferError("Can't export tensors with the conjugate bit set")

    def __iter__(self) -> Iterator[Tensor]:
        if not self.ndim:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def __setitem__(self, key: object, value: object) -> None:
        check_written(self)
        under(self)[key] = _written_by(self, value)

    def detach_(self) -> NoReturn:
        """Views are not detached in place.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError(
            "Can't detach views in-place. Use detach() instead. If you are using "
            "DistributedDataParallel (DDP) for training, and gradient_as_bucket_view is set as "
            "True, gradients are views of DDP buckets, and hence detach_() cannot be called on "
            "these gradients. To fix this error, please refer to the Optimizer.zero_grad() function"
            " in torch/optim/optimizer.py as the solution."
        )

    def as_subclass(self, cls: type) -> NoReturn:
        """Such views are of no class of users.

        Raises:
            NotImplementedError: always.
        """
        raise OnConjugate(
            f"a view of conjugated or negated elements is not made a {cls.__name__}: "
            "resolve_conj() and resolve_neg() give tensors that can be"
        )

    def __reduce__(self) -> tuple[object, ...]:
        parameter = isinstance(self, Parameter)
        return _remade, (under(self).detach(), *turns_of(self), self.requires_grad, parameter)

    def __reduce_ex__(self, protocol: object) -> tuple[object, ...]:
        return self.__reduce__()


def _write_part(part: Tensor, value: Tensor | Scalar) -> None:
    part.copy_(value) if isinstance(value, Tensor) else part.fill_(value)


def _as_parameter(tensor: Tensor, of: object, requires_grad: bool) -> object:
    return marked(tensor, requires_grad)


def _copied(tensor: Tensor) -> Tensor:
    state = _state(tensor)
    made = turned_view(state.under, state.turns, state.holder)
    if isinstance(tensor, Parameter):
        made._is_param = True
    return made


def _deeply_copied(tensor: Tensor, memo: dict[int, object]) -> Tensor:
    if not tensor.is_leaf:
        return copy.deepcopy(holder(tensor), memo)  # which is refused
    made = resolved(tensor.detach())
    copied: Tensor = Parameter(made) if isinstance(tensor, Parameter) else made
    copied.requires_grad_(tensor.requires_grad)
    memo[id(tensor)] = copied
    copied.grad = copy.deepcopy(tensor.grad, memo)
    return copied


def _remade(memory: Tensor, conj: bool, neg: bool, requires_grad: bool, parameter: bool) -> Tensor:
    made = turned_view(memory, Turns(conj, neg))
    made._want_gradients(requires_grad)
    if parameter:
        made._is_param = True
    return made


_MEMBERS: Final[dict[str, object]] = {
    **{name: _passed_on(resolved, name) for name in _OF_ELEMENTS},
    **{name: _passed_on(under, name) for name in _OF_MEMORY},
    **{name: _passed_on(holder, name) for name in _OF_HISTORY},
    **{name: _moved(name) for name in _MOVED},
    **{"__copy__": _copied, "__deepcopy__": _deeply_copied, "_as_parameter": _as_parameter},
    "__slots__": ("_is_param", "_turned"),
    "__torch_function__": staticmethod(overriding.disabled),
}
ConjugateTensor: Final[type[_Turned]] = type("Tensor", (_Turned, Tensor), _MEMBERS)
overriding.make_plain(ConjugateTensor)
