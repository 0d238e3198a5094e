"""Results that are not Python's, or once were not torch's, in every way to run a script."""

from __future__ import annotations

import enum
import io
import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any, Dict, List, NamedTuple, Optional, Tuple  # noqa: UP035

import pytest

import rushlight as torch

# ruff: noqa: UP006, UP045, F632, RUF015

NAN = math.nan
Tensor = torch.Tensor


def inside(r: str, s: str):
    return r in s, r not in s, "b" in s


def nan_in_lists(x: List[float], y: float):
    z = x.copy()
    return y in x, x.count(y), x == z, x != z


def index_of_nan(x: List[float], y: float):
    return x.index(y)


def remove_nan(x: List[float], y: float):
    x.remove(y)


def nan_as_key(y: float):
    d = {1.0: 1}
    d[y] = 2
    d[y] = 3
    return y in d, len(d), d.get(y, 7), d.setdefault(y, 8), len(d), d.pop(y, 9)


def number_of(s: str) -> float:
    return float(s)


def whole_number_of(s: str) -> int:
    return int(s)


def cut(x: float):
    return math.floor(x), math.ceil(x), int(x)


def truncated(x: float, y: float, z: float):
    return [int(x), int(y), int(z)]


def least():
    return int(1e30)


def parted(x: int, y: float):
    return divmod(x, y), divmod(y, x)


def parts_of_complex(x: int, y: float):
    return complex(x, y), complex(y, x)


def to_negative(t: torch.Tensor):
    return t ** (-1)


def searched(s: str, i: int, j: int):
    return s.find("abc", i, j), s.count("abc", i, j), s.endswith("abc", i, j)


def begins(s: str, i: int):
    return s.startswith("a", i)


def asked(s: str):
    return s.isalpha(), s.islower(), s.isidentifier(), s.swapcase(), s.expandtabs(5)


def replaced(s: str):
    return s.replace("", "xy", 2)


def parted_lines(s: str):
    return len(s.splitlines())


def shown(s: str):
    print(s[0])


def whole(t: torch.Tensor):
    return int(t)


def whole_item(t: torch.Tensor):
    return int(t.item())


def written(t: torch.Tensor, u: torch.Tensor):
    return t.copy_(u)


def put(t: torch.Tensor, u: torch.Tensor):
    t[[0, 1]] = u


def taken(d: Dict[str, int]):
    first = d.popitem()
    d["z"] = 5
    return first, d.popitem(), list(d)


def taken_of_floats(d: Dict[float, int]):
    return d.popitem(), len(d)


def factor(x: torch.Tensor):
    return torch.linalg.cholesky(x)


def taken_all(n: int):
    d = {i: i for i in range(n)}
    order: List[int] = []
    while len(d) > 0:
        key, _ = d.popitem()
        order.append(key)
    return order == list(range(n))


def of_lists(a: List[int], b: List[bool], c: List[float], d: List[List[int]]):
    made = torch.tensor(a), torch.tensor(b), torch.tensor(c), torch.as_tensor(d)
    return [t.dtype for t in made], made[3].shape


def through_float32(x: float):
    number = torch.tensor(x, dtype=torch.float64)
    return torch.tensor([x], dtype=torch.float64).item(), number.item()


def cut_into_tensor(x: float):
    return torch.tensor([x], dtype=torch.int32).item(), torch.tensor(x, dtype=torch.int64).item()


def whole_and_float(a: int, b: float):
    one = [a == b, a != b, a < b, a <= b, a > b, a >= b]
    other = [b == a, b != a, b < a, b <= a, b > a, b >= a]
    x: Optional[bool] = None
    if a < b:
        x = True
    return one, other, x


def whole_and_float_scalars(a: torch.Tensor, b: torch.Tensor):
    x, y = a.item(), b.item()
    return x == y, x < y, x >= y


def same_numbers(a: int, x: float):
    return [a * 1000 is a * 1000, x + 1 is x + 1, x is x, a is not a + 0, [1] is [1]]


