"""Script classes, dataclasses, enumerations and interfaces, and what they may not do."""

import enum
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import rushlight as torch
from rushlight import Tensor


class Point:
    def __init__(self, x: int, y: int = 0):
        self.x = x
        self.y = y

    def norm(self) -> float:
        return (self.x**2 + self.y**2) ** 0.5

    def moved(self, by: "Point") -> "Point":
        return Point(self.x + by.x, self.y + by.y)

    @property
    def sum(self) -> int:
        return self.x + self.y

    @sum.setter
    def sum(self, v: int) -> None:
        self.x = v

    @staticmethod
    def zero() -> "Point":
        return Point(0)

    def __eq__(self, o: "Point") -> bool:
        return self.x == o.x and self.y == o.y

    def __call__(self, n: int) -> int:
        return self.x * n

    def __bool__(self) -> bool:
        return self.x != 0

    def __iadd__(self, n: int) -> "Point":
        self.x += n
        return self


class Stack:
    def __init__(self):
        self.items: List[int] = []
        self.top: Optional[int] = None
        self.names = {"a": 1}

    def push(self, n: int) -> None:
        self.items.append(n)
        self.top = n

    def pop(self) -> int:
        n = self.items.pop()
        return n


class Untyped:
    def __init__(self, x):
        self.x = x

    def get(self):
        return self.x


class LateAttribute:
    def __init__(self):
        self.a = 1

    def set(self):
        self.b = 2


class AttributeInBranch:
    def __init__(self, n: int):
        if n > 1:
            self.a = 1


class AttributeInBoth:
    def __init__(self, n: int):
        if n > 1:
            self.a = 1
        else:
            self.a = 2


class ChangesType:
    def __init__(self):
        self.a = 1

    def set(self):
        self.a = "x"


class Child(Point):
    def more(self) -> int:
        return self.x


class WithDefaultList:
    def __init__(self, a: List[int] = []):
        self.a = a


class Linked:
    def __init__(self, n: int):
        self.n = n
        self.next: Optional["Linked"] = None


class Kind(enum.Enum):
    A = 1
    B = 2


class Words(enum.Enum):
    A = "a"
    B = "b"


class MixedKind(enum.Enum):
    A = 1
    B = "b"


@torch.jit.interface
class Pushes:
    def push(self, n: int) -> None:
        pass


def points(n: int):
    p = Point(n)
    q = p.moved(Point(1, 2))
    q.x = 3
    q.x += 1
    q.sum = 5
    q += 2
    return p.norm(), q.sum, p == q, p(3), Point.zero().x, p != q


def conditions(n: int):
    p = Point(n)
    if p:
        return 1
    return 2


def stacks(n: int):
    s = Stack()
    s.push(n)
    t = s.top
    return s.pop(), t, s.names["a"], s.items


def through_interface(n: int):
    s: Pushes = Stack()
    s.push(n)
    return n


def untyped(x: Tensor):
    return Untyped(x).get()


def late(n: int):
    return LateAttribute().a


def in_branch(n: int):
    return AttributeInBranch(n).a


def in_both(n: int):
    return AttributeInBoth(n).a


def changes_type(n: int):
    return ChangesType().a


def child(n: int):
    return Child(n).more()


def default_list(n: int):
    return WithDefaultList().a


def linked(n: int):
    a = Linked(n)
    a.next = Linked(2)
    b = a.next
    if b is not None:
        return b.n
    return 0


def kinds(k: Kind):
    if k == Kind.A:
        return 1
    elif k is Kind.B:
        return 2
    return k.value


def kind_name(k: Kind):
    return k.name, Kind.A.value, Kind["A"]


def words(w: Words):
    return w.value + "x"


def mixed_kind(m: MixedKind):
    return m.value


def kinds_looped(n: int):
    return [k.value for k in Kind]


def kind_called(n: int):
    return Kind(n)


def kinds_in(k: Kind):
    return k in [Kind.A, Kind.B]


def class_as_value(n: int):
    P = Point
    return P(n).x


def list_of_objects(n: int):
    return [Point(i) for i in range(n)][0].x


def dict_of_objects(n: int):
    d: Dict[str, Point] = {"a": Point(n)}
    return d["a"].x


def optional_object(p: Optional[Point]):
    if p is None:
        return 0
    return p.x


def object_in_tuple(t: Tuple[Point, int]):
    p, n = t
    return p.x + n


def is_instance_of_class(a: Any):
    if isinstance(a, Point):
        return a.x
    return 0


def set_absent(n: int):
    p = Point(n)
    p.z = 1
    return n


def set_wrong(n: int):
    p = Point(n)
    p.x = "a"
    return n


def private_method(n: int):
    return Point(n).__init__(2)


def prints_object(n: int):
    print(Point(n).x, Kind.A)


def compares_objects(n: int):
    return Stack() == Stack()


def hashes(n: int):
    return hash(n)


def identity(n: int):
    p = Point(n)
    return p is p


def too_few(n: int):
    return Point()


def too_many(n: int):
    return Point(n, n, n)


def by_wrong_name(n: int):
    return Point(n, z=1)
