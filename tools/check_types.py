"""Type-check rushlight under its installed name: `python tools/check_types.py`.

On disk the parts lie at the top of the repository (ir/), installed they are sub-packages
(rushlight/ir/), and mypy only understands the second.  So this lays out build/typing/rushlight
out of links, checks that, and prints the real paths.  Needs the right to make symbolic links.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PARTS = [
    "frontend",
    "typecheck",
    "ops",
    "ir",
    "interpreter",
    "serialization",
    "grammar",
]


def lay_out(farm: Path) -> None:
    """Make `farm` look like the installed package."""
    farm.mkdir(parents=True, exist_ok=True)
    wanted = {
        source.name: source
        for source in [*(ROOT / "rushlight").iterdir(), *(ROOT / part for part in PARTS)]
        if source.name != "__pycache__"
    }
    for link in farm.iterdir():
        if link.name not in wanted:
            link.unlink()
    for name, source in wanted.items():
        if not (farm / name).is_symlink():
            (farm / name).symlink_to(source)


def main() -> int:
    """Run mypy over the package; the exit status is mypy's."""
    lay_out(ROOT / "build" / "typing" / "rushlight")
    config = ROOT / "pyproject.toml"
    command = [sys.executable, "-m", "mypy", f"--config-file={config}", "-p", "rushlight"]
    done = subprocess.run(command, cwd=ROOT / "build" / "typing", text=True, capture_output=True)
    for line in (done.stdout + done.stderr).splitlines():
        part = line.removeprefix("rushlight/")
        print(part if part.split("/")[0] in PARTS else line)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
