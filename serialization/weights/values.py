"""The makers of values that pickles of `torch.save` may name.

Names stand for the functions below; none is imported or looked up.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ...ops.conjugates.tensors import turned_as_said
from ...ops.eager.typed_storage import TypedStorage
from ...ops.memory.dtype import Array, Device, DType, Layout, dtype_of, layout_of
from ...ops.memory.errors import OperatorError
from ...ops.memory.reserved import reserved
from ...ops.memory.storage import strides_of
from ...ops.meta.tensors import on_meta
from ...ops.quantized_tensors.arrays import QuantizedArray, Quantizer
from ...ops.quantized_tensors.packed_weights import PACKED_CLASSES
from ...ops.sparse_tensors.parts import flat_places
from ...ops.sparse_tensors.tensors import compressed, coo, parts_of
from ...ops.tensors.dispatched import Dispatched, hidden
from ...ops.tensors.sizes import Size
from ...ops.tensors.tensor import Parameter, Tensor
from ...ops.tensors.untyped_storage import Storage
from ...typecheck.definitions.builtin_classes import BUILTIN_NAMESPACE
from ..files.errors import ArchiveError
from ..pickles.keys import Keys
from ..pickles.nodes import StorageNode, TensorNode
from ..pickles.tensors import StorageReader
from .states import set_state, unfit_name

__all__ = ["MAKERS", "Makers", "Name", "StorageView", "Unset"]


class Name:
    """A class or function that a pickle names; `make` is what stands for calling it.

    `module` and `name` are what it is called by where it is a value by itself.
    """

    def __init__(self, module: str, name: str, make: Callable[..., object] | None = None) -> None:
        self.module = module
        self.name = name
        self.make = make


class Unset:
    """A script object whose state the pickle has still to set; `places` are its memos."""

    def __init__(self) -> None:
        self.places: list[int] = []


@dataclass(frozen=True, slots=True)
class StorageView:
    """`count` elements of a storage from `start` on."""

    root: StorageNode
    start: int
    count: int


class Makers:
    """Makes values; `damaged` makes the error of a file that is none.

    `is_first` says that the contents of storages are not there yet, so that values which depend on
    them have to be made anew; `wants_contents` whether there were any; `vouches_for` whether
    something may be called, and given any state; `keys` sees that dicts and sets can be made.
    """

    def __init__(
        self,
        storages: StorageReader,
        damaged: Callable[[str], ArchiveError],
        is_first: bool,
        keys: Keys,
    ) -> None:
        self.keys = keys
        self.vouches_for: Callable[[object], bool] = lambda _: False
        self.makes_storages = False
        """Whether storages are made as programs have them, for some are values by themselves."""
        self.unused: dict[int, StorageNode | StorageView] = {}
        """Those that were met and that no tensor lies in."""
        self._stored: dict[int, tuple[object, StorageNode | StorageView]] = {}
        self._storages = storages
        self._damaged = damaged
        self._is_first = is_first
        self.wants_contents = False
        self.unset = 0
        """How many objects have no state yet."""

    # -- storages

    def stored(self, storage: StorageNode | StorageView) -> object:
        """A storage as programs have it, for it may be a value by itself.

        One without data, or of bytes whose order depends on what tensors lie in it, is only spoken
        of.
        """
        if not self.makes_storages:
            self.unused[id(storage)] = storage
            return storage
        if isinstance(storage, StorageView):
            root, start, count = storage.root, storage.start, storage.count
        else:
            root, start, count = storage, 0, storage.numel
        is_bytes = root.kind == "Untyped"
        if self._storages.is_meta(root) or (is_bytes and self._storages.swaps):
            return storage
        if is_bytes:
            root = StorageNode("Byte", root.key, root.location, root.numel)
        array = self._storages.array(TensorNode(root, 0, (root.numel,), (1,), False))
        made: Any = Storage.over(array)
        if count != root.numel:
            made = made[start * array.itemsize : (start + count) * array.itemsize]
        if not is_bytes:
            made = TypedStorage._over(made, dtype_of(array))
        self._stored[id(made)] = made, storage
        return made

    def _node(self, storage: object) -> object:
        """Where the tensors of a storage are read from."""
        self.unused.pop(id(storage), None)
        return self._stored[id(storage)][1] if id(storage) in self._stored else storage

    # -- tensors

    def tensor(
        self,
        storage: object,
        offset: int,
        size: tuple[int, ...],
        stride: tuple[int, ...],
        requires_grad: bool = False,
        hooks: object = None,
        metadata: Any = None,
    ) -> Tensor:
        """A dense tensor (`_rebuild_tensor_v2`, and `_rebuild_tensor` with four arguments)."""
        storage = self._node(storage)
        made = self._array(storage, offset, size, stride)
        root = storage.root if isinstance(storage, StorageView) else storage
        if isinstance(root, StorageNode) and self._storages.is_meta(root):
            empty: Tensor = on_meta(Tensor._of(made, requires_grad))
            return empty
        if made.dtype.names is not None:
            raise self._damaged("has a tensor of a quantized storage that has no scale")
        said = [key for key, value in (metadata or {}).items() if value is True]
        if said:
            return turned_as_said(Tensor._of(made), said, requires_grad)
        return Tensor._of(made, requires_grad)

    def without_data(
        self, dtype: object, size: object, stride: object, requires_grad: bool
    ) -> Tensor:
        """A tensor on the device `meta` (`_rebuild_meta_tensor_no_storage`)."""
        made = self._reserved(dtype, size, stride)
        empty: Tensor = on_meta(Tensor._of(made, requires_grad is True))
        return empty

    def _reserved(self, dtype: object, size: object, stride: object) -> Array:
        match dtype, size, stride:
            case DType(), tuple(), tuple() if len(size) == len(stride) <= 64:
                pass
            case _:
                raise self._damaged("has a tensor without data that says too little of itself")
        if any(type(n) is not int or not 0 <= n < 2**63 for n in (*size, *stride)):
            raise self._damaged("has a tensor without data of impossible sizes")
        try:
            return reserved(size, dtype.numpy, [n * dtype.itemsize for n in stride])
        except (OperatorError, OverflowError, ValueError) as error:
            raise self._damaged(f"has a tensor that is impossible: {error}") from None

    def wrapper(
        self,
        kind: object,
        dtype: object,
        size: object,
        stride: object,
        offset: object,
        layout: object,
        device: object,
        requires_grad: bool,
    ) -> Tensor:
        """A tensor without memory of a class that is asked for operators
        (`_rebuild_wrapper_subclass`)."""
        if not (isinstance(kind, type) and issubclass(kind, Dispatched)):
            raise self._damaged("has a wrapper of a class that has no __torch_dispatch__")
        if not (isinstance(layout, Layout) and isinstance(device, Device)):
            raise self._damaged("has a wrapper that lies nowhere")
        array = self._reserved(dtype, size, stride)
        assert isinstance(dtype, DType)
        made: Tensor = kind._of(  # type: ignore[attr-defined]
            hidden(array.shape, dtype, strides_of(array), device, layout), requires_grad is True
        )
        return made

    def sparse(self, layout: object, parts: object) -> object:
        """A sparse tensor (`_rebuild_sparse_tensor`), whose places are checked."""
        kind = getattr(layout, "name", "")
        by_coordinates = kind == "sparse_coo"
        if by_coordinates and isinstance(parts, tuple) and len(parts) == 3:
            parts = (*parts, None)  # before 2.1 nothing said whether places stand in order
        if not isinstance(parts, tuple) or len(parts) != 4:
            raise self._damaged("has a sparse tensor without its parts")
        tensors = parts[:2] if by_coordinates else parts[:3]
        sizes = parts[2 if by_coordinates else 3]
        if not all(type(each) is Tensor for each in tensors) or not isinstance(sizes, tuple):
            raise self._damaged("has a sparse tensor without its parts")
        if kind not in ("sparse_coo", "sparse_csr", "sparse_csc"):
            raise self._damaged(f"has a tensor of the layout {layout}, which is not read")
        self.wants_contents = True
        if self._is_first:
            return tensors[-1]  # the places are not there yet
        try:
            if by_coordinates:
                made = coo(parts[0], parts[1], sizes, parts[3] is True)
                flat_places(parts_of(made).to_coo())
                return made
            return compressed(parts[0], parts[1], parts[2], sizes, kind == "sparse_csc")
        except (RuntimeError, TypeError, ValueError) as error:
            raise self._damaged(f"has a sparse tensor that is none: {error}") from None

    def _array(
        self, storage: Any, offset: int, size: tuple[int, ...], stride: tuple[int, ...]
    ) -> Array:
        if isinstance(storage, StorageView):
            last = sum((n - 1) * s for n, s in zip(size, stride, strict=True))
            if 0 not in size and offset + last >= storage.count:
                raise self._damaged("has a tensor that reaches outside its storage")
            storage, offset = storage.root, offset + storage.start
        if not isinstance(storage, StorageNode):
            raise self._damaged("has a tensor without a storage")
        node = TensorNode(storage, offset, tuple(size), tuple(stride), False)
        return self._storages.array(node)

    def typed_tensor(
        self,
        storage: object,
        offset: int,
        size: tuple[int, ...],
        stride: tuple[int, ...],
        requires_grad: bool,
        hooks: object,
        dtype: object,
        metadata: object = None,
    ) -> Tensor:
        """A tensor over bytes without a type (`_rebuild_tensor_v3`)."""
        storage = self._node(storage)
        if not isinstance(storage, StorageNode) or not isinstance(dtype, DType):
            raise self._damaged("has a tensor without a storage")
        count = storage.numel // dtype.itemsize
        typed = StorageNode(dtype.scalar_name, storage.key, storage.location, count)
        return self.tensor(typed, offset, size, stride, requires_grad, hooks, metadata)

    def quantized(
        self,
        storage: object,
        offset: int,
        size: tuple[int, ...],
        stride: tuple[int, ...],
        quantizer: tuple[object, ...],
        requires_grad: bool = False,
        hooks: object = None,
    ) -> Tensor:
        """A quantized tensor (`_rebuild_qtensor`)."""
        array = self._array(self._node(storage), offset, size, stride)
        if array.dtype.names is None:
            raise self._damaged("has a quantized tensor of a storage that is not")
        made = array.view(QuantizedArray)
        made.quantizer = self._quantizer(quantizer, array.shape)
        return Tensor._of(made, requires_grad)

    def _quantizer(self, parts: tuple[object, ...], shape: tuple[int, ...]) -> Quantizer:
        scheme, scale, zero_point, *axis = parts
        text, found = str(scheme), None
        if text == "torch.per_tensor_affine" and not axis:
            found = Quantizer.fitting(scale, zero_point, 0, shape)
        elif text.startswith("torch.per_channel_affine") and axis and type(axis[0]) is int:
            if not isinstance(scale, Tensor) or not isinstance(zero_point, Tensor):
                raise self._damaged("has a quantized tensor without scales")
            found = Quantizer.fitting(scale._array, zero_point._array, axis[0], shape)
        if found is None:
            raise self._damaged("has a quantized tensor whose scales do not fit its shape")
        return found

    def parameter(self, data: object, requires_grad: bool = True, *_: object) -> Parameter:
        """A parameter, with or without state of its own."""
        if not isinstance(data, Tensor):
            raise self._damaged("has a parameter that is no tensor")
        return Parameter(data, requires_grad)

    def parameter_with_state(
        self, data: object, requires_grad: bool, hooks: object, state: object
    ) -> Parameter:
        """A parameter with the attributes that a program gave it."""
        made = self.parameter(data, requires_grad, hooks)
        self._set_state(made, state)
        return made

    def of_type(self, make: Any, kind: object, arguments: Any, state: object) -> object:
        """A tensor of a class of its own, or with attributes (`_rebuild_from_type_v2`)."""
        if isinstance(make, Name) and make.make is not None:
            made: Any = make.make(self, *arguments)
        elif self.vouches_for(make):
            made = make(*arguments)
        else:
            raise self._damaged("has a tensor of a class that is made in an unknown way")
        if isinstance(kind, type) and isinstance(made, Tensor) and type(made) is not kind:
            made = made.as_subclass(kind)
        self._set_state(made, state)
        return made

    def _set_state(self, made: Tensor, state: object) -> None:
        if state is None:
            return
        wrong = "" if self.vouches_for(type(made)) else unfit_name(state)
        if wrong:
            raise self._damaged(f"has a tensor with a state {wrong}")
        set_state(made, state)

    # -- objects of the classes of packed weights

    def script_object(self) -> Unset:
        """An object of `torch._C.ScriptObject`, which has nothing before its state is set."""
        self.unset += 1
        return Unset()

    def with_state(self, state: object) -> object:
        """The packed weights of a state and the name of its class."""
        match state:
            case (value, str(name)) if name.startswith(BUILTIN_NAMESPACE):
                make = PACKED_CLASSES.get(name.removeprefix(BUILTIN_NAMESPACE))
            case _:
                make = None
        if make is None:
            raise self._damaged("has an object of a class that does not exist here")
        self.unset -= 1
        self.wants_contents = True
        if self._is_first:
            return None
        try:
            return make(_machine_value(value))
        except OperatorError as error:
            raise self._damaged(f"has a `{name}` that cannot be made: {error}") from None

    # -- plain values

    def ordered_dict(self, items: Any = ()) -> OrderedDict[object, object]:
        """An `OrderedDict`, mostly empty at first."""
        pairs = items if isinstance(items, dict) else [tuple(pair) for pair in items]
        self.keys.check(pairs if isinstance(pairs, dict) else [pair[0] for pair in pairs])
        return OrderedDict(pairs)

    def members(self, make: Callable[..., object], *arguments: object) -> object:
        """A set of a list's values."""
        for values in arguments:
            self.keys.check(values if isinstance(values, list) else ())
        return self.plain(make, (list,), *arguments)

    def encoded(self, text: str, encoding: str = "latin1") -> bytes:
        """Bytes, which protocol 2 writes as a text."""
        if encoding not in ("latin1", "latin-1", "utf-8"):
            raise self._damaged(f"encodes bytes by {encoding!r}")
        return text.encode(encoding)

    def bytes_to_change(self, content: object = b"", encoding: str = "latin1") -> bytearray:
        """A bytearray, which protocol 2 writes as a text with its encoding."""
        made = self.encoded(content, encoding) if isinstance(content, str) else content
        if not isinstance(made, bytes):
            raise self._damaged("makes a bytearray in an unknown way")
        return bytearray(made)

    def plain(
        self, make: Callable[..., object], types: tuple[type, ...], *arguments: object
    ) -> object:
        """A value of one of Python's own types, of at most one argument of each given type."""
        if len(arguments) > len(types) or not all(map(isinstance, arguments, types)):
            raise self._damaged(f"makes a {make.__name__} in an unknown way")
        return make(*arguments)


