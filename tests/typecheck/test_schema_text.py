"""Schema text is read into signatures."""

from __future__ import annotations

import re

import pytest

import rushlight.ops  # noqa: F401  (fills the operator table)
from rushlight.ops.table.table import TABLE
from rushlight.typecheck.definitions import schema_text
from rushlight.typecheck.definitions.schema import NO_DEFAULT
from rushlight.typecheck.definitions.schema_text import SchemaError, parse_schema
from rushlight.typecheck.definitions.signature_text import torch_signature
from rushlight.typecheck.types.types import (
    INT,
    TENSOR,
    DictType,
    ListType,
    OptionalType,
    VariableType,
)


def test_names_types_and_defaults() -> None:
    add = parse_schema("aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor")
    assert (add.name, add.overload, add.full_name) == ("aten::add", "Tensor", "aten::add.Tensor")
    assert [a.name for a in add.arguments] == ["self", "other", "alpha"]
    assert [a.keyword_only for a in add.arguments] == [False, False, True]
    assert add.arguments[0].default is NO_DEFAULT
    assert add.arguments[2].default == 1
    assert not add.is_mutable


def test_sizes_optionals_and_words() -> None:
    text = (
        "aten::f(int[2] k, ScalarType? dtype=None, bool[]? m=None, float e=1, str s='a') -> int[]"
    )
    f = parse_schema(text)
    assert f.arguments[0].size == 2
    assert f.arguments[0].type == ListType(INT)
    assert f.arguments[1].type == OptionalType(INT)
    assert f.arguments[3].default == 1.0
    assert isinstance(f.arguments[3].default, float)
    assert f.arguments[4].default == "a"
    assert f.returns[0].type == ListType(INT)


def test_alias_marks() -> None:
    append = parse_schema("aten::append.t(t[](a!) self, t(c -> *) el) -> t[](a!)")
    assert append.is_mutable
    assert append.arguments[0].type == ListType(VariableType("t"))
    alias = append.arguments[1].alias
    assert alias is not None
    assert (alias.sets, alias.after, alias.is_write) == (("c",), ("*",), False)


def test_marks_without_a_name_are_sets_of_their_own() -> None:
    signature = parse_schema("f(Tensor! x, Tensor!? y, Tensor(a!) z) -> Tensor!")
    alias = [each.alias for each in (*signature.arguments, *signature.returns)]
    assert all(each is not None and each.is_write for each in alias)
    assert len({each.sets for each in alias if each is not None}) == 4
    text = torch_signature(signature)
    assert text == ("f(Tensor($0! -> ) x, Tensor($1! -> )? y, Tensor(a!) z) -> Tensor($2! -> )")
    assert parse_schema(text) == signature


@pytest.mark.parametrize(
    ("returns", "count"),
    [("()", 0), ("Tensor", 1), ("(Tensor values, Tensor indices)", 2), ("(int, t(*))[]", 1)],
)
def test_results(returns: str, count: int) -> None:
    assert len(parse_schema(f"aten::f(Tensor x) -> {returns}").returns) == count


def test_varargs_and_containers() -> None:
    assert parse_schema("aten::format(str self, ...) -> str").vararg
    assert parse_schema("prim::f(...) -> ...").varret
    items = parse_schema("aten::items.int(Dict(int, t) self) -> (int, t)[]")
    assert items.arguments[0].type == DictType(INT, VariableType("t"))
    assert str(items.returns[0].type) == "(int, t)[]"


def test_equal_texts_give_equal_signatures() -> None:
    text = "aten::g(Tensor self, int[2] s=[1, 1]) -> Tensor"
    assert parse_schema(text) == parse_schema(text)
    assert hash(parse_schema(text)) == hash(parse_schema(text))
    assert parse_schema(text).returns[0].type == TENSOR


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", 0),
        ("aten::f", 7),
        ("aten::f(Tensor) -> Tensor", 14),
        ("f(int x) -> ", 12),
        ("f(Dict(int) x) -> ()", 12),
        ("f(int x,) -> ()", 8),
        ("f() -> () x", 10),
    ],
)
def test_what_is_no_schema_is_refused(text: str, place: int) -> None:
    with pytest.raises(SchemaError, match=f"not an operator schema.*at character {place}$"):
        parse_schema(text)


def test_a_default_that_is_no_text_is_refused() -> None:
    with pytest.raises(SchemaError, match=r"vararg \(...\) can't have default value args"):
        parse_schema("aten::f(int a=0, ...) -> int")
    with pytest.raises(SchemaError, match="no text is"):
        parse_schema(r'aten::f(str x="\x") -> int')


def test_dtypes_are_defaults_where_a_dtype_is_taken() -> None:
    text = "f(Tensor x, ScalarType d=bfloat16, ScalarType? e=float, ScalarType i=int) -> Tensor"
    assert [a.default for a in parse_schema(text).arguments[1:]] == [15, 6, 3]
    for wrong in ("f(int d=float32) -> ()", "f(ScalarType d=floating) -> ()"):
        with pytest.raises(SchemaError, match="unknown default float"):
            parse_schema(wrong)


def test_arguments_that_many_operators_have_are_read_once() -> None:
    one = parse_schema("a::f(Tensor(a!) self, int dim=-1, *, bool b=False) -> Tensor(a!)")
    two = parse_schema("a::g(Tensor(a!) self , int dim=-1, *,bool b=False) -> Tensor(a!)")
    pairs = zip((*one.arguments, *one.returns), (*two.arguments, *two.returns), strict=True)
    assert all(a is b for a, b in pairs)
    by_position = parse_schema("a::h(bool b=False, int[] x=[1]) -> ()").arguments
    assert by_position[0] != one.arguments[2]
    again = parse_schema("a::h(bool b=False, int[] x=[1]) -> ()").arguments
    assert again[1] == by_position[1]
    assert again[1].default is not by_position[1].default  # a list of its own


@pytest.mark.parametrize("name", ["aten::eq", "aten::sum", "aten::append", "prim::Print"])
def test_usual_arguments_are_read_as_all_others(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [entry.schema for entry in TABLE.operators(name)]
    usual = [parse_schema(text) for text in texts]
    monkeypatch.setattr(schema_text._Reading, "_usual_argument", lambda *_: None)
    monkeypatch.setattr(schema_text, "_USUAL_RESULT", re.compile("(?!)"))
    assert list(map(repr, usual)) == [repr(parse_schema(text)) for text in texts]


@pytest.mark.parametrize("text", ["a::f(int x=no, int y) -> int", "a::f(int y, int x=no) -> int"])
def test_a_default_without_meaning_is_told(text: str) -> None:
    with pytest.raises(SchemaError, match="unknown default no"):
        parse_schema(text)
