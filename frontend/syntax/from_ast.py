"""Definitions of Python's `ast` to the tree's: functions, classes, their members."""

from __future__ import annotations

import ast
import re

from ..diagnostics.diagnostics import Collector, Diagnostic, Edit, Help, Label
from ..sources.source import Source, Span
from . import tree
from .positions import Positions
from .python_ast import python_tree
from .statements import StatementConverter
from .torch_ranges import whole_end

__all__ = ["Converter", "converter_of", "function_place", "parse"]

VARIADIC = (
    "Compiled functions can't take variable number of arguments or use keyword-only arguments "
    "with defaults"
)


LABELS = 4
"""The places marked at most for one error."""


def parse(text: str) -> ast.Module:
    """Python's own tree of a text, without Python's warnings about it.

    Raises SyntaxError for what is not Python, however badly it is not (`ast` itself raises
    ValueError for null characters, MemoryError or RecursionError for too deep a nesting).
    """
    try:
        module: ast.Module = python_tree(text)
    except SyntaxError as error:
        raise _unreadable(text) or error from None
    except ValueError as error:
        raise _unreadable(text) or SyntaxError(str(error)) from None
    except (RecursionError, MemoryError):
        raise SyntaxError("the code is nested too deeply") from None
    return module


def _unreadable(text: str) -> SyntaxError | None:
    """What to say of the first character that stands in no text; None if there is none."""
    found = re.search("[\0\ud800-\udfff]", text)
    if found is None:
        return None
    kind = "a null character" if found[0] == "\0" else "a byte that is not UTF-8"
    line, start = text.count("\n", 0, found.start()) + 1, text.rfind("\n", 0, found.start())
    return SyntaxError(f"it has {kind}", ("", line, found.start() - start, None))


def function_place(name: str, class_name: str | None = None) -> str:
    """How a diagnostic says in which function it is."""
    return f"in method `{class_name}.{name}`" if class_name else f"in function `{name}`"


