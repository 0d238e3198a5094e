"""Native code of our own: formulas, products of bytes, objects on disk."""

from __future__ import annotations

import gc
import hashlib
import math
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from threading import Thread
from time import sleep
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rushlight.ops import kernels
from rushlight.ops.kernels.code.calls.run import _by_ctypes, run
from rushlight.ops.kernels.code.elementwise.loops import (
    Expression,
    Step,
    expression_kernel,
    module_text,
)
from rushlight.ops.kernels.code.language.short_forms import spelled_out
from rushlight.ops.kernels.code.language.target import Target, host
from rushlight.ops.kernels.code.language.text import BYTE, DOUBLE, FLOAT, POINTER, Code, Kind
from rushlight.ops.kernels.code.loading import elf, objects
from rushlight.ops.kernels.code.rows.folds import _kernel as folds_kernel
from rushlight.ops.kernels.kept_files import keep, read_kept

if TYPE_CHECKING:
    from rushlight.ops.kernels.code.loading.assemble import Care

pytestmark = pytest.mark.skipif(
    kernels.family("elementwise.arrays") is None, reason="no native code here"
)

F = np.float32
EDGES = [0.0, -0.0, 1e-45, -1e-40, 1.2e-38, 1e-8, 0.5, 1, -1, 20, 88.7, 89, -87.3, -103.9, -104.6]
EDGES += [3.9, 9.2, 1e10, -1e10, 3.4e38, math.inf, -math.inf, math.nan]
PLAIN = Target("plain", False, False, False, "x86-64", "+sse2")
HASWELL = Target("haswell", True, False, False, "haswell", "")


def _erf(x: Any) -> Any:
    return np.vectorize(math.erf, otypes=[np.float64])(x)


EXACT: dict[str, Callable[[Any], Any]] = {
    "exp": np.exp,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "log": np.log,
    "tanh": np.tanh,
    "erf": _erf,
    "expm1": np.expm1,
    "log1p": np.log1p,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "exp2": np.exp2,
    "log2": np.log2,
    "log10": np.log10,
}
EXACT_OF_TWO: dict[str, Callable[[Any, Any], Any]] = {
    "atan2": np.arctan2,
    "hypot": np.hypot,
    "logaddexp": np.logaddexp,
    "power": np.power,
}
NEAR: dict[str, Callable[[Any], Any]] = {
    "gelu": lambda x: x * 0.5 * (1 + _erf(x / math.sqrt(2))),
    "gelu_tanh": lambda x: x * 0.5 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "silu": lambda x: x / (1 + np.exp(-x)),
    "mish": lambda x: x * np.tanh(np.log1p(np.exp(x))),
    "log_sigmoid": lambda x: np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x))),
}


def samples() -> Any:
    wide = np.concatenate([np.linspace(-110, 110, 40001), np.linspace(-4, 4, 40001)])
    return np.concatenate([wide, EDGES]).astype(F)


def apply(name: str, *operands: Any) -> Any:
    return kernels.family("elementwise.arrays").apply(name, operands)


def of_floats(name: str, places: str = "c") -> tuple[Expression, str, int]:
    """The expression of one formula of float32, in one dimension."""
    step = Step(name, "f", tuple(range(len(places))))
    return Expression("f" * len(places), (step,), ((0, "f"),)), places, 1


def pointwise_kernel(name: str, places: str = "c") -> Callable[..., None]:
    """Calls `run` with a formula's kernel: for operands and the result, in one piece."""
    kernel = expression_kernel(*of_floats(name, places))
    geometry = np.zeros(4 * len(places), np.int64)

    def call(run: Callable[..., None], count: int, least: int, *arrays: Any) -> None:
        run(kernel, count, least, geometry, *arrays)

    return call


def assert_right_to_2_5_units(made: Any, want: Any) -> None:
    with np.errstate(all="ignore"):
        near = want.astype(F)
        unit = np.maximum(np.spacing(np.abs(near)).astype(np.float64), 1.4e-45)
    ordinary = np.isfinite(near)
    assert np.array_equal(made[~ordinary], near[~ordinary], equal_nan=True)
    assert np.max(np.abs(made[ordinary] - want[ordinary]) / unit[ordinary]) <= 2.5
    assert np.array_equal(np.signbit(made[ordinary]), np.signbit(near[ordinary]))


