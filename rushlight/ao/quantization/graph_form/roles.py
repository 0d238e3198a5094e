"""What each operator of a graph is to quantization, one record a kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["ROLES", "Role"]


@dataclass(frozen=True)
class Role:
    """How an operator meets quantized operands.

    `observed` says that its first operand and its result are observed, `weight` which input is a
    weight with an observer of its own, which `prepack` packs, with the inputs after it or those
    that `packs` lists.  Of one that `joins` so many operands the result is observed where they are
    in known ranges.  `quantized` takes the place of the operator, with the inputs that `takes`
    lists before the range of its result, and `ends` after; constants that `rounded` lists are
    observed too.  `relu` says whether a ReLU after it can be part of it.  `dynamic` takes the place
    where values are quantized by the range of each call.  A `passed` operator computes on whole
    numbers as on others; their range is that of its operand, or the scale and zero point that it
    always `gives`.  One that `rounds` makes other values than its operand has, of the same range.
    """

    quantized: str = ""
    observed: bool = False
    joins: int = 0
    weight: int | None = None
    prepack: str = ""
    packs: tuple[int, ...] | None = None
    takes: tuple[int, ...] = ()
    ends: tuple[int, ...] = ()
    rounded: tuple[int, ...] = ()
    relu: bool = False
    passed: bool = False
    gives: tuple[float, int] | None = None
    rounds: bool = False
    dynamic: str = ""


def _convolution(dims: int) -> Role:
    return Role(
        quantized=f"quantized::conv{dims}d",
        observed=True,
        weight=1,
        prepack=f"quantized::conv{dims}d_prepack",
        relu=True,
    )


def _transposed(dims: int) -> Role:
    return Role(
        quantized=f"quantized::conv_transpose{dims}d",
        observed=True,
        weight=1,
        prepack=f"quantized::conv_transpose{dims}d_prepack",
        packs=(2, 3, 4, 5, 7, 6),
    )


def _norm(name: str, takes: tuple[int, ...], rounded: tuple[int, ...]) -> Role:
    return Role(f"quantized::{name}", observed=True, takes=takes, rounded=rounded)


ROLES: Final[dict[str, Role]] = {
    **{f"aten::conv{dims}d": _convolution(dims) for dims in (1, 2, 3)},
    **{f"aten::conv_transpose{dims}d": _transposed(dims) for dims in (1, 2)},
    "aten::linear": Role(
        quantized="quantized::linear",
        observed=True,
        weight=1,
        prepack="quantized::linear_prepack",
        relu=True,
        dynamic="quantized::linear_dynamic",
    ),
    "aten::add": Role("quantized::add", observed=True, joins=2, relu=True),
    "aten::mul": Role("quantized::mul", observed=True, joins=2, relu=True),
    "aten::cat": Role("quantized::cat", observed=True, joins=1, takes=(1,)),
    "aten::batch_norm": Role(
        "quantized::batch_norm", observed=True, takes=(1, 2, 3, 4, 7), relu=True
    ),
    "aten::hardswish": Role("quantized::hardswish", observed=True),
    "aten::elu": Role("quantized::elu", observed=True, ends=(1, 2, 3)),
    "aten::celu": Role(observed=True),
    "aten::layer_norm": _norm("layer_norm", (1, 2, 3, 4), (2, 3)),
    "aten::group_norm": _norm("group_norm", (1, 2, 3, 4), (2, 3)),
    "aten::instance_norm": _norm("instance_norm", (1, 2, 7), (1, 2)),
    "aten::sigmoid": Role(passed=True, gives=(1 / 256, 0)),
    "aten::hardsigmoid": Role(passed=True, gives=(1 / 256, 0)),
    "aten::tanh": Role(passed=True, gives=(2 / 256, 128)),
    **{
        f"aten::{name}": Role(passed=True, rounds=True)
        for name in """leaky_relu hardtanh clamp mean avg_pool1d avg_pool2d avg_pool3d
        adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d upsample_nearest1d
        upsample_nearest2d upsample_nearest3d upsample_linear1d upsample_bilinear2d
        upsample_trilinear3d""".split()
    },
    **{
        f"aten::{name}": Role(passed=True)
        for name in """relu max min sort max_pool1d max_pool2d max_pool3d dropout flatten permute
        reshape view transpose squeeze unsqueeze contiguous detach chunk repeat repeat_interleave
        stack __getitem__""".split()
    },
}
