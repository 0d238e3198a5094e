"""`torch.save` and `torch.load`: state dicts, other tensors and plain values, whole modules."""

from __future__ import annotations

import os
import warnings
from io import UnsupportedOperation
from pathlib import Path
from typing import IO, Any

from .frontend.diagnostics.exceptions import trimmed
from .map_location import check_target, means_meta
from .serialization.files.identify import MOBILE, TORCHSCRIPT, identify
from .serialization.weights.load import load_weights
from .serialization.weights.save import save_weights

__all__ = ["load", "save"]

File = str | Path | IO[bytes]


def save(
    obj: object,
    f: File,
    pickle_module: object = None,
    pickle_protocol: int = 2,
    _use_new_zipfile_serialization: bool = True,
) -> None:
    """Write tensors, and lists, tuples, dicts and sets of them and of numbers and texts.

    torch's `torch.load` reads the file.  Other objects, such as modules, are written as `pickle`
    does, by the name of their class and their state.  `_use_new_zipfile_serialization=False` writes
    the format before the zip format.  With a `pickle_module` other than Python's, such as dill, its
    `Pickler` writes them, by `pickle_protocol`, which changes nothing else.

    Raises:
        RuntimeError: `obj` holds something that cannot be found again by its name.
        OSError: the file cannot be written.
    """
    with trimmed():
        save_weights(obj, f, _use_new_zipfile_serialization, pickle_module, pickle_protocol)


save._in_script = "aten::save"  # type: ignore[attr-defined]


def load(
    f: File,
    map_location: object = None,
    pickle_module: object = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: object,
) -> Any:
    """Read what `torch.save` wrote, in the zip format or an older one, or a safetensors file.

    Only tensors and plain values are read, and nothing in a file is imported or run, unless
    `weights_only=False` says that the file is trusted: then it may hold any Python object, and may
    run anything.  A TorchScript archive goes to `torch.jit.load` then, with a warning.  Tensors of
    other devices come to the CPU, or all of them to `meta` if `map_location` says so, which reads
    no data; with a `pickle_module` a file is trusted unless `weights_only` says otherwise, and its
    `Unpickler` reads it, where that is not Python's own.  `mmap` is as in `jit.load`; `encoding`
    (utf-8, `bytes`, latin1 …) says how strings that Python 2 wrote are decoded.  In the
    environment, TORCH_FORCE_WEIGHTS_ONLY_LOAD=1 distrusts every file and
    TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD=1 trusts those of which `weights_only` is not said.

    Raises:
        RuntimeError: the file is something else, is damaged, or holds Python objects and is not
            trusted (a `pickle.UnpicklingError` too), or is to be mapped and of another format than
            zip; or `map_location` names a device that is not there.
        ValueError: it is to be mapped and not at a path.
        OSError: the file cannot be opened.
        LookupError: there is no such encoding.
    """
    with trimmed():
        _check_seekable(f)
        check_target(map_location)
        weights_only = _weights_only(weights_only, pickle_module)
        if not weights_only and _is_script(f):
            warnings.warn(
                "'torch.load' received a zip file that looks like a TorchScript archive "
                "dispatching to 'torch.jit.load' (call 'torch.jit.load' directly to silence this "
                "warning)",
                UserWarning,
                stacklevel=2,
            )
            from . import jit  # most files are no archives, and need none of it

            return jit.load(f, map_location, mmap=bool(mmap))
        return load_weights(
            f,
            trusted=not weights_only,
            mapped=bool(mmap),
            without_data=means_meta(map_location),
            encoding=str(pickle_load_args.get("encoding", "utf-8")),
            pickle_module=pickle_module,
            options={"encoding": "utf-8", **pickle_load_args},
        )


_TRUSTED_UNASKED = (
    "Environment variable TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD detected, since the`weights_only` "
    "argument was not explicitly passed to `torch.load`, forcing weights_only=False."
)
_YES = ("1", "y", "yes", "true")


def _weights_only(said: bool | None, pickle_module: object) -> bool:
    """Whether nobody vouches for the file: as the caller says, or else the environment.

    Raises:
        RuntimeError: the environment says two things, or a module for pickles is given.
    """
    force, none = (
        os.environ.get(name, "0").lower() in _YES
        for name in ("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD")
    )
    if force and none:
        raise RuntimeError(
            "Only one of `TORCH_FORCE_WEIGHTS_ONLY_LOAD` or `TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD` "
            "should be set, but both were set."
        )
    if force:
        said = True
    elif said is None:
        if none:
            warnings.warn(_TRUSTED_UNASKED, UserWarning, stacklevel=3)
        said = not none and pickle_module is None
    if said and pickle_module is not None:
        raise RuntimeError("Can not safely load weights when explicit pickle_module is specified")
    return said


load._in_script = "aten::load"  # type: ignore[attr-defined]


def _check_seekable(f: Any) -> None:
    """See that a file object tells where it stands and goes elsewhere.

    Raises:
        AttributeError, UnsupportedOperation: it does not.
    """
    if isinstance(f, str | os.PathLike | bytes | bytearray | memoryview):
        return
    try:
        f.seek(f.tell())
    except (AttributeError, UnsupportedOperation) as error:
        raise type(error)(
            f"{error}. You can only torch.load from a file that is seekable. Please pre-load the "
            "data into a buffer like io.BytesIO and try to load from it instead."
        ) from None


_SCRIPTS = (TORCHSCRIPT, MOBILE)


def _is_script(f: File) -> bool:
    """Whether a file is a TorchScript archive, also one for the lite interpreter; a file object is
    left where it was."""
    if isinstance(f, str | Path):
        try:
            return identify(f) in _SCRIPTS
        except OSError:
            return False  # whoever reads it says so
    at = f.tell()
    try:
        return identify(f.read()) in _SCRIPTS
    finally:
        f.seek(at)
