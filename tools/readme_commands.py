"""Run the README's commands in a fresh clone: `python tools/readme_commands.py CLONE`.

They are the `sh` blocks under "Install, and run the quickstart" and "Run the tests".
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

HEADINGS = ("## Install, and run the quickstart", "## Run the tests")


def commands(readme: str) -> list[str]:
    """The block below each of the headings."""
    found = []
    for heading in HEADINGS:
        match = re.search(re.escape(heading) + r"\n+```sh\n(.*?)```", readme, re.DOTALL)
        if match is None:
            raise SystemExit(f"README.md has no command under {heading!r}")
        found.append(match.group(1).strip())
    return found


def main() -> None:
    clone = Path(sys.argv[1])
    for command in commands((clone / "README.md").read_text(encoding="utf-8")):
        print(f"$ {command}", flush=True)
        subprocess.run(["sh", "-ec", command], cwd=clone, check=True)


if __name__ == "__main__":
    main()
