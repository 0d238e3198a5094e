"""Errors that nobody caught: on a terminal the readable text comes first."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

import rushlight as torch
from rushlight.frontend.diagnostics.uncaught import after_uncaught

ROOT = Path(__file__).parents[2]


class Stream(io.StringIO):
    """Standard error, which may be a terminal."""

    def __init__(self, terminal: bool = True) -> None:
        super().__init__()
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


def failure() -> Exception:
    def f(x: torch.Tensor) -> torch.Tensor:
        return x + missing  # noqa: F821

    with pytest.raises(RuntimeError) as caught:
        torch.jit.script(f)
    return caught.value


def shown(
    error: Exception, monkeypatch: pytest.MonkeyPatch, terminal: bool = True, mode: str = ""
) -> str:
    """What Python's hook prints of an error."""
    stream = Stream(terminal)
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("NO_COLOR", "1")
    if mode:
        monkeypatch.setenv("RUSHLIGHT_DIAGNOSTICS", mode)
    sys.excepthook(type(error), error, error.__traceback__)
    return stream.getvalue()


@pytest.fixture(autouse=True)
def _usual_hook(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "excepthook", sys.__excepthook__)
    monkeypatch.delenv("RUSHLIGHT_DIAGNOSTICS", raising=False)


def test_on_a_terminal_the_readable_text_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown(failure(), monkeypatch)
    assert text.startswith("Traceback (most recent call last):\n")
    assert text.index("RuntimeError:") < text.index("error[undefined-name]: `missing` is not")
    assert text.count("error[undefined-name]") == 1
    assert "undefined value missing" not in text
    assert "torch's own text is str(e)" in text


def test_torchs_text_follows_where_both_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown(failure(), monkeypatch, mode="both")
    assert text.index("error[undefined-name]") < text.index("undefined value missing")


def test_elsewhere_it_is_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown(failure(), monkeypatch, terminal=False)
    assert text.index("undefined value missing") < text.index("error[undefined-name]")
    assert "torch's own text" not in text


def test_causes_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    error = failure()
    with pytest.raises(RuntimeError) as caught:
        raise error from ZeroDivisionError("the reason")
    text = shown(caught.value, monkeypatch)
    assert text.index("the reason") < text.index("direct cause") < text.index("error[undefined")


def test_other_errors_are_shown_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    failure()
    assert shown(KeyError("no"), monkeypatch).endswith("KeyError: 'no'\n")


def test_a_hook_of_the_program_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "excepthook", lambda *found: None)
    assert shown(failure(), monkeypatch) == ""


def test_what_is_to_be_done_afterwards_does_not_hide_the_readable_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    done: list[str] = []
    after_uncaught(lambda: done.append("ended"))
    text = shown(failure(), monkeypatch)
    assert text.index("RuntimeError:") < text.index("error[undefined-name]")
    assert "undefined value missing" not in text
    assert done == ["ended"]


def test_where_there_is_no_torch_what_stands_in_for_it_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing is changed before somebody looks for torch, who finds nothing as before."""
    assert sys.excepthook is sys.__excepthook__
    assert torch._StandingIn.find_spec("numpy") is None
    assert sys.excepthook is sys.__excepthook__
    assert torch._StandingIn.find_spec("torch") is None
    text = shown(ModuleNotFoundError("No module named 'torch'", name="torch"), monkeypatch)
    assert "ModuleNotFoundError: No module named 'torch'\n`import rushlight as torch`" in text
    assert "`rushlight.as_torch()`" in text
    other = shown(ModuleNotFoundError("No module named 'jax'", name="jax"), monkeypatch)
    assert other.endswith("No module named 'jax'\n")


def test_the_prompt_says_where_sources_are() -> None:
    typed = "import rushlight as torch\ndef f(x):\n    return x\n\ntorch.jit.script(f)\n"
    typed += "space = {'__name__': 'm'}\nexec('def g(x): return x', space)\n"
    typed += "torch.jit.script(space['g'])\n"
    done = subprocess.run(
        [sys.executable, "-i", "-q"],
        input=typed,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=120,
    )
    said = " ".join(done.stderr.split())
    assert "given by `-c` or `exec`" in said
    if sys.version_info < (3, 13):
        assert "which this prompt does not keep" in said
        assert "`torch.jit.CompilationUnit`" in said


def test_in_ipython(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shells = pytest.importorskip("IPython.core.interactiveshell")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    shell = shells.InteractiveShell.instance()
    printed = io.StringIO()
    monkeypatch.setattr(sys, "stdout", printed)
    shell.run_cell("import rushlight as torch\n@torch.jit.script\ndef f(x):\n    return x + y\n")
    text = printed.getvalue()
    assert text.count("undefined-name]") == 1
    assert "undefined value y" not in text
    assert "interactiveshell" not in text
