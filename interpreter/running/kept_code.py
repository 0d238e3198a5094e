"""What archives' functions have become when they first ran, kept on disk.

A file holds what a call has to know of a code, its plans for the first calls, and the graph that
all of it was made of, which is read when somebody asks for it.  Reading one takes a twentieth of
the time of making it.  It goes by all that the archive's code files hold, by the files of this
library, as they are told apart by time and size, and by what Python and the environment say.  What
cannot be read, or holds what is not there, is made again.
"""

from __future__ import annotations

import hashlib
import marshal
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib.util import MAGIC_NUMBER
from pathlib import Path
from types import CodeType
from typing import Final, NamedTuple

from ...frontend.diagnostics.paths import PACKAGE
from ...frontend.foundations.garbage import uncollected
from ...ir.graphs.graph import Graph
from ...ir.text.pack import Data, NotPacked, Packing, Unpacking, packed, unpacked
from ...ops.kernels.cache_folder import CACHE_VARIABLE, cache_folder, made_folder
from ...ops.kernels.kept_files import keep, read_kept
from ...ops.kernels.source_stamps import digest_of_times
from ...ops.table.table import TABLE, Operator
from ...typecheck.definitions.functions import Function, Program
from ...typecheck.definitions.schema import Signature
from ...typecheck.types.types import Type
from ..native.native import is_native_possible
from ..plans.plan import PlanText
from .traits import Traits
from .writes import Written

__all__ = ["FAULTS", "CodeFacts", "KeptCode", "keep_code", "kept_code", "told_code"]

_ROOMS: Final = ("frontend", "typecheck", "ops", "ir", "interpreter", "serialization")

_OF_KERNELS: Final = PACKAGE / "ops" / "kernels" / "code"
"""What writes the text of kernels, a fifth of all files, of which neither graphs nor plans know."""

FAULTS: Final = (
    *(LookupError, TypeError, ValueError, AttributeError, NameError),
    *(RecursionError, EOFError),
)
"""What is raised where something was not written by this library."""


class CodeFacts(NamedTuple):
    """What calls have to know of a code.

    `constants`, `operators`, `types` and `names` are its tables.  Its native code goes by its
    `looks`, which are empty where there will be none, for a reason, the `refusal`.
    """

    arguments: Sequence[Type]
    traits: Traits
    writes: tuple[Written, ...]
    looks: str
    refusal: str
    constants: Sequence[object]
    operators: Sequence[Operator]
    types: Sequence[Type]
    names: Sequence[str]


@dataclass(eq=False)
class KeptCode:
    """What is kept of a function's code.  There are no `facts` of a code that holds what has no
    name; `plans` are by whether they record, and empty where there is none to keep."""

    function: Function
    signature: Signature
    facts: CodeFacts | None
    packed_graph: bytes
    plans: dict[bool, bytes] = field(default_factory=dict)

    @property
    def program(self) -> Program:
        """What its names stand for."""
        assert self.function.program is not None
        return self.function.program

    def graph(self) -> Graph:
        """The graph that the code is made of; raises one of `FAULTS`."""
        return unpacked(marshal.loads(self.packed_graph), self.program)

    def plan(self, records: bool) -> PlanText | None:
        """The plan for the first calls, if there is one; raises one of `FAULTS`."""
        told = self.plans.get(records)
        found = PlanText(*marshal.loads(told)) if told else None
        if found is not None and not isinstance(found.compiled, CodeType):
            raise TypeError("no code")
        return found

    def put_plan(self, records: bool, plan: PlanText | None) -> None:
        """Keep a plan beside the others, or that there is none."""
        self.plans[records] = b"" if plan is None else marshal.dumps(tuple(plan))


