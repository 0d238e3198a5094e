"""Classes of values do what dataclasses do, whichever of their methods is called first."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import threading
from collections.abc import Callable

import pytest

from rushlight.frontend.foundations.value_class import value_class


def classes() -> tuple[type, type]:
    """Two classes of which no method has been called."""

    @value_class(frozen=True, slots=True)
    class Point:
        """A place."""

        x: int
        tags: list[str] = dataclasses.field(default_factory=list, compare=False)
        kept: int | None = dataclasses.field(default=None, init=False, repr=False, compare=False)

        def __post_init__(self) -> None:
            if self.x < 0:
                raise ValueError(self.x)

    @value_class(frozen=True, slots=True)
    class Named(Point):
        name: str = "a"

        def __repr__(self) -> str:
            return f"<{self.name}>"

    return Point, Named


def made() -> tuple[object, object, object]:
    point, named = classes()
    return point(1, ["t"]), named(1, ["t"]), named(1, [], name="b")


FIRST: list[Callable[..., object]] = [
    lambda point, named, other: point == type(point)(1) and point != type(point)(2),
    lambda point, named, other: hash(point) == hash(type(point)(1)) != hash(other),
    lambda point, named, other: repr(point).endswith("Point(x=1, tags=['t'])"),
    lambda point, named, other: repr(other) == "<b>",
    lambda point, named, other: named != point and named == type(named)(1) and named != other,
    lambda point, named, other: point.kept is None and other.kept is None,
    lambda point, named, other: dataclasses.replace(other, x=4) == type(other)(4, name="b"),
    lambda point, named, other: copy.copy(other) == other and copy.copy(other).name == "b",
    lambda point, named, other: named.__match_args__ == ("x", "tags", "name"),
    lambda point, named, other: [f.name for f in dataclasses.fields(other)][-1] == "name",
    lambda point, named, other: {point: 1, other: 2}[type(other)(1, name="b")] == 2,
    lambda point, named, other: type(point)(3).tags is not type(point)(3).tags,
    lambda point, named, other: not hasattr(point, "__dict__"),
    lambda point, named, other: type(point).__doc__ == "A place." and type(named).__doc__,
]


@pytest.mark.parametrize("first", range(len(FIRST)))
def test_methods_do_what_those_of_dataclasses_do(first: int) -> None:
    values = made()
    for check in (FIRST[first], *FIRST):
        assert check(*values)


def test_what_methods_are_written_for_leaves_no_classes_behind() -> None:
    point, named = classes()
    assert named(1) == named(1) != point(1)
    assert hash(point(1)) == hash(point(1))
    assert point.__subclasses__()[-1:] == [named]
    assert not named.__subclasses__()


def test_what_classes_refuse() -> None:
    point, named = classes()
    for _ in range(2):
        with pytest.raises(ValueError, match="-1"):
            named(-1)
        with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
            point()
        with pytest.raises(TypeError, match="unexpected keyword argument 'y'"):
            named(1, y=2)
        with pytest.raises(AttributeError):
            point(1).y = 2


def test_a_class_inside_one_that_is_no_such_class() -> None:
    point, _ = classes()

    class Inner(point):  # type: ignore[misc, valid-type]
        pass

    assert Inner(2) == Inner(2) != point(2)
    assert Inner(2).x == point(2).x


def test_several_threads_call_a_method_first() -> None:
    _, named = classes()
    gate, found = threading.Barrier(4), list[object]()

    def make(number: int) -> None:
        gate.wait()
        found.append(named(number, name="c") == named(number, name="c"))

    threads = [threading.Thread(target=make, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 4


def test_constructors_are_those_of_dataclasses() -> None:
    def fields(make: Callable[[type], type]) -> type:
        class Plain:
            a: int
            b: str = "b"
            c: bool = dataclasses.field(default=False, init=False)
            unset: int = dataclasses.field(init=False, repr=False, compare=False)

            def __post_init__(self) -> None:
                object.__setattr__(self, "b", self.b * 2)

        return make(Plain)

    for slots in (False, True):
        ours = fields(value_class(frozen=True, slots=slots))
        usual = fields(dataclasses.dataclass(frozen=True, slots=slots))
        assert repr(ours(1)) == repr(usual(1))
        assert repr(ours(a=2, b="c")) == repr(usual(2, "c"))
        assert inspect.signature(ours) == inspect.signature(usual)
        assert not any(hasattr(each(1), "unset") for each in (ours, usual))
        if not slots:
            assert vars(ours(1)) == vars(usual(1))
        for wrong in ((), (1, "b", True)):
            told = []
            for each in (ours, usual):
                with pytest.raises(TypeError) as caught:
                    each(*wrong)
                told.append(str(caught.value))
            assert told[0] == told[1]
