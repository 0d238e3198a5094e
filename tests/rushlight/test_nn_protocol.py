"""More of Module's protocol: hooks, conversions, places in the tree, ParameterDict, lazy layers.

Texts and orders are those that torch 2.13 gave.
"""

from __future__ import annotations

import copy
from collections import OrderedDict
from typing import Any

import pytest

import rushlight as torch
from rushlight import nn


def test_set_submodule() -> None:
    m = nn.Sequential(nn.Sequential(nn.ReLU()))
    m.set_submodule("0.0", nn.Tanh())
    m.set_submodule("0.1", nn.Sigmoid())
    text = "Sequential(\n  (0): Sequential(\n    (0): Tanh()\n    (1): Sigmoid()\n  )\n)"
    assert repr(m) == text
    for target, module, strict, error, message in (
        ("", nn.Tanh(), False, ValueError, "Cannot set the submodule without a target name!"),
        ("0.1", 3, False, ValueError, "`module` is not an nn.Module, found <class 'int'>"),
        ("a.1", nn.Tanh(), False, AttributeError, "Sequential has no attribute `a`"),
        ("0.7", nn.Tanh(), True, AttributeError, "Sequential has no attribute `7`"),
        ("0.training", nn.Tanh(), False, AttributeError, "`training` is not an nn.Module"),
    ):
        with pytest.raises(error) as info:
            m.set_submodule(target, module, strict)  # type: ignore[arg-type]
        assert str(info.value) == message


def test_conversions() -> None:
    m = nn.BatchNorm1d(2)
    weight = m.weight
    assert m.to(torch.float64) is m
    assert m.weight is weight
    assert (weight.dtype, m.num_batches_tracked.dtype) == (torch.float64, torch.int64)
    assert m.type(torch.float16).num_batches_tracked.dtype is torch.float16
    assert m.bfloat16().weight.dtype is torch.bfloat16
    assert m.to(torch.ones(1)).weight.dtype is torch.float32
    assert m.to(device="cpu", dtype=torch.float64, non_blocking=True).bias.dtype is torch.float64
    assert m.to_empty(device="cpu").share_memory().cpu() is m
    image = nn.Conv2d(2, 2, 3).to(memory_format=torch.channels_last)
    assert image.weight.stride() == (18, 1, 6, 2)
    with pytest.raises(TypeError, match=r"floating point or complex dtypes, .*torch\.int32"):
        m.to(torch.int32)
    with pytest.raises(TypeError, match="invalid combination of arguments - got \\(float\\)"):
        m.to(1.5)
    with pytest.raises(AssertionError, match="not compiled with CUDA"):
        m.cuda()


def test_modules_run_as_they_are_when_compiled_in_place() -> None:
    m = nn.Linear(1, 1)
    m.compile(mode="reduce-overhead")
    assert m._compiled_call_impl is None
    assert m(torch.ones(1, 1)).shape == (1, 1)
    with pytest.raises(TypeError, match="fast"):
        m.compile(fast=True)


def test_replicas_share_what_they_hold_but_have_no_parameters() -> None:
    m = nn.Sequential(nn.BatchNorm1d(2))
    replica = m._replicate_for_data_parallel()
    assert type(replica) is nn.Sequential
    assert replica[0] is m[0]
    inner = m[0]._replicate_for_data_parallel()
    assert not list(inner.parameters())
    assert inner.running_mean is m[0].running_mean
    inner.running_mean = torch.ones(2)
    assert m[0].running_mean.sum() == 0
    assert m[0].weight is not None


def test_hooks_of_state_dicts() -> None:
    m = nn.Linear(1, 1)
    seen: list[Any] = []
    m.register_load_state_dict_pre_hook(lambda module, state, prefix, *_: seen.append(module))
    m._register_load_state_dict_pre_hook(lambda state, prefix, *_: seen.append(list(state)))
    handle = m._register_state_dict_hook(lambda *_: {"x": 1})
    assert m.state_dict() == {"x": 1}
    handle.remove()
    m.load_state_dict(m.state_dict())
    assert seen == [m, ["weight", "bias"]]
    m.register_load_state_dict_post_hook(lambda module, keys: 3)
    with pytest.raises(AssertionError, match="not expected to return new values"):
        m.load_state_dict(m.state_dict())


def test_state_dict_arguments_in_their_old_places() -> None:
    found: dict[str, Any] = {}
    m = nn.Linear(1, 1)
    assert m.state_dict(found, "p.", True) is found
    assert found["p.weight"] is m.weight


def test_hooks_of_all_modules() -> None:
    module = nn.modules.module
    seen: list[str] = []
    before = module.register_module_forward_pre_hook(lambda m, args: seen.append("before"))
    after = module.register_module_forward_hook(
        lambda m, args, result: seen.append(type(m).__name__)
    )
    nn.Sequential(nn.ReLU())(torch.ones(1))
    assert seen == ["before", "before", "ReLU", "Sequential"]
    before.remove()
    after.remove()
    nn.ReLU()(torch.ones(1))
    assert len(seen) == 4


