"""What a bundle does when it is started: `python bundle.pyz run m.pt INPUTS`.

This file becomes the bundle's `__main__.py`; beside Python it needs NumPy, and uses llvmlite for
native code where that is installed.  When a bundle is started for the first time its files are put
into a folder of the user's cache, where Python keeps them compiled.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import shutil
import stat
import sys
import tempfile
import zipfile
from importlib import import_module
from pathlib import Path

OLDEST = (3, 11)
USAGE = """usage: python {name} run ARCHIVE [INPUT ...]
       python {name} list

run    call a method of an archive and print what it returns; -h says more
list   the archives that this bundle was made for, and the operators it has
"""


class LeftOut:
    """Says of a module that is not in the bundle that it was left out."""

    def __init__(self, names: list[str], made_for: list[str]) -> None:
        self.names = frozenset(names)
        self.made_for = ", ".join(made_for)

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        """No module; one that was left out is an error.

        Raises:
            ImportError: it was left out.
        """
        if name in self.names:
            raise ImportError(
                f"this bundle has no {name}: it was made for {self.made_for}; `rushlight strip` "
                "makes another one",
                name=name,
            )


def cache() -> Path:
    """The folder for bundles; a temporary one where there is none that only the user can write."""
    given = os.environ.get("RUSHLIGHT_CACHE", "")
    if given.lower() != "off":
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rushlight"
        folder = Path(given or base) / "bundles"
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            found = folder.stat()
            mine = not hasattr(os, "getuid") or found.st_uid == os.getuid()
            if mine and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                return folder
        except OSError:
            pass  # then a temporary one
    made = tempfile.mkdtemp(prefix="rushlight-bundle-")
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return Path(made)


def unpacked(bundle: Path) -> Path:
    """The folder with the bundle's files, which are put there if they are not."""
    name = hashlib.sha256(bundle.read_bytes()).hexdigest()[:24]
    home = cache()
    folder = home / name
    if not folder.is_dir():
        made = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=home))
        with zipfile.ZipFile(bundle) as archive:
            archive.extractall(made)
        try:
            made.rename(folder)
        except OSError:  # another process was quicker
            shutil.rmtree(made, ignore_errors=True)
            if not folder.is_dir():
                raise
    return folder


def main(argv: list[str]) -> int:
    """Run a command of the bundle."""
    bundle = Path(sys.argv[0]).resolve()
    if sys.version_info < OLDEST:
        sys.stderr.write(f"{bundle.name}: Python {'.'.join(map(str, OLDEST))} or newer is needed\n")
        return 2
    if not argv or argv[0] not in ("run", "list"):
        sys.stderr.write(USAGE.format(name=bundle.name))
        return 0 if argv[:1] in (["-h"], ["--help"]) else 2
    try:
        import_module("numpy")
    except ImportError as error:
        sys.stderr.write(f"{bundle.name}: NumPy is needed, and cannot be imported: {error}\n")
        return 2
    folder = unpacked(bundle)
    facts = json.loads((folder / "bundle.json").read_text("utf-8"))
    if argv[0] == "list":
        print("archives:", *facts["archives"], sep="\n  ")
        print("operators:", *facts["operators"], sep="\n  ")
        return 0
    sys.path.insert(0, str(folder))
    sys.meta_path.insert(0, LeftOut(facts["modules_left_out"], facts["archives"]))
    own = facts["package"]
    import_module(f"{own}.bundling.needs").prepared()
    status: int = import_module(f"{own}.__main__").main(argv)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
