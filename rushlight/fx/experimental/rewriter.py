"""`torch.fx.experimental.rewriter`: tracing of code with `assert`, which becomes a node."""

from __future__ import annotations

import ast
import copy
import inspect
from collections.abc import Callable
from textwrap import dedent
from types import CellType, CodeType, FunctionType
from typing import Any, Final, cast

from ...jit.special_names import _assert
from ...module_names import names_of
from ...nn.modules.module import Module
from .._symbolic_trace import Tracer
from ..annotate import annotate
from ..graph import Graph

__all__ = ["AST_Rewriter", "RewritingTracer"]

_ASSERT: Final = "_rewritten_assert"
_ANNOTATE: Final = "_rewritten_annotate"
_CALLED: Final = {_ASSERT: _assert, _ANNOTATE: annotate}
"""What rewritten code calls, by names that nobody else takes."""


class AST_Rewriter(ast.NodeTransformer):
    """Makes calls of `torch._assert` of the `assert` in a function, and of `torch.fx.annotate` of
    annotations of variables."""

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        """The call in the place of one `assert`."""
        message = node.msg or ast.Constant("")
        call = ast.Call(ast.Name(_ASSERT, ast.Load()), [node.test, message], [])
        return ast.copy_location(ast.Expr(call), node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """A call that notes the type of a variable, in the place of its annotation."""
        if node.value is None or not isinstance(node.target, ast.Name):
            return node
        call = ast.Call(ast.Name(_ANNOTATE, ast.Load()), [node.value, node.annotation], [])
        return ast.copy_location(ast.Assign([node.target], call), node)

    def rewrite(self, fn: FunctionType) -> FunctionType:
        """The function with these calls; one without a `def` of its own is given back.

        Raises:
            OSError: its source cannot be found.
        """
        lines, first = inspect.getsourcelines(fn)
        tree = ast.parse(dedent("".join(lines)))
        (define,) = tree.body
        if not isinstance(define, ast.FunctionDef):
            return fn
        define.decorator_list, define.returns = [], None
        define.args.defaults = []
        define.args.kw_defaults = [None] * len(define.args.kwonlyargs)
        for each in ast.walk(define.args):
            if isinstance(each, ast.arg):
                each.annotation = None
        made = _within(self.visit(define), [*fn.__code__.co_freevars, *_CALLED])
        ast.increment_lineno(made, first - 1)
        outer = compile(ast.fix_missing_locations(made), fn.__code__.co_filename, "exec")
        return _with_code_of(fn, _inner_code(_inner_code(outer)))


def _within(define: ast.AST, names: list[str]) -> ast.Module:
    """A module with a function that has these names as parameters, and the definition in it."""
    outer = ast.parse(f"def outer({', '.join(names)}): pass")
    cast(ast.FunctionDef, outer.body[0]).body = [cast(ast.stmt, define)]
    return outer


def _inner_code(code: CodeType) -> CodeType:
    return next(each for each in code.co_consts if isinstance(each, CodeType))


def _with_code_of(fn: FunctionType, code: CodeType) -> FunctionType:
    """The function with other code, which may call `_assert`."""
    cells = dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))
    cells |= {name: CellType(called) for name, called in _CALLED.items()}
    closure = tuple(cells[name] for name in code.co_freevars)
    made = FunctionType(code, fn.__globals__, fn.__name__, fn.__defaults__, closure)
    made.__kwdefaults__, made.__annotations__ = fn.__kwdefaults__, fn.__annotations__
    return made


class RewritingTracer(Tracer):
    """A tracer that keeps `assert`, as calls of `torch._assert`."""

    def trace(
        self,
        root: Module | Callable[..., object],
        concrete_args: dict[str, object] | None = None,
    ) -> Graph:
        """The graph of a module's `forward`, or of a function."""
        return super().trace(self._rewritten(root, ""), concrete_args)

    def _rewritten(self, root: object, path: str) -> Any:
        if isinstance(root, FunctionType):
            return AST_Rewriter().rewrite(root)
        if not isinstance(root, Module):
            return root
        cls = type(root)
        forward = AST_Rewriter().rewrite(cast(FunctionType, cls.forward))
        made: Module = object.__new__(type(cls.__name__, (cls,), {"forward": forward}))
        vars(made).update(copy.copy(vars(root)))
        below = {name: self._below(each, f"{path}{name}") for name, each in root._modules.items()}
        vars(made)["_modules"] = below
        return made

    def _below(self, module: Module | None, path: str) -> Module | None:
        if module is None or self.is_leaf_module(module, path):
            return module
        return cast(Module, self._rewritten(module, f"{path}."))


__getattr__ = names_of(__name__)
