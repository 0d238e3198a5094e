"""Products of matrices by kernels: right, within bounds, the same bits on any number of threads."""

from __future__ import annotations

import ctypes
import mmap
import pickle
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rushlight as torch
from rushlight.ops import kernels
from rushlight.ops.kernels import threads
from rushlight.ops.kernels.code.language.target import Target, host
from rushlight.ops.kernels.code.language.tiles import Tile
from rushlight.ops.kernels.code.loading import elf
from rushlight.ops.kernels.code.products import products
from rushlight.ops.memory.dtype import DTYPES

matrices = kernels.family("products.matrices")
pytestmark = pytest.mark.skipif(matrices is None, reason="no native code here")

UNKEPT = getattr(getattr(matrices, "_way", None), "__wrapped__", None)
HASWELL = Target("haswell", True, False, False, "haswell", "")
PLAIN = Target("plain", False, False, False, "x86-64", "+sse2")
FORMS = ("packed", "packed turned", "direct", "row", "dots")
SIZES = st.sampled_from([1, 2, 3, 7, 16, 17, 24, 25, 48, 49, 100, 131])
DEPTHS = st.sampled_from([1, 2, 15, 16, 33, 255, 256, 257, 530])
LAYOUTS = st.sampled_from(["plain", "turned", "steps", "backwards", "spread"])


def laid(x: Any, layout: str) -> Any:
    """The same elements in another order in memory; those of `spread` are made equal."""
    if layout == "turned":
        return np.ascontiguousarray(x.swapaxes(-1, -2)).swapaxes(-1, -2)
    if layout == "steps":
        return np.repeat(x, 3, -1)[..., ::3]
    if layout == "backwards":
        return np.ascontiguousarray(x[..., ::-1, :])[..., ::-1, :]
    return np.broadcast_to(x[..., :1, :], x.shape) if layout == "spread" else x


def near(made: Any, a: Any, b: Any, bias: Any = 0) -> bool:
    """Whether a product is right to what sums of rounded products are."""
    wide = np.float64 if a.dtype == np.float32 else np.longdouble
    wanted = a.astype(wide) @ b.astype(wide) + bias
    sizes = np.abs(a).astype(wide) @ np.abs(b).astype(wide) + np.abs(bias)
    bound = 32 * np.finfo(a.dtype).eps * sizes
    return made.shape == wanted.shape and bool(np.all(np.abs(made - wanted) <= bound))


def pair(a: tuple[int, ...], b: tuple[int, ...], dtype: str, layouts: tuple[str, str]) -> Any:
    random = np.random.default_rng(sum(a) + sum(b))
    made = (random.standard_normal(shape).astype(dtype) for shape in (a, b))
    return tuple(laid(x, layout) for x, layout in zip(made, layouts, strict=True))


@settings(deadline=None, max_examples=40)
@given(SIZES, DEPTHS, SIZES, st.sampled_from("fd"), LAYOUTS, LAYOUTS, st.booleans())
def test_products_of_all_layouts(
    rows: int, depth: int, columns: int, dtype: str, one: str, other: str, is_biased: bool
) -> None:
    a, b = pair((rows, depth), (depth, columns), dtype, (one, other))
    bias = np.linspace(-3, 3, columns).astype(dtype)
    assert near(matrices.multiply(a, b), a, b)
    if is_biased:
        assert near(matrices.multiply(a, b, bias), a, b, bias)
        assert np.array_equal(matrices.multiply(a, b) + bias, matrices.multiply(a, b, bias))


