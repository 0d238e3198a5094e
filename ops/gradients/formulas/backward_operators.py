"""What operators named `..._backward` compute: the gradients of arguments of another operator, that
runs and is walked back through.

Most take the arguments of that operator by the same names, beside a gradient; some, of operators
that only move elements or add them up, sizes in the place of the argument.  The formulas are made
of operators, so each is the composite of its own gradient, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, Signature
from typing import Any

import numpy as np

from ...eager.calls import run, tensors_in
from ...memory.dtype import Array
from ...memory.errors import OperatorError
from ...table.grad_mode import enable_grad, is_recording
from ...table.table import TABLE, Operator
from ...tensors.tensor import Tensor
from ..recording.tape import gradients_of
from ..table.families import row_of
from ..table.rows import Formula, Ints, aten, composite, constant
from ..table.rules import widened
from .windows import placed

__all__ = ["on_arrays"]

Wanted = tuple[str, ...]
Word = str | Callable[[Mapping[str, Any]], Any]


def on_arrays(name: str, given: Sequence[object], own: Callable[[Array, object], Array]) -> object:
    """What an operator computes of machine values."""
    row = row_of(_entry(name))
    assert row is not None
    assert row.composite is not None
    made = row.composite(**dict(zip(_names(name), map(_lifted, given), strict=True)))
    if isinstance(made, Tensor):
        return own(made._array, given)
    return tuple(None if each is None else own(each._array, given) for each in made)


def _lifted(value: object) -> object:
    if isinstance(value, np.ndarray):
        return Tensor._of(value)
    return value


def _plain(value: object) -> object:
    return value._array if isinstance(value, Tensor) else value


def _entry(name: str) -> Operator:
    found = TABLE.operator(name)
    assert found is not None
    return found


def _names(name: str) -> list[str]:
    return [each.name for each in _entry(name).signature.arguments]


# --------------------------------------------------------------------------- walks through others


class _Through:
    """The formula of an operator that is the way back through another one."""

    def __init__(
        self, name: str, of: Wanted, through: str, mask: str, sizes: Word, renamed: dict[str, Word]
    ) -> None:
        self._name, self._through = f"aten::{name}", f"aten::{through}"
        self._of, self._mask, self._sizes, self._renamed = of, mask, sizes, renamed

    @property
    def __signature__(self) -> Signature:
        return Signature([Parameter(each, Parameter.KEYWORD_ONLY) for each in _names(self._name)])

    def __call__(self, /, **given: Any) -> Any:
        entry, args = _entry(self._through), dict[str, Any]()
        for argument in entry.signature.arguments:
            word = self._renamed.get(argument.name, argument.name)
            args[argument.name] = _read(word, given, argument.default)
        grad: Tensor = next(each for key, each in given.items() if key.startswith("grad"))
        if self._sizes:
            args[self._of[0]] = grad.new_zeros([]).expand(_read(self._sizes, given, None))
        asked = given[self._mask] if self._mask else [True] * len(self._of)
        own = tuple(each for each, is_asked in zip(self._of, asked, strict=True) if is_asked)
        found = walked(entry, args, own, grad)
        made = tuple(map(found.get, self._of))
        return made if len(_entry(self._name).signature.returns) > 1 else made[0]


def _read(word: Word, given: Mapping[str, object], default: object) -> Any:
    return word(given) if callable(word) else given.get(word, default)


def _through(
    name: str,
    of: str = "self",
    forward: str = "",
    mask: str = "",
    sizes: Word = "",
    **renamed: Word,
) -> None:
    """Declare an operator to be the way back through another one.

    Args:
        name: `gelu_backward`.
        of: the arguments of the other one whose gradients are wanted.
        forward: the other one, where its name is not the same without `_backward`.
        mask: the argument that says which of the gradients are asked for.
        sizes: the argument that says how large the only argument `of` is, where it is not given.
        renamed: what arguments of the other one are called here, or a function of all that is
            given here.
    """
    other = forward or name.replace("_backward", "")
    composite(f"aten::{name}")(_Through(name, tuple(of.split()), other, mask, sizes, renamed))


def walked(entry: Operator, args: Mapping[str, Any], of: Wanted, grad: Tensor) -> dict[str, Tensor]:
    """The gradients of some arguments of an operator, but of those that are None."""
    create = is_recording()
    own = {name: _leaf(args[name], create) for name in of if args[name] is not None}
    if not own:
        return {}
    given = [*{**args, **own}.values()]
    with enable_grad():
        made = tensors_in(run(entry, list(map(_plain, given)), given))[0]
        wanted = list(own.values())
        found = gradients_of([made], wanted, [grad], keep=create, create=create, allow_unused=True)
    return {
        name: aten.zeros_like(leaf) if each is None else each
        for (name, leaf), each in zip(own.items(), found, strict=True)
    }


def _leaf(value: Tensor, create: bool) -> Tensor:
    """A tensor whose gradient is wanted by itself, with the history of a value if that counts."""
    if create and value.requires_grad:
        return value.view_as(value)
    return Tensor._of(value._array.view(), True)


def _sizes_of_theta(size: Ints) -> Ints:
    """Those of the matrices that a grid is made with."""
    return [size[0], len(size) - 2, len(size) - 1]


for _name in ("gelu", "silu", "mish", "log_sigmoid", "logit", "glu"):
    _through(f"{_name}_backward")
_through("_prelu_kernel_backward", "self weight")
_through("infinitely_differentiable_gelu_backward", forward="gelu")
for _name in ("smooth_l1", "huber", "soft_margin", "multi_margin", "multilabel_margin"):
    _through(f"{_name}_loss_backward")
_through("binary_cross_entropy_backward")
_through("_ctc_loss_backward", "log_probs")
_through("_ctc_loss_backward.Tensor", "log_probs", "_ctc_loss.Tensor")


def _last(count: int) -> Callable[[Mapping[str, Any]], Ints]:
    def sizes(given: Mapping[str, Any]) -> Ints:
        found: Ints = given["grad_output"].shape
        return found[-count:]

    return sizes


for _count in (2, 3):
    _through(f"_adaptive_avg_pool{_count}d_backward", output_size=_last(_count))
    _through(f"avg_pool{_count}d_backward")
_through("max_pool2d_backward")
for _count in (1, 2, 3):
    _through(f"reflection_pad{_count}d_backward")
    _through(f"replication_pad{_count}d_backward")
    _through(f"upsample_nearest{_count}d_backward", sizes="input_size")
    _through(f"_upsample_nearest_exact{_count}d_backward", sizes="input_size")
for _name in ("upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d"):
    _through(f"{_name}_backward", sizes="input_size")
for _name in ("bilinear", "bicubic", "lanczos"):
    _through(f"_upsample_{_name}2d_aa_backward", sizes="input_size")
_through("upsample_bicubic2d_backward", sizes="input_size")
_through(
    "affine_grid_generator_backward", "theta", sizes=lambda given: _sizes_of_theta(given["size"])
)
for _count in (2, 3):
    _through(f"grid_sampler_{_count}d_backward", "input grid", mask="output_mask")

_through("select_backward", forward="select.int", sizes="input_sizes")
_through("slice_backward", forward="slice.Tensor", sizes="input_sizes")
_through("diagonal_backward", sizes="input_sizes")
_through("unfold_backward", sizes="input_sizes", dimension="dim")
_through("trace_backward", sizes="sizes")
_through("index_select_backward", sizes="self_sizes")
_through("gather_backward")
_through("masked_select_backward", self="input")
_through(
    "masked_scatter_backward",
    "source",
    sizes="sizes",
    self=lambda given: aten.zeros_like(given["grad_output"]),
)

_through("matrix_exp_backward", forward="linalg_matrix_exp")
_through("_cdist_backward", "x1", "_cdist_forward", compute_mode=lambda given: None)
_through("_pdist_backward", forward="_pdist_forward")
_through("_segment_reduce_backward", "data", "segment_reduce")
_through("_weight_norm_interface_backward", "v g", v="saved_v", g="saved_g")
for _name in ("per_tensor", "per_channel"):
    _through(f"_fake_quantize_learnable_{_name}_affine_backward", "self scale zero_point")


# --------------------------------------------------------------------------- by formulas


@composite("aten::elu_backward")
def elu_slope(
    grad_output: Tensor, alpha: float, scale: float, input_scale: float, is_result: bool,
    self_or_result: Tensor,
) -> Tensor:  # fmt: skip
    """The slope of an exponential below zero and of a line above, by what it is taken of or by
    its result."""
    g, x = widened(grad_output, self_or_result)
    if is_result and alpha < 0:
        raise OperatorError(
            "In-place elu backward calculation is triggered with a negative slope which is not "
            "supported. This is caused by calling in-place forward function with a negative "
            "slope, please call out-of-place version instead."
        )
    if is_result:
        below = (x + alpha * scale) * input_scale
    else:
        below = (x.clamp_max(0) * input_scale).exp() * (input_scale * alpha * scale)
    return aten.where(x <= 0, g * below, g * scale).to(grad_output.dtype)


@composite("aten::rrelu_with_noise_backward")
def rrelu_slope(
    grad_output: Tensor, self: Tensor, noise: Tensor, lower: float, upper: float, training: bool,
    self_is_result: bool,
) -> Tensor:  # fmt: skip
    """The slopes that were drawn, or their mean."""
    if training and upper - lower > 1e-6:
        return grad_output * noise
    return aten.leaky_relu_backward(grad_output, self, (lower + upper) / 2, self_is_result)


def _by_places(count: int) -> Formula:
    def formula(grad_output: Tensor, self: Tensor, indices: Tensor) -> Tensor:
        return placed(grad_output, self.shape, indices, count)

    return formula


def _by_places_of_windows(count: int) -> Formula:
    def formula(
        grad_output: Tensor, self: Tensor, kernel_size: Ints, output_size: Ints, indices: Tensor
    ) -> Tensor:
        return placed(grad_output, self.shape, indices, count)

    return formula


for _count in (2, 3):
    composite(f"aten::adaptive_max_pool{_count}d_backward")(_by_places(_count))
    composite(f"aten::fractional_max_pool{_count}d_backward")(_by_places_of_windows(_count))


@composite("aten::max_pool3d_with_indices_backward")
def max_pool3d_back(
    grad_output: Tensor, self: Tensor, kernel_size: Ints, stride: Ints, padding: Ints,
    dilation: Ints, ceil_mode: bool, indices: Tensor,
) -> Tensor:  # fmt: skip
    """Each window's gradient, where its maximum lies."""
    return placed(grad_output, self.shape, indices, 3)


