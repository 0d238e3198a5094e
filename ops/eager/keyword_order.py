"""The order in which torch names keyword arguments that fit no overload.

It keeps them in a hash table of the C++ library.  A name goes to the front of all, or, if its
bucket is in use, to the front of its bucket; there are 13 buckets for up to 13 names.
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["hash_order"]

_BUCKETS = 13
_ALL = (1 << 64) - 1
_FACTOR = 0xC6A4A7935BD1E995


def _hash(name: str) -> int:
    """MurmurHash64A with the seed of the C++ library."""
    data = name.encode()
    found = 0xC70F6907 ^ (len(data) * _FACTOR & _ALL)
    whole = len(data) & ~7
    for start in range(0, whole, 8):
        part = int.from_bytes(data[start : start + 8], "little") * _FACTOR & _ALL
        found = (found ^ ((part ^ part >> 47) * _FACTOR & _ALL)) * _FACTOR & _ALL
    if whole < len(data):
        found = (found ^ int.from_bytes(data[whole:], "little")) * _FACTOR & _ALL
    found = (found ^ found >> 47) * _FACTOR & _ALL
    return found ^ found >> 47


def hash_order(names: Iterable[str]) -> list[str]:
    """The names, given in the order of the call, in the order of torch's message."""
    found: list[str] = []
    buckets: list[int] = []
    for name in names:
        bucket = _hash(name) % _BUCKETS
        at = buckets.index(bucket) if bucket in buckets else 0
        found.insert(at, name)
        buckets.insert(at, bucket)
    return found
