"""What to write instead of Python's builtins and types that script does not have."""

from __future__ import annotations

__all__ = ["BUILTINS", "KEYWORDS", "TYPES"]

BUILTINS: dict[str, str] = {
    "ascii": 'write `"{}".format(x)`',
    "bytes": "use a string, or a `uint8` tensor",
    "bytearray": "use a string, or a `uint8` tensor",
    "eval": "write the expression itself: script has no Python to evaluate one",
    "exec": "write the statements themselves: script has no Python to run them",
    "filter": "write a loop with an `if`, and append to a list",
    "format": 'write `"{}".format(x)`',
    "frozenset": "use a list, or the keys of a dict",
    "iter": "loop over the value itself",
    "map": "write a list comprehension: `[f(x) for x in xs]`",
    "next": "index the value: `xs[0]`",
    "repr": 'write `str(x)`, or `"{}".format(x)`',
    "reversed": "loop over the indices: `for i in range(len(xs) - 1, -1, -1):`",
    "set": "use a list, or the keys of a dict",
    "setattr": "assign the attribute by name: `self.name = value`",
    "super": "give the base class's method another name, and call that on `self`",
    "type": "test with `isinstance`",
}
"""By the name of a builtin function."""

_BY_KEY = "use a list of tuples that begin with the key, and sort that"
_BACKWARDS = "take the sorted list backwards: `sorted(xs)[::-1]`"
KEYWORDS: dict[str, str] = {"key": _BY_KEY, "reverse": _BACKWARDS}
"""By the name of a keyword that builtin functions have in Python alone."""

TYPES: dict[str, str] = {
    "Annotated": "write the type alone",
    "Callable": "functions cannot be passed; call the function itself",
    "DefaultDict": "use `Dict[str, int]`, and test `key in d`",
    "FrozenSet": "use `List[int]`, or the keys of a `Dict`",
    "Iterable": "use `List[int]`",
    "Iterator": "use `List[int]`",
    "Literal": "use the type of the value, such as `str`",
    "Mapping": "use `Dict[str, int]`",
    "MutableMapping": "use `Dict[str, int]`",
    "OrderedDict": "use `Dict[str, int]`, which keeps its order",
    "Sequence": "use `List[int]`",
    "Set": "use `List[int]`, or the keys of a `Dict`",
    "Type": "types are no values in script; pass a flag or an `Enum`",
    "TypedDict": "use a `NamedTuple`, or `Dict[str, int]`",
    "bytes": "use `str`, or a `uint8` tensor",
    "deque": "use `List[int]`",
    "dict": "say what it contains: `Dict[str, int]`",
    "frozenset": "use `List[int]`, or the keys of a `Dict`",
    "ndarray": "use `torch.Tensor`",
    "object": "use `Any`, and test with `isinstance`",
    "set": "use `List[int]`, or the keys of a `Dict`",
    "torch.Size": "use `List[int]`",
}
"""By the name of a type that annotations of Python know."""