def _machine_value(value: object) -> object:
    """Tensors without their handles, in lists and tuples."""
    if isinstance(value, Tensor):
        return value._array
    if isinstance(value, list | tuple):
        return type(value)([_machine_value(item) for item in value])
    return value


def _plain(make: Callable[..., object], *types: type) -> Callable[..., object]:
    def made(makers: Makers, *arguments: object) -> Any:
        return makers.plain(make, types, *arguments)

    return made


MAKERS: Final[Mapping[str, Callable[..., object] | None]] = {
    "torch._utils._rebuild_tensor": Makers.tensor,
    "torch._utils._rebuild_tensor_v2": Makers.tensor,
    "torch._utils._rebuild_tensor_v3": Makers.typed_tensor,
    "torch._utils._rebuild_qtensor": Makers.quantized,
    "torch._utils._rebuild_meta_tensor_no_storage": Makers.without_data,
    "torch._utils._rebuild_sparse_tensor": Makers.sparse,
    "torch._utils._rebuild_wrapper_subclass": Makers.wrapper,
    "torch.serialization._get_layout": _plain(layout_of, str),
    "torch._utils._rebuild_parameter": Makers.parameter,
    "torch._utils._rebuild_parameter_with_state": Makers.parameter_with_state,
    "torch._tensor._rebuild_from_type_v2": Makers.of_type,
    "torch.Tensor": None,
    "torch.nn.parameter.Parameter": Makers.parameter,
    "torch._C.ScriptObject": Makers.script_object,
    "torch.ScriptObject": Makers.script_object,
    "collections.OrderedDict": Makers.ordered_dict,
    "collections.Counter": _plain(Counter, dict),
    "builtins.set": lambda makers, *values: makers.members(set, *values),
    "builtins.frozenset": lambda makers, *values: makers.members(frozenset, *values),
    "builtins.complex": _plain(complex, float, float),
    "builtins.bytearray": Makers.bytes_to_change,
    "_codecs.encode": Makers.encoded,
    "torch.Size": _plain(Size, tuple),
    "torch.device": _plain(Device, str, int),
}
"""What stands for calling a name; None for one that is only mentioned."""
