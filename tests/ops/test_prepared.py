"""Calls that native code knows beforehand: they are those of the function itself, bit for bit."""

import gc
import itertools
import linecache
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops.kernels import TRIALS, Prepared, family
from rushlight.ops.kernels.code.calls import paces
from rushlight.ops.memory.errors import OperatorError
from rushlight.ops.memory.metadata import become
from rushlight.ops.memory.storage import address
from rushlight.ops.table import direct
from rushlight.ops.table.direct import direct_form, notes_of_parts
from rushlight.ops.table.listed import by_elements
from rushlight.ops.table.table import TABLE

module = family("calls.prepared")
pytestmark = pytest.mark.skipif(
    module is None or module.CREW is None, reason="there is no native code here"
)
F = torch.nn.functional


def known_calls(function):
    """The function as native code knows it, and how often the function itself was called."""
    calls = []

    def counted(*values):
        calls.append(values)
        return function(*values)

    return module.prepared(counted), calls


def random(*shape, dtype=np.float32, seed=1):
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def test_a_call_like_an_earlier_one_is_done_natively():
    known, calls = known_calls(family("rows.rows").softmax)
    for seed, expected in ((1, 1), (2, 1), (3, 1)):
        x = random(20, 500, seed=seed)
        assert known(x).tobytes() == family("rows.rows").softmax(x).tobytes()
        assert len(calls) == expected


def test_large_results_are_learned_when_they_come_again():
    known, calls = known_calls(family("rows.rows").softmax)
    for rows, expected in ((40, 1), (41, 2), (40, 3), (40, 3), (41, 4), (41, 4), (42, 5)):
        x = random(rows, 500, seed=rows)
        assert known(x).tobytes() == family("rows.rows").softmax(x).tobytes()
        assert len(calls) == expected, rows


def test_what_a_call_keeps_for_later_ones_is_left_as_it_is():
    kept = []

    def increased(x):
        if not kept:
            kept.append(family("elementwise.arrays").cast(np.full((), 0.3), x.dtype))
            kept[0].flags.writeable = False
        return family("elementwise.arrays").apply("add", (x, kept[0]))

    known, calls = known_calls(increased)
    for seed in range(1, 9):
        x = random(40, seed=seed)
        assert np.array_equal(known(x), x + np.float32(0.3))
        assert kept[0] == np.float32(0.3)
    assert 1 < len(calls) < 8  # the first is not learned from


def test_results_without_elements_are_made_anew():
    def both(x):
        return family("rows.rows").softmax(x), np.zeros(0, np.float32)

    known, calls = known_calls(both)
    for seed in (1, 2, 3):
        x = random(20, 50, seed=seed)
        made, empty = known(x)
        assert made.tobytes() == family("rows.rows").softmax(x).tobytes()
        assert (empty.shape, empty.dtype) == ((0,), np.float32)
        assert empty is not known(x)[1]
    assert len(calls) == 1


def test_a_tensor_that_another_thread_resizes_is_learned_as_it_was(monkeypatch):
    x, other = random(20, 500), random(20, 500, seed=2)
    result_of = family("calls.entries").Entry._result

    def resizing(entry, made):
        become(x, other)
        return result_of(entry, made)

    monkeypatch.setattr(family("calls.entries").Entry, "_result", resizing)
    known, calls = known_calls(family("rows.rows").softmax)
    assert known(x).tobytes() == family("rows.rows").softmax(random(20, 500)).tobytes()
    assert known(x).tobytes() == family("rows.rows").softmax(other).tobytes()
    assert len(calls) == 1


def test_what_is_known_is_nothing_that_python_looks_through_for_garbage():
    known = module.Known(family("rows.rows").softmax, None)
    for rows in (10, 11, 12):
        known.call(random(rows, 50))
    gc.collect()
    assert known.count == len(known._kept) == 3
    assert not any(map(gc.is_tracked, known._kept))


class Stop(BaseException):
    """What an interrupt raises."""


def stopped_at(line, function, *values):
    """Call, with an interrupt before that line of what remembers calls; whether it came to it."""
    seen = 0

    def local(frame, event, _):
        nonlocal seen
        # no signal comes between a block and the end of its lock
        text = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
        seen += event == "line" and not text.lstrip().startswith("with ")
        if seen == line:
            raise Stop
        return local

    code = module.Known._add.__code__
    sys.settrace(lambda frame, event, _: local if frame.f_code is code else None)
    try:
        function(*values)
    except Stop:
        pass
    finally:
        sys.settrace(None)
    return seen >= line


def test_an_interrupt_while_a_call_is_remembered_leaves_those_before():
    softmax, line = family("rows.rows").softmax, 0
    known, _ = known_calls(softmax)
    for rows in range(1, 200):
        line += 1
        if not stopped_at(line, known, random(rows, 500)):
            line = 0
        for other in (rows, 1, 200):  # which look at all that is known
            x = random(other, 500)
            assert known(x).tobytes() == softmax(x).tobytes()


def test_threads_remember_calls_at_once():
    softmax = family("rows.rows").softmax
    known, _ = known_calls(softmax)

    def work(thread):
        for rows in range(1, 40):
            x = random(rows, 100 + thread)
            assert known(x).tobytes() == softmax(x).tobytes()

    switching = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(work, range(8)))
    finally:
        sys.setswitchinterval(switching)