@composite("aten::value_selecting_reduction_backward")
def selected_back(grad: Tensor, dim: int, indices: Tensor, sizes: Ints, keepdim: bool) -> Tensor:
    """Gradients of what was chosen along a dimension, where it stood."""
    if not keepdim and len(sizes):
        grad, indices = grad.unsqueeze(dim), indices.unsqueeze(dim)
    return grad.new_zeros(list(sizes)).scatter(dim, indices, grad)


@composite("aten::cummaxmin_backward")
def running_back(grad: Tensor, input: Tensor, indices: Tensor, dim: int) -> Tensor:
    """Gradients of running extremes, added up where they stood."""
    if not input.numel():
        return aten.zeros_like(input)
    return aten.zeros_like(input).scatter_add(dim, indices, grad)


@composite("aten::_masked_softmax_backward")
def masked_softmax_back(
    grad_output: Tensor, output: Tensor, mask: Tensor, dim: int | None = None
) -> Tensor:
    """That of a softmax in which masked places have no part."""
    g = grad_output.masked_fill(mask.expand(grad_output.shape), 0)
    y = output.masked_fill(mask.expand(output.shape), 0)
    return y * (g - (g * y).sum([-1 if dim is None else dim], True))


@composite("aten::conv_tbc_backward")
def conv_tbc_back(
    self: Tensor, input: Tensor, weight: Tensor, bias: Tensor, pad: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of input, weight and bias of a convolution over the first dimension."""
    args = {"self": input, "weight": weight, "bias": bias, "pad": pad}
    found = walked(_entry("aten::conv_tbc"), args, ("self", "weight", "bias"), self)
    return found["self"], found["weight"], found["bias"]


constant("aten::grad", "prim::grad")  # a walk that is differentiated records what it computes
