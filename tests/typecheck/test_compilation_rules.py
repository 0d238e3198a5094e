"""Rules of the compiler: modules as they were first written, texts, hints, declarations."""

from __future__ import annotations

import io
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest

import rushlight as torch
from rushlight import Tensor


class Empty(torch.jit.ScriptModule):
    pass


def test_attribute_is_its_value_within_init() -> None:
    class Half(torch.jit.ScriptModule):
        def __init__(self) -> None:
            super().__init__()
            self.rate = torch.jit.Attribute(0, float)
            self.names = torch.jit.Attribute([], list[str])
            assert (self.rate, self.names) == (0, [])

        @torch.jit.script_method
        def forward(self, x):  # type: ignore[no-untyped-def]
            self.names.append("a")
            return x * self.rate, self.names

    schema = str(Half().forward.schema)
    assert schema.endswith("Half self, Tensor x) -> ((Tensor, str[]))")


def test_script_method_is_a_function_while_scripting_is_off() -> None:
    torch.jit._state.disable()
    try:

        class Plain(torch.jit.ScriptModule):
            @torch.jit.script_method
            def double(self, x):  # type: ignore[no-untyped-def]
                return x * 2

        assert Plain.double(None, 4) == 8
    finally:
        torch.jit._state.enable()


def test_cleared_registry_gives_new_types() -> None:
    text = "def f(self, x: {}):\n    return x\n"
    Empty().define(text.format("int"))
    with pytest.raises(RuntimeError, match="Can't redefine method: f on class"):
        Empty().define(text.format("float"))
    torch._C._jit_clear_class_registry()
    torch.jit._recursive.concrete_type_store = torch.jit._recursive.ConcreteTypeStore()
    torch.jit._state._clear_class_state()
    new = Empty()
    new.define(text.format("float"))
    assert str(new.f.schema).endswith("Empty self, float x) -> float")


def test_names_of_a_cleared_registry_are_kept_apart_in_archives() -> None:
    def scaled(by: float) -> torch.nn.Module:
        class Scale(torch.nn.Module):
            factor: torch.jit.Final[float]

            def __init__(self) -> None:
                super().__init__()
                self.factor = by

            def forward(self, x):  # type: ignore[no-untyped-def]
                return x * self.factor

        return Scale()

    both = torch.nn.Sequential()
    names = set()
    for place, by in enumerate((2.0, 3.0)):
        torch._C._jit_clear_class_registry()
        both.append(torch.jit.script(scaled(by)))
        names.add(both[place]._c.qualified_name)
    assert len(names) == 1
    buffer = io.BytesIO(torch.jit.script(both).save_to_buffer())
    assert torch.jit.load(buffer)(torch.ones(1)).tolist() == [6.0]


def test_scripted_function_refuses_pickling() -> None:
    @torch.jit.script
    def f(x: int) -> int:
        return x

    with pytest.raises(pickle.PickleError, match="ScriptFunction cannot be pickled"):
        pickle.dumps(f)


def test_source_ranges_of_texts() -> None:
    unit = torch.jit.CompilationUnit("\ndef f(x):\n    return -x\n")
    shown = "aten::neg(%x.1) # <string>:3:11\n"
    assert shown in repr(unit.f.graph)
    with torch.jit._hide_source_ranges():
        assert "aten::neg(%x.1)\n" in repr(unit.f.graph)
        assert shown in unit.f.graph.str(print_source_ranges=True)
    assert shown in repr(unit.f.graph)


def test_local_function_is_checked_though_nobody_calls_it() -> None:
    with pytest.raises(RuntimeError, match="SyntaxError: 'break' outside loop"):
        torch.jit.CompilationUnit("def f(a):\n  for i in range(5):\n    def g():\n      break\n")


Defaults = Callable[..., Any]


def _sides(x: Tensor, sides: list[int] = (1, 1), by: float = 2) -> list[int]:  # type: ignore[assignment]
    return sides


def _names(x: Tensor, names: list[str] = ("a", "b")) -> list[str]:  # type: ignore[assignment]
    return names


def _perhaps(x: Tensor, sides: list[int] | None = (1, 1)) -> list[int] | None:  # type: ignore[assignment]
    return sides


def _flags(x: Tensor, sides: list[float] = (True, 2)) -> list[float]:  # type: ignore[assignment]
    return sides


def _pair(x: Tensor, pair: tuple[float, float] = (1, 2)) -> tuple[float, float]:
    return pair


def _nothing(x: Tensor, xs: list[Tensor] = ()) -> list[Tensor]:  # type: ignore[assignment]
    return xs


def _deep(x: Tensor, xs: list[list[int]] = ((1, 1), (2,))) -> list[list[int]]:  # type: ignore[assignment]
    return xs


