"""`torch.save` and `torch.load`: state dicts, other tensors and plain values, whole modules."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import IO, Any

from .frontend.exceptions import trimmed
from .map_location import means_meta
from .serialization.files.identify import TORCHSCRIPT, identify
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
    does, by the name of their class and their state.  `pickle_module` and `pickle_protocol` change
    nothing.

    Raises:
        RuntimeError: `obj` holds something that cannot be found again by its name.
        NotImplementedError: the format before the zip format is asked for.
        OSError: the file cannot be written.
    """
    if not _use_new_zipfile_serialization:
        raise NotImplementedError("files are written in the zip format only")
    with trimmed():
        save_weights(obj, f)


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
    no data; `pickle_module` changes nothing.  `mmap` is as in `jit.load`.

    Raises:
        RuntimeError: the file is something else, is damaged, or holds Python objects and is not
            trusted, or is to be mapped and of another format than zip.
        ValueError: it is to be mapped and not at a path.
        OSError: the file cannot be opened.
    """
    with trimmed():
        if weights_only is False and _is_script(f):
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
            trusted=weights_only is False,
            mapped=bool(mmap),
            without_data=means_meta(map_location),
        )


def _is_script(f: File) -> bool:
    """Whether a file is a TorchScript archive; a file object is left where it was."""
    if isinstance(f, str | Path):
        try:
            return identify(f) is TORCHSCRIPT
        except OSError:
            return False  # whoever reads it says so
    at = f.tell()
    try:
        return identify(f.read()) is TORCHSCRIPT
    finally:
        f.seek(at)
