"""The tensor that Python sees: a thin handle around the array that the machine computes with.

Operators, as methods and as `+ - * @ ==`, come from the operator table: see methods.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar, overload

import numpy as np

from ..arithmetic.convert import int_of_tensor, item, only_element, real_part, truth
from ..memory.complex_parts import is_complex, parts
from ..memory.dims import checked_dim
from ..memory.dtype import (
    CPU,
    STRIDED,
    Array,
    Device,
    DType,
    Layout,
    admitted,
    default_dtype,
    dtype_of,
    dtype_of_type,
)
from ..memory.storage import address, copied_with_storage, strides_of
from ..memory.versions import counted_apart, counted_on
from ..memory.warned import warn_of_number
from ..shapes.nested import NestedArray
from ..shapes.query import length
from ..shapes.shape import matrix_t, numpy_t
from ..table.grad_mode import GRAD_MODE, is_recording
from . import members, overriding
from .called_classes import called
from .differentiable import Differentiable
from .dispatched import (
    Dispatched,
    array_behind,
    cloned,
    disabled_dispatch,
    dispatching,
    exchangeable,
    given_away,
    is_dispatched,
    shown_by_form,
)
from .display import format_array
from .indexing import basic_view, get_item, put_item, read_places
from .keys import AsksError, is_plain, is_several, named_places, without_tensors
from .marked_parameters import ParameterType, marked
from .members import NO_GRADIENTS, NOT_COPIED, Members, all_members, give_members
from .overriding import PLAIN, asks
from .python_data import spelled_type
from .sizes import Size, made_of
from .tape_port import tape
from .tracing import ACTIVE, asked_by_operators, current_tracer, decided, traced_sizes
from .untyped_storage import Storage
from .with_memory import with_memory

__all__ = ["PLAIN_TENSORS", "Parameter", "Tensor", "text_of", "view_of"]

Shown = TypeVar("Shown", bound="Tensor")

_new: Final = object.__new__
_grad_mode: Final = GRAD_MODE.get


if TYPE_CHECKING:  # a stub, made of the operator table: what `ops/eager/methods.py` puts in later
    from .operator_methods import OperatorMethods as _Base
else:
    _Base = Differentiable


class Tensor(_Base):
    """A tensor of up to 64 dimensions on the CPU.

    `Tensor(2, 3)` is an unfilled tensor of those sizes, `Tensor([1, 2])` a tensor of these numbers.
    """

    __slots__ = ("__weakref__", "_array", "_requires_grad", "_view_of")
    __array_priority__ = 1000

    _array: Array
    _requires_grad: Any
    """Whether gradients are wanted; the record of a script that knows; or, of a tensor without a
    history that has views or is one, a list that they share, which is empty until it has some."""
    _view_of: Tensor | None

    def __new__(cls, *args: object, **options: object) -> Self:
        return called(cls, args, options, maker="torch.Tensor")  # type: ignore[no-any-return]

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        dispatching(cls, _ARRAY)
        overriding.asking(cls)

    @classmethod
    def __torch_function__(
        cls,
        func: Callable[..., object],
        types: Iterable[type],
        args: tuple[object, ...] = (),
        kwargs: dict[str, object] | None = None,
    ) -> Any:
        """Call a function; tensors among its results become instances of this class."""
        result = overriding.result_without_asking(cls, func, types, args, kwargs or {})
        return result if cls is Tensor or overriding.is_left_alone(func) else _as_class(result, cls)

    @classmethod
    def _of(cls, array: Array, requires_grad: bool = False) -> Self:
        """A handle to an array, which it shares."""
        handle = _new(cls)
        handle._array = array
        handle._requires_grad, handle._view_of = False, None
        if requires_grad:
            Differentiable._want_gradients(handle, True)
        return handle

    if not TYPE_CHECKING:
        __dict__ = property(all_members, give_members)
    else:
        grad: Tensor | None
        _base: Tensor | None
        _gradient: Tensor | None
        _is_param: bool  # of a parameter of another class

    # ------------------------------------------------------------------ what it is

    @property
    def shape(self) -> Size:
        """The sizes of the dimensions."""
        if ACTIVE:
            return made_of(Size, traced_sizes(self))
        return made_of(Size, self._array.shape)

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        if ACTIVE:
            decided(self, "dtype")
        return dtype_of(self._array)

    __torch_dispatch__ = staticmethod(disabled_dispatch)

    @property
    def device(self) -> Device:
        """The CPU; of wrappers what they say."""
        return self._place if isinstance(self, Dispatched) else CPU

    @property
    def layout(self) -> Layout:
        """`torch.strided`; of wrappers what they say."""
        return self._layout if isinstance(self, Dispatched) else STRIDED

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        if ACTIVE:
            decided(self, "rank")
        return self._array.ndim

    @property
    def itemsize(self) -> int:
        """The bytes of an element."""
        return self._array.itemsize

    @property
    def nbytes(self) -> int:
        """The bytes of all elements."""
        return self._array.nbytes

    is_cuda = is_sparse = is_meta = is_mkldnn = is_sparse_csr = False
    is_ipu = is_maia = is_mps = is_mtia = is_vulkan = is_xla = is_xpu = False
    is_cpu = True

    @property
    def is_nested(self) -> bool:
        """Whether rows end at different places."""
        return isinstance(self._array, NestedArray)

    @property
    def is_quantized(self) -> bool:
        """Whether the elements are whole numbers with a scale and a zero point."""
        return self._array.dtype.names is not None

    @overload
    def size(self, dim: None = None) -> Size: ...
    @overload
    def size(self, dim: int) -> int: ...
    def size(self, dim: int | None = None) -> Any:
        """The sizes, or the size of one dimension."""
        if dim is None:
            return made_of(Size, traced_sizes(self)) if ACTIVE else made_of(Size, self._array.shape)
        axis = checked_dim(dim, self._array.ndim)
        if ACTIVE and not asked_by_operators():
            tracer = current_tracer()
            if tracer is not None:
                return tracer.size_of(self, dim)
        return self._array.shape[axis]

    @overload
    def stride(self, dim: None = None) -> tuple[int, ...]: ...
    @overload
    def stride(self, dim: int) -> int: ...
    def stride(self, dim: int | None = None) -> Any:
        """The strides in elements, or the stride of one dimension."""
        found = strides_of(self._array)
        return found if dim is None else found[checked_dim(dim, self._array.ndim)]

    def data_ptr(self) -> int:
        """The address of the first element; 0 for a tensor without elements."""
        return address(self._array) if self._array.size else 0

    def untyped_storage(self) -> Storage:
        """The memory the tensor lies in."""
        return Storage.over(self._array)

    @overload
    def type(self, dtype: None = None, non_blocking: bool = False) -> str: ...
    @overload
    def type(self, dtype: str | DType | type, non_blocking: bool = False) -> Tensor: ...
    def type(self, dtype: object = None, non_blocking: bool = False) -> Any:
        """The name of the tensor's type, or the tensor in another dtype."""
        if dtype is None:
            return f"torch.{self.dtype.scalar_name}Tensor"
        return self.to(dtype_of_type(dtype))

    # ------------------------------------------------------------------ gradients

    @property
    def data(self) -> Tensor:
        """The same memory as a tensor without gradients, whose writes gradients do not notice;
        assigning it changes the memory used."""
        if isinstance(self, Dispatched):
            return self.detach()
        return Tensor._of(counted_apart(self._array))

    @data.setter
    def data(self, other: Tensor) -> None:
        if not isinstance(other, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(other).__name__}")
        if type(self) in PLAIN_TENSORS and type(other) in PLAIN_TENSORS:
            old, new = self._array, other._array
        else:
            old, new = exchangeable(self, other)
        if self._requires_grad and other._array.dtype.kind in "biu":
            raise RuntimeError(NO_GRADIENTS)
        self._array = counted_on(new, old)

    @data.deleter
    def data(self) -> None:
        raise RuntimeError("Deleting tensor data is not allowed. Delete tensor instead!")

    # ------------------------------------------------------------------ to Python and NumPy

    def item(self) -> Any:
        """The one element as a Python number.

        Raises:
            RuntimeError: there is not just one.
        """
        if ACTIVE:
            decided(self, "item")
        return item(self._array)

    def tolist(self) -> Any:
        """The elements as nested lists of Python numbers; a number for a 0-d tensor."""
        if ACTIVE:
            decided(self, "list")
        array = self._array
        if array.dtype.kind not in "biufc" or array.dtype.isbuiltin != 1:
            array = array.astype(np.complex128 if self.dtype.is_complex else np.float64)
        return array.tolist()

    def numpy(self, *, force: bool = False) -> Array:
        """An array of the same memory.

        Raises:
            RuntimeError: the tensor requires gradients, which are recorded now.
            TypeError: NumPy has no such dtype.
        """
        if ACTIVE:
            decided(self, "array")
        if not force and self.requires_grad and is_recording():
            raise RuntimeError(
                "Can't call numpy() on Tensor that requires grad. "
                "Use tensor.detach().numpy() instead."
            )
        if self._array.dtype.isbuiltin != 1:
            raise TypeError(f"Got unsupported ScalarType {self.dtype.scalar_name}")
        return given_away(self._array)

    def __bool__(self) -> bool:
        if ACTIVE:
            decided(self, "bool")
        return truth(self._array)

    def __int__(self) -> int:
        if ACTIVE:
            decided(self, "int")
        number = real_part(only_element(self._array), "int64_t")
        return int(number) if isinstance(number, float) else int_of_tensor(self._array)

    def __float__(self) -> float:
        if ACTIVE:
            decided(self, "float")
        if self._requires_grad:
            warn_of_number()
        return float(real_part(only_element(self._array), "double"))

    def __complex__(self) -> complex:
        if ACTIVE:
            decided(self, "complex")
        if self._requires_grad:
            warn_of_number()
        return complex(only_element(self._array))

    def __index__(self) -> int:
        if self._array.dtype.kind not in "biu" or self._array.size != 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        if ACTIVE:
            decided(self, "index")
        return int(self._array.item())

    def __len__(self) -> int:
        if not self._array.ndim:
            raise TypeError("len() of a 0-d tensor")
        if ACTIVE:
            decided(self, "length")
        return length(self._array)

    def __iter__(self) -> Iterator[Tensor]:
        if not self._array.ndim:
            raise TypeError("iteration over a 0-d tensor")
        if ACTIVE:
            decided(self, "rounds")
        return iter(self.unbind(0))

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        plain = type(self) is Tensor or issubclass(type(self), Parameter)
        if is_dispatched(self):
            text = shown_by_form(self, None)
        else:
            prefix = "tensor(" if plain else f"{type(self).__name__}("
            text = format_array(self._array, self._history(), prefix)
        return f"Parameter({text})" if isinstance(self, Parameter) and not plain else text

    def __format__(self, form: str) -> str:
        if type(self) is Tensor and not self._array.ndim:
            return format(item(self._array), form)
        return object.__format__(self, form)

    # ------------------------------------------------------------------ parts

    def __getitem__(self, key: object) -> Tensor:
        wanted = self._requires_grad
        if not wanted and not ACTIVE:
            try:
                part = self._array[key, ...] if type(key) is int else basic_view(self._array, key)
            except IndexError:
                part = None  # which is told below
            if part is not None:
                row = _new(Tensor)
                row._array, row._view_of = part, self
                if wanted is False:
                    wanted = self._requires_grad = []
                row._requires_grad = wanted
                if not _grad_mode():
                    row._note_mode()
                return row
        if type(key) is list and is_several(key):
            key = tuple(key)
        if wanted and not ACTIVE and _grad_mode() is not False and is_plain(key):
            return tape().get_item(self, key)
        if ACTIVE:
            tracer = current_tracer()
            if tracer is not None:
                return tracer.get_item(self, key)  # type: ignore[no-any-return]
        elif not (wanted or isinstance(self, Dispatched)):
            places = named_places(key, self._array.ndim)
            if places is not None:
                array = read_places(self._array, places)
                return Tensor._of(array) if array.base is None else view_of(self, array)
        try:
            plain = without_tensors(key)
        except AsksError:
            return overriding.ask_operator("__getitem__", self, key)  # type: ignore[no-any-return]
        if (wanted and is_recording()) or isinstance(self, Dispatched):
            return tape().get_item(self, key)
        array = get_item(self._array, plain)
        return Tensor._of(array) if array.base is None else view_of(self, array)

    def __setitem__(self, key: object, value: Any) -> None:
        if type(key) is list and is_several(key):
            key = tuple(key)
        wanted = self._requires_grad and type(key) in PLAIN and type(value) is Tensor
        if wanted and not ACTIVE and is_recording():
            tape().set_item(self, key, value)
            return
        if ACTIVE and (tracer := current_tracer()) is not None:
            tracer.set_item(self, key, value)
            return
        is_tensor = isinstance(value, Tensor)
        try:
            plain = without_tensors(key)
            if type(value) not in PLAIN and asks(value):
                raise AsksError
        except AsksError:
            overriding.ask_operator("__setitem__", self, key, value)
            return
        if is_tensor:
            if type(value) is not Tensor:
                value = with_memory(value)
        elif not isinstance(value, _NUMBERS):
            raise TypeError(
                f"can't assign a {spelled_type(value)} to a torch.{self.dtype.scalar_name}Tensor"
            )
        wanted = (self._requires_grad or (is_tensor and value._requires_grad)) and is_recording()
        if wanted or isinstance(self, Dispatched) or isinstance(value, Dispatched):
            tape().set_item(self, key, value)
            return
        if is_tensor:
            value = value._array
        places = None if plain is key else named_places(key, self._array.ndim)
        put_item(self._array, plain, value, places)

    @property
    def T(self) -> Tensor:
        """The dimensions in reverse order."""
        if ACTIVE and (tracer := current_tracer()) is not None:
            return tracer.operator("aten::numpy_T", self)
        if self._requires_grad or isinstance(self, Dispatched):
            return self.permute(tuple(range(self.ndim - 1, -1, -1)))
        return Tensor._of(numpy_t(self._array))._seen_as(self)

    @property
    def mT(self) -> Tensor:
        """The last two dimensions swapped."""
        if isinstance(self, Dispatched) or (self._requires_grad and self.ndim > 1 and not ACTIVE):
            return self.transpose(-2, -1)
        turned = matrix_t(self._array)
        if ACTIVE and (tracer := current_tracer()) is not None:
            return tracer.operator("aten::mT", self)
        if self._requires_grad:
            return self.transpose(-2, -1) if turned.ndim else self.view_as(self)
        return Tensor._of(turned)._seen_as(self)

    @property
    def mH(self) -> Tensor:
        """The conjugate transposes of matrices."""
        if isinstance(self, Dispatched):
            return self.mT.conj() if self.dtype.is_complex else self.mT
        matrix_t(self._array, "mH")  # which refuses what is no matrix
        if ACTIVE and (tracer := current_tracer()) is not None:
            return tracer.operator("aten::mH", self)
        return self.mT.conj() if is_complex(self._array.dtype) else self.mT

    @property
    def H(self) -> Tensor:
        """The conjugate transpose of a matrix."""
        if (ndim := self._array.ndim) not in (0, 2):
            more = " For batches of matrices, consider using tensor.mH" * (ndim > 2)
            raise RuntimeError(
                f"tensor.H is only supported on matrices (2-D tensors). Got {ndim}-D tensor.{more}"
            )
        if ACTIVE and (tracer := current_tracer()) is not None:
            return tracer.operator("aten::matrix_H", self)
        return (self.transpose(0, 1) if ndim else self.view_as(self)).conj()

    @property
    def real(self) -> Tensor:
        """The real parts; the tensor itself if it is not complex."""
        if ACTIVE and (tracer := current_tracer()) is not None:
            return tracer.operator("aten::real", self)
        if not is_complex(self._array.dtype):
            return self
        if self._requires_grad or isinstance(self, Dispatched):
            return tape().parts(self).select(-1, 0)
        return Tensor._of(parts(self._array)[..., 0])._seen_as(self)

    @real.setter
    def real(self, value: Tensor | complex) -> None:
        self.real.copy_(value) if isinstance(value, Tensor) else self.real.fill_(value)

    @property
    def imag(self) -> Tensor:
        """The imaginary parts of a complex tensor."""
        if not is_complex(self._array.dtype):
            raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
        if ACTIVE and (tracer := current_tracer()) is not None:
            return tracer.operator("aten::imag", self)
        if self._requires_grad or isinstance(self, Dispatched):
            return tape().parts(self).select(-1, 1)
        return Tensor._of(parts(self._array)[..., 1])._seen_as(self)

    @imag.setter
    def imag(self, value: Tensor | complex) -> None:
        self.imag.copy_(value) if isinstance(value, Tensor) else self.imag.fill_(value)

    def _as_parameter(self, of: Callable[[Array, bool], Shown], requires_grad: bool) -> Shown:
        """A parameter of this memory, as `of` makes them."""
        return of(self._array.view(), requires_grad)

    def __copy__(self) -> Self:
        copied = type(self)._of(array_behind(self).view())
        all_members(copied).update(all_members(self))
        copied._requires_grad, copied._view_of = self._requires_grad, self._view_of
        members.give_slots(copied, members.slots_of(self))
        return copied

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        if not self.is_leaf:
            raise RuntimeError(NOT_COPIED)
        if is_dispatched(self):
            return cloned(self, memo)  # type: ignore[no-any-return]
        copied = type(self)._of(copied_with_storage(self._array, memo), self.requires_grad)
        memo[id(self)] = copied
        if not issubclass(type(self), Parameter):
            members.copy_attributes(self, copied, memo)
        if self._gradient is not None:
            copied._gradient = self._gradient.__deepcopy__(memo)
        return copied

    def __reduce__(self) -> tuple[object, ...]:
        made = type(self), self._array, self.requires_grad
        return _rebuilt, made, members.state_of(self)


