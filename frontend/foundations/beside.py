"""What threads are making beside the program."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import Thread
from typing import Generic, TypeVar

from .locks import after_fork

__all__ = ["Beside"]

Key = TypeVar("Key", bound=Hashable)


class Beside(Generic[Key]):
    """Things by what tells them apart, each of which a thread of its own is making.

    A forked child has none of those threads, and may begin anew.  Of threads that are `awaited` the
    process waits for the end.

    Attributes:
        ended: another object each time that a thread has ended: who looks at things for a while
            can tell whether they became more meanwhile.
    """

    def __init__(self, name: str, *, awaited: bool = True) -> None:
        self._name, self._awaited = name, awaited
        self._made: dict[Key, Callable[[], object] | None] = {}
        self.ended = object()
        after_fork(self.forget)

    def __contains__(self, key: Key) -> bool:
        return key in self._made

    def __len__(self) -> int:
        return len(self._made)

    def begin(
        self, key: Key, make: Callable[[], object], again: Callable[[], object] | None = None
    ) -> None:
        """Have a thread make something, which is not to raise; a child that is forked meanwhile
        calls `again`.

        Nothing comes of it where Python is shutting down, or there can be no more threads.
        """
        work = Thread(target=self._run, args=(key, make), name=self._name)
        work.daemon = not self._awaited
        try:
            self._made[key] = again
            work.start()
        except BaseException as error:  # also an interrupt, or the end of a call's time
            self._made.pop(key, None)
            if type(error) is not RuntimeError or not str(error).startswith("can't"):
                raise

    def _run(self, key: Key, make: Callable[[], object]) -> None:
        try:
            make()
        finally:
            self.ended = object()  # before it is known that nothing is under way
            self._made.pop(key, None)

    def forget(self) -> None:
        """In a forked child: nothing is being made."""
        for again in self._made.values():
            if again is not None:
                again()
        self._made.clear()
