"""No argument reaches outside the memory of a tensor."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rushlight as torch
from rushlight.interpreter.bounds import watch
from rushlight.ops.memory import metadata
from rushlight.ops.memory.metadata import become
from rushlight.ops.memory.storage import bounds_of, memory_of, root_of, view_of

ROOT = Path(__file__).parents[2]
M = 2**63 - 1
DTYPES = [
    *(torch.float32, torch.bfloat16, torch.float8_e4m3fn, torch.complex64, torch.bool),
    torch.int64,
]


# --------------------------------------------------------------------------- views


def test_views_of_views_lie_in_the_memory_that_one_array_owns() -> None:
    owner = np.zeros((4, 6), np.float32)
    view = view_of(view_of(owner.T, (3, 2), (4, 4)), (2, 2), (4, 4))
    assert root_of(view) is owner
    assert root_of(view.T[1:]) is owner
    assert root_of(owner) is owner


def test_views_of_memory_are_made_in_one_place() -> None:
    made = re.compile(r"stride_tricks\.as_strided|\bnp\.ndarray\([^)]|[^.]\bndarray\([a-z]")
    parts = "frontend typecheck ops ir interpreter serialization rushlight".split()
    files = [path for part in parts for path in (ROOT / part).rglob("*.py")]
    assert len(files) > 500
    found = [path.name for path in files if made.search(path.read_text("utf-8"))]
    assert found == ["storage.py"]


_MEMORIES = st.sampled_from(["i1", "<f4", "c16", "bfloat16"]).flatmap(
    lambda name: st.tuples(
        st.just(np.dtype(torch.bfloat16.numpy if name == "bfloat16" else name)),
        st.lists(st.integers(0, 4), min_size=1, max_size=3),
        st.sampled_from([1, -1, 2]),
    )
)
_WIDE = st.one_of(st.integers(-40, 40), st.sampled_from([M, -M, 2**62, 2**61, 2**31]))


@given(_MEMORIES, st.lists(st.tuples(_WIDE, _WIDE), max_size=4), _WIDE)
def test_a_view_lies_inside_its_memory_or_is_none(
    memory: Any, dims: list[tuple[int, int]], offset: int
) -> None:
    dtype, shape, step = memory
    array = np.zeros(shape, dtype)[::step]
    sizes, strides = [n for n, _ in dims], [s for _, s in dims]
    try:
        view = view_of(array, sizes, strides, offset)
    except RuntimeError:
        reach = [(n - 1) * s for n, s in dims] if all(n > 0 for n in sizes) else [M]
        low = offset + sum(min(r, 0) for r in reach)
        high = offset + sum(max(r, 0) for r in reach) + dtype.itemsize
        first, last = (end - array.ctypes.data for end in bounds_of(array))
        assert low < first or high > last or prod(sizes) > 2**31 or min(sizes) < 0
        return
    assert view.shape == tuple(sizes)
    assert view.dtype == dtype
    if view.size:
        assert view.strides == tuple(strides)
        (start, stop), (low, high) = bounds_of(array), bounds_of(view)
        assert start <= low <= high <= stop


_REFUSED = [
    ("x.set_(x, 0, (1000,), (-1000000,))", "Storage size calculation overflowed with sizes=[1000]"),
    ("x.set_(x, -1, (10,), (1,))", "Tensor: invalid storage offset -1"),
    ("x.set_(x, 0, (-1,), (1,))", "numel: integer multiplication overflow"),
    ("x.set_(x, 0, (2**62,), (4,))", "Storage size calculation overflowed with"),
    ("x.set_(x, 0, (2**62, 2**62), (4, 4))", "numel: integer multiplication overflow"),
    ("x.set_(x, M, (2,), (M,))", "Storage size calculation overflowed with sizes=[2]"),
    ("x.set_(x, 0, (2, 2), (1,))", "unequal size length (2) and stride length (1)"),
    ("x.set_(x, 1, (12,), (1,))", "setStorage: sizes [12], strides [1], storage offset 1"),
    ("x.as_strided((1000,), (-1000000,))", "as_strided: Negative strides are not supported"),
    ("x.as_strided((2,), (2,), M)", "Storage size calculation overflowed with sizes=[2]"),
    ("x.as_strided((4, 4), (4, 1))", "setStorage: sizes [4, 4], strides [4, 1]"),
    ("x.as_strided_((5,), (M,))", "Storage size calculation overflowed with sizes=[5]"),
    ("x.resize_(2**62, 2**62)", "numel: integer multiplication overflow"),
    ("x.unfold(0, -1, 1)", "size is -1 but must be >= 0"),
    ("torch.tensor(1.).unfold(0, -1, 1)", "size is -1 but must be >= 0"),
    ("torch.empty_strided((2,), (-1,))", "Storage size calculation overflowed"),
    ("torch.empty_strided((2**31, 2**31), (2**31, 1))", "Storage size calculation overflowed"),
    ("torch.empty_strided((2**62, 2**62), (0, 0))", "numel: integer multiplication overflow"),
]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_sizes_that_leave_the_memory_are_refused_in_torchs_words(dtype: Any) -> None:
    for text, sentence in _REFUSED:
        x = torch.zeros(12).to(dtype)
        with pytest.raises(RuntimeError) as error:
            eval(text, {"torch": torch, "x": x, "M": M})
        assert str(error.value).startswith(sentence), text
        assert x.shape == (12,)


# --------------------------------------------------------------------------- changed tensors


@pytest.mark.parametrize("changed", [False, True])
def test_what_a_tensor_was_lives_as_long_as_its_views(changed: bool) -> None:
    x = torch.arange(6.0)
    if changed:
        x.resize_(2000).resize_(6)  # now its memory is another array's
    view, array = x[2:], x.numpy()
    exported, other = memoryview(array), np.from_dlpack(x)
    for size in (10**6, 3, 10**7, 0, 7):
        x.resize_(size)
    assert view.tolist() == [2, 3, 4, 5]
    assert array.tolist() == exported.tolist() == other.tolist() == [0, 1, 2, 3, 4, 5]
    assert view.as_strided((2,), (1,)).tolist() == [2, 3]
    low, high = bounds_of(memory_of(view._array))
    assert low <= view.data_ptr() < high


def test_tensors_that_take_each_others_memory_keep_it() -> None:
    a, b = torch.arange(3.0), torch.arange(3.0, 6)
    for _ in range(100):
        a.set_(b)
        b.set_(a[1:])
        b.set_(a)
    assert a.tolist() == b.tolist() == [3, 4, 5]
    assert a.data_ptr() == b.data_ptr()


@pytest.fixture
def _alone() -> None:
    """No other thread is amid anything of the package's, such as what earlier tests began."""
    until = time.monotonic() + 60
    while metadata._may_be_read():
        assert time.monotonic() < until, [each.name for each in threading.enumerate()]
        time.sleep(0.01)