def test_a_failing_hook_does_not_hide_the_first_error() -> None:
    def fail(*_: Any) -> None:
        raise KeyError("second")

    m = nn.Linear(1, 1)
    m.register_forward_hook(fail, always_call=True)
    with pytest.warns(UserWarning, match="silenced"), pytest.raises((TypeError, RuntimeError)):
        m("first")


class Held(nn.Module):
    """Attributes of names that helpers of Module might have."""

    def __init__(self) -> None:
        super().__init__()
        self._need = nn.ReLU()
        self._forget = nn.Tanh()
        self._named = nn.Parameter(torch.ones(1))
        self._forward = 3


def test_attributes_may_have_any_name() -> None:
    m = Held()
    assert (type(m._need), type(m._forget), m._forward) == (nn.ReLU, nn.Tanh, 3)
    assert m.get_parameter("_named") is m._named
    assert type(m.get_submodule("_forget")) is nn.Tanh


# --------------------------------------------------------------------------- ParameterDict


def test_parameter_dict() -> None:
    p = nn.ParameterDict({"b": 3, "a": nn.Parameter(torch.ones(2))})
    assert repr(p) == (
        "ParameterDict(\n    (a): Parameter containing: [torch.FloatTensor of size 2]\n"
        "    (b): Object of type: int\n)"
    )
    p["c"] = torch.zeros(1)
    assert isinstance(p["c"], nn.Parameter)
    assert (p.setdefault("d"), p.get("z", 4), p.pop("b"), p.popitem()) == (None, 4, 3, ("d", None))
    assert (list(p), len(p), "a" in p, list(reversed(p))) == (["a", "c"], 2, True, ["c", "a"])
    p.update([("k", torch.ones(1))])
    assert [k for k, _ in p.items()] == ["a", "c", "k"]
    assert list(p | {"z": 1}) == ["a", "c", "k", "z"]
    assert list({"z": 1} | p) == ["z", "a", "c", "k"]
    copied = p.copy()
    p |= OrderedDict(y=1, x=2)
    assert list(p) == ["a", "c", "k", "y", "x"]
    assert copied["a"] is p["a"]
    assert list(p.fromkeys(["u"], 1).items()) == [("u", 1)]
    p.clear()
    assert (len(p), list(p.values()), p.state_dict()) == (0, [], {})


