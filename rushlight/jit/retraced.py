"""Traces that grow: inputs that decide otherwise are traced when they are met."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from ..frontend.diagnostics.exceptions import trim_traceback
from ..frontend.foundations.locks import DEFINING
from ..interpreter.running.evaluating import CONTEXT
from ..interpreter.values.objects import ScriptObject
from ..ir.aliases.alias_analysis import written_values
from ..ir.functions.inline import inline
from ..ir.graphs.graph import Graph
from ..ir.graphs.kinds import is_random
from ..ir.tracing.trace_guards import MARK
from ..ir.tracing.trace_merge import guard_texts, merge_traces
from ..ops.memory.dtype import Array
from ..ops.random_numbers.random import default_generator
from ..ops.tensors.tensor import Tensor
from ..ops.tensors.tracing import ACTIVE
from ..typecheck.definitions.functions import Function
from .function import ScriptFunction, ScriptMethod
from .traced_modules import TopLevelTracedModule

__all__ = ["Branches", "RetracedFunction", "RetracedModule"]

_MOST: Final = 64
"""Traces of one function: branches lie within each other, and archives keep 97 of them."""


@dataclass(eq=False)
class Branches:
    """The traces of one function.

    `trace` makes a guarded graph of examples, `define` a function of the merged graph; `examples`
    are the first ones, a tuple or a dict, and `state` gives the tensors of the module.
    """

    trace: Callable[[object], Graph]
    define: Callable[[Graph], Function]
    examples: object
    state: Callable[[], Mapping[str, object]] = dict
    function: Function = field(init=False)
    _graphs: list[Graph] = field(default_factory=list)
    _texts: frozenset[str] = frozenset()
    _writes: bool = False
    _draws: bool = False

    def __post_init__(self) -> None:
        self._add(self.examples)

    def _add(self, examples: object) -> None:
        graphs = [*self._graphs, self.trace(examples)]
        merged = merge_traces(graphs)
        self.function = self.define(merged)
        self._graphs = graphs
        self._texts = guard_texts(merged)
        nodes = list(inline(merged, self.function.name, CONTEXT).all_nodes)
        self._writes = any(map(written_values, nodes))
        self._draws = any(map(is_random, nodes))

    def run(
        self,
        call: Callable[[], object],
        args: Sequence[object],
        kwargs: Mapping[str, object],
    ) -> object:
        """What `call` gives, once inputs that decide otherwise have been traced as well.

        Raises:
            RuntimeError: there are too many branches, or decisions do not depend on inputs alone.
        """
        known = len(self._graphs)
        undo = self._kept(args, kwargs)
        text = ""
        while True:
            try:
                return call()
            except Exception as error:
                found = next((t for t in self._texts if t in str(error)), None)
                if found is None:
                    raise
                undo()
                if found == text:
                    raise RuntimeError(
                        f"{MARK}the decision differs between two runs on the same input, so it "
                        f"depends on something else as well: {text.removeprefix(MARK)}"
                    ) from None
                text = found
            with DEFINING:
                if len(self._graphs) == known:  # another thread may have met such inputs as well
                    self._retrace(args, kwargs)
                known = len(self._graphs)

    def _retrace(self, args: Sequence[object], kwargs: Mapping[str, object]) -> None:
        if len(self._graphs) >= _MOST:
            raise RuntimeError(
                f"{MARK}this function has been traced {_MOST} times with different decisions; "
                "script it, or give `guards=True`, which raises instead"
            )
        undo = self._kept(args, kwargs, whatever=True)
        try:
            self._add(self._examples(args, kwargs))
        finally:
            undo()

    def _examples(self, args: Sequence[object], kwargs: Mapping[str, object]) -> object:
        if isinstance(self.examples, dict):
            return dict(zip(self.examples, args, strict=False)) | dict(kwargs)
        names = [a.name for a in self.function.signature.arguments if a.name != "self"]
        return (*args, *(kwargs[name] for name in names[len(args) :] if name in kwargs))

    def _kept(
        self, args: Sequence[object], kwargs: Mapping[str, object], whatever: bool = False
    ) -> Callable[[], None]:
        """Gives what undoes the writes of a run that a guard ends, and the numbers it draws."""
        arrays: list[tuple[Array, Array]] = []
        if whatever or self._writes:
            tensors = _tensors([args, dict(kwargs), dict(self.state())])
            arrays = [(each._array, np.array(each._array, copy=True)) for each in tensors]
        drawn = default_generator.place() if whatever or self._draws else None

        def undo() -> None:
            for array, before in arrays:
                if array.flags.writeable:
                    array[...] = before
            if drawn is not None:
                default_generator.return_to(drawn)

        return undo


def _tensors(value: object) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _tensors(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _tensors(each)


def _run(
    traced: RetracedFunction | _RetracedMethod,
    usual: Callable[..., object],
    args: tuple[object, ...],
    kwargs: dict[str, object],
) -> object:
    """What a call gives, by the `usual` way once all that it meets is traced."""
    branches = traced._branches
    if ACTIVE:
        return usual(*args, **kwargs)

    def call() -> object:
        traced._follow(branches.function)
        return usual(*args, **kwargs)

    try:
        return branches.run(call, args, kwargs)
    except BaseException as error:
        trim_traceback(error)
        raise


class RetracedFunction(ScriptFunction):
    """A traced function that traces again what decides otherwise."""

    def __init__(self, branches: Branches) -> None:
        super().__init__(branches.function)
        self._branches = branches

    def __call__(self, *args: object, **kwargs: object) -> Any:
        """Run it, tracing first what no trace has decided yet."""
        return _run(self, super().__call__, args, kwargs)


class _RetracedMethod(ScriptMethod):
    def __init__(self, owner: ScriptObject, branches: Branches) -> None:
        super().__init__(owner, branches.function)
        self._branches = branches

    def __call__(self, *args: object, **kwargs: object) -> Any:
        """Run it, tracing first what no trace has decided yet."""
        return _run(self, super().__call__, args, kwargs)


class RetracedModule(TopLevelTracedModule):
    """A traced module whose methods trace again what decides otherwise."""

    _compiled = True

    def branch(self, name: str, branches: Branches) -> None:
        """Let a method grow."""
        self.__dict__.setdefault("_branches", {})[name] = branches

    def _script_method(self, name: str) -> ScriptMethod:
        branches = self.__dict__.get("_branches", {}).get(name)
        if branches is None:
            return super()._script_method(name)
        return _RetracedMethod(self._c, branches)
