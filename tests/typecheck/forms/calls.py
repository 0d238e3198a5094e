"""Calls of functions, methods, types and forms of the language, right and wrong ones."""

import math
from typing import Any, Callable, Dict, List, Optional, Tuple, Union

import rushlight as torch
from rushlight import Tensor, nn
from rushlight.nn import functional as F


@torch.jit.script
class Counter:
    def __init__(self, start: int = 0):
        self.n = start

    def up(self, by: int = 1) -> int:
        self.n += by
        return self.n

    def __len__(self) -> int:
        return self.n

    def __contains__(self, x: int) -> bool:
        return x < self.n

    def __getitem__(self, i: int) -> int:
        return self.n + i

    def __setitem__(self, i: int, v: int) -> None:
        self.n = v

    def __add__(self, o: "Counter") -> int:
        return self.n + o.n

    def __lt__(self, o: "Counter") -> bool:
        return self.n < o.n

    def __neg__(self) -> int:
        return -self.n

    def __str__(self) -> str:
        return "counter"

    @staticmethod
    def twice(n: int) -> int:
        return 2 * n


def g(a: int, b: float = 2.0, *, c: str = "x") -> float:
    return a * b


def many(*xs: int):
    return 1


def keywords(a: int, **kw: int):
    return a


def called(n: int):
    return g(n), g(n, c="y"), g(b=1.0, a=n)


def called_without(n: int):
    return g()


def called_with_too_many(n: int):
    return g(n, 1.0, "x", 3)


def called_with_unknown(n: int):
    return g(n, d=1)


def called_with_wrong(n: str):
    return g(n)


def called_twice_with_one(n: int):
    return g(n, a=n)


def called_with_star(a: Tuple[int, float]):
    return g(*a)


def called_with_starred_list(a: List[int]):
    return g(*a)


def gathers(n: int):
    return many(n, 2, 3)


def takes_keywords(n: int):
    return keywords(n, b=1)


def counted(n: int):
    c = Counter(n)
    c[0] = 3
    c.n += 2
    return c.up(), c.up(by=2), len(c), 1 in c, c[2], c + c, c < c, -c, Counter.twice(3), str(c)


def class_without_member(n: int):
    return Counter(n).m


def class_without_method(n: int):
    return Counter(n).down()


def class_wrong_argument(n: str):
    return Counter(n)


def class_without_sub(n: int):
    return Counter(n) - Counter(n)


def class_deletes(n: int):
    c = Counter(n)
    del c[0]
    return c.n


def not_callable(n: int):
    return n(1)


def operator_with_wrong(x: Tensor):
    return torch.add(x, "a")


def operator_without_argument(x: Tensor):
    return torch.add()


def operator_with_unknown_keyword(x: Tensor):
    return torch.sum(x, axis=0, foo=1)


def method_unknown(x: Tensor):
    return x.foo()


def attribute_unknown(x: Tensor):
    return x.foo


def attribute_of_int(n: int):
    return n.real_part


def attributes(x: Tensor):
    return x.shape, x.dtype, x.device, x.is_cuda, x.T, x.ndim, x.requires_grad, x.layout


def casts(x: Tensor, n: int, f: float, s: str, b: bool):
    return int(x), float(n), bool(f), str(n), int(s), float(s), complex(n, f), int(b), bool(x)


def cast_of_list(a: List[int]):
    return int(a)


def numbers(n: int, f: float):
    return (
        abs(n),
        abs(f),
        round(f),
        divmod(n, 3),
        pow(n, 2),
        math.sqrt(n),
        hex(n),
        oct(n),
        bin(n),
        chr(n),
    )


def number_of_characters(s: str):
    return ord(s), len(s)


def device_made(n: int):
    return torch.device("cpu"), torch.device("cuda", n), torch.device(type="cpu")


def tensor_made(n: int, f: float):
    return torch.tensor([n, 1]), torch.tensor(f), torch.tensor([[True]]), torch.zeros(2, n)


def to_list(x: Tensor):
    a: List[float] = x.tolist()
    b: List[List[int]] = x.tolist()
    c: int = x.tolist()
    return a, b, c


def to_list_without_type(x: Tensor):
    return x.tolist()


def to_list_of_strings(x: Tensor):
    a: List[str] = x.tolist()
    return a


def is_instance(a: Any, o: Optional[int], u: Union[int, str]):
    if isinstance(a, int):
        return a + 1
    elif isinstance(a, (float, str)):
        return 2
    if isinstance(o, int):
        return o
    if isinstance(u, str):
        return len(u)
    return u


def is_instance_of_list(a: Any):
    return isinstance(a, List[int]), isinstance(a, Tensor)


def is_instance_static(n: int):
    if isinstance(n, str):
        return n.nothing()
    return n


def is_instance_of_nothing(n: int):
    return isinstance(n)


def has_attribute(n: int):
    c = Counter(n)
    if hasattr(c, "n"):
        return c.n
    return c.nothing


def has_attribute_by_variable(c: Counter, s: str):
    return hasattr(c, s)


def gets_attribute(n: int):
    return getattr(Counter(n), "n")


def gets_attribute_or(n: int):
    return getattr(Counter(n), "nothing", 3)


def gets_attribute_by_variable(n: int, s: str):
    return getattr(Counter(n), s)


def casts_to_type(o: Optional[int]):
    return torch.jit.annotate(Optional[int], o)


def annotates_wrong(n: int):
    return torch.jit.annotate(List[int], n)


def annotates_none():
    return torch.jit.annotate(Optional[Tensor], None)


def unwraps(o: Optional[int]):
    return torch.jit._unwrap_optional(o) + 1


