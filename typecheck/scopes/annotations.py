"""Annotations to types.

An annotation is an expression of the syntax tree, whether it was written in live code
(`Optional[List[int]]`, `list[int] | None`, `"Point"`) or in an archive (`List[__torch__.Point]`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from ...frontend.diagnostics.diagnostics import Collector, Diagnostic, Edit, Help, Label
from ...frontend.diagnostics.near_miss import near_misses
from ...frontend.diagnostics.torch_text import highlight
from ...frontend.limits.clock import checkpoint
from ...frontend.sources.source import Span
from ...frontend.syntax import tree
from ...frontend.syntax.from_text import expression_tree
from ..definitions.names import (
    Constant,
    LiveAnnotations,
    Resolver,
    SpecialForm,
    TypeName,
    meaning_of,
)
from ..relations import relations
from ..types.dict_keys import DICT_KEYS, key_refusal
from ..types.types import (
    ANY,
    ANY_CLASS,
    ANY_ENUM,
    ANY_LIST,
    ANY_TUPLE,
    BOOL,
    CAPSULE,
    COMPLEX,
    DEVICE,
    FLOAT,
    GENERATOR,
    INFERRED_TENSOR,
    INT,
    NONE,
    NUMBER,
    STORAGE,
    STREAM,
    STRING,
    TENSOR,
    UNKNOWN,
    DictType,
    FutureType,
    ListType,
    TupleType,
    Type,
)
from .advice import TYPES

__all__ = ["TYPE_NAMES", "AnnotationReader", "broadcast_size"]

_BROADCASTING = "BroadcastingList"

_TENSOR_NAMES = [
    "Tensor",
    "Parameter",
    *(f"{kind}Tensor" for kind in ("Float", "Double", "Half", "Long", "Int", "Short", "Byte")),
    *("CharTensor", "BoolTensor"),
]

TYPE_NAMES: dict[str, Type] = {
    **dict.fromkeys(_TENSOR_NAMES, TENSOR),
    "int": INT,
    "float": FLOAT,
    "complex": COMPLEX,
    "bool": BOOL,
    "str": STRING,
    "number": NUMBER,
    "Scalar": NUMBER,
    "None": NONE,
    "NoneType": NONE,
    "Any": ANY,
    "dtype": INT,
    "ScalarType": INT,
    "Layout": INT,
    "MemoryFormat": INT,
    "QScheme": INT,
    "Dimname": STRING,
    "Device": DEVICE,
    "device": DEVICE,
    "Generator": GENERATOR,
    "Stream": STREAM,
    "Storage": STORAGE,
    "Capsule": CAPSULE,
    "list": ANY_LIST,
    "tuple": ANY_TUPLE,
    **dict.fromkeys(("Await", "_Await"), FutureType(ANY, "Await")),
    "AnyClassType": ANY_CLASS,
    "AnyEnumType": ANY_ENUM,
}
"""Types without arguments, by the last part of their name."""

# These exist only with a prefix: a bare `dtype` is not a type in torch.
_NEED_PREFIX = {"dtype", "device"}
# These exist only in code that archives hold.
_ARCHIVE_ONLY = {
    *("number", "Scalar", "NoneType", "ScalarType", "Layout", "MemoryFormat", "QScheme", "Dimname"),
    *("Device", "Stream", "Storage", "Capsule", "AnyClassType", "AnyEnumType"),
}
# Live code means them only as the classes themselves, not within a string.
_CLASSES_ONLY = {"list", "tuple"}

_PLAIN = frozenset(("int", "float", "complex", "bool", "str", "Any"))
"""Classes that live code may call otherwise, though the checker knows their names as functions."""

_CONSTRUCTORS = (
    *("List", "list", "Dict", "dict", "Tuple", "tuple", "Optional", "Union"),
    *("Future", "Await", "RRef", "Final"),
)

_EXAMPLES = {
    **{name: f"{name}[int]" for name in ("List", "Tuple", "Optional", "Union", "Future")},
    "Dict": "Dict[int, int]",
}
"""Types that need parts, with an example of each."""


_REFUSALS = {
    "Dict": ("ValueError", "Unknown type annotation: '{held}' at {place}"),
    "Tuple": ("RuntimeError", "Can not create tuple with None type"),
    **dict.fromkeys(
        ("Optional", "Union"),
        (
            "AssertionError",
            "Unsupported annotation {holder} could not be resolved because {held} could not be "
            "resolved. At\n{place}",
        ),
    ),
}
"""How torch refuses live types that hold something else: a class of exceptions, and its text."""


class _Said(NamedTuple):
    """Torch's words for a fault: `text` is all of it, where it is not sentence and place."""

    message: str
    span: Span
    text: str = ""
    exception: str = "RuntimeError"


