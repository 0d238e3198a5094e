"""Finding the operators of an archive that do not exist here, or that code which is not trusted may
not use, before anything runs.

Nearly always all exist, which the spellings in the texts tell without making trees of them.  If
not, the trees say which are used, and where.

Only the code that can be reached is looked at: the methods of the classes of the archive's objects,
and what they name.  Operators are recognised by their spelling, `torch.name(...)` and
`ops.namespace.name(...)`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Final

from ...frontend.diagnostics.diagnostics import Diagnostic, Help, Label
from ...frontend.syntax import tree
from ...ops.table.table import TABLE
from .archive_table import ARCHIVE_TABLE, operator_named
from .import_code import CodeImporter
from .operator_kinds import REFUSED, kind_of
from .refuse import not_trusted

__all__ = ["operators_in", "unknown_operators"]


def unknown_operators(
    importer: CodeImporter, classes: Iterable[str], may_be_used: Callable[[str], bool]
) -> list[Diagnostic]:
    """One diagnostic for each operator that may not be used, with every place where it is.

    `classes` are the qualified names to begin with.
    """
    if all(may_be_used(operator) for operator in _spelled(importer.texts())):
        return []
    places: dict[str, list[Label]] = {}
    waiting = list(classes)
    seen = set(waiting)
    while waiting:
        definition = importer.definition(waiting.pop())
        if definition is None:
            continue
        for expression in _dotted_names(definition):
            parts = _parts(expression)
            operator = _operator(parts)
            if operator is None:
                named = ".".join(parts)
                if named not in seen:
                    seen.add(named)
                    waiting.append(named)
            elif not may_be_used(operator):
                places.setdefault(operator, []).append(Label(expression.span, "used here"))
    if _WITHOUT_VALUES in places:  # whatever else is used, there is nothing to compute with
        return [_lost_weights(places[_WITHOUT_VALUES])]
    return [_diagnostic(operator, labels) for operator, labels in places.items()]


_WITHOUT_VALUES: Final = "prim::ConstantMKLDNNTensor"
"""What stands for a weight that PyTorch has put into the form of its CPU library."""

_SHOWN: Final = 3
"""How many places are shown, and how many more are told."""


def _lost_weights(labels: list[Label]) -> Diagnostic:
    return Diagnostic(
        "unsupported-value",
        f"{len(labels)} weights of the archive are not in it",
        Label(labels[0].span, "stands for a weight without its values"),
        notes=(
            "PyTorch's `optimize_for_inference` put them into the form of its CPU library, which "
            "archives do not hold; PyTorch cannot run this archive either",
        ),
        helps=(Help("save the module as it was before, or what `torch.jit.freeze` gives of it"),),
        torch_message="required keyword attribute 'value' is undefined",
    )


def _further(labels: list[Label]) -> tuple[str, ...]:
    """Notes of places that are not shown."""
    told, rest = labels[:_SHOWN], len(labels) - _SHOWN
    notes = tuple(f"also at {label.span}" for label in told)
    return (*notes, f"and at {rest} more places") if rest > 0 else notes


_SPELLING = re.compile(r"(?<![\w.])((?:torch|ops)(?:[\s\\]*\.[\s\\]*\w+){1,2})")
_BLANK = re.compile(r"[\s\\]+")


def _spelled(texts: Iterable[str]) -> set[str]:
    """The operators that texts spell out, and some that stand in strings, or are attributes."""
    found: set[str] = set()
    for text in texts:
        found.update(_SPELLING.findall(text))
    operators = (_operator(_BLANK.sub("", spelling).split(".")) for spelling in found)
    return {operator for operator in operators if operator is not None}


def operators_in(definition: tree.Definition) -> Iterator[str]:
    """The qualified names of the operators that a definition spells out, each as often as used."""
    for expression in _dotted_names(definition):
        operator = _operator(_parts(expression))
        if operator is not None:
            yield operator


def _dotted_names(root: object) -> Iterator[tree.Attribute]:
    """The outermost `a.b.c` expressions in a tree, in order."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, tree.Attribute) and _parts(node):
            yield node
        elif isinstance(node, tuple):
            waiting.extend(reversed(node))
        elif isinstance(node, tree.Node):
            waiting.extend(getattr(node, name) for name in _field_names(type(node)))  # type: ignore[arg-type]


@cache
def _field_names(kind: type[tree.Node]) -> tuple[str, ...]:
    """The fields of a kind of node, the last first."""
    names = [field.name for field in fields(kind)] if is_dataclass(kind) else []
    return tuple(reversed(names))


def _parts(expression: tree.Expr) -> list[str]:
    """`["a", "b", "c"]` of `a.b.c`; empty for any other expression."""
    parts: list[str] = []
    while isinstance(expression, tree.Attribute):
        parts.append(expression.name)
        expression = expression.value
    if not isinstance(expression, tree.Name):
        return []
    return [expression.id, *reversed(parts)]


def _operator(parts: list[str]) -> str | None:
    match parts:
        case ["torch", name] | ["torch", "autograd", name]:
            return f"aten::{name}"
        case ["ops", namespace, name]:
            return operator_named(namespace, name)
    return None


def _diagnostic(operator: str, labels: list[Label]) -> Diagnostic:
    namespace, _, name = operator.partition("::")
    spelling = f"torch.{name}" if namespace == "aten" else f"ops.{namespace}.{name}"
    first, *others = labels
    kind = kind_of(operator)
    if kind in REFUSED and ARCHIVE_TABLE.has(operator):
        return not_trusted(operator, f"the operator `{spelling}`", *labels[:4])
    if kind in REFUSED:
        return Diagnostic(
            "unsafe-op",
            f"the archive uses the operator `{spelling}`, which {REFUSED[kind]}: there is none "
            "here",
            first,
            secondary=tuple(others[:_SHOWN]),
            torch_message=f"Unknown builtin op: {operator}.",
        )
    where = "was left out of this bundle" if operator in TABLE.left_out else "does not exist here"
    return Diagnostic(
        "unknown-op",
        f"the archive uses the operator `{spelling}`, which {where}",
        first,
        secondary=tuple(others[:_SHOWN]),
        notes=_further(others[_SHOWN:]),
        torch_message=f"Unknown builtin op: {operator}.",
    )