@pytest.mark.parametrize(
    ("function", "shown", "value"),
    [
        (_sides, "int[] sides=1, float by=2.", [1, 1]),
        (_names, "str[] names=[a, b]", ["a", "b"]),
        (_perhaps, "int[]? sides=[1, 1]", [1, 1]),
        (_flags, "float[] sides=[1., 2.]", [1.0, 2.0]),
        (_pair, "(float, float) pair=(1., 2.)", (1.0, 2.0)),
        (_nothing, "Tensor[] xs=[]", []),
        (_deep, "int[][] xs=[[1, 1], [2]]", [[1, 1], [2]]),
    ],
)
def test_tuples_are_defaults_of_lists(function: Defaults, shown: str, value: object) -> None:
    scripted = torch.jit.script(function)
    assert f"(Tensor x, {shown})" in str(scripted.schema)
    assert scripted(torch.ones(1)) == value
    assert type(scripted(torch.ones(1))) is type(value)


def _mixed(x: Tensor, sides: list[int] = (1, "a")) -> list[int]:  # type: ignore[assignment]
    return sides


def _broken(x: Tensor, sides: list[int] = (1.0, 2)) -> list[int]:  # type: ignore[assignment]
    return sides


def _short(x: Tensor, pair: tuple[int, int] = (1,)) -> tuple[int, int]:  # type: ignore[assignment]
    return pair


@pytest.mark.parametrize("function", [_mixed, _broken, _short])
def test_tuples_of_other_elements_are_no_defaults(function: Defaults) -> None:
    with pytest.raises(RuntimeError, match=r"Expected a default value of type \w+\[.*\] on param"):
        torch.jit.script(function)


def test_tuple_with_a_list_is_no_default() -> None:
    def f(x=(1, [])):  # type: ignore[no-untyped-def]
        # type: (Tuple[int, List[int]])
        return x

    with pytest.raises(RuntimeError, match=r"Found <class 'tuple'> on parameter x"):
        torch.jit.script(f)


def test_quantization_schemes_are_numbers() -> None:
    class Scheme(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.qscheme = torch.per_channel_affine

        def forward(self) -> bool:
            return self.qscheme == torch.per_channel_affine

    module = torch.jit.script(Scheme())
    assert (module(), module.qscheme) == (True, 1)
    module.qscheme = torch.per_tensor_affine
    assert not module()


@pytest.mark.parametrize(
    ("type", "value", "said"),
    [
        ("int", "[2, 3]", "Expected an annotation of type List but got int:"),
        ("Optional[int]", "{}", "Expected an annotation of type Dict but got Optional[int]:"),
        ("Dict[int, int]", "[x for x in [1]]", "of type List but got Dict[int, int]:"),
        ("List[int]", "{x: x for x in [1]}", "of type Dict but got List[int]:"),
        (
            "Union[int, str]",
            "[]",
            "Expected an Union type annotation with an inner List type, but got Union[int, str]:",
        ),
        (
            "Union[List[int], List[str]]",
            "[]",
            "Cannot assign an empty list to a variable annotated to be type Union[List[int], "
            "List[str]] because there are multiple possible List type candidates in the Union "
            "annotation:",
        ),
        ("Optional[List[str]]", "[x for x in [1]]", "`List[str]` did not match the types"),
    ],
)
def test_hint_that_asks_for_another_container(type: str, value: str, said: str) -> None:
    with pytest.raises(RuntimeError, match=re.escape(said)):
        torch.jit.CompilationUnit(f"def f():\n  b: {type} = {value}\n  return b\n")


def test_texts_have_places_of_their_own() -> None:
    unit = torch.jit.CompilationUnit("def f(x):\n    return x[[4], :, :]\n")
    with pytest.raises(RuntimeError, match=r"\n           ~~~~~~~~~~~~ <--- HERE\n"):
        unit.f(torch.ones(2, 2))
    unit = torch.jit.CompilationUnit('def f(x: Dict[str, int]):\n    return x["hi"]\n')
    with pytest.raises(RuntimeError, match=r"\n           ~~~~~~~ <--- HERE\n"):
        unit.f({})


def test_missing_folders_are_named(tmp_path: Path) -> None:
    said = f"^Parent directory {re.escape(str(tmp_path / 'a'))} does not exist.$"
    module = torch.jit.script(torch.nn.ReLU())
    for save, what in ((torch.save, 1), (torch.jit.save, module)):
        with pytest.raises(RuntimeError, match=said) as met:
            save(what, tmp_path / "a" / "b")
        assert isinstance(met.value, FileNotFoundError)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("x + 1 = x", "\nunexpected expression on left-hand side of assignment:"),
        ("a, b += x", "\n augmented assignment can only have one LHS expression:"),
        ("for i in x, x:\n    pass", "\nList of iterables is not supported currently:"),
    ],
)
def test_faults_of_texts(body: str, said: str) -> None:
    with pytest.raises(RuntimeError, match=re.escape(said)):
        torch.jit.CompilationUnit(f"def f(x):\n  {body}\n  return x\n")


