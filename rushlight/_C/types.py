"""Types as `torch._C` has them: `IntType.get()`, `ListType(element)`, `t.kind()`.

A handle holds the compiler's own type (`typecheck.types.types`); two handles are equal if their
types are, facts about tensors (sizes, device) included.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ..ir.graphs.tensor_types import contiguous_strides, refined_type, type_of_array
from ..ir.text.text import type_text
from ..ops.memory.dtype import DTYPES, Device, DType
from ..ops.tensors.tensor import Tensor
from ..typecheck.definitions import class_types
from ..typecheck.definitions.functions import Function
from ..typecheck.relations.relations import is_subtype, optional, union
from ..typecheck.types import types as language
from ..typecheck.types.tensor_facts import RefinedTensor, facts_of

__all__ = ["CLASSES", "ClassType", "Type", "type_handle"]

Text = str


class Type:
    """A type of the language."""

    __slots__ = ("_type",)
    __hash__ = None  # type: ignore[assignment]  # as in torch
    _type: language.Type

    def kind(self) -> Text:
        """The class of types it belongs to: `TensorType`."""
        return type(self).__name__.lstrip("_")

    @property
    def annotation_str(self) -> Text:
        """How annotations spell it: `List[int]`."""
        return self._type.annotation_str

    def __str__(self) -> Text:
        return self._type.annotation_str

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Type) or self._type != other._type:
            return False
        return type_text(self._type) == type_text(other._type)

    def isSubtypeOf(self, other: Type) -> bool:
        """Whether every value of this type is one of the other."""
        return is_subtype(self._type, other._type)

    def containedTypes(self) -> list[Type]:
        """The type arguments."""
        return [type_handle(part) for part in self._type.contained]

    def is_interface_type(self) -> bool:
        """Whether it is an interface."""
        return self._type.is_interface

    # -- facts about tensors

    def _facts(self) -> RefinedTensor:
        facts = facts_of(self._type)
        if facts is None:
            raise RuntimeError(f"{self.annotation_str} is not a tensor type")
        return facts

    def undefined(self) -> bool:
        """Whether it is known that there is no tensor; nothing here says so."""
        self._facts()
        return False

    def scalarType(self) -> Text | None:
        """The element type's name (`Float`), if known."""
        return self._facts().scalar

    def dtype(self) -> DType | None:
        """The element type, or None."""
        scalar = self._facts().scalar
        return next((t for t in DTYPES.values() if t.scalar_name == scalar), None)

    def device(self) -> Device | None:
        """The device, if known."""
        device = self._facts().device
        return None if device is None else Device(device)

    def dim(self) -> int | None:
        """The number of dimensions, if known."""
        sizes = self._facts().sizes
        return None if sizes is None else len(sizes)

    def sizes(self) -> list[int] | None:
        """The sizes, if all are known."""
        return _all_known(self._facts().sizes)

    def strides(self) -> list[int] | None:
        """The strides, if all are known."""
        return _all_known(self._facts().strides)

    def varyingSizes(self) -> list[int | None] | None:
        """The sizes, None for one that is not known; None if not even their number is."""
        sizes = self._facts().sizes
        return None if sizes is None else list(sizes)

    symbolic_sizes = varyingSizes

    def requires_grad(self) -> bool:
        """Whether gradients may be wanted; True if that is not known."""
        return self._facts().requires_grad is not False

    def with_sizes(self, sizes: Sequence[int | None] | None) -> Type:
        """The same with other sizes; strides are no longer known."""
        known = None if sizes is None else tuple(sizes)
        return type_handle(refined_type(self._facts(), sizes=known, strides=None))

    def with_dtype(self, dtype: DType) -> Type:
        """The same with another element type."""
        return type_handle(refined_type(self._facts(), scalar=dtype.scalar_name))

    def with_device(self, device: object) -> Type:
        """The same on another device."""
        return type_handle(refined_type(self._facts(), device=Text(device)))

    def contiguous(self) -> Type:
        """The same with the strides of a contiguous tensor, if the sizes are known."""
        sizes = _all_known(self._facts().sizes)
        strides = None if sizes is None else contiguous_strides(sizes)
        return type_handle(refined_type(self._facts(), strides=strides))

    def str(self) -> Text:
        """How graphs spell it: `int[]`."""
        return type_text(self._type)


