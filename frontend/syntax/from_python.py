"""Live functions, methods and classes to trees.

A function's source is its own lines as they stand in the file, indentation included, because that
is what torch shows around an error and counts columns in.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Callable
from textwrap import dedent

from ..diagnostics.diagnostics import Collector, Diagnostic, Help, Label
from ..sources.source import UNKNOWN, Source, Span
from ..sources.source_lines import lines_of
from . import tree
from .data_classes import written_method
from .deep_stack import deeply
from .from_ast import Converter, converter_of, function_place, parse
from .type_comments import BadComment, fold_signature_comment, signature_texts

__all__ = ["class_tree", "comment_types", "function_tree"]

MODIFIER = "_torchscript_modifier"
"""The attribute that `torch.jit.unused` and its like set on a function."""


def function_tree(
    fn: Callable[..., object],
    collector: Collector,
    *,
    self_name: str | None = None,
    name: str | None = None,
    written: Source | None = None,
) -> tree.Function | None:
    """The tree of a Python function or method, or None after a report of why there is none.

    `self_name` is the name of the class whose method it is; `self` stays the first parameter.
    `name` is what the function shall be called, if not by its own name; `written` is the source to
    read in place of its own.
    """
    called = name or str(getattr(fn, "__name__", "<function>"))
    where = function_place(called, self_name)
    source = written if written is not None else _source_of(fn, collector, where)
    if source is None:
        return None
    parsed = _parse_function(source, collector, where)
    if parsed is None:
        return None
    node, indent = parsed
    converter = converter_of(source, collector, indent=indent)
    if _is_unused(fn):
        return _unused(node, converter, self_name, called)
    try:
        function = deeply(
            lambda: converter.function(node, class_name=self_name, name=called),
            collector.forgetting(),
        )
    except RecursionError:
        _report_depth(source, collector, where)
        return None
    if inspect.ismethod(fn) and inspect.isclass(fn.__self__) and self_name is not None:
        function = _bind_class(function, self_name)
    return fold_signature_comment(function, source, converter, is_method=self_name is not None)


def class_tree(cls: type, collector: Collector) -> tree.ClassDefinition | None:
    """The tree of a Python class, or None after a report of why there is none.

    Its methods are those written in the class itself, by name; base classes are not looked at.
    """
    source = _source_of(cls, collector, "")
    if source is None:
        return None
    text = dedent(source.text)
    try:
        node = parse(text).body[0]
    except SyntaxError as error:
        _report_unparsed(source, collector, "", str(error.msg), "SyntaxError")
        return None
    if not isinstance(node, ast.ClassDef):
        expected = f"Expected class definition, got {type(node).__name__}"
        _report_unparsed(source, collector, "", expected, "AssertionError")
        return None
    indent = _indentation(source.text, text)
    # Torch skips members of a class body that it cannot read.
    converter = converter_of(source, Collector(), indent=indent)
    methods = [
        function_tree(
            function,
            collector,
            self_name=cls.__name__,
            name=name,
            written=written_method(cls, name, function),
        )
        for name, function in _methods(cls)
    ]
    start = converter.positions.start(node)
    return tree.ClassDefinition(
        converter.span(node, torch_end=start + len("class")),
        cls.__name__,
        converter.expressions(node.bases),
        converter.members(node.body),
        tuple(method for method in methods if method is not None),
        tuple(_properties(cls, collector)),
    )


def _methods(cls: type) -> list[tuple[str, Callable[..., object]]]:
    """The functions and class methods of a class's own body, sorted by name, as torch does.

    What stands there by another name (as `dataclasses` puts `__replace__`) is none of them.
    """
    found = []
    for name, member in sorted(vars(cls).items()):
        if isinstance(member, classmethod):
            found.append((name, getattr(cls, name)))
        elif not inspect.isfunction(member) or member.__name__ not in vars(cls):
            continue
        elif not _modifier(member).startswith("_drop"):
            found.append((name, member))
    return found


def _properties(cls: type, collector: Collector) -> list[tree.Property]:
    """The properties of a class, its bases' too, as torch does."""
    unused = getattr(cls, "__jit_unused_properties__", ())
    result = []
    for name, member in inspect.getmembers(cls, lambda m: isinstance(m, property)):
        if name in unused or member.fget is None or _is_unused(member.fget):
            continue
        getter = function_tree(
            member.fget, collector, self_name=cls.__name__, name=f"__{name}_getter"
        )
        setter = None
        if member.fset is not None:
            setter = function_tree(
                member.fset, collector, self_name=cls.__name__, name=f"__{name}_setter"
            )
        if getter is not None:
            result.append(tree.Property(getter.span, name, getter, setter))
    return result


