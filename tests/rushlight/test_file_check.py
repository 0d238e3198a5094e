"""`FileCheck`: what it accepts, and what it says when it does not."""

from __future__ import annotations

import re

import pytest

from rushlight.testing import FileCheck

TEXT = "aa bb\ncc bb dd\nbb ee\nff\n"
MARKED = "def f(x):\n    return foo(x)\n           ~~~ <--- HERE\n"


@pytest.mark.parametrize(
    "check",
    [
        FileCheck().check("aa").check("bb"),
        FileCheck().check("ff").check_not("dd"),
        FileCheck().check_count("bb", 3, exactly=True),
        FileCheck().check_count(str="bb", count=3),
        FileCheck().check_not("zz").check_count("bb", 3, exactly=True).check_not("bb"),
        FileCheck().check("aa").check_next("cc").check_same("dd"),
        FileCheck().check_dag("ee").check_dag("aa").check("ff"),
        FileCheck().check_regex("b+ e"),
        FileCheck().check_count("zz", 0, exactly=True),
    ],
    ids=str,
)
def test_passes(check: FileCheck) -> None:
    check.run(TEXT)


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (FileCheck().check("zz"), 'Expected to find "zz" but did not find it\nSearched string:\n'),
        (FileCheck().check("dd").check("cc"), "From CHECK: cc\n"),
        (
            FileCheck().check_not("dd"),
            'Expected to not find "dd" but found it\naa bb\ncc bb dd\n      ~~ <--- HERE\n'
            "bb ee\nff\nFrom CHECK-NOT: dd\n",
        ),
        (FileCheck().check("aa").check_not("dd").check("ee"), "From CHECK-NOT: dd\n"),
        (FileCheck().check_count("bb", 2, exactly=True), 'Expected to not find "bb" but found it'),
        (FileCheck().check_count("bb", 4), "From CHECK-COUNT-4: bb\n"),
        (FileCheck().check("aa").check_next("ee"), 'Expected to not find "\\n" but found it'),
        (FileCheck().check("aa").check_same("cc"), "From CHECK-SAME: cc\n"),
        (FileCheck().check_dag("ee").check_dag("aa").check("bb"), "From CHECK: bb\n"),
        (FileCheck().check_regex("b+ z"), 'Expected to find regex "b+ z" but did not find it'),
        (FileCheck(), "No checks have been added to this instance of"),
    ],
    ids=str,
)
def test_fails(check: FileCheck, message: str) -> None:
    with pytest.raises(RuntimeError, match=re.escape(message)):
        check.run(TEXT)


def test_marked_source() -> None:
    FileCheck().check_source_highlighted("foo").run(MARKED)
    for text in ("f(x)", "return", "fo"):
        with pytest.raises(RuntimeError, match="highlighted but it is not"):
            FileCheck().check_source_highlighted(text).run(MARKED)


def test_checks_in_comments() -> None:
    FileCheck().run("# CHECK: aa\n#CHECK-NEXT: cc\n# CHECK-NOT: zz\n# CHECK-COUNT-1: bb", TEXT)
    FileCheck().run("# CHECK-COUNT-EXACTLY-3: bb", TEXT)
    with pytest.raises(RuntimeError, match="Could not parse check at"):
        FileCheck().run("# CHECK-FOO: aa", TEXT)
    with pytest.raises(RuntimeError, match="No checks have been added"):
        FileCheck().run("CHECK: aa", TEXT)


def test_checks_and_text_by_name() -> None:
    FileCheck().run(checks_file="# CHECK: b", test_file="a b")
    with pytest.raises(RuntimeError, match='Expected to find "c"'):
        FileCheck().run("# CHECK: c", test_file="a b")
