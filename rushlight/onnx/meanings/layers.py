"""Convolutions, products, norms, pools, recurrent layers and resizing."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from ...ops.tensors.tensor import Tensor
from .shapes import pad
from .table import means, torch

State = tuple[Tensor, ...]
"""What a step of a recurrent layer hands to the next, and what a layer gives."""
Activation = Callable[[Tensor], Tensor]


def _pads(
    auto: str,
    given: list[int] | None,
    x: Tensor,
    kernel: list[int],
    stride: list[int],
    holes: list[int],
) -> list[int]:
    """What is added before each dimension, then after."""
    dims = len(kernel)
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        total = [
            max((-(-n // s) - 1) * s + (k - 1) * d + 1 - n, 0)
            for n, k, s, d in zip(x.shape[2:], kernel, stride, holes, strict=True)
        ]
        less, more = [t // 2 for t in total], [t - t // 2 for t in total]
        return less + more if auto == "SAME_UPPER" else more + less
    return [0] * (2 * dims) if given is None or auto == "VALID" else given


def _with_borders(x: Tensor, pads: list[int]) -> Tensor:
    if not any(pads):
        return x
    dims = len(pads) // 2
    return pad(x, torch.tensor([0, 0, *pads[:dims], 0, 0, *pads[dims:]]))


@means("Conv")
def conv(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    auto_pad: str = "NOTSET",
    dilations: list[int] | None = None,
    group: int = 1,
    kernel_shape: list[int] | None = None,
    pads: list[int] | None = None,
    strides: list[int] | None = None,
) -> Tensor:
    dims = weight.dim() - 2
    stride, holes = strides or [1] * dims, dilations or [1] * dims
    borders = _pads(auto_pad, pads, x, list(weight.shape[2:]), stride, holes)
    padding = borders[:dims]
    if borders[:dims] != borders[dims:]:
        x, padding = _with_borders(x, borders), [0] * dims
    function: Callable[..., Tensor] = getattr(torch, f"conv{dims}d")
    return function(x, weight, bias, stride, padding, holes, group)


@means("ConvTranspose")
def conv_transpose(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    auto_pad: str = "NOTSET",
    dilations: list[int] | None = None,
    group: int = 1,
    kernel_shape: list[int] | None = None,
    output_padding: list[int] | None = None,
    output_shape: list[int] | None = None,
    pads: list[int] | None = None,
    strides: list[int] | None = None,
) -> Tensor:
    dims = weight.dim() - 2
    borders = [0] * (2 * dims) if pads is None else pads
    if auto_pad != "NOTSET" or output_shape is not None or borders[:dims] != borders[dims:]:
        raise NotImplementedError("ConvTranspose: only equal `pads` have a meaning here")
    function: Callable[..., Tensor] = getattr(torch, f"conv_transpose{dims}d")
    more = output_padding or [0] * dims
    numbers = strides or [1] * dims, borders[:dims], more, group, dilations or [1] * dims
    return function(x, weight, bias, *numbers)


@means("Gemm")
def gemm(
    a: Tensor,
    b: Tensor,
    c: Tensor | None = None,
    alpha: float = 1.0,
    beta: float = 1.0,
    transA: int = 0,
    transB: int = 0,
) -> Tensor:
    one, other = a.t() if transA else a, b.t() if transB else b
    made = torch.matmul(one, other)
    made = made if alpha == 1 else made * alpha
    if c is None:
        return made
    return made + (c if beta == 1 else c * beta)


# --------------------------------------------------------------------------- norms


@means("BatchNormalization")
def batch_norm(
    x: Tensor,
    scale: Tensor,
    bias: Tensor,
    mean: Tensor,
    variance: Tensor,
    epsilon: float = 1e-5,
    momentum: float = 0.9,
    training_mode: int = 0,
) -> Tensor:
    if training_mode:
        raise NotImplementedError("BatchNormalization in training has no meaning here")
    return torch.nn.functional.batch_norm(x, mean, variance, scale, bias, False, 0.0, epsilon)


@means("LayerNormalization")
def layer_norm(
    x: Tensor,
    scale: Tensor,
    bias: Tensor | None = None,
    axis: int = -1,
    epsilon: float = 1e-5,
    stash_type: int = 1,
) -> Tensor:
    sizes = list(x.shape[axis % x.dim() :])
    full = scale.expand(sizes) if list(scale.shape) != sizes else scale
    return torch.nn.functional.layer_norm(x, sizes, full, bias, epsilon)


@means("InstanceNormalization")
def instance_norm(x: Tensor, scale: Tensor, bias: Tensor, epsilon: float = 1e-5) -> Tensor:
    return torch.nn.functional.instance_norm(x, weight=scale, bias=bias, eps=epsilon)


# --------------------------------------------------------------------------- pools


@means("MaxPool")
def max_pool(
    x: Tensor,
    kernel_shape: list[int],
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    dilations: list[int] | None = None,
    pads: list[int] | None = None,
    storage_order: int = 0,
    strides: list[int] | None = None,
) -> tuple[Tensor, ...]:
    dims = len(kernel_shape)
    stride, holes = strides or [1] * dims, dilations or [1] * dims
    borders = _pads(auto_pad, pads, x, kernel_shape, stride, holes)
    padding = borders[:dims]
    if borders[:dims] != borders[dims:]:
        raise NotImplementedError("MaxPool: only equal `pads` have a meaning here")
    function = getattr(torch.nn.functional, f"max_pool{dims}d")
    values, places = function(
        x, kernel_shape, stride, padding, holes, bool(ceil_mode), return_indices=True
    )
    plane = math.prod(x.shape[2:])
    planes = torch.arange(x.shape[0] * x.shape[1]).reshape([*x.shape[:2], *[1] * dims])
    return values, places + planes * plane


@means("AveragePool")
def average_pool(
    x: Tensor,
    kernel_shape: list[int],
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    count_include_pad: int = 0,
    dilations: list[int] | None = None,
    pads: list[int] | None = None,
    strides: list[int] | None = None,
) -> Tensor:
    dims = len(kernel_shape)
    stride = strides or [1] * dims
    borders = _pads(auto_pad, pads, x, kernel_shape, stride, [1] * dims)
    if borders[:dims] != borders[dims:] or any(each != 1 for each in dilations or ()):
        raise NotImplementedError("AveragePool: only equal `pads` have a meaning here")
    function: Callable[..., Tensor] = getattr(torch.nn.functional, f"avg_pool{dims}d")
    return function(
        x, kernel_shape, stride, borders[:dims], bool(ceil_mode), bool(count_include_pad)
    )


@means("GlobalAveragePool")
def global_average_pool(x: Tensor) -> Tensor:
    return torch.mean(x, list(range(2, x.dim())), keepdim=True)


@means("GlobalMaxPool")
def global_max_pool(x: Tensor) -> Tensor:
    return torch.amax(x, list(range(2, x.dim())), keepdim=True)


@means("Dropout")
def dropout(
    x: Tensor, ratio: object = None, training_mode: object = None, seed: int | None = None
) -> tuple[Tensor, Tensor]:
    if training_mode is not None and bool(training_mode):
        raise NotImplementedError("Dropout in training has no meaning here")
    return x, torch.ones_like(x, dtype=torch.bool)


# --------------------------------------------------------------------------- recurrent layers


def _lstm_step(gates: Tensor, state: State, act: list[Activation]) -> State:
    i, o, f, c = torch.chunk(gates, 4, 1)
    cell = act[0](f) * state[1] + act[0](i) * act[1](c)
    return act[0](o) * act[2](cell), cell


_ACTIVATIONS: Final = {"LSTM": ["Sigmoid", "Tanh", "Tanh"], "GRU": ["Sigmoid", "Tanh"]}


def _functions(kind: str, given: list[str] | None, direction: int) -> list[Activation]:
    known = {"Sigmoid": torch.sigmoid, "Tanh": torch.tanh, "Relu": torch.relu}
    each = len(_ACTIVATIONS.get(kind, ["Tanh"]))
    names = given or _ACTIVATIONS.get(kind, ["Tanh"]) * 2
    wanted = names[direction * each : (direction + 1) * each]
    for name in wanted:
        if name not in known:
            raise NotImplementedError(f"{kind}: the activation {name} has no meaning here")
    return [known[name] for name in wanted]


def _recurrent(
    kind: str,
    x: Tensor,
    w: Tensor,
    r: Tensor,
    b: Tensor | None,
    lengths: Tensor | None,
    *starts: Tensor | None,
    **o: Any,
) -> State:
    """All steps of a layer in its directions: (time, direction, batch, width) and the ends."""
    if lengths is not None or o.get("layout", 0) or o.get("clip") is not None:
        raise NotImplementedError(f"{kind}: lengths, layouts and clips have no meaning here")
    width, way = r.shape[2], o.get("direction", "forward")
    outputs, ends = list[Tensor](), list[State]()
    for n in range(w.shape[0]):
        act = _functions(kind, o.get("activations"), n)
        state = tuple(
            torch.zeros(x.shape[1], width) if start is None else start[n] for start in starts
        )
        bias = torch.zeros(2 * w.shape[1]) if b is None else b[n]
        bw, br = bias[: w.shape[1]], bias[w.shape[1] :]
        is_back = way == "reverse" or n == 1
        order = range(x.shape[0] - 1, -1, -1) if is_back else range(x.shape[0])
        steps = dict[int, Tensor]()
        for t in order:
            given = torch.matmul(x[t], w[n].t()) + bw
            state = _step(kind, given, r[n], br, state, act, o)
            steps[t] = state[0]
        outputs.append(torch.stack([steps[t] for t in range(x.shape[0])]))
        ends.append(state)
    joined = [torch.stack(each) for each in zip(*ends, strict=True)]
    return torch.stack(outputs, 1), *joined


def _step(
    kind: str,
    given: Tensor,
    r: Tensor,
    bias: Tensor,
    state: State,
    act: list[Activation],
    o: Any,
) -> State:
    if kind == "GRU":
        hidden = state[0]
        width = hidden.shape[1]
        z, reset, new = torch.chunk(given, 3, 1)
        rz, rr, rn = torch.chunk(torch.matmul(hidden, r.t()) + bias, 3, 1)
        z, reset = act[0](z + rz), act[0](reset + rr)
        if o.get("linear_before_reset", 0):
            new = act[1](new + reset * rn)
        else:
            inner = torch.matmul(reset * hidden, r[2 * width :].t()) + bias[2 * width :]
            new = act[1](new + inner)
        return ((1 - z) * new + z * hidden,)
    gates = given + torch.matmul(state[0], r.t()) + bias
    return _lstm_step(gates, state, act) if kind == "LSTM" else (act[0](gates),)


@means("LSTM")
def lstm(
    x: Tensor,
    w: Tensor,
    r: Tensor,
    b: Tensor | None = None,
    lengths: Tensor | None = None,
    h: Tensor | None = None,
    c: Tensor | None = None,
    p: object = None,
    **options: object,
) -> State:
    if p is not None or options.get("input_forget", 0):
        raise NotImplementedError("LSTM: peepholes and joined gates have no meaning here")
    return _recurrent("LSTM", x, w, r, b, lengths, h, c, **options)


@means("GRU")
def gru(
    x: Tensor,
    w: Tensor,
    r: Tensor,
    b: Tensor | None = None,
    lengths: Tensor | None = None,
    h: Tensor | None = None,
    **options: object,
) -> State:
    return _recurrent("GRU", x, w, r, b, lengths, h, **options)


@means("RNN")
def rnn(
    x: Tensor,
    w: Tensor,
    r: Tensor,
    b: Tensor | None = None,
    lengths: Tensor | None = None,
    h: Tensor | None = None,
    **options: object,
) -> State:
    return _recurrent("RNN", x, w, r, b, lengths, h, **options)


# --------------------------------------------------------------------------- resizing


@means("Resize")
def resize(
    x: Tensor,
    roi: Tensor | None = None,
    scales: Tensor | None = None,
    sizes: Tensor | None = None,
    mode: str = "nearest",
    coordinate_transformation_mode: str = "half_pixel",
    nearest_mode: str = "round_prefer_floor",
    cubic_coeff_a: float = -0.75,
    **rest: object,
) -> Tensor:
    """By torch's own resizing, where that is what the attributes say."""
    dims, place = x.dim() - 2, coordinate_transformation_mode
    names = {1: "linear", 2: "bilinear", 3: "trilinear"}
    wanted = {"nearest": "nearest", "linear": names.get(dims), "cubic": "bicubic"}.get(mode)
    corners = place == "align_corners"
    is_known = place in ("align_corners", "half_pixel", "pytorch_half_pixel")
    if mode == "nearest":
        is_known = place == "asymmetric" and nearest_mode == "floor"
    if wanted is None or not is_known or any(v for k, v in rest.items() if k != "exclude_outside"):
        raise NotImplementedError(f"Resize: {mode} by {place} has no meaning here")
    aligned = None if mode == "nearest" else corners
    if sizes is not None:
        return torch.nn.functional.interpolate(
            x, sizes.tolist()[2:], mode=wanted, align_corners=aligned
        )
    if scales is None:
        raise NotImplementedError("Resize: neither sizes nor scales are given")
    factors = scales.tolist()[2:]
    return torch.nn.functional.interpolate(
        x, scale_factor=factors, mode=wanted, recompute_scale_factor=False, align_corners=aligned
    )


@means("Col2Im")
def col2im(
    x: Tensor,
    image_shape: Tensor,
    block_shape: Tensor,
    dilations: list[int] | None = None,
    pads: list[int] | None = None,
    strides: list[int] | None = None,
) -> Tensor:
    borders = pads or [0, 0, 0, 0]
    if len(image_shape) != 2 or borders[:2] != borders[2:]:
        raise NotImplementedError("Col2Im: only images with equal `pads` have a meaning here")
    return torch.nn.functional.fold(
        *(x, image_shape.tolist(), block_shape.tolist(), dilations or [1, 1]),
        *(borders[:2], strides or [1, 1]),
    )


@means("GridSample")
def grid_sample(
    x: Tensor,
    grid: Tensor,
    align_corners: int = 0,
    mode: str = "linear",
    padding_mode: str = "zeros",
) -> Tensor:
    names = {"linear": "bilinear", "cubic": "bicubic"}
    return torch.nn.functional.grid_sample(
        x, grid, names.get(mode, mode), padding_mode, bool(align_corners)
    )
