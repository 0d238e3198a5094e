"""Structures of trees: their text, and JSON there and back."""

from __future__ import annotations

import enum
import json
from collections import OrderedDict, defaultdict, deque, namedtuple
from dataclasses import dataclass
from typing import Any

import pytest

import rushlight as torch
from rushlight.fx.immutable_collections import immutable_list
from rushlight.utils import _pytree as pytree

Pair = namedtuple("Pair", "x y")
Unnamed = namedtuple("Unnamed", "x")
pytree._register_namedtuple(Pair, serialized_type_name="tests.Pair")


class Shade(enum.Enum):
    DARK = 1


class Box:
    def __init__(self, content: Any) -> None:
        self.content = content


@dataclass
class Record:
    first: Any
    second: Any = None


TREES = [
    1,
    [1, {"a": 2, "b": (3, [])}],
    [OrderedDict(z=1), defaultdict(list, a=1), defaultdict(None), deque([1], maxlen=3)],
    [Pair(1, [2]), torch.Size([3]), immutable_list([4]), {None: 1, 2: 3, 1.5: 2}],
]


@pytest.mark.parametrize("tree", TREES)
def test_structures_come_back_from_json(tree: Any) -> None:
    spec = pytree.tree_structure(tree)
    assert pytree.treespec_loads(pytree.treespec_dumps(spec)) == spec


def test_json_is_torchs() -> None:
    leaf = {"type": None, "context": None, "children_spec": []}
    spec = pytree.tree_structure([defaultdict(list, a=1), Pair])
    factory = {"default_factory_module": "builtins", "default_factory_name": "list"}
    inner = {
        "type": "collections.defaultdict",
        "context": {**factory, "dict_context": ["a"]},
        "children_spec": [leaf],
    }
    whole = {"type": "builtins.list", "context": "null", "children_spec": [inner, leaf]}
    assert json.loads(pytree.treespec_dumps(spec)) == [1, whole]


def test_text_of_structures() -> None:
    spec = pytree.tree_structure((1, [2, {"a": 3}], Pair(1, 2), {}))
    assert repr(spec) == (
        "TreeSpec(tuple, None, [*,\n"
        "  TreeSpec(list, None, [*,\n"
        "    TreeSpec(dict, ['a'], [*])]),\n"
        f"  TreeSpec(namedtuple, {Pair}, [*,\n"
        "    *]),\n"
        "  TreeSpec(dict, [], [])])"
    )


def registered(**options: Any) -> type:
    cls = type("Own", (Box,), {})
    pytree.register_pytree_node(cls, lambda box: ([box.content], Shade.DARK), cls, **options)
    return cls


def test_classes_of_users_have_names_and_contexts() -> None:
    plain = pytree.tree_structure(registered(serialized_type_name="tests.plain")(1))
    assert "__enum__" in pytree.treespec_dumps(plain)
    assert pytree.treespec_loads(pytree.treespec_dumps(plain)) == plain
    words = {"to_dumpable_context": lambda _: "dark", "from_dumpable_context": lambda _: Shade.DARK}
    spec = pytree.tree_structure(registered(serialized_type_name="tests.words", **words)(1))
    assert '"context": "dark"' in pytree.treespec_dumps(spec)
    assert pytree.treespec_loads(pytree.treespec_dumps(spec)) == spec
    with pytest.raises(ValueError, match="must be None or registered"):
        registered(to_dumpable_context=str)
    with pytest.raises(NotImplementedError, match="No registered serialization name for"):
        pytree.treespec_dumps(pytree.tree_structure(registered()(1)))


def test_what_json_cannot_say() -> None:
    with pytest.raises(NotImplementedError, match="register using `_register_namedtuple`"):
        pytree.treespec_dumps(pytree.tree_structure(Unnamed(1)))
    with pytest.raises(TypeError, match="Unable to serialize context"):
        pytree.treespec_dumps(pytree.tree_structure({object(): 1}))
    with pytest.raises(TypeError, match="to be an instance of PyTreeSpec"):
        pytree.treespec_dumps([1])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"Unknown protocol -1. Available protocols: \[1\]"):
        pytree.treespec_loads('[-1, {"type": null}]')
    unknown = '[1, {"type": "nope", "context": "null", "children_spec": []}]'
    with pytest.raises(NotImplementedError, match="Deserializing nope"):
        pytree.treespec_loads(unknown)
    member = json.dumps({"__enum__": True, "fqn": "os:path.join", "name": "A"})
    call = {"type": "builtins.list", "context": member, "children_spec": []}
    with pytest.raises(TypeError, match="is no enumeration"):
        pytree.treespec_loads(json.dumps([1, call]))


