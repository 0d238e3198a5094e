"""What operators warn of, and bounds, layouts and factories that torch 2.13 looks at."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops.memory import warned


def _warnings(call: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setattr(warned, "GIVEN", set())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    assert all(each.filename == __file__ for each in caught)
    return [str(each.message) for each in caught]


def _closed() -> np.ndarray:
    array = np.arange(3.0)
    array.flags.writeable = False
    return array


def _signals(length: int) -> None:
    """Twice a signal of its transform; what is warned of is said once."""
    spectrum = torch.stft(torch.ones(100), 16, window=torch.ones(16), return_complex=True)
    for _ in range(2):
        assert torch.istft(spectrum, 16, length=length).shape == (length,)


def _twice_added() -> None:
    """Tensors scattered with a word for how; of numbers nothing is said."""
    one, place = torch.ones(1, 1), torch.tensor([[0]])
    assert torch.scatter(one, 0, place, 2.0, reduce="add").item() == 3
    for _ in range(2):
        assert torch.scatter(one, 0, place, one, reduce="add").item() == 2


_WARNED: dict[str, tuple[Callable[[], object], list[str]]] = {
    "scattered": (_twice_added, ["The reduce argument of torch.scatter with Tensor src is depre"]),
    "old extremes": (lambda: torch._aminmax(torch.ones(2)), ["_aminmax is deprecated as of PyTo"]),
    "out": (
        lambda: torch.add(torch.ones(2, 2), 1, out=torch.zeros(3)),
        ["An output with one or more elements was resized since it had shape [3], which does not"],
    ),
    "empty out": (lambda: torch.add(torch.ones(2, 2), 1, out=torch.zeros(0)), []),
    "factory": (lambda: torch.zeros(2, out=torch.zeros(3)), []),
    "drawn": (lambda: torch.randperm(3, out=torch.zeros(2, dtype=torch.int64)), []),
    "searched rows": (
        lambda: torch.searchsorted(torch.eye(2)[:, ::2].T, torch.ones(1, 2)[:, ::2]),
        [
            "torch.searchsorted(): boundary tensor is non-contiguous, this will lower the",
        ],
    ),
    "arange": (
        lambda: torch.arange(1, 5, out=torch.zeros(2)),
        ["The number of elements in the out tensor of shape [2] is 2 which does not match the"],
    ),
    "range": (lambda: torch.range(0, 3), ["torch.range is deprecated and will be removed in a"]),
    "meshgrid": (
        lambda: torch.meshgrid(torch.ones(2), torch.ones(3)),
        ["torch.meshgrid: in an upcoming release, it will be required to pass the indexing"],
    ),
    "meshgrid of one": (
        lambda: torch.meshgrid(torch.ones(2)),
        ["torch.meshgrid: in an upcoming release"],
    ),
    "short signal": (
        lambda: _signals(200),
        ["A window was not provided. A", "The length of signal"],
    ),
    "whole signal": (lambda: _signals(100), ["A window was not provided. A"]),
    "closed array": (
        lambda: torch.from_numpy(_closed()),
        ["The given NumPy array is not writable"],
    ),
    "closed buffer": (
        lambda: torch.frombuffer(b"ab", dtype=torch.uint8),
        ["The given buffer is not writable, and PyTorch does not support non-writable tensors"],
    ),
    "skipped": (
        lambda: torch.empty(2, dtype=torch.bfloat16).random_(-300, 300),
        ["from is out of bounds [-(2^8), 2^8]", "to - 1 is out of bounds [-(2^8), 2^8]"],
    ),
    "asarray": (
        lambda: torch.asarray(torch.ones(2, requires_grad=True)),
        ["torch.asarray: unspecified requires_grad now defaults to obj.requires_grad"],
    ),
    "fill": (
        lambda: torch.zeros(1).expand(3).index_fill_(0, torch.tensor([0]), 1.0),
        ["Use of index_fill_ on expanded tensors is deprecated. Please clone() the tensor"],
    ),
    "put": (
        lambda: torch.zeros(1).expand(3).__setitem__(torch.tensor([0]), 1.0),
        ["Use of index_put_ on expanded tensors is deprecated. Please clone() the tensor"],
    ),
    "mask": (
        lambda: torch.zeros(1).expand(2).masked_fill_(torch.tensor([True, False]), 1.0),
        ["Use of masked_fill_ on expanded tensors is deprecated. Please clone() the tensor"],
    ),
}


@pytest.mark.parametrize("name", _WARNED)
def test_warnings(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    call, beginnings = _WARNED[name]
    told = _warnings(call, monkeypatch)
    assert len(told) == len(beginnings), told
    for text, beginning in zip(told, beginnings, strict=True):
        assert text.startswith(beginning)


def test_what_comes_once_comes_always_where_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def twice() -> None:
        torch.meshgrid(torch.ones(2), torch.ones(3))
        torch.meshgrid(torch.ones(2), torch.ones(3))

    assert len(_warnings(twice, monkeypatch)) == 1
    torch.set_warn_always(True)
    try:
        assert len(_warnings(twice, monkeypatch)) == 2
    finally:
        torch.set_warn_always(False)


_REFUSED: dict[str, Callable[[], object]] = {
    "to is out of bounds for c10::Half": lambda: torch.empty(2, dtype=torch.half).uniform_(0, 1e6),
    "uniform_ expects to-from <= std::numeric_limits<Float>::max(), but found to=3e+38": (
        lambda: torch.empty(2).uniform_(-3e38, 3e38)
    ),
    "to - 1 is out of bounds for c10::Half": (
        lambda: torch.empty(2, dtype=torch.half).random_(0, 70000)
    ),
    "normal expects all elements of std >= 0.0": (
        lambda: torch.normal(torch.zeros(2), torch.tensor([1.0, -1.0]))
    ),
    "normal expects standard deviation to be non-complex": (
        lambda: torch.normal(torch.zeros(2), torch.tensor([1.0, 1j]))
    ),
    "value cannot be converted to type uint8_t without overflow": (
        lambda: torch.randperm(300, dtype=torch.uint8)
    ),
    "n cannot be greater than 2049 for Half type.": (
        lambda: torch.randperm(2050, dtype=torch.half)
    ),
    "torch.linspace(): inferred dtype c10::complex<float> can't be safely cast to passed dtype F": (
        lambda: torch.linspace(1j, 2, 3, dtype=torch.float32)
    ),
    "torch.logspace(): inferred dtype c10::complex<float> can't be safely cast to passed dtype L": (
        lambda: torch.logspace(1, 2j, 3, dtype=torch.int64)
    ),
    'torch.meshgrid: indexing must be one of "xy" or "ij", but received: ': (
        lambda: torch.meshgrid(torch.ones(2), torch.ones(3), indexing="")
    ),
    "Stride calculation overflowed": lambda: torch.empty(0).resize_([0, 4, 2**61]),
    "legacy constructor expects device type: cpu but device type: cuda was passed": (
        lambda: torch.FloatTensor(device="cuda")
    ),
    "legacy constructor expects device type: cpu but device type: meta was passed": (
        lambda: torch.Tensor(2, 3, device="meta")
    ),
    "legacy constructor expects device type: cpu but device type: mps was passed": (
        lambda: torch.ones(2).new(3, device="mps")
    ),
    "Legacy tensor constructor of the form torch.Tensor(tensor, device=device) is not supported": (
        lambda: torch.Tensor(torch.ones(2), device="cpu")
    ),
    "Legacy tensor new of the form tensor.new(tensor, device=device) is not supported": (
        lambda: torch.ones(2).new(torch.ones(2), device="cpu")
    ),
    "layout SparseCsr does not match layout of out parameter (Strided)": (
        lambda: torch.zeros(2, 2, layout=torch.sparse_csr, out=torch.ones(2))
    ),
    "device type meta does not match device type of out parameter (cpu)": (
        lambda: torch.rand(2, device="meta", out=torch.ones(2))
    ),
    "torch.histogram: input tensor and bin_edges tensor should have the same dtype, but got": (
        lambda: torch.histogram(torch.ones(2), 3, out=(torch.ones(3), torch.ones(4).double()))
    ),
    "torch.histc: max must be larger than min": (
        lambda: torch.histc(torch.tensor([1, 2]), 4, min=5, max=1)
    ),
    "can't alias NumPy scalars.": lambda: torch.asarray(np.float64(2), copy=False),
    "Device index must not be negative": lambda: torch.device(-1),
    "isSignedType not supported for quantized types": lambda: torch.quint8.is_signed,
}


@pytest.mark.parametrize("sentence", _REFUSED)
def test_refusals(sentence: str) -> None:
    with pytest.raises(RuntimeError) as caught:
        _REFUSED[sentence]()
    assert str(caught.value).startswith(sentence)


def test_functions_that_make_no_numbers_are_refused() -> None:
    with pytest.raises(TypeError, match="must be real number, not str"):
        torch.ones(2).apply_(lambda _: "a")
    with pytest.raises(TypeError, match="'str' object cannot be interpreted as an integer"):
        torch.ones(2, dtype=torch.int64).apply_(lambda _: "a")
    with pytest.raises(TypeError, match=r"'torch\.FloatTensor' is not an acceptable base type"):
        type("Own", (torch.FloatTensor,), {})


def test_none_stands_for_lists_that_are_empty_by_default() -> None:
    x = torch.arange(8.0).view(2, 2, 2)
    assert torch.equal(torch.roll(x, 1, None), torch.roll(x, 1))
    assert torch.avg_pool1d(x, 2, None).shape == (2, 2, 1)
    assert torch.max_pool2d(x, 2, None).shape == (2, 1, 1)
    assert torch.amax(x, None).item() == 7
    with pytest.raises(TypeError, match="must be tuple of ints, not NoneType"):
        torch.flip(x, None)


def test_sizes_may_be_arrays_of_one_number() -> None:
    assert torch.ones((np.array(3), np.int64(4))).shape == (3, 4)
    assert torch.ones(2).new(size=(3, 4)).shape == (3, 4)


def test_steps_between_places_may_be_complex() -> None:
    x = torch.tensor([[1.0, 4.0], [9.0, 16.0]])
    (rows,) = torch.gradient(x, spacing=1 + 2j, dim=0)
    assert rows.dtype is torch.complex64
    assert torch.allclose(rows, torch.tensor([8.0, 12.0]).expand(2, 2) / (1 + 2j))


@pytest.mark.parametrize("make", [torch.rand_like, torch.randn_like, torch.zeros_like])
def test_memory_formats_of_tensors_like_others(make: Callable[..., torch.Tensor]) -> None:
    image = torch.rand(4, 3, 8, 8)
    by_channels = image.contiguous(memory_format=torch.channels_last)
    assert make(image, memory_format=torch.channels_last).stride() == (192, 1, 24, 3)
    assert make(by_channels).stride() == (192, 1, 24, 3)
    assert make(by_channels, memory_format=torch.contiguous_format).stride() == (192, 64, 8, 1)
    whole = torch.randint_like(image, 5, memory_format=torch.channels_last)
    assert whole.stride() == (192, 1, 24, 3)


def test_what_lies_in_a_format_already_stays() -> None:
    single = torch.rand(10, 3, 1, 1)
    assert single.contiguous(memory_format=torch.channels_last) is single
    assert single.to(memory_format=torch.channels_last).stride() == (3, 1, 3, 3)
    turned = torch.rand(4, 1, 4, 4).transpose(1, 2)
    assert turned.to(torch.float64).stride() == turned.stride()


def test_out_takes_requires_grad() -> None:
    assert torch.zeros(2, out=torch.zeros(2), requires_grad=True).requires_grad


@pytest.mark.parametrize("name", ["var", "std", "var_mean", "std_mean"])
def test_spreads_of_too_few_elements(name: str) -> None:
    spread = getattr(torch, name)
    for options in ({}, {"dim": 1}, {"correction": 7}, {"dim": [0], "correction": 2}):
        with pytest.warns(UserWarning, match=rf"^{name}\(\): degrees of freedom is <= 0"):
            spread(torch.ones(2, 1) if options else torch.ones(1), **options)
    with pytest.warns(UserWarning, match="degrees of freedom"):
        spread(torch.ones(0, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        spread(torch.ones(2))
        spread(torch.ones(1), unbiased=False)


def test_windows_that_are_not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warned, "GIVEN", set())
    x = torch.ones(20)
    with pytest.warns(UserWarning, match="known to cause spectral leakage"):
        spectrum = torch.stft(x, 8, return_complex=True)
    with pytest.warns(UserWarning, match="to make the inversion lossless"):
        torch.istft(spectrum, 8)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        torch.istft(
            torch.stft(x, 8, window=torch.ones(8), return_complex=True), 8, window=torch.ones(8)
        )
    with pytest.raises(RuntimeError, match="Cannot have onesided output if window or input is"):
        torch.stft(x + 0j, 8, window=torch.ones(8), onesided=True)


def test_bins_and_weights_of_another_dtype() -> None:
    x, edges = torch.ones(3), torch.tensor([0.0, 1.0], dtype=torch.float64)
    message = "input with dtype float and bins for dimension 0 with dtype double"
    with pytest.raises(RuntimeError, match=message):
        torch.histogram(x, edges)
    with pytest.raises(RuntimeError, match=message):
        torch.histogramdd(x[:, None], [edges])
    with pytest.raises(RuntimeError, match=r"got input\(float\), and weight\(double\)"):
        torch.histogram(x, 2, weight=edges.new_ones(3))
    with pytest.raises(RuntimeError, match="rfftn expects a real-valued input tensor, but got Com"):
        torch.fft.rfft2(torch.ones(2, 2) + 0j)


def test_what_is_no_bins_and_no_weights() -> None:
    x, edges, none = torch.rand(3, 3), torch.tensor([0.0, 1.0]), torch.tensor([])
    refused = {
        "at least 1 element, but got 0 elements in the bins tensor for dimension 0": (
            lambda: torch.histogram(x, none)
        ),
        "at least 1 element, but got 0 elements in the bins tensor for dimension 2": (
            lambda: torch.histogramdd(x, [edges, edges, none])
        ),
        "bins must be > 0, but got 0 for dimension 0": lambda: torch.histogram(x, edges[:1]),
        r"input with shape \[9, 1\] and weight with shape \[3\]": (
            lambda: torch.histogram(x, 3, weight=edges.new_ones(3))
        ),
        r"input with shape \[3, 3\] and weight with shape \[3, 1\]": (
            lambda: torch.histogramdd(x, [2, 2, 2], weight=edges.new_ones(3, 1))
        ),
    }
    for message, call in refused.items():
        with pytest.raises(RuntimeError, match=message):
            call()
    assert torch.histogram(x, edges, weight=torch.ones(3, 3)).hist.tolist() == [9.0]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_bins_have_the_edges_of_linspace(dtype: torch.dtype) -> None:
    x = torch.tensor([0.5, -1.25, 3.75], dtype=dtype)
    for count in range(1, 20):
        low, high = -3.3870338638112614 / count, 8.075690048470388
        edges = torch.linspace(low, high, count + 1, dtype=dtype)
        assert torch.equal(torch.histogram(x, count, range=(low, high)).bin_edges, edges)
    at = -8.306257
    single = torch.histogram(x, 3, range=(at, at))  # whose edges are moved, then rounded
    assert torch.equal(single.bin_edges, torch.linspace(at - 0.5, at + 0.5, 4, dtype=dtype))
    with pytest.raises(RuntimeError, match="cannot be converted to type float without overflow"):
        torch.histogram(x.float(), 2, range=(0.0, 1e39))


@pytest.mark.parametrize(("density", "expected"), [(False, 0.0), (True, np.nan)])
def test_points_without_dimensions_are_in_no_bin(density: bool, expected: float) -> None:
    counts, edges = torch.histogramdd(torch.ones(5, 0), [], density=density)
    np.testing.assert_equal(counts.item(), expected)
    assert (counts.shape, len(edges)) == ((), 0)
