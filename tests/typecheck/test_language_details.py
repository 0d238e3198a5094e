"""Small points of the language and the sentences of errors, one test each."""

import io
import itertools
import re
from typing import Any, Dict, List, NamedTuple, Optional, Tuple, Union  # noqa: UP035

import pytest

import rushlight as torch
from rushlight import Tensor, nn
from rushlight.jit.annotations import BroadcastingList2


def unit(text: str) -> Any:
    return torch.jit.CompilationUnit(text)


@pytest.mark.parametrize(("start", "total"), [("", 5), (", 1", 14), (", start=1", 14)])
def test_enumerate_takes_its_start_by_place_and_by_name(start: str, total: int) -> None:
    cu = unit(
        "def f(x: List[int]):\n  s = 0\n"
        f"  for i, v in enumerate(x{start}):\n    s += i * v\n  return s\n"
    )
    assert cu.f([4, 5]) == total


def test_a_device_of_a_named_type() -> None:
    def f() -> tuple[torch.device, torch.device]:
        return torch.device(type="cpu"), torch.device(type="cuda", index=1)

    assert torch.jit.script(f)() == (torch.device("cpu"), torch.device("cuda:1"))


def test_text_knows_names_of_types_that_live_code_does_not() -> None:
    cu = unit("def f(x: NoneType, d: Device) -> NoneType:\n  return x\n")
    assert cu.f(None, torch.device("cpu")) is None


