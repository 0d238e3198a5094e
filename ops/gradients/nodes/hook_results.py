"""What hooks on gradients may return: gradients in the place of those they were given."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...conjugates.tensors import in_memory
from ...tensors.tensor import Tensor

__all__ = ["all_after", "none_after", "one_after"]

Grad = Tensor | None
Hook = Callable[..., object]


def one_after(hook: Hook, grad: Grad, said: object) -> Grad:
    """The gradient after a hook that said something of it; None leaves it as it was.

    Raises:
        TypeError: the hook gave no tensor.
        RuntimeError: its tensor has another dtype or size, or there was no gradient.
    """
    if said is None:
        return grad
    return _checked(hook, grad, said)


def all_after(hook: Hook, grads: Sequence[Grad], said: object) -> list[Grad]:
    """The gradients after a hook that said something of all of them.

    Raises:
        TypeError: the hook gave no tuple, or one of other things than tensors and None.
        RuntimeError: it gave another number of them, or other dtypes or sizes.
    """
    if said is None:
        return list(grads)
    if not isinstance(said, tuple):
        raise TypeError(f"expected tuple, but hook returned '{type(said).__name__}'")
    if len(said) != len(grads):
        raise RuntimeError(
            f"{_named(hook)} has returned an incorrect number of values "
            f"(got {len(said)}, but expected {len(grads)})"
        )
    return [
        None if each is None else _checked(hook, grad, each)
        for grad, each in zip(grads, said, strict=True)
    ]


def none_after(hook: Hook, grad: Grad, said: object) -> None:
    """See that a hook which is called when a gradient was accumulated returned nothing.

    Raises:
        TypeError, RuntimeError: it did.
    """
    if said is not None:
        _checked(hook, grad, said)
        raise RuntimeError("Tensor post accumulate grad hooks should return None.")


def _named(hook: Hook) -> str:
    return f"hook '{getattr(hook, '__name__', '<unknown>')}'"


def _checked(hook: Hook, grad: Grad, said: object) -> Tensor:
    if grad is None:
        raise RuntimeError("can't replace a None gradient with a non-None value")
    if not isinstance(said, Tensor):
        raise TypeError(f"expected Variable, but hook returned '{type(said).__name__}'")
    if said.dtype is not grad.dtype:
        kinds = f"(was {grad.type()} got {said.type()})"
        raise RuntimeError(f"{_named(hook)} has changed the type of value {kinds}")
    if said.shape != grad.shape:
        raise RuntimeError(f"{_named(hook)} has changed the size of value")
    return in_memory(said)
