"""The way back through operators of a call whose own forms and formulas run on tensors."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...memory.dtype import of_numpy
from ...tensors.tensor import Tensor
from ..nodes.autograd import Edge, Node
from ..nodes.bound import RowNode, Traced
from ..table.rules import Rule
from .shapes import At, CallShape, Did, End, numbers_in
from .texts import Text

__all__ = ["OnTensors"]


class OnTensors:
    """The writing of that; `v3` stands for the saved value of that number."""

    def __init__(self, shape: CallShape, text: Text) -> None:
        self.shape = shape
        self.text = text
        text.space |= {"tensor": Tensor._of, "by_node": _by_node}

    def write(self, step: Did, ends: list[End], grads: list[str | None], names: list[str]) -> None:
        """Write what gives the gradients of arguments their names."""
        text, bound = self.text, step.bound
        direct = bound.direct
        given = [each or "None" for each in grads]
        if direct is not None and bound.orders.keys() >= {end.at for end in ends}:
            reads = self._reads(direct, step, ends, given)
            call = f"{text.name(direct.formula)}({reads})"
            if "g" in direct.readers and grads[0] is None:
                call = "None"
            text.add(1, f"parts = {call}", "if parts is not None:")
            parts = [_part(f"parts[{bound.orders[end.at]}]", end.inner) for end in ends]
            text.add(2, f"{', '.join(names)}, = {', '.join(parts)},")
            text.add(1, "else:")
            self._by_formulas(2, step, ends, given, names)
        else:
            self._by_formulas(1, step, ends, given, names)
        for end, name in zip(ends, names, strict=True):
            if (lays := bound.lays.get(end.at)) is not None:
                lay = text.name(lays)
                text.add(1, f"if {name} is not None: {name} = {lay}({name}, {given[0]}, 0)")

    def _by_formulas(
        self, depth: int, step: Did, ends: list[End], grads: list[str], names: list[str]
    ) -> None:
        text, bound = self.text, step.bound
        row = bound.row
        assert row is not None
        if row.moves or row.composite is not None:
            self._by_node(depth, step, ends, grads, names)
        elif bound.shared is not None:
            reads = self._reads(bound.shared, step, ends, grads)
            text.add(depth, f"parts = {text.name(bound.shared.formula)}({reads})")
            for end, name in zip(ends, names, strict=True):
                part = _part(f"parts[{bound.orders[end.at]}]", end.inner)
                text.add(depth, f"{name} = {part}")
        else:
            for at in dict.fromkeys(end.at for end in ends):
                rule = bound.formulas[at]
                call = f"{text.name(rule.formula)}({self._reads(rule, step, ends, grads)})"
                if "g" in rule.readers and grads[0] == "None":
                    call = "None"
                text.add(depth, f"part = {call}")
                for end, name in zip(ends, names, strict=True):
                    if end.at == at:
                        text.add(depth, f"{name} = {_part('part', end.inner)}")

    def _by_node(
        self, depth: int, step: Did, ends: list[End], grads: list[str], names: list[str]
    ) -> None:
        """The way back through an operator by a node that is made for it."""
        text = self.text
        like = _Like(self.shape, step, ends)
        args = ", ".join(self._argument(step, at) for at in range(len(step.args)))
        kept = self.shape.keeps_results(step)
        results = ", ".join(
            f"tensor(v{n})" if kept else text.name(Tensor._of(self.shape.ghost(n)))
            for n in step.results
        )
        given = f"{text.name(like)}, [{args}], [{results}], [{', '.join(grads)}]"
        text.add(depth, f"parts = by_node({given})")
        for place, end in enumerate(step.ends):
            if end in ends:
                text.add(depth, f"{names[ends.index(end)]} = parts[{place}]")

    def _argument(self, step: Did, at: int) -> str:
        """An argument as a tensor, one without memory if it is not kept."""
        keeps = self.shape.keeps(step)

        def shown(value: object) -> str:
            if type(value) is At:
                if at in keeps:
                    return f"tensor(v{value.number})"
                return self.text.name(Tensor._of(self.shape.ghost(value.number)))
            if type(value) is list:
                return f"[{', '.join(map(shown, value))}]"
            return self.text.name(value)

        return shown(step.args[at])

    def _reads(self, rule: Rule, step: Did, ends: list[End], grads: list[str]) -> str:
        """The arguments of a formula."""
        keeps, bound, text = self.shape.keeps(step), step.bound, self.text
        asked = {end.at for end in ends}

        def value(found: re.Match[str]) -> str:
            at = int(found[2])
            has_tensor = any(True for _ in numbers_in([step.args[at]]))
            if found[1] == "kept" and has_tensor and at not in keeps:
                return "None"
            return self._argument(step, at)

        def about(found: re.Match[str]) -> str:
            return text.name(self._about(step.args[int(found[1])], found[2]))

        def results(found: re.Match[str]) -> str:
            if found[1] == "None":
                return f"[{', '.join(f'tensor(v{n})' for n in step.results)}]"
            return f"tensor(v{step.results[int(found[1])]})"

        order = sorted(bound.orders, key=lambda at: bound.orders[at])
        flags = "".join(f"{at in asked}, " for at in order)
        names = {name: at in asked for name, at in bound.positions.items()}
        reads = rule.reads
        for pattern, put in (
            (r"\bgs\[0\]", grads[0]),
            (r"\bgs\b(?!=)", f"[{', '.join(grads)}]"),
            (r"node\.(value|kept)\((\d+)\)", value),
            (r"node\.about\((\d+), '(\w+)'\)", about),
            (r"node\.results\((\w+)\)", results),
            (r"node\.asked\(\)", f"({flags})"),
            (r"node\.wanted\(\)", text.name(names)),
        ):
            reads = re.sub(pattern, put, reads)
        return reads

    def _about(self, value: object, word: str) -> object:
        if type(value) is list:
            return [self._about(each, word) for each in value]
        if type(value) is not At:
            return None
        if word == "columns":  # gradients inside of calls are stored by rows
            return False
        known = self.shape.values[value.number]
        return known.shape if word == "sizes" else of_numpy(known.dtype)


class _Like:
    """What nodes are made like."""

    def __init__(self, shape: CallShape, step: Did, ends: Sequence[End]) -> None:
        self.bound = step.bound
        edge: Edge = Node(()), 0
        edges = [edge if end in ends else None for end in step.ends]
        places = [(end.at, end.inner) for end in step.ends]
        sizes = list[object]()
        for end in step.ends:
            value = shape.values[end.value]
            sizes += [value.shape, value.dtype]
        self.traced: Traced = edges, places, sizes, shape.keeps(step)


def _by_node(
    like: _Like, args: Sequence[object], results: list[Tensor], grads: list[Tensor | None]
) -> list[Tensor | None]:
    """The gradients of arguments by a node that is made for them."""
    edges, places, sizes, kept = like.traced
    node = RowNode(like.bound, args, None, ([*edges], places, sizes, kept))
    node.set_results(results)
    return node.apply(grads)


def _part(text: str, inner: int | None) -> str:
    return text if inner is None else f"({text} and {text}[{inner}])"
