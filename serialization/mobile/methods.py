"""The methods of a mobile archive: graphs of its byte code, made when the first one is needed.

All are made together, since what one puts into an attribute another one reads.  Those that restore
objects are needed before there are any, and made alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from ...frontend.foundations.locks import DEFINING
from ...frontend.sources.source import UNKNOWN as NOWHERE
from ...frontend.syntax.deep_stack import deeply
from ...interpreter.bounds.guard import Guard
from ...interpreter.running.evaluating import CONTEXT
from ...ir.graphs.graph import Graph, Node
from ...ir.passes.canonical_loops import canonicalize_loops
from ...ir.passes.dead_code import eliminate_dead_code
from ...typecheck.definitions.class_types import ClassType
from ...typecheck.definitions.functions import Function
from ...typecheck.definitions.schema import Argument, Signature
from ...typecheck.types.types import ANY, Type
from ..files.errors import ArchiveError, archive_error
from .code import MobileCode, check_code
from .complete import Incomplete, complete
from .decode import Undecodable, decode
from .inference import Inference, graph_in, method_of

__all__ = ["Methods", "instruction_of"]


def instruction_of(nodes: Sequence[Node]) -> tuple[str, int] | None:
    """The function and the instruction that nodes, the outermost first, lead to."""
    for node in reversed(nodes):
        for span in (node.span, *(site.span for site in reversed(node.call_stack))):
            if span is not NOWHERE and span.source.function is not None:
                return span.source.function, span.line
    return None


class Methods:
    """The methods of an archive's classes; `classes` are those that objects have: nobody can call
    methods of others."""

    def __init__(self, title: str, part: str, guard: Guard | None) -> None:
        self._title = title
        self._part = part
        self._guard = guard
        self._codes: dict[Function, MobileCode] = {}
        self._results: dict[Function, Type] = {}
        self._counts: dict[str, set[int]] = {}
        self.classes: frozenset[ClassType] = frozenset()

    def _damaged(self, what: str) -> ArchiveError:
        message = f"{self._title} is damaged: in {self._part}, {what}"
        return archive_error("damaged-archive", message)

    def add(self, code: MobileCode, cls: Type | None) -> None:
        """Make a code a method of its class.

        Raises:
            ArchiveError: an operand lies outside of its table, or there is no such class.
        """
        wrong = check_code(code)
        if wrong:
            raise self._damaged(f"`{code.name}` {wrong}")
        if not isinstance(cls, ClassType) or not code.argument_count:
            raise self._damaged(f"`{code.name}` is no method of a class")
        name = code.name.rpartition(".")[2]
        arguments = code.arguments or [Argument(f"_{i}", ANY) for i in range(code.argument_count)]
        arguments = (replace(arguments[0], type=cls), *arguments[1:])
        results = (Argument("", code.result or ANY),)
        function = Function(
            code.name,
            define=self._define,
            declared=Signature(name, "", arguments, results),
            owner=cls,
            guard=self._guard,
        )
        if name in cls.methods:
            del self._codes[cls.methods[name]]
        cls.methods[name] = function
        self._codes[function] = code
        self._counts.setdefault(name, set()).add(len(arguments))
        if code.result is not None and not code.result.is_class:
            self._results[function] = code.result

    def define_restoring(self, function: Function) -> None:
        """Make a method that restores objects; its class has the attributes that it sets.

        Raises:
            ArchiveError: its code has no structure.
        """
        function.define = None
        self._make([function], restoring=True)

    def define_all(self) -> None:
        """Make the other methods.

        Raises:
            ArchiveError: a code has no structure.
        """
        with DEFINING:
            self._make([f for f in self._codes if not isinstance(f.graph, Graph)])

    def _define(self, function: Function) -> None:
        """Make a function that is needed now, and all others with it."""
        self.define_all()

    def _make(self, functions: Sequence[Function], restoring: bool = False) -> None:
        try:
            for function in functions:
                function.graph = self._graph(function)
                if restoring:
                    self._add_attributes(function)
            called = [f for f in functions if restoring or f.owner in self.classes]
            results = dict(self._results)
            infer = Inference(called, results, finds_attributes=not restoring).run
            deeply(infer)
            for function in called:
                self._complete(function, results)
            self._check_calls(called)
        except BaseException:
            for function in functions:  # as if it had not begun
                function.graph = None
            raise
        self._results = results
        for function in functions:
            function.define = None

    def _graph(self, function: Function) -> Graph:
        code, signature = self._codes[function], function.declared
        assert signature is not None
        try:
            graph = decode(code, code.argument_count)
        except Undecodable as error:
            raise self._wrong(code, error.place, str(error)) from None
        for value, argument in zip(graph.inputs, signature.arguments, strict=True):
            value.type = argument.type
            value.name = argument.name if argument.name.isidentifier() else None
        graph.guard = self._guard
        return graph

    def _complete(self, function: Function, results: dict[Function, Type]) -> None:
        try:
            complete(function, results, self._counts)
        except Incomplete as error:
            _, place = instruction_of([error.node]) or ("", 0)
            raise self._wrong(self._codes[function], place, str(error)) from None
        graph = graph_in(function)
        deeply(partial(canonicalize_loops, graph, CONTEXT))
        deeply(partial(eliminate_dead_code, graph))

    def _wrong(self, code: MobileCode, place: int, why: str) -> ArchiveError:
        """The error of one instruction."""
        name, x, n = code.instructions[place]
        where = f"instruction {place} (`{name} {x} {n}`)"
        return self._damaged(f"{where} of `{code.name}` has no meaning: {why}")

    def _check_calls(self, functions: Sequence[Function]) -> None:
        """Refuse methods that call themselves: calls of known methods are inlined."""
        waiting = {f: _callees(f).intersection(functions) for f in functions}
        ready = [f for f, callees in waiting.items() if not callees]
        callers: dict[Function, list[Function]] = {}
        for function, callees in waiting.items():
            for callee in callees:
                callers.setdefault(callee, []).append(function)
        while ready:
            done = ready.pop()
            for caller in callers.get(done, ()):
                waiting[caller].discard(done)
                if not waiting[caller]:
                    ready.append(caller)
        for function, callees in waiting.items():
            if callees:
                raise self._damaged(f"`{function.qualified_name}` calls itself")

    def _add_attributes(self, restore: Function) -> None:
        """Give a class that restores its objects itself the attributes that it sets, by number."""
        cls, graph = restore.owner, graph_in(restore)
        assert isinstance(cls, ClassType)
        slots = [
            slot
            for node in graph.all_nodes
            if node.kind == "prim::SetAttr" and node.inputs[0] is graph.inputs[0]
            for slot in [node.attributes["name"]]
            if isinstance(slot, int)
        ]
        last = max(slots, default=-1)
        if last > 2 * len(slots) + 64:  # all that cannot be None is set
            raise self._damaged(f"`{restore.qualified_name}` sets attribute {last}")
        for number in range(last + 1):
            cls.add_attribute(str(number), ANY)


def _callees(function: Function) -> set[Function]:
    calls = (n for n in graph_in(function).all_nodes if n.kind == "prim::CallMethod")
    return {callee for callee in map(method_of, calls) if callee is not None}
