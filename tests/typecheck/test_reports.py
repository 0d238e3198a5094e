"""What is said of wrong programs: code, message, place, torch's sentence."""

from __future__ import annotations

import pytest
from ten_operators import Checked, place

from rushlight.typecheck.definitions.class_types import ClassType
from rushlight.typecheck.types.types import INT, TENSOR, OptionalType

CASES = [
    # program body of `def f(<parameters>)`, code, underlined text, a piece of torch's sentence
    ("x: int", "return y", "undefined-name", "y", "undefined value y"),
    ("x: int", "return x.foo()", "missing-attribute", "foo", "'int' object has no attribute"),
    ("x", "return x.foo", "missing-attribute", "foo", "'Tensor (inferred)' object has no"),
    ("x", "return torch.foo(x)", "missing-attribute", "foo", "object has no attribute foo"),
    ("x: int, y: str", "return x + y", "no-matching-overload", "x + y", "Arguments for call"),
    ("x: Optional[int]", "return x + 1", "optional-operand", "x", "Arguments for call"),
    ("x", "return x.tanh(1)", "too-many-arguments", "1", "Expected at most 0 arguments but"),
    ("x", "return torch.cat(x, 0)", "argument-type", "x", "argument 'tensors' but instead"),
    ("x", "return torch.cat([x], di=0)", "unknown-keyword", "di=0", "Keyword argument di unknown"),
    ("x", "return torch.cat()", "missing-argument", "torch.cat", "Argument tensors not provided"),
    ("x: int", "return x(1)", "argument-type", "x", "cannot call a value of type 'int'"),
    ("x: int", "return x[0]", "argument-type", "x", "'int' object is not subscriptable"),
    ("x: int", "for i in x: pass", "argument-type", "x", "'int' object is not iterable"),
    ("x: Tuple[int, int]", "return x[2]", "index-out-of-range", "2", "Tuple index out of range"),
    ("x: Tuple[int, int]", "a, b, c = x", "argument-type", "a, b, c", "found only 2"),
    ("x: Tuple[int, int, int]", "a, b = x", "argument-type", "a, b", "need 2 but found 3"),
    ("x: List[int]", 'x.append("a")', "argument-type", '"a"', "Could not match type str to t"),
    ("", 'x: int = "a"', "annotation-conflict", '"a"', "is annotated with type int"),
    ("", "x: List[int] = [1.5]", "annotation-conflict", "1.5", "did not match the types"),
    ("x: int", "if x > 0: x: int = 2", "annotation-conflict", "x", "defined in an outer block"),
    ("x: Lst[int]", "return x", "unknown-type", "Lst", "Unknown type constructor Lst"),
    ("x: 5", "return x", "unknown-type", "5", "Unknown type name '5'"),
    ("x: ...", "return x", "unknown-type", "...", "Expression of type dots"),
    ("x: 'Foo'", "return x", "unknown-type", "Foo", "Unknown type name 'Foo'"),
    ("x: int = 'a'", "return x", "argument-type", "'a'", "Expected a default value of type int"),
    ("x: List[int] = []", "return x", "mutable-default", "[]", "Mutable default parameters"),
    ("x: int", "x.y = 3", "missing-attribute", "x.y", "on a non-class: int"),
    ("x: int", "raise x", "unsupported-syntax", "x", "exceptions must derive"),
    ("x: int", "break", "unsupported-syntax", "break", "outside loop"),
    ("x: int", 'return 1 if x else "a"', "branch-types-differ", '"a"', "but false branch has"),
    ("x: int", "return f(x - 1)", "recursion", "f", "function 'f' is called recursively"),
    ("x: Tuple[int, int]", "if x: pass", "argument-type", "x", "Could not cast value of type"),
    ("x", "return x[True]", "argument-type", "True", "unsupported index type 'bool'"),
    ("x: int", "return print(x, end='')", "unknown-keyword", "end=''", "print doesn't accept"),
]


@pytest.mark.parametrize(("parameters", "body", "code", "text", "torch"), CASES)
def test_one_fault_one_report(parameters: str, body: str, code: str, text: str, torch: str) -> None:
    found = Checked(f"def f({parameters}):\n    {body}\n").error
    assert found.code == code
    assert place(found) == text
    assert torch in found.torch_message
    assert found.where == "in function `f`"
    assert "aten::" not in found.message
    assert found.message[0] in "`abcdefghijklmnopqrstuvwxyz0123456789"
    assert not found.message.endswith(".")


def test_names_like_the_misspelled_one_are_offered() -> None:
    found = Checked("def f(value: int):\n    result = value\n    return resutl\n").error
    assert [h.text for h in found.helps] == ["did you mean `result`?"]
    assert found.helps[0].edits[0].text == "result"
    assert [label.text for label in found.secondary] == ["`result` is defined here"]


def test_independent_mistakes_are_all_found_in_order() -> None:
    checked = Checked(
        """
def g(k: int) -> int:
    return kk

def f(x, y: Optional[int]) -> int:
    a = undefined_one + x
    b = g("a")
    c = a.whatever(b)
    d = y + 1
    return "done"
"""
    )
    assert checked.codes == [
        "undefined-name",
        "undefined-name",
        "argument-type",
        "optional-operand",
        "return-type",
    ]
    assert checked.found[1].where == "in function `g`"
    assert [d.callee for d in checked.found[1].demands] == ["g"]
    assert checked.function.typed is None


def test_a_variable_keeps_its_type_through_a_loop() -> None:
    found = Checked(
        "def f(xs: List[float]):\n    t = 0\n    for x in xs:\n        t = t + x\n    return t\n"
    ).error
    assert found.code == "type-changed"
    assert found.message == "`t` is an `int`, and cannot become a `float`"
    assert found.torch_message == (
        "Variable 't' previously had type int but is now being assigned to a value of type float\n"
    )
    assert found.helps[0].edits[0].text == "0.0"


