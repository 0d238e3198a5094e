"""One step of an LSTM's gradient, for all its sequences."""

from __future__ import annotations

from functools import cache
from typing import Final

from ....memory.dtype import Array
from ..calls.run import run
from ..language.target import Target
from ..language.text import FLOAT, FLOATS, INT64, POINTER, Code, Value
from ..loading.objects import kernel

__all__ = ["lstm_step"]

_LEAST: Final = 1 << 12
"""Elements of states that are worth another thread."""
_PLACES: Final = ("gates", "before", "bent", "hidden", "cell", "out")
_GATES: Final = 4


def lstm_step(
    gates: Array, before: Array, bent: Array, hidden: Array, cell: Array, out: Array
) -> None:
    """The gradients of the gates before they were bent, and of the cell's state before the step.

    Args:
        gates: what takes in, keeps, is new and shows, float32 [sequences, 4 * width].
        before: the cell's state before the step, [sequences, width].
        bent: tanh of the state after it.
        hidden: the gradient of what the step shows.
        cell: that of the state after the step; that of the one before it is written over it.
        out: like `gates`; the result is written here.

    All lie in one piece.

    Raises:
        ValueError: the sizes do not fit.
    """
    many, width = before.shape
    states = (before, bent, hidden, cell)
    if any(each.shape != (many, width) for each in states):
        raise ValueError("the states of an LSTM do not fit")
    if gates.shape != (many, _GATES * width) or out.shape != gates.shape:
        raise ValueError("the gates of an LSTM do not fit")
    run(_kernel(), many, _LEAST // max(1, width) + 1, width, gates, *states, out)


@cache
def _kernel() -> int:
    return kernel("lstm_gradient", (), _text)


def _text(target: Target) -> str:
    """The range is one of sequences."""
    code = Code(target)
    width = code.argument(INT64, "width")
    place = {name: code.argument(POINTER, name) for name in _PLACES}
    with code.units() as row:
        rows = {
            name: code.at(
                place[name], row * width * (_GATES if name in ("gates", "out") else 1), FLOAT
            )
            for name in _PLACES
        }

        def visit(places: list[Value], mask: Value | None) -> None:
            for at in places:
                _step(code, rows, width, at, mask)

        code.vectors(code.constant(INT64, 0), width, 1, visit)
    return code.kernel("lstm_gradient", [(INT64, "width"), *((POINTER, name) for name in _PLACES)])


def _step(code: Code, rows: dict[str, Value], width: Value, at: Value, mask: Value | None) -> None:
    def seen(name: str, gate: int = 0) -> Value:
        return code.load_if(FLOATS, code.at(rows[name], width * gate + at, FLOAT), mask, 0.0)

    taken, kept, new, shown = (seen("gates", gate) for gate in range(_GATES))
    before, bent, hidden = seen("before"), seen("bent"), seen("hidden")
    cell = seen("cell") + hidden * shown * (1.0 - bent * bent)
    made = (
        cell * new * (taken * (1.0 - taken)),
        cell * before * (kept * (1.0 - kept)),
        cell * taken * (1.0 - new * new),
        hidden * bent * (shown * (1.0 - shown)),
    )
    for gate, each in enumerate(made):
        code.store_if(each, code.at(rows["out"], width * gate + at, FLOAT), mask)
    code.store_if(cell * kept, code.at(rows["cell"], at, FLOAT), mask)