def _all_known(values: Sequence[int | None] | None) -> list[int] | None:
    known = [value for value in values or () if value is not None]
    return None if values is None or len(known) != len(values) else known


class _Simple(Type):
    """A type without arguments."""

    __slots__ = ()
    _only: ClassVar[language.Type]

    def __init__(self) -> None:
        self._type = self._only

    @classmethod
    def get(cls) -> Type:
        """The type."""
        return cls()


def _simple(name: Text, meaning: Text, only: language.Type) -> type[_Simple]:
    """The class of one such type."""
    return type(name, (_Simple,), {"__slots__": (), "__doc__": meaning, "_only": only})


IntType = _simple("IntType", "`int`.", language.INT)
FloatType = _simple("FloatType", "`float`.", language.FLOAT)
ComplexType = _simple("ComplexType", "`complex`.", language.COMPLEX)
BoolType = _simple("BoolType", "`bool`.", language.BOOL)
StringType = _simple("StringType", "`str`.", language.STRING)
NumberType = _simple("NumberType", "Any number: `Scalar` in schemas.", language.NUMBER)
NoneType = _simple("NoneType", "The type of None.", language.NONE)
AnyType = _simple("AnyType", "Any value.", language.ANY)
DeviceObjType = _simple("DeviceObjType", "A device.", language.DEVICE)
StreamObjType = _simple("StreamObjType", "A stream.", language.STREAM)
_GeneratorType = _simple("_GeneratorType", "A generator of random numbers.", language.GENERATOR)


class TensorType(_Simple):
    """`Tensor`, with or without facts."""

    __slots__ = ()
    _only = language.TENSOR

    @classmethod
    def getInferred(cls) -> Type:
        """The type of a parameter without annotation."""
        return cls()

    @classmethod
    def create_from_tensor(cls, tensor: Tensor) -> Type:
        """The type that says all there is to say of a tensor."""
        array = tensor._array
        return type_handle(type_of_array(array, bool(tensor.requires_grad)))


class ListType(Type):
    """`List[element]`."""

    __slots__ = ()

    def __init__(self, element: Type | None) -> None:
        if element is None:
            raise RuntimeError("Can not create ListType with None type")
        self._type = language.ListType(element._type)

    def getElementType(self) -> Type:
        """The type of the elements."""
        return self.containedTypes()[0]

    @staticmethod
    def ofInts() -> ListType:
        """`List[int]`."""
        return ListType(IntType())

    @staticmethod
    def ofFloats() -> ListType:
        """`List[float]`."""
        return ListType(FloatType())

    @staticmethod
    def ofComplexDoubles() -> ListType:
        """`List[complex]`."""
        return ListType(ComplexType())

    @staticmethod
    def ofBools() -> ListType:
        """`List[bool]`."""
        return ListType(BoolType())

    @staticmethod
    def ofStrings() -> ListType:
        """`List[str]`."""
        return ListType(StringType())

    @staticmethod
    def ofTensors() -> ListType:
        """`List[Tensor]`."""
        return ListType(TensorType())


class DictType(Type):
    """`Dict[key, value]`."""

    __slots__ = ()

    def __init__(self, key: Type, value: Type) -> None:
        self._type = language.DictType(key._type, value._type)

    def getKeyType(self) -> Type:
        """The type of the keys."""
        return self.containedTypes()[0]

    def getValueType(self) -> Type:
        """The type of the values."""
        return self.containedTypes()[1]


class TupleType(Type):
    """`Tuple[...]`."""

    __slots__ = ()

    def __init__(self, elements: Sequence[Type]) -> None:
        self._type = language.TupleType(tuple(element._type for element in elements))

    def elements(self) -> list[Type]:
        """The types of the elements."""
        return self.containedTypes()