def test_a_tensor_that_is_another_after_the_call_is_not_learned():
    def changing(x):
        made = family("rows.rows").softmax(x)
        become(x, random(5, 7))
        return made

    known, calls = known_calls(changing)
    for seed in (1, 2):
        expected = family("rows.rows").softmax(random(20, 500, seed=seed))
        assert known(random(20, 500, seed=seed)).tobytes() == expected.tobytes()
    assert len(calls) == 2


@pytest.mark.parametrize(
    "other",
    [
        random(20, 501),
        random(21, 500),
        random(1, 20, 500),
        random(500, 20).T,
        random(20, 1000)[:, ::2],
        random(20, 500, dtype=np.float64),
        random(20, 500).view(np.recarray),
        [1.0],
    ],
    ids=["columns", "rows", "rank", "turned", "stepped", "dtype", "class", "list"],
)
def test_other_arguments_are_the_functions_own(other):
    def softmax(x):
        return family("rows.rows").softmax(np.ascontiguousarray(x, np.float32).reshape(1, -1))

    known, calls = known_calls(softmax)
    for x in (random(20, 500), random(20, 500), other):
        known(x)
    assert len(calls) == 2


def test_a_part_of_an_operand_is_not_taken_for_another_operand():
    def second(x, y):
        return family("rows.rows").softmax(x[1:])

    known, _ = known_calls(second)
    x = random(21, 500)
    for y in (x[1:], x[1:]):
        known(x, y)
    other = random(20, 500, seed=2)
    assert known(x, other).tobytes() == second(x, other).tobytes()


def test_parts_beside_each_other_are_told_apart():
    def product(x, y):
        return family("rows.rows").softmax(x)

    known, calls = known_calls(product)
    for seed in range(3):
        both = random(20, 1000, seed=seed)
        x, y = both[:, :500], both[:, 500:]
        assert known(x, y).tobytes() == product(x, y).tobytes()
    assert len(calls) < 3


def test_numbers_belong_to_what_is_known():
    rows, x, w = family("rows.rows"), random(20, 500), random(500)
    known, calls = known_calls(rows.layer_norm)
    for eps in (1e-5, 0.5, 1e-5):
        for _ in range(2):
            made, wanted = known(x, w, w.copy(), eps), rows.layer_norm(x, w, w.copy(), eps)
            assert [each.tobytes() for each in made] == [each.tobytes() for each in wanted]
    assert len(calls) == 2


def test_one_array_given_twice_is_not_two_arrays():
    rows, x, w = family("rows.rows"), random(20, 500), random(500)
    known, _ = known_calls(rows.layer_norm)
    for weight, bias in ((w, w), (w, random(500, seed=7)), (w, w), (w, w[:])):
        made, wanted = known(x, weight, bias, 1e-5), rows.layer_norm(x, weight, bias, 1e-5)
        assert made[0].tobytes() == wanted[0].tobytes()


def test_what_is_computed_besides_is_noticed():
    rows = family("rows.rows")
    known, calls = known_calls(lambda x: rows.softmax(x * 2))
    for seed in range(1, 4):
        x = random(20, 500, seed=seed)
        assert known(x).tobytes() == rows.softmax(x * 2).tobytes()
    assert len(calls) == 3
    known, _ = known_calls(lambda x: rows.softmax(x)[:, 1:])
    assert [known(x).shape for _ in range(3)] == [(20, 499)] * 3


def _places(*shape):
    return np.zeros(shape, np.int64)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int64])
@pytest.mark.parametrize(
    ("name", "arguments", "shape", "neutral", "wanted"),
    [
        ("scatter_add", lambda s: (0, _places(), s), (), 0, 9),
        ("scatter_add", lambda s: (1, _places(2, 1), s), (2, 1), 0, 9),
        ("scatter.src", lambda s: (0, _places(), s), (), 3, 6),
        ("scatter_reduce.two", lambda s: (0, _places(), s, "sum", True), (), 0, 9),
        ("scatter_reduce.two", lambda s: (0, _places(1), s, "prod", True), (1,), 1, 18),
        ("index_add", lambda s: (0, _places(1), s, 1), (), 0, 9),
        ("index_copy", lambda s: (0, _places(1), s), (), 3, 6),
        ("index_put", lambda s: ([_places(1, 1)], s.reshape(1, 1), True), (1,), 0, 9),
    ],
)
def test_what_changed_nothing_is_not_left_out_of_later_calls(
    name, arguments, shape, neutral, wanted, dtype
):
    """Calls that begin with a copy, to which NumPy does at first what cannot be seen."""
    known, _ = known_calls(TABLE.operator(f"aten::{name}").forward)
    self = np.full(shape, 3, dtype)
    for value, expected in ((neutral, 3), (neutral, 3), (6, wanted)):
        made = known(self, *arguments(np.full(shape, value, dtype)))
        assert (made == expected).all()


def test_an_index_outside_is_refused_after_good_ones():
    table, ids = torch.randn(100, 64), torch.randint(0, 100, (400,))
    for _ in range(4):
        assert torch.equal(F.embedding(ids, table), table[ids])
    ids[7] = 100
    with pytest.raises(IndexError, match="index out of range in self"):
        F.embedding(ids, table)


def test_sizes_that_change_all_the_time_are_right():
    known, _ = known_calls(family("rows.rows").softmax)
    for rows in range(1, 300):
        x = random(rows, 40, seed=rows)
        assert known(x).tobytes() == family("rows.rows").softmax(x).tobytes()


