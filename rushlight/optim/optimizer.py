"""What optimizers have in common: groups of parameters, their state, saving both."""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

from ..module_names import names_of
from ..ops.memory.dtype import Device, DType
from ..ops.table.grad_mode import enable_grad, set_grad_enabled
from ..ops.tensor_lists.steps import decayed
from ..ops.tensors.cleared_gradients import clear_gradient
from ..ops.tensors.tensor import Tensor
from ..utils._foreach_utils import _group_tensors_by_device_and_dtype
from .complex_parameters import as_pairs, keep_pairs
from .given_parameters import check_same_naming, tensors_and_names, type_name
from .hooks import (
    Hooked,
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)
from .saved_state import Group as Group
from .saved_state import StateDict, count_step, counter, loaded_state, packed, with_counters
from .step_parts import *  # noqa: F403
from .step_parts import __all__ as _step_parts
from .together import Fused, Together

__all__ = [
    *_step_parts,
    "Optimizer",
    "check_betas",
    "check_means",
    "check_one_rate",
    "check_options",
    "check_ranges",
    "count_step",
    "counter",
    "register_optimizer_step_post_hook",
    "register_optimizer_step_pre_hook",
    "required",
    *("toward", "with_decay"),
]

Params = Iterable[Tensor] | Iterable[Group]


