"""What eager calls are that native code does: the same as those in Python."""

import itertools
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops.eager import asking, callables
from rushlight.ops.eager.callables import Called, call_by
from rushlight.ops.memory import warned
from rushlight.overrides import TorchFunctionMode

TENSORS = {
    "line": torch.arange(12.0),
    "turned": torch.arange(12).view(3, 4).t(),
    "empty": torch.zeros(0, 3, dtype=torch.int16),
    "number": torch.tensor(True),
    "complex": torch.ones(2, 3, 1, dtype=torch.complex64),
    "half": torch.ones(5, dtype=torch.float16),
    "short": torch.ones(5, 1, dtype=torch.bfloat16),
    "parameter": torch.nn.Parameter(torch.ones(2, 2)),
    "meta": torch.ones(2, 3, device="meta"),
    "quantized": torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8),
}


@pytest.fixture(scope="module", autouse=True)
def natively():
    """Calls have come so often that native code does them, if there is any."""
    x = torch.ones(3)
    for _ in range(200):
        torch.abs(x)


@pytest.mark.parametrize("name", TENSORS)
def test_a_look_tells_what_a_tensor_is_like(name):
    x = TENSORS[name]
    array = np.broadcast_to(np.zeros((), np.int8), (2, 3)) if name == "meta" else x._array
    assert (x.dim(), x.ndim, x.numel()) == (array.ndim, array.ndim, array.size)
    assert type(x.shape) is torch.Size
    assert x.shape == array.shape
    assert hash(x.shape) == hash(array.shape)
    assert x.is_contiguous() is array.flags.c_contiguous or name == "meta"
    assert x.is_contiguous(memory_format=torch.contiguous_format) is x.is_contiguous()
    assert x.element_size() == x.dtype.itemsize
    assert x.is_floating_point() is x.dtype.is_floating_point
    assert x.is_complex() is x.dtype.is_complex
    if name != "quantized":
        assert x.is_signed() is x.dtype.is_signed


def test_what_lies_in_one_piece_is_given_itself():
    x = TENSORS["line"]
    assert x.contiguous() is x
    turned = TENSORS["turned"].contiguous()
    assert turned.is_contiguous()
    assert torch.equal(turned, TENSORS["turned"])


def test_what_is_detached_shares_memory_and_wants_no_gradients():
    x = torch.ones(3, requires_grad=True)
    y = x.detach()
    assert not y.requires_grad
    assert y.is_leaf
    assert y.data_ptr() == x.data_ptr()
    assert type(TENSORS["parameter"].detach()) is torch.Tensor


def test_traces_hear_of_sizes():
    traced = torch.jit.trace(lambda x: x.view(x.shape[0], x.dim(), -1), torch.ones(4, 6))
    assert traced(torch.ones(8, 6)).shape == (8, 2, 3)


class Heard(TorchFunctionMode):
    def __init__(self):
        self.names = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.names.append(getattr(func, "__name__", str(func)))
        return func(*args, **(kwargs or {}))


def test_modes_hear_of_looks_and_calls():
    x = torch.ones(2, 3)
    with Heard() as heard:
        _ = x.dim(), x.numel(), x.abs(), x.shape, x.dtype
    assert heard.names[:3] == ["dim", "numel", "abs"]
    assert len(heard.names) == 5
    assert (x.dim(), x.shape, x.dtype) == (2, (2, 3), torch.float32)
    assert len(heard.names) == 5


class Named(torch.Tensor):
    pass


def test_subclasses_are_told_apart():
    x = torch.ones(2, 3).as_subclass(Named)
    assert (x.dim(), x.shape, x.contiguous() is x, type(x.abs())) == (2, (2, 3), True, Named)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda x: torch.abs(), TypeError, "missing 1 required positional arguments"),
        (lambda x: torch.abs(x, wrong=1), TypeError, "unexpected keyword argument"),
        (lambda x: torch.abs(*[x] * 40), TypeError, "positional argument"),
        (lambda x: x.dim(1), TypeError, "takes"),
        (lambda x: torch.abs("x"), TypeError, "must be Tensor, not str"),
        (lambda x: torch.mm(x, x), RuntimeError, "must be a matrix"),
        (lambda x: x.sum(dim=4), IndexError, "Dimension out of range"),
    ],
)
def test_errors_are_those_of_calls_in_python(call, error, text):
    x = torch.ones(3)
    with pytest.raises(error, match=text) as native:
        call(x)
    call_by(asking._call)
    try:
        with pytest.raises(error) as plain:
            call(x)
    finally:
        call_by()
    assert str(native.value) == str(plain.value)
    assert type(native.value.__context__) is type(plain.value.__context__)