def test_sizes_that_come_again_are_known_up_to_many():
    known, calls = known_calls(lambda x, y: family("elementwise.arrays").apply("add", (x, y)))
    pairs = [(random(n, m), random(n, m, seed=2)) for n in range(1, 13) for m in (1, 4, 7)]
    for _ in range(60):
        for x, y in pairs:
            assert np.array_equal(known(x, y), x + y)
    before = len(calls)
    for x, y in pairs * 3:
        assert np.array_equal(known(x, y), x + y)
    assert len(calls) == before


def test_sizes_that_never_come_again_are_not_learned():
    ended = []
    add = family("elementwise.arrays").apply
    known = module.Known(lambda x: add("add", (x, x)), None, lambda: ended.append(1))
    for n in range(1, 1600):
        assert known.call(np.ones(n, np.float32))[-1] == 2
    assert (known.count, ended) == (paces.FIRST, [1])


def test_what_all_functions_learn_is_bounded(monkeypatch):
    monkeypatch.setattr(paces, "_LEARNED", itertools.count())
    monkeypatch.setattr(paces, "_MOST_IN_ALL", 3)
    known, calls = known_calls(lambda x: family("elementwise.arrays").apply("add", (x, x)))
    for n in [*range(1, 100)] * 5:
        assert known(np.ones(n, np.float32))[-1] == 2
    before = len(calls)
    for n in range(1, 100):
        known(np.ones(n, np.float32))
    assert len(calls) - before == 99 - paces.FIRST - 4


def test_results_and_dtypes_are_counted_once():
    known, _ = known_calls(family("rows.rows").layer_norm)
    x, w = random(20, 500), np.ones(500, np.float32)
    bias = w.copy()
    known(x, w, bias, 1e-5)
    counts = [sys.getrefcount(each) for each in (x, w, x.dtype, None, 1e-5)]
    for _ in range(20_000):
        made = known(x, w, bias, 1e-5)
    fresh = tuple(np.ones(size) for size in range(1, 4))
    assert [sys.getrefcount(each) for each in made] == [sys.getrefcount(each) for each in fresh]
    now = [sys.getrefcount(each) for each in (x, w, x.dtype, None, 1e-5)]
    assert all(abs(a - b) < 10_000 for a, b in zip(counts, now, strict=True))


@pytest.mark.parametrize("size", [30, 3000])
def test_many_threads_may_call_at_once(size):
    known, _ = known_calls(family("rows.rows").softmax)
    inputs = [random(size, 20 + i, seed=i) for i in range(12)]
    wanted = [family("rows.rows").softmax(x).tobytes() for x in inputs]

    def work(_):
        return all(known(x).tobytes() == y for x, y in zip(inputs, wanted, strict=True))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(12)))


OPERANDS = {
    "float": (random(6, 50), random(6, 50, seed=2)),
    "row": (random(6, 50), random(50, seed=2)),
    "turned": (random(50, 6).T, random(6, 50, seed=2)),
    "number": (random(6, 50), 1.5),
    "whole number": (random(6, 50), 3),
    "whole": (random(6, 50).astype(np.int64), random(6, 50, seed=2).astype(np.int64)),
    "mixed": (random(6, 50).astype(np.int64), random(6, 50, seed=2)),
    "not a number": (np.full((6, 50), np.nan, np.float32), np.full((6, 50), -0.0, np.float32)),
}


@pytest.mark.parametrize("operands", OPERANDS.values(), ids=OPERANDS)
@pytest.mark.parametrize("name", ["add", "sub", "mul", "gt"])
def test_direct_forms_are_the_forwards(monkeypatch, name, operands):
    monkeypatch.setattr("rushlight.ops.table.direct.is_there", lambda *_: True)
    a, b = operands
    overload = "Tensor" if isinstance(b, np.ndarray) else "Scalar"
    entry = next(e for e in TABLE.operators(f"aten::{name}") if e.overload == overload)
    given = (a, b, 1) if name in ("add", "sub") else (a, b)
    wanted = entry.forward(*given)
    for _ in range(2):
        made = direct_form(entry)(*given)
        assert (made.dtype, made.shape, made.strides) == (
            wanted.dtype,
            wanted.shape,
            wanted.strides,
        )
        assert made.tobytes() == wanted.tobytes()


def test_numbers_may_change_from_call_to_call():
    x = torch.randn(8, 30)
    for number in [*range(100), *(i / 8 for i in range(100))]:
        assert torch.equal(x * number, x * torch.full_like(x, number))


@pytest.mark.parametrize(
    "compute",
    [
        lambda x: x / 2,
        lambda x: x + 1.5,
        lambda x: x * torch.tensor(0.1, dtype=torch.float64),
        lambda x: x > 16777216.5,
        torch.sigmoid,
    ],
    ids=["quotient", "number", "scalar", "comparison", "function"],
)
def test_the_default_dtype_is_no_part_of_what_is_known(monkeypatch, compute):
    monkeypatch.setattr("rushlight.ops.table.direct.is_there", lambda *_: True)
    x = torch.arange(16777210, 16777225)
    for _ in range(120):
        compute(x)
    torch.set_default_dtype(torch.float64)
    try:
        made, fresh = compute(x), compute(x.reshape(3, 5).clone()).reshape(-1)
    finally:
        torch.set_default_dtype(torch.float32)
    assert made.dtype is fresh.dtype
    assert torch.equal(made, fresh)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_child_of_a_fork_amid_learning_knows_calls_as_before():
    known, calls = known_calls(family("rows.rows").softmax)
    x = random(20, 500)
    known(x)
    with module.CREW.told(lambda *_: None):
        child = os.fork()
        if not child:
            known(x)
            os._exit(len(calls))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1


