"""Operators that users define: `rushlight.library`."""

from __future__ import annotations

import ctypes
import io
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight import Tensor, library
from rushlight.library import Library
from rushlight.ops.eager.c_kernels import CKernel
from rushlight.ops.table.table import TABLE
from rushlight.serialization.files.errors import ArchiveError


@pytest.fixture
def mine() -> Iterator[Library]:
    made = Library("mine", "DEF")
    yield made
    made._destroy()


@pytest.fixture(autouse=True)
def _take_away() -> Iterator[None]:
    yield
    if "fresh" in library.libraries._KEPT:
        library.libraries._KEPT.pop("fresh")._destroy()


def test_an_operator_is_defined_called_and_taken_away(mine: Library) -> None:
    assert mine.define("scale(Tensor x, float by=2., *, int? plus=None) -> Tensor") == "scale"
    calls: list[tuple[int, dict[str, Any]]] = []

    def scale(x: Tensor, *rest: Any, **named: Any) -> Tensor:
        calls.append((len(rest), named))
        return x * (rest[0] if rest else 2.0) + named.get("plus", 0)

    mine.impl("scale", scale, "CPU")
    x = torch.ones(2)
    assert torch.ops.mine.scale(x).tolist() == [2, 2]
    assert torch.ops.mine.scale.default(x, 3.0, plus=1).tolist() == [4, 4]
    assert calls == [(0, {}), (1, {"plus": 1})]
    assert torch.ops.mine.scale.overloads() == ["default"]
    with pytest.raises(RuntimeError, match="Expected a value of type 'float' for argument 'by'"):
        torch.ops.mine.scale(x, "a")
    with pytest.raises(RuntimeError, match="missing value for argument 'x'"):
        torch.ops.mine.scale()
    held = torch.ops.mine.scale
    mine._destroy()
    assert TABLE.operator("mine::scale") is None
    with pytest.raises(AttributeError, match="'_OpNamespace' 'mine' object has no attribute"):
        _ = torch.ops.mine.scale
    with pytest.raises((RuntimeError, TypeError)):
        held(x)
    Library("mine", "DEF")._destroy()  # the name is free again


def test_an_operator_of_users_is_one_object_in_python(mine: Library) -> None:
    mine.define("one(Tensor x) -> Tensor")
    packet = getattr(torch.ops, mine.ns).one
    assert packet is getattr(torch.ops, mine.ns).one
    assert packet.default is packet.default
    mine.define("one.more(Tensor x, int y) -> Tensor")
    assert getattr(torch.ops, mine.ns).one.overloads() == ["default", "more"]


def test_what_libraries_refuse(mine: Library) -> None:
    mine.define("f(Tensor x) -> Tensor")
    for refused, words in (
        (lambda: Library("mine", "DEF"), "Only a single TORCH_LIBRARY"),
        (lambda: Library("aten", "DEF"), "Only a single TORCH_LIBRARY"),
        (lambda: mine.define("f(Tensor x) -> Tensor"), "multiple times"),
        (lambda: mine.define("f(Tensor x -> Tensor"), "not an operator schema"),
        (lambda: mine.define("other::g(Tensor x) -> Tensor"), "does not match namespace"),
        (lambda: mine.impl("f", abs, "Foo"), "could not parse dispatch key: Foo"),
        (lambda: mine.define("other(int n, Tensr[] x) -> t"), "unknown type specifier"),
        (lambda: Library("mine", "IMPL").define("g(Tensor x) -> Tensor"), "inside of a"),
        (lambda: Library("mine", "IMPL", "CPU").impl("f", abs, "CUDA"), "inconsistent"),
    ):
        with pytest.raises(RuntimeError, match=words):
            refused()
    with pytest.raises(NotImplementedError, match="one of rushlight's own"):
        Library("aten", "IMPL").impl("add.Tensor", abs, "CPU")
    with pytest.raises(NotImplementedError, match="no fallback"):
        Library("_", "IMPL").fallback(abs, "CPU")
    with pytest.raises(NotImplementedError, match="Could not run 'mine::f'"):
        torch.ops.mine.f(torch.ones(1))