def same_values(d: Dict[str, List[int]]):
    return [list(d.values())[0] is d["a"], list(d.items())[0][1] is d["a"], d.get("a") is d["a"]]


class Colour(enum.Enum):
    RED = 1
    GREEN = 2


def members(c: Colour, n: int):
    """A member is a new object wherever it is written."""
    given = c is Colour.GREEN
    for _ in range(n):
        c = Colour.GREEN
    d = {"a": Colour.RED}
    return [given, c is Colour.GREEN, d["a"] is Colour.RED, d["a"] is not Colour.RED, c is c]


CASES: list[tuple[Callable[..., Any], tuple[Any, ...], Any]] = [
    (inside, ("a", "abc"), (True, False, True)),
    (members, (Colour.GREEN, 1), [False, False, False, True, True]),
    (inside, ("z", "ac"), (False, True, False)),
    (inside, ("", ""), (True, False, False)),
    (nan_in_lists, ([NAN], NAN), (False, 0, False, True)),
    (nan_in_lists, ([1.0], 1.0), (True, 1, True, False)),
    (nan_as_key, (NAN,), (False, 3, 7, 8, 4, 9)),
    (nan_as_key, (2.0,), (True, 2, 3, 3, 2, 3)),
    (number_of, ("\t-1.5e3",), -1500.0),
    (number_of, ("0x1p3",), 8.0),
    (number_of, ("-Infinity",), -math.inf),
    (cut, (-2.5,), (-3, -2, -2)),
    (cut, (-(2.0**63),), (-(2**63),) * 3),
    (truncated, (math.inf, NAN, 1e30), [-(2**63)] * 3),
    (least, (), -(2**63)),
    (parted, (-5, 2.5), ((-2.0, 0.0), (-1.0, -2.5))),
    (parted, (2**53 + 1, 3.0), ((0.0, 1.0), (3.0, 0.0))),
    (parts_of_complex, (2**40 + 3, 0.1), (complex(3, 0.1), complex(0.1, 3))),
    (searched, ("abcabc", 0, -3), (0, 2, False)),
    (searched, ("abcabc", 1, 0), (-1, 0, True)),
    (asked, ("a\u00e9",), (False, True, False, "A\u00e9", "a\u00e9")),
    (asked, ("a\nb\tc",), (False, True, False, "A\nB\tC", "a\nb  c")),
    (replaced, ("ab",), "xyxyab"),
    (parted_lines, ("a\u01c5b",), 2),
    (taken, ({"b": 1, "a": 2, "c": 3},), (("b", 1), ("a", 2), ["c", "z"])),
    (taken_all, (50,), True),
    (of_lists, ([], [], [], [[], []]), ([4, 11, 6, 4], [2, 0])),
    (of_lists, ([1], [True], [2.0], [[1], [2]]), ([4, 11, 6, 4], [2, 1])),
    (through_float32, (0.1,), (0.10000000149011612, 0.10000000149011612)),
    (cut_into_tensor, (1e30,), (-(2**31), -(2**63))),
    (cut_into_tensor, (NAN,), (-(2**31), -(2**63))),
    (
        whole_and_float,
        (2**53 + 1, 2.0**53),
        ([True, False, False, True, False, True], [True, False, False, True, False, True], None),
    ),
    (
        whole_and_float,
        (1, 1.5),
        ([False, True, True, True, False, False], [False, True, False, False, True, True], True),
    ),
    (
        whole_and_float_scalars,
        (torch.tensor(2**53 + 1), torch.tensor(2.0**53, dtype=torch.float64)),
        (True, False, True),
    ),
    (same_numbers, (7, 0.5), [True, True, True, False, False]),
    (same_numbers, (7, NAN), [True, False, False, False, False]),
    (same_values, ({"a": [1], "b": [2]},), [True, True, True]),
]

_TOO_LARGE = "value cannot be converted to type int64_t without overflow"
_ONES = torch.ones(2, 3)

