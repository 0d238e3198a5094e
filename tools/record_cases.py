"""Records what real torch makes of the cases in tests/rushlight/recorded.

    PYTHON_WITH_TORCH tools/record_cases.py

Each file of cases there has a table `CASES` of functions that take the library; what they give
goes to `recorded.json` beside them.
"""

from __future__ import annotations

import json
import sys
import warnings
from importlib import import_module
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "tests" / "rushlight" / "recorded"


def main() -> None:
    """Write the file anew."""
    import torch

    warnings.simplefilter("ignore")
    sys.path.insert(0, str(FOLDER))
    made: dict[str, object] = {}
    for file in import_module("values").FILES:
        for name, case in import_module(file).CASES.items():
            torch.manual_seed(0)
            made[f"{file}.{name}"] = case(torch)
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in made.items()]
    (FOLDER / "recorded.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
