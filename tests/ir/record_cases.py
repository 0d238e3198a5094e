"""Write torch's graphs into the case files; run with a Python that has torch 2.13:

python tests/ir/record_cases.py tests/ir/cases/*.txt
"""

from __future__ import annotations

import ast
import importlib.util
import re
import sys
import tempfile
from pathlib import Path
from types import ModuleType


def load(program: str, folder: Path) -> tuple[ModuleType, str]:
    """The program as a module, its first line on line 1, and the name of its last function."""
    path = folder / "program.py"
    path.write_text(program + "\n", encoding="utf-8")
    spec = importlib.util.spec_from_file_location("program", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    exec("import torch\nfrom typing import *", module.__dict__)
    spec.loader.exec_module(module)
    functions = [n.name for n in ast.parse(program).body if isinstance(n, ast.FunctionDef)]
    return module, functions[-1]


def record(path: Path) -> None:
    import torch

    parts = []
    for part in path.read_text(encoding="utf-8").split("==== ")[1:]:
        name, _, rest = part.partition("\n")
        program = rest.partition("\n---- graph\n")[0].strip("\n")
        with tempfile.TemporaryDirectory() as folder:
            sys.modules.pop("program", None)
            module, last = load(program, Path(folder))
            sys.modules["program"] = module
            function = torch.jit.script(getattr(module, last))
            texts = [str(function.graph), str(function.inlined_graph)]
            graph, inlined = (re.sub(re.escape(folder) + "/", "", t).strip() for t in texts)
        extra = "" if "prim::Call" not in graph else f"---- inlined\n{inlined}\n"
        parts.append(f"==== {name}\n{program}\n---- graph\n{graph}\n{extra}\n")
    path.write_text("".join(parts), encoding="utf-8")


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        record(Path(argument))
