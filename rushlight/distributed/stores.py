"""Stores: texts by name that processes tell each other."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, MutableMapping
from datetime import timedelta

from .backends import DistStoreError

__all__ = ["FileStore", "HashStore", "PrefixStore", "Store", "TCPStore"]


class Store:
    """Values of this process, by name."""

    def __init__(self) -> None:
        self._values: MutableMapping[str, bytes] = {}
        self._changed = threading.Condition()
        self.timeout = timedelta(seconds=300)

    def set_timeout(self, timeout: timedelta) -> None:
        """How long `get` and `wait` look for a name."""
        self.timeout = timeout

    def set(self, key: str, value: str | bytes) -> None:
        """Give a name a value."""
        with self._changed:
            self._values[key] = value.encode() if isinstance(value, str) else bytes(value)
            self._changed.notify_all()

    def get(self, key: str) -> bytes:
        """The value of a name, when there is one.

        Raises:
            DistStoreError: there is none for the time of `set_timeout`.
        """
        self.wait([key])
        return self._values[key]

    def wait(self, keys: list[str], timeout: timedelta | None = None) -> None:
        """Wait until there are values for names.

        Raises:
            DistStoreError: that takes longer.
        """
        end = time.monotonic() + (timeout or self.timeout).total_seconds()
        with self._changed:
            while not self.check(keys):
                if not self._changed.wait(end - time.monotonic()):
                    raise DistStoreError(f"wait timeout, keys: {', '.join(keys)}")

    def check(self, keys: list[str]) -> bool:
        """Whether there are values for all names."""
        return all(key in self._values for key in keys)

    def add(self, key: str, amount: int) -> int:
        """Add to the number that a name stands for; 0 at first."""
        with self._changed:
            made = int(self._values.get(key, b"0")) + amount
            self._values[key] = str(made).encode()
            self._changed.notify_all()
        return made

    def append(self, key: str, value: str | bytes) -> None:
        """Add to the end of a value."""
        more = value.encode() if isinstance(value, str) else bytes(value)
        with self._changed:
            self._values[key] = self._values.get(key, b"") + more
            self._changed.notify_all()

    def compare_set(self, key: str, expected_value: str, desired_value: str) -> bytes:
        """Give a name a value if it has, or lacks, the expected one; what it has then."""
        with self._changed:
            found = self._values.get(key)
            if found == expected_value.encode() or (found is None and not expected_value):
                self._values[key] = desired_value.encode()
                self._changed.notify_all()
            return self._values.get(key, expected_value.encode())

    def delete_key(self, key: str) -> bool:
        """Take a name away; whether it was there."""
        with self._changed:
            return self._values.pop(key, None) is not None

    def num_keys(self) -> int:
        """How many names there are."""
        return len(self._values)


class HashStore(Store):
    """A store in memory."""


class FileStore(Store):
    """A store that processes share by a file: here one in memory, there being one process."""

    def __init__(self, file_name: str, world_size: int = -1) -> None:
        super().__init__()
        if world_size > 1:
            raise NotImplementedError("rushlight runs one process; several are not supported")
        self.path = file_name


class TCPStore(Store):
    """A store that processes share by a server: here one in memory, there being one process."""

    def __init__(
        self,
        host_name: str,
        port: int,
        world_size: int | None = None,
        is_master: bool = False,
        timeout: timedelta | None = None,
        **_: object,
    ) -> None:
        super().__init__()
        if world_size is not None and world_size > 1:
            raise NotImplementedError("rushlight runs one process; several are not supported")
        del is_master
        self.host, self.port = host_name, port
        self.timeout = timeout or self.timeout


class PrefixStore(Store):
    """Another store, all of whose names begin with a prefix."""

    def __init__(self, prefix: str, store: Store) -> None:
        super().__init__()
        self.underlying_store = store
        self._values = _Part(prefix, store._values)
        self._changed = store._changed


class _Part(MutableMapping[str, bytes]):
    """The part of a table whose names begin with a prefix, without it."""

    def __init__(self, prefix: str, table: MutableMapping[str, bytes]) -> None:
        self._begin = f"{prefix}/"
        self._table = table

    def __getitem__(self, key: str) -> bytes:
        return self._table[self._begin + key]

    def __setitem__(self, key: str, value: bytes) -> None:
        self._table[self._begin + key] = value

    def __delitem__(self, key: str) -> None:
        del self._table[self._begin + key]

    def __iter__(self) -> Iterator[str]:
        begin = self._begin
        return (key.removeprefix(begin) for key in self._table if key.startswith(begin))

    def __len__(self) -> int:
        return sum(1 for _ in self)