def known_sums():
    """`scatter_add_` of 1-d tensors as native code knows it, learned from one call."""
    entry = next(e for e in TABLE.operators("aten::scatter_add_"))
    calls = []

    def counted(*values):
        calls.append(values)
        return entry.forward(*values)

    known = module.prepared(counted, writes=True)
    index, source = np.arange(3000) % 1000, random(3000)
    known(np.zeros(1000, np.float32), 0, index, source)
    return known, calls, index, source


def test_an_argument_that_is_written_is_given_back():
    known, calls, index, source = known_sums()
    wanted = np.ones(1000, np.float32)
    np.add.at(wanted, index, source)
    target = np.ones(1000, np.float32)
    assert known(target, 0, index, source) is target
    assert target.tobytes() == wanted.tobytes()
    assert len(calls) == 1


def test_what_must_not_be_written_is_refused_by_the_function():
    known, calls, index, source = known_sums()
    memory = np.zeros(5000, np.float32)
    with pytest.raises(Exception, match="refer to a single memory location"):
        known(memory[:1000], 0, index, memory[999:3999])
    known(memory[:1000], 0, index, memory[1000:4000])
    assert len(calls) == 2
    memory.flags.writeable = False
    with pytest.raises(RuntimeError, match="output array is read-only"):
        known(memory[:1000], 0, index, source)
    assert len(calls) == 3


def test_nothing_is_written_if_a_place_is_missing():
    known, _, index, source = known_sums()
    index[2999] = 1000
    target = np.zeros(1000, np.float32)
    with pytest.raises(RuntimeError, match="index 1000 is out of bounds"):
        known(target, 0, index, source)
    assert not target.any()


@pytest.mark.parametrize("rows", [1, 2, 40])
def test_products_of_all_calls_have_the_same_bits(rows):
    unit = torch.jit.CompilationUnit(
        "def layer(x: Tensor, w: Tensor, b: Tensor) -> Tensor:\n"
        "    return torch.relu(torch.nn.functional.linear(x, w, b)) @ w\n"
    )
    given = [torch.from_numpy(random(*sizes)) for sizes in ((rows, 30), (50, 30), (50,))]
    wanted = torch.relu(F.linear(*given)) @ given[1]
    with torch.no_grad():
        found = {unit.layer(*given).numpy().tobytes() for _ in range(100)}
    assert found == {wanted.numpy().tobytes()}


@pytest.mark.parametrize("value", [0.0, float("nan")])
def test_a_copy_made_on_the_way_is_noticed(value):
    repeated = torch.full((2, 1, 1), value).expand(3, 2, 1, 1)
    for _ in range(3):
        torch.sigmoid(repeated)
        assert torch.sigmoid(torch.ones(2, 1, 1).expand(3, 2, 1, 1)).ravel()[0] > 0.7
    held = [torch.sigmoid(repeated) for _ in range(4)]
    assert all(each.equal(held[0]) or value != value for each in held)


def test_a_copy_that_only_places_are_told_of_is_noticed():
    """The place of the largest element is 0 of any copy whose bytes are all the same."""
    extreme = family("ordering.ranks").extreme
    known, calls = known_calls(lambda x: extreme(x.T.reshape(-1), 0, "max")[1])
    for seed in range(4):
        x = random(5, 7, seed=seed)
        x[0, 0] = 9.0
        assert known(x).item() == 0
        assert len(calls) == seed + 1


def lying(layout, *shape):
    """Numbers that lie in some way."""
    if layout == "gaps":
        return random(*(2 * size for size in shape))[tuple(slice(1, None, 2) for _ in shape)]
    if layout == "part":
        return random(*(size + 1 for size in shape))[tuple(slice(size) for size in shape)]
    return random(*shape[::-1]).T if layout == "turned" else random(*shape)


def seen_natively(monkeypatch, name, given, other):
    """Whether a second call, on other numbers that lie alike, is done without the forward."""
    monkeypatch.setattr("rushlight.ops.table.direct.is_there", lambda *_: True)
    entry, calls = TABLE.operator(f"aten::{name}"), []

    def counted(*values):
        calls.append(values)
        return by_elements(entry)(*values)

    known = direct.known_calls(counted, bool, direct._explain(entry), writes=entry.is_in_place)
    known.call(*given)
    copied = [np.copy(each, "K") if type(each) is np.ndarray else each for each in other]
    wanted = by_elements(entry)(*copied)
    made = known.call(*other)
    pairs = zip(made, wanted, strict=True) if type(made) is tuple else [(made, wanted)]
    for one, its in pairs:
        assert one.dtype == its.dtype
        assert one.shape == its.shape
        assert np.ascontiguousarray(one).tobytes() == np.ascontiguousarray(its).tobytes()
    return len(calls) == 1


MOVES = [
    ("flip", [1]),
    ("flip", [0, -1]),
    ("fliplr",),
    ("flipud",),
    *(("rot90", turns, [-1, 0]) for turns in (1, 2, -1)),
    ("roll", [2, -1], [0, 1]),
    ("roll", [5], []),
    ("repeat", [2, 1, 3]),
    ("tile", [3]),
    ("repeat_interleave.self_int", 3, 1, None),
    ("tril", 2),
    ("triu", -3),
    ("clone", None),
    ("constant_pad_nd", [1, 2, 0, 3], 0.5),
    ("diff", 1, -1, None, None),
    ("add.Tensor", random(20, 18, seed=5), 0.5),
    ("full_like", 2.5, None, None, None, None, None),
]