@pytest.mark.usefixtures("_alone")
def test_memory_that_nobody_sees_is_given_back() -> None:
    x = np.empty(0)
    become(x, np.ones(4))
    last = np.zeros(1000)
    ours = sys.getrefcount(last)
    become(x, last)

    assert sys.getrefcount(last) == ours + 1  # the tensor's
    become(x, np.ones(4))
    assert sys.getrefcount(last) == ours


# --------------------------------------------------------------------------- shared memory


def _pairs() -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Overlapping tensors whose arrays have different owners."""
    array, buffer, x = np.arange(10, dtype=np.float32), bytearray(40), torch.arange(10.0)
    taken = torch.empty(0).set_(x, 2, (8,), (1,))
    whole = torch.frombuffer(buffer, dtype=torch.float32)
    return [
        (torch.from_numpy(array[:8]), torch.from_numpy(array[2:])),
        (whole[:8], torch.frombuffer(buffer, dtype=torch.float32, offset=8)),
        (x[:8], taken),
        (x[:8], torch.from_dlpack(x)[2:]),
        (x[:8], torch.from_numpy(x.numpy())[2:]),
    ]


def test_overlap_is_decided_by_bytes() -> None:
    for target, other in _pairs():
        before = target.tolist()
        for write in (target.add_, target.copy_, lambda o, t=target: torch.neg(o, out=t)):
            with pytest.raises(RuntimeError, match="refer to a single memory location"):
                write(other)
        assert target.tolist() == before
        far = other.clone()
        assert target.copy_(far).tolist() == far.tolist()


@pytest.mark.usefixtures("_alone")
def test_memory_that_another_thread_may_read_is_kept_until_it_is_done() -> None:
    inside, done = threading.Event(), threading.Event()

    def hook(grad: torch.Tensor) -> None:  # called from inside of the package
        inside.set()
        done.wait(10)

    def compute() -> None:
        leaf = torch.ones(1, requires_grad=True)
        leaf.register_hook(hook)
        leaf.sum().backward()

    x = np.empty(0)
    become(x, np.ones(4))
    last = np.zeros(1000)
    ours = sys.getrefcount(last)
    become(x, last)
    thread = threading.Thread(target=compute)
    thread.start()
    assert inside.wait(10)
    become(x, np.ones(4))
    become(x, np.ones(4))
    assert sys.getrefcount(last) == ours + 1  # what the tensor was
    done.set()
    thread.join()
    become(x, np.ones(4))
    assert sys.getrefcount(last) == ours


@pytest.mark.usefixtures("_alone")
def test_the_clock_of_guarded_calls_keeps_no_memory() -> None:
    call = watch.Watched()
    watch.watch(call, 60.0)
    try:
        x, last = np.empty(0), np.zeros(1000)
        ours = sys.getrefcount(last)
        become(x, last)
        become(x, np.ones(4))
        assert sys.getrefcount(last) == ours
    finally:
        watch.unwatch(call)


_SOAK = """
import resource
import rushlight as torch
x, out = torch.ones(4), torch.empty(0)
def turn(n):
    for i in range(n):
        x.resize_(200_000 + i % 7)
        torch.add(torch.ones(100_000 + i % 5), 1, out=out)
