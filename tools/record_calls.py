"""Write down what real torch answers to the calls in tables; run by a Python that has torch 2.13.

    PYTHON_WITH_TORCH tools/record_calls.py tests/calls/tables/*.txt

Answers that end in `: ` (an error whose words are our own) stay while the class is right.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "calls"))

import torch
from call_tables import answer, read


def main() -> None:
    for name in sys.argv[1:]:
        file = Path(name)
        table = read(file)
        names = table.names(torch)
        lines = []
        for expression, before in table.rows:
            found = answer(expression, dict(names))
            is_ours = isinstance(before, str) and before.startswith("!") and before.endswith(": ")
            if is_ours and isinstance(found, str) and found.startswith(before):
                found = before
            lines += [expression, f"=> {json.dumps(found)}"]
        file.write_text("\n".join([table.setup, "---", *lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