@pytest.mark.parametrize(
    ("type", "message"),
    [
        ("Tuple[int, Foo]", r"Unknown type name 'Foo':[\s\S]*\n +~~~ <--- HERE"),
        ("Tuple[int, 3 + 4]", r"Expression of type \+ cannot be used in a type expression"),
        ("Tuple[int, int][int]", "Subscripted type must be a type identifier"),
        ("Tuple[int, int[2]]", r"Unknown type constructor int"),
        ("Dict", r"without contained types. Please add contained type, e.g. Dict\[int, int\]"),
    ],
)
def test_errors_of_types_in_a_text_name_the_part(type: str, message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        unit(f"def f(x: {type}):\n  return 1\n")


def test_comments_of_functions_left_to_python() -> None:
    @torch.jit.unused
    def total(x):
        # type: (List[int]) -> int
        return sum(x)

    @torch.jit.ignore
    def first(x, *rest):
        return rest[0] if rest else x

    def f(x: List[int], t: Tensor) -> Tensor:  # noqa: UP006
        if len(x) > 9:
            return first(t) + total(x)
        return first(t, t + 1, t + 2)

    assert torch.jit.script(f)([1], torch.ones(1)).item() == 2


def test_a_method_without_self() -> None:
    class M(nn.Module):
        @torch.jit.ignore
        def call():
            return 1

        def forward(self) -> Any:
            return self.call()

    with pytest.raises(RuntimeError, match="does not have a self argument"):
        torch.jit.script(M())


class Plain:
    def __init__(self) -> None:
        self.x = 1

    def method(self) -> int:
        return 1


def test_hasattr_of_a_class() -> None:
    def f() -> Tuple[bool, bool, bool]:  # noqa: UP006
        return hasattr(Plain, "method"), hasattr(Plain, "x"), hasattr(Plain(), "x")

    assert torch.jit.script(f)() == (True, False, True)


class Wide:
    def __init__(self) -> None:
        self.x = 1

    @property
    def width(self) -> int:
        return 4

    @staticmethod
    def twice(n: int) -> int:
        return 2 * n


def test_hasattr_knows_no_properties() -> None:
    def f() -> Tuple[bool, bool, bool, int]:  # noqa: UP006
        w = Wide()
        return hasattr(w, "width"), hasattr(w, "twice"), hasattr(w, "x"), getattr(w, "width", 7)

    assert torch.jit.script(f)() == (False, False, True, 7)

    class M(nn.Module):
        @property
        def wide(self) -> int:
            return 4

        def forward(self) -> bool:
            return hasattr(self, "wide")

    assert torch.jit.script(M())() is False


def test_operators_that_a_class_lacks() -> None:
    def add() -> Plain:
        return Plain() + Plain()

    def add_in_place() -> Plain:
        p = Plain()
        p += Plain()
        return p

    with pytest.raises(RuntimeError, match="has no attribute or method '__add__'"):
        torch.jit.script(add)
    with pytest.raises(RuntimeError, match="Cannot emit inplace op on"):
        torch.jit.script(add_in_place)


def test_unpacking_a_tuple_of_unknown_parts() -> None:
    def f(x: Any) -> Any:
        if isinstance(x, tuple):
            a, _ = x
            return a
        return x

    with pytest.raises(RuntimeError, match="Provided tuple is not fully defined/refined"):
        torch.jit.script(f)


def test_tuples_of_other_types_have_no_order() -> None:
    def f(x: List[Any]) -> List[Any]:  # noqa: UP006
        x.sort()
        return x

    wanted = r"same type can be compared. Found Tuple\[int, int\] and Tuple\[str, str\]"
    with pytest.raises(RuntimeError, match=wanted):
        torch.jit.script(f)([(1, 2), ("a", "b")])


def test_data_of_a_tensor_has_no_history() -> None:
    def f(x: Tensor) -> Tensor:
        return x.data

    assert not torch.jit.script(f)(torch.ones(1, requires_grad=True)).requires_grad


def test_a_device_as_a_constant() -> None:
    class M(nn.Module):
        __constants__ = ("d",)

        def __init__(self) -> None:
            super().__init__()
            self.d = torch.device("cpu")

        def forward(self) -> Tensor:
            return torch.zeros([1], device=self.d)

    assert torch.jit.script(M())().device == torch.device("cpu")


def test_a_container_with_a_length_of_its_own() -> None:
    class Ten(nn.Sequential):
        @torch.jit.export
        def __len__(self) -> int:
            return 10

    assert len(torch.jit.script(Ten())) == 10


def test_set_state_gets_what_get_state_gives() -> None:
    class M(torch.jit.ScriptModule):
        def __init__(self) -> None:
            super().__init__()
            self.buffer = nn.Buffer(torch.ones(2))

        @torch.jit.script_method
        def __getstate__(self):
            return (self.buffer, self.training)

        @torch.jit.script_method
        def __setstate__(self, state):
            self.buffer = state[0] + 10
            self.training = state[1]

    file = io.BytesIO()
    torch.jit.save(M(), file)
    file.seek(0)
    assert torch.jit.load(file).buffer.tolist() == [11, 11]


def test_tensordot_takes_all_its_forms() -> None:
    def f(a: Tensor, n: int, t: Tensor) -> List[Tensor]:  # noqa: UP006
        return [
            torch.tensordot(a, a, dims=n),
            torch.tensordot(a, a, ([0], [0])),
            torch.tensordot(a, a, [[0], [0]]),
            torch.tensordot(a, a, dims=t),
        ]

    a = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    t = torch.tensor([[0], [0]])
    scripted = torch.jit.script(f)
    assert [x.tolist() for x in scripted(a, 1, t)] == [x.tolist() for x in f(a, 1, t)]


def test_ways_to_fill_a_parameter_can_be_scripted() -> None:
    def f(x: Tensor, g: Optional[torch.Generator] = None) -> Tensor:  # noqa: UP045
        nn.init.xavier_uniform_(x)
        nn.init.normal_(x, generator=g)
        return nn.init.uniform_(x, 2.0, 3.0)

    assert bool((torch.jit.script(f)(torch.zeros(2, 2)) >= 2).all())


def test_constants_of_a_text_are_attributes() -> None:
    class M(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x + torch.tensor([1, 2, 3])

    with pytest.warns(torch.jit.TracerWarning):
        traced = torch.jit.trace(M(), torch.ones(3))
    text, constants = traced.code_with_constants
    assert "CONSTANTS.c0" in text
    assert constants.c0.tolist() == constants.const_mapping["c0"].tolist() == [1, 2, 3]


def test_a_compiled_method_keeps_the_words_of_its_own() -> None:
    class M(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            """Give it back."""
            return x

    assert torch.jit.script(M()).forward.__doc__ == "Give it back."


def dict_of(x: Dict) -> int:  # noqa: UP006
    return len(x)


def test_a_dict_needs_the_types_it_contains() -> None:
    with pytest.raises(RuntimeError, match="Attempted to use Dict without contained types"):
        torch.jit.script(dict_of)


class Holder:
    def __init__(self, value: int) -> None:
        self.value = value

    def get(self) -> int:
        return self.value


def held(x: Holder) -> int:
    return x.get()


def test_objects_whose_attributes_do_not_fit() -> None:
    scripted = torch.jit.script(held)
    assert scripted(Holder(3)) == 3
    with pytest.raises(RuntimeError, match="Could not cast attribute 'value' to type int: Unable"):
        scripted(Holder("a"))
    lacking = Holder(1)
    del lacking.value
    for other in (lacking, torch.ones(1)):
        with pytest.raises(RuntimeError, match="but object was missing attribute value"):
            scripted(other)


def test_a_module_holding_an_object_that_does_not_fit() -> None:
    class M(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.held = Holder("a")

        def forward(self) -> int:
            return self.held.get()

    with pytest.raises(RuntimeError, match="Could not cast attribute 'held' to type __torch__"):
        torch.jit.script(M())


@torch.jit.interface
class Holds:
    def get(self) -> int:
        pass


class Declared(nn.Module):
    """Holds anything, under whatever type it is declared."""

    def __init__(self, held: object) -> None:
        super().__init__()
        self.held = held

    def forward(self) -> Any:
        return self.held


@pytest.mark.parametrize("declared", [int, str, list[int], list[Tensor], int | str])
def test_a_tensor_is_no_attribute_of_another_type(declared: Any) -> None:
    Declared.__annotations__ = {"held": declared}
    with pytest.raises(RuntimeError, match="Could not cast attribute 'held' to type"):
        torch.jit.script(Declared(torch.ones(2)))


def test_a_tensor_of_one_number_is_a_number_where_one_is_declared() -> None:
    Declared.__annotations__ = {"held": int}
    assert torch.jit.script(Declared(torch.tensor(3)))() is 3  # noqa: F632


def test_a_tensor_fills_no_interface() -> None:
    Declared.__annotations__ = {"held": Holds}
    with pytest.raises(RuntimeError, match="to an interface fails because the value"):
        torch.jit.script(Declared(torch.ones(2)))


def test_objects_hold_no_tensors_where_numbers_are_declared() -> None:
    scripted = torch.jit.script(held)
    assert scripted(Holder(torch.tensor(3))) == 3  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="Could not cast attribute 'value' to type int: Unable"):
        scripted(Holder(torch.ones(2)))  # type: ignore[arg-type]


def test_deleting_an_element_of_an_object_without_del_item() -> None:
    def f() -> int:
        x = Holder(1)
        del x["a"]
        return 1

    with pytest.raises(RuntimeError, match="Class does not define __delitem__"):
        torch.jit.script(f)


class Same(nn.Module):
    def forward(self, x: int) -> int:
        return x


def test_hooks_of_one_name_are_one_function() -> None:
    def hook(self: Any, input: Tuple[int]) -> Tuple[int]:  # noqa: UP006
        return (1,)

    first = hook

    def hook(self: Any, input: Tuple[int]) -> Tuple[int]:  # noqa: UP006
        return (2,)

    module = Same()
    module.register_forward_pre_hook(first)
    module.register_forward_pre_hook(first)
    assert torch.jit.script(module)(5) == 1
    module.register_forward_pre_hook(hook)
    with pytest.raises(RuntimeError, match="'hook' on Same has at least two different python def"):
        torch.jit.script(module)


def test_a_pre_hook_says_what_it_returns() -> None:
    def hook(self: Any, input: Tuple[int]):  # noqa: UP006
        return input

    module = Same()
    module.register_forward_pre_hook(hook)
    with pytest.raises(RuntimeError, match="'hook' on module 'Same' is missing a return annot"):
        torch.jit.script(module)


@pytest.mark.parametrize("data", ["[c.argmax().item(), 3]", "[c.item()]", "[[c.item()]]"])
def test_no_tensor_is_made_of_lists_of_numbers_of_any_kind(data: str) -> None:
    unit = torch.jit.CompilationUnit(f"def f(c: Tensor):\n    return torch.tensor({data})\n")
    with pytest.raises(RuntimeError, match="expected Float, Complex, Int, or Bool but gotScalar"):
        unit.f(torch.tensor(2.5))


def test_the_size_of_complex_numbers_is_infinite_or_nan_but_no_error() -> None:
    unit = torch.jit.CompilationUnit("def f(z: complex) -> float:\n    return abs(z)\n")
    assert unit.f(complex(1.5e308, 1.5e308)) == float("inf")
    assert unit.f(complex(float("nan"), float("-inf"))) == float("inf")
    assert unit.f(complex(float("nan"), 1.0)) != unit.f(complex(float("nan"), 1.0))
    assert unit.f(3 + 4j) == 5.0


def test_an_empty_part_is_counted_where_it_begins_before_the_end() -> None:
    @torch.jit.script
    def f(s: str, start: int, end: int) -> int:
        return s.count("", start, end)

    assert [f("", 0, -1), f("abc", 0, 0), f("abc", 3, 3), f("abc", 2, 1)] == [0, 0, 0, 0]


def deleted_in_its_block(x: int) -> int:
    if x > 1:
        y = 2
        del y
    return x


def deleted_with_its_loop(x: int) -> int:
    for i in range(x):
        del i
    return x


def deleted_around_its_block(x: int) -> int:
    y = 3
    for i in range(x):
        y = i
        del y
    return x


def test_del_asks_the_outermost_block_whether_there_is_a_name() -> None:
    for function, name in ((deleted_in_its_block, "y"), (deleted_with_its_loop, "i")):
        with pytest.raises(RuntimeError, match=f"undefined value {name}"):
            torch.jit.script(function)
    assert torch.jit.script(deleted_around_its_block)(2) == 2


def first_of(pair: Tuple[float, int], scale: Tuple[float, float] | None = None) -> float:  # noqa: UP006
    return pair[0] if scale is None else pair[0] * scale[1]


def with_literals(x: Tensor) -> float:
    return first_of((x.sum(), x.size(0)), scale=(x[0].item(), x[1]))


def with_a_variable(x: Tensor) -> float:
    pair = (x.sum().item(), 3)
    return first_of(pair)


class Weighted(NamedTuple):
    depth: int = 2
    weights: Tuple[float, str] = (1.0, "a")  # noqa: UP006


def weighted(x: Tensor) -> Weighted:
    return Weighted(weights=(x.sum().item() * 1.0, "b"))


def with_an_int(x: Tensor) -> Weighted:
    return Weighted(weights=(1, "b"))


def test_parts_of_tuples_are_converted_to_what_a_call_wants() -> None:
    x = torch.tensor([2.0, 3.0])
    assert torch.jit.script(with_literals)(x) == 15.0
    assert torch.jit.script(with_a_variable)(x) == 5.0
    assert torch.jit.script(weighted)(x) == Weighted(2, (5.0, "b"))
    with pytest.raises(RuntimeError) as caught:
        torch.jit.script(with_an_int)
    assert "Weighted(int depth=2, (float, str) weights=(1., a)) -> ():" in str(caught.value)
    assert "instead found type 'Tuple[int, str]'" in str(caught.value)


def of_lists(pair: Tuple[List[int], Tuple[float, float]], n: int) -> Tuple[List[int], float]:  # noqa: UP006
    return pair[0], pair[1][0]


def with_empty_list(x: Tensor) -> Tuple[List[int], float]:  # noqa: UP006
    return of_lists(([], (x, x)), 1)


def with_inner_tuples(x: Tensor) -> Tuple[List[int], float]:  # noqa: UP006
    return of_lists(pair=((1, x.numel()), (x, 1.0)), n=2)


def with_text(x: Tensor) -> Tuple[List[int], float]:  # noqa: UP006
    return of_lists((["a"], (x, True)), 1)


def test_lists_in_tuples_are_what_a_call_wants() -> None:
    x = torch.tensor(2.0)
    assert torch.jit.script(with_empty_list)(x) == ([], 2.0)
    assert torch.jit.script(with_inner_tuples)(x) == ([1, 1], 2.0)
    with pytest.raises(RuntimeError) as caught:
        torch.jit.script(with_text)
    assert "instead found type 'Tuple[List[str], Tuple[float, float]]'" in str(caught.value)


def test_nothing_contains_a_number() -> None:
    def contained(x: int) -> bool:
        return x in []  # noqa: RUF060

    script = torch.jit.script(contained)
    assert "annotate(List[int], [])" in script.code
    assert script(1) is False


def test_a_tuple_that_is_the_default_of_a_list_with_a_size_keeps_its_elements() -> None:
    def sides(x: BroadcastingList2[int] = (1, 2)) -> List[int]:  # noqa: UP006
        return x

    def around() -> List[int]:  # noqa: UP006
        return sides()

    assert torch.jit.script(around)() == [1, 2]


NUMBERS = itertools.count()


class Slots(nn.Module):
    number: float
    perhaps: int | None
    numbers: List[int] | None  # noqa: UP006

    def __init__(self) -> None:
        super().__init__()
        self.number, self.perhaps, self.numbers = 0.5, None, [1]


@pytest.mark.parametrize(
    ("assigned", "given"),
    [
        ("self.number = x.item()", "Expected float but got number"),
        ("self.number = x", "Expected float but got Tensor"),
        ("self.number = True", "Expected float but got bool"),
        ("self.perhaps = n or n", "Expected Optional[int] but got bool"),
        ("self.perhaps = n if n > 1 else None", None),
        ("self.numbers = []", "Expected Optional[List[int]] but got List[Tensor]"),
        ("self.numbers = [0.5]", "Expected Optional[List[int]] but got List[float]"),
        ("self.numbers = [n]", None),
    ],
)
def test_what_is_assigned_to_attributes_is_of_their_types(assigned: str, given: str | None) -> None:
    source = f"def change_{next(NUMBERS)}(self, x: Tensor, n: int) -> None:\n    {assigned}\n"
    module = torch.jit.script(Slots())
    if given is None:
        module.define(source)
    else:
        with pytest.raises(RuntimeError, match=f"Wrong type for attribute.*{re.escape(given)}"):
            module.define(source)


def test_tensors_become_numbers_where_numbers_are_declared() -> None:
    def as_complex(t: Tensor) -> complex:
        return t

    def as_float(t: Tensor) -> float:
        return t

    scripted = torch.jit.script(as_complex)
    assert "torch.ComplexImplicit(t)" in scripted.code
    assert scripted(torch.tensor(2 + 1j)) == 2 + 1j
    floats = torch.jit.script(as_float)
    assert floats(torch.tensor(1.5)) == 1.5
    for _ in range(3):  # walked, and as a plan
        with pytest.raises(RuntimeError, match="tensor that requires grad as a scalar argument"):
            floats(torch.tensor(1.5, requires_grad=True))


def of_an_optional_list(numbers: Optional[List[int]]) -> int:  # noqa: UP006, UP045
    return 0 if numbers is None else len(numbers)


def test_single_numbers_are_no_optional_lists() -> None:
    def f(n: int) -> int:
        return of_an_optional_list(n)

    with pytest.raises(RuntimeError, match=r"Expected a value of type 'Optional\[List\[int\]\]'"):
        torch.jit.script(f)


@pytest.mark.parametrize(
    ("declared", "given"),
    [
        (bool, int),
        (List[int], b"s"),  # noqa: UP006
        (List[Tensor], [torch.ones(1), None]),  # noqa: UP006
        (torch.Generator, 1),
    ],
)
def test_values_that_only_look_right_are_refused(declared: Any, given: object) -> None:
    def f(x):
        return x

    f.__annotations__["x"] = declared
    with pytest.raises(RuntimeError, match=r"Expected a value of type .* for argument 'x'"):
        torch.jit.script(f)(given)


def test_generators_are_values() -> None:
    generator = torch.Generator()

    def f(x: Any) -> Any:
        return x

    assert torch.jit.script(f)(generator) is generator

    class M(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.generator = generator

        def forward(self) -> Tensor:
            return torch.rand(2, generator=self.generator)

    drawn = torch.jit.script(M())()
    assert torch.equal(drawn, torch.rand(2, generator=torch.Generator()))


def test_functions_are_no_values() -> None:
    def f(x: Tensor) -> Any:
        return of_an_optional_list

    with pytest.raises(RuntimeError, match="function cannot be used as a value"):
        torch.jit.script(f)


@pytest.mark.parametrize(
    ("called", "type"),
    [("3", "int"), ("'s'", "str"), ("None", "NoneType"), ("x.shape", "List[int]")],
)
def test_values_cannot_be_called(called: str, type: str) -> None:
    unit = "def f(x: Tensor):\n    return {}(x)\n"
    with pytest.raises(RuntimeError, match=re.escape(f"cannot call a value of type '{type}'")):
        torch.jit.CompilationUnit(unit.format(called))


def counted_pairs() -> int:
    total = 0
    for i, (a, b) in enumerate(zip((1, 2, 3), (3, 4, 5))):  # noqa: B905
        total += i * a + b
    return total


def test_pairs_of_tuples_are_counted() -> None:
    assert torch.jit.script(counted_pairs)() == counted_pairs() == 20


def test_a_list_of_nothing() -> None:
    cu = unit("def f(n: int):\n  found: List[int] = list()\n  found.append(n)\n  return found\n")
    assert cu.f(3) == [3]
    assert unit("def f():\n  return list()\n").f() == []


def test_a_tuple_of_nothing_has_a_type() -> None:
    cu = unit("def f(x: Tuple[()], y: Tuple[int]):\n  return x, y\n")
    assert cu.f((), (1,)) == ((), (1,))
    assert [str(each.type) for each in cu.f.schema.arguments] == ["Tuple[()]", "Tuple[int]"]


def quotient(x: Tensor, n: Union[int, float, complex]) -> Tensor:  # noqa: UP007
    if isinstance(n, float):
        return torch.div(x, n)
    return torch.div(x, n, rounding_mode="trunc")


def test_what_a_number_is_not_is_taken_off() -> None:
    script = torch.jit.script(quotient)
    assert "%n.15 : Union(complex, int) = prim::unchecked_cast(%n.1)" in str(script.graph)
    assert script(torch.tensor(7.0), 2).item() == 3
    assert script(torch.tensor(7.0), 2.0).item() == 3.5
