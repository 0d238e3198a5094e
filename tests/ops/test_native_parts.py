"""`tensor[key]` and `tensor[key] = value` by native code: NumPy's parts, and what Python does."""

import itertools
import sys
import threading
import types
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops.memory.versions import written
from rushlight.ops.tensors.tensor import Tensor
from rushlight.overrides import TorchFunctionMode

KEYS = (
    *(0, -1, 2, None, ..., slice(None), slice(1, None), slice(None, -1), slice(5, 1), slice(-9, 9)),
    *(slice(None, None, 2), slice(1, 9, 3)),
    *((), (0, 1), (..., 0), (0, ...), (slice(None), 1), (slice(1, 3), slice(None, None, 3))),
    *((None, 0), (0, None, slice(2)), (..., None), (None, ..., None), (slice(None), None, -1)),
)


@pytest.fixture(scope="module", autouse=True)
def natively():
    """Calls have come so often that native code does them, if there is any."""
    x = torch.ones(3)
    for _ in range(200):
        torch.abs(x)


def layouts():
    base = np.arange(60.0, dtype=np.float32)
    return [
        base.reshape(5, 12),
        base.reshape(5, 12).T,
        base.reshape(3, 4, 5),
        base.reshape(3, 4, 5)[::2, 1:, ::2],
        base.reshape(4, 15)[:, 3:3],
    ]


def is_there(array, key):
    try:
        array[key]
    except IndexError:
        return False
    return True


@pytest.mark.parametrize("number", range(5))
@pytest.mark.parametrize("key", KEYS, ids=str)
def test_parts_are_numpys(number, key):
    x = torch.from_numpy(layouts()[number])
    array = x._array
    if not is_there(array, key):
        with pytest.raises(IndexError):
            x[key]
        return
    found = x[key]
    expected = array[(*key, ...) if type(key) is tuple and ... not in key else key]
    if not isinstance(expected, np.ndarray):
        expected = array[(key, ...)]
    assert type(found) is Tensor
    assert found._base is x or found._base is x._base
    assert found._array.strides == expected.strides
    assert found._array.__array_interface__["data"] == expected.__array_interface__["data"]
    assert np.array_equal(found._array, expected)
    assert found._array.flags.writeable


@pytest.mark.parametrize("number", range(5))
@pytest.mark.parametrize("key", KEYS, ids=str)
def test_numbers_and_tensors_are_written_as_by_numpy(number, key):
    for value in (0.25, 3, True, float("nan"), float("inf"), "itself", "one", "row", "other"):
        array = layouts()[number].copy()
        expected = array.copy()
        x = torch.from_numpy(array)
        if not is_there(array, key):
            with pytest.raises(IndexError):
                x[key] = 0.25
            assert x._version == 0
            continue
        part = expected[(*key, ...) if type(key) is tuple and ... not in key else key]
        part = np.asarray(part)
        if value == "itself":
            given = torch.from_numpy(np.add(part, 100, out=part.copy()))
        elif value == "one":
            given = torch.tensor(7.5)
        elif value == "row":
            given = torch.from_numpy((part[..., :1] if part.ndim else part).copy())
        elif value == "other":
            given = torch.from_numpy(np.array(part, np.float64))
        else:
            given = value
        expected[key] = given._array if isinstance(given, Tensor) else given
        before = x._version
        x[key] = given
        assert np.array_equal(x._array, expected, equal_nan=True)
        assert x._version == before + 1


def does_refuse(write):
    try:
        write()
    except (RuntimeError, OverflowError, ValueError):
        return True
    return False