@pytest.mark.parametrize("name", EXACT)
def test_transcendental_functions_are_right_to_2_5_units(name: str) -> None:
    x = samples()
    with np.errstate(all="ignore"):
        want = EXACT[name](x.astype(np.float64))
    assert_right_to_2_5_units(apply(name, x), want)


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_angles_near_quarter_turns_and_of_every_size_are_reduced(name: str) -> None:
    near = (np.arange(1, 100_000, 7) * (math.pi / 2)).astype(F)
    bits = np.random.default_rng(1).integers(0, 0x7F800000, 50_000, dtype=np.uint32)
    x = np.concatenate([near, -near, bits.view(F), [131071.99, 131072.0, 131072.02]]).astype(F)
    assert_right_to_2_5_units(apply(name, x), EXACT[name](x.astype(np.float64)))


@pytest.mark.parametrize("name", EXACT_OF_TWO)
def test_transcendental_functions_of_two_numbers(name: str) -> None:
    edges = [*EDGES, 2, -2, -0.5, 3, -3, 1e8 + 8, 16777215.0, 0.25]
    x, y = (each.ravel() for each in np.meshgrid(np.array(edges, F), np.array(edges, F)))
    random = np.random.default_rng(2)
    wide = random.integers(0, 0x7F800000, 20_000, dtype=np.uint32).view(F)
    some = random.standard_normal(20_000).astype(F)
    for first, second in ((x, y), (wide, some), (np.abs(some), 9 * some[::-1]), (some, wide)):
        with np.errstate(all="ignore"):
            want = EXACT_OF_TWO[name](first.astype(np.float64), second.astype(np.float64))
        made = apply(name, first, np.ascontiguousarray(second))
        assert_right_to_2_5_units(made, want)


@pytest.mark.parametrize("name", NEAR)
def test_activations_are_near(name: str) -> None:
    x = samples()
    x = x[np.abs(x) < 1e10]
    with np.errstate(all="ignore"):
        want = NEAR[name](x.astype(np.float64))
    assert np.allclose(apply(name, x), want, rtol=2e-6, atol=2e-6)


def test_formulas_of_several_operands() -> None:
    x, y, z = (np.random.default_rng(seed).standard_normal(77).astype(F) for seed in range(3))
    x[5] = math.nan
    number = np.array(0.25, F)
    with np.errstate(all="ignore"):
        assert np.array_equal(apply("add_products", x, y, z), x + y * z, equal_nan=True)
        assert np.array_equal(apply("lerp", x, y, number), x + number * (y - x), equal_nan=True)
        low, high = np.array(-0.5, F), np.array(0.5, F)
        assert np.array_equal(apply("clamp", x, low, high), np.clip(x, low, high), equal_nan=True)
        want = np.where(x > 0, x, x * number)
        assert np.array_equal(apply("leaky_relu", x, number), want, equal_nan=True)
    mask = y > 0
    assert np.array_equal(apply("choose", mask, z, number), np.where(mask, z, number))
    assert np.array_equal(apply("choose", mask, z, x), np.where(mask, z, x), equal_nan=True)


@pytest.mark.parametrize("name", [*EXACT, *NEAR])
def test_place_in_the_array_changes_no_bit(name: str) -> None:
    x = samples()[::401].copy()
    whole = apply(name, x)
    for start, stop in ((0, 1), (3, 20), (1, 34), (0, 33), (17, 81), (40, 40)):
        part = apply(name, np.ascontiguousarray(x[start:stop]))
        assert part.tobytes() == whole[start:stop].tobytes()


def _run(target: Target, name: str, x: Any) -> Any:
    """A formula by code for another CPU, whose instructions this one has too."""
    from rushlight.ops.kernels.code.loading.assemble import assembled, placed

    made = assembled(module_text(target, *of_floats(name)), target)
    kernel = placed(made, ("expression",))["expression"]
    out = np.empty_like(x)
    run(kernel, x.size, x.size + 1, np.zeros(2, np.int64), x, out)
    return out


@pytest.mark.skipif(not elf.is_known(), reason="code for x86-64")
def test_cpus_with_shorter_vectors_give_the_same_bits() -> None:
    if not host().has_fma:
        pytest.skip("this CPU cannot run it")
    x = samples()
    for name in ("tanh", "sin", "tan", "log2"):
        assert _run(HASWELL, name, x).tobytes() == apply(name, x).tobytes()
        assert np.allclose(_run(PLAIN, name, x), apply(name, x), rtol=1e-6, equal_nan=True)


