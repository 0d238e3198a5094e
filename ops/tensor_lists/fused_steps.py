"""The operators `_fused_adam_` and its like: one step of an optimizer for lists of parameters.

Each is written for one parameter, and declared for lists in place and as lists of new tensors, with
a number or a tensor as the learning rate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import repeat
from typing import Any, Final

from ..eager.aten import aten
from ..eager.open_operators import OpenOperator
from ..eager.packets import Namespace
from ..table.grad_mode import grad_mode_set
from ..table.table import TABLE
from ..tensors.tensor import Tensor

__all__ = ["fused_function"]

Step = Callable[..., None]
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


# --------------------------------------------------------------------------- steps


def _adam(
    p: Tensor,
    g: Tensor,
    mean: Tensor,
    square: Tensor,
    largest: Tensor | None,
    step: Tensor,
    *,
    lr: Any,
    beta1: float,
    beta2: float,
    weight_decay: float,
    eps: float,
    amsgrad: bool,
    decoupled: bool = False,
) -> None:
    if weight_decay and decoupled:
        p.mul_(1 - lr * weight_decay)
    elif weight_decay:
        g = g.add(p, alpha=weight_decay)
    mean.lerp_(g, 1 - beta1)
    square.mul_(beta2).addcmul_(g, g, value=1 - beta2)
    count = step.item()
    spread = square
    if amsgrad and largest is not None:
        spread = aten.maximum(largest, square, out=largest)
    spread = (spread.sqrt() / (1 - beta2**count) ** 0.5).add_(eps)
    p.addcdiv_(mean, spread, value=-lr / (1 - beta1**count))


def _adamw(*args: Any, **numbers: Any) -> None:
    _adam(*args, decoupled=True, **numbers)


def _sgd(
    p: Tensor,
    g: Tensor,
    buffer: Tensor | None,
    *,
    weight_decay: float,
    momentum: float,
    lr: float,
    dampening: float,
    nesterov: bool,
    is_first_step: bool,
) -> None:
    if weight_decay:
        g = g.add(p, alpha=weight_decay)
    if momentum and buffer is not None:
        if is_first_step:
            buffer.copy_(g)
        else:
            buffer.mul_(momentum).add_(g, alpha=1 - dampening)
        g = g.add(buffer, alpha=momentum) if nesterov else buffer
    p.add_(g, alpha=-lr)


def _adagrad(
    p: Tensor,
    g: Tensor,
    total: Tensor,
    step: Tensor,
    *,
    lr: float,
    lr_decay: float,
    weight_decay: float,
    eps: float,
) -> None:
    if weight_decay:
        g = g.add(p, alpha=weight_decay)
    total.addcmul_(g, g)
    p.addcdiv_(g, total.sqrt().add_(eps), value=-lr / (1 + (step.item() - 1) * lr_decay))


_STEPS: Final[dict[str, Step]] = {"adam": _adam, "adamw": _adamw, "sgd": _sgd, "adagrad": _adagrad}


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