class Converter(StatementConverter):
    """Makes tree definitions of `ast` definitions."""

    def quiet(self) -> Converter:
        """A converter whose reports nobody reads: for what torch never looks at."""
        return Converter(self.positions, Collector(), self.where)

    # ---------------------------------------------------------------------------- functions

    def function(
        self, node: ast.FunctionDef, *, class_name: str | None = None, name: str | None = None
    ) -> tree.Function:
        """The tree of a function or, given a class, a method; `name` overrides its own."""
        self.where = function_place(name or node.name, class_name)
        self.function_name = node.name
        self.in_constructor = node.name == "__init__"
        self.refuse_variadic(node, class_name)
        parameters = self.parameters(node.args)
        if class_name is not None and not parameters and node.args.vararg is None:
            self._report_no_receiver(node)
        returns = self.annotation(node.returns) if node.returns else None
        body = (*self.variadic_names(node.args), *self.statements(node.body))
        decorators = self.quiet().expressions(node.decorator_list)
        start = self.positions.start(node)
        ends = [start + len("def"), *(parameter.span.torch_end for parameter in parameters)]
        ends.extend(statement.span.torch_end for statement in body)
        if returns is not None:
            ends.append(whole_end(returns))
        return tree.Function(
            self.span(node, torch_end=max(ends)),
            name or node.name,
            self.name_span(node, "def"),
            parameters,
            returns,
            body,
            decorators,
        )

    def _report_no_receiver(self, node: ast.FunctionDef) -> None:
        start = self.positions.start(node)
        self.collector.add(
            Diagnostic(
                code="missing-argument",
                message=f"the method `{node.name}` has no parameter for its object",
                primary=Label(self.name_span(node, "def"), "takes no `self`"),
                where=self.where,
                helps=(Help("add `self` as the first parameter"),),
                torch_message="methods must have a self argument",
                torch_span=Span(self.source, start, start + len("def")),
            )
        )

    def name_span(self, node: ast.FunctionDef | ast.ClassDef, word: str) -> Span:
        """The place of the name after `def` or `class`."""
        text = self.source.text
        start = self.positions.start(node) + len(word)
        while text[start] in " \t\f\\\n":
            start += 1
        return Span(self.source, start, start + len(node.name))

    def parameters(self, arguments: ast.arguments) -> tuple[tree.Parameter, ...]:
        """All parameters; those that are only positional are reported."""
        for argument in arguments.posonlyargs:
            self.collector.add(
                Diagnostic(
                    code="unsupported-syntax",
                    message=f"the positional-only parameter `{argument.arg}` cannot be scripted",
                    primary=Label(self.span(argument), "before `/`"),
                    where=self.where,
                    helps=(Help("leave out the `/`"),),
                    torch_message=f"undefined value {argument.arg}",
                )
            )
        positional = [*arguments.posonlyargs, *arguments.args]
        missing = len(positional) - len(arguments.defaults)
        defaults: list[ast.expr | None] = [*[None] * missing, *arguments.defaults]
        result = [
            self.parameter(argument, default, False)
            for argument, default in zip(positional, defaults, strict=True)
        ]
        result.extend(
            self.parameter(argument, default, True)
            for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        )
        return tuple(result)

    def parameter(
        self, node: ast.arg, default: ast.expr | None, keyword_only: bool
    ) -> tree.Parameter:
        annotation = self.annotation(node.annotation) if node.annotation else None
        # The value of a default comes from the live function; its text is only shown.
        value = self.quiet().expression(default) if default is not None else None
        start = self.positions.start(node)
        torch_end = start + len(node.arg) if annotation is None else whole_end(annotation)
        end = self.positions.end(node) if default is None else self.positions.end(default)
        span = Span(self.source, start, end, torch_end)
        return tree.Parameter(span, node.arg, annotation, value, keyword_only)

    def refuse_variadic(self, node: ast.FunctionDef, class_name: str | None) -> None:
        """Report `*args`, `**kwargs` and defaults of keyword-only parameters, as one error."""
        labels: list[Label] = []
        names: list[str] = []
        arguments = node.args
        star, stars = arguments.vararg, arguments.kwarg
        if star is not None:
            names.append(f"`*{star.arg}`")
            labels.append(Label(self.starred(star, 1), "any number of arguments"))
        if stars is not None:
            names.append(f"`**{stars.arg}`")
            labels.append(Label(self.starred(stars, 2), "any keyword arguments"))
        optional = sum(default is not None for default in arguments.kw_defaults)
        if optional > 1:
            names.insert(0, "keyword-only parameters")
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
            if default is not None and len(labels) < LABELS:
                if optional == 1:
                    names.append(f"the keyword-only default `{argument.arg}`")
                span = Span(
                    self.source, self.positions.start(argument), self.positions.end(default)
                )
                labels.append(Label(span, "keyword-only, with a default"))
        if not labels:
            return
        self.collector.add(
            Diagnostic(
                code="variadic-signature",
                message=f"{_listed(names)} cannot be scripted",
                primary=labels[0],
                where=self.where,
                secondary=tuple(labels[1:]),
                helps=self.variadic_help(node, class_name),
                torch_message=VARIADIC,
                torch_span=self.torch_variadic(arguments),
                exception="NotSupportedError",
            )
        )

    def variadic_names(self, arguments: ast.arguments) -> tuple[tree.Statement, ...]:
        """The refused parameters as names bound to an error, which silences their uses."""
        found = [node for node in (arguments.vararg, arguments.kwarg) if node is not None]
        if not found:
            return ()
        span = self.span(found[0])
        names = tuple(tree.Name(self.span(node), node.arg) for node in found)
        return (tree.Assign(span, names, tree.Name(span, tree.ERROR_NAME)),)

    def starred(self, node: ast.arg, stars: int) -> Span:
        start = self.positions.start(node) - stars
        return Span(self.source, start, self.positions.end(node))

    def torch_variadic(self, arguments: ast.arguments) -> Span | None:
        """What torch underlines: the first of `**kwargs`, `*args` and the defaults."""
        for node in (arguments.kwarg, arguments.vararg):
            if node is not None:
                start = self.positions.start(node)
                return Span(self.source, start - 1, start + len(node.arg))
        for default in arguments.kw_defaults:
            if default is not None:
                value = self.quiet().expression(default)
                return Span(self.source, value.span.start, whole_end(value))
        return None

    def variadic_help(self, node: ast.FunctionDef, class_name: str | None) -> tuple[Help, ...]:
        star, stars = node.args.vararg, node.args.kwarg
        if star is not None:
            element = star.annotation
            text = f"{star.arg}: List[torch.Tensor]"
            if element is not None:
                text = f"{star.arg}: List[{self.quiet().expression(element).span.text}]"
            called = node.name
            if class_name:
                called = class_name.lower() if node.name == "forward" else f"self.{node.name}"
            advice = f"take a list; callers then write `{called}([a, b])`"
            return (Help(advice, (Edit(self.starred(star, 1), text),)),)
        if stars is not None:
            return (Help("name every parameter"),)
        return (Help("let the parameter be passed by position too: leave out the `*`"),)

    # ------------------------------------------------------------------------------ classes

    def members(self, body: list[ast.stmt]) -> tuple[tree.ClassMember, ...]:
        """The plain assignments and declarations of a class body."""
        found = (self.member(node) for node in body)
        return tuple(member for member in found if member is not None)

    def member(self, node: ast.stmt) -> tree.ClassMember | None:
        match node:
            case ast.AnnAssign(target=ast.Name(id=name)):
                annotation = self.annotation(node.annotation)
                value = self.expression(node.value) if node.value else None
                return tree.ClassMember(self.span(node), name, annotation, value)
            case ast.Assign(targets=[ast.Name(id=name)]):
                return tree.ClassMember(self.span(node), name, None, self.expression(node.value))
            case ast.Assign(
                targets=[
                    ast.Subscript(
                        value=ast.Name(id="__annotations__"),
                        slice=ast.Constant(value=str() as name),
                    )
                ]
            ):
                annotation = self.expression(node.value)
                return tree.ClassMember(self.span(node), name, annotation, None)
            case _:
                return None


def converter_of(source: Source, collector: Collector, *, indent: int = 0) -> Converter:
    """A converter for what was parsed from a source less its indentation."""
    return Converter(Positions(source, indent=indent), collector)


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]