turn(50)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
turn(300)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="counts in kB")
def test_changing_a_tensor_again_and_again_takes_no_memory() -> None:
    command = [sys.executable, "-W", "ignore", "-c", _SOAK]
    run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) < 20_000


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks")
@pytest.mark.filterwarnings("ignore")
def test_a_child_may_change_tensors_that_a_thread_was_changing() -> None:
    x, stop = torch.ones(4), threading.Event()

    def change() -> None:
        while not stop.is_set():
            x.resize_(100).resize_(1000)

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(30):
            child = os.fork()
            if not child:
                signal.alarm(10)  # which ends a child that waits
                x.resize_(3)
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        thread.join()


def test_no_thread_sees_a_tensor_that_is_neither_what_it_was_nor_what_it_becomes() -> None:
    x, done = torch.ones(20_000), threading.Event()
    seen = set()

    def change() -> None:
        for i in range(600):
            x.resize_((1, 20_000)[i % 2])
        done.set()

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        thread = threading.Thread(target=change)
        thread.start()
        while not done.is_set():
            settled = x._array[...]
            seen.add((settled.shape, settled.dtype))
        thread.join()
    finally:
        sys.setswitchinterval(before)
    assert seen
    assert seen <= {((size,), np.dtype(np.float32)) for size in (1, 20_000)}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_view_that_is_changed_never_lies_in_itself(dtype: Any) -> None:
    x = torch.ones(6, dtype=dtype).view(2, 3)
    for sizes in ((3, 2), (4, 5), (2, 2)) * 20:
        x.resize_(sizes)
        x.t_().add_(1)
        depth, base = 0, x._array
        while base is not None:
            depth, base = depth + 1, getattr(base, "base", None)
            assert depth < 20


def test_zeros_are_written_into_elements_that_share_memory() -> None:
    """As in torch, whose `tril_` writes zeros alone."""
    row, column = torch.arange(1.0, 4).expand(3, 3), torch.arange(1.0, 4).view(3, 1).expand(3, 3)
    assert row.tril_().tolist() == [[1, 0, 0]] * 3
    assert column.triu_(-1).tolist() == [[1] * 3, [2] * 3, [0] * 3]


def test_shared_elements_are_told_after_what_products_say_of_sizes() -> None:
    one = torch.ones(1)
    for sizes, told in (((3, 3), "should match"), ((4, 5), "single memory location")):
        with pytest.raises(RuntimeError, match=told):
            one.expand(sizes).addmm_(torch.ones(4, 2), torch.ones(2, 5))


def test_a_threshold_is_written_into_elements_that_share_memory() -> None:
    x = torch.tensor([[0.1, 0.6]]).expand(3, 2)
    assert torch.nn.functional.threshold_(x, 0.5, 0.75).tolist() == [[0.75, pytest.approx(0.6)]] * 3
