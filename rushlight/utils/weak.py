"""`torch.utils.weak`: tables whose keys are objects, or tensors, that nothing else need hold."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any

from ..ops.tensors.tensor import Tensor

_References = dict[Any, Any]
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


class WeakIdKeyDictionary(MutableMapping[Any, Any]):
    """A table by identity; an entry goes when nothing else holds its key."""

    def __init__(self, dict: Mapping[Any, object] | None = None, ref_type: Any = WeakIdRef) -> None:
        self._entries: _References = {}
        self.ref_type = ref_type
        self.update(dict or {})

    def _forget(self, reference: object) -> None:
        self._entries.pop(reference, None)

    def __getitem__(self, key: Any) -> Any:
        return self._entries[self.ref_type(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._entries[self.ref_type(key, self._forget)] = value

    def __delitem__(self, key: object) -> None:
        del self._entries[self.ref_type(key)]

    def __contains__(self, key: object) -> bool:
        return self.ref_type(key) in self._entries

    def __iter__(self) -> Iterator[Any]:
        for reference in list(self._entries):
            key = reference()
            if key is not None:
                yield key

    def __len__(self) -> int:
        return len(self._entries)


WeakTensorKeyDictionary = WeakIdKeyDictionary


class TensorWeakRef:
    """A weak reference to a tensor: called, it gives the tensor, or None when that is gone."""

    def __init__(self, tensor: Tensor) -> None:
        self.ref = weakref.ref(tensor)

    def __call__(self) -> Tensor | None:
        return self.ref()
