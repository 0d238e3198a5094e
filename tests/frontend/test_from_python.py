"""Live functions and classes to trees."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from frontend_support import load_module

from rushlight.frontend.diagnostics.diagnostics import Collector
from rushlight.frontend.sources.source import Span
from rushlight.frontend.syntax import tree
from rushlight.frontend.syntax.from_python import class_tree, function_tree

PROGRAM = '''\
from functools import wraps

def mark(*things):
    return lambda f: f

def wrapping(f):
    @wraps(f)
    def wrapper(*args):
        return f(*args)
    return wrapper


class Model:
    """A class."""

    depth: int = 3
    __slots__ = ()

    @mark(lambda: 3,
          "two lines")
    def forward(self, x: "List[int]", é: int = 2, *, k: float):
# a comment to the left
        text = """one
  two
        three"""
        return x + é * self.proj(k)

    @classmethod
    def make(cls, n: int):
        return cls(n)

    @staticmethod
    def helper(n):
        return n

    @property
    def size(self) -> int:
        return 1

    @size.setter
    def size(self, value: int):
        pass

@wrapping
def wrapped(x):
    return x

def per_parameter(x,  # type: int
                  y,  # type: List[float]
                  ):
    # type: (...) -> Tuple[int, float]
    return x, y[0]

def whole(x, y):
    # type: (int, List[float]) -> float
    return y[x]  # type: ignore[attr-defined]
'''


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory):  # type: ignore[no-untyped-def]
    path = tmp_path_factory.mktemp("programs") / "program.py"
    path.write_text(PROGRAM, encoding="utf-8")
    return load_module(path)


def converted(fn: object, **options: str) -> tree.Function:
    collector = Collector()
    result = function_tree(fn, collector, **options)  # type: ignore[arg-type]
    assert collector.found == []
    assert result is not None
    return result


def in_file(span: Span) -> str:
    """What the file holds at the place a span names."""
    line = PROGRAM.splitlines()[span.whole.line - 1]
    return line[span.whole.column : span.end_column]


def test_places_are_those_of_the_file(module) -> None:  # type: ignore[no-untyped-def]
    function = converted(module.Model.forward, self_name="Model")
    assert Path(function.span.filename or "").name == "program.py"
    assert in_file(function.name_span) == "forward"
    returned = function.body[-1]
    assert isinstance(returned, tree.Return)
    assert isinstance(returned.value, tree.Binary)
    product = returned.value.right
    assert isinstance(product, tree.Binary)
    assert in_file(product.span) == "é * self.proj(k)"
    assert isinstance(product.right, tree.Call)
    assert isinstance(product.right.function, tree.Attribute)
    assert in_file(product.right.function.name_span) == "proj"


def test_the_source_is_the_function_as_it_stands_in_the_file(module) -> None:  # type: ignore[no-untyped-def]
    source = converted(module.Model.forward).span.source
    assert source.text.startswith("    @mark(lambda: 3,\n")
    assert "    # a comment to the left\n" in source.text
    assert source.text.endswith("return x + é * self.proj(k)\n")


def test_strings_lose_the_common_indentation_as_in_torch(module) -> None:  # type: ignore[no-untyped-def]
    text = converted(module.Model.forward).body[0]
    assert isinstance(text, tree.Assign)
    assert isinstance(text.value, tree.Literal)
    assert text.value.value == "one\n  two\n    three"


def test_parameters(module) -> None:  # type: ignore[no-untyped-def]
    parameters = converted(module.Model.forward, self_name="Model").parameters
    assert [p.name for p in parameters] == ["self", "x", "é", "k"]
    assert [p.keyword_only for p in parameters] == [False, False, False, True]
    assert parameters[0].annotation is None
    assert parameters[2].span.text == "é: int = 2"
    assert isinstance(parameters[2].default, tree.Literal)
    assert parameters[2].default.value == 2


def test_a_decorated_function_is_the_one_that_was_written(module) -> None:  # type: ignore[no-untyped-def]
    function = converted(module.wrapped)
    assert [p.name for p in function.parameters] == ["x"]
    assert [d.span.text for d in function.decorators] == ["wrapping"]


def test_another_name(module) -> None:  # type: ignore[no-untyped-def]
    assert converted(module.wrapped, name="forward").name == "forward"


@pytest.mark.parametrize(
    ("name", "types", "returns"),
    [
        ("per_parameter", ["int", "List[float]"], "Tuple[int, float]"),
        ("whole", ["int", "List[float]"], "float"),
    ],
)
def test_types_in_comments(module, name: str, types: list[str], returns: str) -> None:  # type: ignore[no-untyped-def]
    function = converted(getattr(module, name))
    annotations = [p.annotation for p in function.parameters]
    assert [a.span.text for a in annotations if a] == types
    assert [in_file(a.span) for a in annotations if a] == types
    assert function.returns is not None
    assert in_file(function.returns.span) == returns


def test_a_class(module, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setitem(sys.modules, module.__name__, module)  # where classes are looked for
    collector = Collector()
    result = class_tree(module.Model, collector)
    assert result is not None
    assert collector.found == []
    assert [m.name for m in result.members] == ["depth", "__slots__"]
    assert [m.name for m in result.methods] == ["forward", "make"]
    (size,) = result.properties
    assert size.getter.name == "__size_getter"
    assert size.setter is not None
    assert [p.name for p in size.setter.parameters] == ["self", "value"]


def test_a_class_method_begins_by_naming_its_class(module) -> None:  # type: ignore[no-untyped-def]
    function = converted(module.Model.make, self_name="Model")
    assign = function.body[0]
    assert isinstance(assign, tree.Assign)
    assert isinstance(assign.value, tree.Name)
    assert assign.value.id == "Model"
    assert [t.id for t in assign.targets if isinstance(t, tree.Name)] == ["cls"]


def test_an_unused_method_raises_and_is_not_read(module) -> None:  # type: ignore[no-untyped-def]
    def left_out(self, *args, k=lambda: 3):  # type: ignore[no-untyped-def]
        yield args

    left_out._torchscript_modifier = (  # type: ignore[attr-defined]
        "unused (ignored and replaced with raising of an exception)"
    )
    function = converted(left_out, self_name="Model")
    assert [type(s) for s in function.body] == [tree.Raise]
    assert [p.name for p in function.parameters] == ["self", "k"]


def test_a_function_without_source() -> None:
    names: dict[str, object] = {}
    # in `python -c` 3.13 keeps the program's text by the name `<string>`
    exec(compile("def f(x):\n    return x", "<made>", "exec"), names)
    collector = Collector()
    assert function_tree(names["f"], collector) is None  # type: ignore[arg-type]
    (diagnostic,) = collector.found
    assert diagnostic.code == "unresolved-source"
    assert diagnostic.exception == "OSError"
    assert diagnostic.torch_text.startswith("Can't get source for <function f at ")


def test_a_builtin_function() -> None:
    collector = Collector()
    assert function_tree(len, collector) is None
    assert [d.exception for d in collector.found] == ["TypeError"]


def test_a_class_whose_lines_cannot_be_taken_by_themselves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "nested.py"
    path.write_text("if True:\n    class A:\n# left\n        x = 1\n", encoding="utf-8")
    nested = load_module(path)
    monkeypatch.setitem(sys.modules, "nested", nested)
    collector = Collector()
    assert class_tree(nested.A, collector) is None
    assert [d.exception for d in collector.found] == ["SyntaxError"]


def test_what_a_class_holds_by_another_name_is_no_method(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "held.py"
    file.write_text(
        "class Held:\n    def get(self) -> int:\n        return 1\n"
        "    again = get\n"
        "def _other(self, /, **changes):\n    return changes\n"
        "Held.__replace__ = _other\n"  # as dataclasses of Python 3.13 have it
    )
    module = load_module(file)
    monkeypatch.setitem(sys.modules, "held", module)
    found = class_tree(module.Held, Collector())
    assert found is not None
    assert [method.name for method in found.methods] == ["again", "get"]