# -------------------------------------------------------------------------------------- sources


def comment_types(fn: Callable[..., object]) -> tuple[list[str], str | None] | None:
    """The texts of the types in a function's `# type:` comment, if it has one.

    Raises:
        RuntimeError: the comment cannot be used.
    """
    source = _source_of(fn, Collector(), "")
    if source is None:
        return None
    try:
        return signature_texts(source)
    except BadComment as error:
        raise RuntimeError(error.torch_text) from None


def _source_of(
    obj: Callable[..., object] | type, collector: Collector, where: str
) -> Source | None:
    filename: str | None = None
    try:
        filename = inspect.getsourcefile(obj)
        lines, first_line = lines_of(obj)
    except OSError:
        _report_no_source(
            f"Can't get source for {obj}. TorchScript requires source access in order to carry "
            "out compilation, make sure original .py files are available.",
            "OSError",
            obj,
            collector,
            where,
        )
        return None
    except TypeError as error:
        _report_no_source(str(error), "TypeError", obj, collector, where)
        return None
    if not inspect.isclass(obj):
        lines = _align(lines)
    return Source("".join(lines), filename, max(first_line, 1), getattr(obj, "__name__", None))


def _report_no_source(
    torch_text: str, exception: str, obj: object, collector: Collector, where: str
) -> None:
    name = getattr(obj, "__name__", type(obj).__name__)
    collector.add(
        Diagnostic(
            code="unresolved-source",
            message=f"the source of `{name}` cannot be found",
            primary=Label(UNKNOWN, ""),
            where=where,
            notes=_where_sources_are(obj),
            torch_text=torch_text,
            exception=exception,
        )
    )


def _where_sources_are(obj: object) -> tuple[str, ...]:
    """What to do about a source that is kept nowhere."""
    code = getattr(inspect.unwrap(obj) if callable(obj) else obj, "__code__", None)
    file = getattr(code, "co_filename", "")
    if file == "<stdin>" and sys.version_info < (3, 13):
        return (
            "scripting reads a function's source, which this prompt does not keep: Python from "
            "3.13 on does, and so does IPython; here put the function into a file, or its text "
            "into `torch.jit.CompilationUnit`",
        )
    if file == "<string>":
        return (
            "scripting reads a function's source, which is kept of no program given by `-c` or "
            "`exec`: put it into a file, or the function's text into `torch.jit.CompilationUnit`",
        )
    return ("scripting reads a function's source, so it must be defined in a file",)


def _align(lines: list[str]) -> list[str]:
    """The lines of a function, none of them indented less than its `def`.

    Comments and continued strings may stand further to the left; torch moves them.
    """
    defining = next((line for line in lines if line.lstrip().startswith("def")), None)
    if defining is None:
        return lines
    margin = defining[: defining.index("def")]
    return [
        line if line is defining or line.startswith(margin) else margin + line for line in lines
    ]


def _indentation(text: str, dedented: str) -> int:
    return len(text.split("\n", 1)[0]) - len(dedented.split("\n", 1)[0])


# -------------------------------------------------------------------------------------- parsing


def _parse_function(
    source: Source, collector: Collector, where: str
) -> tuple[ast.FunctionDef, int] | None:
    """Python's tree of the source's only function, and how far the source is indented."""
    text = dedent(source.text)
    indent = _indentation(source.text, text)
    try:
        body = parse(text).body
    except SyntaxError as error:
        _report_unparsed(source, collector, where, f"{error.msg}", "SyntaxError")
        return None
    if len(body) == 1 and isinstance(body[0], ast.FunctionDef):
        return body[0], indent
    expected = f"Expected a single top-level function: {source.filename}:{source.first_line}"
    _report_unparsed(source, collector, where, expected, "RuntimeError")
    return None


