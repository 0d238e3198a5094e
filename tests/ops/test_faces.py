"""Which operators Python finds as functions, as methods, among the layers, or nowhere."""

from __future__ import annotations

import pytest

import rushlight
import rushlight._C._nn
from rushlight.ops.table.record import Operator
from rushlight.ops.table.table import Table


def test_by_rule_the_schema_says_the_face() -> None:
    table = Table()
    for schema in (
        "aten::f(Tensor self, Tensor other) -> Tensor",
        "aten::f_(Tensor(a!) self, Tensor other) -> Tensor(a!)",
        "aten::g_(Tensor(a!) self) -> Tensor(a!)",
        "aten::_f(Tensor self) -> Tensor",
        "aten::made(int[] size) -> Tensor",
        "aten::half(int a) -> int",
        "aten::len.Dict(Dict(Tensor, t) self) -> int",
        "aten::fft_f(Tensor self) -> Tensor",
        "prim::f(Tensor self) -> Tensor",
    ):
        table.add(Operator(schema, int))
    assert list(table.faces().items()) == [
        ("aten::f", "both"),
        ("aten::f_", "method"),
        ("aten::g_", "both"),
        ("aten::_f", "function"),
        ("aten::made", "function"),
        ("aten::half", "operator"),
        ("aten::len", "operator"),
        ("aten::fft_f", "operator"),
    ]


def test_one_overload_says_the_face_of_all() -> None:
    table = Table()
    table.add(Operator("aten::f.a(Tensor self) -> Tensor", int))
    table.add(Operator("aten::f.b(Tensor self, int n) -> Tensor", int, face="layer"))
    assert table.faces() == {"aten::f": "layer"}


@pytest.mark.parametrize(
    ("name", "face"),
    [
        ("tanh", "FM"),
        ("add_", "M"),
        ("abs_", "FM"),
        ("absolute_", "M"),
        ("clamp_", "FM"),
        ("bucketize", "F"),
        ("view", "M"),
        ("zeros_like", "F"),
        ("celu_", "F"),
        ("elu_", "L"),
        ("_upsample_bicubic2d_aa", "L"),
        ("_unsafe_view", ""),
        ("log_sigmoid_forward", ""),
        ("dict", ""),
    ],
)
def test_functions_methods_and_layers_are_those_of_torch(name: str, face: str) -> None:
    found = {"F": rushlight, "M": rushlight.Tensor, "L": rushlight._C._nn}
    assert "".join(letter for letter, owner in found.items() if hasattr(owner, name)) == face
