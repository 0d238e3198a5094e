"""Functions as the stages hand them on: a name first, then a signature, a typed tree, a graph."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

from ...frontend.foundations.locks import DEFINING, after_fork
from ...frontend.sources.source import Source
from ...frontend.syntax import tree
from ..types.types import NamedType, Type
from .schema import Argument, Signature
from .turns import define_in_turn

__all__ = ["Bounding", "Function", "Program", "PythonFunction", "RecursiveDefinition"]

_IN_PROGRESS: Final[list[tuple[Function, Function]]] = []
"""The functions whose `define` runs, outermost first, and copies of how they were before."""


_Tree = tree.Function


class RecursiveDefinition(Exception):
    """A function's signature was asked for while its body was being checked."""


@dataclass(eq=False)
class PythonFunction:
    """A function that stays Python's: compiled code calls `run` with Python's values.

    One that is not `is_typed` says nothing of its types: it gives a tensor, or as many as are
    unpacked.  `scalars` are arguments that are always the same, `object` is what a user knows it as
    if that is not `run`.
    """

    name: str
    run: Callable[..., object]
    signature: Signature
    is_typed: bool = True
    scalars: tuple[object, ...] = ()
    object: object = None

    @property
    def qualified_name(self) -> str:
        """The name; Python functions have no other."""
        return self.name

    def giving(self, type: Type) -> PythonFunction:
        """The same with another type of result."""
        returns = (Argument("", type),)
        return replace(self, signature=replace(self.signature, returns=returns))


class Bounding(Protocol):
    """Bounds on what code that is not trusted may use up: the interpreter's `Guard`."""

    def entered(self) -> AbstractContextManager[None]:
        """What is done inside is bounded."""


class Program(Protocol):
    """What a function was read with, and what the names in it stand for."""

    digest: str
    """Of all that its functions are made of; empty if that is not known."""

    def type_named(self, qualified: str) -> Type | None:
        """The type that is declared by that name."""

    def function_named(self, qualified: str) -> Function | None:
        """The free function of that name."""

    def source_named(self, filename: str) -> Source | None:
        """The text of a file."""


@dataclass(eq=False)
class Function:
    """A function or method.

    `define` is called once, when the signature is first needed, and fills in `declared` (early, if
    the signature does not depend on the body), `typed` and `graph`.  `owner` is a method's class,
    `python` the live function it was made from; `is_text` says that it was read from an archive,
    `program` is that archive's code.
    Calls of a function that `is_inlined` leave no trace of it in the caller's graph.
    `typed` is a `TypedFunction` and `graph` an `ir.Graph`, which lie above functions.
    `tiers` is what the interpreter keeps to run the function; `guard` bounds what compiling
    and running it may use up, if it is not trusted.
    """

    qualified_name: str
    tree: tree.Function | None = None
    define: Callable[[Function], None] | None = None
    declared: Signature | None = None
    typed: object | None = None
    graph: object | None = None
    owner: NamedType | None = None
    python: object | None = None
    is_text: bool = False
    is_inlined: bool = False
    tiers: object | None = field(default=None, repr=False)
    guard: Bounding | None = field(default=None, repr=False)
    program: Program | None = field(default=None, repr=False)
    _defining: bool = field(default=False, repr=False)

    @property
    def name(self) -> str:
        """The unqualified name."""
        return self.qualified_name.rpartition(".")[2]

    @property
    def is_being_defined(self) -> bool:
        """Whether its body is being checked right now, so that a call of it is a recursion."""
        return self._defining

    @property
    def written(self) -> _Tree | None:
        """Its tree, for messages: it may have been run without."""
        if not self._defining:
            self.ensure_defined()
        return self.tree

    def ensure_defined(self) -> None:
        """Run `define` if it has not run; if another thread runs it, wait.

        A definition that ends in an exception is as if it had not begun.

        Raises:
            RecursiveDefinition: it is running now, in this thread.
        """
        if self.define is None and not self._defining:  # in this order: see `_define`
            return
        with DEFINING:
            if self._defining:
                raise RecursiveDefinition(self.qualified_name)
            if self.define is not None:
                define_in_turn(self, self._define)

    def _define(self) -> None:
        before, depth = replace(self), len(_IN_PROGRESS)
        define = self.define
        assert define is not None
        try:
            _IN_PROGRESS.append((self, before))
            self.define = None  # `_defining` is set, so that others do not believe it done
            with nullcontext() if self.guard is None else self.guard.entered():
                define(self)
        except BaseException:  # assignments alone: an interrupt may not come between them
            self.declared, self.define = before.declared, define
            self.typed = self.graph = None
            raise
        finally:
            del _IN_PROGRESS[depth:]

    @property
    def signature(self) -> Signature:
        """The signature, checking the body first if that has not happened.

        Raises:
            RecursiveDefinition: the function calls itself.
        """
        if self.declared is None or self.define is not None:
            self.ensure_defined()
        if self.declared is None:
            raise RecursiveDefinition(self.qualified_name)
        return self.declared


def _forget() -> None:
    """In a forked child: what a thread that is gone was defining has not begun."""
    if not DEFINING._is_owned():
        for function, before in _IN_PROGRESS:
            function.declared, function.define = before.declared, before.define
            function.typed = function.graph = None
            function._defining = False
        _IN_PROGRESS.clear()


after_fork(_forget)