def unwraps_int(n: int):
    return torch.jit._unwrap_optional(n)


def forks(x: Tensor):
    f = torch.jit.fork(torch.neg, x)
    h = torch.jit.fork(g, 1, 2.0)
    return torch.jit.wait(f), torch.jit.wait(h)


def forks_nothing():
    return torch.jit.fork()


def is_scripting(n: int):
    if torch.jit.is_scripting():
        return n
    else:
        return n.nothing()


def printed(n: int, x: Tensor):
    print(n, x, "text", [1], (n, 2))
    return None


def printed_by_keyword(n: int):
    print(n, sep="")


def enumerated(a: List[str]):
    n = 0
    for i, s in enumerate(a):
        n += i
    for j, s in enumerate(a, 2):
        n += j
    for k, s in enumerate(a, start=3):
        n += k
    return n


def enumerated_nothing():
    for i in enumerate():
        print(i)


def zipped(a: List[int], x: Tensor, s: str):
    n = 0
    for i, row, c in zip(a, x, s):
        n += i
    for i, j in zip(range(3), range(1, 9, 2)):
        n += i * j
    return n


def zipped_nothing():
    for i in zip():
        print(i)


def ranges(n: int):
    s = 0
    for i in range(n):
        s += i
    for i in range(1, n):
        s += i
    for i in range(n, 0, -1):
        s += i
    return s, len(range(n)), range(n)[1]


def range_of_nothing():
    for i in range():
        print(i)


def range_of_four(n: int):
    for i in range(n, n, n, n):
        print(i)


def loops_over_int(n: int):
    for i in n:
        print(i)


def loops_over_string(s: str):
    out: List[str] = []
    for c in s:
        out.append(c)
    return out


def loops_over_dict(d: Dict[str, int]):
    n = 0
    for k in d:
        n += d[k]
    for k, v in d.items():
        n += v
    for v in d.values():
        n += v
    return n


def sorts(a: List[int], b: List[str]):
    a.sort()
    b.sort(reverse=True)
    return sorted(a), sorted(b)


def sorts_objects(n: int):
    return sorted([Counter(n), Counter(1)])


def sorts_by_key(a: List[int]):
    return sorted(a, key=lambda v: -v)


def formats(n: int, f: float, s: str):
    return "{} {}".format(n, f), "%d %s" % (n, s), f"{n} {s}", "a" + s, s * n


def format_by_keyword(n: int):
    return "{a}".format(a=n)


def format_with_specification(f: float):
    return f"{f:.2f}"


def methods_of_strings(s: str):
    return s.upper(), s.split(","), s.find("a", 1), s.replace("a", "b"), s.strip(), ",".join([s, s])


def raises(n: int):
    if n < 0:
        raise ValueError("below zero")
    elif n == 0:
        raise RuntimeError
    assert n > 1, "too small"
    return n


def raises_formatted(n: int):
    raise ValueError(f"got {n}")


def raises_int(n: int):
    raise n


def asserts_with_number(n: int):
    assert n > 1, n
    return n


def lambda_called(n: int):
    return (lambda v: v + 1)(n)


def layers(x: Tensor):
    return F.relu(x), F.dropout(x, 0.5, training=False), F.interpolate(x, scale_factor=2.0)


def layer_with_unknown_keyword(x: Tensor):
    return F.relu(x, alpha=1)


def pads(x: Tensor):
    return F.pad(x, [1, 1]), F.pad(x, (1, 1), "reflect"), F.max_pool2d(x, 2, return_indices=True)


def pool_by_variable(x: Tensor, flag: bool):
    return F.max_pool2d(x, 2, return_indices=flag)


def with_numbers_for_sizes(x: Tensor, n: int):
    return x.view(-1, n), x.view([n, -1]), x.permute(1, 0), x.reshape(n), torch.zeros([n, 2])


class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))

    def forward(self, x: Tensor, n: int = 1) -> Tensor:
        return x * self.weight + n

    @torch.jit.export
    def other(self, x: Tensor) -> Tensor:
        return x


class Outer(nn.Module):
    names: List[str]
    table: Dict[str, int]

    def __init__(self):
        super().__init__()
        self.inner = Inner()
        self.layers = nn.ModuleList([Inner(), Inner()])
        self.by_name = nn.ModuleDict({"a": Inner(), "b": Inner()})
        self.chain = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
        self.register_buffer("buffer", torch.zeros(2))
        self.size = 3
        self.sizes = (1, 2)
        self.rate: Optional[float] = None
        self.names = ["a"]
        self.table = {}

    def forward(self, x: Tensor):
        for layer in self.layers:
            x = layer(x)
        for i, layer in enumerate(self.layers):
            x = layer(x, i)
        for name, layer in self.by_name.items():
            if name == "a":
                x = layer(x)
        for name in self.by_name:
            print(name)
        if "a" in self.by_name:
            x = self.by_name["a"](x)
        for part in self.chain:
            x = part(x)
        x = self.layers[0](x) + self.layers[-1].other(x)
        if self.rate is not None:
            x = x * self.rate
        self.table["x"] = self.size
        self.buffer += 1
        return self.inner.other(x) + self.buffer, self.sizes[0], len(self.layers), self.names


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2


doubled = Doubled.apply


def differentiated(x: Tensor, n: int):
    a, b = Doubled.apply(x)
    return Doubled.apply(x, n), doubled(x), a


def differentiated_without_tensor(s: str):
    return Doubled.apply(s)


def differentiated_without_arguments(s: str):
    return Doubled.apply()


def differentiated_by_name(x: Tensor):
    return Doubled.apply(x, n=1)
