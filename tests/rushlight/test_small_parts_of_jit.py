"""What modules and classes keep from compiled code, hooks, defaults, frozen and traced graphs."""

from __future__ import annotations

import io
import pickle
import warnings
import zipfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import rushlight as torch
from rushlight import Tensor, nn


class Dropping:
    def __init__(self, parts: list[Tensor]) -> None:
        self.parts = parts

    def first(self) -> Tensor:
        return self.parts[0]

    @torch.jit._drop
    def __iter__(self) -> Iterator[Tensor]:
        return iter(self.parts)


def test_a_dropped_method_is_not_compiled() -> None:
    made = torch.jit.script(Dropping)([torch.ones(2)])
    assert made.first().tolist() == [1.0, 1.0]


class WithProperties(nn.Module):
    __jit_ignored_attributes__ = ("broken", "number")

    @property
    def broken(self) -> int:
        raise ValueError("asked")

    @property
    def number(self) -> int:
        return 1

    def forward(self, x: Tensor) -> Tensor:
        return x


def test_an_ignored_property_is_not_asked() -> None:
    made = torch.jit.script(WithProperties())
    assert isinstance(made.broken, property)
    assert isinstance(made.number, property)


class Hooked(nn.Module):
    def forward(self, x: str) -> str:
        return self.named(x)

    def named(self, x: str) -> str:
        return x


def test_a_hook_has_a_name_of_its_own() -> None:
    def named(self: Any, input: tuple[str]) -> tuple[str]:
        return input

    module = Hooked()
    module.register_forward_pre_hook(named)
    with pytest.raises(RuntimeError, match=r"Can't define hook: named on class: .+ because"):
        torch.jit.script(module)


class Point(NamedTuple):
    x: list[int] = [1, 2]  # noqa: RUF012
    y: dict[str, int] | None = {"a": 1}  # noqa: RUF012


def test_defaults_that_are_dicts_are_printed() -> None:
    def given(point: Point) -> Point:
        return point

    shown = str(torch.jit.script(given).graph)
    assert "NamedTuple(x : int[] = [1, 2], y : Dict(str, int)? = {a: 1})" in shown