def test_operators_of_tritons_are_those_of_their_functions() -> None:
    def launches(x: torch.Tensor) -> torch.Tensor:
        library.wrap_triton(abs)
        return x

    @library.triton_op("lit::double", mutates_args=())
    def double(x: torch.Tensor, n: int) -> torch.Tensor:
        return x * 2 + n

    double.register_autograd(lambda context, gradient: (2 * gradient, None))
    x = torch.ones(2, requires_grad=True)
    result = double(x, 1)
    result.sum().backward()
    assert (result.tolist(), x.grad.tolist()) == ([3, 3], [2, 2])
    assert torch.ops.lit.double(x, 2).tolist() == [4, 4]
    refused = library.triton_op("lit::launches", launches, mutates_args=())
    with pytest.raises(ModuleNotFoundError, match="triton"):
        refused(x)


def test_a_namespace_may_be_called_as_a_room_of_ours() -> None:
    made = Library("layers", "FRAGMENT")
    made.define("f(Tensor x) -> Tensor")
    made.impl("f", lambda x: x + 1, "CPU")
    assert torch.ops.layers.f(torch.ones(1)).item() == 2
    made._destroy()


def test_kernels_wait_for_their_operator(mine: Library) -> None:
    late = Library("mine", "IMPL")
    late.impl("later", lambda x: x * 7, "CPU")
    mine.define("later(Tensor x) -> Tensor")
    assert torch.ops.mine.later(torch.ones(1)).item() == 7
    late._destroy()
    with pytest.raises(NotImplementedError):
        torch.ops.mine.later(torch.ones(1))


def test_numba_compiles_kernels(mine: Library) -> None:
    numba = pytest.importorskip("numba")

    @numba.njit
    def total(x: Any, by: float) -> Any:
        out = np.zeros(1, x.dtype)
        for each in x:
            out[0] += each * by
        return out

    mine.define("total(Tensor x, float by) -> Tensor")
    mine.impl("total", total, "CPU")
    assert torch.ops.mine.total(torch.arange(4.0), 2.0).tolist() == [12]
    scripted = torch.jit.script(_total)
    assert scripted(torch.arange(4.0)).tolist() == [12]


def _total(x: Tensor) -> Tensor:
    return torch.ops.mine.total(x, 2.0)


# ------------------------------------------------------------------------------------ gradients


def test_kernels_without_a_formula_record_themselves_and_warn(mine: Library) -> None:
    mine.define("twice(Tensor x) -> Tensor")
    mine.define("thrice(Tensor x) -> Tensor")
    mine.impl("twice", lambda x: x * 2, "CPU")
    mine.impl("thrice", lambda x: x * 3)
    x = torch.ones(2, requires_grad=True)
    with pytest.warns(UserWarning, match="mine::twice: an autograd kernel was not registered"):
        torch.ops.mine.twice(x).sum().backward()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        torch.ops.mine.thrice(x).sum().backward()
    assert x.grad.tolist() == [5, 5]


def _sine(x: Tensor, scale: float) -> Tensor:
    return torch.from_numpy(np.sin(x.detach().numpy()) * scale)


def _define_sine() -> Any:
    made = library.custom_op("fresh::sine", _sine, mutates_args=())

    def keep(ctx: Any, inputs: Any, output: Tensor) -> None:
        ctx.save_for_backward(inputs[0])
        ctx.scale = inputs[1]

    def backward(ctx: Any, g: Tensor) -> Any:
        return g * ctx.saved_tensors[0].cos() * ctx.scale, None

    made.register_autograd(backward, setup_context=keep)
    return made


def _script_of_sine(x: Tensor) -> Tensor:
    return torch.ops.fresh.sine(x * 2, 3.0) + x


def test_custom_operators_have_gradients_in_eager_calls_and_scripts() -> None:
    made = _define_sine()
    assert repr(made) == "<CustomOpDef(fresh::sine)>"
    assert str(made._opoverload._schema) == "fresh::sine(Tensor x, float scale) -> Tensor"
    expected = 6 * np.cos(2 * np.arange(3.0)) + 1
    for function in (_script_of_sine, torch.jit.script(_script_of_sine)):
        for _ in range(3):  # the machine, then its plan
            x = torch.arange(3.0, requires_grad=True)
            function(x).sum().backward()
            np.testing.assert_allclose(x.grad.numpy(), expected, rtol=1e-6)
    y = made(torch.ones(1, requires_grad=True), 1.0)
    assert y.grad_fn.name() == "GeneratedBackwardFor_fresh_sine_defaultBackward"
    assert "fresh::sine" in str(torch.jit.trace(lambda t: made(t, 1.0), torch.ones(1)).graph)