@pytest.mark.parametrize("layout", ["whole", "part", "gaps", "turned"])
@pytest.mark.parametrize(("name", "rest"), [(each[0], each[1:]) for each in MOVES])
def test_what_moves_elements_is_known_by_its_parts(monkeypatch, name, rest, layout):
    x, y = (lying(layout, 20, 18) for _ in range(2))
    y[...] = random(20, 18, seed=9)
    is_known = seen_natively(monkeypatch, name, (x, *rest), (y, *rest))
    assert is_known or name == "roll"  # which does not roll the whole of what has gaps


IMAGES = [
    ("avg_pool2d", [2, 2], [2, 2], [0], False, True, None),
    ("avg_pool2d", [3, 2], [2], [0, 0], False, False, 5),
    ("max_pool2d", [2, 2], [], [0, 0], [1, 1], False),
    ("max_pool2d_with_indices", [3, 3], [2, 2], [1, 1], [1, 1], True),
    ("im2col", [3, 2], [1, 2], [0, 0], [2, 1]),
    ("instance_norm", None, None, None, None, True, 0.1, 1e-5, True),
    ("upsample_bilinear2d.vec", None, False, [2.0, 1.5]),
    ("aminmax", 1, True),
    ("nan_to_num", 1.0, None, None),
    ("nansum", [1], False, None),
]


@pytest.mark.parametrize(("name", "rest"), [(each[0], each[1:]) for each in IMAGES])
def test_what_windows_see_is_known(monkeypatch, name, rest):
    x, y = random(2, 3, 9, 8), random(2, 3, 9, 8, seed=5)
    assert seen_natively(monkeypatch, name, (x, *rest), (y, *rest))


def test_columns_side_by_side_and_products_across_are_known(monkeypatch):
    x, y = random(2, 12, 6), random(2, 12, 6, seed=5)
    settings = [[4, 6], [2, 2], [1, 1], [0, 0], [2, 2]]
    assert seen_natively(monkeypatch, "col2im", (x, *settings), (y, *settings))
    monkeypatch.undo()
    x, y, z = (random(2, 3, 6, seed=seed) for seed in (1, 2, 3))
    assert seen_natively(monkeypatch, "linalg_cross", (x, y, 1), (z, x, 1))


def test_statistics_are_kept_however_often_a_norm_is_called():
    x, mean, variance = torch.from_numpy(random(2, 3, 9, 8)) + 1, torch.zeros(3), torch.ones(3)
    for _ in range(80):
        before = mean.clone()
        F.instance_norm(x, mean, variance)
        assert (mean > before).all()


@pytest.mark.parametrize("is_first", [True, False])
def test_operands_that_begin_at_one_place_are_told_apart(monkeypatch, is_first):
    boxes, others = random(30, 4), random(30, 4, seed=5)
    pairs = [
        (a[:, None, :2], b[None, :, :2])
        for a, b in ((boxes, boxes), (boxes, others) if is_first else (others, boxes))
    ]
    assert seen_natively(monkeypatch, "maximum", *pairs)


def test_other_floats_in_a_list_are_another_call():
    x = torch.from_numpy(random(1, 2, 5, 5))
    wanted = [F.interpolate(x, scale_factor=[by, 2.0], mode="bilinear") for by in (2.0, 3.0)]
    for _ in range(60):
        for by, one in zip((2.0, 3.0), wanted, strict=True):
            assert torch.equal(F.interpolate(x, scale_factor=[by, 2.0], mode="bilinear"), one)


@pytest.mark.parametrize("layout", ["whole", "part", "gaps"])
@pytest.mark.parametrize("name", ["cat", "stack"])
def test_lists_of_tensors_are_known_by_their_elements(monkeypatch, name, layout):
    for dim in (0, 1, -1):
        x, y = (lying(layout, 20, 18) for _ in range(2))
        assert seen_natively(monkeypatch, name, (dim, x, y), (dim, y, x))


@pytest.mark.parametrize("layout", ["whole", "part", "gaps"])
@pytest.mark.parametrize(
    ("name", "rest"),
    [
        ("add_.Tensor", (random(20, 18, seed=5), 1)),
        ("mul_.Scalar", (2.5,)),
        ("lt_.Tensor", (random(18, seed=5),)),
        ("copy_", (random(20, 18, seed=5).astype(np.float64), False)),
        ("fill_.Scalar", (7,)),
        ("addcmul_", (random(20, 18, seed=5), random(20, 1, seed=6), 0.5)),
    ],
)
def test_what_is_written_may_lie_anywhere(monkeypatch, name, rest, layout):
    x, y = (lying(layout, 20, 18) for _ in range(2))
    y[...] = random(20, 18, seed=9)
    assert seen_natively(monkeypatch, name, (x, *rest), (y, *rest))


def test_a_place_that_views_and_copies_in_turn_knows_the_copies():
    unit = torch.jit.CompilationUnit(
        "def turned(x: Tensor) -> Tensor:\n"
        "    return x.reshape(20, 4, 50).transpose(1, 2).reshape(20, 200)\n"
    )
    x = torch.from_numpy(random(20, 200))
    wanted = x.numpy().reshape(20, 4, 50).transpose(0, 2, 1).reshape(20, 200)
    assert all(np.array_equal(unit.turned(x).numpy(), wanted) for _ in range(120))