def _report_unparsed(
    source: Source, collector: Collector, where: str, torch_text: str, exception: str
) -> None:
    """Report lines that are no `def`: those of a `lambda`, or of an `async` function."""
    first = source.lines[0]
    start = len(first) - len(first.lstrip())
    helps: tuple[Help, ...] = ()
    if source.function == "<lambda>":
        message = "a `lambda` cannot be scripted"
        helps = (Help("write a function with `def`"),)
        start = max(first.find("lambda"), start)
    elif "async def " in source.text:
        message = "an `async` function cannot be scripted"
        line = next(i for i, text in enumerate(source.lines) if "async def " in text)
        start = source.offset(line, source.lines[line].index("async"))
    else:
        message = f"the source of `{source.function}` cannot be read as one definition"
    end = _line_end(source, start)
    if source.function == "<lambda>":
        end = _closed(source.text, start, end)
    collector.add(
        Diagnostic(
            code="unsupported-syntax",
            message=message,
            primary=Label(Span(source, start, end), "not part of TorchScript"),
            where=where,
            helps=helps,
            torch_text=torch_text,
            exception=exception,
        )
    )


def _closed(text: str, start: int, end: int) -> int:
    """Where the brackets that are opened from `start` on are closed and another one is."""
    depth = 0
    for at in range(start, end):
        depth += (text[at] in "([{") - (text[at] in ")]}")
        if depth < 0 or (text[at] == "," and not depth and ":" in text[start:at]):
            return at
    return end


def _line_end(source: Source, start: int) -> int:
    """The end of the text on the line of an offset."""
    line = source.line_index(start)
    return source.offset(line, len(source.lines[line].rstrip()))


def _report_depth(source: Source, collector: Collector, where: str) -> None:
    first = source.lines[0]
    start = len(first) - len(first.lstrip())
    collector.add(
        Diagnostic(
            code="limit-exceeded",
            message="this function is nested too deeply",
            primary=Label(Span(source, start, len(first.rstrip())), ""),
            where=where,
            torch_text="maximum recursion depth exceeded",
            exception="RecursionError",
        )
    )


# ------------------------------------------------------------------------------- special bodies


def _modifier(fn: object) -> str:
    return str(getattr(fn, MODIFIER, ""))


def _is_unused(fn: object) -> bool:
    """Whether the function's body is never to be compiled (`torch.jit.unused`)."""
    return _modifier(fn).startswith(("unused", "_drop"))


def _unused(
    node: ast.FunctionDef, converter: Converter, self_name: str | None, name: str
) -> tree.Function:
    """The function with a body that raises, and parameters of any type."""
    node.args.vararg = node.args.kwarg = None
    node.body = parse('raise RuntimeError("Cannot call @unused methods")').body
    place = ast.copy_location(ast.Pass(), node)
    for part in ast.walk(node.body[0]):
        if isinstance(part, ast.expr | ast.stmt):
            ast.copy_location(part, place)
            part.end_lineno, part.end_col_offset = node.lineno, node.col_offset + len("def")
    for argument in [*node.args.args, *node.args.kwonlyargs]:
        argument.annotation = ast.copy_location(ast.Name("Any", ast.Load()), argument)
    node.args.kw_defaults = [None] * len(node.args.kw_defaults)
    return converter.function(node, class_name=self_name, name=name)


def _bind_class(function: tree.Function, class_name: str) -> tree.Function:
    """A class method whose first parameter is set to the class before all else."""
    first = function.parameters[0]
    target = tree.Name(first.span, first.name)
    assign = tree.Assign(first.span, (target,), tree.Name(first.span, class_name))
    return tree.Function(
        function.span,
        function.name,
        function.name_span,
        function.parameters,
        function.returns,
        (assign, *function.body),
        function.decorators,
    )