def test_lists_of_tensors_have_gradients() -> None:
    library.custom_op(
        "fresh::total", mutates_args=(), schema="(Tensor[] xs, int k=1, *, int n=2) -> Tensor"
    )(lambda xs, k=1, n=2: sum(xs) * k * n)
    seen: list[Any] = []
    library.register_autograd(
        "fresh::total",
        lambda ctx, g: ([g * (i + 1) for i in range(ctx.count)], None),
        setup_context=lambda ctx, inputs, output, keyword_only_inputs: (
            setattr(ctx, "count", len(inputs[0])),
            seen.append(keyword_only_inputs),
        ),
    )
    x, y = (torch.ones(1, requires_grad=True) for _ in range(2))
    assert torch.ops.fresh.total([x, y], 5).item() == 20
    torch.ops.fresh.total([x, y], n=4).sum().backward()
    assert (x.grad.item(), y.grad.item()) == (1, 2)
    assert seen == [{"n": 2}, {"n": 4}]


def test_a_custom_operator_without_a_formula_refuses_its_gradient() -> None:
    made = library.custom_op("fresh::sine", _sine, mutates_args=())
    with pytest.raises(RuntimeError, match=r"through fresh\.sine\.default but no autograd formula"):
        made(torch.ones(1, requires_grad=True), 1.0).backward()


def test_custom_operators_give_what_is_theirs_and_write_what_they_say() -> None:
    same = library.custom_op("fresh::same", schema="(Tensor x) -> Tensor", mutates_args=())(
        lambda x: x.view(-1)
    )
    with pytest.raises(RuntimeError, match="may not alias any inputs"):
        same(torch.ones(2))

    def double(x: Tensor) -> None:
        x.numpy()[...] *= 2

    op = library.custom_op("fresh::double", double, mutates_args={"x"})
    x = torch.ones(2)
    before = x._version
    assert op(x) is None
    assert x.tolist() == [2, 2]
    assert x._version > before
    w = torch.ones(2, requires_grad=True) * 1
    assert op(w.detach()) is None


def test_autograd_keys_and_what_lies_below(mine: Library) -> None:
    mine.define("f(Tensor x) -> Tensor")
    mine.impl("f", lambda x: x * 2, "CPU")

    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Tensor) -> Any:
            with torch._C._AutoDispatchBelowAutograd():
                return torch.ops.mine.f(x)

        @staticmethod
        def backward(ctx: Any, g: Tensor) -> Any:
            return g * 10

    mine.impl("f", F.apply, "Autograd")
    x = torch.ones(1, requires_grad=True)
    y = torch.ops.mine.f(x)
    y.backward()
    assert (y.item(), x.grad.item()) == (2, 10)


def test_autocast_kernels(mine: Library) -> None:
    mine.define("f(Tensor x) -> Tensor")
    mine.impl("f", lambda x: x * 2, "CPU")
    library.register_autocast("mine::f", "cpu", torch.float32)
    half = torch.ones(1, dtype=torch.bfloat16)
    assert torch.ops.mine.f(half).dtype is torch.bfloat16
    with torch.autocast("cpu"):
        assert torch.ops.mine.f(half).dtype is torch.float32
        assert torch.ops.mine.f.default(half).dtype is torch.float32


# -------------------------------------------------------------------------------- scripts, files


