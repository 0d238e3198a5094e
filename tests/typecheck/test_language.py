"""Smaller forms of the language: what scripted functions give, and what is refused."""

# ruff: noqa: UP006, UP035, B905, C408, RUF059, C406, UP045, UP007, F841

from __future__ import annotations

import cmath
import enum
import functools
import math
from collections.abc import Callable
from typing import Any, Dict, Final, List, NamedTuple, Optional, Tuple, Union

import pytest

import rushlight as torch
from rushlight._C import _infer_size
from rushlight.jit.annotations import BroadcastingList2
from rushlight.nn.modules.utils import _pair, _quadruple, _single, _triple

THREE = 3
INFINITY = math.inf
CPU = torch.device("cpu")
ONES = torch.ones(2)


def dict_of_zip(keys: List[str], values: List[int]):
    return dict(zip(keys, values))


def dict_of_pairs(pairs: List[Tuple[str, int]]):
    return dict(pairs)


def dict_with_keywords():
    return dict({"a": 1}, b=2), dict([("a", 1)], b=2), dict(a=1.0)


def dict_of_tuples(keys: Tuple[str, str], values: Tuple[int, int]):
    return dict(zip(keys, values))


def dict_over_tuple(x: Tuple[int, int]):
    return {k: k + 1 for k in x}


def element_of_tuple(x: Tuple[int, int], i: int):
    return x[i]


def items_by_method(x: torch.Tensor, i: torch.Tensor, d: Dict[str, int]):
    pair = x.__getitem__((0, 1)).item(), x.__getitem__(-1).sum().item()
    return x.__getitem__(i).shape, pair, d.__getitem__("a")


def repeated(x: float):
    return _single(x), _pair(2), _triple([1, 2, 3]), _quadruple(x), _pair((1, 2))


def common_size(x: torch.Tensor, y: torch.Tensor) -> List[int]:
    return _infer_size(x.size(), y.size())


def hashes():
    return [hash(5), hash("a"), hash(0.5), hash(True), hash((1, "a"))]


def phases(x: complex):
    return cmath.phase(x), cmath.rect(2.0, 0.0), math.gamma(0.5)


def defaults(x: float = 1.0 / 8, y: int = THREE, z: Tuple[int, float] = (1, 2.0)):
    return x, y, z


def default_tensor(x: torch.Tensor = ONES):
    return x.sum().item()


def asserts(x, flag: bool, n: int):
    torch._assert(flag, "flag")
    torch._assert(n > 2, f"n is {n}")
    torch._assert(x.sum() > 0, "sum")
    return torch.Size([n, 1]), torch.jit._unwrap_optional(n)


def broadcast(x: BroadcastingList2[int], y: BroadcastingList2[float] = 1.0):
    return x, y


def result_of(task: torch.jit.Future[int]):
    return torch.jit.wait(task)


DOUBLED = functools.partial(torch.add, alpha=2)


def partially(x):
    return DOUBLED(x, x)


def of_old_name(x: torch.FloatTensor, n: torch.LongTensor):
    return (x + n).sum().item()


def infinite():
    return INFINITY, -INFINITY


def old_tensors():
    return torch.LongTensor([3]).item(), torch.FloatTensor(2, 3).shape, torch.DoubleTensor().numel()


RESULTS: list[tuple[Callable[..., Any], tuple[Any, ...], Any]] = [
    (dict_of_zip, (["a", "b"], [1, 2]), {"a": 1, "b": 2}),
    (dict_of_pairs, ([("a", 1)],), {"a": 1}),
    (dict_with_keywords, (), ({"a": 1, "b": 2}, {"a": 1, "b": 2}, {"a": 1.0})),
    (dict_of_tuples, (("a", "b"), (1, 2)), {"a": 1, "b": 2}),
    (dict_over_tuple, ((1, 2),), {1: 2, 2: 3}),
    (element_of_tuple, ((1, 2), -1), 2),
    (
        hashes,
        (),
        [5, 4993892634952068459, -2829232615774148844, 1, 4993892805569072552],
    ),
    (
        items_by_method,
        (torch.arange(6).view(2, 3), torch.tensor([1, 0, 1]), {"a": 5}),
        ([3, 3], (1, 12), 5),
    ),
    (repeated, (0.5,), ([0.5], [2, 2], [1, 2, 3], [0.5, 0.5, 0.5, 0.5], [1, 2])),
    (common_size, (torch.ones(2, 1), torch.ones(3)), [2, 3]),
    (phases, (1 + 1j,), (0.7853981633974483, 2 + 0j, 1.772453850905516)),
    (defaults, (), (0.125, 3, (1, 2.0))),
    (default_tensor, (), 2.0),
    (of_old_name, (torch.FloatTensor([1, 2]), torch.LongTensor([3, 4])), 10.0),
    (infinite, (), (math.inf, -math.inf)),
    (old_tensors, (), (3, [2, 3], 0)),
    (asserts, (ONES, True, 3), ([3, 1], 3)),
    (broadcast, (3, 2.0), ([3, 3], [2.0, 2.0])),
    (broadcast, ([1, 2],), ([1, 2], [1.0, 1.0])),
    (result_of, (torch.jit.fork(lambda: 1),), 1),
]


