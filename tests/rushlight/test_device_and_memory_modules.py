"""`torch.cuda`, `torch.random` and `torch.storage`, as programs for any machine use them."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import rushlight as torch


def test_there_is_no_cuda() -> None:
    assert not torch.cuda.is_available()
    assert torch.cuda.device_count() == 0
    assert torch.cuda.manual_seed_all(3) is None
    with pytest.raises(AssertionError, match="not compiled with CUDA"):
        torch.cuda.synchronize()


def test_tensors_lie_on_no_other_device() -> None:
    x = torch.ones(1)
    flags = "cuda ipu maia meta mkldnn mps mtia sparse sparse_csr vulkan xla xpu".split()
    assert [flag for flag in flags if getattr(x, f"is_{flag}")] == []


def test_fork_rng_leaves_the_generator_alone() -> None:
    torch.manual_seed(5)
    with torch.random.fork_rng():
        inner = torch.rand(3)
    outer = torch.rand(3)
    assert torch.equal(inner, outer)
    with torch.random.fork_rng(enabled=False):
        kept = torch.rand(3)
    assert not torch.equal(torch.rand(3), kept)


def test_typed_storage_is_the_whole_memory() -> None:
    x = torch.arange(6).view(2, 3)
    storage = x[1].storage()
    assert (len(storage), storage.nbytes(), storage.dtype) == (6, 48, torch.int64)
    assert storage.tolist() == list(range(6))
    assert storage[4] == 4
    storage[0] = 9
    assert x[0, 0] == 9
    assert str(storage).endswith(
        "[torch.storage.TypedStorage(dtype=torch.int64, device=cpu) of size 6]"
    )
    assert storage.data_ptr() == x.untyped_storage().data_ptr()


def test_layouts_by_name() -> None:
    assert str(torch.jagged) == "torch.jagged"
    assert torch.strided is torch.ones(1).layout


def test_an_engine_of_quantized_operators_is_chosen_among_those_there_are() -> None:
    settings: Any = torch.backends.quantized
    assert settings.engine == "x86"
    settings.engine = "qnnpack"
    assert settings.engine == "qnnpack"
    settings.engine = "x86"
    for name, message in (
        ("nope", "nope is not a valid value for quantized engine"),
        ("none", "quantized engine NoQEngine is not supported"),
    ):
        with pytest.raises(RuntimeError, match=message):
            settings.engine = name
    with pytest.raises(RuntimeError, match="Assignment not supported"):
        settings.supported_engines = []


def test_no_kernel_of_another_device_fits_a_call_of_attention() -> None:
    x = torch.ones(1, 1, 2, 2)
    asked = torch.backends.cuda.SDPAParams(x, x, x, None, 0.5, True, False)
    assert (asked.query is x, asked.attn_mask, asked.dropout) == (True, None, 0.5)
    assert not torch.backends.cuda.can_use_flash_attention(asked)
    assert not torch.backends.cuda.can_use_efficient_attention(asked, True)
    with pytest.raises(TypeError):
        torch.backends.cuda.SDPAParams(x, x, x, None, 0.5, True)  # type: ignore[call-arg]


def test_mixed_precision_of_another_device_says_that_it_is_not_there() -> None:
    assert torch.cuda.amp.common.amp_definitely_not_available()
    assert torch.cuda.amp.amp_definitely_not_available()


def test_windows_lie_where_tensors_are_made() -> None:
    hann = torch.signal.windows.hann
    with torch.device("meta"):
        assert hann(4).device.type == "meta"
        assert hann(4, device="cpu").device.type == "cpu"
    made = hann(4, device="meta", requires_grad=True)
    assert (made.device.type, made.requires_grad, made.is_leaf) == ("meta", True, True)
    with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
        hann(4, device="cuda")


def test_storages_have_ways_that_do_not_warn(monkeypatch: pytest.MonkeyPatch) -> None:
    from rushlight import storage as words

    monkeypatch.setattr(words.storage_warning._State, "always", True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = torch.FloatStorage(3, _internal=True)
        made._setitem(1, 5.0)
        assert (made._size(), made._nbytes(), made._getitem(1)) == (3, 12, 5.0)
        assert made._resize_(2)._size() == 2
        assert torch.ones(2)._typed_storage()._element_size() == 4
        assert torch.FloatStorage._dtype is torch.float32
    with pytest.warns(UserWarning, match="TypedStorage is deprecated"):
        made.size()


@pytest.mark.parametrize(
    ("args", "options", "error", "said"),
    [
        ((), {"other": 1}, TypeError, "unexpected keyword argument 'other'"),
        ((), {"device": "cpu"}, RuntimeError, "Keyword argument 'device' cannot be specified"),
        ((1, 2), {}, RuntimeError, "Too many positional arguments"),
        ((1.5,), {}, TypeError, "Argument type not recognized: <class 'float'>"),
        (("text",), {}, TypeError, "invalid data type 'str'"),
        ((), {"wrap_storage": 3}, TypeError, "must be UntypedStorage, but got <class 'int'>"),
        ((1,), {"wrap_storage": 3}, RuntimeError, "No positional arguments should be given"),
    ],
)
@pytest.mark.parametrize("kind", [torch.LongStorage, torch.QUInt8Storage])
def test_what_makes_no_storage(
    kind: Any, args: Any, options: Any, error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        kind(*args, **options)


def test_storages_are_no_elements() -> None:
    made = torch.LongStorage(1)
    for call in (made.fill_, lambda other: made.__setitem__(0, other)):
        with pytest.raises(RuntimeError, match=r"^cannot set item with value type <class"):
            call(made.untyped())


def test_the_class_of_storages_goes_with_the_default_dtype() -> None:
    try:
        for dtype in (torch.float64, torch.bfloat16, torch.float32):
            torch.set_default_dtype(dtype)
            assert torch.Storage.dtype is dtype
            assert isinstance(torch.ones(2).storage(), torch.Storage)
    finally:
        torch.set_default_dtype(torch.float32)