def test_loop_over_a_tuple_in_parentheses() -> None:
    unit = torch.jit.CompilationUnit("def f(x: int):\n  for i in (x, 2):\n    x += i\n  return x\n")
    assert unit.f(3) == 8


def test_overload_declarations_have_no_body() -> None:
    def declared(x: str) -> str:
        return x + "0"

    said = "Only `pass` statement or `...` can be the body of overload declaration:\n    def decl"
    for declare in (torch.jit._overload, torch.jit._overload_method):
        with pytest.raises(RuntimeError, match=re.escape(said)):
            declare(declared)


@torch.jit._overload
def nothing_but_declared(x: int) -> int: ...


def test_overload_without_implementation() -> None:
    def calls() -> int:
        return nothing_but_declared(1)

    with pytest.raises(
        RuntimeError, match=r'^Implementation for the function "__torch__\..*nothing'
    ):
        torch.jit.script(calls)


def test_setstate_needs_getstate() -> None:
    class Halved(torch.nn.Module):
        def forward(self) -> int:
            return 1

        @torch.jit.export
        def __setstate__(self, state):  # type: ignore[no-untyped-def]
            self.training = state

    with pytest.raises(RuntimeError, match="`__setstate__` defined but not `__getstate__`"):
        torch.jit.script(Halved())


def test_self_stays_what_it_is() -> None:
    class Lost(torch.nn.Module):
        def forward(self, x):  # type: ignore[no-untyped-def]
            for _ in range(2):
                self = x
            return self

    with pytest.raises(RuntimeError, match="Cannot re-assign 'self' because it has type value of"):
        torch.jit.script(Lost())


def test_invalid_constant_is_named_with_its_module() -> None:
    class Bad(torch.nn.Module):
        __constants__ = ("number",)

        def __init__(self) -> None:
            super().__init__()
            self.number = [numpy.int64(1)]

    with pytest.raises(TypeError, match=r"\n'numpy.int64' object in attribute 'Bad.number' is not"):
        torch.jit.script(Bad())


def test_types_and_nodes_of_nothing() -> None:
    with pytest.raises(RuntimeError, match="Can not create ListType with None type"):
        torch._C.ListType(None)
    with pytest.raises(ValueError, match="cannot pass None in inputs"):
        torch._C.Graph().create("aten::neg", [None])


class Plain(torch.nn.Module):
    def forward(self, x):  # type: ignore[no-untyped-def]
        return x


def test_numbers_of_a_trace_reach_kernels() -> None:
    def best(x, k):  # type: ignore[no-untyped-def]
        return x.topk(k)[0]

    traced = torch.jit.trace(best, (torch.arange(9), torch.tensor(2)))
    assert "aten::Int(%k)" in str(traced.graph)
    assert traced(torch.arange(9), torch.tensor(3)).tolist() == [8, 7, 6]


def test_unit_makes_a_function_of_a_graph() -> None:
    @torch.jit.script
    def twice(x: int) -> int:
        return 2 * x

    unit = torch._C.CompilationUnit()
    made = unit.create_function("a.f", twice.graph)
    assert (made(4), unit.find_function("a.f")(4), unit.find_function("f")) == (8, 8, None)
    with pytest.raises(RuntimeError, match="already defined"):
        unit.create_function("a.f", twice.graph)
    other = unit.create_function("a.f", twice.graph, should_mangle=True)
    assert re.fullmatch(r"a\.___torch_mangle_\d+\.f", other.qualified_name)


def test_types_need_not_be_shared() -> None:
    recursive = torch.jit._recursive
    methods = recursive.infer_methods_to_compile
    assert methods(Plain()) == ["forward"]
    types = [
        recursive.create_script_module(Plain(), methods, share_types=shared)._c._type()
        for shared in (True, True, False, False)
    ]
    assert types[0] == types[1]
    assert len({str(type) for type in types}) == 3


def test_classes_are_named_with_their_unit() -> None:
    class Other(Plain):
        pass

    class Holder(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = Plain()

    holder = torch.jit.script(Holder())
    unit = r"\(of Python compilation unit at: 0x[0-9a-f]+\)"
    with pytest.raises(
        RuntimeError, match=rf"Plain {unit}' for field 'inner', but found '.*{unit}'"
    ):
        holder.inner = torch.jit.script(Other())
    with pytest.raises(AttributeError, match=rf"Holder {unit} does not have a field with name 'a'"):
        holder._c.a  # noqa: B018


def test_keys_of_several_types() -> None:
    text = 'def f():\n  d: Dict[int, str] = dict(zip([1, "a"], ["b", "c"]))\n  return d\n'
    said = "Dicts may only contain homogeneous keys, but the type of the first generated key was "
    with pytest.warns(torch.jit.ScriptWarning), pytest.raises(RuntimeError, match=said):
        torch.jit.CompilationUnit(text)
