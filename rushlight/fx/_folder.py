"""A GraphModule as a package of Python source, a state dict, and modules that have no source."""

from __future__ import annotations

import warnings
from pathlib import Path

from ..nn.modules.module import Module
from ..ops.tensors.tensor import Tensor
from ..weights import save
from . import _names
from ._generated_source import import_lines

__all__ = ["write_folder"]

_WRITTEN = frozenset(
    """Linear Conv1d Conv2d Conv3d ReLU BatchNorm1d BatchNorm2d BatchNorm3d""".split()
)
"""Layers whose `repr` makes them again."""


def write_folder(module: Module, folder: Path, name: str) -> None:
    """Write the package.

    Args:
        folder: is made if it is not there.
        name: of the class in it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    save(module.state_dict(), str(folder / "state_dict.pt"))
    lines: list[str] = []
    pickled: list[str] = []
    for title, child in module.named_children():
        lines.append(_child(title, child, folder, pickled))
    lines += [_tensor("torch.nn.Parameter(torch.empty", "))", t, p) for t, p in _own(module, "p")]
    lines += [_buffer(title, buffer) for title, buffer in _own(module, "b")]
    lines.append(f"self.load_state_dict(torch.load(r'{folder}/state_dict.pt'))")
    (folder / "module.py").write_text(_source(module, name, lines))
    (folder / "__init__.py").write_text("from .module import *")
    if pickled:
        warnings.warn(
            "Was not able to save the following children modules as reprs -saved as pickled "
            f"files instead: {pickled}",
            stacklevel=3,
        )


def _own(module: Module, kind: str) -> list[tuple[str, Tensor]]:
    table = module._parameters if kind == "p" else module._buffers
    return [(title, value) for title, value in table.items() if value is not None]


def _child(title: str, child: Module, folder: Path, pickled: list[str]) -> str:
    """The line that makes a module below."""
    said = repr(child)
    own = _names.torch_module(type(child)).startswith("torch.nn")
    if own and type(child).__name__ in _WRITTEN:
        return f"self.{title} = {said}"
    pickled.append(title)
    path = folder / f"{title}.pt"
    save(child, str(path))
    said = " ".join(said.split("\n")).replace("\r", " ")
    return f"setattr(self, '{title}', torch.load(r'{path}', weights_only=False)) # {said}"


def _tensor(before: str, after: str, title: str, value: Tensor) -> str:
    return f"self.{title} = {before}({list(value.shape)}, dtype={value.dtype}{after}"


def _buffer(title: str, value: Tensor) -> str:
    made = f"torch.empty({list(value.shape)}, dtype={value.dtype})"
    return f"self.register_buffer('{title}', {made})"


def _source(module: Module, name: str, lines: list[str]) -> str:
    python = module.graph.python_code(root_module="self")
    imports = "\n".join(import_lines(python.globals))
    body = "".join(f"        {line}\n" for line in lines)
    code = "".join(
        f"    {line}" if line.strip() else "\n"
        for line in python.src.rstrip(" ").splitlines(keepends=True)
    )
    return (
        f"import torch\n{imports}\n\nfrom torch.nn import *\nclass {name}(torch.nn.Module):\n"
        f"    def __init__(self):\n        super().__init__()\n{body}{code}\n"
    )
