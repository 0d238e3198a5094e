"""Live modules that hold modules: their members are known now, so loops over them are unrolled."""

from __future__ import annotations

from collections.abc import Iterator

from ..frontend import tree
from ..frontend.source import UNKNOWN as NOWHERE
from ..frontend.source import Span
from . import typed
from .interfaces import why_unfit
from .literals import integer_of
from .member_index import MemberIndex
from .narrowing import Narrowing
from .relations import is_subtype
from .schema import Argument, Signature
from .sugar import ContainerMethod, Item, MemberSequence, SliceValue, Sugar
from .types import ANY, INT, STRING, ClassType, InterfaceType, TupleType, Type

__all__ = ["Containers"]

NUMBERED = frozenset({"ModuleList", "Sequential", "ParameterList"})
KEYED = frozenset({"ModuleDict", "ParameterDict"})

_DICT_METHODS = frozenset({"items", "keys", "values"})
_TREE_METHODS = frozenset(
    f"{named}{what}"
    for named in ("", "named_")
    for what in ("children", "modules", "parameters", "buffers")
)

Row = tuple[str, typed.Expr]


def container_kind(type: Type) -> str:
    """The kind of container that a live module is; "" if it is none."""
    return type.container if isinstance(type, ClassType) else ""


class Containers(Narrowing, MemberIndex):
    """Members of modules."""

    def members_of(self, value: typed.Expr, span: Span) -> MemberSequence:
        """What a loop over a container goes over: the keys of a dict, the members of the rest."""
        if container_kind(value.type) in KEYED:
            return MemberSequence(span, value, "keys")
        return MemberSequence(span, value, "values")

    def container_method(self, value: typed.Expr, name: str, span: Span) -> Sugar | None:
        """`self.layers.items`, `self.named_children` and the like."""
        cls = value.type
        if not isinstance(cls, ClassType) or not cls.is_live:
            return None
        if name in _TREE_METHODS or (name in _DICT_METHODS and cls.container in KEYED):
            return ContainerMethod(value, name, span)
        return None

    def rows_of(self, sequence: MemberSequence, into: list[typed.Statement]) -> list[Item]:
        """The members, read in order."""
        receiver = self.let(sequence.receiver, into)
        rows = list(self._rows(receiver, sequence.form, sequence.span))
        start, stop, step = sequence.cut.indices(len(rows))
        rows = [rows[i] for i in range(start, stop, step)]
        if sequence.form == "keys":
            return [typed.Literal(sequence.span, STRING, key) for key, _ in rows]
        values = [self.let(value, into) for _, value in rows]
        if sequence.cut != slice(None):
            self.sliced.update(v.index for v in values if isinstance(v, typed.Temporary))
        if sequence.form == "items" or sequence.form.startswith("named_"):
            keys = [typed.Literal(sequence.span, STRING, key) for key, _ in rows]
            return list(zip(keys, values, strict=True))
        return list(values)

    def _rows(self, value: typed.Expr, form: str, span: Span) -> Iterator[Row]:
        what = form.removeprefix("named_")
        if what in ("items", "keys", "values", "children"):
            kind = container_kind(value.type)
            parameters = kind.startswith("Parameter") and what != "children"
            yield from _slots(value, span, "parameter" if parameters else "module")
        elif what == "modules":
            yield "", value
            yield from self._descendants(value, form, span)
        else:
            kind = what.removesuffix("s")
            yield from _slots(value, span, kind)
            for key, module in self._descendants(value, form, span):
                yield from ((f"{key}.{name}", slot) for name, slot in _slots(module, span, kind))

    def _descendants(self, value: typed.Expr, form: str, span: Span) -> Iterator[Row]:
        for name, module in _slots(value, span, "module"):
            if isinstance(module.type, InterfaceType):
                self.report(
                    "argument-type",
                    f"`{form}()` cannot look into `{name}`, of which only the interface "
                    f"`{module.type.python}` is known",
                    span,
                    "used here",
                    torch=f"Could not compile {form}() because module is an interface type. "
                    "Please file issue.",
                )
                return
            yield name, module
            for key, inner in self._descendants(module, form, span):
                yield f"{name}.{key}", inner

    def value(self, sugar: Sugar, span: Span) -> typed.Expr:
        """As of all sugar; a slice of members is a tuple of them."""
        if not isinstance(sugar, MemberSequence) or sugar.cut == slice(None):
            return super().value(sugar, span)
        into: list[typed.Statement] = []
        members = [m for m in self.rows_of(sugar, into) if isinstance(m, typed.Expr)]
        type = TupleType(tuple(m.type for m in members))
        return typed.Sequenced(
            span, type, tuple(into), typed.TupleLiteral(span, type, tuple(members))
        )

    # ------------------------------------------------------------------------------ brackets

    def container_item(self, value: typed.Expr, node: tree.Subscript, hint: Type | None) -> Sugar:
        """`self.layers[1]`, `self.layers[1:]`, `self.heads["a"]`; an index that is not known now
        needs an interface that all members have, as the type that is wanted."""
        index = self.sugared(node.indices[0])
        if isinstance(index, SliceValue):
            return self._slice_members(MemberSequence(node.span, value, "values"), index)
        position = self.value(index, node.indices[0].span)
        if isinstance(hint, InterfaceType):
            if not self._fitting_members(value, hint, node.span):
                return self.unknown(node.span)
            return _indexed_at_run_time(value, position, hint)
        numbered = container_kind(value.type) in NUMBERED
        rows = list(self._rows(value, "values", node.span))
        if numbered:
            number = integer_of(position)
            if number is not None and -len(rows) <= number < len(rows):
                return rows[number][1]
        else:
            key = position.value if isinstance(position, typed.Literal) else None
            number = None if not isinstance(key, str) else 0
            for name, member in rows:
                if name == key:
                    return member
        outside = f"Index {number} out of range of length {len(rows)}"
        self._report_index_of_members(value, node, outside if numbered else "", number is not None)
        return self.unknown(node.span)

    def _fitting_members(self, value: typed.Expr, wanted: InterfaceType, span: Span) -> bool:
        """Whether all modules of a container fill an interface; what does not is reported."""
        for name, member in _slots(value, span, "module"):
            if not is_subtype(member.type, wanted):
                reason = why_unfit(member.type, wanted)
                self.report(
                    "argument-type",
                    f"`{name}` of the container is no `{wanted.python}`",
                    span,
                    f"any of its modules may be meant, and each must be a `{wanted.python}`",
                    torch=f"Attribute {name} is not of annotated type {wanted.annotation_str}: "
                    f"{reason}",
                )
                return False
        return True

    def member_item(self, sequence: MemberSequence, node: tree.Subscript) -> Sugar:
        """An element or slice of a slice of members."""
        index = self.sugared(node.indices[0])
        if isinstance(index, SliceValue):
            return self._slice_members(sequence, index)
        number = integer_of(self.value(index, node.indices[0].span))
        rows = list(self._rows(sequence.receiver, sequence.form, node.span))
        rows = rows[sequence.cut]
        if number is None or not -len(rows) <= number < len(rows):
            outside = f"Tuple index out of range. Tuple is length {len(rows)} and index is {number}"
            self._report_index_of_members(sequence.receiver, node, outside, number is not None)
            return self.unknown(node.span)
        return rows[number][1]

    def _slice_members(self, sequence: MemberSequence, index: SliceValue) -> Sugar:
        parts: list[int | None] = []
        for part in (index.lower, index.upper, index.step):
            number = integer_of(part) if part is not None else None
            if part is not None and number is None:
                self.report(
                    "argument-type",
                    "modules can be sliced only by literal integers",
                    part.span,
                    "not known here",
                    torch="Expected integer literal for tuple index",
                    torch_span=index.span,
                )
                return self.unknown(index.span)
            parts.append(number)
        places = range(len(list(self._rows(sequence.receiver, sequence.form, sequence.span))))
        chosen = places[sequence.cut][slice(*parts)]
        stop = None if chosen.stop < 0 else chosen.stop
        cut = slice(chosen.start, stop, chosen.step)
        return MemberSequence(sequence.span, sequence.receiver, sequence.form, cut)

    def _report_index_of_members(
        self, value: typed.Expr, node: tree.Subscript, outside: str, known: bool
    ) -> None:
        """Report an index; `outside` is torch's sentence on a number that is too large, "" where
        members have names."""
        if not known:
            self.report_unknown_index(value, node, bool(outside))
            return
        place = node.indices[0].span
        if outside:
            message, torch = "there is no such member", outside
        else:
            message = "there is no such key"
            torch = f"Key Error, {place.text.strip(chr(34) + chr(39))}"
        self.report("argument-type", message, place, "used here", torch=torch, torch_span=node.span)


def _slots(value: typed.Expr, span: Span, kind: str) -> Iterator[Row]:
    """The modules, parameters or buffers that a module itself holds."""
    cls = value.type
    if not isinstance(cls, ClassType):
        return
    for name, attribute in cls.attributes.items():
        is_module = isinstance(attribute.type, ClassType | InterfaceType) and (
            attribute.type.is_module
        )
        if is_module if kind == "module" else attribute.kind == kind:
            yield name, typed.GetAttribute(span, attribute.type, value, name)


def _indexed_at_run_time(value: typed.Expr, index: typed.Expr, type: Type) -> typed.Expr:
    arguments = (Argument("container", ANY), Argument("key", ANY if index.type == INT else STRING))
    signature = Signature("prim::ModuleContainerIndex", "", arguments, (Argument("", type),))
    bindings = (typed.Given(0), typed.Given(1))
    return typed.OperatorCall(NOWHERE, type, signature, (value, index), bindings)
