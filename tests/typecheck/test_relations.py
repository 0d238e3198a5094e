"""Subtypes, joins, unions: the rules, and laws that must hold for all types."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rushlight.typecheck.relations.relations import (
    equal,
    is_subtype,
    join,
    join_all,
    optional,
    union,
    without_none,
)
from rushlight.typecheck.relations.variables import instantiate, match
from rushlight.typecheck.types.types import (
    ANY,
    ANY_LIST,
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    NONE,
    NUMBER,
    STRING,
    TENSOR,
    UNKNOWN,
    DictType,
    ListType,
    OptionalType,
    TupleType,
    Type,
    UnionType,
    VariableType,
)

SIMPLE = st.sampled_from([INT, FLOAT, BOOL, STRING, TENSOR, NONE, COMPLEX])
TYPES: st.SearchStrategy[Type] = st.recursive(
    SIMPLE,
    lambda inner: st.one_of(
        inner.map(ListType),
        inner.map(optional),
        st.lists(inner, max_size=3).map(lambda ts: TupleType(tuple(ts))),
        inner.map(lambda t: DictType(STRING, t)),
        st.lists(inner, min_size=1, max_size=3).map(union),
    ),
    max_leaves=6,
)


@given(TYPES)
def test_a_type_says_what_it_holds_once(t: Type) -> None:
    held = [t.list_of, t.tuple_of, t.dict_of, t.optional_of]
    assert sum(each is not None for each in held) == isinstance(
        t, ListType | TupleType | DictType | OptionalType
    )
    assert t.tuple_of in (None, t.contained)
    assert t.dict_of in (None, t.contained)
    assert t.inner in (t, t.optional_of)
    assert t.is_choice == (len(t.alternatives) > 1)
    assert union(t.alternatives) == t


@given(TYPES)
def test_subtype_is_reflexive_and_any_is_the_top(t: Type) -> None:
    assert is_subtype(t, t)
    assert is_subtype(t, ANY)
    assert is_subtype(t, optional(t))


@given(TYPES, TYPES)
def test_a_join_holds_both(a: Type, b: Type) -> None:
    joined = join(a, b, or_union=True)
    assert joined is not None
    assert is_subtype(a, joined)
    assert is_subtype(b, joined)


@given(TYPES, TYPES)
def test_joins_commute(a: Type, b: Type) -> None:
    assert join(a, b) == join(b, a)


@given(st.lists(TYPES, min_size=1, max_size=4))
def test_unions_do_not_depend_on_order(types: list[Type]) -> None:
    assert union(types) == union(types[::-1])
    assert all(is_subtype(t, union(types)) for t in types)


@given(TYPES)
def test_unknown_agrees_with_everything(t: Type) -> None:
    assert is_subtype(UNKNOWN, t)
    assert is_subtype(t, UNKNOWN)
    assert join(t, UNKNOWN) is UNKNOWN
    assert equal(ListType(t), ListType(UNKNOWN))


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (INT, NUMBER, True),
        (BOOL, NUMBER, False),
        (BOOL, INT, False),
        (INT, FLOAT, False),
        (ListType(INT), ListType(OptionalType(INT)), False),
        (ListType(INT), ANY_LIST, True),
        (TupleType((INT, NONE)), TupleType((NUMBER, OptionalType(INT))), True),
        (TupleType((INT,), "P", ("x",)), TupleType((INT,)), True),
        (TupleType((INT,)), TupleType((INT,), "P", ("x",)), False),
        (OptionalType(INT), INT, False),
        (OptionalType(INT), union([INT, STRING, NONE]), True),
        (union([INT, STRING]), INT, False),
    ],
)
def test_subtypes(a: Type, b: Type, expected: bool) -> None:
    assert is_subtype(a, b) is expected


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (INT, NONE, OptionalType(INT)),
        (INT, FLOAT, None),
        (OptionalType(INT), INT, OptionalType(INT)),
        (TupleType((INT, NONE)), TupleType((NONE, STRING)), "(int?, str?)"),
        (ListType(INT), ListType(FLOAT), None),
        (TupleType((INT,)), TupleType((INT, INT)), None),
    ],
)
def test_joins(a: Type, b: Type, expected: Type | str | None) -> None:
    found = join(a, b)
    assert str(found) == str(expected)


def test_unions_are_canonical() -> None:
    assert str(union([INT, STRING, FLOAT])) == "Union(float, int, str)"
    assert union([INT, INT]) == INT
    assert union([INT, NONE]) == OptionalType(INT)
    assert union([INT, FLOAT, COMPLEX]) == NUMBER
    assert isinstance(union([INT, STRING, NONE]), UnionType)
    assert without_none(union([INT, STRING, NONE])) == union([INT, STRING])


def test_join_all_works_from_the_left() -> None:
    assert join_all([INT, NONE, INT]) == OptionalType(INT)
    assert join_all([INT, STRING]) is None
    assert str(join_all([INT, STRING], or_union=True)) == "Union(int, str)"


def test_type_variables_bind_and_conflict() -> None:
    t = VariableType("t")
    bound: dict[str, Type] = {}
    assert match(ListType(t), ListType(INT), bound) == ""
    assert instantiate(DictType(STRING, t), bound) == DictType(STRING, INT)
    assert "previously matched to type int is matched to type str" in match(t, STRING, bound)
    assert match(ListType(t), INT, {}) == "Cannot match List[t] to int"
    assert instantiate(t, {}) is None


def test_unknown_parts_agree_with_anything() -> None:
    unknown = DictType(STRING, ListType(UNKNOWN))
    assert equal(unknown, DictType(STRING, ListType(INT)))
    assert equal(DictType(STRING, ListType(INT)), unknown)
    assert not equal(unknown, DictType(INT, ListType(INT)))
    assert not equal(ListType(UNKNOWN), OptionalType(INT))
    assert not equal(TupleType((UNKNOWN, INT)), TupleType((INT,)))
    assert not equal(TupleType((UNKNOWN, INT)), TupleType((INT, FLOAT)))
