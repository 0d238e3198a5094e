"""The functions that models take from `torch.nn.modules.utils`: one number for each dimension."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..sizes import list_with_default as _list_with_default
from ..sizes import pair as _pair
from ..sizes import quadruple as _quadruple
from ..sizes import reversed_twice
from ..sizes import single as _single
from ..sizes import triple as _triple

__all__ = [
    "_list_with_default",
    "_ntuple",
    "_pair",
    "_quadruple",
    "_reverse_repeat_tuple",
    "_single",
    "_triple",
    "consume_prefix_in_state_dict_if_present",
]


def _ntuple(n: int, name: str = "parse") -> Callable[[object], tuple[object, ...]]:
    """A function that gives `n` equal numbers for one, and the elements of what has any."""

    def parse(x: object) -> tuple[object, ...]:
        return tuple(x) if isinstance(x, Iterable) else (x,) * n

    parse.__name__ = name
    return parse


def _reverse_repeat_tuple(t: tuple[int, ...], n: int) -> tuple[int, ...]:
    """The elements from the last to the first, each `n` times."""
    return reversed_twice(t) if n == 2 else tuple(x for x in reversed(t) for _ in range(n))


def consume_prefix_in_state_dict_if_present(state_dict: dict[str, object], prefix: str) -> None:
    """Take a prefix (`module.`) off all keys that begin with it, in the dict itself."""
    for key in [key for key in state_dict if key.startswith(prefix)]:
        state_dict[key.removeprefix(prefix)] = state_dict.pop(key)
    metadata = getattr(state_dict, "_metadata", None) or {}
    for key in list(metadata):
        if key == prefix.removesuffix("."):
            metadata[""] = metadata.pop(key)
        elif key.startswith(prefix):
            metadata[key.removeprefix(prefix)] = metadata.pop(key)
