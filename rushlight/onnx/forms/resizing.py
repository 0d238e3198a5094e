"""Interpolation and sampling."""

from __future__ import annotations

from typing import Any

from ..items import Item, Operand, Unsupported
from ..table import EXPORTS, exports
from ..writer import FLOAT, Writer


def _coordinates(mode: str, corners: bool) -> str:
    """Where the new places lie among the old ones."""
    if mode == "nearest":
        return "asymmetric"
    if mode == "nearest-exact":
        return "half_pixel"
    if corners:
        return "align_corners"
    return "pytorch_half_pixel" if mode == "linear" else "half_pixel"


def _resized(
    w: Writer, input: Item, size: Item, factors: list[Item], mode: str, corners: bool
) -> Operand:
    """By factors where they are given, else to sizes."""
    x = w.tensor(input)
    options: dict[str, Any] = {
        "mode": mode.removesuffix("-exact"),
        "coordinate_transformation_mode": _coordinates(mode, corners),
        "nearest_mode": {"nearest": "floor", "nearest-exact": "round_prefer_ceil"}.get(mode),
        "cubic_coeff_a": -0.75 if mode == "cubic" else None,
    }
    given = [each for each in factors if each is not None]
    if given and size is None:
        scales = w.constant([1.0, 1.0, *(w.real(f, "scale") for f in given)], FLOAT)
        return w.op("Resize", x, None, scales, **options)
    if size is None:
        raise Unsupported("neither a size nor a factor is known")
    known = list(size) if isinstance(size, list | tuple) else [None] * (w.rank(x) - 2)
    shape = x.shape or (None, None)
    sizes = w.op("Concat", w.vector([w.size(x, 0), w.size(x, 1)]), w.vector(size), axis=0)
    return w.op("Resize", x, None, None, sizes, dims=[*shape[:2], *known], **options)


def _declare(name: str, mode: str, count: int, with_corners: bool) -> None:
    def form(w: Writer, input: Item, size: Item, *rest: Item) -> Item:
        more = list(rest)
        corners = more.pop(0) is True if with_corners else False
        if len(more) == 1 and isinstance(more[0], list | tuple):
            more = list(more[0])
        elif len(more) == 1 and isinstance(more[0], Operand) and more[0].array is not None:
            more = more[0].array.tolist()
        return _resized(w, input, size, more, mode, corners)

    EXPORTS[f"aten::{'_' * name.endswith('exact')}upsample_{name}{count}d"] = form


for _count in (1, 2, 3):
    _declare("nearest", "nearest", _count, with_corners=False)
    _declare("nearest_exact", "nearest-exact", _count, with_corners=False)
_declare("linear", "linear", 1, with_corners=True)
_declare("bilinear", "linear", 2, with_corners=True)
_declare("trilinear", "linear", 3, with_corners=True)
_declare("bicubic", "cubic", 2, with_corners=True)


@exports("aten::grid_sampler", "aten::grid_sampler_2d")
def grid_sampler(
    w: Writer,
    input: Item,
    grid: Item,
    interpolation_mode: Item,
    padding_mode: Item,
    align_corners: Item,
) -> Item:
    names = ["bilinear", "nearest", "bicubic"]
    if w.opset >= 20:
        names = ["linear", "nearest", "cubic"]
    return w.op(
        "GridSample",
        w.tensor(input),
        w.tensor(grid),
        mode=names[w.whole(interpolation_mode, "interpolation_mode")],
        padding_mode=["zeros", "border", "reflection"][w.whole(padding_mode, "padding_mode")],
        align_corners=int(align_corners is True),
    )