REFUSED: list[tuple[Callable[..., Any], tuple[Any, ...], str]] = [
    (cut, (math.inf,), "Cannot convert float inf to integer"),
    (cut, (NAN,), "Cannot convert float nan to integer"),
    (cut, (1e30,), r"Cannot convert float 1000000000000000019884624838656\.000000 to integer"),
    (parted, (5, math.inf), "Cannot convert float inf to integer"),
    (
        shown,
        ("\u00e9",),
        "UnicodeDecodeError: 'utf-8' codec can't decode byte 0xc3 in position 0.*",
    ),
    (whole, (torch.tensor(NAN),), _TOO_LARGE),
    (whole, (torch.tensor(1e30),), _TOO_LARGE),
    (whole, (torch.tensor(1 + 2j),), _TOO_LARGE),
    (
        whole_item,
        (torch.tensor(2.0**31),),
        "value cannot be converted to type int without overflow",
    ),
    (
        written,
        (torch.ones(3), torch.ones(1, 3)),
        r"output with shape \[3\] doesn't match .* \[1, 3\]",
    ),
    (written, (torch.ones(2), _ONES), r"The size of tensor a \(2\) must match .* dimension 1"),
    (put, (_ONES, torch.ones(1, 2, 3)), r"shape mismatch: value tensor of shape \[1, 2, 3\] .*"),
    (index_of_nan, ([NAN], NAN), "'nan' is not in list"),
    (remove_nan, ([NAN], NAN), r"list.remove\(x\): x not in list"),
    (number_of, ("0.5 hello",), "could not convert string to float: '0.5 hello'"),
    (number_of, ("0.5 ",), "could not convert string to float: '0.5 '"),
    (number_of, ("1e400",), "stod"),
    (number_of, ("4.9e-324",), "stod"),
    (number_of, ("\u0661",), "stod"),
    (whole_number_of, ("\u0661",), "stoll"),
    (whole_number_of, ("99999999999999999999x",), "stoll"),
    (whole_number_of, ("12 ",), r"invalid literal for int\(\) with base 10: '12 '"),
]


def ways(function: Callable[..., Any], monkeypatch: Any) -> Iterator[tuple[str, Any]]:
    """The function scripted, on the machine alone, native from the first call, saved and loaded."""
    yield "scripted", torch.jit.script(function)
    for variable, value in (("RUSHLIGHT_PLAN", "off"), ("RUSHLIGHT_NATIVE", "now")):
        with monkeypatch.context() as patch:
            patch.setenv(variable, value)
            yield f"{variable}={value}", torch.jit.script(function)
    buffer = io.BytesIO()
    torch.jit.save(torch.jit.script(function), buffer)
    buffer.seek(0)
    yield "loaded", torch.jit.load(buffer)


def copied(values: tuple[Any, ...]) -> list[Any]:
    return [v.copy() if isinstance(v, list | dict) else v for v in values]


@pytest.mark.parametrize(("function", "arguments", "wanted"), CASES)
def test_result(
    function: Callable[..., Any], arguments: tuple[Any, ...], wanted: Any, monkeypatch: Any
) -> None:
    for way, scripted in ways(function, monkeypatch):
        for _ in range(2):
            assert repr(scripted(*copied(arguments))) == repr(wanted), way


@pytest.mark.parametrize(("function", "arguments", "sentence"), REFUSED)
def test_refusal(
    function: Callable[..., Any], arguments: tuple[Any, ...], sentence: str, monkeypatch: Any
) -> None:
    for _, scripted in ways(function, monkeypatch):
        with pytest.raises(RuntimeError, match=f"RuntimeError: {sentence}\n"):
            scripted(*copied(arguments))


def test_warnings_in_loops(monkeypatch: Any) -> None:
    def f(n: int) -> int:
        for i in range(n):
            warnings.warn("w" + str(i), stacklevel=2)
        return n

    for way, scripted in ways(f, monkeypatch):
        with pytest.warns(UserWarning, match="w0"):
            assert scripted(3) == 3, way


