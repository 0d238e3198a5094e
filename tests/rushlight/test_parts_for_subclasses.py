"""Parts of torch's classes that subclasses of packages call or replace."""

from __future__ import annotations

from typing import Any

import rushlight as torch
from rushlight import nn
from rushlight.utils.cpp_extension import CUDA_HOME, ROCM_HOME


def test_a_step_that_a_package_puts_into_a_class_calls_hooks() -> None:
    class Wrapper(torch.optim.Optimizer):
        """Has the step of another one, as optimizers around optimizers do."""

        def __init__(self, inner: torch.optim.Optimizer) -> None:
            self._optimizer_step_pre_hooks = inner._optimizer_step_pre_hooks
            self._optimizer_step_post_hooks = inner._optimizer_step_post_hooks
            self._patch_step_function()

    calls: list[str] = []

    def bare(self: object, closure: object = None) -> None:
        calls.append("step")

    Wrapper.step = bare
    inner = torch.optim.SGD([nn.Parameter(torch.ones(2))], 0.1)
    inner.register_step_pre_hook(lambda *given: calls.append("before"))
    wrapper = Wrapper(inner)
    wrapper._patch_step_function()  # once is enough
    wrapper.step()
    assert calls == ["before", "step"]
    own = torch.optim.Optimizer.profile_hook_step(bare)
    own(wrapper)
    assert calls == ["before", "step"] * 2


def test_optimizers_cut_lists_by_dtype() -> None:
    singles, double = torch.ones(2), torch.ones(3, dtype=torch.float64)
    found = torch.optim.Optimizer._group_tensors_by_device_and_dtype([[singles, double]], True)
    assert [(key[1], places) for key, (_, places) in found.items()] == [
        (torch.float32, [0]),
        (torch.float64, [1]),
    ]


def test_containers_tell_names_of_places() -> None:
    class Reversed(nn.ModuleList):
        def __getitem__(self, index: int) -> nn.Module:
            return self._modules[self._get_abs_string_index(-1 - index)]

    parts = [nn.Linear(1, 1), nn.Linear(1, 2)]
    assert Reversed(parts)[0] is parts[1]
    assert nn.Sequential(*parts)._get_item_by_idx(iter("ab"), -2) == "a"


def test_parallel_modules_cut_and_join_arguments() -> None:
    for kind in (nn.DataParallel, nn.parallel.DistributedDataParallel):
        scatter, gather = kind.scatter, kind.gather
        whole = nn.DataParallel(nn.Linear(2, 2))
        args, kwargs = scatter(whole, (torch.arange(6.0).view(3, 2),), {"n": 1}, [0, 1, 2])
        assert [each[0].tolist() for each in args] == [[[0.0, 1.0]], [[2.0, 3.0]], [[4.0, 5.0]]]
        assert list(kwargs) == [{"n": 1}] * 3
        joined = gather(whole, [each[0] for each in args], "cpu")
        assert joined.tolist() == torch.arange(6.0).view(3, 2).tolist()
    whole = nn.DataParallel(nn.Identity())
    copies = whole.replicate(whole.module, [0, 1])
    assert whole.parallel_apply(copies, [(1,), (2,)], [{}, {}]) == [1, 2]


def test_tensors_tell_whether_data_can_be_exchanged_and_elements_meet() -> None:
    dense, sparse = torch.eye(2), torch.eye(2).to_sparse()
    assert torch._has_compatible_shallow_copy_type(dense, dense.double())
    assert torch._has_compatible_shallow_copy_type(sparse, sparse)
    assert not torch._has_compatible_shallow_copy_type(dense, sparse)
    asked = torch._debug_has_internal_overlap
    whole = torch.zeros(2, 3)
    ones = torch.zeros(1).expand(3)
    rows = torch.zeros(8).as_strided((3, 3), (1, 1))
    assert [asked(each) for each in (whole, whole.T, whole[:, ::2], ones, rows)] == [0, 0, 2, 1, 2]


def test_names_that_packages_take_from_other_places() -> None:
    assert torch.functional.F is nn.functional
    assert CUDA_HOME is None
    assert ROCM_HOME is None
    assert not torch.cuda._is_in_bad_fork()
    assert torch.backends.cuda.matmul.fp32_precision == "none"
    assert torch.backends.cudnn.conv.fp32_precision == "tf32"


class Named(torch.Tensor):
    """Results get the attributes of the first operand, as fastai gives them."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = super().__torch_function__(func, types, args, kwargs or {})
        if isinstance(made, torch.Tensor):
            made.__dict__ = args[0].__dict__
        return made


def test_attributes_that_results_are_given_leave_gradients_alone() -> None:
    x = torch.ones(3, requires_grad=True)
    named = (x * 2).as_subclass(Named)
    named.label = "doubled"
    turned = (named.reshape(3, 1) * 3).t()
    assert (turned.label, type(turned)) == ("doubled", Named)
    turned.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [6.0, 6.0, 6.0]
    weight = nn.Parameter(torch.ones(2))
    weight.__dict__ = {"label": "weight", "_grad_node": None}
    assert (dict(weight.__dict__), weight.is_leaf) == ({"label": "weight"}, True)
