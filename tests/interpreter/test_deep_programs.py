"""Programs from Python whose values, types, modules or calls share parts or nest deeply."""

from __future__ import annotations

import copy
import inspect
import io
import sys
import threading
from typing import Any

import pytest

import rushlight as torch
from rushlight import nn
from rushlight.frontend.limits.bounds import BoundExceeded
from rushlight.interpreter.values.shared_parts import may_share
from rushlight.serialization.archives.audit import audit
from rushlight.typecheck.definitions.class_types import ClassType
from rushlight.typecheck.types.types import (
    ANY,
    ANY_LIST,
    INT,
    STRING,
    DictType,
    ListType,
    OptionalType,
    TupleType,
    Type,
    UnionType,
)


class Plus(nn.Module):
    def forward(self, x):
        return x + 1


class Around(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return self.inner(x)


class Twice(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.a = inner
        self.b = inner

    def forward(self, x):
        return self.a(x)


def nested(depth: int) -> nn.Module:
    module: nn.Module = Plus()
    for _ in range(depth):
        module = Around(module)
    return module


def test_two_hundred_modules_in_each_other() -> None:
    x = torch.ones(1)
    module = nested(200)
    scripted = torch.jit.script(module)
    file = io.BytesIO()
    torch.jit.save(scripted, file)
    assert not audit(file.getvalue(), "it").severity
    again = torch.jit.load(io.BytesIO(file.getvalue()), trust="none")
    frozen = torch.jit.freeze(scripted.eval())
    traced = torch.jit.trace(nested(100), x)
    made = [scripted, again, copy.deepcopy(scripted), frozen, traced]
    assert [each(x).item() for each in made] == [2.0] * 5
    assert len(str(again).splitlines()) == 601
    assert "aten::add" in str(scripted.inlined_graph)


def test_modules_too_deep_to_be_saved_are_not_scripted() -> None:
    with pytest.raises(BoundExceeded, match="more than 220 deep"):
        torch.jit.script(nested(230))


def test_a_module_in_very_many_places_is_compiled_once() -> None:
    module: nn.Module = Plus()
    for _ in range(40):
        module = Twice(module)
    scripted = torch.jit.script(module)
    assert scripted(torch.ones(1)).item() == 2.0
    file = io.BytesIO()
    torch.jit.save(scripted, file)
    file.seek(0)
    again = torch.jit.load(file, trust="none")
    assert again(torch.ones(1)).item() == 2.0
    assert again.a is again.b


def chain(length: int) -> Any:
    """A function that calls one that calls one, and so on."""
    return torch.jit.CompilationUnit(
        "def f0(x):\n    return x + 1\n"
        + "".join(f"def f{i}(x):\n    return f{i - 1}(x)\n" for i in range(1, length))
    )


def test_a_long_chain_of_calls_compiles() -> None:
    unit = chain(150)
    assert unit.f149(torch.ones(1)).item() == 2.0


def twins(levels: int, kind: type = list) -> Any:
    value: Any = kind([1])
    for _ in range(levels):
        value = kind([value, value])
    return value


def anything(x: Any) -> int:
    return 1


@pytest.mark.parametrize("value", [twins(40), twins(40, tuple)])
def test_values_that_would_be_copied_for_ever_are_refused(value: Any) -> None:
    with pytest.raises(BoundExceeded, match="more than 67108864 elements"):
        torch.jit.script(anything)(value)


def test_a_list_that_contains_itself_is_refused() -> None:
    value: list[Any] = [1]
    value.append(value)
    with pytest.raises(BoundExceeded, match="contains itself"):
        torch.jit.script(anything)(value)


def number(x: int) -> int:
    return x


def test_errors_show_values_that_share_parts_briefly() -> None:
    with pytest.raises(RuntimeError, match="Value: <list object at"):
        torch.jit.script(number)(twins(40))


def test_types_refuse_to_grow() -> None:
    pair: Type = INT
    for _ in range(15):
        pair = TupleType((pair, pair))
    assert (pair.size, pair.depth) == (65535, 16)
    with pytest.raises(BoundExceeded, match="131071 parts"):
        TupleType((pair, pair))
    assert TupleType((INT,) * 200_000).size == 200_001
    deep: Type = INT
    for _ in range(99):
        deep = ListType(deep)
    with pytest.raises(BoundExceeded, match="more than 100 deep"):
        ListType(deep)
    assert hash(pair) == hash(TupleType(pair.contained))


def test_deep_schemas_and_graphs_end_in_errors_of_their_own() -> None:
    with pytest.raises(RuntimeError, match="nested too deeply"):
        torch._C.parse_schema(f"a::b({'(' * 3000}int{')' * 3000} x) -> ()")
    with pytest.raises(RuntimeError, match="nested too deeply"):
        torch._C.parse_ir(f"graph(%a : int{'[]' * 2000}):\n  return (%a)\n")


def test_definitions_in_turn_work_in_a_thread_with_a_deep_stack() -> None:
    found: list[float] = []

    def deeper(levels: int) -> None:
        if levels:
            deeper(levels - 1)
        else:
            unit = chain(60)
            found.append(unit.f59(torch.ones(1)).item())

    thread = threading.Thread(target=deeper, args=(300,))
    thread.start()
    thread.join()
    assert found == [2.0]


def test_what_walks_graphs_goes_as_deep_as_the_programs() -> None:
    lines = ["    if n == 0:", "        y = x + 1"]
    for number in range(1, 90):
        lines += [f"    elif n == {number}:", f"        y = x + {number}"]
    body = "\n".join(lines)
    module = nn.Module()
    scripted = torch.jit.script(module.eval())
    scripted.define(
        f"def forward(self, x):\n    n = int(x.size(0))\n    y = x\n{body}\n    return y"
    )
    x = torch.ones(80)
    frames = len(inspect.stack(0))
    usual = sys.getrecursionlimit()
    sys.setrecursionlimit(frames + 130)
    try:
        assert scripted(x).tolist() == scripted(x).tolist() == [81.0] * 80
        frozen = torch.jit.freeze(scripted)
        assert frozen(x)[0] == 81.0
        graph = frozen.graph.copy()
        for name in ("dce", "constant_propagation", "lint", "canonicalize"):
            getattr(torch._C, f"_jit_pass_{name}")(graph)
        graph.alias_db()
        assert sys.getrecursionlimit() == frames + 130
    finally:
        sys.setrecursionlimit(usual)


@pytest.mark.parametrize(
    ("type", "may"),
    [
        (INT, False),
        (ListType(INT), False),
        (OptionalType(ListType(INT)), False),
        (TupleType((ListType(INT), DictType(STRING, INT))), False),
        (ListType(TupleType((INT, ListType(INT)))), True),
        (DictType(STRING, ListType(INT)), True),
        (OptionalType(ListType(ListType(INT))), True),
        (ANY, True),
        (ANY_LIST, True),
        (UnionType((INT, STRING)), True),
        (ClassType("__torch__.Any"), True),
    ],
    ids=str,
)
def test_what_may_have_huge_copies(type: Type, may: bool) -> None:
    assert may_share(type) is may