class _Sine(torch.nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.ops.fresh.sine(x, 2.0)


def test_archives_name_operators_of_users(tmp_path: Path) -> None:
    _define_sine()
    scripted = torch.jit.script(_Sine())
    with pytest.raises(Exception, match="Expected a value of type 'float' for argument 'scale'"):
        torch.jit.script(_wrong)
    file = io.BytesIO()
    torch.jit.save(scripted, file)
    x = torch.ones(2)
    assert torch.equal(torch.jit.load(io.BytesIO(file.getvalue()))(x), scripted(x))
    library.libraries._KEPT.pop("fresh")._destroy()
    with pytest.raises(ArchiveError, match=r"ops\.fresh\.sine"):
        torch.jit.load(io.BytesIO(file.getvalue()))


def _wrong(x: Tensor) -> Tensor:
    return torch.ops.fresh.sine(x, "a")


# ------------------------------------------------------------------------------ schemas, checks


def _many(
    x: Tensor,
    k: list[int],
    y: int | None,
    z: Tensor | None = None,
    *,
    d: torch.dtype = torch.float32,
    e: float | int | bool = 2,
) -> tuple[Tensor, int]: ...


def test_schemas_are_inferred() -> None:
    assert library.infer_schema(_many, mutates_args={"x"}, op_name="a::b") == (
        "a::b(Tensor(a0!) x, SymInt[] k, SymInt? y, Tensor? z=None, *, ScalarType d=float32, "
        "Scalar e=2) -> (Tensor, SymInt)"
    )
    for function, words in (
        (lambda x: x, "Parameter x must have a type annotation"),
        (_bad_type, "Parameter x has unsupported type <class 'dict'>"),
        (_bad_return, "Return has unsupported type"),
    ):
        with pytest.raises(ValueError, match=words):
            library.infer_schema(function, mutates_args=())
    with pytest.raises(ValueError, match="were not found in the custom op's signature"):
        library.infer_schema(_many, mutates_args={"q"})


def _bad_type(x: dict) -> Tensor: ...  # type: ignore[type-arg, empty-body]


def _bad_return(x: Tensor) -> dict: ...  # type: ignore[type-arg, empty-body]


def test_dtypes_reach_kernels(mine: Library) -> None:
    mine.define("cast(Tensor x, ScalarType to, Device? at=None) -> Tensor")
    mine.impl("cast", lambda x, to, at=None: x.to(to), "CPU")
    assert torch.ops.mine.cast(torch.ones(1), torch.int32).dtype is torch.int32


def test_opcheck() -> None:
    made = _define_sine()
    made.register_fake(lambda x, scale: torch.empty_like(x))
    x = torch.ones(2, requires_grad=True)
    assert set(library.opcheck(made, (x, 1.0)).values()) == {"SUCCESS"}
    made.register_fake(lambda x, scale: x.new_empty(3))
    with pytest.raises(library.OpCheckError, match="test_faketensor failed"):
        library.opcheck(made, (x, 1.0))


# ---------------------------------------------------------------------------------- C functions


_MIXED = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_int64)(
    lambda x, n: x * 0.5 + n
)
_TURNED = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_bool, ctypes.c_int64)(
    lambda b, n: not b if n % 3 else b
)


def _mixing() -> Any:
    """A program; another one each time, since compiled code keeps its operators."""

    def mixing(rounds: int) -> tuple[float, bool]:
        x = 0.0
        b = True
        for i in range(rounds):
            x = torch.ops.mine.mixed(x, i)
            b = torch.ops.mine.turned(b, i)
        return x, b

    return mixing


def test_kernels_are_registered_by_dispatch_keys_too(mine: Library) -> None:
    mine.define("f(Tensor x) -> Tensor")
    library.impl("mine::f", ["CPU", "CUDA"])(lambda x: x + 1)
    assert torch.ops.mine.f(torch.ones(1)).item() == 2
    with pytest.raises(RuntimeError, match="device type at start of device string: Nonsense"):
        library.impl("mine::f", "Nonsense", lambda x: x)