def test_a_variable_set_on_one_path_only() -> None:
    program = "def f(c: bool):\n    if c:\n        y = 1\n    return y\n"
    found = Checked(program).error
    assert found.code == "possibly-undefined"
    assert "y is not defined in the false branch" in found.torch_message
    assert found.torch_message.endswith("and was used here")
    inverted = Checked(
        "def f(c: bool):\n    if c:\n        pass\n    else:\n        y = 1\n    return y\n"
    )
    assert "y is not defined in the true branch" in inverted.error.torch_message
    in_loop = Checked("def f(n: int):\n    for i in range(n):\n        y = i\n    return y\n").error
    assert (in_loop.code, in_loop.torch_message) == ("possibly-undefined", "undefined value y")


@pytest.mark.parametrize("around", ["if n > 1", "for i in range(n)", "while n > 1"])
def test_a_variable_set_on_one_path_within_a_block(around: str) -> None:
    head = f"def f(n: int):\n    {around}:\n        if n > 2:\n            y = 1\n"
    found = Checked(head + "        n = 0\n    return y\n").error
    assert found.code == "possibly-undefined"
    assert "y is not defined in the false branch" in found.torch_message
    assert [label.span.text for label in found.secondary] == ["if n > 2:", "y"]
    assert not any(each.edits for each in found.helps)  # an `else` there would not do
    assert Checked(head + "        y = 2\n    y = 3\n    return y\n").codes == []


def test_branches_that_set_different_types() -> None:
    program = "def f(c: bool):\n    if c:\n        y = 1\n    else:\n        y = 'a'\n"
    assert Checked(program).codes == []
    found = Checked(program + "    return y\n").error
    assert found.code == "branch-types-differ"
    assert "set to type int in the true branch and type str in the false" in found.torch_message


def test_falling_off_the_end() -> None:
    found = Checked("def f(x: int) -> int:\n    if x > 1:\n        return x\n").error
    assert found.code == "missing-return"
    assert place(found) == "if x > 1:"
    assert found.helps[0].edits[0].text.startswith("    else:\n        raise ")
    endless = Checked("def f(x: int) -> int:\n    while True:\n        return x\n").error
    assert endless.code == "missing-return"


def test_returns_that_do_not_agree() -> None:
    found = Checked("def f(x: int):\n    if x > 1:\n        return 1\n    return 'a'\n").error
    assert found.torch_message == (
        "Previous return statement returned a value of type int but this return statement "
        "returns a value of type str"
    )
    declared = Checked("def f(x: int) -> str:\n    return x\n").error
    assert declared.torch_message == (
        "Return value was annotated as having type str but is actually of type int"
    )


def test_calls_of_functions_tell_where_parameters_are_declared() -> None:
    found = Checked(
        """
def g(a, times: int) -> int:
    return times

def f(x, r: float):
    n = r * 2
    return g(x, n)
"""
    ).error
    assert found.message == "`g` expects `int` for `times`, not `float`"
    assert [label.text for label in found.secondary] == [
        "declared `int` here",
        "`float`, because `r * 2` is `float * int`",
    ]
    assert found.torch_message == (
        "\ng(Tensor a, int times) -> int:\nExpected a value of type 'int' for argument 'times' "
        "but instead found type 'float'.\n"
    )


def test_modules_say_what_they_have_not() -> None:
    cls = ClassType("__torch__.Net", is_module=True)
    cls.add_attribute("hidden", TENSOR)
    cls.missing["odd"] = "(This attribute cannot be converted.)"
    checked = Checked(
        "def forward(self, x):\n    a = self.hiden\n    b = self.odd\n    self.new = 1\n",
        self_type=cls,
    )
    assert checked.codes == ["missing-attribute", "attribute-not-converted", "missing-attribute"]
    assert checked.found[0].torch_message == "Module 'Net' has no attribute 'hiden' "
    assert checked.found[0].where == "in method `Net.forward`"
    assert checked.found[0].helps[0].edits[0].text == "hidden"
    assert checked.found[1].notes == ("This attribute cannot be converted.",)


def test_a_checked_attribute_is_not_refined() -> None:
    cls = ClassType("__torch__.Net", is_module=True)
    cls.add_attribute("shift", OptionalType(INT))
    found = Checked(
        "def forward(self):\n    if self.shift is not None:\n        return self.shift + 1\n"
        "    return 0\n",
        self_type=cls,
    ).error
    assert found.code == "optional-operand"
    assert len(found.secondary) == 1
    (edit,) = found.helps[0].edits
    assert edit.text == ("    shift = self.shift\n    if shift is not None:\n        return shift")


def test_a_mixed_list_is_only_a_warning() -> None:
    checked = Checked('def f():\n    x = [1, "a"]\n')
    assert checked.error.severity == "warning"
    assert checked.function.typed is not None


@pytest.mark.parametrize(
    ("test", "message"),
    [
        ('kind == "a"', '"unknown kind: " + kind'),
        ("n == 1", '"no case applies"'),
        ("kind", '"no case applies"'),
    ],
)
def test_what_is_offered_to_be_raised_names_texts_that_were_compared(
    test: str, message: str
) -> None:
    found = Checked(f"def f(n: int, kind: str) -> int:\n    if {test}:\n        return 1\n").error
    assert found.code == "missing-return"
    assert f"raise ValueError({message})" in found.helps[0].edits[0].text


def test_a_missing_return_is_told_at_the_last_statement() -> None:
    found = Checked("def f(n: int) -> int:\n    m = n\n    m += 1\n").error
    assert (found.code, place(found)) == ("missing-return", "m += 1")
