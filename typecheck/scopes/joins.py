"""What is known after branches and loops."""

from __future__ import annotations

from ...frontend.diagnostics.diagnostics import Edit, Help, Label
from ...frontend.diagnostics.torch_text import highlight
from ...frontend.sources.source import Span
from ...frontend.syntax import tree
from ..relations.relations import is_subtype, join
from ..trees import typed
from ..types.types import BOOL, FLOAT, INT, NONE, STRING, TENSOR, UNKNOWN, Type
from .environment import Frame, Problem, Variable
from .scope import Scope

__all__ = ["carried_variables", "insert_line", "join_branches", "report_problem"]


# ------------------------------------------------------------------------------ branches


def join_branches(
    scope: Scope, span: Span, test: Span, true: Frame, false: Frame, *, has_else: bool = True
) -> tuple[typed.Variable, ...]:
    """Define what holds a value after both branches; the variables, sorted by name.

    A branch that leaves puts no demands on the other; if both leave, so does the block.
    """
    if true.exits and false.exits:
        scope.frame.exits = True
        return ()
    joined: list[typed.Variable] = []
    for name in sorted({*_values(true), *_values(false)}):
        if not _reaches(scope, name, span, test, true, false, has_else=has_else):
            continue
        type = _join_variable(scope, name, span, test, true, false)
        if type is not None:
            joined.append(typed.Variable(name, type))
    return tuple(joined)


def _reaches(
    scope: Scope, name: str, span: Span, test: Span, true: Frame, false: Frame, *, has_else: bool
) -> bool:
    """Whether the variable has a value on every path that goes on."""
    for frame, other, which in ((true, false, "true"), (false, true, "false")):
        if frame.exits or frame.find(name) is not None:
            continue
        variable = other.variables[name]
        place = variable.span if variable.span is not None else span
        torch = f"\n{name} is not defined in the {which} branch:\n{highlight(span)}"
        places = ((place, variable.type),)
        scope.frame.fault(name, Problem(test, torch, which, places, span, has_else))
        return False
    return True


def _join_variable(
    scope: Scope, name: str, span: Span, test: Span, true: Frame, false: Frame
) -> Type | None:
    ends = [frame.find(name) for frame in (true, false) if not frame.exits]
    found = [v for v in ends if v is not None and v.type is not None]
    if len(found) != len(ends):
        return None
    types = [v.type for v in found if v.type is not None]
    type: Type | None = types[0]
    if len(types) == 2:
        type = join(types[0], types[1], or_union=_may_widen(scope, name))
    if type is None:
        _differ(scope, name, span, test, found)
        return None
    latest = next((f.variables[name] for f in (false, true) if name in f.variables), found[0])
    outer = scope.frame.find(name)
    kept = outer if outer is not None and outer.type == type else latest
    scope.frame.define(
        Variable(name, type, kept.span, kept.tree, kept.value, kept.parameter, False)
    )
    return type


def _may_widen(scope: Scope, name: str) -> bool:
    """A variable declared to be one of several types may become a union of them.

    Archives do not declare what was, so there every variable may.
    """
    if scope.function.is_text:
        return True
    outer = scope.frame.find(name)
    if outer is None or outer.type is None:
        return False
    return outer.type.is_choice or (outer.type is not UNKNOWN and is_subtype(outer.type, NONE))


def _torch_type(variable: Variable) -> str:
    """How torch names the type of a variable: an unannotated parameter's is only inferred."""
    assert variable.type is not None
    return "Tensor (inferred)" if variable.inferred else variable.type.annotation_str


def _differ(scope: Scope, name: str, span: Span, test: Span, found: list[Variable]) -> None:
    """Two branches give a variable two types: an error now if it existed before, else when
    it is read."""
    first, second = found
    assert first.type is not None
    assert second.type is not None
    sentence = (
        f"Type mismatch: {name} is set to type {_torch_type(first)} in the true branch "
        f"and type {_torch_type(second)} in the false branch"
    )
    places = tuple((v.span or span, v.type) for v in found)
    if scope.frame.find(name) is None:
        torch = f"\n{sentence}:\n{highlight(span)}"
        scope.frame.fault(name, Problem(test, torch, "", places, span))
        return
    scope.report(
        "branch-types-differ",
        f"`{name}` is `{first.type.python}` in one branch and `{second.type.python}` in the other",
        places[1][0],
        f"`{second.type.python}` here",
        torch=sentence,
        torch_span=span,
        secondary=(Label(places[0][0].whole, f"`{first.type.python}` here"),),
    )


