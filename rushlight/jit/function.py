"""Scripted functions and methods as Python sees them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from pickle import PickleError
from typing import IO, TYPE_CHECKING, Any, Generic, NoReturn

from numpy import ndarray
from typing_extensions import ParamSpec, TypeVar

from .._C.handles import Graph
from .._C.schemas import FunctionSchema
from .._C.settings import shows_all_differentiated
from ..frontend.diagnostics.exceptions import trim_traceback
from ..interpreter.running.calling import call
from ..interpreter.running.disassemble import listing
from ..interpreter.running.evaluating import CONTEXT
from ..interpreter.running.quick import Quick
from ..interpreter.values.objects import ScriptObject
from ..ir.functions.define import graph_of
from ..ir.functions.inline import inline
from ..ir.graphs.graph import Graph as InnerGraph
from ..ir.passes.constant_pooling import pool_constants
from ..ir.passes.constant_propagation import propagate_constants, take_known_branches
from ..ir.passes.dead_code import eliminate_dead_code
from ..ir.passes.differentiable_groups import differentiate_in_groups
from ..ir.passes.peephole import peephole
from ..ops.eager.calls import any_requires_grad
from ..ops.table.grad_mode import is_grad_enabled
from ..ops.tensors.overriding import answer, askers, refusal
from ..ops.tensors.tensor import Tensor
from ..ops.tensors.tracing import ACTIVE
from ..typecheck.definitions.functions import Function
from .traced_calls import call_traced

if TYPE_CHECKING:
    from ..serialization.printing.printer import PrintedCode

__all__ = ["DebugState", "ScriptFunction", "ScriptHook", "ScriptMethod", "last_run"]

_last: list[Function] = []
"""What was last called from Python."""


def last_run() -> Graph:
    """The graph that ran last when Python called something compiled.

    Raises:
        RuntimeError: nothing has run.
    """
    if not _last:
        raise RuntimeError("No graph has been executed")
    return Graph(_optimized(_last[0]))


def _printed(function: Function) -> PrintedCode:
    """A function as archives hold it; what prints is loaded when somebody asks for that."""
    from ..serialization.printing.printer import print_function

    return print_function(function)


def _optimized(function: Function) -> InnerGraph:
    """A copy of a function's graph with its calls inlined and without what is known beforehand."""
    graph = inline(graph_of(function), function.name, CONTEXT)
    peephole(graph, CONTEXT)
    propagate_constants(graph, CONTEXT)
    take_known_branches(graph)
    pool_constants(graph, CONTEXT)
    eliminate_dead_code(graph)
    return graph


