"""Compare `torch.fx` with torch's own, case by case.

    python tools/compare_fx.py PYTHON [--record]

PYTHON has torch 2.13.  With `--record` what torch makes of the cases is written to
`tests/rushlight/fx/recorded.json`, with which the tests compare.
"""

from __future__ import annotations

import argparse
import difflib
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CASES = ROOT / "tests" / "rushlight" / "fx"


def _texts(*command: str) -> str:
    """What the cases print."""
    program, *rest = command
    done = subprocess.run(
        [program, "-W", "ignore", *rest, str(CASES / "cases.py")],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    return done.stdout


def main() -> None:
    """Record, or compare."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("python", help="an interpreter that has torch 2.13")
    parser.add_argument("--record", action="store_true", help="write what the tests compare with")
    asked = parser.parse_args()
    theirs = _texts(asked.python)
    if asked.record:
        (CASES / "recorded.json").write_text(theirs)
        return
    ours = _texts(sys.executable, "-m", "rushlight.as_torch")
    lines = [json.dumps(json.loads(each), indent=0).split("\n") for each in (theirs, ours)]
    found = list(difflib.unified_diff(*lines, "torch", "rushlight", lineterm="", n=0))
    print("\n".join(found) or "no differences")
    raise SystemExit(bool(found))


if __name__ == "__main__":
    main()
