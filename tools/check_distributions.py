"""Compare what a wheel and an sdist hold with the checkout: `check_distributions.py FILE...`.

The wheel holds each tracked file of the package and its parts once, under its installed name, and
nothing else; the sdist holds each tracked file once, under its own, and no links.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def tracked() -> list[str]:
    """The files of the checkout that git knows; no links."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--stage"], cwd=ROOT, text=True, capture_output=True, check=True
    )
    rows = [row.split("\t", 1) for row in listed.stdout.split("\0") if row]
    return [name for mode, name in rows if not mode.startswith("120000")]


def installed_names() -> list[str]:
    """What the wheel is to hold, without its metadata."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    mapped = wheel["sources"]
    names = [name for name in tracked() if name.split("/")[0] in wheel["only-include"]]
    tops = {name: mapped.get(name.split("/")[0], name.split("/")[0]) for name in names}
    return [f"{top}/{name.partition('/')[2]}" for name, top in tops.items()]


def held(file: Path) -> list[str]:
    """The files that a distribution holds, without what the build adds."""
    if file.suffix == ".whl":
        with zipfile.ZipFile(file) as wheel:
            return [name for name in wheel.namelist() if ".dist-info/" not in name]
    with tarfile.open(file) as sdist:
        names = [member.name.partition("/")[2] for member in sdist if not member.isdir()]
        return [name for name in names if name != "PKG-INFO"]


def main() -> int:
    """Say what differs; the exit status is 1 if anything does."""
    status = 0
    for file in map(Path, sys.argv[1:]):
        wanted = Counter(installed_names() if file.suffix == ".whl" else tracked())
        found = Counter(held(file))
        for what, names in (("lacks", wanted - found), ("holds too much", found - wanted)):
            for name in names:
                print(f"{file.name} {what}: {name}")
                status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
