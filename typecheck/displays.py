"""List, dict and tuple displays, comprehensions, and strings with values in them."""

from __future__ import annotations

from ..frontend import tree
from ..frontend.diagnostics import Diagnostic, Label
from ..frontend.source import UNKNOWN as NOWHERE
from ..frontend.source import Span
from . import typed
from .annotations import DICT_KEYS
from .environment import Variable
from .forms import Forms
from .iteration import Item
from .matching import Given
from .relations import is_subtype, join_all, members
from .sugar import Sugar
from .types import (
    STRING,
    TENSOR,
    UNKNOWN,
    DictType,
    ListType,
    TupleType,
    Type,
    UnionType,
)

__all__ = ["Displays"]


class Displays(Forms):
    """Displays and comprehensions."""

    def assign_target(
        self, target: tree.Expr, item: Item | Sugar, span: Span, into: list[typed.Statement]
    ) -> None:
        """Bind the target of a loop; given its meaning with assignment."""
        raise NotImplementedError

    # -------------------------------------------------------------------------------- tuples

    def tuple_display(self, node: tree.TupleDisplay, hint: Type | None) -> typed.Expr:
        """`a, b`; parts of a hinted tuple get their own hints."""
        statements: list[typed.Statement] = []
        elements = self._elements(node.elements, [None] * len(node.elements), statements)
        type = TupleType(tuple(e.type for e in elements))
        result = typed.TupleLiteral(node.span, type, tuple(elements))
        if not statements:
            return result
        return typed.Sequenced(node.span, type, tuple(statements), result)

    def _elements(
        self,
        nodes: tuple[tree.Expr, ...],
        hints: list[Type | None],
        into: list[typed.Statement],
    ) -> list[typed.Expr]:
        found: list[typed.Expr] = []
        for node, hint in zip(nodes, hints, strict=True):
            if isinstance(node, tree.Starred):
                found.extend(self._unpacked(node, into) or [self.unknown(node.span)])
            else:
                found.append(self.expression(node, hint))
        return found

    # --------------------------------------------------------------------------------- lists

    def list_display(self, node: tree.ListDisplay, hint: Type | None) -> typed.Expr:
        """`[a, b]`; an empty one takes the hinted type, or whatever it is passed for."""
        statements: list[typed.Statement] = []
        nodes = node.elements
        elements = self._elements(nodes, [None] * len(nodes), statements)
        wanted = _container(hint, ListType)
        type = self._list_type(node, elements, wanted if isinstance(wanted, ListType) else None)
        hinted = bool(elements) or wanted is not None
        type = type.with_contained(type.contained)  # a type object of its own, as in torch
        result: typed.Expr = typed.ListLiteral(node.span, type, tuple(elements), hinted)
        if wanted is not None and hint is not None and hint != wanted:
            result = typed.UncheckedCast(NOWHERE, hint, result)
        if not statements:
            return result
        return typed.Sequenced(node.span, result.type, tuple(statements), result)

    def _list_type(
        self, node: tree.ListDisplay, elements: list[typed.Expr], wanted: ListType | None
    ) -> Type:
        if not elements:
            return wanted or ListType(TENSOR)
        joined = join_all([e.type for e in elements], or_union=True) or UNKNOWN
        if wanted is None:
            if isinstance(joined, UnionType):
                self._warn_mixed(node, elements, joined)
            return ListType(joined)
        if not is_subtype(joined, wanted.element):
            odd = next(e for e in elements if not is_subtype(e.type, wanted.element))
            self.report(
                "annotation-conflict",
                f"a `{wanted.python}` cannot hold `{odd.type.python}`",
                odd.span,
                f"this is `{odd.type.python}`",
                torch=f"List type annotation `{wanted.annotation_str}` did not match the types of "
                f"the given list elements, which were unified to {joined.annotation_str}",
                torch_span=node.span,
            )
        return wanted

    def _warn_mixed(
        self, node: tree.ListDisplay, elements: list[typed.Expr], joined: UnionType
    ) -> None:
        first = elements[0]
        odd = next(e for e in elements if e.type != first.type)
        self.collector.add(
            Diagnostic(
                "mixed-list",
                f"this list mixes types, so its elements are `{joined.python}`",
                Label(odd.span.whole, f"this is `{odd.type.python}`"),
                self.where,
                secondary=(Label(first.span.whole, f"this is `{first.type.python}`"),),
                notes=("an element must pass an `isinstance` test before it can be used",),
                torch_message="List consists of heterogeneous types, which means that it has "
                f"been typed as containing {joined.annotation_str}. To use any of the values in "
                "this List, it will be necessary to add an `assert isinstance` statement before "
                "first use to trigger type refinement.",
                torch_span=node.span,
                severity="warning",
            )
        )

    # --------------------------------------------------------------------------------- dicts

    def dict_display(self, node: tree.DictDisplay, hint: Type | None) -> typed.Expr:
        """`{k: v}`; an empty one without hint is a `Dict[str, Tensor]`, as in torch."""
        wanted = _container(hint, DictType)
        keys = tuple(self.expression(k) for k in node.keys)
        values = tuple(self.expression(v) for v in node.values)
        wanted = wanted if isinstance(wanted, DictType) else None
        type = self._dict_type(node, keys, values, wanted)
        type = type.with_contained(type.contained)  # a type object of its own, as in torch
        result: typed.Expr = typed.DictLiteral(node.span, type, keys, values)
        if wanted is not None and hint is not None and hint != wanted:
            result = typed.UncheckedCast(NOWHERE, hint, result)
        return result

    def _dict_type(
        self,
        node: tree.DictDisplay,
        keys: tuple[typed.Expr, ...],
        values: tuple[typed.Expr, ...],
        wanted: DictType | None,
    ) -> Type:
        if not keys:
            return wanted or DictType(STRING, TENSOR)
        key_type = keys[0].type
        for key in keys[1:]:
            if UNKNOWN not in (key.type, key_type) and key.type != key_type:
                self.report(
                    "no-matching-overload",
                    "the keys of a dict must have one type",
                    key.span,
                    f"this is `{key.type.python}`",
                    torch="Dict keys must contain only a single type. Expected: "
                    f"{key_type.annotation_str} but found {key.type.annotation_str} instead",
                    secondary=(Label(keys[0].span.whole, f"this is `{key_type.python}`"),),
                )
        joined = join_all([v.type for v in values], or_union=True) or UNKNOWN
        if wanted is None:
            self._check_key(key_type, keys[0].span)
            return DictType(key_type, joined)
        for what, type, want, parts in (
            ("keys", key_type, wanted.key, keys),
            ("values", joined, wanted.value, values),
        ):
            if not is_subtype(type, want):
                self._report_dict(node, wanted, what, type, want, parts)
                break
        return wanted

    def _check_key(self, key: Type, span: Span) -> None:
        """See that a dict can have keys of a type."""
        if key not in DICT_KEYS and key is not UNKNOWN:
            self.report(
                "unsupported-syntax",
                f"a dict cannot have `{key.python}` keys",
                span,
                "only int, float, complex, bool, str, Tensor and torch.device keys are possible",
                torch=f"Cannot create dict for key type '{key}', only int, float, complex, Tensor, "
                "device and string keys are supported",
            )

    def _report_dict(
        self,
        node: tree.DictDisplay,
        wanted: DictType,
        what: str,
        type: Type,
        want: Type,
        parts: tuple[typed.Expr, ...],
    ) -> None:
        odd = next((p for p in parts if not is_subtype(p.type, want)), parts[0])
        self.report(
            "annotation-conflict",
            f"the {what} of a `{wanted.python}` cannot be `{odd.type.python}`",
            odd.span,
            f"this is `{odd.type.python}`",
            torch=f"Type annotation was inferred to be `{wanted.annotation_str}`, but the type of "
            f"{what} given by the dict literal is {type.annotation_str}",
            torch_span=node.span,
        )

    # ------------------------------------------------------------------------ comprehensions

    def list_comprehension(self, node: tree.ListComprehension, hint: Type | None) -> typed.Expr:
        """`[element for target in iterable]`."""
        generator = node.generators[0]
        sugar = self.sugared(generator.iterable)
        return self._comprehension(generator, node.element, sugar, node.span, hint)

    def comprehend(self, sugar: Sugar, span: Span, hint: Type | None) -> typed.Expr:
        """`list(iterable)`, which is `[item for item in iterable]`."""
        return self._comprehension(None, None, sugar, span, hint)

    def _comprehension(
        self,
        generator: tree.Generator | None,
        element: tree.Expr | None,
        sugar: Sugar,
        span: Span,
        hint: Type | None,
    ) -> typed.Expr:
        wanted = hint if isinstance(hint, ListType) else None
        iterated = self.iterated(sugar, span)
        statements: list[typed.Statement] = []
        with self.new_frame():
            rows = self.unrolled(iterated, statements, span)
            if rows is not None:
                return self._unrolled_list(rows, generator, element, span, wanted, statements)
            control, item = self.iterable(iterated, span)
            prelude: list[typed.Statement] = []
            value = self._turn(item, generator, element, span, wanted, prelude)
            condition = self._filter(generator)
        type = wanted or ListType(value.type)
        hinted = _container(hint, ListType)
        if hinted == type and isinstance(hinted, ListType):
            type = hinted
        if not is_subtype(value.type, type.element):
            self._report_element(value, type, span)
        return typed.ListComprehension(span, type, control, tuple(prelude), condition, value)

    def _filter(self, generator: tree.Generator | None) -> typed.Expr | None:
        if generator is None or not generator.conditions:
            return None
        node = generator.conditions[0]
        if len(generator.conditions) > 1:
            node = tree.Boolean(node.span, "and", generator.conditions)
        return self.condition(node).value

    def _turn(
        self,
        item: Item,
        generator: tree.Generator | None,
        element: tree.Expr | None,
        span: Span,
        wanted: ListType | None,
        into: list[typed.Statement],
    ) -> typed.Expr:
        """One turn of a comprehension: bind the target, check the element."""
        if generator is None or element is None:
            return self.item_value(item, span)
        self.assign_target(generator.target, item, span, into)
        return self.expression(element)

    def item_value(self, item: Item, span: Span) -> typed.Expr:
        """What a loop binds as one value: several become a tuple."""
        if not isinstance(item, tuple):
            return item
        parts = tuple(self.item_value(part, span) for part in item)
        return typed.TupleLiteral(span, TupleType(tuple(p.type for p in parts)), parts)

    def _unrolled_list(
        self,
        rows: list[Item],
        generator: tree.Generator | None,
        element: tree.Expr | None,
        span: Span,
        wanted: ListType | None,
        unpacking: list[typed.Statement],
    ) -> typed.Expr:
        """A comprehension over a tuple: its turns one after the other, appending to a list."""
        turns: list[typed.Statement] = []
        index = self.temporary()
        outer = {n: v for n in _names(generator) if (v := self.frame.find_outside(n)) is not None}
        kept = [(v, self.let(self._read(v, span), turns, always=True)) for v in outer.values()]
        type = wanted
        for number, row in enumerate(rows):
            turns.append(self.turn_number(number, span))
            value = self._turn(row, generator, element, span, wanted, turns)
            type = type or ListType(value.type)
            target = typed.Temporary(span, type, index)
            append = self.call_operator(
                "aten::append", Given([value], {}, target), span, written="append"
            )
            turns.append(typed.Evaluate(span, append))
        for variable, value in kept:
            turns.append(typed.Assign(span, variable.name, value.type, value))
        type = type or ListType(TENSOR)
        start = typed.Let(span, index, typed.ListLiteral(NOWHERE, type, ()))
        statements = (start, *unpacking, *turns)
        return typed.Sequenced(span, type, statements, typed.Temporary(span, type, index))

    def _read(self, variable: Variable, span: Span) -> typed.Expr:
        return typed.Local(span, variable.type or UNKNOWN, variable.name)

    def _report_element(self, value: typed.Expr, type: ListType, span: Span) -> None:
        self.report(
            "annotation-conflict",
            f"a `{type.python}` cannot hold `{value.type.python}`",
            value.span,
            f"this is `{value.type.python}`",
            torch=f"List type annotation `{type.annotation_str}` did not match the types of the "
            f"given list elements, which were unified to {value.type.annotation_str}",
            torch_span=span,
        )

    def dict_comprehension(self, node: tree.DictComprehension, hint: Type | None) -> typed.Expr:
        """`{key: value for target in iterable}`."""
        generator = node.generators[0]
        sugar = self.sugared(generator.iterable)
        return self._dict_comprehension(generator, node, sugar, node.span, hint)

    def dict_of(self, sugar: Sugar, span: Span, hint: Type | None) -> typed.Expr:
        """`dict(iterable)`, which is `{key: value for key, value in iterable}`.

        Other than for a comprehension, the dict is made after what is iterated over.
        """
        before: list[typed.Statement] = []
        if isinstance(sugar, typed.Expr):
            sugar = self.let(sugar, before)
        made = self._dict_comprehension(None, None, sugar, span, hint)
        return typed.Sequenced(span, made.type, tuple(before), made) if before else made

    def _dict_comprehension(
        self,
        generator: tree.Generator | None,
        node: tree.DictComprehension | None,
        sugar: Sugar,
        span: Span,
        hint: Type | None,
    ) -> typed.Expr:
        wanted = _container(hint, DictType)
        iterated = self.iterated(sugar, span)
        if isinstance(iterated, typed.Expr) and iterated.type is UNKNOWN:
            return self.unknown(span)
        statements: list[typed.Statement] = []
        with self.new_frame():
            rows = self.unrolled(iterated, statements, span)
            if rows is not None:
                return self._unrolled_dict(rows, generator, node, span, wanted, statements)
            control, item = self.iterable(iterated, span)
            prelude: list[typed.Statement] = []
            key, value = self._pair(item, generator, node, span, prelude)
            condition = self._filter(generator)
        type = wanted or DictType(key.type, value.type)
        self._check_pair(key, value, type, span)
        return typed.DictComprehension(span, type, control, tuple(prelude), condition, key, value)

    def _pair(
        self,
        item: Item,
        generator: tree.Generator | None,
        node: tree.DictComprehension | None,
        span: Span,
        into: list[typed.Statement],
    ) -> tuple[typed.Expr, typed.Expr]:
        """One turn of a dict comprehension: key and value."""
        if generator is not None and node is not None:
            self.assign_target(generator.target, item, span, into)
            return self.expression(node.key), self.expression(node.value)
        parts = item if isinstance(item, tuple) else (item,)
        if len(parts) == 1 and isinstance(item, typed.Expr):
            if not isinstance(item.type, TupleType):
                if item.type is not UNKNOWN:
                    self._report_no_pair(item, span)
                return self.unknown(span), self.unknown(span)
            parts = tuple(self.tuple_elements(item, into))
        if len(parts) != 2:
            self._report_no_pairs(len(parts), span)
            return self.unknown(span), self.unknown(span)
        return self.item_value(parts[0], span), self.item_value(parts[1], span)

    def _check_pair(self, key: typed.Expr, value: typed.Expr, type: Type, span: Span) -> None:
        """Report a key or value that the dict cannot hold."""
        assert isinstance(type, DictType)
        self._check_key(type.key, key.span)
        for what, part, wanted in (("key", key, type.key), ("value", value, type.value)):
            if not is_subtype(part.type, wanted):
                found = part.type.annotation_str
                self.report(
                    "annotation-conflict",
                    f"the {what}s of a `{type.python}` cannot be `{part.type.python}`",
                    part.span,
                    f"this is `{part.type.python}`",
                    torch=f"Dict type annotation `{type.annotation_str}` did not match the type "
                    f"of an actual {what} type `{found}`",
                    torch_span=span,
                )
                return

    def _report_no_pair(self, item: typed.Expr, span: Span) -> None:
        self.report(
            "argument-type",
            f"`dict` needs pairs of a key and a value, not `{item.type.python}`",
            span,
            f"goes over `{item.type.python}`",
            torch=f"{self.torch_type(item)} cannot be used as a tuple",
        )

    def _report_no_pairs(self, count: int, span: Span) -> None:
        many = f"too many values to unpack: need 2 but found {count}"
        few = f"need 2 values to unpack but found only {count}"
        self.report(
            "argument-type",
            f"`dict` needs pairs of a key and a value, not {count} values",
            span,
            f"{count} values in a turn",
            torch=many if count > 2 else few,
        )

    def _unrolled_dict(
        self,
        rows: list[Item],
        generator: tree.Generator | None,
        node: tree.DictComprehension | None,
        span: Span,
        wanted: Type | None,
        unpacking: list[typed.Statement],
    ) -> typed.Expr:
        """A dict comprehension over a tuple: its turns one after the other."""
        turns: list[typed.Statement] = []
        index = self.temporary()
        type = wanted
        for number, row in enumerate(rows):
            turns.append(self.turn_number(number, span))
            key, value = self._pair(row, generator, node, span, turns)
            type = type or DictType(key.type, value.type)
            self._check_pair(key, value, type, span)
            target = typed.Temporary(span, type, index)
            turns.append(typed.Evaluate(span, self.set_item(target, key, value, span)))
        type = type or DictType(STRING, TENSOR)
        start = typed.Let(span, index, typed.DictLiteral(NOWHERE, type, (), ()))
        before = (start, *unpacking) if generator is not None else (*unpacking, start)
        return typed.Sequenced(span, type, (*before, *turns), typed.Temporary(span, type, index))

    def set_item(
        self, target: typed.Expr, key: typed.Expr, value: typed.Expr, span: Span
    ) -> typed.Expr:
        """`target[key] = value` of a dict."""
        return self.call_operator("aten::_set_item", Given([target, key, value]), span)

    # ------------------------------------------------------------------------------- strings

    def formatted_string(self, node: tree.FormattedString) -> typed.Expr:
        """An f-string, which is `"...{}...".format(...)`."""
        text, values = "", []
        for part in node.parts:
            if isinstance(part, tree.Literal) and isinstance(part.value, str):
                text += part.value
            else:
                text += "{}"
                values.append(part)
        template = typed.Literal(node.span, STRING, text)
        given = Given([self.expression(v) for v in values], {}, template)
        return self.call_operator("aten::format", given, node.span, written="format")

    def percent_format(self, node: tree.Binary, left: typed.Expr) -> typed.Expr:
        """`"..." % values`."""
        right = self.expression(node.right)
        given = Given([left, right])
        return self.call_operator("aten::percentFormat", given, node.span, written="%")


def _container(hint: Type | None, cls: type[Type]) -> Type | None:
    """The list or dict type a hint asks for, looking into optionals and unions."""
    if hint is None:
        return None
    found = [t for t in members(hint) if isinstance(t, cls)]
    return found[0] if len(found) == 1 else None


def _names(generator: tree.Generator | None) -> list[str]:
    """The variables a comprehension binds."""
    found: list[str] = []
    targets = [generator.target] if generator is not None else []
    while targets:
        target = targets.pop()
        if isinstance(target, tree.Name):
            found.append(target.id)
        elif isinstance(target, tree.TupleDisplay | tree.ListDisplay):
            targets.extend(target.elements)
    return found
