"""What tensors know and offer about gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Self, cast

from ..memory.dtype import Array, DType
from ..memory.inference import is_for_inference, is_on
from ..memory.versions import owner_of, version_of
from ..memory.warned import warn_caller
from ..table.grad_mode import BEGINNINGS, GRAD_MODE, RUNNING, TRANSFORMS
from ..table.table import TABLE
from .tape_port import DIRECTION_OF, Removable, tape
from .tracing import current_tracer

__all__ = [
    *("AMONG_UNKNOWN", "BEHIND", "INFERENCE", "NO_BACKWARD", "NO_GRAD", "Differentiable"),
    "check_gradient",
]

_NOT_LEAF: Final = (
    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad "
    "attribute won't be populated during autograd.backward(). If you indeed want the .grad field "
    "to be populated for a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. If you "
    "access the non-leaf Tensor by mistake, make sure you access the leaf Tensor instead. See "
    "github.com/pytorch/pytorch/pull/30531 for more information."
)

NO_GRAD: Final = "no_grad"
INFERENCE: Final = "inference"
AMONG_UNKNOWN: Final = ""
"""What made one of several views of a tensor that required no gradients."""

BEHIND: Final = -1
"""A version that memory never has: all that was made before is out of date."""


class Differentiable:
    """The part of `Tensor` that is about gradients."""

    if not TYPE_CHECKING:
        __slots__ = ("__dict__",)  # what `Tensor` has in its place knows this one

    if TYPE_CHECKING:
        _array: Array
        _requires_grad: Any
        _view_of: Differentiable | None
        __dict__: dict[str, object]

        @property
        def dtype(self) -> DType: ...
        @property
        def shape(self) -> tuple[int, ...]: ...

    _gradient: Differentiable | None = None
    _grad_node: Any = None
    _output_number = 0
    _view_version = 0
    _view_among: str | None = None
    """What made this view, if that makes several, or is a function of a user's."""
    _view_of_function = False
    """Whether it is such a function."""
    _unwatched = ""
    """The mode that this view was made in, while no gradients were wanted."""
    _accumulator: Any = None
    _leaf_node: object = None
    _retains_grad = False

    @property
    def requires_grad(self) -> bool:
        """Whether gradients of this tensor are wanted."""
        wanted = bool(self._requires_grad)
        if wanted and (self._view_of is not None or self._requires_grad is not True):
            wanted = tape().is_wanted(self)
        return wanted and not (BEGINNINGS and tape().is_directed([self], alone=True))

    @requires_grad.setter
    def requires_grad(self, wanted: bool) -> None:
        if type(wanted) is not bool:
            raise RuntimeError("requires_grad must be a bool")
        if wanted and self._array.dtype.kind in "biu":
            raise RuntimeError(
                "only Tensors of floating point and complex dtype can require gradients"
            )
        self._want_gradients(wanted)

    @requires_grad.deleter
    def requires_grad(self) -> None:
        raise RuntimeError("requires_grad must be a bool")

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Say whether gradients of this tensor are wanted.

        Raises:
            RuntimeError: the tensor is not of floats or complex numbers, is no leaf, or was made
                in `inference_mode` and this is outside; a transform of `torch.func` runs.
            TypeError: the argument is no bool.
        """
        if type(requires_grad) is not bool:
            raise TypeError(
                "requires_grad_(): argument 'requires_grad' (position 1) must be bool, not "
                f"{type(requires_grad).__name__}"
            )
        TRANSFORMS.refuse(_REQUIRED)
        return self._want_gradients(requires_grad)

    def _want_gradients(self, requires_grad: bool = True) -> Self:
        """The same, within transforms, too."""
        is_leaf = self._origin() is None
        if not requires_grad and not is_leaf:
            raise RuntimeError(
                "you can only change requires_grad flags of leaf variables. If you want to use a "
                "computed variable in a subgraph that doesn't require differentiation use "
                "var_no_grad = var.detach()."
            )
        if requires_grad and self._array.dtype.kind in "biu":
            raise RuntimeError("only Tensors of floating point dtype can require gradients")
        if requires_grad and is_for_inference(self._array) and not is_on():
            raise RuntimeError(
                "Setting requires_grad=True on inference tensor outside InferenceMode is not "
                "allowed."
            )
        if is_leaf:
            self._be_leaf(bool(requires_grad))
        elif requires_grad and BEGINNINGS and not self.requires_grad:
            tape().require(self)
        return self

    def _history(self) -> list[str]:
        """What is told of the tensor's gradients where it is printed."""
        try:
            node = self.grad_fn
        except RuntimeError:  # a view made without gradients whose memory was written since
            return ["grad_fn=<Invalid>"]
        told = []
        if self.requires_grad:
            named = f"grad_fn=<{type(node).__name__}>"
            told.append("requires_grad=True" if node is None else named)
        if DIRECTION_OF.installed is not None:
            direction = DIRECTION_OF.installed(self)
            told += [] if direction is None else [f"tangent={direction}"]
        return told

    @property
    def grad(self) -> Differentiable | None:
        """The gradient, if there is one."""
        found = self._gradient
        if found is None and self._requires_grad and not (self._retains_grad or self.is_leaf):
            warn_caller(_NOT_LEAF)
        return found

    @grad.setter
    def grad(self, gradient: Differentiable | None) -> None:
        if gradient is not None:
            check_gradient(self, gradient)
        self._gradient = gradient

    @grad.deleter
    def grad(self) -> None:
        self._gradient = None

    _grad = grad

    @property
    def grad_fn(self) -> Any:
        """The node of the operator that made this tensor; None for leaves."""
        return self._origin()

    def _origin(self) -> object:
        """`grad_fn`, which no class of tensors has a say in."""
        return tape().grad_fn(self) if self._requires_grad else None

    @property
    def _cdata(self) -> int:
        """A number that no other tensor has while this one is alive."""
        return id(self)

    @property
    def is_leaf(self) -> bool:
        """Whether no recorded operator made this tensor."""
        return self._origin() is None

    @property
    def retains_grad(self) -> bool:
        """Whether `retain_grad` was called."""
        return self._retains_grad

    @property
    def output_nr(self) -> int:
        """Which of its node's results this is."""
        return self._output_number if self.grad_fn is not None else 0

    @property
    def _base(self) -> Differentiable | None:
        """The tensor that this one is a view of."""
        if self._view_of is None:
            return None
        found: Differentiable | None = None
        base: Differentiable | None = self._view_of
        owner = owner_of(self._array)
        while base is not None and owner_of(base._array) is owner:  # reshape may have copied
            found, base = base, base._view_of
        return found

    def _seen_as(self, base: Differentiable, recorded: bool | None = None) -> Self:
        """This tensor, known to be a view of another one, which has no history to follow.

        `recorded` says whether gradients were `recorded` when it was made, if that was not now.
        """
        self._view_of = base
        wanted = base._requires_grad
        if wanted and recorded is None and wanted is not True:
            wanted = tape().is_wanted(base)
        if wanted is True:
            self._seen_unwatched()
        else:
            self._requires_grad = base._marks()
            if not recorded and (recorded is False or GRAD_MODE.get() is False):
                self._note_mode()
        return self

    def _marks(self) -> list[int]:
        """What views share with this tensor, which requires no gradients, to hear of it when it
        does: a list that holds nothing until then; something while a script's notes are gone
        through, so that other threads wait for what comes of them."""
        marks = self._requires_grad
        if type(marks) is not list:
            marks = self._requires_grad = [BEHIND] if marks else []
        return marks

    def _note_mode(self) -> None:
        """Have a view know in which mode it was made that records nothing."""
        self._unwatched = INFERENCE if is_on() else NO_GRAD

    def _notes_are_done(self, record: object) -> None:
        """Require no gradients if a script's notes, which are nodes now, gave this no history."""
        if self._requires_grad is record:
            self._requires_grad = False
        elif type(self._requires_grad) is list:
            root = self if self._base is None else self._base
            if root._requires_grad is not True:
                self._requires_grad.clear()

    def _mark(self, version: int) -> None:
        """Tell the views that were made when this tensor required no gradients that it does, since
        its memory had a version."""
        if type(self._requires_grad) is list:
            self._requires_grad[:] = [version]

    def _be_leaf(self, wanted: bool) -> None:
        """Require gradients, or none."""
        if not wanted:
            if type(self._requires_grad) is not list:
                base = self._view_of
                if base is None or base._requires_grad is True:
                    self._requires_grad = False
                else:
                    self._requires_grad = base._marks()
            return
        if self._view_of is None:
            self._mark(RUNNING.version_of(self._array))
        else:  # a leaf over part of another's memory, until that is written
            self._unwatched, self._view_version = "", RUNNING.version_of(self._array)
        self._requires_grad = True

    def _seen_unwatched(self) -> None:
        """This is a view, made without gradients, of a tensor that requires them."""
        is_inside = is_on()
        if is_inside and is_for_inference(self._array):
            return  # gradients can never be wanted of it
        root = self._base
        if root is not None and not root._requires_grad:
            self._note_mode()  # what is between is a leaf of its own, of which this is no view
        elif self._array.dtype.kind not in "biu" and root is not None:
            self._requires_grad = True
            self._unwatched = INFERENCE if is_inside else NO_GRAD
            self._view_version = RUNNING.version_of(self._array)

    def _is_view(self) -> bool:
        """Whether this is a view that gradients follow."""
        return self._base is not None and not is_for_inference(self._array)

    @property
    def _version(self) -> int:
        """How often the memory was written in place."""
        if is_for_inference(self._array):
            raise RuntimeError("Inference tensors do not track version counter.")
        return version_of(self._array)

    def _refresh(self) -> None:
        tape().refresh(self)

    def backward(
        self,
        gradient: Differentiable | None = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: object = None,
    ) -> None:
        """Add the gradients of this tensor to the `grad` of the leaves it was made from.

        Args:
            gradient: the gradient of this tensor; needed unless it is of one element.
            retain_graph: whether another walk back shall be possible.
            create_graph: whether the gradients can be differentiated themselves.
            inputs: the tensors that get gradients, if not all leaves.

        Raises:
            RuntimeError: there is no way back.
        """
        TRANSFORMS.refuse(NO_BACKWARD)
        if inputs is not None:
            inputs = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
            if not inputs:
                raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
        tape().backward([self], [gradient], retain_graph, create_graph, inputs)

    def register_hook(self, hook: object) -> Removable:
        """Have `hook(gradient)` called when this tensor's gradient is known; what it returns takes
        the gradient's place."""
        return tape().register_hook(self, hook)

    def register_post_accumulate_grad_hook(self, hook: object) -> Removable:
        """Have `hook(tensor)` called after a gradient was added to this leaf's `grad`."""
        return tape().register_after(self, hook)

    def retain_grad(self) -> None:
        """Have the gradient of this tensor kept in `grad` though it is no leaf."""
        refusal = _TRANSFORMED.format("retain_grad", "")
        TRANSFORMS.refuse(refusal if self.requires_grad else _NOT_KEPT)
        tape().retain_grad(self)

    def detach_(self) -> Self:
        """Make this tensor a leaf that requires no gradients."""
        if self._base is not None:
            raise RuntimeError(_DETACH_VIEW)
        tracer, this = current_tracer(), cast("Any", self)
        if tracer is not None and tracer.knows(this):
            tracer.record(TABLE.operators("aten::detach")[0], [this._array], this, [this])
        self._requires_grad, self._grad_node, self._output_number = False, None, 0
        return self


