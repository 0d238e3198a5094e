"""What the typed tree of small programs is."""

from __future__ import annotations

import pytest
from ten_operators import Checked

from rushlight.frontend.syntax import tree
from rushlight.typecheck.definitions.class_types import ClassType
from rushlight.typecheck.scopes import dispatch
from rushlight.typecheck.types.types import FLOAT, INT, TENSOR, OptionalType, TupleType


def expression(parameters: str, written: str) -> str:
    """The typed form of an expression over some parameters."""
    return Checked(f"def f({parameters}):\n    return {written}\n").body[-1].removeprefix("return ")


@pytest.mark.parametrize(
    ("parameters", "written", "expected"),
    [
        ("x: int, y: int", "x + y", "aten::add.int(x, y)"),
        ("x, y", "x + y", "aten::add.Tensor(x, y, alpha=1)"),
        ("x, y: bool", "x + y", "aten::add.Scalar(x, Int(y), alpha=1)"),
        (
            "x, y: int",
            "y - x",
            "($0 = y; $1 = x; ($2 = 1; aten::add.Scalar(aten::neg($1), $0, $2)))",
        ),
        ("x", "x.tanh()", "aten::tanh(x)"),
        ("x", "torch.tanh(x)", "aten::tanh(x)"),
        ("x", "torch.tanh(input=x)", "aten::tanh(x)"),
        ("x", "x.view(2, 3)", "aten::view(x, [2, 3])"),
        ("x", "x.view((2, 3))", "aten::view(x, [*tuple(2, 3)])"),
        ("x, n", "x.view(2, n)", "aten::view(x, [2, IntImplicit(n)])"),
        ("x", "x.sum(1)", "aten::sum.dim_IntList(x, [1] * 1, keepdim=False)"),
        ("x", "x.sum(keepdim=True, dim=[0])", "aten::sum.dim_IntList(x, list[int](0), True)"),
        ("x", "torch.cat([x, x])", "aten::cat(list[Tensor](x, x), dim=0)"),
        ("x", "torch.cat([])", "aten::cat(list[Tensor](), dim=0)"),
        ("x", "x.max(1).values", "aten::max.dim(x, 1)[0]"),
        ("x", "x.shape", "($0 = x; aten::size($0))"),
        ("x: List[int]", "x[-1]", "aten::__getitem__.t(x, -1)"),
        ("x: List[int]", "x[1:]", "aten::slice.t(x, 1, end=None, 1)"),
        ("x: Dict[str, int]", 'x["a"]', "aten::__getitem__.Dict_str(x, 'a')"),
        ("x: Tuple[int, str]", "x[-1]", "x[1]"),
        ("x: Tuple[int, str, int]", "x[::2]", "($0 = x; 2; $0[0:3:2])"),
        ("x, i: int", "x[i]", "($0 = x; i; i; $1 = i; aten::select.int($0, 0, $1))"),
        ("x", "x[None]", "($0 = x; None; None; $1 = None; aten::unsqueeze($0, 0))"),
        ("x", "x[..., 1:]", "aten::slice.Tensor(x, -1, 1, end=None, 1)"),
        ("x, y", "x[y]", "($0 = x; y; y; $1 = y; aten::index.Tensor($0, list[Tensor?]($1)))"),
        ("x: int, y: int", "x < y < 3", "(aten::lt.int(x, y) and aten::lt.int(y, 3))"),
        ("x: int, y: List[int]", "x in y", "aten::__contains__.int_list(y, x)"),
        ("x: int", "not x", "aten::__not__(aten::Bool.int(x))"),
        ("x: str", "len(x)", "aten::len.str(x)"),
        ("x: int", "float(x)", "aten::Float.int(x)"),
        ("x: int", "int(x)", "x"),
        ("x: int", 'f"<{x}>"', "aten::format('<{}>', x)"),
        ("n: int", "list(range(n))", "[$0 for $0 in range(n)]"),
        ("x: Optional[int]", "0 if x is None else x", None),
        ("x: int", "x is None", "(x; None; False)"),
        ("x: int", "isinstance(x, (int, str))", "(x; True)"),
    ],
)
def test_expressions(parameters: str, written: str, expected: str | None) -> None:
    if expected is None:
        expected = "(0 if aten::__is__(x, None) else (x: int = cast[int](x); x))"
    assert expression(parameters, written) == expected


