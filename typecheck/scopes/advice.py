"""What to write instead of Python's builtins and types that script does not have."""

from __future__ import annotations

__all__ = ["BUILTINS", "CLASSES", "KEYWORDS", "OF_MODULES", "TEXT_METHODS", "TYPES"]

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
    "Tensor": "make a tensor of values by `torch.tensor`",
    "super": "give the base class's method another name, and call that on `self`",
    "type": "test with `isinstance`",
}
"""By the name of a builtin function."""

CLASSES: dict[str, str] = {
    "ChainMap": "look into one dict after the other",
    "Counter": "count in a dict: `if key not in d: d[key] = 0`, then `d[key] += 1`",
    "Path": "keep paths as texts: `str`",
    "Random": "random numbers are those of torch: `torch.rand`, `torch.randint`, `torch.randperm`",
    "chain": "add the lists, or write a loop for each",
    "combinations": "write two loops over indices",
    "count": "write a `while` loop",
    "cycle": "index with a remainder: `xs[i % len(xs)]`",
    "date": "call it outside, and pass the result in",
    "datetime": "call it outside, and pass the result in",
    "defaultdict": "use a dict, and give keys their first value: `if key not in d: d[key] = 0`",
    "deque": "use a list; `pop(0)` takes its first element",
    "islice": "take a slice of the list: `xs[a:b]`",
    "partial": "call the function itself with all of its arguments",
    "permutations": "write loops over indices",
    "product": "write one loop within the other",
    "repeat": "multiply a list: `[x] * n`",
    "zip_longest": "loop over indices up to the longer length",
}
"""By the name of a class of Python's library."""

_BEFORE = "call it in Python, before or after scripting"
_IN_INIT = "call it in `__init__`, before scripting"
OF_MODULES: dict[str, str] = {
    **dict.fromkeys(("add_module", "register_buffer", "register_module"), _IN_INIT),
    **dict.fromkeys(("register_parameter", "register_forward_hook"), _IN_INIT),
    **dict.fromkeys(("apply", "compile", "cpu", "cuda", "double", "eval", "float"), _BEFORE),
    **dict.fromkeys(("half", "load_state_dict", "requires_grad_", "state_dict", "to"), _BEFORE),
    **dict.fromkeys(("train", "type", "zero_grad"), _BEFORE),
    "__class__": "write the name of the class itself",
}
"""What modules have in Python alone, and what to do."""

TEXT_METHODS: dict[str, str] = {
    **{"trim": "strip", "toUpperCase": "upper", "toLowerCase": "lower", "to_upper": "upper"},
    **{"to_lower": "lower", "startsWith": "startswith", "endsWith": "endswith"},
}
"""Methods of texts in other languages, and what they are called here."""

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
