"""Loops over integers and lists of integers, without tensors."""

import rushlight as torch


def fib(n: int) -> int:
    a, b = 0, 1
    i = 0
    while i < n:
        a, b = b, (a + b) % 1000003
        i += 1
    return a


def sieve(n: int) -> list[int]:
    is_prime = [1] * (n + 1)
    primes: list[int] = []
    i = 2
    while i <= n:
        if is_prime[i] == 1:
            primes.append(i)
            j = i * i
            while j <= n:
                is_prime[j] = 0
                j += i
        i += 1
    return primes


PROGRAMS = {
    "fib": lambda: (fib, torch.jit.script(fib), (10000,)),
    "sieve": lambda: (sieve, torch.jit.script(sieve), (5000,)),
}
