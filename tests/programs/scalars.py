"""Scalar functions: loops, lists, dictionaries, early exits."""

from typing import Dict, List

import rushlight as torch


def fib(n: int) -> int:
    a, b = 0, 1
    while n > 0:
        a, b = b, a + b
        n -= 1
    return a


def gcd(a: int, b: int) -> int:
    while b != 0:
        a, b = b, a % b
    return a


def sieve(n: int) -> List[int]:
    flags = [True] * (n + 1)
    primes: List[int] = []
    for i in range(2, n + 1):
        if not flags[i]:
            continue
        primes.append(i)
        j = i * i
        while j <= n:
            flags[j] = False
            j += i
    return primes


def word_count(words: List[str]) -> Dict[str, int]:
    counts: Dict[str, int] = {}
    for word in words:
        if word in counts:
            counts[word] += 1
        else:
            counts[word] = 1
    return counts


def sign(x: int) -> str:
    if x > 0:
        return "positive"
    if x < 0:
        return "negative"
    return "zero"


def first_multiple(xs: List[int], of: int) -> int:
    for x in xs:
        if x % of == 0:
            return x
    return -1


def collatz(n: int, limit: int) -> int:
    steps = 0
    while True:
        if n == 1:
            break
        if steps >= limit:
            return -1
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


def pairs(n: int) -> int:
    total = 0
    for i in range(n):
        for j in range(i, n, 2):
            if j == i:
                continue
            if i * j > 20:
                break
            total += i * j
        if total > 50:
            break
    return total


def mean(values: List[float]) -> float:
    total = 0.0
    for v in values:
        total = total + v
    return total / len(values)


def both(function):
    return lambda: (function, torch.jit.script(function))


FUNCTIONS = [fib, gcd, sieve, word_count, sign, first_multiple, collatz, pairs, mean]
PROGRAMS = {function.__name__: both(function) for function in FUNCTIONS}
INPUTS = {
    "fib": lambda: [(0,), (10,), (90,)],
    "gcd": lambda: [(48, 18), (7, 13)],
    "sieve": lambda: [(30,), (1,)],
    "word_count": lambda: [(["a", "b", "a", "c", "a"],), ([],)],
    "sign": lambda: [(3,), (-3,), (0,)],
    "first_multiple": lambda: [([3, 5, 8, 10], 4), ([1], 2)],
    "collatz": lambda: [(27, 1000), (27, 10), (1, 5)],
    "pairs": lambda: [(3,), (10,)],
    "mean": lambda: [([1.0, 2.5],)],
}
