"""Which files `rushlight check` is about: those named, those in folders, those a project names."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from ..frontend.diagnostics.codes import CODES
from ..frontend.diagnostics.near_miss import near_misses
from .failure import CommandError

__all__ = ["STDIN", "Settings", "files_of", "project_settings"]

STDIN: Final = "-"
"""The word for the program on standard input."""

_MENTIONS: Final = re.compile(
    rb"^(?:\xef\xbb\xbf)?[ \t]*(?:import|from)[ \t]+(?:torch|rushlight)\b", re.MULTILINE
)
_LEFT_OUT: Final = frozenset({"__pycache__", "node_modules", "site-packages"})


@dataclass(frozen=True)
class Settings:
    """What `[tool.rushlight]` of a project says.

    `paths` are checked when no file is named, `exclude` are patterns of files and folders that are
    passed over in folders, both relative to `folder`; `ignore` are codes that are not reported.
    """

    folder: Path = field(default_factory=Path.cwd)
    paths: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()


def project_settings() -> Settings:
    """The settings in the nearest `pyproject.toml`, here or further up, that has any.

    Raises:
        CommandError: that file is no TOML, or its settings are wrong.
    """
    here = Path.cwd()
    for folder in (here, *here.parents):
        file = folder / "pyproject.toml"
        if not file.is_file():
            continue
        try:
            table = tomllib.loads(file.read_text(encoding="utf-8")).get("tool", {})
        except (OSError, ValueError, RecursionError) as error:
            raise CommandError(f"{file}: {error}") from None
        if isinstance(table, dict) and "rushlight" in table:
            return _settings(file, table["rushlight"])
    return Settings()


def _settings(file: Path, table: object) -> Settings:
    if not isinstance(table, dict):
        raise CommandError(f"{file}: [tool.rushlight] is no table")
    found: dict[str, tuple[str, ...]] = {}
    for key, value in table.items():
        if key not in ("paths", "exclude", "ignore"):
            close = _close(key, ("paths", "exclude", "ignore"))
            raise CommandError(f"{file}: [tool.rushlight] has no setting `{key}`{close}")
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise CommandError(f"{file}: `{key}` of [tool.rushlight] is no list of texts")
        found[key] = tuple(value)
    for code in found.get("ignore", ()):
        if code not in CODES:
            raise CommandError(f"{file}: there is no error code `{code}`{_close(code, CODES)}")
    return Settings(file.parent, **found)


def _close(word: str, known: Iterable[str]) -> str:
    near = " or ".join(f"`{name}`" for name in near_misses(word, known))
    return f"; did you mean {near}?" if near else ""


def files_of(words: Sequence[str], settings: Settings) -> list[str]:
    """The files to check, each once.

    A file that is named is taken.  Of a folder those Python files are taken, at any depth, that
    import torch and that the settings do not exclude; hidden folders, environments and installed
    packages are passed over.

    Raises:
        CommandError: something named is not there, or nothing is named.
    """
    named = list(words) or [os.path.relpath(settings.folder / path) for path in settings.paths]
    if not named:
        raise CommandError("check: name a file or folder, or `paths` in [tool.rushlight]")
    found: dict[str, None] = {}
    for word in named:
        if os.path.isdir(word):
            found.update(dict.fromkeys(_in_folder(word, settings)))
        elif word == STDIN or os.path.isfile(word):
            found[word] = None
        else:
            raise CommandError(f"{word}: no such file")
    return list(found)


def _in_folder(top: str, settings: Settings) -> Iterator[str]:
    for folder, inner, names in os.walk(top):
        inner[:] = sorted(name for name in inner if _is_walked(os.path.join(folder, name)))
        for name in sorted(names):
            path = os.path.join(folder, name)
            if name.endswith(".py") and not _is_excluded(path, settings) and _imports_torch(path):
                yield os.path.normpath(path)


def _is_walked(folder: str) -> bool:
    name = os.path.basename(folder)
    is_environment = os.path.isfile(os.path.join(folder, "pyvenv.cfg"))
    return not (name.startswith(".") or name in _LEFT_OUT or is_environment)


def _is_excluded(path: str, settings: Settings) -> bool:
    """Whether a pattern is that of the file or of a folder that it is in."""
    parts = Path(os.path.relpath(path, settings.folder)).parts
    places = ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]
    patterns = [pattern.rstrip("/") for pattern in settings.exclude]
    return any(fnmatchcase(place, pattern) for place in places for pattern in patterns)


def _imports_torch(path: str) -> bool:
    """Whether a program imports torch; pipes and devices, whose reading may never end, do not."""
    if not os.path.isfile(path):
        return False
    try:
        return _MENTIONS.search(Path(path).read_bytes()) is not None
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror or error}") from None
