"""The operators `_fused_adam_` and its like: one step of an optimizer for lists of parameters.

Each is written for one parameter, and declared for lists in place and as lists of new tensors, with
a number or a tensor as the learning rate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import repeat
from typing import Any, Final

from ..eager.open_operators import OpenOperator
from ..eager.packets import Namespace
from ..table.grad_mode import grad_mode_set
from ..table.table import TABLE
from ..tensors.tensor import Tensor
from .steps import adagrad_step, adam_step, sgd_step

__all__ = ["fused_function"]

Step = Callable[..., object]
"""Changes a parameter, by its gradient and what is kept for it."""

_SCALED: Final = "Tensor? grad_scale=None, Tensor? found_inf=None"
_ADAM: Final = (
    "exp_avgs exp_avg_sqs max_exp_avg_sqs|state_steps",
    "float lr, float beta1, float beta2, float weight_decay, float eps, bool amsgrad, "
    "bool maximize",
)
_ARGUMENTS: Final = {
    "adam": _ADAM,
    "adamw": _ADAM,
    "sgd": (
        "momentum_buffer_list|",
        "float weight_decay, float momentum, float lr, float dampening, bool nesterov, "
        "bool maximize, bool is_first_step",
    ),
    "adagrad": (
        "state_sums|state_steps",
        "float lr, float lr_decay, float weight_decay, float eps, bool maximize",
    ),
}
"""The lists that steps change, those that they read, and their numbers."""


def _counted(step: Step) -> Step:
    """A step that is given its number as a tensor, behind what it changes."""

    def run(*tensors: Any, **numbers: Any) -> None:
        *given, count = tensors
        step(*given, count=count.item(), **numbers)

    return run


_STEPS: Final[dict[str, Step]] = {
    "adam": _counted(adam_step),
    "adamw": _counted(partial(adam_step, decoupled=True)),
    "sgd": sgd_step,
    "adagrad": _counted(adagrad_step),
}


# --------------------------------------------------------------------------- for lists


def _over(step: Step) -> Callable[..., None]:
    """A step for lists of parameters: not taken where an infinity was found, and of gradients that
    are divided by their scale first."""

    def run(
        parameters: Sequence[Tensor],
        gradients: Sequence[Tensor],
        *kept: Sequence[Tensor],
        lr: Any,
        maximize: bool,
        grad_scale: Tensor | None = None,
        found_inf: Tensor | None = None,
        **numbers: Any,
    ) -> None:
        if found_inf is not None and found_inf.item() == 1:
            return
        lr = lr.item() if isinstance(lr, Tensor) else lr
        columns = [column or repeat(None) for column in kept]
        with grad_mode_set(False):
            for p, g, *own in zip(parameters, gradients, *columns, strict=False):
                if grad_scale is not None:
                    g.div_(grad_scale)
                step(p, g.neg() if maximize else g, *own, lr=lr, **numbers)

    return run


def _of_copies(run: Callable[..., None], written: int) -> Callable[..., tuple[list[Tensor], ...]]:
    """The same of copies of the lists that are written, which are given back."""

    def on_copies(*lists: Sequence[Tensor], **numbers: Any) -> tuple[list[Tensor], ...]:
        copies = [[each.clone() for each in column] for column in lists[:written]]
        run(*copies, *lists[written:], **numbers)
        return tuple(copies)

    return on_copies


def _declare(name: str) -> None:
    lists, numbers = _ARGUMENTS[name]
    changed, read = (part.split() for part in lists.split("|"))
    changed = ["self", "grads", *changed]
    by_name = f"*, {numbers}, {_SCALED}"
    letters = "abcdefg"
    marked = [f"Tensor({c}!)[] {each}" for c, each in zip(letters, changed, strict=False)]
    given = ", ".join([*marked, *(f"Tensor[] {each}" for each in read)])
    plain = ", ".join(f"Tensor[] {each}" for each in (*changed, *read))
    gives = ", ".join(f"Tensor[] {each}_out" for each in changed)
    run = _over(_STEPS[name])
    forms = (
        (f"_fused_{name}_", f"({given}, {by_name}) -> ()", run),
        (f"_fused_{name}", f"({plain}, {by_name}) -> ({gives})", _of_copies(run, len(changed))),
    )
    for operator, schema, kernel in forms:
        for overload, rate in (("", "float lr,"), (".tensor_lr", "Tensor lr,")):
            text = f"aten::{operator}{overload}{schema.replace('float lr,', rate)}"
            entry = OpenOperator(text, face="operator")
            entry.kernels["CompositeImplicitAutograd"] = kernel
            TABLE.add(entry)


for _name in _STEPS:
    _declare(_name)


def fused_function(name: str) -> Any:
    """The function `torch._fused_adam_` and its like; None if there is none of that name."""
    known = name.startswith("_fused_") and name.endswith("_") and name[7:-1] in _STEPS
    return getattr(Namespace("aten"), name) if known else None
