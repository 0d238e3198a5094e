"""What `torch.autograd.functional` asks of arguments, results and gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..ops.tensors.tensor import Tensor

__all__ = [
    *("RESULTS", "check_direction", "check_history", "check_strategy", "filled"),
    *("single_result", "tensors_of"),
]

Found = Sequence[Tensor | None]

RESULTS: Final = "outputs of the user-provided function"

_NO_HISTORY_OUTPUTS = (
    "Output {} of the user-provided function does not require gradients. The outputs must be "
    "computed in a differentiable manner from the input when running in strict mode."
)
_NO_HISTORY_GRAD_INPUTS = (
    "The gradient with respect to input {} is independent of the inputs of the user-provided "
    "function. This is not allowed in strict mode."
)
_NO_HISTORY_JACOBIAN = (
    "While computing the hessian, found that the jacobian of the user-provided function with "
    "respect to input {} is independent of the input. This is not allowed in strict mode. You"
    " should ensure that your function is twice differentiable and that the jacobian depends "
    "on the inputs (this would be violated by a linear function for example)."
)
_NO_HISTORY_HESSIAN = (
    "The hessian of the user-provided function with respect to input {} is independent of the"
    " input. This is not allowed in strict mode. You should ensure that your function is "
    "thrice differentiable and that the hessian depends on the inputs."
)
_UNREACHED_BACK = (
    "The output of the user-provided function is independent of input {}. This is not allowed"
    " in strict mode."
)
_UNREACHED_BACK_TRICK = (
    "The gradient with respect to the input is independent of entry {} in the grad_outputs "
    "when using the double backward trick to compute forward mode gradients. This is not "
    "allowed in strict mode."
)
_UNREACHED_DOUBLE_BACK = (
    "The jacobian of the user-provided function is independent of input {}. This is not "
    "allowed in strict mode."
)
_UNREACHED_DOUBLE_BACK_TRICK = (
    "The hessian of the user-provided function is independent of entry {} in the "
    "grad_jacobian. This is not allowed in strict mode as it prevents from using the double "
    "backward trick to replace forward mode AD."
)
_NO_HISTORY: Final = {
    "outputs": _NO_HISTORY_OUTPUTS,
    "grad_inputs": _NO_HISTORY_GRAD_INPUTS,
    "jacobian": _NO_HISTORY_JACOBIAN,
    "hessian": _NO_HISTORY_HESSIAN,
}
_UNREACHED: Final = {
    "back": _UNREACHED_BACK,
    "back_trick": _UNREACHED_BACK_TRICK,
    "double_back": _UNREACHED_DOUBLE_BACK,
    "double_back_trick": _UNREACHED_DOUBLE_BACK_TRICK,
}


def tensors_of(value: object, what: str, who: str) -> tuple[bool, tuple[Tensor, ...]]:
    """Whether a value is a tuple, and the tensors in it (or itself).

    Raises:
        TypeError: it is, or holds, something else.
    """
    many = isinstance(value, tuple)
    found: list[Tensor] = []
    for place, each in enumerate(value if isinstance(value, tuple) else (value,)):
        if not isinstance(each, Tensor):
            where = f"value at index {place}" if many else f"given {what}"
            raise TypeError(
                f"The {what} given to {who} must be either a Tensor or a tuple of Tensors but the "
                f"{where} has type {type(each)}."
            )
        found.append(each)
    return many, tuple(found)


def check_direction(v: Sequence[Tensor], like: Sequence[Tensor], many: bool) -> None:
    """See that a vector has the sizes of what it is multiplied with.

    Raises:
        RuntimeError: it has not.
    """
    if len(v) != len(like):
        wanted = f"v is a tuple of invalid length: should be {len(like)} but got {len(v)}."
        raise RuntimeError(wanted if many else "The given v should contain a single Tensor.")
    for place, (each, other) in enumerate(zip(v, like, strict=True)):
        if each.shape != other.shape:
            entry = f"Entry {place} in " if many else ""
            raise RuntimeError(
                f"{entry}v has invalid size: should be {other.shape} but got {each.shape}."
            )


def check_history(found: Found, kind: str, strict: bool) -> None:
    """See in strict mode that tensors come from the inputs.

    Raises:
        RuntimeError: one does not.
    """
    for place, each in enumerate(found if strict else ()):
        if each is None:
            raise RuntimeError(_UNREACHED["back"].format(place))
        if not each.requires_grad:
            raise RuntimeError(_NO_HISTORY[kind].format(place))


def filled(
    found: Found, like: Sequence[Tensor], strict: bool, create: bool, stage: str
) -> tuple[Tensor, ...]:
    """The gradients, zeros in the places of those that were not reached.

    Raises:
        RuntimeError: strict mode, and one was not reached, or does not depend on the inputs.
    """
    for place, each in enumerate(found if strict else ()):
        if each is None:
            raise RuntimeError(_UNREACHED[stage].format(place))
        if create and not each.requires_grad:
            what = "hessian" if "double" in stage else "jacobian"
            raise RuntimeError(
                f"The {what} of the user-provided function is independent of input {place}. This "
                "is not allowed in strict mode when create_graph=True."
            )
    return tuple(t.new_zeros(t.shape) if g is None else g for g, t in zip(found, like, strict=True))


def single_result(output: object, who: str, strict: bool) -> Tensor:
    """The one tensor of one element that a function gave.

    Raises:
        TypeError: it gave no tensors.
        RuntimeError: it gave several, or more elements, or strict mode finds no history.
    """
    many, results = tensors_of(output, RESULTS, who)
    check_history(results, "outputs", strict)
    if many and (who == "hessian" or len(results) != 1):
        raise RuntimeError(f"The function given to {who} should return a single Tensor")
    result: Tensor = results[0]
    if result.numel() != 1:
        raise RuntimeError(
            f"The Tensor returned by the function given to {who} should contain a single element"
        )
    return result


def check_strategy(strategy: str, vectorize: bool, create: bool, strict: bool) -> None:
    """See that a Jacobian can be computed so.

    Raises:
        AssertionError: there is no such strategy.
        NotImplementedError, RuntimeError: torch has not what is asked for.
    """
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your '
            'function has more outputs than inputs, "forward-mode" tends to be more performant. '
            'Otherwise, prefer to use "reverse-mode".'
        )
    if strategy == "reverse-mode":
        return
    apart = (
        'torch.autograd.functional.jacobian: `{}=True` and `strategy="forward-mode"` are not '
        "supported together (yet). Please either set `{}=False` or "
        '`strategy="reverse-mode"`.'
    )
    if create:
        raise NotImplementedError(apart.format("create_graph", "create_graph"))
    if strict:
        raise RuntimeError(apart.format("strict", "strict"))
    if not vectorize:
        raise NotImplementedError(
            "Computing Jacobian using forward-AD or forward-over-reverse Hessian is"
            "only implemented for `vectorize=True`."
        )
