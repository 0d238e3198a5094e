"""Questions programs ask of PyTorch before they start."""

from __future__ import annotations

import pytest

import rushlight as torch


def test_devices_that_are_not_there() -> None:
    assert not torch.cuda.is_available()
    assert torch.cuda.memory_allocated() == 0
    assert not torch.backends.mps.is_available()
    assert torch.version.cuda is None
    torch.backends.cudnn.benchmark = True
    with pytest.raises(AssertionError, match="CUDA"):
        torch.cuda.init()
    with pytest.raises(AssertionError, match="CUDA"):
        torch.set_default_device("cuda")
    torch.set_default_device("cpu")
    try:
        assert torch.get_default_device() == torch.device("cpu")
    finally:
        torch.set_default_device(None)  # else messages name it, of whatever test comes next


def test_determinism_is_remembered() -> None:
    assert torch.get_deterministic_debug_mode() == 0
    torch.use_deterministic_algorithms(True, warn_only=True)
    assert torch.get_deterministic_debug_mode() == 1
    torch.use_deterministic_algorithms(True)
    assert torch.are_deterministic_algorithms_enabled()
    assert torch.get_deterministic_debug_mode() == 2
    torch.use_deterministic_algorithms(False)
    with pytest.raises(TypeError, match=r"argument 'mode' \(position 1\) must be bool, not int"):
        torch.use_deterministic_algorithms(1)  # type: ignore[arg-type]


def test_what_torch_does_not_determine_is_refused_or_told() -> None:
    places = torch.tensor([0, 1])
    calls = [
        lambda: torch.zeros(3).put_(places, torch.ones(2)),
        lambda: torch.nn.functional.max_unpool1d(torch.ones(1, 1, 2), places[None, None], 3, 1),
    ]
    try:
        for call in calls:
            torch.use_deterministic_algorithms(True)
            with pytest.raises(RuntimeError, match="does not have a deterministic implementation"):
                call()
            torch.use_deterministic_algorithms(True, warn_only=True)
            with pytest.warns(UserWarning, match="does not have a deterministic implementation"):
                call()
        torch.zeros(3).put_(places, torch.ones(2), accumulate=True)
    finally:
        torch.use_deterministic_algorithms(False)


@pytest.mark.filterwarnings("ignore:torch.set_default_tensor_type")
def test_default_tensor_type() -> None:
    torch.set_default_tensor_type(torch.DoubleTensor)
    try:
        assert torch.zeros(1).dtype is torch.float64
    finally:
        torch.set_default_tensor_type("torch.FloatTensor")
    assert torch.zeros(1).dtype is torch.float32
    with pytest.raises(TypeError, match="floating-point"):
        torch.set_default_tensor_type(torch.LongTensor)
    with pytest.raises(TypeError, match=r"type torch.cuda.FloatTensor not available"):
        torch.set_default_tensor_type("torch.cuda.FloatTensor")


def test_names_of_types() -> None:
    assert torch.typename(torch.zeros(2, dtype=torch.int64)) == "torch.LongTensor"
    assert torch.typename(3) == "int"


def test_checkpoints_give_what_the_function_gives() -> None:
    from rushlight.utils.checkpoint import checkpoint, checkpoint_sequential

    x = torch.ones(2, requires_grad=True)
    checkpoint(torch.exp, x, use_reentrant=False).sum().backward()
    assert torch.equal(x.grad, torch.exp(x.detach()))
    steps = [torch.neg, torch.abs]
    assert checkpoint_sequential(steps, 2, torch.ones(1), use_reentrant=False).item() == 1
