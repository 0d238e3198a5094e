"""The operator table as a whole."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import rushlight
import rushlight.ops.eager.methods
from rushlight.ops.table.table import TABLE, Operator, Table


def test_every_schema_is_read_back_under_its_own_name() -> None:
    for entry in TABLE:
        assert entry.signature.full_name == entry.full_name


def test_forwards_take_as_many_arguments_as_their_schemas_have() -> None:
    for entry in TABLE:
        code = getattr(entry.forward, "__code__", None)
        if code is None or code.co_flags & 0x04:  # built in, or *rest
            continue
        given = len(entry.signature.arguments)
        optional = len(entry.forward.__defaults__ or ())
        assert code.co_argcount - optional <= given <= code.co_argcount, entry


def test_overloads_come_in_the_order_torch_tries_them() -> None:
    add = [entry.overload for entry in TABLE.operators("aten::add")]
    assert add[:6] == ["Tensor", "Scalar", "out", "Scalar_out", "t", "str"]
    assert add[-1] == ""
    recorded = (Path(__file__).parent / "data" / "overload_order.txt").read_text("utf-8")
    ordered = {line.split()[0]: line.split()[1:] for line in recorded.splitlines()}
    for name in TABLE.names():
        found = [entry.overload or "-" for entry in TABLE.operators(name)]
        if len(found) > 1 and not name.startswith("quantized_decomposed::"):  # in Python there
            assert found == [word for word in ordered[name] if word in found]


def test_an_order_that_is_said_names_overloads_that_exist() -> None:
    for entry in TABLE:
        if entry.order:
            overloads = {other.overload or "-" for other in TABLE.operators(entry.name)}
            words = set(entry.order.split())
            assert words <= overloads or not words & overloads, entry


def test_marks_of_operators_that_come_later_are_known() -> None:
    table = Table()
    first = Operator("aten::f(Tensor self) -> Tensor", int, effects=True)
    second = Operator("aten::g(Tensor self) -> Tensor", int, effects=True)
    table.add(first)
    assert table.names_with("effects") == {"aten::f"}
    table.add(second)
    assert table.names_with("effects") == {"aten::f", "aten::g"}
    table.remove(first)
    assert table.names_with("effects") == {"aten::g"}


def test_overloads_of_tensors_come_first_and_those_named_share_out_their_places() -> None:
    table = Table()
    for schema in ("f.a(int a) -> int", "f(Tensor self) -> Tensor", "f.b(str s) -> str"):
        table.add(Operator(f"aten::{schema}", int, order="b a" if ".b" in schema else ""))
    assert [entry.overload for entry in table.operators("aten::f")] == ["", "out", "b", "a"]


def test_what_takes_a_generator_or_says_so_is_random() -> None:
    random = TABLE.names_with("random")
    assert {"aten::dropout_", "aten::native_dropout", "aten::uniform", "aten::rand_like"} <= random
    assert not random & {"aten::lstm", "aten::manual_seed", "aten::zeros"}


def test_random_results_are_not_computed_when_a_function_is_compiled() -> None:
    def draws() -> rushlight.Tensor:
        return rushlight.feature_alpha_dropout(rushlight.ones([40]), 0.5, True)

    graph = rushlight.jit.script(draws).graph
    rushlight._C._jit_pass_constant_propagation(graph)
    assert "aten::feature_alpha_dropout" in str(graph)


def test_an_overload_is_declared_once() -> None:
    table = Table()
    table.add(Operator("aten::f.x(int a) -> int", int))
    with pytest.raises(ValueError, match=r"aten::f\.x is declared twice"):
        table.add(Operator("aten::f.x(int b) -> int", int))
    assert table.operators("aten::g") == []
    assert table.operator("aten::f") is None


def test_import_needs_neither_lark_nor_llvmlite_nor_ml_dtypes_and_a_script_no_lark() -> None:
    program = (
        "import sys, rushlight.ops.eager.namespace as n; n.public_names(); "
        "print([m for m in ('lark', 'llvmlite', 'ml_dtypes', 'numpy.random') if m in sys.modules])"
        "\nimport rushlight; unit = rushlight.jit.CompilationUnit('def f(x): return x + 1'); "
        "unit.f(rushlight.ones(2)); print('lark' in sys.modules)"
    )
    root = Path(__file__).resolve().parent.parent.parent
    done = subprocess.run([sys.executable, "-c", program], cwd=root, text=True, capture_output=True)
    assert done.stdout == "[]\nFalse\n", done.stderr


def test_what_may_take_long_says_how_its_steps_are_counted() -> None:
    """In families of products, decompositions and windows, what only reads says so, too."""
    for entry in TABLE:
        if type(entry) is Operator and not entry.name.endswith("_"):
            module = getattr(entry.forward, "__module__", "")
            heavy = module.startswith(("rushlight.ops.linear_algebra.", "rushlight.ops.pooling."))
            assert entry.cost or not heavy, entry
    assert TABLE.said("aten::mm", lambda entry: entry.cost) == "product"
    assert {entry.cost for entry in TABLE.operators("aten::addmm_")} == {"added-product"}
    assert {entry.cost for entry in TABLE.operators("aten::svd")} == {"matrices"}


def test_a_form_for_quantized_tensors_is_joined_to_an_operator_once() -> None:
    joined = [entry for entry in TABLE if entry.quantized is not None]
    assert {"aten::relu", "aten::cat", "aten::eq.Scalar"} <= {entry.full_name for entry in joined}
    assert all(entry.on_arrays not in (None, entry.forward) for entry in joined)
    entry = Operator("aten::f(Tensor self) -> Tensor", int)
    entry.join_quantized(abs, float)
    assert (entry.on_arrays, entry.quantized, entry.forward) == (int, abs, float)
    with pytest.raises(ValueError, match="aten::f has two forms"):
        entry.join_quantized(abs, float)