@pytest.mark.parametrize("dtype", "float64 float32 int64 int32 int16 int8 uint8 bool".split())
def test_every_dtype_takes_its_numbers_and_refuses_others(dtype):
    for number in (
        1,
        0,
        -1,
        127,
        128,
        255,
        256,
        40000,
        1 << 31,
        1 << 62,
        1 << 70,
        0.5,
        1e300,
        True,
    ):
        x = torch.zeros(2, 3, dtype=getattr(torch, dtype))
        y = torch.zeros(2, 3, dtype=getattr(torch, dtype))
        is_refused = does_refuse(lambda to=y, n=number: to[:, 1:2].fill_(n))
        found = does_refuse(lambda to=x, n=number: to.__setitem__((slice(None), 1), n))
        assert found == is_refused or number == 1 << 70
        assert torch.equal(x, y)


def test_parts_of_a_tensor_may_be_written_to_it():
    x = torch.arange(12.0)
    x[1:4] = x[6:9]
    x[5:9] = x[9]
    assert x.tolist() == [0, 6, 7, 8, 4, 9, 9, 9, 9, 9, 10, 11]
    x[2] += 1
    assert x[2] == 8
    with pytest.raises(RuntimeError, match="single memory location"):
        x[1:7] = x[:6]
    y = torch.zeros(3).expand(2, 3)
    with pytest.raises(RuntimeError):
        y[:, 1] = 5.0


def test_what_is_no_part_is_refused_as_ever():
    x = torch.zeros(3, 4)
    for key in (3, -4, (0, 4), (0, 0, 0), (slice(None), slice(None), slice(None))):
        with pytest.raises(IndexError):
            x[key]
        with pytest.raises(IndexError):
            x[key] = 1.0
    with pytest.raises(ValueError, match="step"):
        x[::-1]
    with pytest.raises(RuntimeError):
        x[0] = torch.zeros(3)
    with pytest.raises(TypeError):
        x.__getitem__(0, 1, 2)
    with pytest.raises(TypeError):
        x.__setitem__(0)
    with pytest.raises(TypeError):
        x[0] = "text"
    assert x._version == 0 or x.sum() == 0


def test_gradients_modes_and_inference_are_left_to_python():
    x = torch.ones(3, 4, requires_grad=True)
    part = x[1:, 2]
    assert part.grad_fn is not None
    part.sum().backward()
    assert x.grad.sum() == 2
    y = torch.zeros(3)
    y[1] = x[0, 0]
    assert y.requires_grad
    with torch.no_grad():
        x[0] = 5.0
        assert x[1].requires_grad
    assert x[0, 0] == 5
    with torch.inference_mode():
        made = torch.zeros(3)
        made[0] = 1.0
    with pytest.raises(RuntimeError, match="inference"):
        made[1] = 1.0
    assert made.tolist() == [1, 0, 0]


def test_a_view_that_is_written_tells_its_tensor():
    x = torch.zeros(4, 3)
    row = x[1]
    row[0] = 2.0
    other = torch.ones((), requires_grad=True)
    x[2, 0] = other
    assert row._version == x._version == 2
    assert x.requires_grad
    assert row.requires_grad
    assert x[1].grad_fn is not None


