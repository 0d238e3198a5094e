"""Fills the tables: of the operators, and of the nodes that have a meaning of their own."""

from __future__ import annotations

from importlib import import_module

__all__ = ["load_operators", "load_steps"]


def load_operators() -> None:
    """Fill the table of operators."""
    import_module(".forms", __package__)


def load_steps() -> None:
    """Fill the walk's own table: control flow, containers, attributes."""
    for name in ("control_flow", "lists", "steps"):
        import_module(f".{name}", __package__)