@settings(deadline=None, max_examples=30)
@given(
    st.lists(st.tuples(st.sampled_from([1, 2, 3]), *[st.booleans()] * 2), min_size=1, max_size=4),
    st.sampled_from([1, 3, 30]),
    LAYOUTS,
    LAYOUTS,
    st.randoms(use_true_random=False),
)
def test_batches_are_broadcast(
    dims: list[tuple[int, bool, bool]], rows: int, one: str, other: str, random: Any
) -> None:
    shapes = [tuple(1 if each[k] else each[0] for each in dims) for k in (1, 2)]
    a, b = pair((*shapes[0], rows, 9), (*shapes[1], 9, 5), "f", (one, other))
    order = random.sample(range(len(dims)), len(dims))
    back = [*np.argsort(order), len(dims), len(dims) + 1]
    a = np.ascontiguousarray(a.transpose(*order, len(dims), len(dims) + 1)).transpose(back)
    made = matrices.multiply_batches(a, b)
    assert np.allclose(made, a.astype(float) @ b.astype(float), rtol=1e-5, atol=1e-5)
    assert made.flags.c_contiguous


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "i4", "i8"])
@pytest.mark.parametrize("layouts", [("plain", "plain"), ("turned", "steps"), ("spread", "turned")])
@pytest.mark.parametrize(
    ("a", "b"),
    [((61, 7), (7, 70)), ((130, 33), (33, 64)), ((5, 1, 9, 8), (2, 8, 17)), ((1, 100), (100, 1))],
)
def test_whole_numbers_wrap_around(
    a: tuple[int, ...], b: tuple[int, ...], layouts: tuple[str, str], dtype: str
) -> None:
    random, ends = np.random.default_rng(sum(a)), np.iinfo(dtype)
    one, two = (
        laid(random.integers(ends.min, ends.max, shape, dtype, endpoint=True), layout)
        for shape, layout in zip((a, b), layouts, strict=True)
    )
    made = kernels.family("products.whole_products").multiplied(one, two)
    assert made.dtype == one.dtype
    assert np.array_equal(made, np.matmul(one, two))
    given = torch.from_numpy(np.array(one)), torch.from_numpy(np.array(two))
    for _ in range(4):
        assert np.array_equal(torch.matmul(*given).numpy(), made)


def test_whole_numbers_are_multiplied_as_large_ones_and_small_ones() -> None:
    one, two = (torch.arange(-1000, 2000).reshape(shape) for shape in ((50, 60), (60, 50)))
    whole = one @ two
    assert torch.equal(whole[:1, :1], one[:1] @ two[:, :1])
    assert torch.equal(whole.double(), one.double() @ two.double())
    assert torch.equal(torch.mm(one.int(), two.int()).long(), whole)
    assert torch.equal(torch.addmm(one[:, :50], one, two), whole + one[:, :50])
    with pytest.raises(RuntimeError):
        torch.matmul(one, one)


def test_sizes_that_do_not_fit_are_refused() -> None:
    a, b = np.ones((4, 5), "f"), np.ones((4, 6), "f")
    for wrong in (
        lambda: matrices.multiply(a, b),
        lambda: matrices.multiply(a, a.T, np.ones(3, "f")),
        lambda: matrices.multiply_batches(a[None], b[None]),
        lambda: matrices.multiply_batches(np.ones((2, 4, 5), "f"), np.ones((3, 5, 4), "f")),
        lambda: matrices.multiply(a[:, :0], b[:0]),
    ):
        with pytest.raises(ValueError, match=r"length|broadcast|row of"):
            wrong()


@pytest.fixture
def crew() -> Iterator[Callable[[int], None]]:
    before = threads.get_threads()
    yield threads.set_threads
    threads.set_threads(before)


SHAPES = [((300, 700), (700, 500)), ((9, 900), (900, 800)), ((1, 1500), (1500, 1100))]
SHAPES += [((6, 4, 50, 300), (6, 4, 300, 60)), ((40, 90, 70), (70, 80))]


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("shapes", SHAPES)
def test_the_number_of_threads_changes_no_bit(
    shapes: Any, turned: bool, crew: Callable[[int], None]
) -> None:
    a, b = map(torch.from_numpy, pair(*shapes, "f", ("plain", "turned" if turned else "plain")))
    found = set()
    for count in (1, 2, 3):
        crew(count)
        found.add((a @ b).numpy().tobytes())
    assert len(found) == 1


def test_long_vectors_are_summed_in_pieces(crew: Callable[[int], None]) -> None:
    x, y = pair((100_003,), (100_003,), "d", ("plain", "plain"))
    exact, found = float(x @ y), set()
    for count in (1, 2, 3):
        crew(count)
        a, b = (torch.from_numpy(each.astype("f")) for each in (x, y))
        found.add(torch.dot(a, b).item())
    assert len(found) == 1
    assert abs(found.pop() - exact) < 1e-2


def test_tensordot_sums_over_chosen_dimensions() -> None:
    a, b = pair((6, 30, 40), (40, 50, 6), "f", ("plain", "plain"))
    made = torch.tensordot(torch.from_numpy(a), torch.from_numpy(b), ([2, 0], [0, 2]))
    assert np.allclose(made.numpy(), np.tensordot(a, b, ((2, 0), (0, 2))), rtol=1e-4, atol=1e-3)


