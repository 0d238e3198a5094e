"""One step of an optimizer as a function of lists of tensors: `torch.optim.adam.adam` and its like.

Each does what the optimizer of its name does to a parameter, with the state that it is handed.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from inspect import Parameter, Signature
from typing import Any, Final, NamedTuple

from ..ops.table.grad_mode import no_grad

__all__ = ["STEPS"]

_REST: Final = "foreach=None capturable=False differentiable=False has_complex=False"
_SCALED: Final = "grad_scale=None found_inf=None"


class _Form(NamedTuple):
    """How a step is called.

    `lists` are the names of the lists behind parameters and gradients, each with the name of what
    it holds in the optimizer's state; `options` may stand after them; `numbers` are named.
    """

    optimizer: str
    lists: str
    options: str
    numbers: str

    def signature(self) -> Signature:
        """What Python sees."""
        grads = "d_p_list" if self.optimizer == "SGD" else "grads"
        lists = ["params", grads, *(each.partition(":")[0] for each in self.lists.split())]
        options = [each.partition("=") for each in self.options.split()]
        return Signature(
            [
                *(Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in lists),
                *(
                    Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=_DEFAULTS[default])
                    for name, _, default in options
                ),
                *(Parameter(name, Parameter.KEYWORD_ONLY) for name in self.numbers.split()),
            ]
        )


_DEFAULTS: Final = {"None": None, "False": False}
_MEANS: Final = "exp_avgs:exp_avg exp_avg_sqs:exp_avg_sq"
_ADAM: Final = _Form(
    "Adam",
    f"{_MEANS} max_exp_avg_sqs:max_exp_avg_sq state_steps:step",
    f"foreach=None capturable=False differentiable=False fused=None {_SCALED} has_complex=False "
    "decoupled_weight_decay=False",
    "amsgrad beta1 beta2 lr weight_decay eps maximize",
)
_FORMS: Final = {
    "adadelta": _Form(
        "Adadelta",
        "square_avgs:square_avg acc_deltas:acc_delta state_steps:step",
        "capturable=False foreach=None differentiable=False has_complex=False",
        "lr rho eps weight_decay maximize",
    ),
    "adagrad": _Form(
        "Adagrad",
        "state_sums:sum state_steps:step",
        f"fused=None {_SCALED} has_sparse_grad=False foreach=None differentiable=False "
        "has_complex=False",
        "lr weight_decay lr_decay eps maximize",
    ),
    "adam": _ADAM,
    "adamax": _Form(
        "Adamax",
        "exp_avgs:exp_avg exp_infs:exp_inf state_steps:step",
        "foreach=None maximize=False differentiable=False capturable=False has_complex=False",
        "eps beta1 beta2 lr weight_decay",
    ),
    "adamw": _ADAM._replace(
        optimizer="AdamW", options=_ADAM.options.removesuffix(" decoupled_weight_decay=False")
    ),
    "asgd": _Form(
        "ASGD",
        "axs:ax mus:mu etas:eta state_steps:step",
        "foreach=None maximize=False differentiable=False capturable=False has_complex=False",
        "lambd lr t0 alpha weight_decay",
    ),
    "nadam": _Form(
        "NAdam",
        f"{_MEANS} mu_products:mu_product state_steps:step",
        f"decoupled_weight_decay=False {_REST} maximize=False",
        "beta1 beta2 lr weight_decay momentum_decay eps",
    ),
    "radam": _Form(
        "RAdam",
        f"{_MEANS} state_steps:step",
        "decoupled_weight_decay=False foreach=None differentiable=False capturable=False "
        "has_complex=False maximize=False",
        "beta1 beta2 lr weight_decay eps",
    ),
    "rmsprop": _Form(
        "RMSprop",
        "square_avgs:square_avg grad_avgs:grad_avg momentum_buffer_list:momentum_buffer "
        "state_steps:step",
        "foreach=None maximize=False differentiable=False capturable=False has_complex=False",
        "lr alpha eps weight_decay momentum centered",
    ),
    "rprop": _Form(
        "Rprop",
        "prevs:prev step_sizes:step_size state_steps:step",
        "foreach=None capturable=False maximize=False differentiable=False has_complex=False",
        "step_size_min step_size_max etaminus etaplus",
    ),
    "sgd": _Form(
        "SGD",
        "momentum_buffer_list:momentum_buffer",
        f"has_sparse_grad=False foreach=None fused=None {_SCALED}",
        "weight_decay momentum lr dampening nesterov maximize",
    ),
}


def _group(optimizer: str, given: dict[str, Any]) -> dict[str, Any]:
    """The options as the optimizer's groups have them."""
    group = dict(given)
    if "beta1" in group:
        group["betas"] = (group["beta1"], group["beta2"])
    if "etaminus" in group:
        group["etas"] = (group["etaminus"], group["etaplus"])
        group["step_sizes"] = (group["step_size_min"], group["step_size_max"])
    if optimizer == "AdamW":
        group["decoupled_weight_decay"] = True
    return group


def _step(name: str, form: _Form) -> Callable[..., None]:
    signature = form.signature()
    kept = [each.partition(":")[::2] for each in form.lists.split()]

    def function(*args: Any, **kwargs: Any) -> None:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        given = bound.arguments
        params, grads = list(given.values())[:2]
        numbers = set(form.numbers.split()) | {
            each.partition("=")[0] for each in form.options.split()
        }
        group = _group(form.optimizer, {each: given[each] for each in numbers})
        cls = getattr(import_module(f"{__package__}.{name}"), form.optimizer)
        optimizer = object.__new__(cls)
        with no_grad():
            for place, (parameter, grad) in enumerate(zip(params, grads, strict=True)):
                state = {key: given[held][place] for held, key in kept if place < len(given[held])}
                optimizer.update(parameter, grad, state, group)
                for held, key in kept:
                    if key in state and state[key] is not given[held][place]:
                        given[held][place] = state[key]

    function.__name__ = function.__qualname__ = name
    function.__module__ = f"{__package__}.{name}"
    function.__doc__ = f"One step of `{form.optimizer}`: parameters and state are changed in place."
    vars(function)["__signature__"] = signature
    return function


STEPS: Final = {name: _step(name, form) for name, form in _FORMS.items()}
"""The functions by the modules of torch that have them."""
