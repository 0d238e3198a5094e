"""Assignment to elements, in-place operators, and `del`."""

from __future__ import annotations

from ..frontend import tree
from ..frontend.source import UNKNOWN as NOWHERE
from ..frontend.source import Span
from . import typed
from .assignments import Assignments
from .attributes import Access
from .expressions import BINARY
from .matching import Given
from .sugar import Sugar
from .types import (
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    NUMBER,
    TENSOR,
    UNKNOWN,
    ClassType,
    DictType,
    ListType,
    TupleType,
    Type,
)

__all__ = ["Elements"]

_OF_TENSORS = {
    "+": "aten::add_",
    "-": "aten::sub_",
    "*": "aten::mul_",
    "/": "aten::div_",
    "%": "aten::fmod_",
    "**": "aten::pow",
    "&": "aten::bitwise_and",
    "|": "aten::bitwise_or",
    "^": "aten::bitwise_xor",
    "<<": "aten::__ilshift__",
    ">>": "aten::__irshift__",
}
"""Powers and bits are not changed in place, so that elements and views stay as they are."""

_WORDS = {"+": "add", "-": "sub", "*": "mul", "/": "truediv", "%": "mod", "**": "pow"}


class Elements(Assignments):
    """Changing containers and tensors."""

    # ------------------------------------------------------------------------------ elements

    def assign_element(
        self, target: tree.Subscript, value: typed.Expr, span: Span, into: list[typed.Statement]
    ) -> None:
        """`container[index] = value`; `value` was evaluated before."""
        owner = self.expression(target.value)
        if UNKNOWN in (owner.type, value.type):
            return
        if owner.type == TENSOR:
            self._assign_tensor(target, owner, value, span, into)
            return
        index = self._single_index(target, owner)
        if index is None:
            return
        if isinstance(owner.type, ClassType):
            call = self.call_method(owner, "__setitem__", [index, value], span)
        else:
            call = self.call_operator(
                "aten::_set_item", Given([owner, index, value]), span, written="[] ="
            )
        into.append(typed.Evaluate(span, call))

    def _single_index(self, target: tree.Subscript, owner: typed.Expr) -> typed.Expr | None:
        """The index of an element to set; slices and tuples have none."""
        if len(target.indices) != 1 or isinstance(target.indices[0], tree.Slice):
            message = "a slice of a list cannot be assigned to"
            torch = (
                "Sliced expression not yet supported for subscripted assignment. "
                "File a bug if you want this"
            )
        elif isinstance(owner.type, TupleType):
            message = "a tuple cannot be changed"
            torch = f"{owner.type.annotation_str} does not support subscripted assignment"
        else:
            index = self.expression(target.indices[0])
            return None if index.type is UNKNOWN else index
        self.report("unsupported-syntax", message, target.span, "assigned here", torch=torch)
        return None

    def _assign_tensor(
        self,
        target: tree.Subscript,
        owner: typed.Expr,
        value: typed.Expr,
        span: Span,
        into: list[typed.Statement],
    ) -> None:
        located = self.locate(owner, target.indices, target.span, into)
        if located.value.type is UNKNOWN:
            return
        place = self.let(located.value, into)
        located.tensors = self._settled(located.tensors, into)
        value = self._as_tensor(value, place)
        if not located.tensors:
            call = self.call_operator("aten::copy_", Given([place, value]), span, written="[] =")
        else:
            value = self.let(value, into)
            indices = self.index_list(located.tensors)
            given = Given([place, indices, value])
            call = self.call_operator("aten::index_put_", given, span, written="[] =")
        into.append(typed.Evaluate(span, call))

    def _settled(
        self, tensors: list[typed.Expr | None], into: list[typed.Statement]
    ) -> list[typed.Expr | None]:
        """Tensor indices, evaluated now."""
        return [self.let(t, into) if t is not None else None for t in tensors]

    def _as_tensor(self, value: typed.Expr, like: typed.Expr) -> typed.Expr:
        """A number becomes a tensor of the dtype and device of where it goes."""
        if value.type not in (INT, FLOAT, BOOL, COMPLEX, NUMBER):
            return value
        dtype = self.call_operator("prim::dtype", Given([like]), NOWHERE)
        device = self.call_operator("prim::device", Given([like]), NOWHERE)
        given = Given([value], {"dtype": dtype, "device": device})
        return self.call_operator("aten::tensor", given, NOWHERE)

    # ------------------------------------------------------------------------------ in place

    def augmented_assign(self, node: tree.AugmentedAssign, into: list[typed.Statement]) -> None:
        """`target += value`: tensors and lists change in place, anything else is rebound."""
        target = node.target
        if isinstance(target, tree.Name):
            left = self.expression(target)
            result = self._augmented(node, left, self.expression(node.value))
            self.assign_name(target, result, into, None, None)
        elif isinstance(target, tree.Attribute):
            owner = self.let(self.expression(target.value), into)
            left = self.value(self._slot_value(owner, target), target.span)
            result = self._augmented(node, left, self.expression(node.value))
            self.assign_attribute(owner, target, result, node.span, into, None)
        elif isinstance(target, tree.Subscript):
            self._augment_element(node, target, into)
        else:
            self.report(
                "unsupported-syntax",
                "this cannot be assigned to",
                target.span,
                "not a target",
                torch="left-hand side of augmented assignment must be a variable",
            )

    def _slot_value(self, owner: typed.Expr, target: tree.Attribute) -> Sugar:
        access = Access(target.span, target.name, target.name_span)
        return self.of_property(self.attribute_of(owner, access), target)

    def _no_augmented(self, type: ClassType, word: str, node: tree.AugmentedAssign) -> typed.Expr:
        self.report(
            "missing-attribute",
            f"`{type.python}` has no method `__{word}__`",
            node.span,
            f"needs `__i{word}__` or `__{word}__`",
            torch=f"Cannot emit inplace op on {type} since it does not define an __i{word}__ or "
            f"__{word}__ method",
        )
        return self.unknown(node.span)

    def _augmented(
        self, node: tree.AugmentedAssign, left: typed.Expr, right: typed.Expr
    ) -> typed.Expr:
        operator, span = node.operator, node.span
        if isinstance(left.type, ClassType):
            word = _WORDS.get(operator, "")
            name = f"__i{word}__" if left.type.method(f"__i{word}__") else f"__{word}__"
            if left.type.magic(name) is None:
                return self._no_augmented(left.type, word, node)
            return self.call_method(left, name, [right], span)
        name = self._augmented_operator(operator, left.type)
        return self.call_operator(name, Given([left, right]), span, written=f"{operator}=")

    def _augmented_operator(self, operator: str, type: Type) -> str:
        if type == TENSOR or isinstance(type, ListType):
            return _OF_TENSORS[operator]
        return "aten::fmod" if operator == "%" else BINARY[operator][0]

    def _augment_element(
        self, node: tree.AugmentedAssign, target: tree.Subscript, into: list[typed.Statement]
    ) -> None:
        owner = self.expression(target.value)
        if owner.type is UNKNOWN:
            self.expression(node.value)
            return
        if owner.type == TENSOR:
            self._augment_tensor(node, target, owner, into)
            return
        if not isinstance(owner.type, ListType | DictType):
            self.report(
                "unsupported-syntax",
                f"an element of `{owner.type.python}` cannot be changed in place",
                target.span,
                f"`{target.value.span.text}` is `{owner.type.python}`",
                torch=f"{owner.type.annotation_str} does not support augmented assignment.",
            )
            return
        index = self._single_index(target, owner)
        if index is None:
            return
        span = node.span
        owner = self.let(owner, into)
        index = self.let(index, into)
        value = self.let(self.expression(node.value), into)
        item = self.call_operator("aten::__getitem__", Given([owner, index]), span, written="[]")
        kind = owner.type.contained[0]  # for a dict, the key: as in torch
        name = self._augmented_operator(node.operator, kind)
        result = self.call_operator(name, Given([item, value]), span, written=f"{node.operator}=")
        given = Given([owner, index, result])
        call = self.call_operator("aten::_set_item", given, span, written="[] =")
        into.append(typed.Evaluate(span, call))

    def _augment_tensor(
        self,
        node: tree.AugmentedAssign,
        target: tree.Subscript,
        owner: typed.Expr,
        into: list[typed.Statement],
    ) -> None:
        located = self.locate(owner, target.indices, target.span, into)
        if located.tensors:
            located.value = self.let(located.value, into)
            located.tensors = self._settled(located.tensors, into)
        value = self.expression(node.value)
        if UNKNOWN in (located.value.type, value.type):
            return
        name, written = self._augmented_operator(node.operator, TENSOR), f"{node.operator}="
        if not located.tensors:
            given = Given([located.value, value])
            call = self.call_operator(name, given, node.span, written=written)
            into.append(typed.Evaluate(node.span, call))
            return
        place = located.value
        value = self.let(value, into)
        indices = self.let(self.index_list(located.tensors), into)
        old = self.call_operator("aten::index", Given([place, indices]), node.span)
        new = self.call_operator(name, Given([old, value]), node.span, written=written)
        given = Given([place, indices, new])
        call = self.call_operator("aten::index_put_", given, node.span, written="[] =")
        into.append(typed.Evaluate(node.span, call))

    # --------------------------------------------------------------------------------- delete

    def delete(self, node: tree.Delete, into: list[typed.Statement]) -> None:
        """`del name`, `del container[index]`."""
        for target in node.targets:
            if isinstance(target, tree.Name):
                if not self.frame.remove(target.id):
                    self.expression(target)
            elif isinstance(target, tree.Subscript):
                self._delete_element(target, node.span, into)
            else:
                self.report(
                    "unsupported-syntax",
                    "only variables and elements can be deleted",
                    target.span,
                    "deleted here",
                    torch="del statements are only supported for deleting local variables, list "
                    "elements and dict entries",
                )

    def _delete_element(
        self, target: tree.Subscript, span: Span, into: list[typed.Statement]
    ) -> None:
        if len(target.indices) != 1 or isinstance(target.indices[0], tree.Slice):
            self.report(
                "unsupported-syntax",
                "a slice cannot be deleted",
                target.span,
                "deleted here",
                torch="del statements only support deletion at a single index, slicing is not "
                "supported (see https://github.com/pytorch/pytorch/issues/31430)",
            )
            return
        owner, index = self.expression(target.value), self.expression(target.indices[0])
        if isinstance(owner.type, ClassType) and owner.type.magic("__delitem__") is None:
            self.report(
                "missing-attribute",
                f"`{owner.type.python}` has no method `__delitem__`",
                target.span,
                "needs `__delitem__`",
                torch="Class does not define __delitem__",
            )
            return
        if isinstance(owner.type, ClassType):
            call = self.call_method(owner, "__delitem__", [index], span)
        else:
            call = self.call_operator(
                "aten::Delete", Given([owner, index]), target.span, written="del"
            )
        into.append(typed.Evaluate(span, call))
