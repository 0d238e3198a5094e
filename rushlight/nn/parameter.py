"""`Parameter`, and `Buffer`, which marks a tensor as a module's buffer when it is assigned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from ..ops.eager.dispatch import eager_function
from ..ops.memory.dtype import Device, DType
from ..ops.tensors.tensor import Parameter, Tensor

__all__ = ["Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter", "is_lazy"]

_empty = eager_function("aten::empty")


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


class UninitializedTensorMixin:
    """A tensor that gets its sizes later, by `materialize`."""

    __slots__ = ()

    cls_to_become: ClassVar[type[Tensor]] = Tensor

    if TYPE_CHECKING:
        data: Any
        requires_grad: bool

    def materialize(
        self,
        shape: Sequence[int],
        device: Device | str | None = None,
        dtype: DType | None = None,
    ) -> None:
        """Become a tensor or parameter of these sizes, with memory that is not filled."""
        dtype = self.data.dtype if dtype is None else dtype
        self.data = _empty(tuple(shape), device=device, dtype=dtype)
        self.__class__ = self.cls_to_become  # type: ignore[assignment]

    @property
    def shape(self) -> Any:
        """There is none yet.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError(_NO_SHAPE)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __reduce_ex__(self, protocol: object) -> Any:
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
    ) -> Any:
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
