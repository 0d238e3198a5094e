"""What script does not have: the class and the text of each error are torch's."""

from __future__ import annotations

import json
from types import FunctionType

import pytest
from frontend_support import CASES, load_module

from rushlight.frontend.diagnostics.diagnostics import Collector
from rushlight.frontend.diagnostics.exceptions import exception_for
from rushlight.frontend.syntax import tree
from rushlight.frontend.syntax.from_python import function_tree

PROGRAM = CASES / "refused.py"
EXPECTED = json.loads((CASES / "refused.json").read_text(encoding="utf-8"))
MODULE = load_module(PROGRAM)


def function(name: str) -> FunctionType:
    found = vars(MODULE)[name]
    return found.method if isinstance(found, type) else found


@pytest.mark.parametrize("name", EXPECTED)
def test_text_of_torch(name: str) -> None:
    collector = Collector()
    function_tree(function(name), collector)
    error = exception_for(collector.found)
    expected_class, expected_text = EXPECTED[name]
    assert type(error).__name__ == expected_class
    assert str(error) == expected_text.replace("{file}", str(PROGRAM))


@pytest.mark.parametrize("name", EXPECTED)
def test_one_cause_one_diagnostic(name: str) -> None:
    collector = Collector()
    function_tree(function(name), collector)
    assert len(collector.found) == 1
    (diagnostic,) = collector.found
    assert diagnostic.primary is not None
    assert diagnostic.primary.span.filename == str(PROGRAM)
    assert diagnostic.primary.span.text
    assert diagnostic.message[0] in "`abcdefghijklmnopqrstuvwxyz"
    assert not diagnostic.message.endswith(".")


def test_the_rest_of_the_function_is_kept() -> None:
    collector = Collector()
    converted = function_tree(MODULE.nested_function, collector)
    assert converted is not None
    assert [type(s) for s in converted.body] == [tree.Assign, tree.Assign, tree.Return]
    dropped = converted.body[1]
    assert isinstance(dropped, tree.Assign)
    assert isinstance(dropped.value, tree.Name)
    assert dropped.value.id == tree.ERROR_NAME


def test_an_expression_becomes_the_error_name() -> None:
    converted = function_tree(MODULE.lambda_, Collector())
    assert converted is not None
    (assign, _) = converted.body
    assert isinstance(assign, tree.Assign)
    assert isinstance(assign.value, tree.Name)
    assert assign.value.id == tree.ERROR_NAME


def test_everything_wrong_is_found_at_once() -> None:
    collector = Collector()

    def wrong(x):  # type: ignore[no-untyped-def]
        global y
        try:
            pass
        finally:
            pass
        return {1: lambda: 2, 3: {4, 5}}

    function_tree(wrong, collector)
    assert [d.message.split(" cannot")[0] for d in collector.found] == [
        "`global` statements",
        "`try` statements",
        "`lambda`",
        "a set",
    ]
