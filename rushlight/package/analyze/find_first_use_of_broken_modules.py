"""How a package came to need modules that cannot be had."""

from __future__ import annotations

from ..package_exporter import PackagingError

__all__ = ["find_first_use_of_broken_modules"]


def find_first_use_of_broken_modules(exc: PackagingError) -> dict[str, list[str]]:
    """The modules that an error is about, each with the modules that lead to it.

    Raises:
        AssertionError: it is another error.
    """
    assert isinstance(exc, PackagingError), (
        f"exception must be a PackagingError, got {type(exc).__name__}"
    )
    graph = exc.dependency_graph
    broken = [name for name, known in graph.nodes.items() if known.get("error") is not None]
    return {name: graph.first_path(name) for name in broken}
