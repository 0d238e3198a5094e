"""Texts that native code fills in (`%`) are those of the operator, or it is not for them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.interpreter.native.kinds import NotNative
from rushlight.interpreter.native.native import ROUNDS
from rushlight.interpreter.native.program import compile_native
from rushlight.interpreter.native.source import write_native
from rushlight.interpreter.running.executable import executable_of

NEVER = np.zeros(1, np.int64)
NUMBER, SHARE, WORD = -7, 2.5, "word"
TEXTS = [
    *('"%d" % n', '"%s" % n', '"%i!" % n', '"%d" % x', '"%s" % x', '"%s" % w'),
    *('"%f" % x', '"%F" % n', '"%e" % x', '"<%s>" % (w,)', '"%s" % ((n, x),)', '"%%%d%%" % n'),
    *('"%d, %s" % (n, w)', '"%s%s%s" % (w, x, n)', '"%s %d" % ((n, w), n)', '"%d" % (n,)'),
    *('"%s" % ((n,),)', '"%s and %s" % ((w, w), (n, n))', '"a%sb%sc" % (w, "%d")', '"%s" % True'),
    *('"%s" % [n, n]', '"%s" % ([n], )', '"%s %s" % (n, (x, w))', '"%s" % None'),
]
REFUSED = ['"%d" % (n, n)', '"%d %d" % n', '"%d %d" % (n,)', '"%q" % n', '"%d" % w', '"%" % n']


def _function(text: str) -> Any:
    body = "def f(n: int, x: float, w: str):\n    for i in range(1):\n        n = n + 0\n"
    return torch.jit.CompilationUnit(f"{body}    return {text}\n").f


def _native(function: Any) -> Any:
    made = function._rushlight_function
    code = executable_of(made, None).code
    run = compile_native(write_native(code, [each.type for each in made.signature.arguments]))
    return run(ROUNDS, NEVER.ctypes.data, 0, NUMBER, SHARE, WORD)


def test_texts_are_those_of_the_operator() -> None:
    function = _function(f"[{', '.join(TEXTS)}]")
    for found, wanted, text in zip(
        _native(function), function(NUMBER, SHARE, WORD), TEXTS, strict=True
    ):
        assert found == wanted, text


@pytest.mark.parametrize("text", REFUSED)
def test_what_cannot_be_filled_in_is_left_to_the_operator(text: str) -> None:
    function = _function(text)
    with pytest.raises(NotNative):
        _native(function)
    with pytest.raises(RuntimeError, match=r"format|number"):
        function(NUMBER, SHARE, WORD)