def test_evaluation_order_of_several_indices_is_torchs() -> None:
    found = expression("x, i: int", "x[1:, i + 1]")
    assert found == (
        "($0 = x; aten::add.int(i, 1); $1 = aten::add.int(i, 1); "
        "aten::select.int(aten::slice.Tensor($0, 0, 1, end=None, 1), 1, $1))"
    )


def test_a_branch_joins_what_both_sides_assign() -> None:
    body = Checked(
        """
def f(c: bool, x: Optional[int]):
    if c:
        y = 1
        x = 2
        only_here = 3
    else:
        y = 2
    return y, x
"""
    ).body
    assert body[0] == "if c:  # joins x: int?, y: int"
    assert body[-1] == "return tuple(y, x)"


def test_a_branch_that_leaves_need_not_assign() -> None:
    checked = Checked(
        """
def f(x: Optional[int]) -> int:
    if x is None:
        return 0
    return x
"""
    )
    assert checked.text == (
        "def f(x: int?) -> int:\n"
        "  if aten::__is__(x, None):  # joins x: int\n"
        "    return 0\n"
        "  else:\n"
        "    x: int = cast[int](x)\n"
        "  return x\n"
    )


def test_and_or_not_refine() -> None:
    for condition in ("x is not None and x > 1", "not (x is None or x < 1)"):
        head = "def f(x: Optional[int]) -> int:\n"
        body = Checked(f"{head}    if {condition}:\n        return x\n    return 1\n").body
        assert "  x: int = cast[int](x)" in body


def test_a_failed_assert_refines_what_follows() -> None:
    body = Checked("def f(x: Optional[int]):\n    assert x is not None\n    return x + 1\n").body
    assert body[0] == "if aten::__isnot__(x, None):  # joins x: int"
    assert body[-1] == "return aten::add.int(x, 1)"


def test_only_the_branch_taken_is_checked() -> None:
    checked = Checked(
        """
def f(x: int):
    if x is None:
        y = x.nonsense()
    elif isinstance(x, str):
        y = also_nonsense
    else:
        y = x
    return y
"""
    )
    assert checked.body[-1] == "return y"


def test_loops_carry_what_was_there_before() -> None:
    body = Checked(
        """
def f(xs: List[int]) -> int:
    total = 0
    for i, x in enumerate(xs):
        if x == 3:
            continue
        square = x * x
        total += square + i
    return total
"""
    ).body
    assert body == [
        "total: int = 0",
        "for zip($0 in range(), $1: int in aten::__getitem__.t(xs)):  # carries total: int",
        "  i: int = $0",
        "  x: int = $1",
        "  if aten::eq.int(x, 3):",
        "    continue",
        "  square: int = aten::mul.int(x, x)",
        "  total: int = aten::add.int(total, aten::add.int(square, i))",
        "return total",
    ]


def test_a_loop_over_a_tuple_is_unrolled() -> None:
    body = Checked(
        """
def f(t: Tuple[int, str]) -> str:
    s = ""
    for e in t:
        s = s + str(e)
    return s
"""
    ).body
    assert body[1] == "$0, $1, = *t"
    assert body.count("s: str = aten::add.str(s, aten::str(e))") == 1
    assert "s: str = aten::add.str(s, e)" in body


def test_lists_and_tensors_change_in_place() -> None:
    body = Checked(
        """
def f(x, l: List[int], n: int):
    x += 1
    l += [2]
    n += 1
    l[0] += n
    x[0] = 1
"""
    ).body
    assert body[0] == "x: Tensor = aten::add_.Scalar(x, 1, alpha=1)"
    assert body[1] == "l: int[] = aten::add_.t(l, list[int](2))"
    assert body[2] == "n: int = aten::add.int(n, 1)"
    assert body[3:7] == [
        *("$0 = l", "$1 = 0", "$2 = n"),
        "aten::_set_item.t($0, $1, aten::add.int(aten::__getitem__.t($0, $1), $2))",
    ]
    assert body[-2] == (
        "aten::copy_($6, aten::tensor.int($3, prim::dtype($6), prim::device($6)), "
        "non_blocking=False)"
    )
    assert body[-1] == "return None"


