"""What torch says of calls that fit no signature: sentences recorded from it."""

from __future__ import annotations

import typing
from collections.abc import Callable

import pytest

import rushlight as torch
from rushlight import Tensor
from rushlight.frontend.diagnostics.exceptions import UnsupportedNodeError


def sizes() -> Tensor:
    return torch.zeros("a")


def casts(x: Tensor) -> Tensor:
    return x.to("a", "b", 3)


def shapes(x: Tensor) -> Tensor:
    return x.view("a")


def results(x: Tensor) -> Tensor:
    return torch.max(x, "a", False)[0]


def weights(x: Tensor) -> Tensor:
    return torch.conv2d(x, "a")


def deviations(x: Tensor) -> Tensor:
    return torch.normal(x, "a")


def words() -> str:
    return ",".join(3)


def defaults(
    x: float = 1.0,
    y: str = 'a"b',
    t: tuple[int, float] = (1, 2.0),
    n: int | None = None,
    i: float = float("inf"),
    u: tuple[str, bool] = ("q", True),
    f: float = 1e-5,
    c: complex = 1 + 2j,
    v: tuple[float] = (0.5,),
) -> tuple[int, float]:
    return 1, 2.0


def call_of_defaults() -> tuple[int, float]:
    return defaults("q")


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (
            sizes,
            "aten::zeros(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? "
            "device=None, bool? pin_memory=None) -> Tensor:\n  Expected a value of type 'int' for "
            "argument '<varargs>' but instead found type 'str'.",
        ),
        (
            casts,
            "aten::to.device(Tensor(a) self, Device device, ScalarType dtype, bool "
            "non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a):",
        ),
        (
            shapes,
            "Arguments for call are not valid.\nThe following variants are available:\n  \n  "
            "aten::view(Tensor(a) self, SymInt[] size) -> Tensor(a):",
        ),
        (
            results,
            "aten::max.dim(Tensor self, int dim, bool keepdim=False) -> "
            "(Tensor values, Tensor indices):",
        ),
        (
            weights,
            "SymInt[2] stride=[1, 1], SymInt[2] padding=[0, 0], SymInt[2] dilation=[1, 1], "
            "SymInt groups=1) -> Tensor:",
        ),
        (deviations, "aten::normal.Tensor_float(Tensor mean, float std=1., *, Generator? "),
        (words, "Expected a value of type 'str' for argument '<varargs>' but instead found"),
        (
            call_of_defaults,
            'defaults(float x=1., str y="a\\"b", (int, float) t=(1, 2.), int? n=None, float '
            "i=inf, (str, bool) u=(q, True), float f=1.0000000000000001e-05, complex c=1.+2.j, "
            "(float) v=(0.5,)) -> ((int, float)):",
        ),
    ],
)
def test_signatures_that_do_not_fit(function: Callable[..., object], sentence: str) -> None:
    with pytest.raises(RuntimeError) as caught:
        torch.jit.script(function)
    assert sentence in str(caught.value)


@torch.jit._overload
def scaled(x: int) -> int: ...


@torch.jit._overload  # type: ignore[no-redef]
def scaled(x: float) -> float: ...  # noqa: F811


def scaled(x):  # type: ignore[no-redef, no-untyped-def]  # noqa: F811
    return x


def call_of_variants() -> float:
    return scaled("s")


class Scaling(torch.nn.Module):
    @torch.jit._overload_method
    def scaled(self, x: int) -> int: ...

    @torch.jit._overload_method  # type: ignore[no-redef]
    def scaled(self, x: float) -> float: ...  # noqa: F811

    def scaled(self, x):  # type: ignore[no-redef, no-untyped-def]  # noqa: F811
        return x

    def forward(self) -> float:
        return self.scaled("s")


_SCALING = f"__torch__.{__name__}.Scaling"


def test_all_variants_of_a_name_are_told() -> None:
    for program, names, owner, written in (
        (call_of_variants, ("scaled", "scaled"), "", "scaled"),
        (Scaling(), ("scaled__0", "scaled__1"), f"{_SCALING} self, ", "self.scaled"),
    ):
        with pytest.raises(RuntimeError) as caught:
            torch.jit.script(program)
        text = str(caught.value)
        head = "Arguments for call are not valid.\nThe following variants are available:"
        assert f"\n{head}\n" in text
        for name, kind in zip(names, ("int", "float"), strict=True):
            assert (
                f"\n  \n  {name}({owner}{kind} x) -> {kind}:\n  Expected a value of type '{kind}' "
                "for argument 'x' but instead found type 'str'.\n"
            ) in text
        assert "\nThe original call is:\n" in text
        assert f" {'~' * len(written)} <--- HERE" in text
        (told,) = caught.value.diagnostics  # type: ignore[attr-defined]
        assert told.message == "`scaled` expects `int` for `x`, not `str`"
        assert told.notes == ("another form takes `float` for `x`",)
        assert [label.span.text for label in told.secondary] == ["int"]


