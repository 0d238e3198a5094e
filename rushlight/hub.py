"""`torch.hub`: models by the `hubconf.py` of their sources, and weights by their address.

Sources of GitHub are downloaded as a zip file and unpacked into `get_dir()`; loading one runs its
code, so its owner has to be trusted first.  Weights go to `get_dir()/checkpoints`, and are read
without running anything unless `weights_only=False` is said.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
import sys
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module, util
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import Any, Final
from urllib.parse import urlparse

from .frontend.foundations.chosen import Chosen
from .serialization.files.atomic_file import atomic_file
from .weights import load as load_file

__all__ = [
    *(
        "HASH_REGEX",
        "download_url_to_file",
        "get_dir",
        "help",
        "list",
        "load",
        "load_state_dict_from_url",
    ),
    "set_dir",
]

_PIECE: Final = 1 << 17
HASH_REGEX: Final = re.compile(r"-([a-f0-9]*)\.")
_TRUSTED: Final = ("facebookresearch", "facebookincubator", "pytorch", "fairinternal")
_DIRECTORY: Final = Chosen("")


class _Progress:
    """Counts what is done, and shows it where the standard error output is a terminal: for who
    asks `torch.hub` for `tqdm` where that is not installed."""

    def __init__(self, iterable: Any = None, total: float | None = None, **options: object) -> None:
        self._each, self.total, self.n = iterable, total, 0.0
        self._shown = not options.get("disable") and sys.stderr.isatty()

    def update(self, n: float) -> None:
        """So much more is done."""
        self.n += n
        if self._shown:
            whole = f"{100 * self.n / self.total:.1f}%" if self.total else f"{self.n:.1f} bytes"
            print(f"\r{whole}", end="", file=sys.stderr, flush=True)

    def set_description(self, *given: object, **named: object) -> None:
        """Shown by the real one."""

    def close(self) -> None:
        """Nothing more comes."""
        if self._shown:
            print(file=sys.stderr)

    def __iter__(self) -> Iterator[Any]:
        for each in self._each:
            yield each
            self.update(1)

    def __enter__(self) -> _Progress:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


def __getattr__(name: str) -> Any:
    """`tqdm`, which torch shows its downloads with."""
    if name != "tqdm":
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    if util.find_spec("tqdm") is None:
        return _Progress
    return import_module("tqdm").tqdm


def get_dir() -> str:
    """Where downloads are kept: `set_dir`, else `$TORCH_HOME/hub`, else `~/.cache/torch/hub`."""
    return _DIRECTORY.now or os.path.join(_get_torch_home(), "hub")


def _get_torch_home() -> str:
    """Where torch keeps what it downloads: `$TORCH_HOME`, else `~/.cache/torch`."""
    cache = os.environ.get("XDG_CACHE_HOME", "~/.cache")
    return os.path.expanduser(os.environ.get("TORCH_HOME", os.path.join(cache, "torch")))


def set_dir(d: str | os.PathLike[str]) -> None:
    """Keep downloads in another folder from now on."""
    _DIRECTORY.choose(os.path.expanduser(d))


# ----------------------------------------------------------------------------------- downloads


def download_url_to_file(
    url: str, dst: str, hash_prefix: str | None = None, progress: bool = True
) -> None:
    """Download a file; it is there whole or not at all.

    Args:
        hash_prefix: the beginning of its SHA-256 in hexadecimal digits, which is checked.
        progress: write to standard error how far it is.

    Raises:
        RuntimeError: the file has another SHA-256.
        OSError: it cannot be had (`urllib.error.URLError`) or written.
    """
    digest = hashlib.sha256()
    with atomic_file(os.path.expanduser(dst)) as file:
        for piece in _pieces(url, progress):
            digest.update(piece)
            file.write(piece)
        found = digest.hexdigest()
        if hash_prefix is not None and found[: len(hash_prefix)] != hash_prefix:
            raise RuntimeError(f'invalid hash value (expected "{hash_prefix}", got "{found}")')


def _pieces(url: str, progress: bool) -> Iterator[bytes]:
    request = urllib.request.Request(url, headers={"User-Agent": "torch.hub"})
    token = os.environ.get("GITHUB_TOKEN")
    if token and urlparse(url).hostname in ("github.com", "api.github.com"):
        request.add_unredirected_header("Authorization", f"token {token}")
    shows = progress and sys.stderr.isatty()
    with urllib.request.urlopen(request) as answer:
        total, done = int(answer.headers.get("Content-Length") or 0), 0
        while piece := answer.read(_PIECE):
            done += len(piece)
            if shows:
                share = f"{100 * done // total} %" if total else f"{done >> 20} MB"
                print(f"\r{url}: {share}", end="", file=sys.stderr)
            yield piece
    if shows:
        print(file=sys.stderr)


def load_state_dict_from_url(
    url: str,
    model_dir: str | None = None,
    map_location: object = None,
    progress: bool = True,
    check_hash: bool = False,
    file_name: str | None = None,
    weights_only: bool | None = None,
) -> Any:
    """What a file at an address holds, downloaded unless it is there already.

    Args:
        check_hash: the file's name ends in `-HASH.ext`, the beginning of its SHA-256.
        weights_only: as in `torch.load`; False runs what the file says.

    Raises:
        RuntimeError: another SHA-256, or the file is not what `torch.load` reads.
        OSError: it cannot be had or written.
    """
    folder = Path(model_dir if model_dir is not None else os.path.join(get_dir(), "checkpoints"))
    folder.mkdir(parents=True, exist_ok=True)
    name = file_name if file_name is not None else PurePosixPath(urlparse(url).path).name
    place = folder / name
    if not place.exists():
        print(f'Downloading: "{url}" to {place}\n', file=sys.stderr)
        match = HASH_REGEX.search(name) if check_hash else None
        download_url_to_file(url, str(place), match.group(1) if match else None, progress)
    return load_file(place, map_location, weights_only=weights_only)


# ------------------------------------------------------------------------------------- sources


def list(
    github: str,
    force_reload: bool = False,
    skip_validation: bool = False,
    trust_repo: bool | str | None = None,
    verbose: bool = True,
) -> Any:
    """The names of the models that a repository offers.

    Raises:
        ValueError, PermissionError, OSError: as in `load`.
    """
    del skip_validation
    hubconf = _module_of(_sources(github, force_reload, trust_repo, verbose))
    public = (name for name in vars(hubconf) if not name.startswith("_"))
    return [name for name in public if callable(getattr(hubconf, name))]


def help(
    github: str,
    model: str,
    force_reload: bool = False,
    skip_validation: bool = False,
    trust_repo: bool | str | None = None,
) -> str | None:
    """What a repository says of a model.

    Raises:
        RuntimeError: it has no such model.
        ValueError, PermissionError, OSError: as in `load`.
    """
    del skip_validation
    hubconf = _module_of(_sources(github, force_reload, trust_repo, True))
    text: str | None = _entry(hubconf, model).__doc__
    return text


def load(
    repo_or_dir: str | os.PathLike[str],
    model: str,
    *args: object,
    source: str = "github",
    trust_repo: bool | str | None = None,
    force_reload: bool = False,
    verbose: bool = True,
    skip_validation: bool = False,
    **kwargs: object,
) -> Any:
    """A model, made by the function of its name in the sources' `hubconf.py`.

    Args:
        repo_or_dir: `owner/name[:branch or tag]`, or a folder.
        source: `"github"`, or `"local"` for a folder.
        trust_repo: True says that code of that repository may be run.  Else the terminal is asked
            if it was not trusted before, and with False in any case.
        force_reload: download the sources again.

    Raises:
        ValueError: another source, or a name that is no repository's.
        PermissionError: the repository is not trusted.
        RuntimeError: the sources have no such model, or need packages that are not installed.
        OSError: the sources cannot be had.
    """
    del skip_validation
    if source not in ("github", "local"):
        raise ValueError(f'Unknown source: "{source}". Allowed values: "github" | "local".')
    if source == "github":
        repo_or_dir = _sources(str(repo_or_dir), force_reload, trust_repo, verbose)
    with _first_on_path(repo_or_dir):
        return _entry(_module_of(repo_or_dir), model)(*args, **kwargs)


@contextmanager
def _first_on_path(folder: str | os.PathLike[str]) -> Iterator[None]:
    place = os.fspath(folder)
    sys.path.insert(0, place)
    try:
        yield
    finally:
        sys.path.remove(place)


def _module_of(folder: str | os.PathLike[str]) -> ModuleType:
    """The module that `hubconf.py` makes."""
    file = Path(folder) / "hubconf.py"
    spec = util.spec_from_file_location("hubconf", file)
    if spec is None or spec.loader is None or not file.is_file():
        raise FileNotFoundError(f"there is no hubconf.py in {folder}")
    module = util.module_from_spec(spec)
    with _first_on_path(folder):
        spec.loader.exec_module(module)
        needed = getattr(module, "dependencies", None) or []
        missing = [name for name in needed if util.find_spec(name) is None]
    if missing:
        raise RuntimeError(f"Missing dependencies: {', '.join(missing)}")
    return module


def _entry(hubconf: ModuleType, model: str) -> Any:
    if not isinstance(model, str):
        raise ValueError("Invalid input: model should be a string of function name")
    found = getattr(hubconf, model, None)
    if not callable(found):
        raise RuntimeError(f"Cannot find callable {model} in hubconf")
    return found


def _sources(github: str, force_reload: bool, trust_repo: object, verbose: bool) -> str:
    """The folder with the sources of a repository."""
    found = re.fullmatch(r"([\w.-]+)/([\w.-]+)(?::([\w./-]+))?", github)
    if found is None:
        raise ValueError(f"not a repository, which is owner/name or owner/name:branch: {github!r}")
    owner, name, branch = found.groups()
    _see_that_trusted(owner, name, trust_repo)
    branch = branch or _default_branch(owner, name)
    folder = Path(get_dir()) / "_".join([owner, name, branch.replace("/", "_")])
    if folder.exists() and not force_reload:
        if verbose:
            print(f"Using cache found in {folder}", file=sys.stderr)
        return str(folder)
    url = f"https://github.com/{owner}/{name}/zipball/{branch}"
    if verbose:
        print(f'Downloading: "{url}"', file=sys.stderr)
    _unpack(b"".join(_pieces(url, False)), folder)
    return str(folder)


def _default_branch(owner: str, name: str) -> str:
    try:
        answer = b"".join(_pieces(f"https://api.github.com/repos/{owner}/{name}", False))
    except urllib.error.URLError:
        kept = sorted(Path(get_dir()).glob(f"{owner}_{name}_*"))  # without a network
        if not kept:
            raise
        return kept[0].name.removeprefix(f"{owner}_{name}_")
    return str(json.loads(answer).get("default_branch", "main"))


def _unpack(data: bytes, folder: Path) -> None:
    """Write the files of an archive, whose names all begin with one folder.

    Raises:
        ValueError: a name leads out of the folder.
    """
    part = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for entry in archive.infolist():
            inside = PurePosixPath(entry.filename).parts[1:]
            if PurePosixPath(entry.filename).is_absolute() or ".." in inside:
                raise ValueError(f"the archive names a file outside: {entry.filename!r}")
            place = part.joinpath(*inside)
            if entry.is_dir():
                place.mkdir(parents=True, exist_ok=True)
            else:
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(archive.read(entry))
    shutil.rmtree(folder, ignore_errors=True)
    part.rename(folder)


def _see_that_trusted(owner: str, name: str, trust_repo: object) -> None:
    """Ask whether a repository's code may run, unless that was said."""
    file = Path(get_dir()) / "trusted_list"
    known = file.read_text().split() if file.exists() else []
    is_known = owner in _TRUSTED or f"{owner}_{name}" in known
    if is_known and trust_repo is not False:
        return
    if trust_repo is True:
        _remember(file, [*known, f"{owner}_{name}"])
        return
    question = f"The repository {owner}_{name} does not belong to the list of trusted repositories"
    if not sys.stdin.isatty():
        raise PermissionError(f"{question}: say trust_repo=True to run its code")
    if input(f"{question}. Do you trust it and wish to run its code? (y/N) ").lower() != "y":
        raise PermissionError("Untrusted repository.")
    _remember(file, [*known, f"{owner}_{name}"])


def _remember(file: Path, known: Any) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with atomic_file(str(file)) as out:
        out.write("".join(f"{each}\n" for each in known).encode())