def test_what_is_not_computed_in_its_own_dtype_is_not_known():
    entry, x = TABLE.operator("aten::mul_.Tensor"), random(20, 18)
    wide = random(20, 18, seed=2).astype(np.float64)
    assert direct._explain(entry)((x, wide), x) is None


def test_gaps_of_what_is_written_are_left_alone():
    x = torch.zeros(40, 36)
    for _ in range(120):
        x[:, ::2].add_(1.0)
        x[1::2, 1::2].fill_(3.0)
    assert x[:, ::2].eq(120).all()
    assert not x[::2, 1::2].any()


def test_parts_of_one_array_are_operands_of_what_is_said():
    """Neighbours are subtracted natively, wherever they lie to each other."""
    entry = TABLE.operator("aten::sub.Tensor")
    known = direct.direct_calls(entry, lambda: None)
    x = random(60, 700)
    until = time.monotonic() + 60
    while not known._known[0]:  # the kernel may have to be compiled
        assert time.monotonic() < until
        known.call(x[:, 1:54], x[:, :53], 1)
    for apart in (1, 2, 7):
        for _ in range(4):
            later, sooner = x[:, apart : 53 + apart], x[:, :53]
            assert known.call(later, sooner, 1).tobytes() == (later - sooner).tobytes()
            assert known.call(sooner, later, 1).tobytes() == (sooner - later).tobytes()
    assert known._known[0] == 1  # one call is all that was learned


def test_parts_of_one_array_are_told_apart_on_copies():
    known, calls = known_calls(lambda *given: family("elementwise.arrays").apply("subtract", given))
    x, other = random(60, 700), random(60, 700, seed=2)
    for y in (x, x, x, other, x):
        made = known(x[:, 1:], y[:, :-1])
        assert made.tobytes() == (x[:, 1:] - y[:, :-1]).tobytes()
    assert len(calls) < 3


def test_a_product_with_what_is_turned_around_has_the_same_bits():
    matrix = torch.from_numpy(random(24, 24))
    made = {(matrix @ matrix.t()).numpy().tobytes() for _ in range(200)}
    assert made == {(matrix @ matrix.t().clone()).numpy().tobytes()}


def test_parts_of_operands_are_given_as_they_are():
    known, _ = known_calls(lambda x, y: x[1:])
    x = random(30)
    for _ in range(3):
        assert np.shares_memory(known(x, x[2:]), x)


def test_what_runs_nothing_is_known_only_where_it_gives_parts() -> None:
    def same(x: np.ndarray) -> np.ndarray:
        calls.append(x)
        return x if len(x) == 3 else x[1:]

    calls: list[np.ndarray] = []
    plain = module.Known(same, None)
    parts = module.Known(same, None, gives_parts=True)
    for size in (3, 4):
        x = random(size)
        for _ in range(40):
            assert plain.call(x).tobytes() == same(x).tobytes()
        assert plain.count == 0
        before = parts.count
        for _ in range(40):
            found = parts.call(x)
            assert found is x if size == 3 else found.base is x
            assert found.tobytes() == same(x).tobytes()
        assert parts.count == before + 1


def test_what_is_written_without_kernels_is_not_known() -> None:
    def zeroed(x: np.ndarray) -> np.ndarray:
        x.fill(0)
        return x

    known = module.Known(zeroed, None, writes=True)
    x = np.zeros(4, np.float32)
    for _ in range(20):
        known.call(x)
    x[...] = 7
    assert known.call(x) is x
    assert not x.any()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_means_of_rows_at_places_are_learned(dtype):
    known, calls = known_calls(TABLE.operator("aten::scatter_reduce.two").forward)
    rng = np.random.default_rng(3)
    for seed in range(9):
        x, places = random(40, 3, dtype=dtype, seed=seed), rng.integers(0, 7, 40)
        index = np.broadcast_to(places[:, None], x.shape)
        made = known(np.ones((7, 3), dtype), 0, index, x, "mean", True)
        for place in range(7):
            rows = np.concatenate([np.ones((1, 3), dtype), x[places == place]])
            np.testing.assert_allclose(made[place], rows.mean(0), rtol=1e-5)
    assert len(calls) == 1


def test_variances_are_learned_where_there_is_freedom():
    known, calls = known_calls(TABLE.operator("aten::var.correction").forward)
    for seed in range(5):
        x = random(6, 40, seed=seed)
        for correction in (None, 0, 3):
            made = known(x, [1], correction, False)
            expected = x.var(1, dtype=np.float64, ddof=1 if correction is None else correction)
            np.testing.assert_allclose(made, expected, rtol=1e-6)
    assert len(calls) == 3
    for _ in range(3):
        with pytest.warns(UserWarning, match="degrees of freedom"):
            torch.randn(6, 1).var(1)


def test_new_tensors_are_known_by_their_numbers():
    for _ in range(120):
        assert torch.linspace(0, 1, 5).tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
        assert torch.eye(2, 3).tolist() == [[1, 0, 0], [0, 1, 0]]
        assert torch.full((2,), 3).tolist() == [3, 3]
        torch.linspace(0, 1, 5).fill_(7)
        torch.zeros(3).add_(1)
        assert torch.zeros(3).tolist() == [0, 0, 0]
    torch.set_default_dtype(torch.float64)
    try:
        assert torch.zeros(3).dtype == torch.eye(2, 3).dtype == torch.float64
    finally:
        torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("pad", [[1, 2], [0, 3, 1, 0]])
