"""Script classes, named tuples, enumerations and interfaces."""

import enum
from typing import Dict, List, NamedTuple, Optional

import rushlight as torch


class Shade(enum.Enum):
    DARK = 1
    LIGHT = 2


class Span(NamedTuple):
    start: int
    stop: int = 10


@torch.jit.script
class Account:
    def __init__(self, owner: str, balance: float = 0.0):
        self.owner = owner
        self.balance = balance
        self.log: List[str] = []

    def deposit(self, amount: float) -> "Account":
        self.balance += amount
        self.log.append("+" + str(amount))
        return self

    @property
    def limit(self) -> float:
        return self.balance * 2

    @limit.setter
    def limit(self, value: float) -> None:
        self.balance = value / 2

    @staticmethod
    def fee(amount: float) -> float:
        return amount * 0.125

    def __len__(self) -> int:
        return len(self.log)

    def __add__(self, other: "Account") -> "Account":
        return Account(self.owner + other.owner, self.balance + other.balance)

    def __lt__(self, other: "Account") -> bool:
        return self.balance < other.balance

    def __getitem__(self, index: int) -> str:
        return self.log[index]

    def __contains__(self, entry: str) -> bool:
        return entry in self.log


@torch.jit.interface
class Shape:
    def area(self, scale: float) -> float:
        pass


@torch.jit.script
class Square:
    def __init__(self, side: float):
        self.side = side

    def area(self, scale: float) -> float:
        return self.side * self.side * scale


@torch.jit.script
class Disc:
    def __init__(self, radius: float):
        self.radius = radius

    def area(self, scale: float) -> float:
        return 3.0 * self.radius * self.radius * scale


def accounts(amount: float):
    account = Account("ann", 1.0).deposit(amount)
    account.limit = account.limit + 1.0
    both = account + Account("bob")
    fee = Account.fee(both.balance)
    return both.owner, both.balance, fee, len(account), account[0], "+2.5" in account


def richest(amounts: List[float]) -> float:
    found: List[Account] = []
    for amount in amounts:
        found.append(Account("x", amount))
    found.sort()
    return found[-1].balance


def area_of(shape: Shape, scale: float) -> float:
    return shape.area(scale)


def areas(scale: float):
    return area_of(Square(2.0), scale) + area_of(Disc(1.0), scale)


def shades(shade: Shade, number: int):
    if shade == Shade.DARK:
        return shade.name, shade.value + number
    return Shade.LIGHT.name, -number


def spans(stop: int):
    whole = Span(1)
    part = Span(start=2, stop=stop)
    return whole.stop + part.start, part


def first_of(entries: Dict[str, int], key: Optional[str]) -> int:
    account: Optional[Account] = None
    if key is not None:
        account = Account(key)
    if account is None:
        return -1
    return entries[account.owner]


PROGRAMS = {
    "accounts": lambda: (accounts, torch.jit.script(accounts)),
    "richest": lambda: (richest, torch.jit.script(richest)),
    "areas": lambda: (areas, torch.jit.script(areas)),
    "shades": lambda: (shades, torch.jit.script(shades)),
    "spans": lambda: (spans, torch.jit.script(spans)),
    "first_of": lambda: (first_of, torch.jit.script(first_of)),
}
INPUTS = {
    "accounts": lambda: [(2.5,), (0.5,)],
    "richest": lambda: [([3.0, 9.0, 1.0],)],
    "areas": lambda: [(2.0,)],
    "shades": lambda: [(Shade.DARK, 4), (Shade.LIGHT, 4)],
    "spans": lambda: [(7,)],
    "first_of": lambda: [({"a": 3}, "a"), ({"a": 3}, None)],
}
