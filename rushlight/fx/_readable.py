"""GraphModules as classes for people to read."""

from __future__ import annotations

from collections.abc import Mapping

from ..nn.modules.module import Module

__all__ = ["readable"]


def _indented(text: str) -> str:
    return "".join(f"    {line}" if line.strip() else line.lstrip(" ") for line in _lines(text))


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def readable(module: Module, name: str, options: Mapping[str, object]) -> str:
    """A class with the module's `forward`, and with the GraphModules below as classes in it."""
    made = module.graph.python_code(root_module="self", verbose=True, **options)
    code = made.src.lstrip("\n").rstrip(" ")
    below = [
        readable(child, title, options)
        for title, child in module.named_children()
        if hasattr(child, "graph") and hasattr(child.graph, "python_code")
    ]
    head = f"class {name}(torch.nn.Module):\n"
    return head + "\n".join(_indented(each) for each in [code, *below])
