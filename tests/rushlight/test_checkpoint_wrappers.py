"""Modules around modules that compute again on the way back; results are torch 2.13's."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight as torch
from rushlight import nn
from rushlight.distributed.algorithms._checkpoint import checkpoint_wrapper as wrapper


def _nested() -> Any:
    torch.manual_seed(0)
    return nn.Sequential(nn.Sequential(nn.Linear(2, 3), nn.ReLU()), nn.Linear(3, 1))


def test_wrapped_modules_save_and_name_what_is_within() -> None:
    plain, module = _nested(), _nested()
    wrapper.apply_activation_checkpointing(module, check_fn=lambda m: isinstance(m, nn.Linear))
    assert [type(each).__name__ for each in (module[0][0], module[0][1], module[1])] == [
        "CheckpointWrapper",
        "ReLU",
        "CheckpointWrapper",
    ]
    assert sorted(module.state_dict()) == sorted(plain.state_dict())
    assert [name for name, _ in module[1].named_parameters()] == ["weight", "bias"]
    assert module[1].in_features == 3
    x = torch.randn(4, 2)
    module(x).sum().backward()
    plain(x).sum().backward()
    assert torch.equal(module[1].weight.grad, plain[1].weight.grad)
    module.load_state_dict({name: value * 0 for name, value in plain.state_dict().items()})
    assert module(x).abs().sum().item() == 0
    whole: Any = wrapper.checkpoint_wrapper(plain)
    assert whole[0] is plain[0]
    wrapper.apply_activation_checkpointing(whole)
    assert sorted(whole.state_dict()) == sorted(plain.state_dict())
    whole.load_state_dict(plain.state_dict())
    with pytest.raises(AttributeError, match="nonsense"):
        whole.nonsense  # noqa: B018


class _Counted(nn.Module):
    calls = 0

    def forward(self, x: torch.Tensor, *, by: int = 1) -> torch.Tensor:
        self.calls += 1
        return torch.relu(x) * by


@pytest.mark.parametrize("way", list(wrapper.CheckpointImpl))
def test_wrapped_modules_run_again_on_the_way_back(way: wrapper.CheckpointImpl) -> None:
    inner, x = _Counted(), torch.ones(2, requires_grad=True)
    wrapper.checkpoint_wrapper(inner, way)(x, by=3).sum().backward()
    assert x.grad is not None
    assert (inner.calls, x.grad.tolist()) == (2, [3, 3])
    by_another = wrapper.checkpoint_wrapper(inner, checkpoint_fn=lambda f, *a, **k: f(*a, **k) * 10)
    assert by_another(x).tolist() == [10, 10]
    assert wrapper.offload_wrapper(inner)(x).tolist() == [1, 1]


def test_policies_say_what_is_wrapped_and_where_to_look() -> None:
    module = _nested()

    def policy(each: nn.Module, recurse: bool, numel: int) -> bool:
        return not recurse and isinstance(each, nn.Linear)

    wrapper.apply_activation_checkpointing(module, auto_wrap_policy=policy)
    assert type(module[1]) is wrapper.CheckpointWrapper
    assert type(module[0][0]) is nn.Linear