def test_code_for_arm_is_made() -> None:
    from rushlight.ops.kernels.code.loading.assemble import assembled

    arm = Target("arm", True, False, False, "generic", "+neon", "aarch64-unknown-linux-gnu")
    made = assembled(module_text(arm, *of_floats("gelu")), arm)
    assert made[:4] == b"\x7fELF"
    assert int.from_bytes(made[18:20], "little") == 183


@pytest.mark.skipif(not elf.is_known(), reason="code for x86-64")
@pytest.mark.parametrize("target", [HASWELL, PLAIN])
@pytest.mark.parametrize(("kind", "dtype"), [(FLOAT, F), (DOUBLE, np.float64), (BYTE, np.int8)])
def test_only_the_first_elements_are_written(target: Target, kind: Kind, dtype: Any) -> None:
    from rushlight.ops.kernels.code.loading.assemble import assembled, placed

    if target.has_fma and not host().has_fma:
        pytest.skip("this CPU cannot run it")
    code = Code(target)
    x, out = (code.argument(POINTER, name) for name in ("x", "out"))
    with code.units() as count:
        line = code.load(kind.of_lanes(16), x)
        code.store_if(line, code.at(out, count * 16, kind), code.first(count - 2))
    text = code.kernel("firsts", [(POINTER, "x"), (POINTER, "out")])
    firsts = placed(assembled(text, target), ("firsts",))["firsts"]
    given, made = np.arange(1, 17).astype(dtype), np.zeros((21, 16), dtype)
    run(firsts, 21, 22, given, made)
    assert np.array_equal(made, np.where(np.arange(16) < np.arange(-2, 19)[:, None], given, 0))


# ------------------------------------------------------------------------- calls and their threads


@pytest.fixture
def threads() -> Iterator[Callable[[int], None]]:
    from rushlight.ops.kernels import threads

    before = threads.get_threads()
    yield threads.set_threads
    threads.set_threads(before)


@pytest.mark.parametrize("call", [run, _by_ctypes])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_ranges_cover_the_whole(
    call: Callable[..., None], count: int, threads: Callable[[int], None]
) -> None:
    threads(count)
    kernel = pointwise_kernel("lerp", "cck")
    random = np.random.default_rng(count)
    for size in (0, 1, 7, 64, 1000, 4099):
        x, end = (random.standard_normal(size).astype(F) for _ in range(2))
        want = x + F(0.25) * (end - x)
        for least in (1, 3, 500, 10000):
            out = np.full(size + 1, 7, F)
            kernel(call, size, least, x, end, np.array(0.25, F), out)
            assert np.array_equal(out[:-1], want)
            assert out[-1] == 7


def test_numbers_reach_kernels(threads: Callable[[int], None]) -> None:
    kernel = folds_kernel("rows", "squares", "f", "d")
    x, found = np.arange(6, dtype=F).reshape(2, 3), []
    for call in (run, _by_ctypes):
        out = np.empty(2)
        call(kernel, 2, 1, 3, 1, 2, 3, 0, 1.5, x, out)
        found.append(out.tolist())
    assert found == [[2.75, 20.75]] * 2


@pytest.mark.skipif(run is _by_ctypes, reason="no native calls here")
def test_arguments_that_kernels_do_not_take_are_refused() -> None:
    kernel = expression_kernel(*of_floats("exp"))
    for arguments in ((kernel, 1), (kernel, 1, 1, "text"), (kernel, 1, 1, None), (kernel, 1.0)):
        with pytest.raises(TypeError, match="kernels take ints, floats and arrays"):
            run(*arguments)
    with pytest.raises(TypeError):
        run(kernel, 1, 1, *[0] * 25)
    with pytest.raises(OverflowError):
        run(kernel, 1, 1, 1 << 70)