class AnnotationReader:
    """Turns annotations into types, reporting what is not one.

    `where` is the place for diagnostics ("in function `f`"); `is_text` says that what is read is
    no live code but text, which knows some more names and `Final`.
    """

    def __init__(
        self, resolver: Resolver, collector: Collector, where: str, *, is_text: bool = True
    ) -> None:
        self._is_text = is_text
        self._resolver = resolver
        self._collector = collector
        self._where = where
        self._whole: tree.Expr | None = None
        self._above: list[tree.Expr] = []

    def read(self, annotation: tree.Expr | None) -> Type:
        """The type an annotation means; no annotation means Tensor; UNKNOWN after an error."""
        if annotation is None:
            return INFERRED_TENSOR
        self._whole = annotation
        self._above = []
        return self._type(annotation)

    # ------------------------------------------------------------------------------- by form

    def _type(self, node: tree.Expr) -> Type:
        checkpoint()
        match node:
            case tree.Literal():
                return self._literal(node)
            case tree.Name() | tree.Attribute():
                return self._name(node)
            case tree.Subscript():
                with self._within(node):
                    return self._subscript(node)
            case tree.Binary(operator="|"):
                with self._within(node):
                    return relations.union([self._type(node.left), self._type(node.right)])
            case tree.Binary(operator=operator) if self._is_text:
                message = f"Expression of type {operator} cannot be used in a type expression"
                return self._fault(node.span, "this is not a type", "an operation", message)
            case tree.TupleDisplay(elements=()):
                return TupleType(())
            case tree.TupleDisplay():
                return self._several(node)
        return self._unknown(node, "this is not a type")

    def _several(self, node: tree.TupleDisplay) -> Type:
        """Types side by side, which are none."""
        text = node.span.whole.text.removeprefix("(").removesuffix(")")
        edit = Edit(node.span.whole, f"tuple[{text}]")
        helps = (Help("the type of a tuple", (edit,)),)
        torch = self._torch_unknown()
        return self._fault(node.span, "this is not a type", "a tuple of types", torch, helps)

    @contextmanager
    def _within(self, node: tree.Expr) -> Iterator[None]:
        self._above.append(node)
        try:
            yield
        finally:
            self._above.pop()

    def _literal(self, node: tree.Literal) -> Type:
        if node.value is None:
            return NONE
        if node.string is not None:
            parsed = expression_tree(node, self._collector)
            if parsed is not None and not self._is_text and _holds(parsed, tree.Binary):
                return self._unknown(node, "`|` cannot stand in a string")
            with self._within(node):
                return UNKNOWN if parsed is None else self._type(parsed)
        if node.value is ...:
            message = "Expression of type dots cannot be used in a type expression"
            return self._fault(node.span, "`...` is not a type", "not a type", message)
        return self._unknown(node, "this is not a type")

    def _name(self, node: tree.Name | tree.Attribute) -> Type:
        dotted = node.dotted
        if dotted == tree.ERROR_NAME:
            return UNKNOWN
        if not self._is_text and broadcast_size(node) is not None:
            return ListType(INT)
        found = self._resolved(node)
        if found is not None:
            return found
        if dotted is not None:
            prefix, _, last = dotted.rpartition(".")
            if last in TYPE_NAMES and (prefix or self._is_known_bare(last)):
                return TYPE_NAMES[last]
            if last in _EXAMPLES:
                return self._bare_constructor(node, last)
        return self._unknown(node, "")

    def _is_known_bare(self, name: str) -> bool:
        """Whether a type's name means it without a prefix."""
        if name in _NEED_PREFIX:
            return False
        hidden = name in _ARCHIVE_ONLY or (name in _CLASSES_ONLY and self._is_string())
        return self._is_text or not hidden

    def _bare_constructor(self, node: tree.Expr, word: str) -> Type:
        example = _EXAMPLES[word]
        missing = "contained types" if word == "Dict" else "a contained type"
        return self._fault(
            node.span,
            f"`{word}` needs the types it contains",
            f"for example `{example}`",
            f"Attempted to use {word} without {missing}. "
            f"Please add {missing.removesuffix('s')}, e.g. {example}",
            is_placed=self._is_text,
        )

    def _resolved(self, node: tree.Name | tree.Attribute) -> Type | None:
        """The type a resolver knows under the name, if it knows one."""
        meaning = meaning_of(self._resolver, node)
        if isinstance(meaning, TypeName):
            if meaning.dtype is not None and not self._is_text:
                _warn_of_dtype(node.span)
            return meaning.type
        if isinstance(meaning, SpecialForm) and meaning.name in _PLAIN and not self._is_text:
            return TYPE_NAMES[meaning.name]
        if isinstance(meaning, Constant) and meaning.value is None:
            return NONE
        as_type: Type | None = getattr(meaning, "as_type", None)  # of classes of modules
        return as_type

    def _constructor(self, named: tree.Expr) -> str:
        """The last part of a constructor's name; live code may have imported it as another."""
        word = _last_of(named)
        if self._is_text or word in _CONSTRUCTORS or named.variable is None:
            return word
        meaning = self._resolver.lookup(named.variable, named.span)
        return meaning.name if isinstance(meaning, SpecialForm) else word

    def _subscript(self, node: tree.Subscript) -> Type:
        word = self._constructor(node.value)
        makers: dict[str, Callable[[tree.Subscript], Type]] = {
            **dict.fromkeys(("List", "list"), self._list),
            **dict.fromkeys(("Dict", "dict"), self._dict),
            **dict.fromkeys(("Tuple", "tuple"), self._tuple),
            "Optional": self._optional,
            "Union": self._union,
            **dict.fromkeys(("Future", "_Await", "Await", "RRef"), self._future),
            "Final": self._final,
        }
        if word in makers and (word != "Final" or self._is_text):
            return makers[word](node)
        if word.startswith(_BROADCASTING) and node.value.variable is not None:
            return self._broadcasting(node, word.removeprefix(_BROADCASTING))
        if not word and self._is_text:
            message = "Subscripted type must be a type identifier"
            return self._fault(node.value.span, "only a name takes types", "not a name", message)
        sentence = f"Unknown type constructor {node.value.dotted or word}"
        return self._unknown(node.value, "", _Said(sentence, node.span))

    # ------------------------------------------------------------------------ by constructor

    def _list(self, node: tree.Subscript) -> Type:
        if not self._takes(node, 1):
            return UNKNOWN
        return ListType(self._type(node.indices[0]))

    def _broadcasting(self, node: tree.Subscript, count: str) -> Type:
        if count.isdigit() and int(count):
            return self._list(node)
        return self._fault(
            node.value.span,
            f"`{node.value.span.text}` needs the number of elements in its name",
            f"for example `{_BROADCASTING}2[int]`",
            "subscript of Broadcastable list must be a positive integer",
        )

    def _dict(self, node: tree.Subscript) -> Type:
        if not self._takes(node, 2):
            return UNKNOWN
        key, value = (self._type(t) for t in node.indices)
        if key not in DICT_KEYS:
            return self._fault(
                node.indices[0].span,
                f"a dict cannot have `{key.python}` keys",
                "only int, float, complex, bool, str, Tensor and torch.device keys are possible",
                key_refusal(key),
            )
        return DictType(key, value)

    def _tuple(self, node: tree.Subscript) -> Type:
        match node.indices:
            case (tree.TupleDisplay(elements=()),):
                return TupleType(())
        return TupleType(tuple(self._type(t) for t in node.indices))

    def _optional(self, node: tree.Subscript) -> Type:
        return relations.optional(self._type(node.indices[0])) if self._takes(node, 1) else UNKNOWN

    def _union(self, node: tree.Subscript) -> Type:
        return relations.union([self._type(t) for t in node.indices])

    def _future(self, node: tree.Subscript) -> Type:
        if not self._takes(node, 1):
            return UNKNOWN
        word = _last_of(node.value).lstrip("_")
        element = self._type(node.indices[0])
        if word == "Await":
            return FutureType(element, "Await")
        return FutureType(element, "RRef" if word == "RRef" else "Future")

    def _final(self, node: tree.Subscript) -> Type:
        return self._type(node.indices[0]) if self._takes(node, 1) else UNKNOWN

    def _takes(self, node: tree.Subscript, count: int) -> bool:
        if len(node.indices) == count:
            return True
        word = node.value.dotted or ""
        plural = "s" if count > 1 else ""
        number = "one" if count == 1 else str(count)
        self._fault(
            node.span,
            f"`{word}` takes {count} type{plural}, not {len(node.indices)}",
            f"{len(node.indices)} given",
            f" expected exactly {number} element type{plural} but found {len(node.indices)}",
        )
        return False

    # -------------------------------------------------------------------------------- errors

    def _unknown(self, node: tree.Expr, label: str, said: _Said | None = None) -> Type:
        name = node.dotted
        if name is None:
            return self._fault(node.span, "this is not a type", label, self._torch_unknown())
        helps: tuple[Help, ...] = ()
        close = near_misses(name, self._candidates(name.rpartition(".")[0]))
        advice = TYPES.get(name) or TYPES.get(name.rpartition(".")[2])
        if advice is not None:
            helps = (Help(advice),)
        elif close:
            helps = tuple(Help(f"did you mean `{c}`?", (Edit(node.span.whole, c),)) for c in close)
        return self._fault(
            node.span,
            f"`{name}` is not a type",
            label or "unknown name in a type",
            "",
            helps,
            said=self._said_of(node, said),
        )

    def _said_of(self, node: tree.Expr, said: _Said | None) -> _Said:
        """What torch says of an unknown name: it evaluates live annotations, and reads their text
        where that gives no type."""
        if self._is_text:
            return said or _Said(f"Unknown type name '{node.dotted}'", node.span)
        path = [*self._above, node]
        begun = max(
            (i + 1 for i, one in enumerate(path) if isinstance(one, tree.Literal)), default=0
        )
        refusal = self._evaluated(path[begun:], path[max(begun - 1, 0)])
        if refusal is not None:
            return refusal
        quoted = path[begun - 1] if begun else node
        if isinstance(quoted, tree.Literal):
            return _Said(f"Unknown type name '{quoted.value}'", quoted.span)
        return said or _Said(f"Unknown type name '{node.span.text}'", node.span)

    def _evaluated(self, path: list[tree.Expr], before: tree.Expr) -> _Said | None:
        """The refusal of a live generic type, which holds something that is none."""
        resolver = self._resolver
        holders = [i for i, one in enumerate(path[:-1]) if self._holder(one) in _REFUSALS]
        is_text = _holds(path[0], tree.Literal, tree.Binary)  # which torch does not evaluate
        if not holders or not isinstance(resolver, LiveAnnotations) or is_text:
            return None
        held = resolver.shown(path[holders[-1] + 1].span.text)
        holder = resolver.shown(path[holders[-1]].span.text)
        if held is None or holder is None:
            return None
        exception, sentence = _REFUSALS[self._holder(path[holders[-1]])]
        span = before.span if isinstance(before, tree.Literal) else path[0].span
        text = sentence.format(held=held, holder=holder, place=highlight(span))
        return _Said(text, span, text, exception)

    def _holder(self, node: tree.Expr) -> str:
        if not isinstance(node, tree.Subscript):
            return ""
        return self._constructor(node.value).replace("dict", "Dict").replace("tuple", "Tuple")

    def _candidates(self, prefix: str) -> list[str]:
        """The names of types; those of a module are what it was written with (`torch.Tensor`)."""
        names = [n for n in TYPE_NAMES if n not in _ARCHIVE_ONLY | _NEED_PREFIX]
        known = [*names, *_CONSTRUCTORS]
        return [f"{prefix}.Tensor", *known] if prefix == "torch" else known

    def _is_string(self) -> bool:
        return self._whole is not None and self._whole.string is not None

    def _torch_unknown(self) -> str:
        """torch quotes the whole of an annotation that holds what is no name."""
        if self._whole is None:
            return "Unknown type name ''"
        quoted = self._whole.string
        return f"Unknown type name '{self._whole.span.text if quoted is None else quoted}'"

    def _fault(
        self,
        span: Span,
        message: str,
        label: str,
        torch: str,
        helps: tuple[Help, ...] = (),
        *,
        is_placed: bool = True,
        said: _Said | None = None,
    ) -> Type:
        whole = span if self._is_text or self._whole is None else self._whole.span
        if said is None:
            said = _Said(torch, whole, "" if is_placed else torch)
        self._collector.add(
            Diagnostic(
                "unknown-type",
                message,
                Label(span.whole, label),
                self._where,
                helps=helps,
                torch_message=said.message,
                torch_text=said.text,
                torch_span=said.span,
                exception=said.exception,
                demands=tuple(self._collector.demands),
            )
        )
        return UNKNOWN