def test_fields_that_are_none_are_no_children() -> None:
    pytree.register_dataclass(Record)
    leaves, spec = pytree.tree_flatten(Record(1))
    assert (leaves, spec.context) == ([1], [["first"], ["second"]])
    assert pytree.tree_unflatten([2], spec) == Record(2)
    paths = pytree.tree_leaves_with_path(Record(immutable_list([1])))
    assert [pytree.keystr(path) for path, _ in paths] == [".first[0]"]


def test_the_older_name_warns() -> None:
    cls = type("Own", (Box,), {})
    with pytest.warns(FutureWarning, match="use `torch.utils._pytree.register_pytree_node`"):
        pytree._register_pytree_node(cls, lambda box: ([box.content], None), cls)
    with pytest.warns(match="already registered"), pytest.warns(FutureWarning):
        pytree._register_pytree_node(cls, lambda box: ([box.content, 2], None), cls)
    assert pytree.tree_leaves(cls(1)) == [1, 2]


class Extended(Pair):
    __slots__ = ()


@dataclass(frozen=True)
class Constant:
    number: int


def test_what_is_derived_of_named_tuples_is_one() -> None:
    leaves, spec = pytree.tree_flatten([Extended(1, 2)])
    assert (leaves, pytree.tree_unflatten([3, 4], spec)) == ([1, 2], [Extended(3, 4)])
    assert type(pytree.tree_map(str, Extended(1, 2))) is Extended
    fake = type("Fake", (tuple,), {"_fields": ("x",)})
    assert pytree.tree_leaves(fake((1,))) == [(1,)]
    kinds = [Pair, Pair(1, 2), Extended, torch.Size([1]), torch.max(torch.eye(2), 0), 3]
    assert [pytree.is_namedtuple(each) for each in kinds] == [True, True, True, False, False, False]
    assert [pytree.is_namedtuple_class(each) for each in kinds[:3]] == [True, False, True]
    assert [pytree.is_structseq(each) for each in kinds[3:]] == [False, True, False]


def test_structures_are_put_together() -> None:
    leaf = pytree.treespec_leaf()
    both = pytree.treespec_dict({"a": pytree.treespec_tuple([leaf, leaf])}, b=leaf)
    assert both == pytree.tree_structure({"a": (1, 2), "b": 3})
    assert pytree.treespec_pprint(both) == "{'a': (*, *), 'b': *}"
    with pytest.raises(ValueError, match=r"^Expected a tuple of TreeSpec values, got: \[\*, 3\]"):
        pytree.treespec_tuple([leaf, 3])  # type: ignore[list-item]
    with pytest.raises(ValueError, match=r"^Expected a dictionary of TreeSpec values"):
        pytree.treespec_dict({"a": 3})  # type: ignore[dict-item]
    assert pytree.arg_tree_leaves(1, [2, (3,)], b={"k": 4}, c=None) == [1, 2, 3, 4, None]


def test_constants_belong_to_the_structure() -> None:
    assert not pytree.is_constant_class(Constant)
    pytree.register_constant(Constant)
    try:
        assert pytree.is_constant_class(Constant)
        leaves, spec = pytree.tree_flatten([Constant(1), 2])
        assert leaves == [2]
        assert pytree.tree_unflatten([3], spec) == [Constant(1), 3]
        assert spec == pytree.tree_structure([Constant(1), 5])
        assert spec != pytree.tree_structure([Constant(2), 2])
        assert pytree.tree_leaves_with_path([Constant(1)]) == []
    finally:
        pytree._deregister_pytree_node(Constant)
    for cls, name in ((Box, "__eq__"), (dataclass(type("Open", (), {})), "__hash__")):
        with pytest.raises(TypeError, match=f"have a non-default `{name}` implementation"):
            pytree.register_constant(cls)