def test_unpacking() -> None:
    body = Checked(
        """
def f(t: Tuple[int, str, float], x):
    a, *b = t
    h, w = x.shape
    (c, d), e = (1, 2), 3
    return a, b, h
"""
    ).body
    assert body[0] == "$0, $1, $2, = *t"
    assert "b: (str, float) = tuple($1, $2)" in body
    assert "$4, $5, = *($3 = x; aten::size($3))" in body


def test_the_return_type_is_inferred_from_all_returns() -> None:
    checked = Checked("def f(x: int):\n    if x > 1:\n        return x\n")
    assert checked.text.startswith("def f(x: int) -> int?:")
    assert checked.function.signature.returns[0].type == OptionalType(INT)


def test_calls_of_functions_fill_defaults_and_convert() -> None:
    checked = Checked(
        """
def g(x: int, y: float = 2.5, z: Optional[int] = None) -> int:
    return x

def f(t):
    return g(t, z=1)
"""
    )
    assert checked.body == ["return g(IntImplicit(t), y=2.5, 1)"]
    assert [a.default for a in checked.function.signature.arguments if a.has_default] == []


def module() -> ClassType:
    cls = ClassType("__torch__.Net", is_module=True)
    cls.add_attribute("weight", TENSOR, "parameter")
    cls.add_attribute("count", INT)
    cls.constants["scale"] = 2
    return cls


def test_methods_attributes_and_constants() -> None:
    checked = Checked(
        """
def helper(self, k: int) -> int:
    return k + self.scale

def forward(self, x):
    self.count += self.helper(1)
    return self.weight + x
""",
        self_type=module(),
    )
    assert checked.body == [
        "$0 = self",
        "$0.count = aten::add.int($0.count, self.helper(1))",
        "return aten::add.Tensor(self.weight, x, alpha=1)",
    ]
    assert checked.function.typed is not None
    assert str(checked.function.typed.parameters[0].type) == "__torch__.Net"


def test_a_script_class_is_built_by_its_init() -> None:
    cls = ClassType("__torch__.Point")
    Checked(
        """
def __init__(self, x: int):
    self.x = x
    self.y = 0.5
""",
        self_type=cls,
    )
    assert {n: a.type for n, a in cls.attributes.items()} == {"x": INT, "y": FLOAT}
    checked = Checked("def f(n: int):\n    return Point(n).x\n", {"Point": cls})
    assert checked.body == ["return new __torch__.Point(n).x"]


def test_named_tuples_are_made_by_position_and_name() -> None:
    point = TupleType((INT, FLOAT), "__torch__.P", ("x", "y"))
    checked = Checked("def f(n: int):\n    return P(y=1.5, x=n).x\n", {"P": point})
    assert checked.body == ["return ($0 = 1.5; $1 = n; tuple($1, $0))[0]"]


def test_the_forms_of_code_files() -> None:
    checked = Checked(
        """
def f(x : Optional[int], obj) -> int:
    _0 = uninitialized(int)
    y = annotate(List[int], [])
    z = unchecked_cast(int, x)
    a, b, = (1, 2, )
    n = getattr(obj, "shape")
    return torch.add(z, a)
"""
    )
    assert checked.body[:4] == [
        "_0: int = uninitialized[int]",
        "y: int[] = list[int]()",
        "z: int = cast[int](x)",
        "$0, $1, = *tuple(1, 2)",
    ]
    assert checked.body[-1] == "return aten::add.int(z, a)"


def test_comprehensions_keep_their_variables_to_themselves() -> None:
    checked = Checked(
        """
def f(xs: List[int], t: Tuple[int, int]):
    x = 7
    ys = [x + 1 for x in xs]
    zs = [x for x in t]
    return x, ys, zs
"""
    )
    # A comprehension over a tuple runs in the block itself, so `x` is put back after it.
    assert checked.body[2] == (
        "zs: int[] = ($3 = list[int](); $1, $2, = *t; $4 = x; 0; "
        "x: int = $1; aten::append.t($3, x); 1; x: int = $2; aten::append.t($3, x); "
        "x: int = $4; $3)"
    )


def test_every_form_of_the_tree_has_a_check() -> None:
    kinds = set(tree.Expr.__subclasses__()) | set(tree.Statement.__subclasses__())
    assert len(kinds) > 30
    assert kinds - {*dispatch._EXPRESSIONS, *dispatch._STATEMENTS} == {tree.Starred}