def _warn_of_dtype(span: Span) -> None:
    """Say that `torch.LongTensor` and the like are any tensors, as torch does."""
    warnings.warn_explicit(
        "TorchScript will treat type annotations of Tensor dtype-specific subtypes as if they are "
        "normal Tensors. dtype constraints are not enforced in compilation either.",
        UserWarning,
        str(span.filename),
        span.line,
    )


def _holds(node: tree.Expr, *forms: type[tree.Expr]) -> bool:
    """Whether something of these forms stands in a type."""
    if isinstance(node, tree.Subscript):
        return any(_holds(each, *forms) for each in node.indices)
    return isinstance(node, forms)


def _last_of(named: tree.Expr) -> str:
    """The last part of a dotted name; "" of all else."""
    return (named.dotted or "").rpartition(".")[2]


def broadcast_size(node: tree.Expr | None) -> int | None:
    """The N of an annotation `BroadcastingListN[...]` or `_size_N_t`, which may be optional; None
    for others."""
    match node:
        case tree.Binary(left=left, right=right):
            size = broadcast_size(left)
            return size if size is not None else broadcast_size(right)
        case tree.Name(id=name):
            digits = name.removeprefix("_size_").removesuffix("_t")
            return int(digits) if name == f"_size_{digits}_t" and digits.isdigit() else None
        case tree.Subscript(value=named, indices=indices):
            word = _last_of(named)
            if word == "Optional":
                return broadcast_size(indices[0])
            digits = word.removeprefix(_BROADCASTING)
            return int(digits) if digits != word and digits.isdigit() else None
    return None