def test_padding_with_a_number_is_learned(pad):
    known, calls = known_calls(TABLE.operator("aten::pad").forward)
    for seed in range(4):
        x = random(3, 5, seed=seed)
        pairs = [(0, 0), *zip(pad[::2], pad[1::2], strict=True)][-2:]
        if len(pad) == 4:
            pairs = pairs[::-1]
        expected = np.pad(x, pairs, constant_values=np.float32(2.5))
        values = x, pad, 2.5  # whose kernels are compiled before they are learned
        border = TABLE.operator("aten::constant_pad_nd")
        assert notes_of_parts(border, values, expected, at_any_cost=True)
        assert known(x, pad, "constant", 2.5).tobytes() == expected.tobytes()
    assert len(calls) == 1


def test_whether_any_or_all_elements_hold_is_learned() -> None:
    random = np.random.default_rng(9)
    for dtype in (np.float32, np.int64, np.bool_):
        for _ in range(150):
            x = random.choice([0, 0, 1, 2], (3, 5)).astype(dtype)
            if dtype is np.float32:
                x[1, 2] = random.choice([np.nan, -0.0])
            for axis in (None, 0, 1):
                given = () if axis is None else (axis,)
                made = torch.any(torch.from_numpy(x), *given)
                assert np.array_equal(made.numpy(), x.any(axis))
                made = torch.all(torch.from_numpy(x).t(), *given)
                assert np.array_equal(made.numpy(), x.T.all(axis))


def test_products_and_shuffles_are_learned_for_any_elements() -> None:
    random = np.random.default_rng(10)
    for _ in range(150):
        a, b = random.integers(-4, 5, (2, 3, 4)).astype(np.float32)
        x, y = torch.from_numpy(a), torch.from_numpy(b)
        assert np.array_equal(torch.kron(x, y).numpy(), np.kron(a, b))
        assert np.array_equal(torch.inner(x, y).numpy(), a @ b.T)
        assert np.array_equal(torch.addmv(x[:, 0], y, x[1]).numpy(), a[:, 0] + b @ a[1])
        lines = torch.nn.functional.max_pool1d(x, 2).numpy()
        assert np.array_equal(lines, a.reshape(3, 2, 2).max(-1))
        squares = torch.nn.functional.pixel_unshuffle(x.view(1, 3, 2, 2), 2).numpy()
        assert np.array_equal(squares, a.reshape(1, 12, 1, 1))
        rows = torch.stack([torch.trace(x), *torch.diag(y)]).numpy()
        assert np.array_equal(rows, [a.trace(), *b.diagonal()])


def test_functions_of_elements_made_of_exact_steps_are_learned() -> None:
    random = np.random.default_rng(11)
    for _ in range(150):
        a = random.choice([np.nan, -0.0, 0.0, -1.25, 2.375, 3.0], (4, 5)).astype(np.float32)
        x, few = torch.from_numpy(a), random.choice(a.reshape(-1), 3)
        at_zero = np.where(a == 0, few[0], (a > 0).astype(np.float32))
        made = torch.heaviside(x, torch.from_numpy(few[:1]))
        assert np.array_equal(made.numpy(), at_zero, equal_nan=True)
        angles = np.where(np.isnan(a), a, np.where(a < 0, np.float32(np.pi), np.float32(0)))
        assert np.array_equal(torch.angle(x).numpy(), angles, equal_nan=True)
        tens = np.rint(a * np.float32(10)) / np.float32(10)
        assert np.array_equal(torch.round(x, decimals=1).numpy(), tens, equal_nan=True)
        for invert in (False, True):
            made = torch.isin(x, torch.from_numpy(few), invert=invert)
            assert np.array_equal(made.numpy(), np.isin(a, few, invert=invert))
        low, high = np.sort(random.integers(-3, 4, (2, 4, 5)), 0).astype(np.float32)
        made = torch.clamp(x, torch.from_numpy(low), torch.from_numpy(high))
        assert np.array_equal(made.numpy(), np.clip(a, low, high), equal_nan=True)
        assert torch.equal(made, made.clone()) is not np.isnan(a).any().item()
        made = torch.addr(x, x[:, 0], x[0])
        assert np.array_equal(made.numpy(), a + np.outer(a[:, 0], a[0]), equal_nan=True)


def test_a_call_that_cannot_be_learned_makes_few_others_wait():
    softmax = family("rows.rows").softmax
    known, calls = known_calls(lambda x: softmax(x) if x.shape[1] > 8 else x + x)
    for seed in range(200):
        known(random(4, 5, seed=seed))
    assert len(calls) == 200
    at_once = 0
    for rows in range(10, 16):
        calls.clear()
        for seed in range(3):
            x = random(rows, 50, seed=seed)
            assert known(x).tobytes() == softmax(x).tobytes()
        at_once += len(calls) == 1
    assert at_once > 1  # others may be of the slot of the first