class Stop(BaseException):
    pass


def test_what_is_no_error_of_a_call_is_left_as_it_is():
    def stops(*args, **kwargs):
        raise Stop(args, kwargs)

    with pytest.raises(Stop) as stopped:
        Called(stops)(1, two=2)
    assert stopped.value.args == ((1,), {"two": 2})
    assert stopped.value.__context__ is None


def test_an_object_that_was_not_made_is_an_error():
    with pytest.raises((SystemError, AttributeError)):
        Called.__new__(Called)()


_FIRST_LEARNED = """
import rushlight as torch

x = torch.ones({side}, {side})
for _ in range(200):
    made = x.t().contiguous()
assert torch.equal(made, x)
"""


@pytest.mark.parametrize("side", [4, 100])  # calls with a large tensor are learned soon
def test_a_look_may_be_the_first_call_of_a_process_that_is_learned(side):
    run = subprocess.run(
        [sys.executable, "-c", _FIRST_LEARNED.format(side=side)],
        cwd=Path(__file__).resolve().parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr


def test_properties_that_native_code_reads_are_as_before():
    x = torch.ones(2, 3)
    assert x.device == torch.device("cpu")
    assert not x.requires_grad
    assert TENSORS["parameter"].requires_grad
    assert TENSORS["meta"].device == torch.device("meta")
    assert x.T.shape == x.mT.shape == (3, 2)
    assert x.T._base is x
    assert x.mT._base is x
    assert torch.ones(2, 3, 4).mT.shape == (2, 4, 3)
    with pytest.raises(RuntimeError, match="only supported on matrices"):
        _ = torch.ones(2).mT
    x.requires_grad = True
    assert x.requires_grad
    assert type(x.T.grad_fn).__name__ == "PermuteBackward0"
    assert type(x.mT.grad_fn).__name__ == "TransposeBackward0"
    x.requires_grad = False
    assert not x.requires_grad
    view = x[0]  # the two share a list of what has a history
    assert not x.requires_grad
    view.requires_grad = True
    assert view.requires_grad
    with pytest.raises(RuntimeError, match="must be a bool"):
        del x.requires_grad


def test_methods_are_called_without_being_bound():
    x = torch.ones(3)
    for _ in range(200):
        x.add(1)
    assert x.add.__self__ is x
    assert x.add(2).tolist() == [3.0, 3.0, 3.0]
    assert torch.Tensor.add(x, 2).tolist() == [3.0, 3.0, 3.0]
    assert torch.Tensor.add.__get__(x)(2).tolist() == [3.0, 3.0, 3.0]

    class Holder:
        method = torch.Tensor.add
        function = torch.add

    assert Holder().function(x, 2).tolist() == [3.0, 3.0, 3.0]
    with pytest.raises(TypeError, match="doesn't apply to a 'Holder' object"):
        Holder().method(x)


NUMBERS = {
    "float32": (2.5, -0.0, float("nan"), float("inf"), 1e30),
    "float64": (2.5, 1e300, -1e18),
    "float16": (0.5, 3.0),
    "bfloat16": (0.5, 3.0),
    "complex64": (1.0, 2j),
    "int64": (-(1 << 63), (1 << 63) - 1, 0),
    "int32": (-5, 7),
    "int16": (-5, 7),
    "int8": (-128, 127),
    "uint8": (0, 255),
    "bool": (True, False),
}


def told_or_refused(read):
    try:
        found = read()
    except (OverflowError, RuntimeError, TypeError, ValueError) as error:
        return type(error)
    return type(found), repr(found)


@pytest.mark.parametrize("dtype", NUMBERS)
def test_the_one_element_is_told_as_python_reads_it(dtype):
    for number in NUMBERS[dtype]:
        for shape in ((), (1,), (1, 1)):
            x = torch.full(shape, number, dtype=getattr(torch, dtype))
            plain = x._array.item()
            if dtype in ("bfloat16", "float16"):
                plain = float(plain)
            assert told_or_refused(x.item) == (type(plain), repr(plain))
            assert bool(x) is bool(plain)
            if dtype != "complex64":
                assert told_or_refused(lambda x=x: float(x)) == (float, repr(float(plain)))
                expected = told_or_refused(lambda plain=plain: int(plain))
                assert told_or_refused(lambda x=x: int(x)) == expected


def test_a_number_of_what_wants_gradients_is_warned_of_by_float_alone(monkeypatch):
    monkeypatch.setattr(warned, "GIVEN", set())  # it comes once
    x = torch.tensor(1.5, requires_grad=True)
    assert (x.item(), bool(x), int(x)) == (1.5, True, 1)
    with pytest.warns(UserWarning, match="requires_grad=True to a scalar"):
        float(x)


@pytest.mark.parametrize("name", TENSORS)
def test_sizes_and_strides_are_told_one_by_one(name):
    x = TENSORS[name]
    assert x.size() == x.shape
    assert type(x.size()) is torch.Size
    assert [x.size(d) for d in range(x.ndim)] == [*x.shape]
    assert [x.size(dim=d) for d in range(-x.ndim, 0)] == [*x.shape]
    assert [x.stride(d) for d in range(x.ndim)] == [*x.stride()]
    assert type(x.stride()) is tuple
    for tell in (x.size, x.stride):
        with pytest.raises(IndexError, match="Dimension"):
            tell(x.ndim + 1)
        with pytest.raises((IndexError, TypeError)):
            tell("a")
    if x.ndim:
        assert len(x) == x.shape[0] == x.size(0)
    else:
        with pytest.raises(TypeError, match="0-d"):
            len(x)


def test_dimensions_of_one_have_strides():
    x = torch.zeros(3, 4)
    assert x[None].stride() == (12, 4, 1)
    assert x[:, None].stride() == (4, 4, 1)
    assert x[..., None].stride() == (4, 1, 1)
    assert x.expand(2, 3, 4).stride() == (0, 4, 1)
    assert torch.zeros(0, 3).stride() == (3, 1)
    assert x[:, ::2].stride() == (4, 2)


def test_sizes_are_read_as_tuples_are():
    sizes = torch.zeros(2, 3, 4).shape
    assert (sizes[0], sizes[-1], sizes[np.int64(1)], sizes[True]) == (2, 4, 3, 3)
    assert type(sizes[1:]) is torch.Size
    assert sizes[1:] == (3, 4)
    for place in (3, -4, 1 << 80):
        with pytest.raises(IndexError):
            sizes[place]
    with pytest.raises(TypeError):
        sizes["a"]


def test_members_stay_the_functions_that_they_were_to_who_asks_the_class():
    script = """
import rushlight as torch
before = [getattr(torch.Tensor, name) for name in ("size", "item", "__getitem__", "__len__")]
x = torch.ones(2, 3)
for _ in range(200):
    x.abs()
after = [getattr(torch.Tensor, name) for name in ("size", "item", "__getitem__", "__len__")]
assert all(a is b for a, b in zip(before, after, strict=True))
assert before[0](x) == x.size() == x.shape
assert x.size.__name__ == "size" and "size" in x.size.__doc__
assert x.size.__self__ is x and x.size() == (2, 3) and x.size(1) == 3
assert len(before[2](x, 0)) == 3 and torch.Size.__getitem__(x.shape, 1) == 3
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_of_threads_that_come_at_once_one_has_native_code_do_calls(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    both, asked = threading.Barrier(2), itertools.count()

    class Usual:
        done, times = False, 0

        @property
        def is_settled(self) -> bool:
            found = self.done
            if next(asked) < 2:
                both.wait(10)
            return found

        def settle(self) -> None:
            self.times += 1
            self.done = True

    usual = Usual()
    monkeypatch.setattr(callables, "_USUAL", usual)
    threads = [threading.Thread(target=callables.call_natively) for _ in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert usual.times == 1
