"""`torch._subclasses.fake_tensor`: tensors that have sizes, a dtype and a device, and no elements.

A fake tensor is a wrapper (`Tensor._make_wrapper_subclass`) of one on `meta`, which says another
device.  While its mode is entered every new tensor is one, and whatever computes with one computes
sizes alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

from .._ops import OpOverload
from ..ops.dispatching.modes import modes
from ..ops.eager.subclasses import make_wrapper_subclass
from ..ops.memory.dtype import CPU, META, STRIDED, Device, get_default_dtype
from ..ops.memory.errors import OnMeta
from ..ops.meta.tensors import is_meta
from ..ops.table.grad_mode import no_grad
from ..ops.tensors.dispatched import resized
from ..ops.tensors.tensor import Parameter, Tensor
from ..utils._python_dispatch import TorchDispatchMode
from ..utils._pytree import tree_flatten, tree_map
from ..utils.weak import WeakIdKeyDictionary

__all__ = [
    *("DataDependentOutputException", "DynamicOutputShapeException", "FakeTensor"),
    *("FakeTensorMode", "UnsupportedFakeTensorException", "UnsupportedOperatorException"),
    *("is_fake", "maybe_get_fake_mode", "unset_fake_temporarily"),
]


class _OfOperator(RuntimeError):
    def __init__(self, func: object) -> None:
        super().__init__(str(func))
        self.func = func


class DataDependentOutputException(_OfOperator):
    """A number was asked for that depends on elements."""


class DynamicOutputShapeException(_OfOperator):
    """A result was asked for whose sizes depend on elements."""


class UnsupportedOperatorException(_OfOperator):
    """An operator was called that nobody has said the sizes of."""


class UnsupportedFakeTensorException(RuntimeError):
    """A tensor has no fake one."""


class FakeTensor(Tensor):
    """A tensor without elements that says of itself that it lies on a device."""

    fake_mode: FakeTensorMode
    fake_device: Device
    constant: Tensor | None
    """The tensor of data that it stands for, as long as nothing writes it."""
    _meta: Tensor

    @staticmethod
    def __new__(
        cls: type[FakeTensor],
        fake_mode: FakeTensorMode,
        elem: Tensor,
        device: Device,
        constant: Tensor | None = None,
    ) -> FakeTensor:
        """The fake tensor of one on `meta`.

        Raises:
            AssertionError: `elem` lies elsewhere.
        """
        if not is_meta(elem):
            raise AssertionError(f"elem must be on meta device, got {elem.device}")
        made: FakeTensor = make_wrapper_subclass(
            cls,
            elem.shape,
            strides=elem.stride(),
            dtype=elem.dtype,
            device=device,
            requires_grad=elem.requires_grad,
        )
        made.fake_mode, made.fake_device, made.constant = fake_mode, device, constant
        made._meta = elem.detach()
        return made

    @property
    def device(self) -> Device:
        """The device that it says it lies on."""
        return self.fake_device

    @classmethod
    def __torch_dispatch__(
        cls,
        func: Any,
        types: object,
        args: tuple[object, ...] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        """What the mode of the first fake tensor among the arguments makes of an operator."""
        found = next(
            each for each in tree_flatten((args, kwargs))[0] if isinstance(each, FakeTensor)
        )
        with found.fake_mode:
            return func(*args, **(kwargs or {}))

    def __repr__(self) -> str:
        told = [f"size={tuple(self.shape)}"]
        if self.fake_device.type != "cpu":
            told.insert(0, f"device='{self.fake_device}'")
        if self.dtype is not get_default_dtype():
            told.append(f"dtype={self.dtype}")
        text = f"FakeTensor(..., {', '.join(told + self._history())})"
        return f"Parameter({text})" if isinstance(self, Parameter) else text


class FakeTensorMode(TorchDispatchMode):
    """A block in which every tensor that is made is fake.

    Args:
        allow_fallback_kernels: has no meaning: sizes come of the operators themselves.
        allow_non_fake_inputs: whether others may stand among operands.
        shape_env: sizes that are not numbers, which there are none of.
        static_shapes: has no meaning.
        export: has no meaning.

    Raises:
        NotImplementedError: sizes shall be symbols.
    """

    def __init__(
        self,
        *,
        allow_fallback_kernels: bool = True,
        allow_non_fake_inputs: bool = False,
        shape_env: object = None,
        static_shapes: bool | None = None,
        export: bool = False,
    ) -> None:
        super().__init__()
        del allow_fallback_kernels, export
        if shape_env is not None:
            raise NotImplementedError("FakeTensorMode(shape_env=...): sizes are numbers here")
        self.allow_non_fake_inputs = allow_non_fake_inputs
        self.static_shapes = True if static_shapes is None else static_shapes
        self.shape_env = None
        self._known: WeakIdKeyDictionary[object, object] = WeakIdKeyDictionary()
        self._entered: list[bool] = []

    def __enter__(self) -> Self:
        is_new = not (modes.stack and modes.stack[-1] is self)
        if is_new:
            super().__enter__()
        self._entered.append(is_new)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        if self._entered.pop():
            super().__exit__(kind, error, trace)

    def from_tensor(
        self,
        tensor: Tensor,
        *,
        static_shapes: bool | None = None,
        source: object = None,
        symbolic_context: object = None,
        trace: bool = True,
    ) -> object:
        """The fake tensor of another one, always the same as long as that lives.

        Raises:
            UnsupportedFakeTensorException: it has no elements that lie in memory.
        """
        del static_shapes, source, symbolic_context, trace
        if isinstance(tensor, FakeTensor):
            return tensor
        if tensor not in self._known:
            with modes.apart(len(modes.stack)):
                self._known[tensor] = self._fake(tensor)
        return self._known[tensor]

    def _fake(self, tensor: Tensor, constant: Tensor | None = None) -> Tensor:
        if tensor.layout != STRIDED:
            raise UnsupportedFakeTensorException(f"a tensor of layout {tensor.layout}")
        place = META if is_meta(tensor) else tensor.device
        with no_grad():
            meta = tensor.detach().to("meta")
        made: Tensor = FakeTensor(self, meta, place, constant)
        made.requires_grad_(tensor.requires_grad)
        if isinstance(tensor, Parameter):
            made = Parameter(made, tensor.requires_grad)
        if tensor.is_leaf and tensor.grad is not None:
            made.grad = self._fake(tensor.grad)
        return made

    # ------------------------------------------------------------------ operators

    def __torch_dispatch__(
        self,
        func: Any,
        types: object,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> object:
        """The result of an operator without elements.

        Raises:
            DataDependentOutputException: it is a number that depends on them.
            DynamicOutputShapeException: its sizes depend on them.
            AssertionError: a tensor of data stands among the operands.
        """
        given = dict(kwargs or {})
        if func.name() == "aten::lift_fresh":
            return self._fake(args[0], args[0].detach().clone())
        if func.name() == "aten::_local_scalar_dense":
            if _constant(args[0]) is None:
                raise DataDependentOutputException(func)
            return func(args[0].constant)
        args, given = tree_map(lambda each: self._taken(func, args, each), (args, given))
        place = self._place(func, args, given)
        if "device" in given or _makes(func):
            given["device"] = META
        try:
            made = func(*tree_map(_without, args), **tree_map(_without, given))
        except OnMeta:
            gives_tensors = any("Tensor" in str(each.type) for each in func.entry.signature.returns)
            if gives_tensors:
                raise DynamicOutputShapeException(func) from None
            raise DataDependentOutputException(func) from None
        known = self._of_constants(func, args, given)
        if func.mutates:
            return self._written(func, args, given, known is not None)
        if isinstance(known, Tensor) and known.numel() == 1:
            return FakeTensor(self, made, place, known)
        return tree_map(lambda each: self._made(each, place), made)

    def _of_constants(self, func: OpOverload, args: Any, kwargs: Any) -> object:
        """What an operator gives for tensors of data that fake ones stand for; None if it needs
        others, too, or draws."""
        fakes = _fakes((args, kwargs))
        if func.draws or not fakes or any(each.constant is None for each in fakes):
            return None
        args, kwargs = tree_map(_or_constant, (args, kwargs))
        return func(*args, **kwargs)

    def _taken(self, func: OpOverload, args: Iterable[object], value: object) -> object:
        if not isinstance(value, Tensor) or isinstance(value, FakeTensor):
            return value
        is_number = not (value.ndim or func.mutates or value.requires_grad)
        if self.allow_non_fake_inputs or is_meta(value) or is_number:
            return self.from_tensor(value)
        shown = ", ".join(map(str, args))
        raise AssertionError(
            "Please convert all Tensors to FakeTensors first or instantiate FakeTensorMode with "
            f"'allow_non_fake_inputs'. Found in {func}({shown})"
        )

    def _place(self, func: object, args: object, kwargs: Mapping[str, Any]) -> Device:
        """The device of a result: that said, or that of the operands; numbers lie anywhere.

        Raises:
            RuntimeError: operands lie on several.
        """
        if kwargs.get("device") is not None:
            return Device(kwargs["device"])
        found: Device | None = None
        for each in sorted(_fakes((args, kwargs)), key=lambda fake: not fake.ndim):
            if found is None:
                found = each.fake_device
            elif each.ndim and each.fake_device != found:
                raise RuntimeError(
                    f"Unhandled FakeTensor Device Propagation for {func}, found two different "
                    f"devices {found}, {each.fake_device}"
                )
        return CPU if found is None else found

    def _made(self, value: object, place: Device) -> object:
        return FakeTensor(self, value, place) if isinstance(value, Tensor) else value

    def _written(
        self, func: OpOverload, args: Iterable[object], kwargs: Mapping[str, Any], is_known: bool
    ) -> object:
        """What an operator gives that writes: what it has written, in its new sizes."""
        signature = func.entry.signature
        names = [argument.name for argument in signature.arguments]
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        written = [given[names[place]] for place in signature.written if names[place] in given]
        for each in written:
            if not is_known:
                each.constant = None
            resized(each, each._meta.shape, each._meta.stride())
        if not signature.returns:
            return None
        return written[0] if len(written) == 1 else tuple(written)


def _fakes(values: object) -> list[FakeTensor]:
    """The fake tensors of a structure."""
    return [each for each in tree_flatten(values)[0] if isinstance(each, FakeTensor)]


def _constant(value: object) -> Tensor | None:
    return value.constant if isinstance(value, FakeTensor) else None


def _or_constant(value: object) -> object:
    return value.constant if isinstance(value, FakeTensor) else value


def _without(value: object) -> object:
    return value._meta if isinstance(value, FakeTensor) else value


def _makes(func: OpOverload) -> bool:
    """Whether an operator makes tensors of none."""
    arguments = func.entry.signature.arguments
    return any(a.name == "device" for a in arguments) and not any(
        "Tensor" in str(a.type) for a in arguments
    )


# --------------------------------------------------------------------------- questions


def is_fake(x: object) -> bool:
    """Whether a value is such a tensor, or is made of one."""
    return maybe_get_fake_mode(x) is not None


def maybe_get_fake_mode(t: object) -> FakeTensorMode | None:
    """The mode of a fake tensor, or of those that a wrapper is made of; None of others."""
    if isinstance(t, FakeTensor):
        return t.fake_mode
    if isinstance(t, Tensor) and hasattr(t, "__tensor_flatten__"):
        parts = (maybe_get_fake_mode(getattr(t, name)) for name in t.__tensor_flatten__()[0])
        return next((mode for mode in parts if mode is not None), None)
    return None


@contextmanager
def unset_fake_temporarily() -> Iterator[FakeTensorMode | None]:
    """A block in which tensors are not fake; gives the mode that is left."""
    places = [at for at, mode in enumerate(modes.stack) if isinstance(mode, FakeTensorMode)]
    with modes.apart(len(modes.stack) - places[0] if places else 0) as kept:
        yield kept[0] if kept else None
