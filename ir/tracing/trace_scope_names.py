"""The scopes that what a tracer records belongs to: modules being called, and names of users."""

from __future__ import annotations

__all__ = ["Scopes"]


class Scopes:
    """Scopes inside each other, the innermost last."""

    def __init__(self) -> None:
        self.scopes: list[str] = []

    @property
    def scope(self) -> str:
        """The modules being called, as graphs write them."""
        return "/".join(self.scopes)

    def push_scope(self, name: str) -> None:
        """What is recorded from here on belongs to a scope inside the current one."""
        self.scopes.append(name)

    def pop_scope(self) -> None:
        """The innermost scope ends.

        Raises:
            RuntimeError: there is none.
        """
        if not self.scopes:
            raise RuntimeError("pop_scope(): no scope was pushed")
        self.scopes.pop()

    def current_scope(self) -> str:
        """The name of the innermost scope."""
        return self.scopes[-1] if self.scopes else ""
