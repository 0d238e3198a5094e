"""The node kinds of the `prim::` namespace that are not operators.

An operator's node has a signature, and the signature says everything.  The kinds below have none:
control flow, construction, attributes, calls.  Verifier, printer, parser and dead-code elimination
read this table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ...ops.table.table import TABLE, Operator
from .graph import Node

__all__ = [
    *("ANY", "GROUPS", "KINDS", "TASKS", "Kind", "asks_for_form", "entry_of", "has_effects"),
    *("is_random", "is_undefined"),
]

ANY = -1
"""Any number of inputs, outputs or blocks."""

Form = Literal["str", "value", "types", "graph"]
Effect = Literal["none", "fresh", "read", "write", "effect"]


@dataclass(frozen=True, slots=True)
class Kind:
    """What a node of this kind looks like and does.

    `attributes` must be present, `optional` ones may be.  `effect` is `none` for a pure function,
    `fresh` if the result is a new mutable object, `read` if it looks into an object, `write` if it
    changes its first input, `effect` if it must be kept whatever becomes of its results.
    """

    name: str
    inputs: int
    outputs: int
    meaning: str
    blocks: int = 0
    attributes: tuple[tuple[str, Form], ...] = ()
    optional: tuple[tuple[str, Form], ...] = ()
    effect: Effect = "none"
    foldable: bool = False


GROUPS = ("prim::DifferentiableGraph",)
"""The kinds of nodes that passes put in the place of others, and that are opened to be run."""

TASKS = ("prim::fork", "prim::awaitable")
"""The kinds that hold code of their own: begun at once, or run when somebody waits for it."""

_NAME: tuple[tuple[str, Form], ...] = (("name", "str"),)

_KINDS = (
    Kind(
        "prim::Constant",
        0,
        1,
        "a literal; None has no value",
        optional=(("value", "value"), ("name", "str")),
    ),
    Kind("prim::Uninitialized", 0, 1, "a value that is never looked at"),
    # control flow
    Kind("prim::If", 1, ANY, "the outputs of the first block if the input is true", blocks=2),
    Kind("prim::Loop", ANY, ANY, "(max trips, condition, carried...) -> carried...", blocks=1),
    Kind("prim::RaiseException", 2, 0, "raise with a message and a class name", effect="effect"),
    Kind("prim::Enter", 1, 1, "`__enter__` of a context", effect="effect"),
    Kind("prim::Exit", 1, 1, "`__exit__` of a context", effect="effect"),
    *(
        Kind(name, ANY, 1, "a task", attributes=(("Subgraph", "graph"),), effect="effect")
        for name in TASKS
    ),
    *(
        Kind(name, ANY, ANY, "a part", attributes=(("Subgraph", "graph"),), effect="effect")
        for name in GROUPS
    ),
    # construction
    Kind("prim::TupleConstruct", ANY, 1, "a tuple of the inputs", foldable=True),
    Kind("prim::TupleUnpack", 1, ANY, "the elements of a tuple", foldable=True),
    Kind("prim::TupleIndex", 2, 1, "one element of a tuple", foldable=True),
    Kind("prim::ListConstruct", ANY, 1, "a new list of the inputs", effect="fresh"),
    Kind("prim::ListUnpack", 1, ANY, "the elements of a list of that length", effect="read"),
    Kind("prim::DictConstruct", ANY, 1, "a new dict: key, value, key, value...", effect="fresh"),
    # types
    Kind("prim::unchecked_cast", 1, 1, "the input, known to be of a narrower type", foldable=True),
    Kind(
        "prim::isinstance",
        1,
        1,
        "a type test at run time",
        attributes=(("types", "types"),),
        foldable=True,
    ),
    # objects and calls
    Kind("prim::CreateObject", 0, 1, "a new object with empty slots", effect="fresh"),
    Kind("prim::GetAttr", 1, 1, "a slot of an object", attributes=_NAME, effect="read"),
    Kind("prim::SetAttr", 2, 0, "set a slot of an object", attributes=_NAME, effect="write"),
    Kind(
        "prim::PythonOp",
        ANY,
        1,
        "call a function that is left to Python",
        attributes=(("function", "value"),),
        optional=(("inplace", "value"), ("module", "str"), ("Subgraph", "graph")),
        effect="effect",
    ),
    Kind("prim::CallFunction", ANY, 1, "call the function given first", effect="effect"),
    Kind(
        "prim::CallMethod",
        ANY,
        1,
        "call a method of the first input",
        attributes=_NAME,
        effect="effect",
    ),
    # what exists only while a graph is being made
    Kind("prim::Load", 0, 1, "read a variable", attributes=_NAME),
    Kind(
        "prim::EmptyListLiteral",
        0,
        1,
        "a `[]` of which nothing says what it holds",
        effect="fresh",
    ),
    Kind("prim::Dropped", 0, ANY, "values that nothing uses but numbers"),
    Kind("prim::Store", 1, 0, "write a variable", attributes=_NAME),
    Kind("prim::ReturnStmt", 1, 0, "return", effect="effect"),
    Kind("prim::BreakStmt", 0, 0, "leave the loop", effect="effect"),
    Kind("prim::ContinueStmt", 0, 0, "end this round of the loop", effect="effect"),
    Kind(
        "prim::LoopContinuation",
        ANY,
        0,
        "end this round: (go on, carried...)",
        effect="effect",
    ),
    Kind("prim::Line", 0, 0, "a statement begins", effect="effect"),
    Kind("prim::Scope", 0, 0, "variables that do not leak out", blocks=1),
    Kind("prim::With", 1, ANY, "what runs in a context", blocks=2),
)

KINDS: dict[str, Kind] = {kind.name: kind for kind in _KINDS}


def asks_for_form(node: Node) -> bool:
    """Whether it asks what kind of tensor it is given, not what that holds."""
    return node.kind in TABLE.names_with("of_form")


def entry_of(node: Node) -> Operator | None:
    """The record of the operator that it calls, if it calls one."""
    return None if node.signature is None else TABLE.operator(node.signature.full_name)


def is_undefined(node: Node) -> bool:
    """Whether what its result holds is left open."""
    return node.kind in TABLE.names_with("undefined")


def is_random(node: Node) -> bool:
    """Whether it draws random numbers: never computed at definition, though removed if unused."""
    return node.kind in TABLE.names_with("random")


def has_effects(node: Node) -> bool:
    """Whether a node must stay whatever becomes of its results, changes of its inputs aside.

    An operator whose signature is not known may do anything.
    """
    kind = KINDS.get(node.kind)
    if kind is not None:
        return kind.effect == "effect"
    return node.kind in TABLE.names_with("effects") or node.signature is None