@pytest.mark.filterwarnings("ignore:TorchScript will treat type annotations")
@pytest.mark.parametrize(("function", "arguments", "expected"), RESULTS)
def test_results(function: Callable[..., Any], arguments: tuple[Any, ...], expected: Any) -> None:
    assert torch.jit.script(function)(*arguments) == expected


def final_local():
    x: Final[int] = 3
    return x


def too_large():
    return 9223372036854775808


def item_by_method_without_index(x: torch.Tensor):
    return x.__getitem__()


def global_device(x):
    return x.to(CPU)


def number_type(x: "number"):  # noqa: F821, UP037
    return x


def layout_type(x: torch.layout):
    return x


def union_in_string(x: "int | None"):  # noqa: UP037
    return x


def mutable_default(x: List[int] = [1]):  # noqa: B006
    return x


def wrong_default(x: int = 1.5):
    return x


def dict_of_threes(x: List[int]):
    return dict(zip(x, x, x))


class Mixed(enum.Enum):
    ONE = 1
    TWO = "two"


def mixed_enum(x: Mixed):
    return x


def gradients_on(x):
    with torch.enable_grad():
        return x


def unpacking_with(x):
    with torch.no_grad() as (a, b):
        y = x
    return y


def old_tensor_of_many():
    return torch.LongTensor(1, [2])


def wrong_pairs():
    x: Dict[int, str] = dict([("a", 1)])
    return x


def wrong_turn():
    x: Dict[str, str] = {str(i): i for i in range(3)}
    return x


def opened(name: str):
    return open(name)


def attribute_of_optional(x: Optional[int]):
    return hasattr(x, "real")


def list_target():
    [a, b] = 1, 2
    return a


def dots():
    ...
    return 1


REFUSED: list[tuple[Callable[..., Any], str]] = [
    (final_local, "Unknown type constructor Final"),
    (too_large, "Integral constant out of range"),
    (item_by_method_without_index, "__getitem__ expected exactly 1 arguments, got 0"),
    (global_device, "python value of type 'device' cannot be used as a value"),
    (number_type, "Unknown type name 'number'"),
    (layout_type, "Unknown type name 'torch.layout'"),
    (union_in_string, "Unknown type name 'int | None'"),
    (mutable_default, "Mutable default parameters are not supported"),
    (wrong_default, 'Expected a default value of type int on parameter "x".'),
    (dict_of_threes, "too many values to unpack: need 2 but found 3"),
    (old_tensor_of_many, "Legacy Tensor Constructor only supports two schemas"),
    (wrong_pairs, "`Dict[int, str]` did not match the type of an actual key type `str`"),
    (wrong_turn, "`Dict[str, str]` did not match the type of an actual value type `int`"),
    (opened, "Python builtin <built-in function open> is currently not supported"),
    (attribute_of_optional, "hasattr's first argument must be an object or NamedTuple"),
    (list_target, "unexpected expression on left-hand side of assignment"),
    (dots, "Cannot emit expr for: (dots)"),
    (gradients_on, "Unknown builtin op: aten::enable_grad"),
    (unpacking_with, "incompatible constructor arguments"),
    (mixed_enum, "Could not unify type list"),
]