def test_a_constant_nan_keeps_its_sign(monkeypatch: Any) -> None:
    def f(n: int) -> str:
        return f"{-math.nan} {complex(-math.nan, 1.0)}"

    def g(n: int) -> complex:
        return complex(-math.nan, 1.0)

    for way, scripted in ways(f, monkeypatch):
        assert scripted(3) == "-nan -nan+1.j", way
    for way, scripted in ways(g, monkeypatch):
        assert math.copysign(1.0, scripted(3).real) == -1.0, way
    assert "value=-nan" in str(torch.jit.script(g).graph)


def test_a_nan_in_a_display_equals_no_key(monkeypatch: Any) -> None:
    def f(x: float) -> int:
        y, zero = x, -0.0
        return len({x: 1, y: 2, 0.0: 5, zero: 6})

    for way, scripted in ways(f, monkeypatch):
        assert scripted(math.nan) == 3, way


def test_large_negative_floats_come_back_as_floats(monkeypatch: Any) -> None:
    def f(n: int):  # type: ignore[no-untyped-def]
        return [1.5, float(-9223372036854775807)]

    for way, scripted in ways(f, monkeypatch):
        assert scripted(1) == [1.5, -(2.0**63)], way


def test_whole_numbers_are_summed_in_32_bits(monkeypatch: Any) -> None:
    def f(values: List[int]) -> int:
        return sum(values)

    for way, scripted in ways(f, monkeypatch):
        assert scripted([2**31 - 1, 1]) == -(2**31), way
        assert scripted([2**40 + 3, -4]) == -1, way


def test_lists_are_not_repeated_negative_times(monkeypatch: Any) -> None:
    def f(values: list[int], n: int):  # type: ignore[no-untyped-def]
        return values * n, n * values

    for way, scripted in ways(f, monkeypatch):
        assert scripted([], -1) == ([], []), way
        with pytest.raises(RuntimeError, match="vector::reserve"):
            scripted([1], -1)


def append(xs: List[int], x: Optional[int], ys: Dict[str, int], zs: List[Optional[int]]):
    xs.append(x)


def insert(xs: List[int], x: Optional[int], ys: Dict[str, int], zs: List[Optional[int]]):
    xs.insert(0, x)


def put(xs: List[int], x: Optional[int], ys: Dict[str, int], zs: List[Optional[int]]):
    xs[0] = x


def put_in_dict(xs: List[int], x: Optional[int], ys: Dict[str, int], zs: List[Optional[int]]):
    ys["a"] = x


def default(xs: List[int], x: Optional[int], ys: Dict[str, int], zs: List[Optional[int]]):
    return ys.get("a", x)


def extend(xs: List[int], x: Optional[int], ys: Dict[str, int], zs: List[Optional[int]]):
    xs.extend(zs)


@pytest.mark.parametrize("function", [append, insert, put, put_in_dict, default, extend])
def test_containers_hold_what_their_types_say(function: Callable[..., Any]) -> None:
    """The first argument binds a type variable; others do not widen it."""
    told = r"instead found type '(Optional\[int\]|List\[Optional\[int\]\])'"
    with pytest.raises(RuntimeError, match=told):
        torch.jit.script(function)


def widen(zs: List[Optional[int]], x: int):
    zs.append(x)
    zs[0] = None
    zs.insert(1, x)
    return zs


def test_containers_of_optionals_take_both() -> None:
    assert torch.jit.script(widen)([1], 2) == [None, 2, 2]


def test_a_nan_is_not_taken_out_of_a_dict() -> None:
    scripted = torch.jit.script(taken_of_floats)
    assert scripted({0.5: 1, float("nan"): 2}) == ((0.5, 1), 1)
    with pytest.raises(RuntimeError, match="Expected to erase 1 item, found 0"):
        scripted({float("nan"): 2, 0.5: 1})


def test_errors_of_linear_algebra_have_a_place_in_scripts() -> None:
    with pytest.raises(RuntimeError, match="TorchScript interpreter") as caught:
        torch.jit.script(factor)(-torch.eye(2))
    assert "return torch.linalg.cholesky(x)" in str(caught.value)
    assert type(caught.value) is RuntimeError


