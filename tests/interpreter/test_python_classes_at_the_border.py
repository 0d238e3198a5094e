"""Members of enumerations and objects of script classes are Python's own at the border."""

from __future__ import annotations

import enum
import io
import re
import zipfile
from typing import Any, Dict, List, NamedTuple, Optional, Tuple, Union

import pytest

import rushlight as torch

# ruff: noqa: UP006, UP007, UP035, UP045


def loaded(scripted: Any) -> Any:
    buffer = io.BytesIO()
    torch.jit.save(scripted, buffer)
    buffer.seek(0)
    return torch.jit.load(buffer)


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Other(enum.Enum):
    RED = 1
    GREEN = 3


class Word(enum.Enum):
    RED = "red"


def members(c: Colour) -> Tuple[List[Colour], Dict[str, Colour], Word]:
    return [c, Colour.BLUE], {"a": c}, Word.RED


class Keeper(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.colour = Colour.RED

    def forward(self, c: Colour) -> Colour:
        before = self.colour
        self.colour = c
        return before


@torch.jit.script
class Pair:
    def __init__(self, x: int) -> None:
        self.x = x
        self.more: List[int] = [x]


def pairs(n: int) -> List[Pair]:
    return [Pair(n), Pair(n + 1)]


def test_members_are_python_s_also_from_archives() -> None:
    scripted = torch.jit.script(members)
    for one in (scripted, loaded(scripted), loaded(loaded(scripted))):
        got = one(Colour.RED)
        assert got == ([Colour.RED, Colour.BLUE], {"a": Colour.RED}, Word.RED)
    module = torch.jit.script(Keeper())
    for keeper in (module, loaded(module)):
        assert keeper.colour is Colour.RED
        assert keeper(Colour.BLUE) is Colour.RED
        assert keeper.colour is Colour.BLUE


def test_objects_of_archives_are_of_the_class_scripted_here() -> None:
    for one in (torch.jit.script(pairs), loaded(torch.jit.script(pairs))):
        got = one(3)
        assert [(type(p), p.x, p.more) for p in got] == [(Pair, 3, [3]), (Pair, 4, [4])]


def test_what_no_script_here_knows_is_named() -> None:
    buffer, renamed = io.BytesIO(), io.BytesIO()
    torch.jit.save(torch.jit.script(members), buffer)
    with zipfile.ZipFile(buffer) as old, zipfile.ZipFile(renamed, "w") as new:
        for record in old.namelist():
            new.writestr(record, old.read(record).replace(b"Colour", b"Scolur"))
    renamed.seek(0)
    unknown = torch.jit.load(renamed)
    name = f"__torch__.{__name__}.Scolur"
    with pytest.raises(RuntimeError, match="Unknown reference to ScriptClass") as caught:
        unknown(Colour.RED)
    assert (
        str(caught.value) == f"Unknown reference to ScriptClass {name}. (Did you forget to "
        "import it?)"
    )


def test_arguments_are_told_by_name_and_value() -> None:
    scripted = torch.jit.script(members)
    assert scripted(Other.RED)[0][0] is Colour.RED  # as in torch
    for wrong, reason in (
        (1, " Python error details: AttributeError: 'int' object has no attribute 'name'"),
        (Word.RED, "Cast error details: Unable to cast Python instance of type <class 'str'> to "),
        (Other.GREEN, "Cast error details: Unable to cast Python instance of type <enum 'Other'>"),
    ):
        with pytest.raises(RuntimeError) as caught:
            scripted(wrong)
        *_, declaration, last = str(caught.value).split("\n")
        name = f"__torch__.{__name__}"
        assert declaration.startswith(f"Declaration: members(Enum<{name}.Colour> c) -> ")
        assert last.startswith(reason)
    module = torch.jit.script(Keeper())
    with pytest.raises(RuntimeError, match=r"type Enum<.*>: AttributeError: 'int' object has no"):
        module.colour = 3


class WithDouble(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.count = 2

    @property
    def double(self) -> int:
        return self.count * 2


class Inherits(WithDouble):
    def forward(self) -> int:
        return self.double


def test_a_property_may_have_the_name_of_a_method_of_modules() -> None:
    assert torch.jit.script(Inherits())() == loaded(torch.jit.script(Inherits()))() == 4


def three(x: int, y: int, z: int = 3) -> int:
    return x + y + z


def test_wrong_types_are_told_before_what_is_missing_or_too_much() -> None:
    scripted = torch.jit.script(three)
    for args, kwargs, wanted in (
        (("a",), {}, "Expected a value of type 'int' for argument 'x'"),
        ((1, 2), {"z": "a"}, "Expected a value of type 'int' for argument 'z'"),
        ((1,), {"x": 2}, "is missing value for argument 'y'"),
        ((1, 2), {"x": 2, "w": 3}, "expected at most 3 argument.s. but received 4 argument.s."),
        ((1, 2), {"x": 2}, "Argument 'x' specified both as positional and keyword argument"),
        ((1, 2), {"w": 2}, "Unknown keyword argument 'w' for operator 'three'"),
    ):
        with pytest.raises(RuntimeError, match=wanted):
            scripted(*args, **kwargs)


def by_colour(c: Colour) -> int:
    return {Colour.RED: 1, Colour.BLUE: 2}[c]


def made_by_colour() -> int:
    return len({c: 1 for c in Colour})  # noqa: C420


@pytest.mark.parametrize("function", [by_colour, made_by_colour])
def test_members_are_no_keys(function: Any) -> None:
    with pytest.raises(RuntimeError, match="Cannot create dict for key type 'Enum<__torch__"):
        torch.jit.script(function)


class HasPairs(torch.nn.Module):
    def __init__(self, pairs: object) -> None:
        super().__init__()
        self.pairs = pairs

    def forward(self, x: int) -> int:
        return x


class SaysPairs(HasPairs):
    pairs: Dict[Tuple[str, str], int]


@pytest.mark.parametrize(
    "module",
    [HasPairs({("a", "b"): 1}), HasPairs([{("a", "b"): 1}]), SaysPairs({}), SaysPairs(None)],
)
def test_attributes_are_no_dicts_by_pairs(module: HasPairs) -> None:
    said = f"Error inferring type for pairs: {module.pairs}: Cannot create dict for key type '(str"
    with pytest.raises(RuntimeError, match=re.escape(said)):
        torch.jit.script(module)


def test_arguments_are_no_dicts_by_pairs() -> None:
    def of_anything(x: Any) -> int:
        return 1

    with pytest.raises(RuntimeError, match=r"Cannot create dict for key type '\(int, int\)'"):
        torch.jit.script(of_anything)({(1, 2): 3})


def texts() -> Tuple[str, str]:
    return str(Colour.RED), str((Colour.BLUE, 1))


class Point(NamedTuple):
    x: int
    tag: Optional[str] = None


class Line(NamedTuple):
    start: Point
    n: int


@torch.jit.script
class HasPoint:
    def __init__(self, n: int) -> None:
        self.point = Point(n)


def constant_line() -> Line:
    HasPoint(3)
    return Line(Point(0), 1)


def test_constants_keep_their_type() -> None:
    for one in (torch.jit.script(texts), loaded(torch.jit.script(texts))):
        assert one() == ("Enum<Colour.RED>", "(Enum<Colour.BLUE>, 1)")
    assert loaded(torch.jit.script(constant_line))() == ((0, None), 1)


def facts(x: torch.Tensor) -> Tuple[bool, int, int]:
    return torch.can_cast(x.dtype, torch.int32), torch.promote_types(x.dtype, 6), torch.numel(x)


def test_facts_about_dtypes() -> None:
    assert torch.jit.script(facts)(torch.ones(2, dtype=torch.float64)) == (False, 7, 2)


class Named(NamedTuple):
    a: int
    b: str = "x"


def through_any(p: Named) -> Tuple[Any, Union[int, Named], List[Any], Any]:
    kept: List[Any] = [p, (1, "x")]
    return p, p, kept, (Named(2), p[:])


def which(p: Named) -> List[bool]:
    x: Any = p
    y: Any = (1, "x")
    pair = torch.jit.isinstance(x, Tuple[int, str])
    return [isinstance(x, Named), pair, isinstance(y, Named)]


def inferred(p: Any) -> Any:
    return p


def test_a_named_tuple_keeps_its_names_where_its_type_is_not_said() -> None:
    scripted = torch.jit.script(through_any)
    for run in (scripted, scripted, loaded(scripted)):
        one, two, kept, (made, sliced) = run(Named(1))
        assert [type(each).__name__ for each in (one, two, kept[0], made)] == ["Named"] * 4
        assert (one.a, two.b, made) == (1, "x", Named(2))
        assert type(kept[1]) is type(sliced) is tuple
    assert torch.jit.script(which)(Named(1)) == [True, True, False]
    assert type(torch.jit.script(inferred)(Named(1))) is tuple


def test_a_named_tuple_keeps_its_names_and_its_history() -> None:
    class Pair(NamedTuple):
        x: torch.Tensor
        n: int

    def f(x: torch.Tensor) -> Any:
        return Pair(x * 2, 1)

    made = torch.jit.script(f)(torch.ones(2, requires_grad=True))
    assert type(made).__name__ == "Pair"
    made.x.sum().backward()


class _Says:
    """Says of itself what it does not hold."""

    def __iter__(self) -> Any:
        return iter((7, 8))

    def __len__(self) -> int:
        return 5


class SayingTuple(_Says, tuple):  # type: ignore[misc,type-arg]
    pass


class SayingList(_Says, list):  # type: ignore[misc,type-arg]
    pass


def list_of_it(x: List[int]) -> List[int]:
    return x


def tuple_of_it(x: Tuple[int, int]) -> Tuple[int, int]:
    return x


def test_a_list_has_what_a_class_gives_and_a_tuple_what_a_tuple_holds() -> None:
    for _ in range(4):
        assert torch.jit.script(list_of_it)(SayingTuple((1, 2))) == [7, 8]
        assert torch.jit.script(list_of_it)(SayingList((1, 2))) == [7, 8]
        assert torch.jit.script(tuple_of_it)(SayingTuple((1, 2))) == (1, 2)
        assert torch.jit.script(tuple_of_it)(SayingList((1, 2))) == (7, 8)
        assert torch.jit.script(inferred)(SayingTuple((1, 2))) == (1, 2)
