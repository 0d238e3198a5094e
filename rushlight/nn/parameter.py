"""`Parameter`, and `Buffer`, which marks a tensor as a module's buffer when it is assigned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from ..module_names import names_of
from ..ops.eager.dispatch import eager_function
from ..ops.memory.dtype import Device, DType
from ..ops.tensors.tensor import Parameter, Tensor

__all__ = [
    "Buffer",
    "Parameter",
    "UninitializedBuffer",
    "UninitializedParameter",
    "is_lazy",
    "refuse_lazy",
]

_empty = eager_function("aten::empty")


_ParameterMeta = type(Parameter)


class _BufferType(type(Tensor)):  # type: ignore[misc]
    """Makes `isinstance(t, Buffer)` true of the tensors that `Buffer(...)` made."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor) and getattr(instance, "_is_buffer", False) is True


class Buffer(Tensor, metaclass=_BufferType):
    """A tensor that becomes a buffer of the module it is assigned to.

    `persistent` buffers are part of the module's state dict.
    """

    persistent: bool

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Any:
        """A plain tensor that shares the memory of `data`, marked as a buffer."""
        marked: Any = _empty(0) if data is None else data.detach()
        marked.persistent = persistent
        marked._is_buffer = True
        return marked


_NO_SHAPE = (
    "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in "
    "`load_state_dict` when trying to load an uninitialized parameter into an initialized one. "
    "Call `forward` to initialize the parameters before accessing their attributes."
)
_NO_MEMORY = (
    "Can't share memory on an uninitialized parameter or buffer. Call `forward` to initialize the "
    "parameters before calling `module.share_memory()`."
)
_ALLOWED = frozenset(
    each.__name__
    for each in (
        *(Tensor.__hash__, Tensor.size, Tensor.copy_, Tensor.is_complex, Tensor.is_floating_point),
        *(Tensor.half, Tensor.float, Tensor.double, Tensor.char, Tensor.short, Tensor.int),
        *(Tensor.long, Tensor.cuda, Tensor.cpu, Tensor.to, Tensor.get_device),
    )
) | {"__get__", "__set__"}
"""What can be asked of a tensor without sizes: attributes, and methods of dtype and place."""


class UninitializedTensorMixin:
    """A tensor that gets its sizes later, by `materialize`."""

    __slots__ = ()

    cls_to_become: ClassVar[type[Tensor]] = Tensor

    if TYPE_CHECKING:

        @property
        def data(self) -> Tensor: ...
        @data.setter
        def data(self, value: Tensor) -> None: ...

        requires_grad: bool

    def materialize(
        self,
        shape: Sequence[int] | int,
        device: Device | str | None = None,
        dtype: DType | None = None,
    ) -> None:
        """Become a tensor or parameter of these sizes, with memory that is not filled."""
        dtype = self.data.dtype if dtype is None else dtype
        device = self.data.device if device is None else device
        self.data = _empty(shape, device=device, dtype=dtype)
        self.__class__ = self.cls_to_become  # type: ignore[assignment]

    @property
    def shape(self) -> NoReturn:
        """There is none yet.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError(_NO_SHAPE)

    def share_memory_(self) -> NoReturn:
        """There is none yet.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError(_NO_MEMORY)

    @classmethod
    def __torch_function__(
        cls, func: object, types: object, args: object = (), kwargs: object = None
    ) -> object:
        """What a function gives for it: only those of its dtype and place can be asked.

        Raises:
            ValueError: the function is another one.
        """
        if getattr(func, "__name__", "") in _ALLOWED:
            return super().__torch_function__(func, types, args, kwargs or {})  # type: ignore[misc]
        raise ValueError(
            f"Attempted to use an uninitialized parameter in {func}. This error happens when you "
            f"are using a `LazyModule` or explicitly manipulating `torch.nn.parameter."
            f"{cls.__name__}` objects. When using LazyModules Call `forward` with a dummy batch to "
            "initialize the parameters before calling torch functions"
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __reduce_ex__(self, protocol: object) -> str | tuple[object, ...]:
        return type(self), (self.requires_grad,)


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A parameter of a lazy module before its first call."""

    __slots__ = ()
    cls_to_become: ClassVar[type[Tensor]] = Parameter

    def __new__(
        cls,
        requires_grad: bool = True,
        device: Device | str | None = None,
        dtype: DType | None = None,
    ) -> UninitializedParameter:
        return cls._of(_empty(0, device=device, dtype=dtype)._array, requires_grad)

    def __deepcopy__(self, memo: dict[int, object]) -> Any:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.requires_grad, dtype=self.data.dtype)
        return memo[id(self)]


class UninitializedBuffer(UninitializedTensorMixin, Tensor):
    """A buffer of a lazy module before its first call."""

    __slots__ = ()

    def __new__(
        cls,
        requires_grad: bool = False,
        device: Device | str | None = None,
        dtype: DType | None = None,
        persistent: bool = True,
    ) -> Any:
        made: Any = cls._of(_empty(0, device=device, dtype=dtype)._array, requires_grad)
        made.persistent = persistent
        made._is_buffer = True
        return made


def is_lazy(param: object) -> bool:
    """Whether a parameter or buffer has no sizes yet."""
    return isinstance(param, UninitializedTensorMixin)


def refuse_lazy(param: object, who: str, what: str) -> None:
    """See that `who` can do `what` with a parameter.

    Raises:
        ValueError: it has no sizes yet.
    """
    if is_lazy(param):
        raise ValueError(
            f"The module passed to `{who}` can't have uninitialized parameters. Make sure to run "
            f"the dummy forward before applying {what}"
        )


__getattr__ = names_of(__name__)