@uncollected
def kept_code(function: Function) -> KeptCode | None:
    """What is kept of a function; None if nothing is, or if it has been compiled here already."""
    if function.program is None or function.define is None or function.guard is not None:
        return None
    found = read_kept(_file(function))
    if found is None:
        return None
    try:
        about, plans, graph = marshal.loads(found)
        signature, facts, tables = about
        unpacking = Unpacking(tables, function.program)
        read = None if facts is None else _read_facts(facts, unpacking)
        kept = KeptCode(function, unpacking.signature(signature), read, graph, dict(plans))
        if read is None:
            kept.graph()
    except FAULTS:
        return None
    return kept


def told_code(function: Function, graph: Graph) -> KeptCode | None:
    """What can be kept of a function whose graph is ready to run, before the code is known; None
    where nothing can."""
    program = function.program
    if program is None or graph.guard is not None or _file(function) is None:
        return None
    with suppress(NotPacked, RecursionError, ValueError):
        told = marshal.dumps(packed(graph, program))
        return KeptCode(function, function.signature, None, told)
    return None


def keep_code(kept: KeptCode) -> None:
    """Write the file of a function, whole."""
    packing = Packing(kept.program)
    facts: Data | None = None
    try:
        signature = packing.signature(kept.signature)
    except NotPacked:
        return
    with suppress(NotPacked):
        facts = None if kept.facts is None else _told_facts(kept.facts, packing)
    if facts is None:
        kept.facts = None
        kept.plans.clear()
    about = [signature, facts, packing.tables]
    with suppress(ValueError):  # constants lie too deep in each other
        keep(_file(kept.function), marshal.dumps([about, kept.plans, kept.packed_graph]))


def _told_facts(facts: CodeFacts, packing: Packing) -> Data:
    for entry in facts.operators:
        if TABLE.operator(entry.full_name) is not entry or entry.unwatched is not None:
            raise NotPacked(f"the operator {entry.full_name}")
    if any(each.conditions for each in facts.writes):
        raise NotPacked("a condition")
    arguments, types = (
        [packing.type(each) for each in types] for types in (facts.arguments, facts.types)
    )
    writes = [[each.argument, [list(step) for step in each.steps]] for each in facts.writes]
    operators = [entry.full_name for entry in facts.operators]
    constants = list(map(packing.value, facts.constants))
    traits = facts.traits  # which methods there are to call shows when they are there
    traits = traits._replace(calls=None if traits.calls else traits.calls)
    told = [arguments, list(traits), writes, facts.looks, facts.refusal]
    return [*told, constants, operators, types, list(facts.names)]


def _read_facts(told: Data, packed: Unpacking) -> CodeFacts:
    """What `_told_facts` told; raises one of `FAULTS`."""
    arguments, traits, writes, looks, refusal, constants, operators, types, names = told
    found = [entry for entry in map(TABLE.operator, operators) if entry is not None]
    if len(found) < len(operators):
        raise LookupError(operators)
    return CodeFacts(
        [packed.types[each] for each in arguments],
        Traits(*traits),
        tuple([Written.of(*each) for each in writes]),
        looks,
        refusal,
        list(map(packed.value, constants)),
        found,
        [packed.types[each] for each in types],
        names,
    )


def _file(function: Function) -> Path | None:
    assert function.program is not None
    folder = _folder()
    if folder is None or not function.program.digest:
        return None
    words = "\0".join((_stamp(), function.program.digest, function.qualified_name))
    return folder / f"{hashlib.sha256(words.encode()).hexdigest()[:32]}.code"


@cache
def _folder() -> Path | None:
    folder = cache_folder()
    return None if folder is None else made_folder(folder / "graphs")


@cache
def _stamp() -> str:
    """What all code depends on beside the program."""
    said = [f"{name}={value}" for name, value in os.environ.items() if _matters(name)]
    python = sys.implementation.cache_tag or "", MAGIC_NUMBER.hex()
    files = digest_of_times((PACKAGE / room for room in _ROOMS), without=_OF_KERNELS)
    return "\0".join((files, *python, str(is_native_possible()), *sorted(said)))


def _matters(name: str) -> bool:
    """Whether an environment variable may change how code is run."""
    return name.startswith("RUSHLIGHT_") and name != CACHE_VARIABLE
