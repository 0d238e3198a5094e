"""Programs over numbers, lists, strings and objects, without tensors."""

from typing import Dict, List, Tuple

import rushlight as torch


def fib_while(n: int) -> int:
    total = 0
    i = 0
    while i < n:
        a = 0
        b = 1
        j = 0
        while j < 50:
            c = a + b
            a = b
            b = c
            j += 1
        total = total ^ a
        i += 1
    return total


def float_loop(n: int) -> float:
    x = 0.5
    total = 0.0
    for i in range(n):
        x = 3.7 * x * (1.0 - x)
        if x > 0.5:
            total += x
        else:
            total -= x * 0.5
    return total


def list_ops(n: int) -> int:
    numbers: List[int] = []
    for i in range(n):
        numbers.append((i * 7919) % 10007)
    total = 0
    for i in range(len(numbers)):
        if numbers[i] % 3 == 0:
            numbers[i] = numbers[i] + 1
        total += numbers[i]
    numbers.sort()
    best = 0
    for value in numbers:
        best = max(best, value - total % 13)
    return total + best


def tokenizer(text: str) -> Tuple[int, int]:
    counts: Dict[str, int] = {}
    word = ""
    words = 0
    for letter in text:
        if letter == " " or letter == ",":
            if len(word) > 0:
                words += 1
                if word in counts:
                    counts[word] += 1
                else:
                    counts[word] = 1
            word = ""
        else:
            word += letter
    most = 0
    for key in counts.keys():
        most = max(most, counts[key])
    return words, most


def classify(a: int, b: int) -> int:
    if a % 15 == 0:
        if b > 3:
            return 1
        for k in range(b):
            if k * k > a:
                return k
        return 2
    if a % 3 == 0:
        return 3
    if a % 5 == 0:
        return 5 if b % 2 == 0 else 7
    return 0


def nested_returns(n: int) -> int:
    total = 0
    for a in range(n):
        for b in range(10):
            total += classify(a, b)
    return total


@torch.jit.script
class Account:
    def __init__(self, balance: float):
        self.balance = balance
        self.moves = 0

    def add(self, amount: float) -> None:
        self.balance += amount
        self.moves += 1

    def interest(self, rate: float) -> float:
        return self.balance * rate


def class_methods(n: int) -> float:
    account = Account(10.0)
    for i in range(n):
        account.add(0.5)
        if account.moves % 3 == 0:
            account.add(account.interest(0.001))
    return account.balance


def nqueens(n: int) -> int:
    columns = [0] * n
    row = 0
    found = 0
    columns[0] = -1
    while row >= 0:
        columns[row] += 1
        while columns[row] < n:
            safe = True
            for other in range(row):
                apart = columns[row] - columns[other]
                if apart == 0 or apart == row - other or apart == other - row:
                    safe = False
                    break
            if safe:
                break
            columns[row] += 1
        if columns[row] < n:
            if row == n - 1:
                found += 1
            else:
                row += 1
                columns[row] = -1
                continue
        else:
            row -= 1
    return found


def matmul_lists(a: List[List[float]], b: List[List[float]]) -> List[List[float]]:
    result: List[List[float]] = []
    for i in range(len(a)):
        row: List[float] = []
        for j in range(len(b[0])):
            total = 0.0
            for k in range(len(b)):
                total += a[i][k] * b[k][j]
            row.append(total)
        result.append(row)
    return result


TEXT = "the quick brown fox, it jumps over the lazy dog and, sees the moon " * 60
MATRIX = [[float((i * 31 + j * 17) % 23) - 11.0 for j in range(24)] for i in range(24)]

PROGRAMS = {
    "fib_while": lambda: (fib_while, torch.jit.script(fib_while), (400,)),
    "float_loop": lambda: (float_loop, torch.jit.script(float_loop), (50000,)),
    "list_ops": lambda: (list_ops, torch.jit.script(list_ops), (10000,)),
    "tokenizer": lambda: (tokenizer, torch.jit.script(tokenizer), (TEXT,)),
    "nested_returns": lambda: (nested_returns, torch.jit.script(nested_returns), (1000,)),
    "class_methods": lambda: (class_methods, torch.jit.script(class_methods), (2000,)),
    "nqueens": lambda: (nqueens, torch.jit.script(nqueens), (6,)),
    "matmul_lists": lambda: (matmul_lists, torch.jit.script(matmul_lists), (MATRIX, MATRIX)),
}