def test_native_code_calls_c_functions(mine: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("llvmlite")
    monkeypatch.setenv("RUSHLIGHT_NATIVE", "now")
    mine.define("mixed(float x, int n=2) -> float")
    mine.define("turned(bool b, int n) -> bool")
    mine.impl("mixed", _MIXED, "CPU")
    library.impl("mine::turned", "cpu", _TURNED)
    assert torch.ops.mine.mixed(1.0) == 2.5
    assert torch.ops.mine.mixed(1.0, n=4) == 4.5
    program = _mixing()
    expected = program(100)
    asked: list[object] = []
    call = CKernel.__call__
    monkeypatch.setattr(CKernel, "__call__", lambda *a, **k: (asked.append(a), call(*a, **k))[1])
    scripted = torch.jit.script(program)
    for _ in range(5):
        found = scripted(100)
    assert found == expected
    asked.clear()
    assert scripted(1000)[1] == expected[1]
    assert not asked
    program(10)
    assert len(asked) == 20
    mine.impl("mixed", lambda x, n=2: 7.0, "CPU")
    assert scripted(100)[0] == 7.0


def test_native_code_notices_that_a_c_function_is_gone(
    mine: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUSHLIGHT_NATIVE", "now")
    mine.define("mixed(float x, int n) -> float")
    mine.define("turned(bool b, int n) -> bool")
    late = Library("mine", "IMPL")
    late.impl("mixed", _MIXED)
    late.impl("turned", _TURNED)
    program = _mixing()
    scripted = torch.jit.script(program)
    assert scripted(10) == scripted(10) == program(10)
    late._destroy()
    with pytest.raises(NotImplementedError, match="mine::mixed"):
        scripted(10)


def test_c_functions_fit_the_schema(mine: Library) -> None:
    for schema, wanted in (
        ("a(Tensor x) -> float", "one of numbers"),
        ("b(float x) -> float", r"float64\(float64\)"),
        ("c(bool x, int n) -> int", r"int64\(boolean, int64\)"),
    ):
        mine.define(schema)
        with pytest.raises(TypeError, match=wanted):
            mine.impl(schema[0], _MIXED)
    late = Library("mine", "IMPL")
    late.impl("later", _MIXED)
    with pytest.raises(TypeError, match="int64"):
        mine.define("later(int x) -> int")


def test_numbas_c_functions(mine: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    numba = pytest.importorskip("numba")
    monkeypatch.setenv("RUSHLIGHT_NATIVE", "now")
    mixed = numba.cfunc("float64(float64, int64)")(lambda x, n: x * 0.5 + n)
    turned = numba.cfunc("boolean(boolean, int64)")(lambda b, n: not b if n % 3 else b)
    mine.define("mixed(float x, int n) -> float")
    mine.define("turned(bool b, int n) -> bool")
    mine.impl("mixed", mixed)
    mine.impl("turned", turned)
    program = _mixing()
    scripted = torch.jit.script(program)
    for _ in range(3):
        assert scripted(50) == program(50)


@pytest.mark.parametrize(
    ("returns", "given", "said"),
    [
        ("Tensor", 3, "Unable to cast 3 to Tensor"),
        ("(Tensor, int)", ("a", 1), "Unable to cast a to Tensor"),
        ("(Tensor, int)", (torch.ones(1), "b"), "type <class 'str'> to int"),
        ("Tensor[]", 3, r"type <class 'int'> to Tensor\[\]"),
        ("int[]", [1, "a"], "type <class 'str'> to int"),
        ("int", 2.5, "type <class 'float'> to int"),
        ("str", None, "type <class 'NoneType'> to str"),
    ],
)
def test_results_of_other_types_are_refused(returns: str, given: object, said: str) -> None:
    library = Library("test_results", "DEF")
    library.define(f"wrong(Tensor x) -> {returns}")
    library.impl("wrong", lambda x: given, "CPU")
    try:
        with pytest.raises(RuntimeError, match=said):
            torch.ops.test_results.wrong(torch.ones(1))
    finally:
        library._destroy()


def test_results_become_what_the_schema_says() -> None:
    library = Library("test_results", "DEF")
    library.define("right(Tensor x) -> (float, bool, Tensor?)")
    library.impl("right", lambda x: (1, 1, None), "CPU")
    made = torch.ops.test_results.right(torch.ones(1))
    library._destroy()
    assert [type(each) for each in made] == [float, bool, type(None)]


def test_custom_operators_may_take_a_dtype_by_default() -> None:
    @torch.library.custom_op("dtypes::cast", mutates_args=())
    def cast(x: torch.Tensor, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
        return x.to(dtype)

    assert cast(torch.ones(2)).dtype is torch.bfloat16
    assert torch.ops.dtypes.cast(torch.ones(2), torch.int8).dtype is torch.int8


@pytest.mark.parametrize(
    "schema", ["(Tensor x -> Tensor", "(Tensor x)", "(Tensor x)-> Tensor", "f(Tensor x) -> Tensor"]
)
def test_schemas_without_a_name_have_torchs_form(schema: str) -> None:
    with pytest.raises(ValueError, match="expected schema to look like") as told:
        torch.library.define("mine::never_defined", schema)
    assert str(told.value).endswith(f'but got "{schema}"')


def test_a_library_defines_what_a_decorator_stands_above() -> None:
    library = Library("test_decorated", "DEF")

    @torch.library.define(library, "more(Tensor x) -> Tensor", alias_analysis="FROM_SCHEMA")
    def more(x: torch.Tensor) -> torch.Tensor:
        return x + 1

    assert torch.ops.test_decorated.more(torch.ones(1)).item() == 2
    with pytest.raises(RuntimeError, match="Invalid alias_analysis type BAD"):
        torch.library.define(library, "less(Tensor x) -> Tensor", "BAD")
    library._destroy()


def test_a_library_may_last_as_long_as_a_block() -> None:
    with torch.library._scoped_library("test_scoped", "FRAGMENT") as library:
        library.define("more(Tensor x) -> Tensor")
        library.impl("more", lambda x: x + 1, "CPU")
        assert torch.ops.test_scoped.more(torch.ones(1)).item() == 2
    with pytest.raises(AttributeError, match="more"):
        torch.ops.test_scoped.more(torch.ones(1))
    with torch.library._scoped_library("test_scoped", "DEF") as library:
        library.define("less(Tensor x) -> Tensor")
