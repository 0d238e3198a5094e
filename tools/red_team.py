"""Run the attacks of tests/attacks, also the long ones: is every promise held?

    python tools/red_team.py                       # all families
    python tools/red_team.py memory threads --rounds 5
    python tools/red_team.py --only 'zip: .*'

Each attack runs in a process of its own with limits of memory, time and file size.  What breaks is
printed with its family and name; the exit status says whether anything did.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

ATTACKS = Path(__file__).resolve().parent.parent / "tests" / "attacks"
sys.path.insert(0, str(ATTACKS))

from harness import FAMILIES, Zygote, families

__all__ = ["main"]


def _chosen(names: Sequence[str], only: str) -> Iterator[tuple[str, str]]:
    for family in families().values():
        if not names or family.name in names:
            for name in family.attacks:
                if re.search(only, name):
                    yield family.name, name


def main(argv: Sequence[str] | None = None) -> int:
    """Run the chosen attacks; the exit status says whether a promise was broken."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("families", nargs="*", choices=[[], *FAMILIES], metavar="FAMILY")
    parser.add_argument("--only", default="", help="a regular expression over names of attacks")
    parser.add_argument("--rounds", type=int, default=1, help="how often to run each (default: 1)")
    parser.add_argument("--slow", type=float, default=5.0, help="print what takes longer (seconds)")
    arguments = parser.parse_args(argv)
    zygote, count, broken = Zygote(), 0, 0
    for _ in range(arguments.rounds):
        for family, name in _chosen(arguments.families, arguments.only):
            began = time.monotonic()
            told = zygote.run(family, name)
            took = time.monotonic() - began
            count += 1
            if told:
                broken += 1
                print(f"BROKEN {family}: {name} ({took:.1f} s)\n{told.strip()}\n", flush=True)
            elif took > arguments.slow:
                print(f"slow   {family}: {name} ({took:.1f} s)", flush=True)
    zygote.close()
    print(f"{count} attacks, {broken} broke a promise")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