# --------------------------------------------------------------------------------- loops


def carried_variables(scope: Scope, frame: Frame, span: Span) -> tuple[typed.Variable, ...]:
    """The variables a loop's body assigns that were there before, by name; others end here."""
    found: list[typed.Variable] = []
    for name in sorted(_values(frame)):
        outer = scope.frame.find(name)
        if outer is None:
            variable = frame.variables[name]
            place = variable.span if variable.span is not None else span
            places = ((place, variable.type),)
            before = scope.frame.problem(name)
            torch = before.torch if before is not None else ""
            scope.frame.problems[name] = Problem(span, torch, "loop", places, span)
        elif outer.type is not None:
            found.append(typed.Variable(name, outer.type))
            inner = frame.variables[name]
            scope.frame.define(inner if inner.type is UNKNOWN else outer)  # after an error, silence
    return tuple(found)


# ------------------------------------------------------------------------------- reading


def report_problem(scope: Scope, node: tree.Name, problem: Problem) -> None:
    """Report a read of what only some paths define, or define differently."""
    name = node.id
    if not problem.missing_in:
        _report_types(scope, node, problem)
        return
    torch = f"{problem.torch}and was used here" if problem.torch else f"undefined value {name}"
    header = Span(problem.statement.source, *_first_line(problem.statement))
    secondary = [Label(header, f"when the loop does not run, `{name}` is not set")]
    if problem.missing_in != "loop":
        header = _header(problem.statement)
        value = "false" if problem.missing_in == "false" else "true"
        secondary = [Label(header, f"when this is {value}, `{name}` is not set")]
    secondary.extend(Label(place.whole, "set only here") for place, _ in problem.assigned)
    scope.report(
        "possibly-undefined",
        f"`{name}` may have no value here",
        node.span,
        "used here",
        torch=torch,
        secondary=tuple(secondary[:3]),
        helps=_value_help(name, problem),
    )


def _report_types(scope: Scope, node: tree.Name, problem: Problem) -> None:
    labels = tuple(
        Label(place.whole, f"`{type.python}` here")
        for place, type in problem.assigned
        if type is not None
    )
    types = [f"`{type.python}`" for _, type in problem.assigned if type is not None]
    scope.report(
        "branch-types-differ",
        f"`{node.id}` is {' or '.join(types)}, depending on the branch taken",
        node.span,
        "used here",
        torch=f"{problem.torch}and was used here",
        secondary=labels,
    )


def _values(frame: Frame) -> list[str]:
    """The variables a frame defines that hold values."""
    return [name for name, v in frame.variables.items() if v.type is not None]


_VALUES = {TENSOR: "torch.ones(())", INT: "0", FLOAT: "0.0", BOOL: "False", STRING: '""'}


def _value_help(name: str, problem: Problem) -> tuple[Help, ...]:
    """Give the variable a value in an `else`, if the branch that sets it is the last one."""
    text = "give it a value on the other path"
    if problem.missing_in == "loop":
        return (Help("give it a value before the loop"),)
    type = problem.assigned[0][1]
    value = next((v for t, v in _VALUES.items() if t == type), None)
    if problem.missing_in != "false" or value is None or problem.has_else:
        return (Help(text),)
    source = problem.statement.source
    begin = source.line_starts[source.line_index(_header(problem.statement).start)]
    indent = " " * (_header(problem.statement).start - begin)
    added = f"{indent}else:\n{indent}    {name} = {value}\n"
    return (Help(text, (insert_line(problem.whole, added),)),)


def insert_line(statement: Span, text: str) -> Edit:
    """Put whole lines after a statement."""
    source = statement.source
    end = source.text.find("\n", max(statement.end - 1, 0))
    if end < 0:
        return Edit(Span(source, statement.end, statement.end), "\n" + text.rstrip("\n"))
    return Edit(Span(source, end + 1, end + 1), text)


def _header(test: Span) -> Span:
    """`if test:`, from the span of the test."""
    source = test.source
    begin = source.line_starts[source.line_index(test.whole.start)]
    before = source.text[begin : test.whole.start]
    start = begin + len(before) - len(before.lstrip()) if before.strip() else test.whole.start
    colon = source.text.find(":", test.whole.end)
    return Span(source, start, colon + 1 if colon >= 0 else test.whole.end)


def _first_line(span: Span) -> tuple[int, int]:
    """A statement's header line."""
    start = span.whole.start
    end = span.source.text.find("\n", start)
    return start, min(span.end, end if end >= 0 else span.end)