@pytest.mark.parametrize(("function", "message"), REFUSED)
def test_refusals(function: Callable[..., Any], message: str) -> None:
    with pytest.raises(RuntimeError) as error:
        torch.jit.script(function)
    assert message in str(error.value)


def test_partial_applications_stay_in_python() -> None:
    assert torch.jit.script(partially)(torch.ones(1)) == torch.tensor(3.0)


def test_failed_asserts_tell_their_message() -> None:
    with pytest.raises(torch.jit.Error, match="n is 1"):
        torch.jit.script(asserts)(ONES, True, 1)


def test_compilation_can_be_switched_off() -> None:
    torch.jit._state.disable()
    try:
        assert torch.jit.script(dict_of_pairs) is dict_of_pairs
    finally:
        torch.jit._state.enable()


def test_tensors_by_their_old_names() -> None:
    assert torch.FloatTensor([1]).dtype == torch.float32
    assert isinstance(torch.zeros(1, dtype=torch.int64), torch.LongTensor)
    assert not isinstance(torch.zeros(1), torch.LongTensor)
    assert torch.ByteTensor(2, 3).shape == (2, 3)
    with pytest.raises(TypeError):
        torch.BoolTensor(torch.ones(1))


def bytes_of(text: str):
    return list(text)


def length(x: list):
    return len(x)


def test_half_a_letter_is_no_text() -> None:
    assert torch.jit.script(bytes_of)("ab") == ["a", "b"]
    with pytest.raises(UnicodeDecodeError):
        torch.jit.script(bytes_of)("é")


def test_no_value_is_a_bare_list() -> None:
    with pytest.raises(RuntimeError, match="Expected a value of type 'list'"):
        torch.jit.script(length)([1])


class Level(enum.Enum):
    LOW = 1


class Named(NamedTuple):
    x: int
    name: str = "p"


def folded(u: Union[int, str]):
    level = Level.LOW
    u = 3
    if isinstance(u, int):
        return u + level.value
    return 0


def named(x: int):
    return Named(x)


def test_known_members_and_casts_are_constants() -> None:
    graph = str(torch.jit.script(folded).graph)
    assert "unchecked_cast" not in graph
    assert "EnumValue" not in graph
    assert torch.jit.script(folded)("a") == 4


def test_defaults_of_fields_in_graphs() -> None:
    graph = str(torch.jit.script(named).graph)
    assert "NamedTuple(x : int, name : str = p)" in graph
    assert 'prim::Constant[value="p"]()\n' in graph


def test_methods_may_be_written_in_an_indented_text() -> None:
    class Doubled(torch.jit.ScriptModule):
        def __init__(self) -> None:
            super().__init__()
            self.define("""
            def forward(self, x):
                return x * 2
            """)

    assert Doubled()(torch.ones(1)) == torch.tensor(2.0)
    bare = torch.jit.ScriptModule()
    bare.define("def twice(self, x: int):\n    return 2 * x\n")
    assert bare.twice(2) == 4
    unit = torch.jit.CompilationUnit("""
        def twice(x: int):
            return 2 * x
        """)
    assert unit.twice(3) == 6


def test_position_outside_of_a_tuple() -> None:
    with pytest.raises(RuntimeError, match="Tuple list index out of range"):
        torch.jit.script(element_of_tuple)((1, 2), 2)


@torch.jit.script
class Unordered:
    def __init__(self):
        self.x = 1


def sort_objects():
    found = [Unordered(), Unordered()]
    found.sort()
    return found


def sort_lists(x: List[List[int]]):
    return sorted(x)


def sort_optional(x: List[Optional[int]]):
    x.sort()


def delete(x: List[int], i: int):
    del x[i]


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        (sort_objects, (), "it must define a __lt__ method"),
        (sort_lists, ([[2], [1]],), "can be sorted, got list of"),
        (sort_optional, ([3, None],), "Found int and NoneType"),
        (delete, ([], 0), "pop index out of range"),
        (delete, ([1], 1), "list index out of range"),
    ],
)
def test_failures(function: Callable[..., Any], arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        torch.jit.script(function)(*arguments)


def test_what_has_no_hash() -> None:
    def hash_of_list(x: Dict[str, int]):
        return hash(x)

    with pytest.raises(RuntimeError, match="unhashable type"):
        torch.jit.script(hash_of_list)({"a": 1})
