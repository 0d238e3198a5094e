"""`torch.save` and `torch.load`: state dicts, and other tensors and plain values."""

from __future__ import annotations

from pathlib import Path
from typing import IO, Any

from .frontend.exceptions import trimmed
from .serialization.weights_load import load_weights
from .serialization.weights_save import save_weights

__all__ = ["load", "save"]

File = str | Path | IO[bytes]


def save(
    obj: object,
    f: File,
    pickle_module: Any = None,
    pickle_protocol: int = 2,
    _use_new_zipfile_serialization: bool = True,
) -> None:
    """Write tensors, and lists, tuples, dicts and sets of them and of numbers and texts.

    torch's `torch.load` reads the file.  `pickle_module` and `pickle_protocol` change nothing.

    Raises:
        RuntimeError: `obj` holds another Python object, such as a module.
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
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """Read what `torch.save` wrote, in the zip format or the one before it; or a safetensors file.

    Only tensors and plain values are read, whatever `weights_only` says: nothing in a file is
    imported or run.  Tensors of other devices come to the CPU; `mmap` and `pickle_module` change
    nothing.

    Raises:
        RuntimeError: the file is something else, is damaged, or holds Python objects.
        OSError: the file cannot be opened.
    """
    with trimmed():
        return load_weights(f)
