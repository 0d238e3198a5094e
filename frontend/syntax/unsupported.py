"""Python that TorchScript does not have: what it is called, torch's sentence, and what to do.

Torch stops at the first of these; here every one is reported, and the tree goes on without it.
"""

from __future__ import annotations

from ..diagnostics.diagnostics import Diagnostic, Help, Label
from ..foundations.value_class import value_class
from ..sources.source import Span

__all__ = ["CONSTRUCTS", "PARSING", "Construct", "construct_of", "describe"]

NODE = "UnsupportedNodeError"
FORM = "NotSupportedError"

PARSING = (NODE, FORM)
"""What torch raises while it parses, before it compiles anything."""


@value_class(frozen=True, slots=True)
class Construct:
    """One form of Python that cannot be scripted.

    `title` is how a message calls it, `torch` torch's sentence, `exception` what torch raises,
    `width` how many characters torch underlines (0: the caller knows better).
    """

    title: str
    torch: str
    exception: str = NODE
    width: int = 1
    note: str = ""
    help: str = ""


_IGNORE = (
    "move this function out of scripting with `@torch.jit.ignore` (it then stays a Python call "
    "and cannot be saved)"
)
_GENERATOR = "collect the values in a list and return it"

CONSTRUCTS: dict[str, Construct] = {
    # statements
    "Try": Construct(
        "`try` statements",
        "try blocks aren't supported",
        width=3,
        note="an error raised inside scripted code always leaves the outermost scripted call",
        help="test the condition that would fail, or " + _IGNORE,
    ),
    "TryStar": Construct(
        "`try` statements",
        "TryStar aren't supported",
        note="an error raised inside scripted code always leaves the outermost scripted call",
        help="test the condition that would fail, or " + _IGNORE,
    ),
    "FunctionDef": Construct(
        "a function inside a function",
        "function definitions aren't supported",
        width=3,
        help="define it at the top of the module, and pass what it needs as arguments",
    ),
    "AsyncFunctionDef": Construct(
        "an `async` function", "async function definitions aren't supported", width=9
    ),
    "ClassDef": Construct(
        "a class inside a function",
        "class definitions aren't supported",
        width=5,
        help="define it at the top of the module",
    ),
    "Import": Construct(
        "`import` inside a function",
        "import statements aren't supported",
        width=6,
        help="import at the top of the module",
    ),
    "ImportFrom": Construct(
        "`import` inside a function",
        "import statements aren't supported",
        width=4,
        help="import at the top of the module",
    ),
    "Global": Construct(
        "`global` statements",
        "global variables aren't supported",
        width=6,
        help="pass the value in and return it, or make it an attribute of a module",
    ),
    "Nonlocal": Construct(
        "`nonlocal` statements",
        "nonlocal variables aren't supported",
        width=8,
        help="pass the value in and return it, or make it an attribute of a module",
    ),
    "Match": Construct(
        "`match` statements", "Match aren't supported", help="write `if` and `elif`"
    ),
    "AsyncFor": Construct("`async for`", "async for loops aren't supported", width=9),
    "AsyncWith": Construct("`async with`", "async with statements aren't supported", width=10),
    "TypeAlias": Construct(
        "a `type` statement inside a function",
        "TypeAlias aren't supported",
        help="name the type at the top of the module",
    ),
    "AnnAssign": Construct(
        "a declaration without a value",
        "annotated assignments without assigned value aren't supported",
        help="give the variable its first value here",
    ),
    "attribute-annotation": Construct(
        "a type on an attribute outside `__init__`",
        "",
        "ValueError",
        help="declare the attribute in `__init__`, or in the class body",
    ),
    "For.iter": Construct(
        "a loop over several values at once",
        "List of iterables is not supported currently",
        "RuntimeError",
        help="put parentheses around them, or use `zip`",
    ),
    "For.orelse": Construct(
        "`else` of a `for` loop",
        "else branches of for loops aren't supported",
        FORM,
        width=3,
        help="set a flag before `break`, and test it after the loop",
    ),
    "While.orelse": Construct(
        "`else` of a `while` loop",
        "__init__(): incompatible constructor arguments. The following argument types are "
        "supported:\n    1. torch._C.ErrorReport(arg0: torch._C._jit_tree_views.SourceRange)\n\n"
        "Invoked with: None",
        "TypeError",
        width=5,
        help="set a flag before `break`, and test it after the loop",
    ),
    "Raise.bare": Construct(
        "`raise` without an exception",
        "'NoneType' object has no attribute 'lineno'",
        "AttributeError",
        width=5,
        help="name the exception to raise",
    ),
    "AugAssign": Construct(
        "`{operator}=`",
        "unsupported kind of augmented assignment: {detail}",
        FORM,
        width=0,
        help="write the operation out: `{target} = {target} {operator} {value}`",
    ),
    "IgnoreContext": Construct(
        "`torch.jit._IgnoreContextManager`", "With aren't supported", help=_IGNORE
    ),
    # expressions
    "Lambda": Construct(
        "`lambda`",
        "Lambda aren't supported",
        help="define a function at the top of the module",
    ),
    "Yield": Construct("`yield`", "Yield aren't supported", help=_GENERATOR),
    "YieldFrom": Construct("`yield from`", "YieldFrom aren't supported", help=_GENERATOR),
    "Await": Construct(
        "`await`", "Await aren't supported", help="use `torch.jit.fork` and `torch.jit.wait`"
    ),
    "NamedExpr": Construct(
        "`:=`", "NamedExpr aren't supported", help="assign in a statement of its own, before this"
    ),
    "Set": Construct("a set", "Set aren't supported", help="use a list, or the keys of a dict"),
    "SetComp": Construct(
        "a set comprehension", "SetComp aren't supported", help="use a list, or the keys of a dict"
    ),
    "bytes": Construct(
        "a `bytes` literal",
        "Unknown Constant expression type",
        "FrontendError",
        width=0,
        help="use a string, or a `uint8` tensor",
    ),
    "generators": Construct(
        "a comprehension with more than one `for`",
        "Only a single generator is currently supported",
        FORM,
        width=0,
        help="write the loops out and append to a list",
    ),
    "conditions": Construct(
        "an `if` in a comprehension",
        "Comprehension ifs are not supported yet",
        FORM,
        width=0,
        help="write the loop out and append to a list",
    ),
    "conversion": Construct(
        "a conversion in an f-string",
        "Don't support conversion in JoinedStr",
        FORM,
        help="leave out the `!r`, `!s`, `!a` or `=`",
    ),
    "format": Construct(
        "a format in an f-string",
        "Don't support formatting in JoinedStr",
        FORM,
        help='`"%f" % x`, `"%e" % x` and `"%d" % n` are supported, without widths',
    ),
    "large-annotation": Construct(
        "a type of more than {most} characters",
        "Type annotations of more than {most} characters are not supported",
        FORM,
        width=0,
        help="give what lies in it a class or a NamedTuple of its own",
    ),
    "double-star": Construct(
        "`**` in a call",
        "keyword-arg expansion is not supported",
        FORM,
        width=0,
        help="write the keyword arguments out",
    ),
    "dict-expansion": Construct(
        "`**` in a dict display",
        "Dict expansion (e.g. `{{**dict}}`) is not supported",
        FORM,
        help="copy the dict and call its `update`",
    ),
    "dict-expansion-later": Construct(
        "`**` in a dict display",
        "'NoneType' object has no attribute 'lineno'",
        "AttributeError",
        help="copy the dict and call its `update`",
    ),
    "UAdd": Construct(
        "unary `+`",
        "'UnaryOp' object has no attribute 'range'",
        "AttributeError",
        help="leave it out",
    ),
    "reserved": Construct(
        "a name that starts with `__jit`",
        "names of variables used in JIT-ed functions can't start with __jit",
        FORM,
        width=0,
        help="rename it",
    ),
}
"""By the name of the `ast` class, or a name of our own in lower case."""


def construct_of(key: str) -> Construct:
    """The entry of a key; a form that a later Python brings gets torch's general sentence."""
    return CONSTRUCTS.get(key) or Construct(f"`{key}`", f"{key} aren't supported")


def describe(
    construct: Construct, place: Span, where: str, *, torch_span: Span | None, **details: str
) -> Diagnostic:
    """The diagnostic for one unsupported construct at `place`."""
    helps = (Help(construct.help.format(**details)),) if construct.help else ()
    return Diagnostic(
        code="unsupported-syntax",
        message=f"{construct.title.format(**details)} cannot be scripted",
        primary=Label(place, "not part of TorchScript"),
        where=where,
        notes=(construct.note,) if construct.note else (),
        helps=helps,
        torch_message=construct.torch.format(**details) if construct.torch else details["torch"],
        torch_span=torch_span,
        exception=construct.exception,
    )
