"""Run-time failures: torch's class and text, and the diagnostic, from machine and plan."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.frontend.diagnostics.diagnostics import Diagnostic
from rushlight.frontend.diagnostics.exceptions import ScriptError
from rushlight.frontend.sources.source import Source, Span
from rushlight.interpreter.running.calling import call
from rushlight.interpreter.running.invoking import tiers_of
from rushlight.interpreter.values.objects import ScriptObject
from rushlight.ir.graphs.graph import Graph
from rushlight.ir.text.parser import parse_ir
from rushlight.ops.table.table import TABLE
from rushlight.ops.tensors.tensor import Tensor
from rushlight.typecheck.definitions.class_types import ClassType, InterfaceType
from rushlight.typecheck.definitions.functions import Function
from rushlight.typecheck.definitions.schema import Argument, Signature
from rushlight.typecheck.types.types import TENSOR, Type

Places = dict[str, str]


def script(
    name: str,
    python: str,
    graph_text: str,
    places: Places,
    types: dict[str, Type] | None = None,
    functions: dict[str, Function] | None = None,
    owner: ClassType | None = None,
    filename: str = "model.py",
) -> Function:
    """A function with the source `python` and the graph of the text; `places` says for a kind
    which expression of the source its node is."""
    graph: Graph = parse_ir(graph_text, table=TABLE, types=types, functions=functions)
    source = Source(python, filename, function=name)
    for node in graph.all_nodes:
        if node.kind in places:
            start = python.index(places[node.kind])
            node.span = Span(source, start, start + len(places[node.kind]))
    made = Function(f"{owner or '__torch__'}.{name}", graph=graph, owner=owner)
    arguments = tuple(Argument(v.debug_name, v.type) for v in graph.inputs)
    returns = tuple(Argument("", v.type) for v in graph.outputs)
    made.declared = Signature(name, "", arguments, returns)
    if owner is not None:
        owner.methods[name] = made
    return made


def failure(run: Callable[[], Any]) -> tuple[Exception, Diagnostic]:
    with pytest.raises(Exception) as caught:  # noqa: PT011
        run()
    (diagnostic,) = caught.value.diagnostics  # type: ignore[attr-defined]
    assert isinstance(diagnostic, Diagnostic)
    return caught.value, diagnostic


def twice(function: Function, *args: Any, self: ScriptObject | None = None) -> Any:
    """The failure on the machine, which the plan must repeat."""
    first, diagnostic = failure(lambda: call(function, args, self=self))
    second, again = failure(lambda: call(function, args, self=self))
    assert tiers_of(function).way().plan is not None
    assert (type(first), str(first)) == (type(second), str(second))
    assert diagnostic == again
    return first, diagnostic


PICK = "def pick(l: List[int], i: int) -> int:\n    k = l[i]\n    return k\n"
PICK_GRAPH = """
graph(%l : int[], %i : int):
  %k : int = aten::__getitem__(%l, %i)
  return (%k)
