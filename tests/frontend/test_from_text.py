"""The code of archives, and strings of functions, to trees."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rushlight.frontend.diagnostics.diagnostics import Collector
from rushlight.frontend.sources.source import Source, Span
from rushlight.frontend.syntax import tree
from rushlight.frontend.syntax.from_text import expression_tree, function_trees, module_trees

CODE = """\
op_version_set = 1
import __torch__.torch.nn.modules.linear
class Net(Module):
  __parameters__ = ["w", ]
  training : bool
  depth : Final[int] = 3
  __annotations__["0"] = __torch__.torch.nn.modules.linear.Linear
  def forward(self: __torch__.Net,
    x: Tensor) -> Tuple[Tensor, int]:
    _0 = getattr(self, "0")
    a, b, = torch.size(x)
    if torch.gt(a, inf):
      text = "\\033[1m\\303\\251"
    else:
      text = ""
    return ((_0).forward(x, ), b)
class P(NamedTuple):
  x : int
def free(x: Tensor) -> Tensor:
  return torch.neg(x)
"""


def trees(text: str) -> list[tree.Definition]:
    collector = Collector()
    result = module_trees(text, "code/__torch__.py", collector)
    assert collector.found == []
    return result


def test_a_code_file() -> None:
    net, point, free = trees(CODE)
    assert isinstance(net, tree.ClassDefinition)
    assert [b.span.text for b in net.bases] == ["Module"]
    assert [(m.name, m.annotation is not None, m.value is not None) for m in net.members] == [
        ("__parameters__", False, True),
        ("training", True, False),
        ("depth", True, True),
        ("0", True, False),
    ]
    (forward,) = net.methods
    assert [p.name for p in forward.parameters] == ["self", "x"]
    assert forward.parameters[0].annotation is not None
    assert forward.parameters[0].annotation.span.text == "__torch__.Net"
    assert str(forward.body[0].span) == "code/__torch__.py:10:5"
    unpack = forward.body[1]
    assert isinstance(unpack, tree.Assign)
    (target,) = unpack.targets
    assert isinstance(target, tree.TupleDisplay)
    assert isinstance(point, tree.ClassDefinition)
    assert isinstance(free, tree.Function)


def test_strings_and_special_numbers() -> None:
    net = trees(CODE)[0]
    assert isinstance(net, tree.ClassDefinition)
    branch = net.methods[0].body[2]
    assert isinstance(branch, tree.If)
    assert isinstance(branch.test, tree.Call)
    assert isinstance(branch.test.arguments[1], tree.Name)
    assign = branch.body[0]
    assert isinstance(assign, tree.Assign)
    assert isinstance(assign.value, tree.Literal)
    assert assign.value.value == "\033[1m\303\251"


def test_line_ends_of_other_systems() -> None:
    (one,) = function_trees("def f(x):\r\n  return x\r\n", Collector())
    assert isinstance(one.body[0], tree.Return)


def test_a_long_ladder_of_conditions() -> None:
    text = "def f(x: int) -> int:\n  if x == 0:\n    y = 0\n"
    text += "".join(f"  elif x == {i}:\n    y = {i}\n" for i in range(150))
    (function,) = trees(text)
    assert isinstance(function, tree.Function)
    depth, statement = 0, function.body[0]
    while isinstance(statement, tree.If):
        depth += 1
        statement = statement.orelse[0] if statement.orelse else statement.body[0]
    assert depth == 151


@pytest.mark.parametrize(
    "text",
    [
        "def f(x:\n",
        "x = \0",
        "x = '\ud800'",
        "x = " + "(" * 5000 + ")" * 5000,
        "x = " + "-" * 100_000 + "1",
        "x = " + "+".join(["a"] * 100_000),
        "def f():\n  return " + "a" + ".b()" * 100_000,
        "x = 0x",
        "class A\n",
        "\n\n  x = 1",
        "x = " + "9" * 5000,
    ],
)
def test_what_cannot_be_read_is_one_diagnostic(text: str) -> None:
    collector = Collector()
    assert module_trees(text, "x.py", collector) == []
    assert len(collector.found) == 1
    assert "\n" not in collector.found[0].message


def test_statements_at_the_top_are_refused() -> None:
    collector = Collector()
    assert module_trees("while x:\n  pass\nf(1)\n", "x.py", collector) == []
    assert len(collector.found) == 2


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    collector = Collector()
    result = module_trees("def f():\n  " + text, None, collector)
    assert collector.found or isinstance(result, list)


def string_at(text: str, part: str) -> tree.Literal:
    at = text.index(part)
    span = Span(Source(text, "m.py"), at, at + len(part))
    return tree.Literal(span, eval(part))


def test_an_annotation_in_a_string_has_places_inside_it() -> None:
    literal = string_at('def f(x: "Lsit[float]"): pass', '"Lsit[float]"')
    expression = expression_tree(literal, Collector())
    assert isinstance(expression, tree.Subscript)
    assert (expression.value.span.text, expression.value.span.column) == ("Lsit", 10)
    assert expression.indices[0].span.text == "float"


def test_an_annotation_in_an_escaped_string() -> None:
    literal = string_at(r'x: "Li\x73t"', r'"Li\x73t"')
    expression = expression_tree(literal, Collector())
    assert isinstance(expression, tree.Name)
    assert expression.id == "List"


def test_a_string_that_is_no_annotation() -> None:
    collector = Collector()
    assert expression_tree(string_at('x: "a b"', '"a b"'), collector) is None
    assert [d.code for d in collector.found] == ["unknown-type"]
