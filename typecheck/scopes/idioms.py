"""What Python says in words that script does not have, and how script says it: helps with edits."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ...frontend.diagnostics.diagnostics import Diagnostic, Edit, Help
from ...frontend.sources.source import Span
from ...frontend.syntax import tree
from ..definitions.names import SpecialForm
from ..trees import typed
from ..types.types import TENSOR, Type
from .advice import BUILTINS, KEYWORDS, TEXT_METHODS
from .scope import Scope

__all__ = [
    "annotated_result",
    "by_key",
    "dtype_of",
    "elements_of_list",
    "for_builtin",
    "foreign_member",
    "of_texts",
    "is_about_lambda",
    "is_type_test",
    "number_in",
    "number_of",
    "rest_of_list",
    "rounded",
    "taken_back",
    "type_test",
    "without_keyword",
]

_APPENDING: Final = frozenset({"push", "push_back", "add", "append_", "pushBack"})
_LENGTHS: Final = frozenset({"len", "length", "size", "__len__"})


def taken_back(scope: Scope, begun: int, place: Span) -> Diagnostic | None:
    """Take back what was found since and is but a consequence of a call that is refused as a whole:
    names that are no values, and `lambda`.  Returns the first of them, which torch tells of."""
    found = scope.collector.found
    gone = [
        error
        for at, error in enumerate(found)
        if error.primary is not None
        and error.primary.span.whole.is_within(place.whole)
        and (is_about_lambda(error) or (at >= begun and error.message.endswith("is not a value")))
    ]
    found[:] = [error for error in found if not any(error is other for other in gone)]
    return gone[0] if gone else None


def is_about_lambda(error: Diagnostic) -> bool:
    """Whether an error says that there is no `lambda`."""
    return error.code == "unsupported-syntax" and error.message.startswith("`lambda`")


# ------------------------------------------------------------------------------ builtins


def for_builtin(scope: Scope, name: str, node: tree.Call) -> tuple[Help, ...]:
    """What to write in place of a builtin function of Python that script does not have."""
    text = BUILTINS.get(name)
    if text is None:
        return ()
    whole, given = node.span.whole, node.arguments
    edits: tuple[Edit, ...] = ()
    if name == "reversed" and len(given) == 1 and given[0].variable is not None:
        variable = scope.frame.find(given[0].variable)
        if variable is not None and variable.type is not None and variable.type.list_of is not None:
            edits = (Edit(whole, f"{given[0].span.text}[::-1]"),)
            text = "take the list backwards"
    if name == "Tensor" and node.function.span.whole.text.endswith(".Tensor"):
        place = node.function.span.whole
        edits = (Edit(Span(place.source, place.end - len(name), place.end), "tensor"),)
    if name == "map" and len(given) == 2:
        edits = _as_comprehension(given, whole)
        text = "write a list comprehension" if edits else text
    return (Help(text, edits),)


_LAMBDA: Final = re.compile(r"lambda\s+(\w+)\s*:\s*(.+)", re.DOTALL)


def _as_comprehension(given: Sequence[tree.Expr], whole: Span) -> tuple[Edit, ...]:
    """`map(f, xs)` -> `[f(each) for each in xs]`, `map(lambda v: v + 1, xs)` -> `[v + 1 for v in
    xs]`."""
    function, values = (each.span.whole.text for each in given)
    written = _LAMBDA.fullmatch(function)
    if written is not None:
        return (Edit(whole, f"[{written[2]} for {written[1]} in {values}]"),)
    if not isinstance(given[0], tree.Name | tree.Attribute) or re.match(r"lambda\b", function):
        return ()
    return (Edit(whole, f"[{function}(each) for each in {values}]"),)


def is_type_test(scope: Scope, node: tree.Compare) -> bool:
    """`type(x) == T`, `type(x) is not T`."""
    call = node.left
    return (
        node.operators in (("==",), ("!=",), ("is",), ("is not",))
        and isinstance(call, tree.Call)
        and call.function.variable == "type"
        and len(call.arguments) == 1
        and not call.keywords
        and scope.frame.find("type") is None
        and scope.resolver.lookup("type", call.span) == SpecialForm("type")
    )


def type_test(node: tree.Compare) -> tuple[Help, ...]:
    """`type(x) == T` -> `isinstance(x, T)`."""
    assert isinstance(node.left, tree.Call)
    value, wanted = node.left.arguments[0].span.whole.text, node.rights[0].span.whole.text
    told = "" if node.operators[0] in ("==", "is") else "not "
    edit = Edit(node.span.whole, f"{told}isinstance({value}, {wanted})")
    return (Help("test with `isinstance`", (edit,)),)


def by_key(node: tree.Call, keyword: tree.Keyword, name: str) -> tuple[Help, ...]:
    """`sorted(xs, key=lambda v: -v)` -> `sorted(xs)[::-1]`; `xs.sort(key=lambda v: -v)` ->
    `xs.sort(reverse=True)`."""
    place, call = keyword.span.whole, node.span.whole
    text = KEYWORDS.get(keyword.name or "")
    if text is None:
        return ()
    if len(node.keywords) > 1 or not _BACKWARDS.search(place.text):
        return (Help(text),)
    if name == "sort":
        return (Help("sort backwards", (Edit(place, "reverse=True"),)),)
    if name != "sorted" or len(node.arguments) != 1:
        return (Help(text),)
    end = node.arguments[0].span.whole.end
    edit = Edit(Span(place.source, end, call.end), ")[::-1]")
    return (Help("take the sorted list backwards", (edit,)),)


_BACKWARDS: Final = re.compile(r"lambda\s+(\w+)\s*:\s*-\s*\1\s*$")


def without_keyword(node: tree.Call, at: int, why: str) -> tuple[Help, ...]:
    """`print(n, end="")` -> `print(n)`: the call without one of its keywords."""
    place = node.keywords[at].span.whole
    before = place.source.text[: place.start].rstrip()
    start = len(before) - 1 if before.endswith(",") else place.start
    return (Help(why, (Edit(Span(place.source, start, place.end), ""),)),)


def number_of(value: typed.Expr) -> tuple[Help, ...]:
    """`range(x)` -> `range(int(x))`, of a tensor."""
    if value.type != TENSOR:
        return ()
    whole = value.span.whole
    text = "`int` takes the number out of a tensor of one element"
    return (Help(text, (Edit(whole, f"int({whole.text})"),)),)


def number_in(span: Span, text: str) -> tuple[Help, ...]:
    """`dim="0"` -> `dim=0`."""
    if not re.fullmatch(r"-?\d+", text):
        return ()
    return (Help("write it as a number", (Edit(span.whole, text),)),)


def dtype_of(scope: Scope, span: Span, name: object) -> tuple[Help, ...]:
    """`dtype=float` -> `dtype=torch.float64`, `dtype="int8"` -> `dtype=torch.int8`."""
    dtype = {"float": "float64", "int": "int64", "bool": "bool"}.get(str(name), str(name))
    torch = scope.resolver.lookup("torch", span)
    member = getattr(torch, "member", None)
    if member is None or not dtype.isidentifier() or member(dtype, span) is None:
        return ()
    return (Help("dtypes are torch's", (Edit(span.whole, f"torch.{dtype}"),)),)


def of_texts(value: typed.Expr) -> tuple[Help, ...]:
    """`", ".join(xs)` -> `", ".join([str(each) for each in xs])`."""
    whole = value.span.whole
    edit = Edit(whole, f"[str(each) for each in {whole.text}]")
    return (Help("make texts of the elements", (edit,)),)


def rounded(number: typed.Expr, digits: typed.Expr) -> tuple[Help, ...]:
    """`round(x, 2)` -> `round(x * 100) / 100`."""
    first, last = number.span.whole, digits.span.whole
    if type(digits.literal) is not int or not last.text.isdecimal() or int(last.text) > 9:
        return ()
    text = first.text if re.fullmatch(r"[\w.]+", first.text) else f"({first.text})"
    source, close = last.source, last.source.text.find(")", last.end)
    if source.text[last.end : close].strip():
        return ()
    power = 10 ** int(last.text)
    edit = Edit(Span(source, first.start, close + 1), f"{text} * {power}) / {power}")
    return (Help("round the number of parts", (edit,)),)


def annotated_result(node: tree.Call, returned: Type | None) -> tuple[Help, ...]:
    """`y = x.tolist()` -> `y: list[float] = x.tolist()`, or the type that the function returns."""
    whole = node.span.whole
    source = whole.source
    line = source.text[source.line_starts[source.line_index(whole.start)] : whole.start]
    target = re.fullmatch(r"(\s*\w+) *= *", line)
    if target is None:
        return ()
    type = returned.python if returned is not None and returned.list_of else "list[float]"
    at = whole.start - len(line) + len(target[1])
    edit = Edit(Span(source, at, at), f": {type}")
    return (Help("say the type: a `list` in the other for each dimension", (edit,)),)


# --------------------------------------------------------------------------------- lists


def elements_of_list(node: tree.ListDisplay) -> tuple[Help, ...]:
    """`[*xs, y]` -> `xs + [y]`."""
    parts: list[str] = []
    alone: list[str] = []
    for element in node.elements:
        if isinstance(element, tree.Starred):
            if alone:
                parts.append(f"[{', '.join(alone)}]")
            alone = []
            parts.append(element.value.span.whole.text)
        else:
            alone.append(element.span.whole.text)
    if alone:
        parts.append(f"[{', '.join(alone)}]")
    if len(parts) < 2:
        return ()
    return (Help("add the lists", (Edit(node.span.whole, " + ".join(parts)),)),)


_DOTTED: Final = re.compile(r"\w+(\.\w+)*")


def rest_of_list(target: tree.TupleDisplay | tree.ListDisplay, value: Span) -> tuple[Help, ...]:
    """`first, *others = xs` -> `first, others = xs[0], xs[1:]`."""
    source, named, last = value.source, target.elements[:-1], target.elements[-1]
    between = source.text[target.span.whole.end : value.start]
    is_simple = isinstance(target, tree.TupleDisplay) and _DOTTED.fullmatch(value.text)
    if between.strip() != "=" or not isinstance(last, tree.Starred) or not is_simple:
        return ()
    if any(each.is_starred for each in named):
        return ()
    names = [each.span.whole.text for each in (*named, last.value)]
    items = [f"{value.text}[{at}]" for at in range(len(named))]
    text = f"{', '.join(names)} = {', '.join(items)}, {value.text}[{len(named)}:]"
    whole = Span(source, target.span.whole.start, value.end)
    return (Help("index the list", (Edit(whole, text),)),)


# ------------------------------------------------------------------------------- members


def foreign_member(type: Type, name: str, access: Span, name_span: Span) -> tuple[Help, ...]:
    """A method that values of NumPy, or of other languages, have in the place of one here."""
    source, end = name_span.source, name_span.whole.end
    called = re.compile(r"\(\s*\)").match(source.text, end)
    whole = Span(source, access.whole.start, called.end() if called else end)
    owner = source.text[access.whole.start : name_span.whole.start].rstrip(". \n\\")
    if type == TENSOR and name == "numpy" and called:
        edit = Edit(Span(source, access.whole.start + len(owner), whole.end), "")
        return (Help("script computes with tensors; the caller may ask for the array", (edit,)),)
    if type.list_of is not None and name in _APPENDING and not called:
        return (Help("did you mean `append`?", (Edit(name_span.whole, "append"),), "machine"),)
    if name in _LENGTHS and (type.is_collection or str(type) == "str"):
        return (Help("`len` tells how many there are", (Edit(whole, f"len({owner})"),), "machine"),)
    if str(type) == "str" and name in TEXT_METHODS:
        new = TEXT_METHODS[name]
        return (Help(f"did you mean `{new}`?", (Edit(name_span.whole, new),), "machine"),)
    if type.tuple_of is not None and name in ("append", "extend", *_APPENDING):
        return (Help("a tuple has the length it was made with; use a list"),)
    return ()
