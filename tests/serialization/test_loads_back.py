"""What is saved loads back and is the same; what cannot is refused before anything is written."""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Callable
from enum import Enum
from typing import Any, NamedTuple

import pytest

import rushlight as torch
from rushlight.serialization.files.errors import ArchiveError


def holding(value: Any, name: str = "a") -> Any:
    """A scripted module with one attribute, which `forward` returns if it is called `a`."""

    class Holder(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            if isinstance(value, torch.Tensor):
                self.register_buffer(name, value)
            elif isinstance(value, torch.nn.Module):
                self.add_module(name, value)
            else:
                setattr(self, name, value)
            self.b = 1

        def forward(self) -> int:
            return self.b

    return torch.jit.script(Holder())


def again(module: Any) -> Any:
    sink = io.BytesIO()
    torch.jit.save(module, sink)
    sink.seek(0)
    return torch.jit.load(sink)


def refused(save: Callable[[], object]) -> str:
    with pytest.raises(ArchiveError) as caught:
        save()
    assert caught.value.code == "unsupported-value"
    return str(caught.value)


STRANGE = [
    *"0 class None True if async lambda é ß 名 _x torch Tensor List int ops CONSTANTS".split(),
    *"annotate inf nan a-b getattr Any a' # \\".split(),
    *('"', "a b", "a\tb", "\n", "\r", "\u2028", "\x00", "\x1b[2J", "n" * 300),
]


@pytest.mark.parametrize("value", [5, torch.ones(1), torch.nn.ReLU()], ids=["int", "buffer", "sub"])
def test_attributes_of_any_name(value: Any) -> None:
    for name in STRANGE if isinstance(value, int) else ("0", "if", "é", '"'):
        loaded = again(holding(value, name))
        assert loaded() == 1
        assert getattr(loaded, name) is not None
    assert "'\\udcff'" in refused(lambda: again(holding(value, "\udcff")))


@pytest.mark.parametrize(
    "value",
    [
        *(math.nan, math.inf, -math.inf, -0.0, 5e-324, 1e300, 2**63 - 1, -(2**63), 1j),
        *("", "a\0b", "'\"\\\n\r\t\x1b\x85\u2028", "\U0001f600", "x" * 70_000),
        *((1, "x", math.nan), [1.0, -math.inf], {"\u202e": 1}, {1: math.nan}, [[[[1]]]], [True]),
    ],
    ids=lambda value: ascii(value)[:20],
)
def test_values_of_any_kind(value: Any) -> None:
    assert repr(again(holding(value)).a) == repr(value)


def test_halves_of_characters_are_refused() -> None:
    for value in ("\ud800", {"\ud800": 1}, ["a\ud800"]):
        assert "a text that is no Unicode" in refused(lambda value=value: again(holding(value)))


def test_enumerations() -> None:
    for value in ('x"y\n\\', "\u202e", math.nan, math.inf, 1e300, -1):
        member = Enum("Made", {"A": value}).A  # type: ignore[attr-defined]
        assert again(holding(member)).a.name == "A"
    for name in ("a b", "class"):
        member = next(iter(Enum("Made", {name: 1})))
        assert f"member called '{name}'" in refused(lambda member=member: again(holding(member)))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *((2.0**62, "4611686018427387904."), (-(2.0**63), "-9223372036854775808.")),
        *((2.0**63, "9.2233720368547758e+18"), (-(2.0**64), "-1.8446744073709552e+19")),
        *((-0.0, "0."), (0.1, "0.10000000000000001"), (1.5, "1.5"), (-7, "-7")),
    ],
)
def test_values_of_enumerations_as_torch_writes_them(value: float, text: str) -> None:
    module = holding(Enum("Made", {"A": value}).A)  # type: ignore[attr-defined]
    with zipfile.ZipFile(io.BytesIO(module.save_to_buffer())) as file:
        code = "".join(file.read(n).decode() for n in file.namelist() if n.endswith(".py"))
    assert f"\n  A = {text}\n" in code


@pytest.mark.parametrize(("field", "name"), [("__name__", "a b"), ("__module__", "my-model")])
def test_classes_whose_names_code_cannot_hold(field: str, name: str) -> None:
    class Made(torch.nn.Module):
        def forward(self) -> int:
            return 1

    setattr(Made, field, name)
    if field == "__name__":
        Made.__qualname__ = name
    assert ascii(name) in refused(lambda: again(torch.jit.script(Made())))


def test_extra_files() -> None:
    module = holding(1)
    for name in ("a", "a/b", "../x", "a\0b", "/x", "data.pkl", "a\nb", "é"):
        sink = io.BytesIO()
        torch.jit.save(module, sink, _extra_files={name: "content"})
        found: dict[str, Any] = {name: ""}
        torch.jit.load(io.BytesIO(sink.getvalue()), _extra_files=found)
        assert found[name] == b"content"
    for name in ("", "a/", "\udcff"):
        sink = io.BytesIO()
        refused(lambda name=name, sink=sink: torch.jit.save(module, sink, _extra_files={name: ""}))
        assert sink.getvalue() == b""


