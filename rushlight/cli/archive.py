"""Opening an archive for a command, and finding the method it speaks of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..frontend.diagnostics.near_miss import near_misses
from ..jit import RecursiveScriptModule, ScriptMethod, load
from ..jit.module import wrap
from ..serialization.archives.load import load_archive
from ..serialization.files.errors import ArchiveError
from .failure import CommandError

__all__ = ["find_method", "method_names", "open_archive"]


def open_archive(
    path: str,
    trust: str = "none",
    *,
    restores: bool = True,
    without_data: bool = False,
    only_here: bool = True,
) -> RecursiveScriptModule:
    """The module in an archive; without `restores` no code of it runs if it is not trusted.

    `without_data` leaves the weights in the file, unless they are quantized.  With `only_here` code
    computes where the weights are if it names devices that are not here; without, it stays as it
    is.

    Raises:
        CommandError: there is no such file, or it cannot be read.
        ArchiveError: it is no archive, damaged, or needs what does not exist here.
    """
    if not Path(path).exists():
        raise CommandError(f"{path}: no such file")
    try:
        if not restores:
            return wrap(load_archive(path, trusted=trust != "none", restores=False))
        location = "meta" if without_data else "cpu" if only_here else None
        try:
            loaded = load(path, location, trust=trust)
        except ArchiveError as error:
            if location != "meta" or error.code != "unsupported-value":
                raise
            loaded = load(path, "cpu" if only_here else None, trust=trust)
        assert isinstance(loaded, RecursiveScriptModule)
        return loaded
    except ArchiveError:
        raise
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror or error}") from None


def method_names(module: RecursiveScriptModule) -> list[str]:
    """The compiled methods of a module, `forward` first."""
    names = list(module._c.cls.methods)
    return sorted(names, key=lambda name: name != "forward")


def find_method(module: Any, path: str) -> ScriptMethod:
    """The method of a dotted name, such as `forward` or `encoder.forward`.

    Raises:
        CommandError: a submodule or the method does not exist; near names are told.
    """
    *owners, name = path.split(".")
    for owner in owners:
        children = dict(module.named_children())
        if owner not in children:
            raise CommandError(_unknown(f"submodule `{owner}`", owner, list(children)))
        module = children[owner]
    names = method_names(module)
    if name not in names:
        raise CommandError(_unknown(f"method `{name}`", name, names))
    return module._script_method(name)  # type: ignore[no-any-return]


def _unknown(what: str, name: str, known: list[str]) -> str:
    close = near_misses(name, known)
    if close:
        return f"there is no {what}; did you mean {' or '.join(f'`{c}`' for c in close)}?"
    listed = ", ".join(f"`{k}`" for k in known) or "none"
    return f"there is no {what}; there are: {listed}"