class _RequiredParameter:
    """Stands for an option without a default."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _RequiredParameter()


def check_options(**options: float) -> None:
    """Refuse negative options.

    Raises:
        ValueError: an option is negative, or a rate has several elements.
    """
    words = {"lr": "learning rate", "eps": "epsilon value", "weight_decay": "weight_decay value"}
    words |= {"momentum": "momentum value", "lr_decay": "lr_decay value", "alpha": "alpha value"}
    words |= {"initial_accumulator_value": "initial_accumulator_value value"}
    words |= {"momentum_decay": "momentum_decay value"}
    for name, value in options.items():
        if name == "lr":
            check_one_rate(value)
        if value < 0.0:
            raise ValueError(f"Invalid {words[name]}: {value}")


def check_betas(betas: tuple[float, float]) -> None:
    """Refuse shares of running means that are none.

    Raises:
        ValueError: one is not from 0 to 1, or it is 1.
    """
    for number, beta in enumerate(betas):
        if not 0.0 <= beta < 1.0:
            raise ValueError(f"Invalid beta parameter at index {number}: {beta}")


def check_means(lr: float, betas: tuple[float, float], eps: float, **options: float) -> None:
    """Refuse options of running means of gradients and their squares.

    Raises:
        ValueError: one is negative, a rate has several elements, or a share is none.
    """
    check_options(lr=lr, eps=eps)
    check_betas(betas)
    check_options(**options)


def check_one_rate(lr: float | Tensor) -> None:
    """Refuse a tensor of several rates.

    Raises:
        ValueError: it has not one element.
    """
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")


def check_ways(options: Group) -> None:
    """Refuse ways to make steps that exclude each other.

    Raises:
        RuntimeError: fused steps would be differentiated, or made for all parameters at once.
        ValueError: steps for all parameters at once have a rate that is a tensor.
    """
    if options.get("fused"):
        if options.get("differentiable"):
            raise RuntimeError("`fused` does not support `differentiable`")
        if options.get("foreach"):
            raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
    is_at_once = options.get("foreach") and options.get("capturable") is False
    if is_at_once and isinstance(options.get("lr"), Tensor):
        raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")


def check_ranges(*options: tuple[str, float | Tensor, float]) -> None:
    """Refuse options (their name, value and least value) below their least value.

    Raises:
        ValueError: one is.
    """
    for name, value, least in options:
        if not value >= least:
            raise ValueError(f"{name} should be >= {least:g} but is: {value}")


def toward(grad: Tensor, group: Group) -> Tensor:
    """The gradient in the direction to go."""
    return -grad if group["maximize"] else grad


def with_decay(parameter: Tensor, grad: Tensor, group: Group) -> Tensor:
    """The gradient in the direction to go, with the weight decay in it or taken from the weight."""
    return decayed(
        parameter,
        toward(grad, group),
        lr=group["lr"],
        weight_decay=group["weight_decay"],
        decoupled=bool(group.get("decoupled_weight_decay")),
    )


class Optimizer(Hooked):
    """Changes parameters by their gradients.

    Args:
        params: the parameters, or groups of them: dicts with `params` and options of their own.
        defaults: the options of groups that do not say otherwise.
    """

    sparse_refusal: ClassVar[str | None] = "{} does not support sparse gradients"
    """What is said of a sparse gradient; None where they are taken."""

    takes_pairs: ClassVar[bool] = True
    """Whether a complex parameter is changed as pairs of real numbers."""

    has_counters: ClassVar[bool] = True
    """Whether the numbers of steps that are kept are tensors."""

    def __init__(self, params: Params, defaults: Group) -> None:
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, "
                f"but got {type_name(params)}"
            )
        self._make_tables()
        self.defaults = defaults
        self.state: dict[Tensor, Group] = defaultdict(dict)
        self.param_groups: list[Group] = []
        given: list[Any] = list(params)
        if not given:
            raise ValueError("optimizer got an empty parameter list")
        groups = given if isinstance(given[0], dict) else [{"params": given}]
        for group in groups:
            self.add_param_group(group)

    def _make_tables(self) -> None:
        super()._make_tables()
        self._together = Together()

    def add_param_group(self, param_group: Group) -> None:
        """Add a group of parameters.

        Raises:
            ValueError: an option is missing, a parameter is in another group, or only some have
                names.
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        check_ways(self.defaults)
        group = dict(param_group)
        differentiable = bool(self.defaults.get("differentiable"))
        group["params"], names = tensors_and_names(group["params"], differentiable)
        if names:
            group["param_names"] = names
        check_same_naming(self.param_groups, group)
        for name, default in self.defaults.items():
            if default is required and name not in group:
                raise ValueError(
                    "parameter group didn't specify a value of required optimization parameter "
                    f"{name}"
                )
            group.setdefault(name, default)
        known = {id(p) for other in self.param_groups for p in other["params"]}
        if any(id(p) in known for p in group["params"]):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(group)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Take the gradients away, or make them zero."""
        for parameter in self._parameters():
            clear_gradient(parameter, set_to_none)

    def _parameters(self) -> Iterable[Tensor]:
        for group in self.param_groups:
            yield from group["params"]

    def step(self, closure: Callable[[], object] | None = None) -> Any:
        """Change the parameters once.

        Args:
            closure: computes the loss anew; called first, its result is returned.
        """
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        with set_grad_enabled(bool(self.defaults.get("differentiable"))):
            for group in self.param_groups:
                for parameter in self._together.left(self, group):
                    if parameter.grad is not None:
                        self._check(parameter.grad)
                        self._update_one(parameter, parameter.grad, group)
        return loss

    @staticmethod
    def _group_tensors_by_device_and_dtype(
        tensorlistlist: Sequence[Sequence[Tensor | None]], with_indices: bool = False
    ) -> Mapping[tuple[Device, DType], tuple[list[list[Tensor | None]], list[int]]]:
        """Lists of a group's tensors cut up by device and dtype, as optimizers of packages take
        them: see `torch.utils._foreach_utils`."""
        return _group_tensors_by_device_and_dtype(tensorlistlist, with_indices)

    def _update_one(self, parameter: Tensor, grad: Tensor, group: Group) -> None:
        state = self.state.get(parameter, {})
        if self.takes_pairs and parameter.is_complex():
            pairs, (numbers, slopes) = as_pairs(state), as_pairs([parameter, grad])
            self.update(numbers, slopes, pairs, group)
            keep_pairs(pairs, state, parameter)
        else:
            self.update(parameter, grad, state, group)
        if state:
            self.state[parameter] = state

    def _check(self, grad: Tensor) -> None:
        if self.sparse_refusal is not None and grad.is_sparse:
            raise RuntimeError(self.sparse_refusal.format(type(self).__name__))

    def update(self, parameter: Tensor, grad: Tensor, state: Group, group: Group) -> None:
        """Change one parameter."""
        raise NotImplementedError

    def _fused(self, step: float, group: Group) -> Fused | None:
        """Step `step` of a group as one kernel; None where there is none of any parameter."""
        return None

    def _cuda_graph_capture_health_check(self) -> None:
        """What optimizers of packages ask before a step: whether a GPU records it. None does."""

    _accelerator_graph_capture_health_check = _cuda_graph_capture_health_check

    # ------------------------------------------------------------------ saving

    def __getstate__(self) -> Group:
        """What copies and pickles hold: not what schedulers have put around `step`."""
        return {
            "defaults": self.defaults,
            "state": self.state,
            "param_groups": self.param_groups,
        }

    def __setstate__(self, state: Group) -> None:
        super().__setstate__(state)
        if self.has_counters:
            for kept in self.state.values():
                with_counters(kept)

    def state_dict(self) -> StateDict:
        """The state and the options, with numbers for parameters."""
        for hook in self._optimizer_state_dict_pre_hooks.values():
            hook(self)
        found = packed(self.param_groups, self.state)
        for hook in self._optimizer_state_dict_post_hooks.values():
            changed = hook(self, found)
            found = found if changed is None else changed
        return found

    def load_state_dict(self, state_dict: StateDict) -> None:
        """Take over what `state_dict` gave.

        Raises:
            ValueError: the groups are not alike.
        """
        state_dict = state_dict.copy()
        for hook in self._optimizer_load_state_dict_pre_hooks.values():
            changed = hook(self, state_dict)
            state_dict = state_dict if changed is None else changed
        saved = state_dict["param_groups"]
        if len(saved) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        for group, other in zip(self.param_groups, saved, strict=True):
            if len(group["params"]) != len(other["params"]):
                raise ValueError(
                    "loaded state dict contains a parameter group that doesn't match the size of "
                    "optimizer's group"
                )
        by_number: dict[int, Tensor] = {}
        for group, other in zip(self.param_groups, saved, strict=True):
            by_number.update(zip(other["params"], group["params"], strict=True))
            group.update({k: copy.deepcopy(v) for k, v in other.items() if k != "params"})
        self.state = loaded_state(state_dict["state"], by_number, self.has_counters)
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for number, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {number}")
            lines += [f"    {key}: {group[key]}" for key in sorted(group) if key != "params"]
        return "\n".join([*lines, ")"])


__getattr__ = names_of(__name__)
