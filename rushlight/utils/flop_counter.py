"""`torch.utils.flop_counter`: the multiplications and additions that a program does.

They follow from the sizes of the operators that a mode sees, so tensors on `meta` count as others
do.  Each multiplication and each addition counts as one.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from math import prod
from types import TracebackType
from typing import Any, Final, Self

from .. import ops
from ..ops.eager.packets import Packet
from ..ops.tensors.tensor import Tensor
from ._python_dispatch import TorchDispatchMode
from ._pytree import tree_map
from .module_tracker import ModuleTracker

__all__ = ["FlopCounterMode", "register_flop_formula"]

Formula = Callable[..., int]
Shape = Sequence[int]

flop_registry: Final[dict[object, Formula]] = {}
"""The operators that are counted, and their formulas."""


def get_shape(value: object) -> object:
    """The sizes of a tensor; any other value as it is."""
    return value.shape if isinstance(value, Tensor) else value


def shape_wrapper(formula: Formula) -> Formula:
    """A formula over sizes as one over tensors: that of the result is `out_val`."""

    @wraps(formula)
    def on_tensors(*args: object, out_val: object = None, **kwargs: object) -> int:
        args, kwargs, out = tree_map(get_shape, (args, kwargs, out_val))
        return formula(*args, out_shape=out, **kwargs)

    return on_tensors


def register_flop_formula(targets: object, get_raw: bool = False) -> Callable[[Formula], Formula]:
    """A decorator for the formula of one or several operators (`torch.ops.mylib.foo`).

    It is called with the sizes of the arguments, and `out_shape`; with `get_raw` with the arguments
    themselves and `out_val`.

    Raises:
        ValueError: a target is no operator.
        RuntimeError: it has a formula already.
    """

    def register(formula: Formula) -> Formula:
        found = formula if get_raw else shape_wrapper(formula)
        for target in targets if isinstance(targets, (list, tuple)) else (targets,):
            if not isinstance(target, Packet):
                raise ValueError(
                    f"register_flop_formula(targets): expected each target to be OpOverloadPacket "
                    f"(i.e. torch.ops.mylib.foo), or HigherOrderOperator, got {target} which is of "
                    f"type {type(target)}"
                )
            if target in flop_registry:
                raise RuntimeError(f"duplicate registrations for {target}")
            flop_registry[target] = found
        return formula

    return register


# --------------------------------------------------------------------------- formulas


_aten = ops.aten


@register_flop_formula(_aten.mm)
def mm_flop(
    a_shape: Shape, b_shape: Shape, *args: object, out_shape: object = None, **kw: object
) -> int:
    """A product of matrices."""
    return 2 * a_shape[0] * a_shape[1] * b_shape[1]


@register_flop_formula(_aten.addmm)
def addmm_flop(
    self_shape: Shape, a_shape: Shape, b_shape: Shape, out_shape: object = None, **kw: object
) -> int:
    """The product alone, as torch counts it."""
    return mm_flop(a_shape, b_shape)


@register_flop_formula(_aten.bmm)
def bmm_flop(a_shape: Shape, b_shape: Shape, out_shape: object = None, **kw: object) -> int:
    """Products of matrices."""
    return a_shape[0] * mm_flop(a_shape[1:], b_shape[1:])


@register_flop_formula(_aten.baddbmm)
def baddbmm_flop(
    self_shape: Shape, a_shape: Shape, b_shape: Shape, out_shape: object = None, **kw: object
) -> int:
    """The products alone."""
    return bmm_flop(a_shape, b_shape)


def conv_flop_count(
    x_shape: Shape, w_shape: Shape, out_shape: Shape, transposed: bool = False
) -> int:
    """A convolution: for each place all weights.  The places are those of the result, or of the
    input if it is transposed."""
    places = (x_shape if transposed else out_shape)[2:]
    return 2 * x_shape[0] * prod(places) * prod(w_shape)


@register_flop_formula([_aten.convolution, _aten._convolution])
def conv_flop(
    x_shape: Shape, w_shape: Shape, bias: object, stride: object, padding: object, dilation: object,
    transposed: bool, *args: object, out_shape: Any = None, **kw: object,
) -> int:  # fmt: skip
    """See `conv_flop_count`."""
    return conv_flop_count(x_shape, w_shape, out_shape, transposed)


# --------------------------------------------------------------------------- the mode


class FlopCounterMode:
    """A block whose operations are counted, for each module that is called in it.

    Args:
        mods: no longer used; modules are found by their calls.
        depth: how deep modules lie in each other in the table.
        display: whether the table is printed at the end of the block.
        custom_mapping: further operators and their formulas, see `register_flop_formula`; those
            with an attribute `_get_raw` that is true are called with tensors.
    """

    def __init__(
        self,
        mods: object = None,
        depth: int = 2,
        display: bool = True,
        custom_mapping: dict[object, Formula] | None = None,
    ) -> None:
        if mods is not None:
            warnings.warn(
                "mods argument is not needed anymore, you can stop passing it", stacklevel=2
            )
        self.depth = depth
        self.display = display
        self.flop_counts: dict[str, dict[object, int]] = _counts()
        self.flop_registry = dict(flop_registry)
        for target, formula in (custom_mapping or {}).items():
            raw = getattr(formula, "_get_raw", False)
            self.flop_registry[target] = formula if raw else shape_wrapper(formula)
        self.mod_tracker = ModuleTracker()
        self.mode: _Counting | None = None

    def get_total_flops(self) -> int:
        """All of them."""
        return sum(self.flop_counts["Global"].values())

    def get_flop_counts(self) -> dict[str, dict[object, int]]:
        """By the names of modules, and `Global`, the counts of operators."""
        return {name: dict(counts) for name, counts in self.flop_counts.items()}

    def get_table(self, depth: int | None = None) -> str:
        """A table of the modules: their counts, and what part they are of all."""
        return _table(_rows(self, 999999 if depth is None and not self.depth else depth))

    def __enter__(self) -> Self:
        self.flop_counts = _counts()
        self.mod_tracker.__enter__()
        self.mode = _Counting(self)
        self.mode.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        assert self.mode is not None
        self.mode.__exit__(kind, error, trace)
        self.mode = None
        self.mod_tracker.__exit__()
        if self.display:
            print(self.get_table(self.depth))

    def _count_flops(
        self, target: object, out: object, args: Sequence[object], kwargs: Mapping[str, object]
    ) -> object:
        formula = self.flop_registry.get(target)
        if formula is not None:
            count = formula(*args, **kwargs, out_val=out)
            for name in self.mod_tracker.parents:
                self.flop_counts[name][target] += count
        return out


class _Counting(TorchDispatchMode):
    """The mode of a counter."""

    def __init__(self, counter: FlopCounterMode) -> None:
        super().__init__()
        self._counter = counter

    def __torch_dispatch__(
        self,
        func: Any,
        types: object,
        args: tuple[object, ...] = (),
        kwargs: dict[str, object] | None = None,
    ) -> object:
        kwargs = kwargs or {}
        out = func(*args, **kwargs)
        return self._counter._count_flops(func.overloadpacket, out, args, kwargs)


def _counts() -> dict[str, dict[object, int]]:
    return defaultdict(lambda: defaultdict(int))


# --------------------------------------------------------------------------- the table


suffixes: Final = ["", "K", "M", "B", "T"]


def get_suffix_str(number: int) -> str:
    """The thousands, millions and so on that a number is shown in, four digits before the point
    at most."""
    return suffixes[max(0, min(len(suffixes) - 1, (len(str(number)) - 2) // 3))]


def convert_num_with_suffix(number: int, suffix: str) -> str:
    """A number in thousands, millions and so on."""
    return f"{number / 1000 ** suffixes.index(suffix):.3f}{suffix}"


def convert_to_percent_str(num: int, denom: int) -> str:
    """A part of a whole."""
    return f"{num / denom:.2%}" if denom else "0%"


def _rows(counter: FlopCounterMode, depth: int | None) -> list[list[str]]:
    deepest = counter.depth if depth is None else depth
    total = counter.get_total_flops()
    suffix = get_suffix_str(total)

    def lines(name: str, level: int) -> Iterable[list[str]]:
        counts = counter.flop_counts[name]
        shown = [(name, sum(counts.values()))]
        shown += [(f" - {target}", count) for target, count in counts.items()]
        for text, count in shown:
            part = convert_to_percent_str(count, total)
            yield [" " * level + text, convert_num_with_suffix(count, suffix), part]

    names = [name for name in sorted(counter.flop_counts) if name != "Global"]
    shown = [name for name in names if name.count(".") < deepest]
    found = [line for name in shown for line in lines(name, name.count("."))]
    is_whole = any(sum(counter.flop_counts[name].values()) >= total for name in shown)
    if "Global" in counter.flop_counts and not is_whole:
        inner = [[f" {line[0]}", *line[1:]] for line in found]
        found = [*lines("Global", 0), *inner]
    return found or [["Global", "0", "0%"]]


def _table(rows: list[list[str]]) -> str:
    """Columns under their names, the first one to the left."""
    head = ["Module", "FLOP", "% Total"]
    widths = [max(len(row[at]) for row in (head, *rows)) for at in range(3)]
    widths = [max(width, len(name) + 2) for width, name in zip(widths, head, strict=True)]

    def line(cells: Sequence[str]) -> str:
        first, *rest = cells
        shown = [first.ljust(widths[0])]
        shown += [c.rjust(w) for c, w in zip(rest, widths[1:], strict=True)]
        return "  ".join(shown)

    return "\n".join([line(head), line(["-" * w for w in widths]), *map(line, rows)])