class OptionalType(Type):
    """`Optional[element]`."""

    __slots__ = ()

    def __init__(self, element: Type) -> None:
        self._type = optional(element._type)

    def getElementType(self) -> Type:
        """The type besides None."""
        return self.containedTypes()[0]

    @staticmethod
    def ofTensor() -> OptionalType:
        """`Optional[Tensor]`."""
        return OptionalType(TensorType())


class UnionType(Type):
    """`Union[...]`."""

    __slots__ = ()

    def __init__(self, members: Sequence[Type]) -> None:
        self._type = union([member._type for member in members])


class _Task(Type):
    """What is finished later."""

    __slots__ = ()

    def __init__(self, element: Type) -> None:
        kind: Any = self.kind().removesuffix("Type")
        self._type = language.FutureType(element._type, kind)

    def getElementType(self) -> Type:
        """The type of what comes out."""
        return self.containedTypes()[0]


class FutureType(_Task):
    """`Future[element]`."""

    __slots__ = ()


class AwaitType(_Task):
    """`Await[element]`."""

    __slots__ = ()


class RRefType(_Task):
    """`RRef[element]`."""

    __slots__ = ()


class ClassType(Type):
    """A script class, or the class of a module."""

    __slots__ = ()

    def __init__(self, name: Text) -> None:
        self._type = class_types.ClassType(name)

    def name(self) -> Text:
        """The unqualified name."""
        return self._class.name

    def qualified_name(self) -> Text:
        """`__torch__.module.Name`."""
        return self._class.qualified_name

    def method_names(self) -> list[Text]:
        """The names of the methods that are compiled."""
        return list(self._class.methods)

    @property
    def _class(self) -> class_types.ClassType:
        assert isinstance(self._type, class_types.ClassType)
        return self._type

    def __str__(self) -> Text:
        return self._class.qualified_name

    __repr__ = __str__


class InterfaceType(Type):
    """An interface."""

    __slots__ = ()

    @property
    def _methods(self) -> dict[Text, Function]:
        assert isinstance(self._type, class_types.InterfaceType)
        return self._type.methods

    def getMethodNames(self) -> list[Text]:
        """The names of the methods."""
        return list(self._methods)


class EnumType(Type):
    """An enumeration."""

    __slots__ = ()


class _FunctionType(Type):
    """The type of a constant that is a function."""

    __slots__ = ()


class _VarType(Type):
    """A type variable of a schema."""

    __slots__ = ()


CLASSES: dict[Text, type[Type]] = {
    cls.__name__: cls
    for cls in (
        *(Type, IntType, FloatType, ComplexType, BoolType, StringType, NumberType, NoneType),
        *(AnyType, DeviceObjType, StreamObjType, _GeneratorType, TensorType, ListType, DictType),
        *(TupleType, OptionalType, UnionType, FutureType, AwaitType, RRefType, ClassType),
        *(InterfaceType, EnumType),
    )
}
"""The classes that `torch._C` names."""

_BY_CLASS: dict[type[language.Type], type[Type]] = {
    RefinedTensor: TensorType,
    language.ListType: ListType,
    language.DictType: DictType,
    language.TupleType: TupleType,
    language.OptionalType: OptionalType,
    language.UnionType: UnionType,
    class_types.ClassType: ClassType,
    class_types.InterfaceType: InterfaceType,
    language.EnumType: EnumType,
    class_types.FunctionType: _FunctionType,
    language.VariableType: _VarType,
}


def type_handle(type: language.Type) -> Type:
    """The handle of a type."""
    cls = _BY_CLASS.get(type.__class__)
    if isinstance(type, language.FutureType):
        cls = {"Future": FutureType, "Await": AwaitType, "RRef": RRefType}[type.kind]
    if cls is None:
        simple = (c for c in CLASSES.values() if issubclass(c, _Simple) and c._only == type)
        cls = next(simple, Type)
    handle: Type = object.__new__(cls)
    handle._type = type
    return handle
