"""Pools over windows, and adaptive pools."""

from __future__ import annotations

from math import prod

from ..items import Item, Operand, Unsupported
from ..table import EXPORTS
from ..writer import INT, Writer
from .windows import uneven_average, uneven_maximum


def _max_pool(count: int, with_places: bool) -> None:
    def form(
        w: Writer,
        self: Item,
        kernel_size: Item,
        stride: Item = (),
        padding: Item = 0,
        dilation: Item = 1,
        ceil_mode: Item = False,
    ) -> Item:
        x, is_single = w.batched(self, count + 2)
        sizes = w.wholes(kernel_size, "kernel_size", count)
        options = {
            "kernel_shape": sizes,
            "strides": w.wholes(stride, "stride", count) if stride else sizes,
            "pads": w.wholes(padding, "padding", count) * 2,
            "dilations": w.wholes(dilation, "dilation", count),
            "ceil_mode": int(ceil_mode is True),
        }
        found = w.ops(1 + with_places, "MaxPool", x, **options)
        if is_single:
            found = tuple(w.squeeze(each, 0) for each in found)
        return (found[0], _in_planes(w, x, found[1], count)) if with_places else found[0]

    EXPORTS[f"aten::max_pool{count}d" + "_with_indices" * with_places] = form


def _in_planes(w: Writer, x: Operand, places: Operand, count: int) -> Operand:
    """Places counted within each plane; ONNX counts them through the whole tensor."""
    sizes = [w.size(x, 2 + axis) for axis in range(count)]
    plane = w.reduce("ReduceProd", w.vector(sizes), [0], False)
    return w.op("Mod", places, w.cast(plane, INT))


def _average_pool(count: int) -> None:
    def form(
        w: Writer,
        self: Item,
        kernel_size: Item,
        stride: Item = (),
        padding: Item = 0,
        ceil_mode: Item = False,
        count_include_pad: Item = True,
        divisor_override: Item = None,
    ) -> Item:
        x, is_single = w.batched(self, count + 2)
        sizes = w.wholes(kernel_size, "kernel_size", count)
        pads = w.wholes(padding, "padding", count)
        own = divisor_override is not None
        if ceil_mode is True and (count_include_pad is True or own) and any(pads):
            raise Unsupported("padding counts, and the last windows reach over it")
        found = w.op(
            "AveragePool",
            x,
            kernel_shape=sizes,
            strides=w.wholes(stride, "stride", count) if stride else sizes,
            pads=pads * 2,
            ceil_mode=int(ceil_mode is True),
            count_include_pad=int((count_include_pad is True or own) and any(pads)),
        )
        if own:
            divisor = w.whole(divisor_override, "divisor_override")
            found = w.op("Mul", found, w.constant(prod(sizes) / divisor, found.dtype))
        return w.squeeze(found, 0) if is_single else found

    EXPORTS[f"aten::avg_pool{count}d"] = form


def _adaptive(count: int, kind: str, name: str, results: int) -> None:
    def form(w: Writer, self: Item, output_size: Item) -> Item:
        x, is_single = w.batched(self, count + 2)
        wanted = list(output_size) if isinstance(output_size, list | tuple) else [output_size]
        wanted = wanted * count if len(wanted) == 1 else wanted
        if all(size == 1 for size in wanted) and results == 1:
            found = w.ops(1, f"Global{kind}", x)
        else:
            sizes, targets = _windows(w, x, wanted)
            if any(size % target for size, target in zip(sizes, targets, strict=True)):
                pool = uneven_average if results == 1 else uneven_maximum
                made = pool(w, x, sizes, targets)
                parts: tuple[Operand, ...] = made if isinstance(made, tuple) else (made,)
                parts = tuple(w.squeeze(each, 0) for each in parts) if is_single else parts
                return parts if results == 2 else parts[0]
            steps = [size // target for size, target in zip(sizes, targets, strict=True)]
            found = w.ops(results, kind, x, kernel_shape=steps, strides=steps)
        if is_single:
            found = tuple(w.squeeze(each, 0) for each in found)
        return (found[0], _in_planes(w, x, found[1], count)) if results == 2 else found[0]

    EXPORTS[f"aten::adaptive_{name}_pool{count}d"] = form


def _windows(w: Writer, x: Operand, wanted: list[Item]) -> tuple[list[int], list[int]]:
    """The sizes and those wanted."""
    what = "the size that is pooled to another than one"
    sizes = [w.known_size(x, 2 + n, what) for n in range(len(wanted))]
    targets = [
        size if target is None else w.whole(target, "output_size")
        for size, target in zip(sizes, wanted, strict=True)
    ]
    if any(target <= 0 for target in targets):
        raise Unsupported("a result of size 0")
    return sizes, targets


for _count in (1, 2, 3):
    _max_pool(_count, with_places=False)
    _max_pool(_count, with_places=True)
    _average_pool(_count)
    _adaptive(_count, "AveragePool", "avg", 1)
    _adaptive(_count, "MaxPool", "max", 2)