NO_BACKWARD: Final = (
    "backward() called inside a functorch transform. This is not supported, please use "
    "functorch.grad or functorch.vjp instead or call backward() outside of functorch transforms."
)
_TRANSFORMED: Final = (
    "You are attempting to call Tensor.{0}() {1}inside of a function being transformed by a "
    "functorch transform. This is unsupported, please attempt to use the functorch transforms "
    "(e.g. grad, vjp, jacrev, jacfwd, hessian) or call {0}() outside of a function being "
    "transformed instead."
)
_NOT_KEPT: Final = "can't retain_grad on Tensor that has requires_grad=False"
_REQUIRED: Final = _TRANSFORMED.format(
    "requires_grad_", "(or perhaps using torch.autograd.functional.* APIs) "
)

_DETACH_VIEW = (
    "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel "
    "(DDP) for training, and gradient_as_bucket_view is set as True, gradients are views of DDP "
    "buckets, and hence detach_() cannot be called on these gradients. To fix this error, please "
    "refer to the Optimizer.zero_grad() function in torch/optim/optimizer.py as the solution."
)


def check_gradient(tensor: Differentiable, gradient: object) -> None:
    """Refuse what is no gradient of the tensor."""
    if not isinstance(gradient, Differentiable):
        kind = type(gradient).__name__
        raise TypeError(
            f"assigned grad expected to be a Tensor or None but got grad of type {kind}"
        )
    if gradient is tensor:
        raise RuntimeError("can't assign Variable as its own grad")
    if gradient.dtype != tensor.dtype:
        given, wanted = gradient.dtype.scalar_name, tensor.dtype.scalar_name
        raise RuntimeError(
            f"attempting to assign a gradient with dtype '{given.lower()}' to a tensor with "
            f"grad_dtype '{wanted}'. The gradient must match the tensor's grad_dtype (defaults to "
            "the tensor's dtype). You can set the tensor's grad_dtype attribute with a specific "
            "dtype, or None to allow any dtype. Set grad_dtype with caution. Diverging the dtypes "
            "of a tensor and its gradient may break downstream systems that assume they match."
        )
    if gradient.shape != tensor.shape:
        raise RuntimeError(
            f"attempting to assign a gradient of size '{list(gradient.shape)}' to a tensor of size "
            f"'{list(tensor.shape)}'. Please ensure that the gradient and the tensor are the same "
            "size"
        )