@pytest.mark.parametrize("norm", ["batch_norm", "instance_norm"])
@pytest.mark.parametrize(
    ("trains", "mean"), [("True", 0.19), ("False", 0.0), ("bool(x.sum() > 0)", 0.19)]
)
def test_a_norm_whose_result_nobody_reads_counts(norm: str, trains: str, mean: float) -> None:
    unit = torch.jit.CompilationUnit(
        f"""
def f(x, m, v):
    for i in range(2):
        y = torch.{norm}(x, None, None, m, v, {trains}, 0.1, 1e-5, True)
    return x
"""
    )
    running = torch.zeros(2), torch.ones(2)
    unit.f(torch.ones(2, 2, 3), *running)
    assert running[0].tolist() == pytest.approx([mean, mean])
    assert ("norm" in str(unit.f.graph)) == (trains != "False")


def test_what_is_read_around_a_norm_that_trains_is_as_eager() -> None:
    def around(x: torch.Tensor, m: torch.Tensor, v: torch.Tensor):
        before = m + 1
        first = torch.batch_norm(x, None, None, m, v, True, 0.1, 1e-5, True)
        between = m + 1
        second = torch.batch_norm(x, None, None, m, v, True, 0.1, 1e-5, True)
        return before, between, m + 1, first + second

    def made(function: Callable[..., Any]) -> list[Any]:
        x, m, v = torch.arange(4.0).reshape(2, 2), torch.zeros(2), torch.ones(2)
        return [each.tolist() for each in (*function(x, m, v), m, v)]

    scripted = torch.jit.script(around)
    expected = made(around)
    assert expected[:2] != expected[1:3]
    for _ in range(80):  # machine and plans
        assert made(scripted) == expected
    torch._C._jit_pass_cse(scripted.graph)
    assert str(scripted.graph).count("aten::batch_norm") == 2


class Place(NamedTuple):
    name: str
    at: Tuple[int, Tensor]


def deep(x: Tensor, word: str):
    rows: List[Tuple[str, int, Optional[Tuple[str, float]]]] = []
    places: Dict[str, List[Place]] = {}
    for i in range(3):
        rows.append((word + str(i), i, (word, 0.5) if i else None))
        places[word + str(i)] = [Place(word, (i, x + i))]
    return rows, places, [[[[word]]]], {1: (x, [(word, x)])}


def test_containers_in_each_other_are_converted_at_every_depth() -> None:
    x = torch.ones(1)
    for word in ("ab", "é"):
        rows, places, texts, mixed = torch.jit.script(deep)(x, word)
        assert rows == deep(x, word)[0]
        assert texts == [[[[word]]]]
        assert list(places) == [word + "0", word + "1", word + "2"]
        (place,) = places[word + "1"]
        assert type(place).__name__ == "Place"
        assert (place.name, place.at[0], place.at[1].item()) == (word, 1, 2.0)
        assert (mixed[1][0].item(), mixed[1][1][0][0], mixed[1][1][0][1].item()) == (1.0, word, 1.0)


def asserted(x: torch.Tensor):
    return torch._assert_async(x)


def extended(xs: List[int], ys: List[int]):
    return xs.extend(ys)


def reversed_beside(xs: List[int]):
    return xs.reverse(), 1


@pytest.mark.parametrize(
    ("function", "given", "wanted", "type"),
    [
        (asserted, (torch.ones(1),), (), "(())"),
        (extended, ([1], [2]), (), "(())"),
        (reversed_beside, ([1, 2],), ((), 1), "(((), int))"),
    ],
)
def test_what_has_no_results_gives_an_empty_tuple(
    function: Any, given: tuple[Any, ...], wanted: object, type: str
) -> None:
    scripted = torch.jit.script(function)
    assert str(scripted.schema).endswith(f" -> {type}")
    assert scripted(*given) == wanted
