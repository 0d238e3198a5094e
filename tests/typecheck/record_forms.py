"""Write down torch's graph of each function under `forms/`, or what torch says against it:

PYTHON_WITH_TORCH tests/typecheck/record_forms.py
"""

from __future__ import annotations

import importlib.util
import json
import re
import sys
import tempfile
import types
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FORMS = Path(__file__).parent / "forms"
MEANINGS = Path(__file__).parent / "forms.json"


def loaded(path: Path, torch: str, folder: Path) -> types.ModuleType:
    """A program with `torch` for the name of the package it imports."""
    name = f"forms_{path.stem}"
    copy = folder / f"{name}.py"
    copy.write_text(path.read_text(encoding="utf-8").replace("rushlight", torch), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, copy)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def meanings(module: types.ModuleType, jit: Any, module_class: type) -> Iterator[tuple[str, str]]:
    """Of each function and module: its graph, or what is said against it, and of which line."""
    for name, value in vars(module).items():
        if getattr(value, "__module__", "") != module.__name__:
            continue
        if hasattr(value, "__torch_script_interface__"):
            continue
        if isinstance(value, types.FunctionType):
            yield name, _meaning(value, jit)
        elif isinstance(value, type) and issubclass(value, module_class):
            yield name, _meaning(value(), jit)


def _meaning(value: Any, jit: Any) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            graph = str(jit.script(value).graph)
        except Exception as error:
            return _without_others(_said(error))
    return _without_others(re.sub(r" *# .*", "", graph).rstrip())


def _without_others(text: str) -> str:
    """The text without what tells a class from others that had its name before."""
    return re.sub(r"___torch_mangle_\d+\.", "", text)


def _said(error: Exception) -> str:
    """What is said before the program is shown, and the line that is shown first."""
    text, _, place = str(error).strip().partition('  File "')
    line = re.search(r"line \d+", place)
    text = re.sub(r" \(of Python compilation unit at: 0x[0-9a-f]+\)", "", text).strip(": \n")
    return f"{type(error).__name__}: {text} {line[0] if line else ''}".strip()


def main() -> None:
    import torch

    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted(FORMS.glob("*.py")):
            module = loaded(path, "torch", Path(folder))
            found[path.stem] = dict(meanings(module, torch.jit, torch.nn.Module))
    text = json.dumps(found, indent=0, ensure_ascii=False, sort_keys=True)
    MEANINGS.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
