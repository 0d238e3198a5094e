"""Chains as long as Python's parser takes: operands, links of methods, `elif`s."""

from __future__ import annotations

import io
import sys
import threading
from typing import Any

import pytest

import rushlight as torch
from rushlight.frontend.diagnostics.exceptions import NotSupportedError
from rushlight.ir.functions import define

HEADS = {"int": "def f(x: int) -> int:\n", "bool": "def f(x: int) -> bool:\n", "": "def f(x):\n"}
N = 400


def compiled(text: str) -> Any:
    return torch.jit.CompilationUnit(text).f


CHAINS = {
    "sums": (f"{HEADS['int']}    return {' + '.join('x' * N)}\n", 3, 3 * N),
    "and": (f"{HEADS['bool']}    return {' and '.join(f'x != {i}' for i in range(N))}\n", -1, True),
    "compared": (f"{HEADS['bool']}    return {' <= '.join('x' * N)}\n", 1, True),
    "methods": (f"{HEADS['']}    return x{'.neg()' * N}\n", torch.ones([]), torch.ones([])),
}


@pytest.mark.parametrize("name", CHAINS)
def test_a_long_expression_is_compiled_saved_and_loaded(name: str) -> None:
    text, given, wanted = CHAINS[name]
    limit = sys.getrecursionlimit()
    made = compiled(text)
    assert made(given) == wanted
    file = io.BytesIO()
    torch.jit.save(made, file)
    file.seek(0)
    assert torch.jit.load(file, trust="none")(given) == wanted
    assert sys.getrecursionlimit() == limit


LADDER = "def f(x: int) -> int:\n    if x == 0:\n        return 1\n" + "".join(
    f"    elif x == {i}:\n        return {i}\n" for i in range(1, N)
)


def test_a_long_ladder_of_elif_runs_and_prints() -> None:
    made = compiled(f"{LADDER}    return -1\n")
    assert [made(x) for x in (0, 7, N - 1, N)] == [1, 7, N - 1, -1]
    text = str(made.graph)
    assert text.count("prim::If") >= N
    assert len(str(torch._C.parse_ir(text)).splitlines()) == len(text.splitlines())
    assert made.code.count("if ") >= N
    with pytest.raises(RuntimeError, match=r"cannot be saved: .*blocks lie more than"):
        torch.jit.save(made, io.BytesIO())


def test_threads_with_little_stack_refuse_what_is_deep() -> None:
    found: list[BaseException] = []

    def compile() -> None:
        try:
            compiled(CHAINS["sums"][0])(1)
        except RuntimeError as error:
            found.append(error)

    before = threading.stack_size(1 << 20)
    try:
        thread = threading.Thread(target=compile)
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    (error,) = found
    assert "nested too deeply" in str(error)
    assert not isinstance(error, RecursionError)


_BEYOND = 10_000 if sys.version_info < (3, 14) else 200_000
"""Operands that Python's own parser or compiler takes for too many."""


def test_what_python_itself_does_not_take_is_an_error_with_a_place() -> None:
    with pytest.raises(RuntimeError, match="the code is nested too deeply"):
        compiled(f"{HEADS['int']}    return {' + '.join('x' * _BEYOND)}\n")(1)


def test_what_is_checked_stays_so_if_the_stack_ends_while_the_graph_is_built(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: list[str] = []
    for name in ("check_function", "build_graph"):
        whole = getattr(define, name)

        def noted(*arguments: Any, name: str = name, whole: Any = whole, **more: Any) -> Any:
            calls.append(name)
            return whole(*arguments, **more)

        monkeypatch.setattr(define, name, noted)
    assert compiled(f"{HEADS['bool']}    return {' <= '.join('x' * 1500)}\n")(1) is True
    assert calls == ["check_function", "build_graph", "build_graph"]


def test_a_type_of_hundreds_of_thousands_of_letters_is_refused_unread() -> None:
    inner = "int"
    while len(inner) < 1 << 18:
        inner = f"Tuple[{inner}, {inner}]"
    for text in (
        f"def f(x: {inner}) -> int:\n    return 1\n",
        f"def f(x: int) -> {inner}:\n    return x\n",
        f"def f(x: int) -> int:\n    y: {inner} = x\n    return x\n",
    ):
        with pytest.raises(NotSupportedError, match="of more than 262,144 characters"):
            compiled(text)