def test_types_that_are_equal_give_the_same_bits() -> None:
    """Arrays that were pickled have a type of their own."""
    for a, b in (
        pair((40, 300), (300, 70), "f", ("plain", "turned")),
        pair((2, 30, 40), (2, 40, 50), "f", ("plain", "plain")),
    ):
        again = pickle.loads(pickle.dumps(a))
        wanted = torch.from_numpy(a) @ torch.from_numpy(b)
        assert torch.equal(torch.from_numpy(again) @ torch.from_numpy(b), wanted)


def test_rows_do_not_depend_on_each_other() -> None:
    """A row that holds infinities and NaN leaves the others as they are."""
    for rows in (5, 40):
        for layout in ("plain", "turned"):
            a, b = pair((rows, 300), (300, 150), "f", ("plain", layout))
            wanted = matrices.multiply(a, b)
            a[3], a[2, 7] = np.nan, np.inf
            made = matrices.multiply(a, b)
            assert np.isnan(made[3]).all()
            assert np.isinf(made[2]).all()
            wanted[2:4] = made[2:4] = 0
            assert np.array_equal(made, wanted)


# ------------------------------------------------------------------------------------ other CPUs


def by_code_for(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have products computed by code for another CPU, whose instructions this one has too."""
    from rushlight.ops.kernels.code.loading.assemble import assembled, placed

    def kernel(form: str, element: str) -> int:
        made = assembled(products.product_text(target, form, element), target)
        return placed(made, ("product",))["product"]

    monkeypatch.setattr(matrices, "product_kernel", kernel)
    monkeypatch.setattr(matrices, "strip", partial(products.strip, target=target))
    monkeypatch.setattr(matrices, "_way", UNKEPT)


CASES = [((30, 300), (300, 70), "plain"), ((30, 300), (300, 70), "turned")]
CASES += [((5, 300), (300, 70), "plain"), ((5, 300), (300, 70), "turned")]
CASES += [((1, 300), (300, 700), "plain")]


@pytest.mark.skipif(not elf.is_known(), reason="code for x86-64")
@pytest.mark.parametrize(("a", "b", "layout"), CASES)
def test_cpus_with_shorter_vectors_give_the_same_bits(
    a: Any, b: Any, layout: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not host().has_fma:
        pytest.skip("this CPU cannot run it")
    x, y = pair(a, b, "f", ("plain", layout))
    wanted = matrices.multiply(x, y)
    by_code_for(HASWELL, monkeypatch)
    assert np.array_equal(matrices.multiply(x, y), wanted)
    by_code_for(PLAIN, monkeypatch)
    assert near(matrices.multiply(x, y), x, y)


@pytest.mark.parametrize("layout", ["plain", "turned"])
@pytest.mark.parametrize("dtype", ["f", "d"])
def test_how_rows_lie_changes_no_bit(layout: str, dtype: str) -> None:
    """Rows of a power of two of bytes are gathered first on some CPUs."""
    for rows in (25, 130, 263):
        a, b = pair((rows, 512), (512, 283), dtype, ("plain", layout))
        apart = np.zeros((rows, 515), dtype)[:, :512]
        apart[...] = a
        assert np.array_equal(matrices.multiply(a, b), matrices.multiply(apart, b))


@pytest.mark.skipif(not elf.is_known(), reason="code for x86-64")
@pytest.mark.parametrize("dtype", ["f", "d"])
def test_how_rows_lie_side_by_side_changes_no_bit(
    dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lines of a power of two of bytes are gathered first where there are many of them."""
    for rows in (65, 131, 263):
        lines = np.random.default_rng(rows).normal(size=(521, 512)).astype(dtype)
        b = np.random.default_rng(1).normal(size=(521, 70)).astype(dtype)
        a = lines[:, :rows].T
        plain = np.ascontiguousarray(a)
        wanted = matrices.multiply(plain, b)
        assert np.array_equal(matrices.multiply(a, b), wanted)
        for target in (HASWELL, PLAIN) if host().has_fma else ():
            with monkeypatch.context() as patch:
                patch.setattr(
                    Tile, "of", staticmethod(partial(lambda tile, _: tile, Tile.of(target)))
                )
                by_code_for(target, patch)
                made = matrices.multiply(a, b)
                assert np.array_equal(made, matrices.multiply(plain, b))
                assert near(made, a, b)


@pytest.mark.parametrize("dtype", ["f", "d"])
def test_the_number_of_rows_changes_no_bit(dtype: str) -> None:
    """Some are multiplied with columns as they lie, more with packed ones."""
    a, b = pair((70, 530), (530, 101), dtype, ("plain", "plain"))
    whole = matrices.multiply(a, b)
    for rows in (2, 9, 24, 25, 33, 48, 64, 65):
        assert np.array_equal(matrices.multiply(a[:rows], b), whole[:rows])


@pytest.mark.parametrize("dtype", ["f", "d"])
@pytest.mark.parametrize("depth", [1, 15, 16, 40, 256, 263, 512])
def test_columns_in_one_piece_change_no_bit(depth: int, dtype: str) -> None:
    """They are turned some at a time; with many rows, units are parts of the rows."""
    for rows, columns in ((300, 5), (30, 31), (600, 64), (26, 200)):
        a, b = pair((rows, depth), (depth, columns), dtype, ("plain", "plain"))
        assert np.array_equal(matrices.multiply(a, laid(b, "turned")), matrices.multiply(a, b))


@pytest.mark.skipif(not elf.is_known(), reason="code for x86-64")
@pytest.mark.parametrize("tile", [Tile(8, 3), Tile(4, 1)])
def test_tiles_change_no_bit(tile: Tile, monkeypatch: pytest.MonkeyPatch) -> None:
    if not host().has_fma:
        pytest.skip("this CPU cannot run it")
    for depth in (300, 512):
        for layout in ("plain", "turned"):
            x, y = pair((131, depth), (depth, 170), "f", ("plain", layout))
            wanted = matrices.multiply(x, y)
            with monkeypatch.context() as patch:
                patch.setattr(Tile, "of", staticmethod(lambda _: tile))
                by_code_for(HASWELL, patch)
                assert np.array_equal(matrices.multiply(x, y), wanted)


@pytest.mark.skipif(not elf.is_known(), reason="code for x86-64")
@pytest.mark.parametrize(("rows", "layout"), [(70, "plain"), (70, "turned"), (3, "turned")])
def test_other_cpus_multiply_bfloat16(
    rows: int, layout: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not host().has_fma:
        pytest.skip("this CPU cannot run it")
    x, y = pair((rows, 301), (301, 50), "f", ("plain", layout))
    x, y = (each.astype(DTYPES["bfloat16"].numpy) for each in (x, y))
    for target in (HASWELL, PLAIN):
        by_code_for(target, monkeypatch)
        assert near(matrices.multiply(x, y), x.astype("f"), y.astype("f"))


# ---------------------------------------------------------------------------------------- bounds


def before_a_wall(x: Any) -> Any:
    """The same array where memory ends: what reads or writes behind it ends the process."""
    size = -(-x.nbytes // mmap.PAGESIZE) * mmap.PAGESIZE
    memory = mmap.mmap(-1, size + mmap.PAGESIZE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    assert protect(ctypes.c_void_p(start + size), ctypes.c_size_t(mmap.PAGESIZE), 0) == 0
    made = np.frombuffer(memory, x.dtype, x.size, size - x.nbytes).reshape(x.shape)
    made[...] = x
    return made


@pytest.mark.skipif(not hasattr(mmap, "PROT_READ"), reason="walls by mprotect(2)")
@pytest.mark.parametrize("form", FORMS)
def test_kernels_stay_within_their_arrays(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for rows, depth, columns in ((1, 5, 3), (1, 300, 530), (7, 17, 9), (29, 270, 51)):
        rows = 1 if form == "row" else rows
        x, y = pair((rows, depth), (depth, columns), "f", ("plain", "plain"))
        a, bias = before_a_wall(x), before_a_wall(np.ones(columns, "f"))
        is_turned = form in ("packed turned", "dots")
        b = before_a_wall(np.ascontiguousarray(y.T)).T if is_turned else before_a_wall(y)
        monkeypatch.setattr(matrices, "_form", lambda *_: form)
        matrices._way.cache_clear()
        monkeypatch.setattr(
            np, "empty", lambda *given, empty=np.empty: before_a_wall(empty(*given))
        )
        made = matrices.multiply(a, b, bias)
        monkeypatch.undo()
        matrices._way.cache_clear()
        assert near(made, x, y, 1)
