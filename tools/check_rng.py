"""Compare random numbers with recorded ones: `python tools/check_rng.py FOLDER`.

FOLDER holds rng.json: under "groups", lists of [expression, [dtype, shape, bytes in hex]].  The
expressions use `torch` and leave their result in `r`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import rushlight


def evaluate(expression: str) -> Any:
    """What an expression leaves in `r`."""
    names: dict[str, Any] = {"torch": rushlight}
    exec(expression, names)
    return names["r"]


def recorded_form(value: Any) -> Any:
    """A result as it was recorded: [dtype, shape, bytes]; bfloat16 widened to float32."""
    if isinstance(value, (list, tuple)):
        return [recorded_form(each) for each in value]
    array = value._array
    name = value.dtype.name
    if name == "bfloat16":
        array = array.astype("float32")
    return [name, list(array.shape), array.tobytes().hex()]


def main(folder: Path) -> int:
    """Print every difference and a summary; the number of differences is the exit status."""
    groups = json.loads((folder / "rng.json").read_text("utf-8"))["groups"]
    same = different = 0
    for expression, expected in (row for rows in groups.values() for row in rows):
        found = recorded_form(evaluate(expression))
        if found == expected:
            same += 1
        else:
            different += 1
            print(f"different: {expression}\n  found    {found}\n  expected {expected}")
    print(f"{same} equal, {different} different")
    return min(different, 1)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