def test_many_threads_call_kernels_while_their_number_changes(
    threads: Callable[[int], None],
) -> None:
    kernel = pointwise_kernel("tanh")
    x = np.linspace(-4, 4, 50_000, dtype=F)
    want = np.empty_like(x)
    kernel(run, x.size, x.size + 1, x, want)
    wrong: list[int] = []

    def work() -> None:
        for _ in range(40):
            out = np.empty_like(x)
            kernel(run, x.size, 1000, x, out)
            if out.tobytes() != want.tobytes():
                wrong.append(1)

    workers = [Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for count in (1, 3, 2, 4, 1, 2) * 3:
        threads(count)
        sleep(0.001)
    for worker in workers:
        worker.join()
    assert not wrong


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
def test_a_forked_child_has_threads_of_its_own(threads: Callable[[int], None]) -> None:
    threads(2)
    kernel = pointwise_kernel("exp")
    x = np.linspace(-4, 4, 50_000, dtype=F)
    want, out = np.empty_like(x), np.empty_like(x)
    kernel(run, x.size, 1000, x, want)
    child = os.fork()
    if not child:
        try:
            for _ in range(20):
                kernel(run, x.size, 1000, x, out)
            os._exit(0 if out.tobytes() == want.tobytes() else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    kernel(run, x.size, 1000, x, out)
    assert out.tobytes() == want.tobytes()


# ------------------------------------------------------------------------------ rows of tables


@pytest.mark.parametrize("width", [1, 16, 65, 130, 200])
def test_rows_are_taken_and_summed_by_index(width: int) -> None:
    random = np.random.default_rng(width)
    table = random.standard_normal((50, width)).astype(F)
    index = random.integers(0, 50, 300)
    lookups = kernels.family("indexing.lookups")
    assert np.array_equal(lookups.rows(table, index), table[index])
    ends = np.array([0, 0, 1, 250, 250, 300])
    bags = [table[index[first:last]] for first, last in pairwise(ends)]
    sums = [np.add.accumulate(bag, 0)[-1] if len(bag) else np.zeros(width, F) for bag in bags]
    means = [total / F(max(len(bag), 1)) for total, bag in zip(sums, bags, strict=True)]
    most = [bag.max(0) if len(bag) else np.zeros(width, F) for bag in bags]
    forms = {"sums": sums, "means": means, "maxima": most, "shared": [each * 2 for each in sums]}
    shares = np.full(300, 2, F)
    for starts, extra in ((ends[:-1].copy(), False), (ends, True)):
        for form, wanted in forms.items():
            made, bag_of, sizes, rows = lookups.bags(table, index, starts, form, extra, shares)
            assert np.array_equal(made, np.stack(wanted))
            if form == "maxima":
                filled = sizes > 0
                assert np.array_equal(table[rows, np.arange(width)][filled], made[filled])
            if form in ("sums", "shared"):  # as torch, which looks at neither there
                assert (sizes.tolist(), bag_of.size) == ([0] * starts.size, 0)
            else:
                assert np.array_equal(sizes, np.diff(ends))
                assert np.array_equal(bag_of, np.arange(5).repeat(np.diff(ends)))


@pytest.mark.parametrize("starts", [[1, 5], [0, 5, 4], [0, -1], [0, 301], [0, 2**62]])
def test_bags_that_do_not_follow_each_other_are_not_summed(starts: list[int]) -> None:
    lookups, table = kernels.family("indexing.lookups"), np.ones((5, 70), F)
    index = np.zeros(300, np.int64)
    assert lookups.bags(table, index, np.array(starts), "means") is None


def test_rows_that_are_not_there_are_never_read() -> None:
    lookups = kernels.family("indexing.lookups")
    table, far = np.ones((5, 70), F), [5, -1, 2**62, -(2**63)]
    for place in far:
        assert lookups.rows(table, np.array([1, place, 2])) is None
        assert lookups.bags(table, np.array([1, place, 2]), np.array([0, 1]), "maxima") is None


# ------------------------------------------------------------------------------ products of bytes


def _layer(rows: int, depth: int, columns: int, seed: int, bias: bool = True) -> tuple[Any, Any]:
    import rushlight as torch

    random = np.random.default_rng(seed)
    weight = torch.from_numpy(random.standard_normal((columns, depth)).astype(F))
    scales = torch.from_numpy(random.random(columns) * 0.05 + 0.01)
    zeros = torch.zeros(columns, dtype=torch.int64)
    packed = torch.ops.quantized.linear_prepack(
        torch.quantize_per_channel(weight, scales, zeros, 0, torch.qint8),
        torch.from_numpy(random.standard_normal(columns).astype(F)) if bias else None,
    )
    return torch.from_numpy(random.standard_normal((rows, depth)).astype(F) * 3), packed


def _without_native(call: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> Any:
    with monkeypatch.context() as patch:
        patch.setattr("rushlight.ops.quantized_tensors.panels._panels", lambda packed: None)
        return call()


@pytest.mark.parametrize("rows", [1, 3, 4, 9])
@pytest.mark.parametrize(("depth", "columns"), [(1, 1), (5, 17), (16, 64), (33, 130)])
def test_quantized_layers_give_the_bits_of_numpy(
    rows: int, depth: int, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    import rushlight as torch

    x, packed = _layer(rows, depth, columns, rows * depth, bias=columns != 17)
    given = torch.quantize_per_tensor(x, 0.05, 77, torch.quint8)
    for call in (
        lambda: torch.ops.quantized.linear_dynamic(x, packed),
        lambda: torch.ops.quantized.linear_dynamic(x, packed, True),
        lambda: torch.ops.quantized.linear(given, packed, 0.1, 12).int_repr(),
        lambda: torch.ops.quantized.linear_relu(given, packed, 0.1, 12).int_repr(),
    ):
        plain = _without_native(call, monkeypatch)
        assert call().numpy().tobytes() == plain.numpy().tobytes()


@pytest.mark.parametrize("values", [[0.0], [3.0, 1e-12], [-1e-7, 0.0], [-5.0, -2.0], [1e30, -1e3]])
def test_ranges_of_all_kinds_choose_the_same_quantizer(
    values: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    import rushlight as torch

    _, packed = _layer(1, 4, 3, 5)
    x = torch.tensor([(values * 4)[:4]])

    def call() -> Any:
        return torch.ops.quantized.linear_dynamic(x, packed)

    assert call().tolist() == _without_native(call, monkeypatch).tolist()


def test_a_range_with_nan_is_refused() -> None:
    import rushlight as torch

    x, packed = _layer(2, 20, 3, 1)
    x[1, 18] = math.nan
    with pytest.raises(RuntimeError, match="holds NaN"):
        torch.ops.quantized.linear_dynamic(x, packed)


def test_unpacked_weights_are_the_callers_own() -> None:
    import rushlight as torch

    x, packed = _layer(2, 8, 3, 1)
    before = torch.ops.quantized.linear_dynamic(x, packed)
    torch.ops.quantized.linear_unpack(packed)[0].copy_(torch.zeros(3, 8))
    assert torch.equal(torch.ops.quantized.linear_dynamic(x, packed), before)


ENDING = """
import gc
import numpy as np
import rushlight
from rushlight.ops.kernels.code.calls import run
from rushlight.ops.kernels.code.elementwise.copies import copied

rushlight.set_num_threads(2)
copied(np.ones(1 << 17))
vars(run.CREW).clear()  # as Python does when it ends
gc.collect()
"""


@pytest.mark.skipif(run is _by_ctypes, reason="Python's threads share work here")
def test_threads_may_look_for_work_until_the_process_has_ended() -> None:
    subprocess.run([sys.executable, "-c", ENDING], timeout=60, check=True)


# --------------------------------------------------------------------------------- objects on disk

WARM = """
import sys, numpy as np
from rushlight.ops import kernels
x = np.linspace(-3, 3, 50, dtype=np.float32)
out = kernels.family("elementwise.arrays").apply("tanh", (x,))
print(out.tobytes().hex(), "llvmlite" in sys.modules, "numba" in sys.modules)
"""


def _process(folder: Path) -> list[str]:
    environment = {**os.environ, "RUSHLIGHT_CACHE": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", WARM], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def test_warm_processes_import_no_compiler_and_bad_files_are_made_anew(tmp_path: Path) -> None:
    first = _process(tmp_path)
    assert first[1:] == ["True", "False"]
    files = list(tmp_path.glob("expression-*.o"))
    assert [file.stat().st_mode & 0o777 for file in files] == [0o600] * 2
    kept = files[0].read_bytes()
    if elf.is_known():
        assert _process(tmp_path) == [first[0], "False", "False"]
    for file in files:
        file.write_bytes(_signed(kept[32:200]))
    assert _process(tmp_path) == first
    assert {file.read_bytes() for file in tmp_path.glob("expression-*.o")} == {kept}


class Assembler:
    """What stands in for llvmlite: it makes objects of bytes alone."""

    assembled_texts: ClassVar[list[str]] = []

    @classmethod
    def assembled(cls, text: str, target: object, care: Care) -> bytes:
        cls.assembled_texts.append(text)
        return f"{text} {care}".encode()


@pytest.fixture
def kept_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that objects of such an assembler are kept in."""
    monkeypatch.setattr(objects, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(objects, "_assembler", lambda: Assembler)
    monkeypatch.setattr(objects, "_placed", lambda data, functions: {"f": data.decode()})
    Assembler.assembled_texts.clear()
    return tmp_path


def test_what_another_version_has_made_of_a_text_is_taken(
    kept_in: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    versions: tuple[tuple[str, str, Care], ...] = (
        *(("1", "a", "usual"), ("1", "unasked", "usual"), ("2", "a", "usual")),
        *(("3", "b", "usual"), ("3", "unasked", "usual"), ("4", "b", "little")),
    )
    for version, text, care in versions:
        monkeypatch.setattr(objects, "_stamp", lambda version=version: version)
        made = objects._addresses(("f",), ("k",), lambda _, text=text: text, care)
        assert made == {
            "f": f"{text if text != 'unasked' else Assembler.assembled_texts[-1]} {care}"
        }
    assert Assembler.assembled_texts == ["a", "b", "b"]
    names = [file.stat().st_ino for file in kept_in.iterdir()]
    assert len(names) == 7
    assert len(set(names)) == 3  # one object has all its names


@pytest.mark.usefixtures("kept_in")
def test_who_asks_for_it_has_all_code_compiled_quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    cares: tuple[Care, ...] = ("usual", "ordered", "much", "little")
    made, stamps = {}, []
    for word in ("quickly", "", "carefully"):
        monkeypatch.setenv(objects.COMPILE_VARIABLE, word)
        monkeypatch.setattr(objects, "_MADE", {})
        monkeypatch.setattr(objects, "_is_quick", cache(objects._is_quick.__wrapped__))
        monkeypatch.setattr(objects, "_stamp", cache(objects._stamp.__wrapped__))
        stamps.append(objects._stamp())
        made[word] = [
            objects.native_addresses("n", (care,), ("f",), lambda _: "text", care)["f"]
            for care in cares
        ]
    assert made["quickly"] == ["text little"] * len(cares)
    assert made[""] == made["carefully"] == [f"text {care}" for care in cares]
    assert stamps[0] != stamps[1] == stamps[2]  # processes of both kinds share a folder


def test_an_object_is_written_again_where_files_have_one_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def one_name(*_: object) -> None:
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", one_name)
    keep(tmp_path / "text.o", b"code")
    objects._keep_as(tmp_path / "asked.o", tmp_path / "text.o", b"code")
    assert read_kept(tmp_path / "asked.o") == b"code"


def test_files_that_are_not_whole_are_not_read(tmp_path: Path) -> None:
    file = tmp_path / "made.o"
    whole = _signed(b"code of a kernel")
    for data in (b"", whole[:20], whole[:-1], whole[:33] + b"?" + whole[34:]):
        file.write_bytes(data)
        assert read_kept(file) is None
    file.write_bytes(whole)
    assert read_kept(file) == b"code of a kernel"
    assert read_kept(tmp_path) is None


def _signed(data: bytes) -> bytes:
    return hashlib.sha256(data).digest() + data


@pytest.fixture(scope="module")
def made() -> bytes:
    from rushlight.ops.kernels.code.loading.assemble import assembled

    return assembled(module_text(host(), *of_floats("exp")), host())


@pytest.mark.skipif(not elf.is_known(), reason="another form of objects")
@settings(max_examples=300, deadline=None)
@given(
    changes=st.lists(st.tuples(st.integers(0, 2**16), st.integers(0, 255)), max_size=6),
    length=st.integers(0, 2**16),
)
def test_bytes_from_elsewhere_are_refused_or_placed(
    made: bytes, changes: list[tuple[int, int]], length: int
) -> None:
    data = bytearray(made)
    for place, byte in changes:
        data[-1 - place % len(data)] = byte  # most of the tables lie at the end
    try:
        found = elf.placed(bytes(data[: max(length, 1)]), ("expression",))
    except elf.ForeignObject:
        return
    assert set(found) == {"expression"}


def test_a_full_disk_keeps_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    keep(tmp_path / "made.o", b"code")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("version", "is_known"), [((22, 1, 0), True), ((99, 0, 0), False)])
def test_how_others_have_llvm_compile_is_left_alone(
    version: tuple[int, int, int], is_known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An option that LLVM does not know ends the process."""
    from rushlight.ops.kernels.code.loading import assemble

    said = list[str]()
    monkeypatch.setattr(assemble.llvm, "set_option", lambda _, option: said.append(option))
    monkeypatch.setattr(assemble.llvm, "llvm_version_info", version)
    nothing = "define void @nothing() {\n  ret void\n}"
    cares: tuple[Care, ...] = ("little", "usual", "much", "ordered")
    for care in cares:
        assert assemble.assembled(nothing, host(), care)
    one, other = "-disable-lsr", "-enable-misched"
    expected = [f"{one}=true", f"{one}=false"] * 3
    expected += [f"{one}=true", f"{other}=false", f"{one}=false", f"{other}=true"]
    assert said == expected * is_known


def test_no_handler_of_a_signal_can_raise_amid_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    """Handlers run in the main thread; llvmlite's lock would stay taken."""
    places = list[bool]()

    class Refusing:
        @staticmethod
        def assembled(text: str, target: object, care: Care) -> bytes:
            places.append(threading.current_thread() is threading.main_thread())
            if text == "wrong":
                raise RuntimeError("no such instruction")
            return b"made"

    monkeypatch.setattr(objects, "_assembler", Refusing)
    monkeypatch.setattr(objects, "cache_folder", lambda: None)
    monkeypatch.setattr(objects, "_placed", lambda data, functions: {"f": len(data)})
    assert objects._addresses(("f",), ("a",), lambda _: "right", "usual") == {"f": 4}
    with pytest.raises(RuntimeError, match="no such instruction"):
        objects._addresses(("f",), ("b",), lambda _: "wrong", "usual")
    assert places == [False, False]


def test_byte_code_that_another_process_writes_is_no_part_of_what_code_depends_on() -> None:
    stamp, folder = objects._stamp.__wrapped__, Path(objects.__file__).parent / "__pycache__"
    folder.mkdir(exist_ok=True)
    before, begun = stamp(), folder / "objects.cpython-311.pyc.140000000000000"
    begun.symlink_to(folder / "gone")  # as if it had been renamed amid the look
    try:
        assert stamp() == before
    finally:
        begun.unlink()


def test_short_forms_are_spelled_out() -> None:
    text = """
define i64 @f(ptr %list, i64 %i) {
entry:
  store i64 7, ptr %list at i64 %i
again:
  switch i64 %i, label %no [
    i64 0, label %yes
    i64 1, label %no ]
yes:
  %n = load i64, ptr %list at i8 16, align 1
  br ult i64 %n, 3, label %again, label %no
no:
  br eq i64 %i, 5, label %again
  br not i1 %is.10, label %yes
  ret i64 0
}
"""
    written = spelled_out(text).splitlines()
    assert "  %at.3 = getelementptr i64, ptr %list, i64 %i" in written
    assert written[written.index("again:") - 1] == "  br label %again"
    place = written.index("yes:")
    assert written[place - 1 : place + 6] == [
        "    i64 1, label %no ]",
        "yes:",
        "  %at.9 = getelementptr i8, ptr %list, i64 16",
        "  %n = load i64, ptr %at.9, align 1",
        "  %is.10 = icmp ult i64 %n, 3",
        "  br i1 %is.10, label %again, label %no",
        "no:",
    ]
    assert written[written.index("no:") + 1 : -2] == [
        "  %is.12 = icmp eq i64 %i, 5",
        "  br i1 %is.12, label %again, label %on.12",
        "on.12:",
        "  br i1 %is.10, label %on.13, label %yes",
        "on.13:",
    ]
    assert spelled_out("\n".join(written)).splitlines() == written


def test_code_is_found_while_other_threads_make_more(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {("first", number): ({"first": number}, str) for number in range(5000)}
    monkeypatch.setattr(objects, "_MADE", known)

    def more(phase: str, _: object) -> None:
        known["more", len(known)] = {}, str  # as another thread may, amid a collection

    gc.callbacks.append(more)
    try:
        assert objects.made_at(4999) == (("first", 4999), "first")
    finally:
        gc.callbacks.remove(more)
    assert len(known) >= 5000