class Base(torch.nn.Module):
    def shifted(self, x: Tensor) -> Tensor:
        return x + 1

    def forward(self, x: Tensor) -> Tensor:
        return x


class CallsItself(Base):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x)


class CallsInherited(Base):
    def forward(self, x: Tensor) -> Tensor:
        return super().shifted(x)


class CallsReplaced(Base):
    def shifted(self, x: Tensor) -> Tensor:
        return x + 2

    def forward(self, x: Tensor) -> Tensor:
        return super().shifted(x)


class CallsNothing(Base):
    def forward(self, x: Tensor) -> Tensor:
        return super().turned(x)  # type: ignore[misc, no-any-return]


@pytest.mark.parametrize(
    ("module", "name", "has_edit"),
    [
        (CallsItself, "forward", False),
        (CallsInherited, "shifted", True),
        (CallsReplaced, "shifted", False),
        (CallsNothing, "turned", False),
    ],
)
def test_super_is_refused(module: type[Base], name: str, has_edit: bool) -> None:
    with pytest.raises(RuntimeError) as caught:
        torch.jit.script(module())
    text = str(caught.value)
    assert f"\n'Tensor' object has no attribute or method '{name}'.:\n" in text
    assert f" {'~' * len(f'super.{name}')} <--- HERE" in text
    (told,) = caught.value.diagnostics  # type: ignore[attr-defined]
    assert told.message == "`super` cannot be used in script"
    edits = [edit.text for help in told.helps for edit in help.edits]
    assert edits == ["self"] * has_edit


def parts() -> Tensor:
    p, _q = torch.tril_indices(9, 9, -1)
    return p


def parts_of_argument(x: dict[str, int]) -> str:
    p, _q = x
    return p


@pytest.mark.parametrize(
    ("function", "sentence", "underlined"),
    [
        (parts, "Tensor cannot be used as a tuple", "torch.tril_indices(9, 9, -1"),
        (parts_of_argument, "Dict[str, int] cannot be used as a tuple", "x"),
    ],
)
def test_what_cannot_be_unpacked(
    function: Callable[..., object], sentence: str, underlined: str
) -> None:
    with pytest.raises(RuntimeError) as caught:
        torch.jit.script(function)
    assert f"\n{sentence}:\n" in str(caught.value)
    assert f" {'~' * len(underlined)} <--- HERE" in str(caught.value)


def raises_a_tensor(x: Tensor) -> Tensor:
    raise x


def test_the_whole_of_what_raises_is_underlined() -> None:
    with pytest.raises(RuntimeError) as caught:
        torch.jit.script(raises_a_tensor)
    assert " ~~~~~~~ <--- HERE" in str(caught.value)


def appended(y):
    x = [1]
    x.append(y)
    return x


def bare(y: typing.List) -> Tensor:  # noqa: UP006
    return y


def shares_default(x: list[int] = []) -> list[int]:  # noqa: B006
    return x


def tries(x: int) -> int:
    try:
        return x
    except ValueError:
        return 1


def calls_bare(y: list[int]) -> Tensor:
    return bare(y)


def calls_default(q: int) -> list[int]:
    return shares_default([q])


def calls_tries(q: int) -> int:
    return tries(q)


def calls_twice(q: int) -> int:
    return calls_tries(q)


def said_of(function: Callable[..., object]) -> str:
    with pytest.raises((RuntimeError, UnsupportedNodeError)) as caught:
        torch.jit.script(function)
    return str(caught.value)


def test_types_that_were_inferred_say_so_wherever_they_are_named() -> None:
    sentence = "previously matched to type int is matched to type Tensor (inferred)."
    assert sentence in said_of(appended)


def test_a_type_without_its_parts_has_no_place() -> None:
    sentence = "Attempted to use List without a contained type. Please add a contained type, e.g. "
    assert said_of(bare) == said_of(calls_bare) == sentence + "List[int]"


def test_what_is_found_while_python_is_read_belongs_to_no_call_yet() -> None:
    for function in (calls_default, calls_tries):
        assert "is being compiled" not in said_of(function)
    chain = said_of(calls_twice)
    assert "'tries' is being compiled" not in chain
    assert "'calls_tries' is being compiled since it was called from 'calls_twice'" in chain


class TwoForms(torch.nn.Module):
    @torch.jit._overload_method
    def forward(self, x: int) -> int: ...

    @torch.jit._overload_method  # type: ignore[no-redef]
    def forward(self, x: float) -> float: ...  # noqa: F811

    def forward(self, x):  # type: ignore[no-redef, no-untyped-def]  # noqa: F811
        return x


class CallsBoth(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = TwoForms()

    def forward(self, n: int) -> tuple[int, float]:
        return self.inner(n), self.inner(n / 2)


def test_a_module_whose_forward_has_several_forms_is_called() -> None:
    assert torch.jit.script(CallsBoth())(3) == (3, 1.5)
