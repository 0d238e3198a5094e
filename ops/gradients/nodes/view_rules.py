"""Which views must not be written in place: those through which no gradient would be right."""

from __future__ import annotations

from typing import Final

from ...memory.errors import OperatorError
from ...memory.inference import MADE, is_for_inference
from ...memory.versions import owner_of
from ...tensors.differentiable import AMONG_UNKNOWN, INFERENCE, NO_GRAD
from ...tensors.tensor import Tensor
from .autograd import edge_of, is_wanted, single

__all__ = ["check_in_place", "refuse_changed"]


def check_in_place(target: Tensor, active: bool) -> None:
    """Refuse what would take a leaf's value away, or a view's history.

    Raises:
        RuntimeError: the tensor is a leaf that requires gradients, or a view of one; or it is one
            of several views, or a view that a function of a user's made, or that was made while
            no gradients were wanted.
    """
    wanted = is_wanted(target)
    if wanted or active:
        _refuse(target, "is being modified inplace")
    base = target._base if wanted else None
    owner = target if base is None else base
    if wanted and owner._grad_node is None and owner.is_leaf:
        what = "a leaf" if base is None else "a view of a leaf"
        raise OperatorError(
            f"{what} Variable that requires grad is being used in an in-place operation.",
            code="inplace-on-leaf",
        )


def refuse_changed(view: Tensor) -> None:
    """Refuse a view whose memory was written through others, if its history cannot tell of that.

    Raises:
        RuntimeError: it is such a view.
    """
    _refuse(view, "its base or another view of its base has been modified inplace")


def _refuse(view: Tensor, what: str) -> None:
    made = _made_so(view)
    if made is None or (MADE[0] and is_for_inference(view._array)):
        return  # what is for inference cannot be written at all where this is asked
    inside = _inside(made)
    if made is not view and not view.is_leaf:
        verb = f"is a view of a view which was created in {inside} mode and" if inside else _IS
        origin = f"Output {view.output_nr} of {_called(view)} {verb} {what}"
        origin += f" {_NOW[inside]}." if inside else "."
    elif inside:
        origin = f"A view was created in {inside} mode and {what} {_NOW[inside]}."
    else:
        if view._grad_node is not None and view._grad_node.is_call:
            edge = edge_of(view)
            assert edge is not None
            view._grad_node, view._output_number = single(edge)
        origin = f"Output {view._output_number} of {made._view_among} {_IS} {what}."
    if made._unwatched and not made._view_of_function:
        block = "inference_mode" if inside == INFERENCE else "no_grad"
        raise RuntimeError(f"{origin} {_AMBIGUOUS.format(block)}")
    raise RuntimeError(f"{origin} {_OF_FUNCTION if made._view_of_function else _MULTIPLE}")


def _made_so(view: Tensor) -> Tensor | None:
    """The view itself, or the nearest that it is a view of, which was made in such a way, one made
    in inference mode before others; None if none was."""
    nearest = None
    each: Tensor | None = view
    owner = None if view._view_of is None else owner_of(view._array)
    while each is not None and (each is view or owner_of(each._array) is owner):
        if each._unwatched == INFERENCE:
            return each
        if nearest is None and (each._unwatched or each._view_among is not None):
            nearest = each
        each = each._view_of
    return nearest


def _inside(view: Tensor) -> str:
    """The mode in which a view was made, if nothing was recorded then."""
    return view._unwatched or (NO_GRAD if view._view_among == AMONG_UNKNOWN else "")


def _called(view: Tensor) -> str:
    """What sentences call the operator that a view came from."""
    return type(view.grad_fn).__name__.removesuffix("Backward0").removesuffix("Backward")


_IS: Final = "is a view and"
_NOW: Final = {INFERENCE: "in normal mode", NO_GRAD: "with grad mode enabled"}
_AMBIGUOUS: Final = (
    "Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your "
    "code by moving both the view and the inplace either both inside the {} block (if you "
    "don't want the inplace to be tracked) or both outside (if you want the inplace to be tracked)."
)
_MULTIPLE: Final = (
    "This view is the output of a function that returns multiple views. Such functions do not "
    "allow the output views to be modified inplace. You should replace the inplace operation by an "
    "out-of-place one."
)
_OF_FUNCTION: Final = (
    "This view was created inside a custom Function (or because an input was returned as-is) and "
    "the autograd logic to handle view+inplace would override the custom backward associated with "
    "the custom Function, leading to incorrect gradients. This behavior is forbidden. You can fix "
    "this by cloning the output of the custom Function."
)