class DebugState:
    """What is kept to run a function: `graph`, and `execution_plans`, one for all arguments."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.execution_plans = {"": self}
        self.fallback = self


class _Compiled:
    """What functions and methods have in common: their texts."""

    _rushlight_function: Function
    _quick: Quick
    owner: ScriptObject | None = None

    def _follow(self, function: Function) -> None:
        """Be another function from now on."""
        if function is not self._rushlight_function:
            self._rushlight_function = function
            self._quick = Quick(function, self._slow_call, _last, self.owner)

    def _slow_call(self, *args: object, **kwargs: object) -> Any:
        """Run it as it is written down in `interpreter/running/calling.py`."""
        _last[:] = (self._rushlight_function,)
        run = call_traced if ACTIVE else call
        result = run(self._rushlight_function, args, kwargs, self.owner)
        self._quick.consider(len(args), tuple(kwargs))
        return result

    @property
    def name(self) -> str:
        """The unqualified name."""
        return self._rushlight_function.name

    @property
    def qualified_name(self) -> str:
        """`__torch__.module.name`."""
        return self._rushlight_function.qualified_name

    @property
    def schema(self) -> FunctionSchema:
        """The signature."""
        signature = self._rushlight_function.signature
        return FunctionSchema(replace(signature, name=self.name))

    @property
    def graph(self) -> Graph:
        """The graph as compiled, calls not inlined; who has it may change it."""
        if self._rushlight_function.program is not None:
            self._rushlight_function.program.digest = ""  # it is no more what it was read from
        return Graph(graph_of(self._rushlight_function))

    @property
    def inlined_graph(self) -> Graph:
        """A copy of the graph with all calls inlined."""
        return Graph(inline(self.graph._inner, self.name, CONTEXT))

    @property
    def code(self) -> str:
        """The graph as source text, as archives hold it."""
        return _printed(self._rushlight_function).text

    def graph_for(self, *args: object, **kwargs: object) -> Graph:
        """The graph that runs: all calls inlined, and what is known computed.

        Where arguments want gradients, what torch would differentiate together stands in nodes of
        its own; other arguments make no difference.
        """
        graph = Graph(_optimized(self._rushlight_function))
        if is_grad_enabled() and any_requires_grad((*args, *kwargs.values())):
            differentiate_in_groups(graph._inner, 1 if shows_all_differentiated() else 2)
        return graph

    def get_debug_state(self) -> DebugState:
        """What is kept to run it."""
        return DebugState(self.inlined_graph)

    def _debug_flush_compilation_cache(self) -> None:
        """Let the code that runs be made anew from the graph."""
        self._rushlight_function.tiers = None

    @property
    def code_with_constants(self) -> tuple[str, dict[str, object]]:
        """`code`, and the values it names `CONSTANTS.c0` and so on."""
        printed = _printed(self._rushlight_function)
        return printed.text, {f"c{i}": value for i, value in enumerate(printed.constants)}

    @property
    def instructions(self) -> str:
        """The register code, an instruction a line with its meaning."""
        return listing(self._rushlight_function)


class ConstMap:
    """Constants of a text, by the names it has for them: `constants.c0` for `CONSTANTS.c0`."""

    def __init__(self, const_mapping: dict[str, object]) -> None:
        self.const_mapping = {
            name: Tensor._of(value) if isinstance(value, ndarray) else value
            for name, value in const_mapping.items()
        }

    def __getattr__(self, attr: str) -> object:
        return self.__dict__["const_mapping"][attr]


Given = ParamSpec("Given", default=...)
Result = TypeVar("Result", default=Any)


class ScriptFunction(_Compiled, Generic[Given, Result]):
    """What `script` makes of a function: call it like the function."""

    def __init__(self, function: Function) -> None:
        self._rushlight_function = function
        self._quick = Quick(function, self._slow_call, _last, None)
        python = function.python
        self.__doc__ = getattr(python, "__doc__", None)
        self.__name__ = function.name
        self.__module__ = getattr(python, "__module__", __name__)
        self.__wrapped__ = python

    def __call__(self, *args: Given.args, **kwargs: Given.kwargs) -> Result:
        """Run it.

        Raises:
            RuntimeError: an argument has the wrong type, or an operator failed; the message is
                torch's and a note shows the place.
        """
        quick = self._quick
        run = quick.call
        try:
            if run is not None and len(args) == quick.count:
                if not kwargs and not quick.words:
                    return run(*args)  # type: ignore[no-any-return]
                if tuple(kwargs) == quick.words:
                    return run(*args, *kwargs.values())  # type: ignore[no-any-return]
            return self._slow_call(*args, **kwargs)  # type: ignore[no-any-return]
        except BaseException as error:
            trim_traceback(error)
            raise

    def save(
        self, f: str | Path | IO[bytes], _extra_files: Mapping[str, str | bytes] | None = None
    ) -> None:
        """Write an archive that `load` opens; see `ScriptModule.save`."""
        from ..serialization.saving.save import save_function

        save_function(self._rushlight_function, f, _extra_files)

    def save_to_buffer(self, _extra_files: Mapping[str, str | bytes] | None = None) -> bytes:
        """The bytes of the archive."""
        from ..serialization.saving.save import save_function_to_buffer

        return save_function_to_buffer(self._rushlight_function, _extra_files)

    def __reduce__(self) -> NoReturn:
        raise PickleError("ScriptFunction cannot be pickled")

    def __repr__(self) -> str:
        return f"<rushlight.jit.ScriptFunction {self.qualified_name}>"


class ScriptMethod(_Compiled):
    """A compiled method bound to its object."""

    owner: ScriptObject

    def __init__(self, owner: ScriptObject, function: Function) -> None:
        self._rushlight_function = function
        self.__doc__ = getattr(function.python, "__doc__", None)
        if hasattr(function.python, "__name__"):
            self.__name__ = function.python.__name__
        self.owner = owner
        self._quick = Quick(function, self._slow_call, _last, owner)

    def __call__(self, *args: object, **kwargs: object) -> Any:
        """Run it; raises as `ScriptFunction.__call__`."""
        quick = self._quick
        run = quick.call
        try:
            if run is not None and len(args) == quick.count:
                if not kwargs and not quick.words:
                    return run(*args)
                if tuple(kwargs) == quick.words:
                    return run(*args, *kwargs.values())
            return self._slow_call(*args, **kwargs)
        except BaseException as error:
            trim_traceback(error)
            raise

    def _slow_call(self, *args: object, **kwargs: object) -> Any:
        """Run it, or have it seen to by the class of an argument that sees to functions itself.

        Raises:
            TypeError: no such class knows it.
        """
        asked = askers(args, kwargs)
        if not asked:
            return super()._slow_call(*args, **kwargs)
        made = answer(self, asked, args, kwargs)
        if made is NotImplemented:
            raise TypeError(refusal(f".{self.name}", asked))
        return made

    @property
    def raw_owner(self) -> ScriptObject:
        """The object."""
        return self.owner

    def __repr__(self) -> str:
        return f"<rushlight.jit.ScriptMethod {self.qualified_name}>"


class ScriptHook(ScriptFunction):
    """A compiled hook of a module: `hook(module, inputs)` or `hook(module, inputs, output)`."""

    def __init__(self, function: Function) -> None:
        super().__init__(function)
        self.__name__ = function.name
