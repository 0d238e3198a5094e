"""`torch.utils.weak`: tables whose keys are objects, or tensors, that nothing else need hold."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping, MutableMapping
from copy import deepcopy
from typing import Any, Self, TypeVar

from ..ops.tensors.tensor import Tensor

K = TypeVar("K")
V = TypeVar("V")
_References = dict[object, V]
__all__ = ["TensorWeakRef", "WeakIdKeyDictionary", "WeakIdRef", "WeakTensorKeyDictionary"]


class WeakIdRef(weakref.ReferenceType[Any]):
    """A weak reference that is equal to others of the very same object."""

    __slots__ = ("_id",)

    def __init__(self, key: object, callback: object = None) -> None:
        super().__init__(key, callback)  # type: ignore[call-arg]
        self._id = id(key)

    def __hash__(self) -> int:
        return self._id

    def __eq__(self, other: object) -> bool:
        own, theirs = self(), other() if isinstance(other, WeakIdRef) else None
        return self is other or (own is not None and own is theirs)


class WeakIdKeyDictionary(MutableMapping[K, V]):
    """A table by identity; an entry goes when nothing else holds its key."""

    def __init__(
        self, dict: Mapping[K, V] | None = None, ref_type: type[WeakIdRef] = WeakIdRef
    ) -> None:
        self.data: _References[V] = {}
        self.ref_type = ref_type
        self.update(dict or {})

    def _forget(self, reference: object) -> None:
        self.data.pop(reference, None)

    def __getitem__(self, key: K) -> V:
        return self.data[self.ref_type(key)]

    def __setitem__(self, key: K, value: V) -> None:
        self.data[self.ref_type(key, self._forget)] = value

    def __delitem__(self, key: K) -> None:
        del self.data[self.ref_type(key)]

    def __contains__(self, key: object) -> bool:
        return self.ref_type(key) in self.data

    def __iter__(self) -> Iterator[K]:
        for reference in self.keyrefs():
            key = reference()
            if key is not None:
                yield key

    def __len__(self) -> int:
        return len(self.data)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at {id(self):#x}>"

    def keyrefs(self) -> list[Any]:
        """The weak references that stand for the keys, of which some may be gone soon."""
        return list(self.data)

    def update(self, dict: Any = (), /, **kwargs: object) -> None:
        """Take the entries of a mapping or of pairs; none where looking at them raises."""
        if hasattr(dict, "keys"):
            keys = list(dict.keys())
            dict = [(key, dict[key]) for key in keys]
        for key, value in [*dict, *kwargs.items()]:
            self[key] = value

    def copy(self) -> Self:
        """Another table of the same keys and values."""
        made = type(self)(ref_type=self.ref_type)
        for reference in self.keyrefs():
            key = reference()
            if key is not None:
                made[key] = self.data[reference]
        return made

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        """Another table of the same keys, with copies of the values."""
        made = self.copy()
        for reference, value in list(made.data.items()):
            made.data[reference] = deepcopy(value, memo)
        return made

    def __or__(self, other: object) -> Self:
        if not isinstance(other, Mapping):
            return NotImplemented
        made = self.copy()
        made.update(other)
        return made

    def __ror__(self, other: object) -> Self:
        if not isinstance(other, Mapping):
            return NotImplemented
        made = type(self)(other, self.ref_type)
        made.update(self)
        return made

    def __ior__(self, other: object) -> Self:
        self.update(other)
        return self


WeakTensorKeyDictionary = WeakIdKeyDictionary


class TensorWeakRef:
    """A weak reference to a tensor: called, it gives the tensor, or None when that is gone."""

    def __init__(self, tensor: Tensor) -> None:
        self.ref = weakref.ref(tensor)

    def __call__(self) -> Tensor | None:
        return self.ref()