"""


def pick() -> Function:
    return script("pick", PICK, PICK_GRAPH, {"aten::__getitem__": "l[i]"})


def test_index_out_of_range() -> None:
    error, diagnostic = twice(pick(), [1, 2, 3], 3)
    assert type(error) is RuntimeError
    assert str(error) == (
        "The following operation failed in the TorchScript interpreter.\n"
        "Traceback of TorchScript (most recent call last):\n"
        '  File "model.py", line 2, in pick\n'
        "def pick(l: List[int], i: int) -> int:\n"
        "    k = l[i]\n"
        "        ~~~~ <--- HERE\n"
        "    return k\n"
        "RuntimeError: list index out of range\n"
    )
    assert diagnostic.code == "index-out-of-range"
    assert diagnostic.message == "index 3 is out of range for a list of 3 elements"
    assert diagnostic.where == "in function `pick`, at run time"
    assert diagnostic.primary is not None
    assert diagnostic.primary.text == "valid indices are -3 to 2"
    assert [(v.expression, v.value) for v in diagnostic.values] == [
        ("l", "list[int] = [1, 2, 3]"),
        ("i", "int = 3"),
    ]
    assert diagnostic.torch_message == "list index out of range"


def test_no_frame_of_the_interpreter_is_left() -> None:
    error, _ = failure(lambda: call(pick(), ([], 0)))
    assert error.__cause__ is None
    assert error.__context__ is None or error.__suppress_context__
    traceback = error.__traceback__
    files = []
    while traceback is not None:
        files.append(Path(traceback.tb_frame.f_code.co_filename).name)
        traceback = traceback.tb_next
    assert files[-1] == "calling.py"


def test_an_inlined_call_is_a_frame() -> None:
    caller = script(
        "caller",
        "def caller(l: List[int]) -> int:\n    return pick(l, 7)\n",
        """
        graph(%m : int[]):
          %f : Function = prim::Constant[name="pick"]()
          %seven : int = prim::Constant[value=7]()
          %k : int = prim::CallFunction(%f, %m, %seven)
          return (%k)
        """,
        {"prim::CallFunction": "pick(l, 7)"},
        functions={"pick": pick()},
    )
    error, diagnostic = twice(caller, [1])
    assert "line 2, in caller\n" in str(error)
    assert "line 2, in pick\n" in str(error)
    assert [(f.function, f.span.text) for f in diagnostic.stack] == [
        ("caller", "pick(l, 7)"),
        ("pick", "l[i]"),
    ]
    assert [v.expression for v in diagnostic.values] == ["l"]


def test_a_raise_forgets_the_calls_it_came_through() -> None:
    """As in torch, whose nodes without results do."""
    deep = script(
        "deep",
        'def deep(x: int) -> int:\n    raise ValueError("bad")\n',
        """
        graph(%x : int):
          %m : str = prim::Constant[value="bad"]()
          %c : str = prim::Constant[value="builtins.ValueError"]()
           = prim::RaiseException(%m, %c)
          return (%x)
        """,
        {"prim::RaiseException": 'raise ValueError("bad")'},
    )
    caller = script(
        "caller",
        "def caller(x: int) -> int:\n    return deep(x)\n",
        """
        graph(%x : int):
          %f : Function = prim::Constant[name="deep"]()
          %y : int = prim::CallFunction(%f, %x)
          return (%y)
        """,
        {"prim::CallFunction": "deep(x)"},
        functions={"deep": deep},
    )
    error, diagnostic = twice(caller, 1)
    assert type(error) is ScriptError
    assert str(error) == (
        "The following operation failed in the TorchScript interpreter.\n"
        "Traceback of TorchScript (most recent call last):\n"
        '  File "model.py", line 2, in caller\n'
        "def deep(x: int) -> int:\n"
        '    raise ValueError("bad")\n'
        "    ~~~~~~~~~~~~~~~~~~~~~~~ <--- HERE\n"
        "builtins.ValueError: bad\n"
    )
    assert diagnostic.code == "raised"
    assert [f.function for f in diagnostic.stack] == ["caller", "deep"]


def test_an_assertion() -> None:
    checked = script(
        "checked",
        'def checked(x: int) -> int:\n    assert x > 1, "small"\n    return x\n',
        """
        graph(%x : int):
          %m : str = prim::Constant[value="AssertionError: small"]()
          %n : NoneType = prim::Constant()
           = prim::RaiseException(%m, %n)
          return (%x)
        """,
        {"prim::RaiseException": 'assert x > 1, "small"'},
    )
    error, diagnostic = twice(checked, 1)
    assert type(error) is ScriptError
    assert str(error).endswith("RuntimeError: AssertionError: small\n")
    assert (diagnostic.code, diagnostic.message) == ("assertion-failed", "assertion failed: small")


def modules(inner_file: str = "model.py") -> tuple[Function, ScriptObject]:
    """`Net.forward` calls `self.second(x)`, whose `forward` is `x @ self.w`."""
    inner = ClassType("__torch__.Block", True)
    inner.add_attribute("w", TENSOR, "parameter")
    outer = ClassType("__torch__.Net", True)
    outer.add_attribute("second", inner)
    types: dict[str, Type] = {"__torch__.Block": inner, "__torch__.Net": outer}
    script(
        "forward",
        "def forward(self, x):\n    return x @ self.w\n",
        """
        graph(%self : __torch__.Block, %x : Tensor):
          %w : Tensor = prim::GetAttr[name="w"](%self)
          %y : Tensor = aten::matmul(%x, %w)
          return (%y)
        """,
        {"aten::matmul": "x @ self.w"},
        types,
        owner=inner,
        filename=inner_file,
    )
    forward = script(
        "forward",
        "def forward(self, h):\n    return self.second(h)\n",
        """
        graph(%self : __torch__.Net, %h : Tensor):
          %s : __torch__.Block = prim::GetAttr[name="second"](%self)
          %y : Tensor = prim::CallMethod[name="forward"](%s, %h)
          return (%y)
        """,
        {"prim::CallMethod": "self.second(h)"},
        types,
        owner=outer,
    )
    weight = Tensor._of(np.zeros((4, 4), np.float32))
    return forward, ScriptObject(outer, [ScriptObject(inner, [weight])])


def test_shapes_that_do_not_fit_in_a_submodule() -> None:
    forward, net = modules()
    error, diagnostic = twice(forward, Tensor._of(np.zeros((2, 3), np.float32)), self=net)
    assert str(error).count("in forward\n") == 2
    message = "mat1 and mat2 shapes cannot be multiplied (2x3 and 4x4)"
    assert str(error).endswith(f"RuntimeError: {message}\n")
    assert diagnostic.code == "shape-mismatch"
    assert diagnostic.where == "in method `Block.forward` of `second`, at run time"
    assert [f.function for f in diagnostic.stack] == ["Net.forward", "Block.forward"]
    assert [(v.expression, v.value) for v in diagnostic.values] == [
        ("x", "float32[2, 3] = [[0., 0., 0.], [0., 0., 0.]]"),
        ("self.w", "float32[4, 4]"),
    ]


def test_what_fails_in_a_library_is_told_in_the_words_of_the_users_call() -> None:
    forward, net = modules("torch/nn/modules/linear.py")
    _, diagnostic = twice(forward, Tensor._of(np.zeros((2, 3), np.float32)), self=net)
    assert diagnostic.primary is not None
    assert diagnostic.primary.span.text == "self.second(h)"
    assert diagnostic.where == "in method `Net.forward`, at run time"
    assert [v.expression for v in diagnostic.values] == ["h", "self.second.w"]
    assert [f.span.filename for f in diagnostic.stack] == ["model.py", "torch/nn/modules/linear.py"]


def test_a_method_of_an_interface_is_a_frame() -> None:
    forward, net = modules()
    interface = InterfaceType("__torch__.Layer", True)
    interface.methods["forward"] = forward
    use = script(
        "use",
        "def use(layer: Layer, x):\n    return layer.forward(x)\n",
        """
        graph(%layer : __torch__.Layer, %x : Tensor):
          %y : Tensor = prim::CallMethod[name="forward"](%layer, %x)
          return (%y)
        """,
        {"prim::CallMethod": "layer.forward(x)"},
        {"__torch__.Layer": interface},
    )
    error, diagnostic = failure(lambda: call(use, (net, Tensor._of(np.zeros((2, 3), np.float32)))))
    assert [f.span.text for f in diagnostic.stack] == [
        "layer.forward(x)",
        "self.second(h)",
        "x @ self.w",
    ]
    assert str(error).count('File "model.py"') == 3


ONE_LINERS = [
    ("int", "aten::remainder", ("int", "int"), (1, 0)),
    ("int", "aten::floordiv", ("int", "int"), (1, 0)),
    ("int", "aten::__getitem__", ("Dict(str, int)", "str"), ({"a": 1}, "b")),
    ("int[]", "aten::_set_item", ("int[]", "int", "int"), ([1], 4, 1)),
    ("Tensor", "aten::matmul", ("Tensor", "Tensor"), ((2, 3), (4, 5))),
    ("int", "aten::size", ("Tensor", "int"), ((2, 3), 5)),
    ("Tensor", "aten::mul", ("Tensor", "Tensor"), ((2,), (3,))),
    ("Tensor", "aten::tanh", ("Tensor",), (None,)),
]


@pytest.mark.parametrize(("result", "kind", "types", "values"), ONE_LINERS)
def test_what_a_plan_writes_out_fails_like_the_operator(
    result: str, kind: str, types: tuple[str, ...], values: tuple[Any, ...]
) -> None:
    names = [f"%v{i}" for i in range(len(types))]
    parameters = ", ".join(f"{n} : {t}" for n, t in zip(names, types, strict=True))
    text = f"graph({parameters}):\n  %r : {result} = {kind}({', '.join(names)})\n  return (%r)\n"
    function = script("f", "def f(): x\n", text, {kind: "x"})
    arguments = [
        Tensor._of(np.zeros(v, np.float32)) if t == "Tensor" and v is not None else v
        for v, t in zip(values, types, strict=True)
    ]
    error, diagnostic = twice(function, *arguments)
    assert type(error) is RuntimeError
    assert "object has no attribute" not in str(error)
    assert diagnostic.code != "operator-failed"


def scaled(x, by=None):  # type: ignore[no-untyped-def]
    return ((x - 0.5) * by).exp() + x


@pytest.mark.parametrize("rows", [3, 5000])
def test_an_argument_left_out_is_told_alike_in_all_calls(rows: int) -> None:
    scripted = torch.jit.script(scaled)
    told = set()
    for _ in range(4):
        with pytest.raises(RuntimeError, match=r"got None .* for argument #1 'other'") as caught:
            scripted(torch.ones(rows, 3))
        told.add(str(caught.value))
    assert len(told) == 1
    assert scripted(torch.ones(rows, 3), torch.zeros(3)).tolist() == [[2.0] * 3] * rows
