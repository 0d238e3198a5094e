"""Names that a mistyped name may have meant."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["distance", "near_misses"]

MOST = 2


def near_misses(name: str, candidates: Iterable[str]) -> list[str]:
    """At most two candidates close to `name`, the closest first; the same for any order given.

    Close is a Damerau-Levenshtein distance of at most a third of the name's length (and at least
    one), or another case of the letters.  A name of one letter is close only to its doubling.
    Names that begin with an underscore are offered only for one that does, and of a method and its
    in-place twin the one that ends as the name does.
    """
    limit = max(1, len(name) // 3)
    found = []
    for candidate in set(candidates):
        if candidate == name or (candidate.startswith("_") and not name.startswith("_")):
            continue
        if min(len(name), len(candidate)) <= 2 and name.lower() != candidate.lower():
            if name == 2 * candidate or candidate == 2 * name:
                found.append((1, candidate))
            continue
        if abs(len(name) - len(candidate)) > limit:
            continue
        apart = 1 if name.lower() == candidate.lower() else distance(name, candidate)
        if apart <= limit:
            found.append((apart, candidate))
    close = [candidate for _, candidate in sorted(found)]
    twins = {f"{candidate}_" for candidate in close if not name.endswith("_")}
    return [candidate for candidate in close if candidate not in twins][:MOST]


def distance(one: str, other: str) -> int:
    """How many letters to insert, drop, replace or swap with a neighbour, each letter once."""
    before: list[int] = []
    above = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        row = [i]
        for j, b in enumerate(other, 1):
            best = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and b == one[i - 2]:
                best = min(best, before[j - 2] + 1)
            row.append(best)
        before, above = above, row
    return above[-1]
