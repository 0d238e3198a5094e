"""One step of an optimizer as a function of lists of tensors: `torch.optim.adam.adam` and its like.

Each does what the optimizer of its name does to a parameter, with the state that it is handed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Parameter, Signature
from typing import Final, NamedTuple

from ..ops.table.grad_mode import no_grad
from .optimizer import Group, Optimizer

__all__ = ["step_of"]

_REST: Final = "foreach=None maximize=False differentiable=False capturable=False has_complex=False"
_SCALED: Final = "grad_scale=None found_inf=None"


class _Form(NamedTuple):
    """How a step is called.

    `lists` are the names of the lists behind parameters and gradients, each with the name of what
    it holds in the optimizer's state; `options` may stand after them; `numbers` are named.
    """

    lists: str
    options: str
    numbers: str
    grads: str = "grads"

    def signature(self) -> Signature:
        """What Python sees."""
        lists = ["params", self.grads, *(each.partition(":")[0] for each in self.lists.split())]
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
    f"{_MEANS} max_exp_avg_sqs:max_exp_avg_sq state_steps:step",
    f"foreach=None capturable=False differentiable=False fused=None {_SCALED} has_complex=False "
    "decoupled_weight_decay=False",
    "amsgrad beta1 beta2 lr weight_decay eps maximize",
)
_FORMS: Final = {
    "adadelta": _Form(
        "square_avgs:square_avg acc_deltas:acc_delta state_steps:step",
        "capturable=False foreach=None differentiable=False has_complex=False",
        "lr rho eps weight_decay maximize",
    ),
    "adagrad": _Form(
        "state_sums:sum state_steps:step",
        f"fused=None {_SCALED} has_sparse_grad=False foreach=None differentiable=False "
        "has_complex=False",
        "lr weight_decay lr_decay eps maximize",
    ),
    "adam": _ADAM,
    "adamax": _Form(
        "exp_avgs:exp_avg exp_infs:exp_inf state_steps:step",
        _REST,
        "eps beta1 beta2 lr weight_decay",
    ),
    "adamw": _ADAM._replace(options=_ADAM.options.removesuffix(" decoupled_weight_decay=False")),
    "asgd": _Form(
        "axs:ax mus:mu etas:eta state_steps:step",
        _REST,
        "lambd lr t0 alpha weight_decay",
    ),
    "nadam": _Form(
        f"{_MEANS} mu_products:mu_product state_steps:step",
        "decoupled_weight_decay=False foreach=None capturable=False differentiable=False "
        "has_complex=False maximize=False",
        "beta1 beta2 lr weight_decay momentum_decay eps",
    ),
    "radam": _Form(
        f"{_MEANS} state_steps:step",
        "decoupled_weight_decay=False foreach=None differentiable=False capturable=False "
        "has_complex=False maximize=False",
        "beta1 beta2 lr weight_decay eps",
    ),
    "rmsprop": _Form(
        "square_avgs:square_avg grad_avgs:grad_avg momentum_buffer_list:momentum_buffer "
        "state_steps:step",
        _REST,
        "lr alpha eps weight_decay momentum centered",
    ),
    "rprop": _Form(
        "prevs:prev step_sizes:step_size state_steps:step",
        "foreach=None capturable=False maximize=False differentiable=False has_complex=False",
        "step_size_min step_size_max etaminus etaplus",
    ),
    "sgd": _Form(
        "momentum_buffer_list:momentum_buffer",
        f"has_sparse_grad=False foreach=None fused=None {_SCALED}",
        "weight_decay momentum lr dampening nesterov maximize",
        grads="d_p_list",
    ),
}
"""By the names of the functions."""


def _group(name: str, given: Mapping[str, object]) -> Group:
    """The options as the optimizer's groups have them."""
    group = dict(given)
    if "beta1" in group:
        group["betas"] = (group["beta1"], group["beta2"])
    if "etaminus" in group:
        group["etas"] = (group["etaminus"], group["etaplus"])
        group["step_sizes"] = (group["step_size_min"], group["step_size_max"])
    if name == "adamw":
        group["decoupled_weight_decay"] = True
    return group


def step_of(cls: type[Optimizer]) -> Callable[..., None]:
    """The function that does one step of an optimizer, under its name in lower case."""
    name = cls.__name__.lower()
    form = _FORMS[name]
    signature = form.signature()
    kept = [each.partition(":")[::2] for each in form.lists.split()]

    def function(*args: object, **kwargs: object) -> None:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        given = bound.arguments
        group = _group(name, given)
        optimizer = object.__new__(cls)
        with no_grad():
            pairs = zip(given["params"], given[form.grads], strict=True)
            for place, (parameter, grad) in enumerate(pairs):
                state = {key: given[held][place] for held, key in kept if place < len(given[held])}
                optimizer.update(parameter, grad, state, group)
                for held, key in kept:
                    if key in state and state[key] is not given[held][place]:
                        given[held][place] = state[key]

    function.__name__ = function.__qualname__ = name
    function.__module__ = f"{__package__}.{name}"
    function.__doc__ = f"One step of `{cls.__name__}`: parameters and state are changed in place."
    vars(function)["__signature__"] = signature
    return function