BASE = torch.arange(12.0)
TENSORS = {
    "empty": torch.zeros(0),
    "empty 3d": torch.zeros(2, 0, 3),
    "scalar": torch.tensor(3.0),
    "transposed": BASE.reshape(3, 4).t(),
    "part": BASE[2:5],
    "expanded": torch.ones(1).expand(5),
    "every other": BASE[::2],
    "overlapping": BASE.as_strided((3, 3), (1, 1)),
    "conjugate": torch.tensor([1 + 2j]).conj(),
    "negative": torch.tensor([1 + 2j]).conj().imag,
    "channels last": torch.ones(1, 2, 3, 4).to(memory_format=torch.channels_last),
    "by coordinates": torch.eye(3).to_sparse(),
    "by rows": torch.eye(3).to_sparse_csr(),
    "per tensor": torch.quantize_per_tensor(BASE, 0.1, 3, torch.quint8),
    "per channel": torch.quantize_per_channel(
        BASE.reshape(3, 4), torch.tensor([0.1, 0.2, 0.3]), torch.tensor([0, 1, 0]), 0, torch.qint8
    ),
    **{
        name: torch.ones(2).to(getattr(torch, name))
        for name in (
            *"bool uint8 int8 int16 int32 int64 uint16 uint32 uint64 float16 bfloat16".split(),
            *"float64 float8_e4m3fn float8_e5m2 complex64 complex128".split(),
        )
    },
}


@pytest.mark.parametrize("name", TENSORS)
def test_tensors_of_any_kind(name: str) -> None:
    tensor = TENSORS[name]
    sink = io.BytesIO()
    torch.save({"a": tensor, "both": [tensor, tensor]}, sink)
    sink.seek(0)
    states = torch.load(sink)
    for loaded in (again(holding(tensor)).a, states["a"]):
        assert (loaded.dtype, loaded.shape) == (tensor.dtype, tensor.shape)
        assert loaded.is_quantized == tensor.is_quantized
        assert repr(loaded) == repr(tensor)
    assert states["both"][0] is states["both"][1] is states["a"]


def sorts(x: list[int]):  # type: ignore[no-untyped-def]
    y = x.sort()
    return y, x.reverse(), x


def test_operators_without_results_give_an_empty_tuple() -> None:
    for compiled in (torch.jit.script(sorts), again(torch.jit.script(sorts))):
        assert compiled([3, 1, 2]) == ((), (), [3, 2, 1])


class Shade(Enum):
    DARK = 1


class Pair(NamedTuple):
    left: int


@torch.jit.script
class Box:
    def __init__(self, inside: int) -> None:
        self.inside = inside


def is_shade(x: Any) -> bool:
    return isinstance(x, Shade)


def is_some(x: Any) -> bool:
    return isinstance(x, (int, Pair))


def is_boxes(x: Any) -> bool:
    return isinstance(x, list[Box])


@pytest.mark.parametrize("function", [is_shade, is_some, is_boxes])
def test_types_that_are_only_asked_for_are_in_the_archive(function: Callable[..., Any]) -> None:
    for value in (1, "1"):
        assert again(torch.jit.script(function))(value) == (function is is_some and value == 1)


def branches(n: int, u: int | str) -> int:
    total = n
    if isinstance(u, int):
        total += u
    else:
        total += len(u)
    if isinstance(u, int):
        total *= 2
    return total


def test_what_two_branches_narrow_differently_is_a_union_in_archives() -> None:
    """torch writes the same text, but cannot read it."""
    loaded = again(torch.jit.script(branches))
    assert (loaded(5, 3), loaded(5, "ab")) == (16, 7)
    assert again(loaded)(5, "ab") == 7


def unions_in_loops(n: int) -> int:
    total = 0
    u: int | str = 2
    for _ in range(n):
        if isinstance(u, int):
            total += u
        u = "abc"
    total -= 1 if isinstance(u, int) else 4
    for i in range(n):
        if total > 3 and isinstance(u, int):
            raise ValueError("never")
        total += i
    return total


def test_a_union_that_loops_set_otherwise_than_before_is_one_in_archives() -> None:
    """torch compiles no such annotation, nor reads what it writes of such arguments."""
    scripted = torch.jit.script(unions_in_loops)
    for function in (scripted, again(scripted), again(again(scripted))):
        assert [function(n) for n in range(4)] == [unions_in_loops(n) for n in range(4)]


def test_a_hook_that_is_registered_twice() -> None:
    class Named(torch.nn.Module):
        def forward(self, x: str) -> str:
            return x + "f"

    def before(self, input: tuple[str]) -> tuple[str]:  # type: ignore[no-untyped-def]
        return (input[0] + "b",)

    def after(self, input: tuple[str], output: str) -> str:  # type: ignore[no-untyped-def]
        return output + "a"

    module = Named()
    for _ in range(2):
        module.register_forward_pre_hook(before)
        module.register_forward_hook(after)
    loaded = again(torch.jit.script(module))
    assert loaded("x") == again(loaded)("x") == "xbbfaa"
    sink = io.BytesIO()
    torch.jit.save(torch.jit.script(module), sink)
    with zipfile.ZipFile(sink) as file:
        code = b"".join(file.read(name) for name in file.namelist() if name.endswith(".py"))
    assert code.count(b"def before(") == code.count(b"def after(") == 1


