"""The order that C++'s library gives to what has none: rows with NaN among their elements, which
are neither less nor greater than others.

Ends of long rows come together by quicksort, down to pieces of 16, and one insertion sort puts all
in order; both ask nothing but whether one thing is less than another.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cmp_to_key
from typing import Final

__all__ = ["library_order"]

Less = Callable[[int, int], bool]

_SHORT: Final = 16
"""Pieces that are left to insertion."""


def library_order(count: int, less: Less) -> list[int]:
    """The numbers from 0 on, as sorting by `less` leaves them."""
    order = list(range(count))
    _split(order, 0, count, 2 * max(count.bit_length() - 1, 0), less)
    _insert(order, 0, min(count, _SHORT), less, is_first=True)
    _insert(order, _SHORT, count, less, is_first=False)
    return order


def _split(order: list[int], first: int, last: int, depth: int, less: Less) -> None:
    """Bring pieces of a range into order, but not what is in them."""

    def compared(one: int, other: int) -> int:
        return less(other, one) - less(one, other)

    while last - first > _SHORT:
        if not depth:  # which takes numbers that were chosen for it
            order[first:last] = sorted(order[first:last], key=cmp_to_key(compared))
            return
        depth -= 1
        _median_first(order, first, (first + 1, first + (last - first) // 2, last - 1), less)
        cut = _parted(order, first, last, less)
        _split(order, cut, last, depth, less)
        last = cut


def _median_first(order: list[int], first: int, among: tuple[int, int, int], less: Less) -> None:
    """Exchange the first with the middle one of three."""
    one, two, three = among
    a, b, c = (order[place] for place in among)
    if less(a, b):
        middle = two if less(b, c) else three if less(a, c) else one
    else:
        middle = one if less(a, c) else three if less(b, c) else two
    order[first], order[middle] = order[middle], order[first]


def _parted(order: list[int], first: int, last: int, less: Less) -> int:
    """Where what is less than the first ends, once all of it stands before the rest."""
    pivot, low, high = order[first], first + 1, last
    while True:
        while low < last and less(order[low], pivot):
            low += 1
        high -= 1
        while high > first and less(pivot, order[high]):
            high -= 1
        if low >= high:
            return low
        order[low], order[high] = order[high], order[low]
        low += 1


def _insert(order: list[int], begin: int, end: int, less: Less, *, is_first: bool) -> None:
    """Put each where it belongs among those before it; of the first ones what is less than the very
    first goes before it, past whatever is between."""
    for place in range(begin, end):
        new, goal = order[place], place
        if is_first and place and less(new, order[0]):
            goal = 0
        else:
            while goal and less(new, order[goal - 1]):
                goal -= 1
        del order[place]
        order.insert(goal, new)
