"""Freezing: what becomes constant, what stays, and that results are the same."""

from __future__ import annotations

import enum
import io
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight import nn
from rushlight.testing import FileCheck


class Scale(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.factor = torch.tensor([2.0])
        self.offset = 3

    def forward(self, x):
        return x * self.factor + self.offset


class Counting(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = Scale()
        self.count = 0
        self.step = 2

    def forward(self, x):
        self.count += self.step
        return self.scale(x) + self.count

    @torch.jit.export
    def twice(self, x):
        return self.scale(x) * 2


def frozen(module: nn.Module, *preserved: str) -> Any:
    return torch.jit.freeze(torch.jit.script(module.eval()), list(preserved))


def kinds(graph: Any) -> list[str]:
    return [node.kind() for node in graph.nodes() if node.kind() != "prim::Constant"]


def has(target: Any, *names: str) -> list[bool]:
    return [target.hasattr(name) for name in names]


def test_attributes_become_constants_named_by_their_path() -> None:
    module = frozen(nn.Sequential(nn.Linear(2, 3), nn.ReLU()))
    assert kinds(module.graph) == ["aten::linear", "aten::relu"]
    names = {value.debugName() for value in module.graph.findNode("aten::linear").inputs()}
    assert {"self.0.weight", "self.0.bias"} <= names
    assert list(module.parameters()) == []
    weight = module.graph.findNode("aten::linear").inputsAt(1)
    assert weight.type().str() == "Float(3, 2, strides=[2, 1], requires_grad=0, device=cpu)"


def test_frozen_traces_forget_sizes_and_what_dropout_took() -> None:
    layers = torch.nn.Sequential(torch.nn.LayerNorm(4), torch.nn.Dropout(0.1)).eval()
    frozen = torch.jit.freeze(torch.jit.trace(layers, torch.rand(2, 4)))
    lines = re.sub(r", scope: \S+| #.*", "", str(frozen.graph)).splitlines()
    assert lines[1:] == [  # as torch's
        "      %input.1 : Tensor):",
        "  %20 : int[] = prim::Constant[value=[4]]()",
        "  %7 : float = prim::Constant[value=1.0000000000000001e-05]()",
        "  %6 : bool = prim::Constant[value=1]()",
        "  %self.0.weight : Float(4, strides=[1], requires_grad=0, device=cpu)"
        " = prim::Constant[value= 1  1  1  1 [ CPUFloatType{4} ]]()",
        "  %self.0.bias : Float(4, strides=[1], requires_grad=0, device=cpu)"
        " = prim::Constant[value= 0  0  0  0 [ CPUFloatType{4} ]]()",
        "  %input : Tensor = aten::layer_norm(%input.1, %20, %self.0.weight, %self.0.bias, %7, %6)",
        "  return (%input)",
    ]


def test_what_code_changes_stays() -> None:
    original = torch.jit.script(Counting().eval())
    module = torch.jit.freeze(original)
    x = torch.ones(2)
    assert has(module._c, "count", "step", "scale") == [True, False, False]
    assert module(x).tolist() == [7.0, 7.0]
    assert module(x).tolist() == [9.0, 9.0]
    assert original.count == 0
    assert module._c._method_names() == ["forward"]


def test_names_that_are_preserved() -> None:
    module = frozen(Counting(), "twice", "scale.offset")
    assert module._c._method_names() == ["forward", "twice"]
    assert has(module._c.scale, "offset", "factor") == [True, False]
    module.scale.offset = 10
    assert module.twice(torch.ones(1)).tolist() == [24.0]
    with pytest.raises(RuntimeError, match="Unknown name: nothing"):
        frozen(Counting(), "nothing")


def test_a_preserved_submodule_is_kept_whole() -> None:
    module = frozen(Counting(), "scale")
    assert has(module._c.scale, "offset", "factor", "training") == [True, True, True]
    assert module.scale(torch.ones(1)).tolist() == [5.0]


def test_what_cannot_be_frozen() -> None:
    with pytest.raises(RuntimeError, match="Freezing expects a ScriptModule as input"):
        torch.jit.freeze(Scale())
    with pytest.raises(RuntimeError, match="only implemented for modules in eval mode"):
        torch.jit.freeze(torch.jit.script(Scale()))

    class Itself(nn.Module):
        def forward(self, x):
            return self

    with pytest.raises(RuntimeError, match="attempted to freeze a module that return itself"):
        frozen(Itself())


def changed_view(self, x):
    self.b[1] += 10
    return self.a.sum()


def changed_list(self, x):
    self.items.append(1)
    return self.items


def given_back(self, x):
    return self.items


def changed_through_a_tuple(self, x):
    pair = (self.items, [7])
    pair[0].append(2)
    return str(self.items)


def changed_by_a_task(self, x):
    future = torch.jit.fork(double, self.a)
    return torch.jit.wait(future) + self.b.sum()


@torch.jit.script
def double(x):
    return x * 2


def put_into_a_list(self, x):
    both = [self.a], x
    x.zero_()
    return str(both)


def put_into_lists(self, x):
    made = torch.ones(1)
    both = [self.a], [made]
    made.zero_()
    return str(both)


def returned_in_a_list(self, x):
    x.zero_()
    return [self.a]


def read_twice(self, x):
    both = [self.a], [self.c]
    self.a[0] = 1
    return str(both)


def stacked(self, x):
    x.zero_()
    return torch.stack([self.a, self.a])


def given_to_python(self, x):
    return self.a + self.outside(2)


@pytest.mark.parametrize(
    ("forward", "kept"),
    [
        (changed_view, {"a", "b"}),
        (changed_list, {"items"}),
        (given_back, set()),
        (changed_through_a_tuple, {"items"}),
        (changed_by_a_task, {"a", "b"}),
        (put_into_a_list, {"a", "b"}),
        (put_into_lists, {"a", "b"}),
        (returned_in_a_list, set()),
        (stacked, set()),
        (read_twice, {"a", "b"}),
        (given_to_python, {"a", "b", "c", "items"}),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_changes_are_found_through_views_and_containers(
    forward: Callable[..., Any], kept: set[str]
) -> None:
    class Changing(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a = torch.tensor([1, 2, 3, 4])
            self.b = self.a.view(2, 2)
            self.c = torch.ones(2)
            self.items = [5, 6]

        @torch.jit.ignore
        def outside(self, n: int) -> int:
            return n + len(self.items)

    Changing.forward = forward
    expected = torch.jit.script(Changing().eval())
    module = frozen(Changing())
    for _ in range(2):
        assert str(module(torch.ones(1))) == str(expected(torch.ones(1)))
    assert {name for name in ("a", "b", "c", "items") if module._c.hasattr(name)} == kept
    if forward is given_to_python:
        assert "GetAttr" not in str(module.graph)


def test_constants_have_no_history_where_python_sees_the_parameter() -> None:
    class Seen(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = nn.Parameter(torch.ones(2))

        @torch.jit.ignore
        def outside(self, n: int) -> int:
            return n + int(self.w.requires_grad)

        def forward(self, n: int):
            return self.outside(n), self.w

    count, w = frozen(Seen())(1)
    assert (count, w.requires_grad) == (2, False)


def test_tensors_in_containers_must_not_be_shared_with_other_attributes() -> None:
    class Sharing(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a = torch.tensor([1, 2])
            self.items = [self.a, torch.tensor([10])]

        def forward(self, x):
            self.items[0][0] += 10
            return self.a.sum()

    def through_a_view(self, x):
        self.items[0].contiguous().diagonal().add_(1)
        return self.a.sum()

    for forward in (Sharing.forward, through_a_view):
        Sharing.forward = forward
        with pytest.raises(RuntimeError, match="module contains attributes values that overlaps"):
            frozen(Sharing())


def test_a_frozen_module_is_saved_and_loaded() -> None:
    x = torch.rand(2, 3, 8, 8)
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU())
    module = frozen(model)
    buffer = io.BytesIO()
    torch.jit.save(module, buffer)
    buffer.seek(0)
    loaded = torch.jit.load(buffer)
    FileCheck().check_not("GetAttr").check_not("batch_norm").run(loaded.graph)
    torch.testing.assert_close(loaded(x), module(x))


class Order(enum.Enum):
    ROWS = 1
    COLUMNS = 2


class Laid(nn.Module):
    order: Order
    orders: list[Order]
    nested: list[tuple[Order, int]]
    named: dict[str, Order]
    given: Order | None

    def __init__(self) -> None:
        super().__init__()
        self.order, self.given = Order.COLUMNS, Order.COLUMNS
        self.orders = [Order.COLUMNS, Order.ROWS]
        self.nested = [(Order.ROWS, 1), (Order.COLUMNS, 2)]
        self.named = {"a": Order.COLUMNS}

    def forward(self, i: int, name: str):
        known = self.order == Order.COLUMNS, self.order != Order.ROWS, self.order.value
        listed = self.orders[i] == Order.COLUMNS, self.nested[i][0] == self.order
        return known, listed, self.named[name].name, self.nested, self.named, self.given


def test_members_of_enumerations_are_the_constants_that_code_compares_with() -> None:
    scripted = torch.jit.script(Laid().eval())
    frozen = torch.jit.freeze(scripted)
    buffer = io.BytesIO()
    torch.jit.save(frozen, buffer)
    buffer.seek(0)
    wanted = scripted(1, "a")
    assert wanted[:2] == ((True, True, 2), (False, True))
    assert frozen(1, "a") == wanted == torch.jit.load(buffer)(1, "a")
    FileCheck().check_not("object(").run(frozen.graph)


def test_training_mode_keeps_parameters() -> None:
    scripted = torch.jit.script(nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5)))
    target = torch._C._freeze_module(scripted._c)
    inner = [getattr(target, name) for name in ("0", "1")]
    assert has(inner[0], "weight", "training") == [True, False]
    assert has(inner[1], "training") == [True]
    scripted.eval()
    target = torch._C._freeze_module(scripted._c, preserveParameters=True)
    assert has(target, "0", "1") == [True, False]


# ------------------------------------------------------------------------------------ folding


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(
    ("operator", "operand", "folds"),
    [
        (torch.add, 2.0, True),
        (torch.sub, np.ones((1, 4, 1, 1)), True),
        (torch.mul, np.full((1, 1), 3), True),
        (torch.div, 4.0, True),
        (torch.add, np.ones((4, 1, 4)), False),
        (torch.mul, torch.tensor(3), True),
        (torch.sub, torch.tensor([2], dtype=torch.int32), True),
        (torch.add, torch.tensor([2.0], dtype=torch.float64), False),
    ],
)
def test_operators_after_a_convolution_go_into_its_weights(
    bias: bool, operator: Any, operand: Any, folds: bool
) -> None:
    value = torch.tensor(operand.tolist()) * 1.0 if isinstance(operand, np.ndarray) else operand

    class After(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = nn.Conv2d(3, 4, 3, bias=bias)
            self.operand = value
            self.operator = operator

        def forward(self, x):
            return self.operator(self.conv(x), self.operand)

    scripted = torch.jit.script(After().eval())
    module = torch.jit.freeze(scripted)
    x = torch.rand(2, 3, 6, 6)
    torch.testing.assert_close(module(x), scripted(x))
    assert (kinds(module.graph) == ["aten::conv2d"]) is folds
    plain = torch.jit.freeze(scripted, optimize_numerics=False)
    assert len(kinds(plain.graph)) == 2


@pytest.mark.parametrize(
    ("layers", "sizes"),
    [
        ((nn.Conv1d(2, 3, 2), nn.BatchNorm1d(3)), (4, 2, 5)),
        ((nn.Conv2d(2, 3, 2, bias=False), nn.BatchNorm2d(3)), (4, 2, 5, 5)),
        ((nn.Linear(2, 3), nn.BatchNorm1d(3)), (4, 2)),
    ],
    ids=["conv1d", "conv2d", "linear"],
)
def test_batch_normalisation_goes_into_the_layer_before(
    layers: tuple[Any, Any], sizes: tuple[int, ...]
) -> None:
    model = nn.Sequential(*layers)
    model(torch.rand(*sizes))  # moves the running mean and variance
    scripted = torch.jit.script(model.eval())
    module = torch.jit.freeze(scripted)
    assert "aten::batch_norm" not in kinds(module.graph)
    x = torch.rand(*sizes)
    torch.testing.assert_close(module(x), scripted(x))
    again = torch.jit.optimize_for_inference(scripted)
    torch.testing.assert_close(again(x), scripted(x))


class Twice(nn.Module):
    @torch.jit.export
    def twice(self, x: torch.Tensor) -> torch.Tensor:
        return x + x


def test_methods_that_are_not_there_are_refused_by_name() -> None:
    module = torch.jit.freeze(torch.jit.script(Twice()).eval(), ["twice"])
    torch.jit.run_frozen_optimizations(module, preserved_methods=["twice"])
    with pytest.raises(AttributeError, match="object has no attribute 'thrice'"):
        torch.jit.run_frozen_optimizations(module, preserved_methods=["thrice"])
    with pytest.raises(RuntimeError, match="Method 'forward' is not defined"):
        torch.jit.optimize_for_inference(torch.jit.script(Twice()))
    with pytest.raises(RuntimeError, match="Method 'thrice' is not defined"):
        torch.jit.optimize_for_inference(module, ["twice", "thrice"])
    assert torch.jit.optimize_for_inference(module) is module
    again = torch.jit.optimize_for_inference(torch.jit.script(Twice()), ["twice"])
    assert again.twice(torch.ones(1)).tolist() == [2.0]


def test_methods_of_interfaces_are_inlined() -> None:
    module = frozen(Chooser())
    FileCheck().check_not("CallMethod").check_not("GetAttr").run(module.graph)
    assert module(torch.ones(1)).tolist() == [5.0]


@torch.jit.interface
class Chosen(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        pass


class Plain(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.factor = 5.0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.factor


class Chooser(nn.Module):
    inner: Chosen

    def __init__(self) -> None:
        super().__init__()
        self.inner = Plain()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.inner.forward(x)


class Storing(nn.Module):
    items: list[torch.Tensor]

    def __init__(self) -> None:
        super().__init__()
        self.items = [torch.zeros(2)]
        self.w = nn.Parameter(torch.ones(2))

    def forward(self, x):
        self.items.append(self.w)
        return self.items[-1] * x + len(self.items)


def test_code_may_put_attributes_into_containers() -> None:
    module = frozen(Storing())
    assert [module(torch.ones(2)).tolist() for _ in range(2)] == [[3.0, 3.0], [4.0, 4.0]]


def test_properties_may_have_no_setter() -> None:
    class Halves(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.half: int = 1

        @property
        def whole(self) -> int:
            return self.half * 2

        @whole.setter
        def whole(self, value: int) -> None:
            self.half = value // 2

        @property
        def third(self) -> int:
            return self.whole // 3

        def forward(self, x: int) -> int:
            self.whole = x
            return self.third + self.whole

    frozen = torch.jit.freeze(torch.jit.script(Halves()).eval())
    assert [frozen(9), frozen(6)] == [10, 8]


class Decided(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.times = 2

    def forward(self, x):
        if x.mean() > 0.1 and self.times > 0:
            for _ in range(self.times):
                x = x * 0.5
        return x


def test_a_condition_that_became_another_is_that_one_where_loops_were_written_out() -> None:
    made = frozen(Decided())
    assert kinds(made.graph) == ["aten::mean", "aten::gt", "aten::Bool", "prim::If"]
    assert made(torch.ones(2)).tolist() == [0.25, 0.25]
    assert made(torch.zeros(2)).tolist() == [0.0, 0.0]


class ReadTwice(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("held", torch.eye(2).to_sparse())
        self.last = torch.zeros(2, 2)

    def forward(self, x):
        return torch.mm(self.held, x) + torch.mm(self.held, x).relu()

    @torch.jit.export
    def exchanged(self, x):
        before = self.last
        self.last = x
        return before + self.last


def test_an_attribute_that_stays_is_read_once_unless_it_is_set_between() -> None:
    made = frozen(ReadTwice(), "exchanged")
    assert kinds(made.graph) == ["prim::GetAttr", "aten::mm", "aten::relu", "aten::add"]
    assert made(-torch.ones(2, 2)).tolist() == [[-1.0, -1.0], [-1.0, -1.0]]
    assert kinds(made.exchanged.graph).count("prim::GetAttr") == 2
    assert made.exchanged(torch.ones(2, 2)).tolist() == [[1.0, 1.0], [1.0, 1.0]]
    assert made.exchanged(torch.ones(2, 2)).tolist() == [[2.0, 2.0], [2.0, 2.0]]
