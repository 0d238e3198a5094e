"""Steps of optimizers, operator by operator.

Each changes a parameter, and what is kept for it, by its gradient in the direction to go.
"""

from __future__ import annotations

from ..eager.dispatch import eager_function
from ..tensors.tensor import Tensor

__all__ = ["adagrad_step", "adam_step", "decayed", "sgd_step"]


def decayed(
    parameter: Tensor, grad: Tensor, *, lr: float, weight_decay: float, decoupled: bool
) -> Tensor:
    """The gradient with the weight decay in it, or taken from the parameter itself."""
    if weight_decay and decoupled:
        parameter.mul_(1 - lr * weight_decay)
    elif weight_decay:
        grad = grad.add(parameter, alpha=weight_decay)
    return grad


def adam_step(
    parameter: Tensor,
    grad: Tensor,
    mean: Tensor,
    square: Tensor,
    largest: Tensor | None,
    *,
    count: float,
    lr: float,
    beta1: float,
    beta2: float,
    weight_decay: float,
    eps: float,
    amsgrad: bool,
    decoupled: bool = False,
) -> None:
    """The step of number `count` of Adam (Kingma and Ba 2015), with the largest second mean so far
    on demand (Reddi, Kale and Kumar 2018)."""
    grad = decayed(parameter, grad, lr=lr, weight_decay=weight_decay, decoupled=decoupled)
    mean.lerp_(grad, 1 - beta1)
    square.mul_(beta2).addcmul_(grad, grad.conj(), value=1 - beta2)
    if amsgrad and largest is not None:
        square = largest.copy_(eager_function("aten::maximum")(largest.clone(), square))
    scale = (square.sqrt() / (1 - beta2**count) ** 0.5).add_(eps)
    parameter.addcdiv_(mean, scale, value=-(lr / (1 - beta1**count)))


def sgd_step(
    parameter: Tensor,
    grad: Tensor,
    buffer: Tensor | None,
    *,
    weight_decay: float,
    momentum: float,
    lr: float,
    dampening: float,
    nesterov: bool,
    is_first_step: bool,
) -> Tensor | None:
    """A step against the gradient; gives the buffer of the momentum, made where there is none."""
    grad = decayed(parameter, grad, lr=lr, weight_decay=weight_decay, decoupled=False)
    if momentum:
        if buffer is None:
            buffer = grad.clone()
        elif is_first_step:
            buffer.copy_(grad)
        else:
            buffer.mul_(momentum).add_(grad, alpha=1 - dampening)
        grad = grad.add(buffer, alpha=momentum) if nesterov else buffer
    parameter.add_(grad, alpha=-lr)
    return buffer


def adagrad_step(
    parameter: Tensor,
    grad: Tensor,
    total: Tensor,
    *,
    count: float,
    lr: float,
    lr_decay: float,
    weight_decay: float,
    eps: float,
) -> None:
    """The step of number `count` of Adagrad (Duchi, Hazan and Singer 2011)."""
    grad = decayed(parameter, grad, lr=lr, weight_decay=weight_decay, decoupled=False)
    total.addcmul_(grad, grad)
    parameter.addcdiv_(grad, total.sqrt().add(eps), value=-(lr / (1 + (count - 1) * lr_decay)))
