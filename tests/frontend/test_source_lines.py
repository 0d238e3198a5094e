"""The lines of a function are those that `inspect` finds, however it is written."""

from __future__ import annotations

import importlib.util
import inspect
import sys
import types
from collections.abc import Iterator
from pathlib import Path

import pytest

from rushlight.frontend.sources.source_lines import _by_indentation, lines_of

TEXT = '''
import functools


def kept(function, *more):
    return function


def plain(x):
    if x:
        return 1

    # a comment in the body
    return 2


# a comment between
def wrapped_header(
    x,
    y=(1,
2),
) -> int:
    return x


def long_string(x):
    text = """
to the left
"""
    return text


def bracket(x):
    y = (x,  # :)
z)
    return y


def continued(x):
    return x + \\
1


@functools.wraps(plain)
def decorated(x):
    return x


class C:
    def first(self):
        return 1
        # the end

    @staticmethod
    def second(x): return x

    class Inner:
        def third(self):
            return [
        1]

z = 1


def with_comments(x):
    y = x
# a comment to the left

  # and one in between
    return y
# a comment behind


def documented(x):
    """Text.

    More of it.
    """
    if x:
        return 1
# last
    return 2
if z:
    @kept
    @kept
    def decorated_twice(x):
        return x
    y = 3


@functools.partial(
    kept
)
def decorated_at_length(x):
    return x


def in_one_line(x): return x
y = [")",
1]


def text_that_closes(x):
    y = (")",
1)
    return y
def before_a_statement(x):
    return x
z = 2
def last(x):
    return x
'''


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Iterator[types.ModuleType]:
    path: Path = tmp_path_factory.mktemp("source") / "written.py"
    path.write_text(TEXT, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("written_for_lines", path)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    made.__dict__["z"] = 0
    sys.modules[spec.name] = made
    spec.loader.exec_module(made)
    yield made
    del sys.modules[spec.name]


NAMES = """plain wrapped_header long_string bracket continued decorated C C.first C.second
C.Inner.third with_comments documented decorated_twice decorated_at_length in_one_line
text_that_closes before_a_statement last""".split()


@pytest.mark.parametrize("name", NAMES)
def test_lines_are_those_of_inspect(module: types.ModuleType, name: str) -> None:
    found: object = module
    for part in name.split("."):
        found = getattr(found, part)
    assert lines_of(found) == inspect.getsourcelines(found)  # type: ignore[arg-type]


def test_only_doubtful_functions_need_a_tokenizer(module: types.ModuleType) -> None:
    lines, first = inspect.findsource(module.plain)
    assert _by_indentation(lines, first) == inspect.getsourcelines(module.plain)[0]
    for each in (module.decorated_twice, module.documented, module.before_a_statement):
        lines, first = inspect.findsource(each)
        assert _by_indentation(lines, first) == inspect.getsourcelines(each)[0]
    lines, first = inspect.findsource(module.wrapped_header)
    assert _by_indentation(lines, first) is None