def test_calls_of_a_slot_wait_for_each_other():
    state, found = module.new_state(), []
    waits = module.Waits(state, is_one=False)
    does, learns = id, lambda x: found.append(waits.slot)
    call = module.CREW.prepared(address(state), does, learns)
    slots = dict[int, int]()
    for size in range(1, 400):
        call(random(size))
        slots[size] = found.pop()
    assert len({*slots.values()}) > 50
    other = next(size for size in slots if slots[size] != slots[7])
    waits.wait(slots[7], 2)
    for size in (7, 7, other, 7):
        call(random(size))
    assert found == [slots[other], slots[7]]


def middle(x, dim):
    order = np.sort(x, dim)
    return np.take(order, (x.shape[dim] - 1) // 2, dim)


def of_name(name):
    return [each for entry, each in direct._NATIVE.items() if entry.name == f"aten::{name}"]


LEARNED = {
    "complex": (lambda x: torch.complex(x, x.flip(0)), lambda a: a + 1j * a[::-1]),
    "fft_fftshift": (torch.fft.fftshift, np.fft.fftshift),
    "fft_ifftshift": (lambda x: torch.fft.ifftshift(x, 1), lambda a: np.fft.ifftshift(a, 1)),
    "select_scatter": (
        lambda x: x.select_scatter(x[0], 0, 2),
        lambda a: np.concatenate([a[:2], a[:1], a[3:]]),
    ),
    "slice_scatter": (
        lambda x: x.slice_scatter(x[1:3], 0, 0, 3, 2),
        lambda a: np.stack([a[1], a[1], a[2], *a[3:]]),
    ),
    "diagonal_scatter": (
        lambda x: x.diagonal_scatter(x[:, 0]),
        lambda a: np.where(np.eye(*a.shape), a[:, :1], a),
    ),
    "median": (lambda x: x.median(1).values, lambda a: middle(a, 1)),
    "kthvalue": (lambda x: x.kthvalue(2, 0).values, lambda a: np.sort(a, 0)[1]),
    "tril_indices": (
        lambda x: torch.tril_indices(3, 2),
        lambda a: np.array(np.tril_indices(3, 0, 2)),
    ),
    "fft_fftfreq": (lambda x: torch.fft.fftfreq(6), lambda a: np.fft.fftfreq(6).astype(np.float32)),
    "logspace": (lambda x: torch.logspace(0, 3, 4), lambda a: np.float32([1, 10, 100, 1000])),
}


@pytest.mark.parametrize("name", LEARNED)
def test_operators_that_move_or_order_few_elements_are_learned(name):
    function, wanted = LEARNED[name]
    for each in of_name(name):  # whatever came before
        each.forget()
        each.waits.wait_all(0)
    for seed in range(3 * TRIALS):
        x = random(5, 7, seed=seed)
        found = function(torch.from_numpy(x)).numpy()
        assert np.array_equal(found, wanted(x), equal_nan=True)
    x[1] = np.nan
    assert np.array_equal(function(torch.from_numpy(x)).numpy(), wanted(x), equal_nan=True)
    until = time.monotonic() + 60
    while not sum(each.count for each in of_name(name)):  # a kernel may have to be compiled
        assert time.monotonic() < until
        assert np.array_equal(function(torch.from_numpy(x)).numpy(), wanted(x), equal_nan=True)


@pytest.mark.parametrize("mode", [0, 1])
def test_bags_are_learned(mode):
    known, calls = known_calls(TABLE.operator("aten::embedding_bag").forward)
    rng, table = np.random.default_rng(5), random(9, 20)
    for _ in range(6):
        index, starts = rng.integers(0, 9, 12), np.array([0, *rng.integers(1, 11, 1), 11])
        made, *_ = known(table, index, starts, False, mode, False, None, False)
        for row, bag in zip(made, np.split(table[index], starts[1:]), strict=True):
            expected = bag.mean(0) if mode else bag.sum(0)
            np.testing.assert_allclose(row, expected, rtol=1e-5, atol=1e-6)
    assert len(calls) == 1
    index[3] = 9
    with pytest.raises(OperatorError, match="Index 3 of input takes value 9"):
        known(table, index, starts, False, mode, False, None, False)


@pytest.mark.parametrize(
    ("shape", "index", "axis"),
    [((32, 32), (2, 4), 0), ((32, 32), (4, 2), 1), ((3, 6, 5), (2, 3, 4), 1), ((40, 9), (7, 3), 0)],
)
def test_places_of_a_part_are_learned(shape, index, axis):
    x = random(*shape)
    places = np.random.default_rng(1).integers(0, shape[axis], index)
    known, calls = known_calls(TABLE.operator("aten::gather").forward)
    part = x[tuple(slice(None if dim == axis else n) for dim, n in enumerate(index))]
    for _ in range(4):
        made = known(x, axis, places, False)
        assert made.tobytes() == np.take_along_axis(part, places, axis).tobytes()
    assert len(calls) < 4
    with pytest.raises(RuntimeError, match="out of bounds"):
        known(x, axis, places + shape[axis], False)


@pytest.mark.parametrize(("plans", "passed"), [("", TRIALS), ("now", 0)])
def test_nothing_is_learned_of_calls_that_come_a_few_times(
    plans: str, passed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUSHLIGHT_PLAN", plans)
    known = Prepared(lambda x: family("elementwise.arrays").apply("exp2", (x,)))
    few, more = (np.ones(size, np.float32) for size in (3, 5))
    for calls in range(passed + 2):
        known.call(few)
        assert known._known[0].count == int(calls >= passed)
    known.call(more)
    assert known._known[0].count == 1 + (not passed)  # each kind has calls of its own