_ARRAY: Final = vars(Tensor)["_array"]


class Parameter(Tensor, metaclass=ParameterType):
    """A tensor that belongs to a module and is trained; of a user's class if `data` is.

    Args:
        data: the tensor, whose memory is shared; an empty one if there is none.
        requires_grad: whether gradients of it are wanted.
    """

    __slots__ = ()
    __torch_function__ = staticmethod(overriding.disabled)

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Self:
        if data is None:
            return cls._of(np.empty(0, default_dtype.float), requires_grad)
        if overriding.own_function(type(data)) is not None or isinstance(data, Dispatched):
            return marked(data, requires_grad)  # type: ignore[no-any-return]
        return data._as_parameter(cls._of, requires_grad)

    if not TYPE_CHECKING:
        __dict__ = property(lambda self: Members(all_members(self)), give_members)

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()


text_of: Final = Tensor.__repr__  # whatever others put in its place
overriding.make_plain(Tensor)
overriding.make_plain(Parameter)


def _as_class(result: object, cls: type[Tensor]) -> object:
    """A result whose tensors, also those in tuples and lists, are instances of a class."""
    if isinstance(result, Tensor):
        return result if isinstance(result, cls) else result.as_subclass(cls)
    if isinstance(result, (tuple, list)):
        parts = (_as_class(each, cls) for each in result)
        return type(result)._make(parts) if hasattr(result, "_make") else type(result)(parts)
    return result


def view_of(base: Tensor, array: Array) -> Tensor:
    """A view of a tensor that has no history to follow."""
    wanted = base._requires_grad
    if wanted:
        return Tensor._of(array)._seen_as(base)
    made = _new(Tensor)
    made._array, made._view_of = array, base
    if wanted is False:
        wanted = base._requires_grad = []  # no thread comes between this and the line that asked
    made._requires_grad = wanted
    if not _grad_mode():
        made._note_mode()
    return made


PLAIN_TENSORS: Final = frozenset({Tensor, Parameter})
"""The classes whose tensors are an array and nothing else."""

_NUMBERS = (bool, int, float, complex, np.integer)


def _rebuilt(cls: type[Tensor], array: Array, requires_grad: bool) -> Tensor:
    return cls._of(admitted(array) if type(array) is np.ndarray else array, requires_grad)
