"""What a model that `rushlight convert` wrote as source is made with."""

from __future__ import annotations

import os
from collections.abc import Mapping

from ..frontend.diagnostics.exceptions import trimmed
from ..serialization.files.errors import archive_error
from ..serialization.files.npy import UNREADABLE, loaded_arrays
from ..serialization.pickles.nodes import (
    ComplexNode,
    DeviceNode,
    DictNode,
    EnumNode,
    Global,
    ListNode,
    Node,
    ObjectNode,
    QuantizerNode,
    SparseNode,
    StorageNode,
    TensorNode,
    TupleNode,
)
from ..serialization.source.load import NamedStorage, Weights, load_source
from ..serialization.weights.load import load_weights
from .module import wrap

__all__ = [
    "ComplexNode",
    "DeviceNode",
    "DictNode",
    "EnumNode",
    "Global",
    "ListNode",
    "NamedStorage",
    "ObjectNode",
    "QuantizerNode",
    "SparseNode",
    "StorageNode",
    "TensorNode",
    "TupleNode",
    "model_from",
]


def model_from(
    code: Mapping[str, str],
    root: Node,
    constants: Node,
    storages: Mapping[str, NamedStorage | str],
    weights: Weights | str | os.PathLike[str] | None,
    version: int,
    trust: str = "none",
) -> object:
    """The module that a written source describes.

    Args:
        code: the text of its code files by their names in archives.
        root: the description of the module.
        constants: the description of the tuple of its constants.
        storages: where the bytes of its storages are.
        weights: its weights by name, or a file of them (.safetensors, .npz, one of `torch.save`);
            without them they are zero.
        version: the version of archives that the code is of.
        trust: as `torch.jit.load` takes it.

    Raises:
        RuntimeError: a weight is missing or does not fit, or as `torch.jit.load`.
        OSError: the weights cannot be read.
    """
    if trust not in ("full", "none"):
        raise ValueError(f'trust is "full" or "none", not {trust!r}')
    with trimmed():
        found = weights if weights is None or isinstance(weights, Mapping) else _read(weights)
        made = load_source(
            code,
            root,
            constants,
            storages,
            found,
            version,
            title="the source",
            trusted=trust == "full",
        )
        return wrap(made)


def _read(path: str | os.PathLike[str]) -> Weights:
    if os.fspath(path).endswith(".npz"):
        return _arrays(path)
    found = load_weights(path)
    if not isinstance(found, Mapping):
        raise RuntimeError(f"{os.fspath(path)} holds no weights by name")
    return found


def _arrays(path: str | os.PathLike[str]) -> Weights:
    try:
        with open(path, "rb") as file:
            found = loaded_arrays(file)
    except OSError:
        raise
    except UNREADABLE as error:
        message = f"`{os.fspath(path)}` holds no arrays: {error}"
        raise archive_error("damaged-archive", message) from None
    if not isinstance(found, dict):
        raise RuntimeError(f"{os.fspath(path)} holds no weights by name")
    return found