def test_modes_hear_of_parts():
    heard = []

    class Mode(TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            heard.append(getattr(function, "__name__", ""))
            return function(*args, **(kwargs or {}))

    x = torch.zeros(3)
    with Mode():
        x[0] = 1.0
        x[1:]
    assert heard == ["__setitem__", "__getitem__"]
    assert isinstance(Tensor.__getitem__, types.FunctionType)


def test_large_parts_are_written_as_small_ones():
    for size, value in itertools.product((31, 33, 200), (2.0, "tensor")):
        x = torch.zeros(size, size)
        given = torch.arange(size - 1.0) if value == "tensor" else value
        x[:, 1:] = given
        assert torch.equal(x[:, 1:], torch.zeros(size, size - 1) + given)
        assert x[:, 0].sum() == 0


def places(*shape, size):
    made = np.random.default_rng(len(shape)).integers(-size, size, shape)
    return torch.from_numpy(made)


BY_PLACES = (
    *(lambda x: places(7, size=x[0]), lambda x: (places(2, 3, size=x[0]),)),
    *(lambda x: (slice(None), places(4, size=x[1])), lambda x: (places(0, size=x[0]),)),
    lambda x: (places(3, size=x[0]), places(3, size=x[1])),
    lambda x: (places(3, 1, size=x[0]), slice(None), slice(None)),
    lambda x: (slice(None), places(2, 1, size=x[1]), places(4, size=x[2])),
)


@pytest.mark.parametrize("key", BY_PLACES)
@pytest.mark.parametrize("dtype", ["float32", "int64", "bool", "complex64", "float16"])
def test_index_tensors_name_what_they_name_in_numpy(key, dtype):
    base = np.arange(120).reshape(4, 5, 6).astype(dtype)
    for array in (base, base.transpose(2, 0, 1), base[::2, ::2]):
        named = key(array.shape)
        parts = named if type(named) is tuple else (named,)
        plain = tuple(each._array if isinstance(each, Tensor) else each for each in parts)
        for _ in range(70):
            x = torch.from_numpy(array.copy())
            found = x[named]
        assert np.array_equal(found._array, array[plain])
        assert found._base is None
        for value in (True, torch.from_numpy(np.array(array[plain] + array.dtype.type(1)))):
            for _ in range(70):
                x = torch.from_numpy(array.copy())
                x[named] = value
                assert x._version == 1
            expected = array.copy()
            expected[plain] = value._array if isinstance(value, Tensor) else value
            if isinstance(value, bool) or not _come_twice(plain, array):
                assert np.array_equal(x._array, expected)


def _come_twice(plain, array):
    chosen = np.arange(array.size).reshape(array.shape)[plain]
    return np.unique(chosen).size < chosen.size


def test_places_that_are_not_there_leave_everything_as_it_was():
    x = torch.zeros(3, 4)
    there = torch.tensor([0, 2])
    for _ in range(70):
        x[there]
        x[there] = 0.0
    version = x._version
    beyond = torch.tensor([0, 3])
    for _ in range(70):
        with pytest.raises(IndexError, match="index 3 is out of bounds"):
            x[beyond]
        with pytest.raises(IndexError, match="index 3 is out of bounds"):
            x[beyond] = 1.0
        with pytest.raises(IndexError):
            x[there, there, there]
        with pytest.raises(RuntimeError, match="shape mismatch"):
            x[there] = torch.zeros(3, 4)
    assert x._version == version
    assert not x.any()


def test_a_mask_says_where_one_number_is_written():
    for _ in range(70):
        x = torch.arange(12.0).view(3, 4)
        x[x > 5] = -1.0
        x[torch.tensor([True, False, False])] = torch.tensor(9.0)
        assert x.tolist() == [[9, 9, 9, 9], [4, 5, -1, -1], [-1, -1, -1, -1]]
        assert x[x == -1].numel() == 6
        assert x._version == 2
    with pytest.raises(IndexError, match="mask"):
        x[torch.tensor([True, False])] = 1.0
    assert x._version == 2


def some_key(random, shape):
    parts, dim = [], 0
    for _ in range(random.integers(1, 5)):
        size = shape[min(dim, len(shape) - 1)]
        kind = random.integers(6)
        dim += kind != 4
        parts.append(
            int(random.integers(-size, size + (random.random() < 0.05)))
            if kind == 0
            else slice(*sorted(int(n) for n in random.integers(-size, size, 2)))
            if kind == 1
            else slice(None, None, int(random.integers(1, 3)))
            if kind == 2
            else None
            if kind == 4
            else torch.from_numpy(random.integers(-size, size, [(3,), (1,), (2, 3)][kind % 3]))
        )
    return tuple(parts)


def outcome(call):
    try:
        return call()
    except (IndexError, RuntimeError) as error:
        return type(error), str(error)


@pytest.mark.parametrize("seed", range(4))
def test_mixed_keys_are_done_as_in_python(seed):
    random = np.random.default_rng(seed)
    for _ in range(150):
        array = np.arange(120.0, dtype=np.float32).reshape(4, 5, 6)
        array = (array, array.transpose(1, 2, 0), array[:, ::2])[random.integers(3)]
        key = some_key(random, array.shape)
        x, y = torch.from_numpy(array.copy()), torch.from_numpy(array.copy())
        for _ in range(2):
            found = outcome(lambda x=x, key=key: x[key])
            expected = outcome(lambda x=x, key=key: Tensor.__getitem__(x, key))
        if isinstance(expected, tuple):
            assert found == expected
            values = [0.5]
        else:
            assert found.shape == expected.shape
            assert found.stride() == expected.stride()
            assert torch.equal(found, expected)
            assert (found._base is None) == (expected._base is None)
            values = [0.5, expected.clone() + 1, expected.clone().double(), torch.ones(7)]
        for value in values:
            write = outcome(lambda x=x, k=key, v=value: x.__setitem__(k, v))
            assert write == outcome(lambda y=y, k=key, v=value: Tensor.__setitem__(y, k, v))
            assert torch.equal(x, y)
            assert x._version == y._version


def test_what_is_put_is_held_while_python_counts_the_write():
    """The first write of memory is counted by Python's code, which may give the source other
    memory: what it had must still be there."""
    alive = []

    def look(frame, event, argument):
        if event == "call" and frame.f_code is written.__code__ and not alive:
            value.data = torch.zeros(4)
            alive.append(seen() is not None)

    for _ in range(3):
        x, value = torch.zeros(3, 4), torch.full((4,), 7.0)
        seen = weakref.ref(value._array)
        alive.clear()
        sys.setprofile(look)
        try:
            x[1] = value
        finally:
            sys.setprofile(None)
        assert alive == [True]
        assert x[1].tolist() == [7.0] * 4


MANY = 40_000
"""So many arguments have no room on the stack of a thread that has `SMALL` bytes of it."""
SMALL = 1 << 18


def on_a_small_stack(call):
    """What a call raises in a thread with a small stack."""
    before = threading.stack_size(SMALL)
    try:
        with ThreadPoolExecutor(1) as threads:
            return threads.submit(call).exception()
    finally:
        threading.stack_size(before)


@pytest.mark.parametrize(
    "name",
    ["__getitem__", "__setitem__", "__len__", "__bool__", "size", "stride", "item"],
)
def test_members_refuse_any_number_of_arguments(name):
    x = torch.zeros(3, 4)
    names = dict.fromkeys([f"a{number}" for number in range(MANY)])
    error = on_a_small_stack(lambda: getattr(x, name)(*[None] * MANY))
    assert isinstance(error, TypeError)
    assert "positional argument" in str(error)
    error = on_a_small_stack(lambda: getattr(x, name)(**names))
    assert isinstance(error, TypeError)
    assert "unexpected keyword argument 'a0'" in str(error)


def test_functions_refuse_any_number_of_arguments():
    x = torch.zeros(3)
    for call in (torch.add, x.add):
        error = on_a_small_stack(lambda call=call: call(*[None] * MANY))
        assert isinstance(error, TypeError)
        assert "invalid combination of arguments" in str(error)


def test_members_want_what_they_are_members_of():
    own, sizes = Tensor.__dict__["size"], torch.Size.__dict__["__getitem__"]
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'self'"):
        own()
    assert own(self=torch.zeros(2)) == (2,)
    assert sizes(torch.Size([3]), 0) == sizes((3,), 0) == 3
    with pytest.raises(TypeError, match="requires a 'tuple' object but received a 'list'"):
        sizes([3, 4], 0)


def test_parts_without_elements_are_written_at_once():
    x = torch.zeros(3).as_strided((1 << 40, 0), (1, 1))
    before = x._version
    x[...] = 1.0
    x[:] = torch.zeros(1)
    assert x._version == before + 2