@pytest.mark.parametrize("layout", [torch.sparse_coo, torch.sparse_csr])
def test_frozen_modules_keep_sparse_tensors(layout: torch.layout) -> None:
    class Adds(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.own = torch.nn.Linear(3, 3)
            self.places = torch.eye(3).to_sparse(layout=layout)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.own(x) + self.places.to_dense()

    module = Adds().eval()
    frozen = torch.jit.freeze(torch.jit.script(module))
    assert 'prim::GetAttr[name="places"]' in str(frozen.graph)
    assert 'name="own"' not in str(frozen.graph)
    x = torch.rand(3, 3)
    for each in (frozen, again(frozen)):
        torch.testing.assert_close(each(x), module(x))
        assert each.places.layout is layout


def test_gradients_are_wanted_of_a_loaded_sparse_tensor() -> None:
    tensor = torch.eye(2).to_sparse().requires_grad_()
    loaded = again(holding([tensor, tensor])).a
    assert loaded[0].requires_grad
    assert loaded[0] is loaded[1]


def test_what_lies_by_columns_is_refused() -> None:
    tensor = torch.eye(2).to_sparse_csc()
    assert "torch.sparse_csc cannot be saved" in refused(lambda: again(holding(tensor)))


def test_functions_have_the_results_that_their_graphs_give() -> None:
    def narrow(x: int | None) -> int | None:
        return 3

    loaded = again(torch.jit.script(narrow))
    assert "x: Optional[int]) -> int:" in loaded.code
    assert again(loaded).code == loaded.code


class Asking(torch.nn.Module):
    def forward(self, a: bool, b: bool) -> bool:
        return a and not torch.jit.is_tracing() and b


def test_what_is_known_of_the_program_is_left_out_before_it_is_saved() -> None:
    scripted = torch.jit.script(Asking())
    assert scripted.code.count("if") == 1
    assert again(scripted).code == scripted.code


def test_functions_of_a_unit_that_call_each_other() -> None:
    unit = torch.jit.CompilationUnit(
        "def twice(x):\n    return x * 2\n\ndef both(x):\n    return twice(x) + twice(twice(x))\n"
    )
    assert again(unit.both)(torch.ones(1)).tolist() == [6]


class Tables(torch.nn.Module):
    words: dict[str, int]
    names: dict[int, str | None]
    rows: dict[str, list[int]]

    def __init__(self) -> None:
        super().__init__()
        self.words = {"a": 1, "": 0, "\u00e9\U0001f600": -(1 << 62)} | {
            f"w{i}": i for i in range(300)
        }
        self.names = {1: "a", 2: None, -3: ""}
        self.rows = {"a": [1], "b": [-1, 255, 256, 65536, 1 << 40], "c": []}

    def forward(self) -> tuple[dict[str, int], dict[int, str | None], dict[str, list[int]]]:
        return self.words, self.names, self.rows


def test_tables_of_words_and_numbers_come_back_in_their_order() -> None:
    module = Tables()
    scripted = torch.jit.script(module)
    for made in (again(scripted), again(again(scripted)), torch.jit.freeze(scripted.eval())):
        words, names, rows = made()
        assert list(words.items()) == list(module.words.items())
        assert list(names.items()) == list(module.names.items())
        assert list(rows.items()) == list(module.rows.items())


class Table(torch.nn.Module):
    words: dict[str, list[int]]

    def __init__(self) -> None:
        super().__init__()
        self.words = {"größer": [1, 2], "b": [3], "c": []}

    def forward(self, word: str) -> list[int]:
        return self.words[word]


def test_tables_that_were_frozen_keep_their_type_where_they_hold_nothing() -> None:
    loaded = again(torch.jit.freeze(torch.jit.script(Table().eval())))
    assert "CONSTANTS" in loaded.code
    assert [loaded("größer"), loaded("c")] == [[1, 2], []]


class Placed(torch.nn.Module):
    __constants__ = ("device", "places", "name")

    def __init__(self) -> None:
        super().__init__()
        self.device = torch.device("cpu")
        self.places = (torch.device("cpu"), 2.5)
        self.name = "é"

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.ones(2, device=self.device) * x * self.places[1]


def test_constants_come_back_from_what_was_loaded_too() -> None:
    module: Any = torch.jit.script(Placed())
    for _ in range(2):
        module = again(module)
        assert module.device == torch.device("cpu")
        assert (*module.places, module.name) == (torch.device("cpu"), 2.5, "é")
        assert module(torch.ones(2)).tolist() == [2.5, 2.5]