@pytest.mark.parametrize(
    ("act", "error", "text"),
    [
        (lambda p: p.update(3), TypeError, "iterable of key/value pairs, but got int"),
        (lambda p: p.update([(1, 2, 3)]), ValueError, "#0 has length 3; 2 is required"),
        (lambda p: p(1), RuntimeError, "ParameterDict should not be called."),
        (lambda p: p[3], TypeError, "not a string \\(type is 'int'\\)"),
        (lambda p: p.update({"keys": torch.ones(1)}), KeyError, "'keys' already exists"),
        (lambda p: p["a"], AttributeError, "'ParameterDict' object has no attribute 'a'"),
    ],
)
def test_parameter_dict_refuses(act: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        act(nn.ParameterDict())


# --------------------------------------------------------------------------- lazy layers


@pytest.mark.parametrize(
    ("lazy", "shape", "full"),
    [
        (lambda: nn.LazyLinear(3), (2, 4), lambda: nn.Linear(4, 3)),
        (lambda: nn.LazyConv2d(4, 2, groups=2), (1, 2, 4, 4), lambda: nn.Conv2d(2, 4, 2, groups=2)),
        (lambda: nn.LazyConv1d(3, 2, bias=False), (5, 4), lambda: nn.Conv1d(5, 3, 2, bias=False)),
        (
            lambda: nn.LazyConvTranspose3d(3, 2),
            (1, 2, 2, 2, 2),
            lambda: nn.ConvTranspose3d(2, 3, 2),
        ),
        (nn.LazyBatchNorm2d, (2, 3, 2, 2), lambda: nn.BatchNorm2d(3)),
        (
            nn.LazyInstanceNorm1d,
            (2, 3, 4),
            lambda: nn.InstanceNorm1d(3, affine=True, track_running_stats=True),
        ),
    ],
)
def test_lazy_layers_become_the_others(lazy: Any, shape: tuple[int, ...], full: Any) -> None:
    layer = lazy()
    x = torch.ones(*shape)
    torch.manual_seed(3)
    result = layer(x)
    torch.manual_seed(3)
    other = full()
    assert type(layer) is type(other)
    assert repr(layer) == repr(other)
    assert result.tolist() == other(x).tolist()
    assert list(layer.state_dict()) == list(other.state_dict())
    assert torch.jit.script(layer.eval())(x).tolist() == other.eval()(x).tolist()


def test_lazy_layers_before_their_first_call() -> None:
    m = nn.LazyLinear(3)
    assert repr(m) == "LazyLinear(in_features=0, out_features=3, bias=True)"
    assert repr(m.state_dict()["weight"]) == "<UninitializedParameter>"
    assert copy.deepcopy(m)(torch.ones(1, 2)).shape == (1, 3)
    with pytest.raises(RuntimeError, match="Can't access the shape of an uninitialized parameter"):
        _ = m.weight.shape
    with pytest.raises(RuntimeError, match="has uninitialized parameters weight"):
        torch.jit.script(nn.Sequential(m))
    with pytest.raises(
        RuntimeError, match=r"3D \(unbatched\) or 4D \(batched\) input to LazyConv2d"
    ):
        nn.LazyConv2d(3, 2)(torch.ones(4, 4))
    m.load_state_dict(nn.Linear(4, 3).state_dict())
    assert m.weight.shape == (3, 4)
    assert m(torch.ones(1, 4)).shape == (1, 3)


# --------------------------------------------------------------------------- scripted modules


class Containers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.d = nn.ModuleDict({"a": nn.ReLU(), "b": nn.Tanh()})
        self.l = nn.ModuleList([nn.ReLU(), nn.Linear(1, 1)])
        self.values = nn.Sequential(nn.ReLU())
        self.n = 3

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.l:
            x = layer(x)
        return self.values(x) * self.n


def test_scripted_containers() -> None:
    m = torch.jit.script(Containers())
    assert (len(m.d), list(m.d), "a" in m.d, list(m.d.keys())) == (2, ["a", "b"], True, ["a", "b"])
    assert m.d["b"].original_name == "Tanh"
    assert [layer.original_name for layer in m.l] == ["ReLU", "Linear"]
    assert m.l[-1] is m.l[1]
    assert len(m.l[:1]) == 1
    assert m.values[0].original_name == "ReLU"
    assert bool(m)
    with pytest.raises(NotImplementedError, match="not known to be a container"):
        len(m)


def test_what_scripted_modules_refuse() -> None:
    m = torch.jit.script(Containers())
    for act, text in (
        (lambda: setattr(m, "n", "x"), "Could not cast attribute 'n' to type int"),
        (lambda: setattr(m, "d", nn.ReLU()), "replace existing module 'd'"),
        (lambda: m.add_module("z", nn.ReLU()), "replace existing module 'z'"),
        (lambda: m.register_parameter("z", nn.Parameter(torch.ones(1))), "Can't add a new"),
        (lambda: delattr(m, "d"), "cannot delete methods or parameters of a script module"),
    ):
        with pytest.raises(RuntimeError, match=text):
            act()
    m.l = m.l
    m.n = 4
    assert m(torch.ones(1, 1)).shape == (1, 1)


def test_buffers_by_a_method_that_knows_nothing_of_persistence() -> None:
    class Own(nn.Module):
        def register_buffer(self, name: str, value: Any) -> None:  # type: ignore[override]
            super().register_buffer(name, value)

    module = Own()
    module.held = nn.Buffer(torch.ones(2))
    assert list(module.state_dict()) == ["held"]


def test_modules_refuse_to_be_copied_by_to() -> None:
    with pytest.raises(RuntimeError, match=r"\.to\(\) does not accept copy argument"):
        nn.Linear(2, 2).to("cpu", copy=True)


@pytest.mark.parametrize("trained", [True, False])
def test_a_fused_bias_is_trained_as_its_own_was(trained: bool) -> None:
    layer, norm = nn.Conv2d(1, 1, 1).eval(), nn.BatchNorm2d(1).eval()
    layer.weight.requires_grad_(not trained)
    layer.bias.requires_grad_(trained)
    fused = torch.nn.utils.fuse_conv_bn_eval(layer, norm)
    assert (fused.weight.requires_grad, fused.bias.requires_grad) == (not trained, trained)


def test_norms_whose_order_is_a_text() -> None:
    assert torch.nn.utils.get_total_norm([torch.tensor([3.0, -4.0])], "inf") == 4


def test_attention_over_no_sequences() -> None:
    attention = nn.MultiheadAttention(8, 2)
    x = torch.ones(5, 0, 8, requires_grad=True)
    assert attention(x, x, x, need_weights=False)[0].shape == (5, 0, 8)


def test_a_bound_of_softshrink_that_is_too_large_for_the_dtype() -> None:
    for dtype, name in ((torch.float32, "Float"), (torch.float64, "Double")):
        with pytest.raises(RuntimeError, match=f"for input dtype {name}, but found -1"):
            nn.functional.softshrink(torch.ones(2, dtype=dtype), -1)