def test_a_frozen_graph_detaches_nothing() -> None:
    class Twice(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            y = x.detach()
            return y * y

    frozen = torch.jit.freeze(torch.jit.script(Twice().eval()))
    assert "aten::detach" not in str(frozen.graph)
    assert frozen(torch.tensor([3.0])).item() == 9.0


def test_dropout_that_trains_is_not_left_out() -> None:
    made = torch.jit.script(nn.Dropout())
    with pytest.raises(RuntimeError, match="in training mode is not yet supported"):
        torch._C._jit_pass_remove_dropout(made._c)


def test_an_inner_module_is_wrapped() -> None:
    inner = torch.jit.script(nn.Sequential(nn.Linear(2, 3), nn.Dropout())).eval()._c
    wrapped = torch.jit._recursive.wrap_cpp_module(torch._C._freeze_module(inner))
    torch._C._jit_pass_remove_dropout(wrapped._c)
    assert "aten::dropout" not in str(wrapped.graph)
    assert wrapped(torch.ones(1, 2)).shape == (1, 3)


def test_the_old_way_to_drop_on_export_is_warned_of() -> None:
    with pytest.warns(FutureWarning, match="TorchScript will now drop the function call on compi"):
        torch.jit.ignore(drop_on_export=True)


@pytest.mark.parametrize("name", ["T", "mT", "H", "mH"])
@pytest.mark.parametrize("grad", [False, True])
def test_turned_tensors_are_recorded(name: str, grad: bool) -> None:
    def product(x: Tensor) -> Tensor:
        return x @ getattr(x, name)

    made = torch.jit.trace(product, torch.eye(2).requires_grad_(grad))
    operator = {"T": "numpy_T", "H": "matrix_H"}.get(name, name)
    assert f"aten::{operator}(%x)" in str(made.graph)
    other = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert made(other).tolist() == product(other).tolist()


def test_imaginary_parts_and_reversed_rows_are_recorded() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = torch.jit.trace(lambda x: x.imag, torch.zeros(2, dtype=torch.complex64))
        turned = torch.jit.trace(lambda x: reversed(x), torch.zeros(2))
    assert made(torch.tensor([1 + 2j])).tolist() == [2.0]
    assert turned(torch.tensor([1.0, 2.0])).tolist() == [2.0, 1.0]


def test_exporters_ask_who_writes() -> None:
    assert torch.onnx.producer_name == "pytorch"
    assert torch.version.__version__.startswith(torch.onnx.producer_version)


class OfOne(torch.nn.Module):
    def forward(self, x: str) -> str:
        return x


class OfTwo(torch.nn.Module):
    def forward(self, x: str, y: int) -> str:
        return x


class OfATuple(torch.nn.Module):
    def forward(self, x: tuple[int]) -> tuple[int]:
        return x


def number(self, input: tuple[str]) -> int:  # type: ignore[no-untyped-def]
    return 1


def numbers(self, input: tuple[str]) -> tuple[int]:  # type: ignore[no-untyped-def]
    return (1,)


def several(self, input: tuple[str]) -> tuple[str, str]:  # type: ignore[no-untyped-def]
    return ("a", "b")


def turned(self, input: tuple[str, int]) -> tuple[int, str]:  # type: ignore[no-untyped-def]
    return (1, "a")


def bare(self, input: tuple[tuple[int]]) -> tuple[int]:  # type: ignore[no-untyped-def]
    return (11,)


def nested(self, input: tuple[tuple[int]]) -> tuple[tuple[int]]:  # type: ignore[no-untyped-def]
    return ((input[0][0] + 1,),)


@pytest.mark.parametrize(
    ("module", "hook", "sentence"),
    [
        (OfOne, number, "'int'.This error .* either 'None', 'str', or 'Tuple.str.'"),
        (OfOne, numbers, "'Tuple.int.'. The returned tuple contains the wrong inner types.\n"),
        (OfOne, several, "The returned tuple contains the wrong number of contained types.\n"),
        (OfTwo, turned, "wrong inner types.\n.* either 'None' or 'Tuple.str, int.'"),
        (OfATuple, bare, "a nested tuple .* as in: 'Tuple.Tuple.int..'.\n"),
    ],
)
def test_hooks_before_a_call_give_its_arguments(module: Any, hook: Any, sentence: str) -> None:
    made = module()
    made.register_forward_pre_hook(hook)
    with pytest.raises(RuntimeError, match=f"returned the wrong type of: .*{sentence}"):
        torch.jit.script(made)


def test_a_hook_gives_the_one_tuple_in_a_tuple() -> None:
    made = OfATuple()
    made.register_forward_pre_hook(nested)
    assert torch.jit.script(made)((1,)) == (2,)


def test_a_future_says_what_it_gives() -> None:
    def waits(x: torch.jit.Future) -> int:  # type: ignore[type-arg]
        return 1

    with pytest.raises(RuntimeError, match=r"Future without a contained type.*Future\[int\]"):
        torch.jit.script(waits)


def test_kept_parametrized_tensors_are_not_traced() -> None:
    class Doubled(torch.nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x * 2

    layer = torch.nn.Linear(2, 2)
    torch.nn.utils.parametrize.register_parametrization(layer, "weight", Doubled())
    x = torch.rand(1, 2)
    with torch.nn.utils.parametrize.cached():
        layer(x)
        with pytest.raises(RuntimeError, match="Cannot trace a model while caching"):
            torch.jit.trace(layer, x)
    torch.testing.assert_close(torch.jit.trace(layer, x)(x), layer(x))


def test_calls_are_inlined_in_traces_and_scripts_where_that_is_wished() -> None:
    @torch.jit.script
    def plus_two(x: int) -> int:
        return x + 2

    def of_number() -> int:
        return plus_two(1)

    @torch.jit.script
    def greet(x: Tensor) -> Tensor:
        print("hello")
        return x + 1

    torch._C._jit_set_inline_everything_mode(True)
    try:
        traced = torch.jit.trace(lambda x: greet(x), torch.ones(1), check_trace=False)
        scripted = torch.jit.script(of_number)
    finally:
        torch._C._jit_set_inline_everything_mode(False)
    assert "hello" in str(traced.graph)
    assert "aten::add" not in str(scripted.graph)


def test_python_reads_the_debug_records_of_archives(tmp_path: Path) -> None:
    @torch.jit.script
    def plus_one(x: Tensor) -> Tensor:
        return x + 1

    plus_one.save(tmp_path / "plus_one.pt")
    with zipfile.ZipFile(tmp_path / "plus_one.pt") as archive:
        (name,) = (each for each in archive.namelist() if each.endswith(".debug_pkl"))
        data = archive.read(name)
    assert b"torch.jit._pickle" in data
    given = {"torch.jit._pickle": import_module("rushlight.jit._pickle")}

    class Reader(pickle.Unpickler):
        def find_class(self, module: str, name: str) -> Any:
            return getattr(given[module], name)

    kind, lines, _ = Reader(io.BytesIO(data)).load()
    assert kind == "FORMAT_WITH_STRING_TABLE"
    assert "        return x + 1\n" in lines


def test_a_graph_runs_on_values() -> None:
    graph = torch._C.parse_ir(
        "graph(%a : Tensor, %b : int[]):\n  %c : Tensor = aten::reshape(%a, %b)\n  return (%c)"
    )
    assert torch._C._jit_interpret_graph(graph, (torch.ones(2), [2, 1])).shape == (2, 1)


def test_state_with_each_tensor_once() -> None:
    module = torch.nn.Module()
    module.one = module.other = torch.nn.Parameter(torch.ones(1))
    module.register_buffer("last", torch.zeros(1))
    kept = torch.jit._unique_state_dict(module, keep_vars=True)
    assert [*kept] == ["one", "last"]
    assert kept["one"] is module.one
    assert not torch.jit._unique_state_dict(module)["one"].requires_grad
