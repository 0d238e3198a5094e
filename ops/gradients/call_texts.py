"""The functions of a call's shape: what knows a call by its notes, and the way back through it.

Both are one text each, with numbers of values for names; what stands in it besides is our own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..memory.dtype import of_numpy
from ..tensors.tensor import Tensor
from .autograd import Edge, Node, edge_within, fit
from .bound import Bound, RowNode
from .call_shapes import At, CallShape, Did, End
from .rules import Rule
from .walk import added

__all__ = ["back_of", "match_of"]

Match = Callable[[Sequence[Any], Sequence[Tensor], dict[int, Tensor]], Any]
Back = Callable[[Sequence[Any], Sequence[Tensor | None]], list[Tensor | None]]


class _Text:
    """A function while it is written, and what it names."""

    def __init__(self, head: str) -> None:
        self.lines = [head]
        self.space: dict[str, Any] = {"__builtins__": {"len": len, "type": type, "id": id}}
        self._named: dict[int, str] = {}

    def add(self, depth: int, *lines: str) -> None:
        self.lines += [" " * depth + line for line in lines]

    def name(self, thing: Any) -> str:
        """The name of a thing, which stays alive by that."""
        found = self._named.get(id(thing))
        if found is None:
            found = self._named[id(thing)] = f"c{len(self._named)}"
            self.space[found] = thing
        return found

    def function(self, name: str) -> Any:
        exec(compile("\n".join(self.lines) + "\n", __file__, "exec"), self.space)
        return self.space[name]


# --------------------------------------------------------------------------- knowing a call


def match_of(shape: CallShape) -> Match:
    """What gives the saved arrays of a call of that shape and where its arguments came from, or
    None for one of another shape: `match(notes, tensors that went out, tensors by array)`."""
    text = _Text("def match(steps, pending, known):")
    text.space |= {"edge_within": edge_within, "ndarray": np.ndarray}
    text.add(1, f"if len(steps) != {len(shape.steps)} or len(pending) != {shape.pending}:")
    text.add(2, "return None")
    seen: dict[int, str] = {}
    for index in range(len(shape.steps)):
        text.add(1, f"b{index}, a{index}, r{index}, old = steps[{index}]")
        _check_step(text, shape, index, seen)
    tests = [f"pending[{i}]._array is not {seen[n]}" for i, n in enumerate(shape.outward)]
    text.add(1, f"if {' or '.join(tests[: shape.pending])}:", " return None")
    for number in shape.outside:
        is_wanted = number in shape.active
        text.add(1, f"h = known.get(id({seen[number]}))")
        text.add(1, f"e{number} = None if h is None else edge_within(h)")
        text.add(1, f"if e{number} is {'' if is_wanted else 'not '}None:", " return None")
    saved = "".join(f"{seen[n]}, " for n in shape.saved)
    edges = ", ".join(f"e{n}" for n in shape.edges)
    others = "".join(f"{seen[n]}, " for n in shape.bases)
    text.add(1, f"return ({saved}), [{edges}], ({others})")
    return text.function("match")  # type: ignore[no-any-return]


def _check_step(text: _Text, shape: CallShape, index: int, seen: dict[int, str]) -> None:
    step = shape.steps[index]
    tests = [f"b{index} is not {text.name(step.bound)}", "old is not None"]
    tests.append(f"len(a{index}) != {len(step.args)}")
    text.add(1, f"if {' or '.join(tests)}:", " return None")
    _check_parts(text, shape, step.args, f"a{index}", seen)
    if step.many is None:
        _check_value(text, shape, step.results[0], f"r{index}", seen)
    else:
        text.add(1, f"if type(r{index}) is not {text.name(step.many)}:", " return None")
        results = list(map(At, step.results))
        text.add(1, f"if len(r{index}) != {len(results)}:", " return None")
        _check_parts(text, shape, results, f"r{index}", seen)


def _check_parts(
    text: _Text, shape: CallShape, parts: Iterable[Any], name: str, seen: dict[int, str]
) -> None:
    parts = list(parts)
    names = [f"{name}_{at}" for at in range(len(parts))]
    if parts:
        text.add(1, f"{', '.join(names)}, = {name}")
    for each, part in zip(parts, names, strict=True):
        if type(each) is At:
            _check_value(text, shape, each.number, part, seen)
        elif type(each) is list:
            kinds = f"(type({part}) is not {text.name(list)} and type({part}) is not "
            test = f"{kinds}{text.name(tuple)}) or len({part}) != {len(each)}"
            text.add(1, f"if {test}:", " return None")
            _check_parts(text, shape, each, part, seen)
        elif each is None or each is True or each is False:
            text.add(1, f"if {part} is not {each}:", " return None")
        else:
            own, kind = text.name(each), text.name(type(each))
            test = f"{part} is not {own} and (type({part}) is not {kind} or {part} != {own})"
            text.add(1, f"if {test}:", " return None")


def _check_value(
    text: _Text, shape: CallShape, number: int, name: str, seen: dict[int, str]
) -> None:
    if number in seen:
        text.add(1, f"if {name} is not {seen[number]}:", " return None")
        return
    seen[number] = name
    value = shape.values[number]
    kind = f"type({name}) is not ndarray or {name}.dtype is not {text.name(value.dtype)}"
    text.add(1, f"if {kind} or {name}.shape != {value.shape!r}:", " return None")


# --------------------------------------------------------------------------- the way back


def back_of(shape: CallShape, asked: Sequence[bool]) -> Back:
    """The way back through a call, for the edges that are asked for: `back(saved arrays, gradients
    of what went out)` gives the gradients of the edges."""
    return _Back(shape, asked).written()


class _Back:
    """The writing of a way back."""

    def __init__(self, shape: CallShape, asked: Sequence[bool]) -> None:
        self.shape = shape
        self.text = text = _Text("def back(values, gs):")
        text.space |= {"tensor": Tensor._of, "fit": fit, "added": added, "by_node": _by_node}
        self._asked = {n for n, each in zip(shape.edges, asked, strict=True) if each}
        self._wanted = set(self._asked)
        for step, useful in zip(shape.steps, shape.useful, strict=True):
            if useful and any(end.value in self._wanted for end in step.ends):
                self._wanted |= shape.active.intersection(step.results)
        self._given: set[int] = set()
        self._as_tensor: set[int] = set()

    def written(self) -> Back:
        """The function."""
        text, shape = self.text, self.shape
        first: dict[int, int] = {}
        for index, step in enumerate(shape.steps):
            for number in self._read_by(step):
                first.setdefault(number, index)
        names = "".join(f"v{n}, " for n in shape.saved)
        if names:
            text.add(1, f"{names}= values")
        text.add(1, "values = None")
        grads = sorted(self._wanted)
        if grads:
            text.add(1, " = ".join(f"g{n}" for n in grads) + " = None")
            text.add(1, " = ".join(f"s{n}" for n in grads) + " = False")
        text.add(1, "count = len(gs)")
        for place, number in enumerate(shape.outward):
            if number in self._wanted:
                self._arrives(1, number, f"gs[{place}] if count > {place} else None", fits=True)
        for index in range(len(shape.steps) - 1, -1, -1):
            step = shape.steps[index]
            if shape.useful[index] and any(e.value in self._wanted for e in step.ends):
                self._step(step)
            gone = {n for n in self._read_by(step) if first[n] == index}
            done = [f"v{n}" for n in sorted(gone)]
            done += [f"t{n}" for n in sorted(gone & self._as_tensor)]
            done += [f"g{n}" for n in step.results if n in self._wanted and n not in self._asked]
            if done:
                text.add(1, " = ".join(done) + " = None")
        text.add(1, f"return [{', '.join(self._result(n) for n in shape.edges)}]")
        return text.function("back")  # type: ignore[no-any-return]

    def _result(self, number: int) -> str:
        return f"g{number}" if number in self._asked else "None"

    def _read_by(self, step: Did) -> set[int]:
        """The saved values that a step reads."""
        shape = self.shape
        if not step.active:
            return set()
        found = set(_numbers(step.args[at] for at in shape.keeps(step)))
        if shape.keeps_results(step):
            found.update(step.results)
        return found.intersection(shape.saved)

    def _arrives(self, depth: int, number: int, grad: str, *, fits: bool = False) -> None:
        """A gradient of a value."""
        text, value = self.text, self.shape.values[number]
        text.add(depth, f"r = {grad}", "if r is not None:")
        if not fits:
            kind = text.name(value.dtype)
            text.add(depth + 1, "array = r._array")
            text.add(
                depth + 1,
                f"if array.dtype is not {kind} or array.shape != {value.shape!r}:",
                f" r = fit(r, {value.shape!r}, {text.name(of_numpy(value.dtype))})",
            )
        if number in self._given:
            text.add(depth + 1, f"if g{number} is None: g{number} = r")
            text.add(depth + 1, f"elif s{number}: g{number} = added(g{number}, r)")
            text.add(depth + 1, f"else: g{number} = g{number} + r; s{number} = True")
        else:
            text.add(depth + 1, f"g{number} = r")
        self._given.add(number)

    def _step(self, step: Did) -> None:
        text, shape = self.text, self.shape
        smooth = [n for n in step.results if shape.values[n].is_smooth]
        grads = [f"g{n}" if n in self._given else "None" for n in smooth]
        known = [each for each in grads if each != "None"]
        if not known:
            return
        text.add(1, f"if {' or '.join(f'{each} is not None' for each in known)}:")
        for number in sorted(self._read_by(step)):
            text.add(2, f"t{number} = tensor(v{number})")
            self._as_tensor.add(number)
        ends = [end for end in step.ends if end.value in self._wanted]
        bound = step.bound
        row, direct = bound.row, bound.direct
        assert row is not None
        is_plain = not row.moves and row.composite is None
        if direct is not None and bound.orders.keys() >= {end.at for end in ends}:
            test = f" if {grads[0]} is not None else None" if "g" in direct.readers else ""
            reads = self._reads(direct, step, ends, grads)
            text.add(2, f"parts = {text.name(direct.formula)}({reads}){test}")
            text.add(2, "if parts is not None:")
            for end in ends:
                self._finish(3, bound, end, _part(f"parts[{bound.orders[end.at]}]", end.inner))
            text.add(2, "else:")
            self._by_formulas(3, step, ends, grads, is_plain)
        else:
            self._by_formulas(2, step, ends, grads, is_plain)

    def _by_formulas(
        self, depth: int, step: Did, ends: list[End], grads: list[str], is_plain: bool
    ) -> None:
        text, bound = self.text, step.bound
        if not is_plain:
            self._by_node(depth, step, ends, grads)
        elif bound.shared is not None:
            reads = self._reads(bound.shared, step, ends, grads)
            text.add(depth, f"parts = {text.name(bound.shared.formula)}({reads})")
            for end in ends:
                self._finish(depth, bound, end, _part(f"parts[{bound.orders[end.at]}]", end.inner))
        else:
            for at in dict.fromkeys(end.at for end in ends):
                rule = bound.formulas[at]
                call = f"{text.name(rule.formula)}({self._reads(rule, step, ends, grads)})"
                test = f" if {grads[0]} is not None else None" if "g" in rule.readers else ""
                text.add(depth, f"part = {call}{test}")
                for end in ends:
                    if end.at == at:
                        part = "part" if end.inner is None else f"part[{end.inner}]"
                        part += "" if end.inner is None else " if part is not None else None"
                        self._finish(depth, bound, end, part)

    def _finish(self, depth: int, bound: Bound, end: End, grad: str) -> None:
        if bound.lay is not None:
            self.text.add(depth, f"r = {grad}")
            grad = f"{self.text.name(bound.lay)}(r) if r is not None else None"
        self._arrives(depth, end.value, grad)

    def _by_node(self, depth: int, step: Did, ends: list[End], grads: list[str]) -> None:
        """The way back through an operator by a node that is made for it."""
        text = self.text
        like = _Like(self.shape, step, ends)
        args = ", ".join(self._argument(step, at) for at in range(len(step.args)))
        kept = self.shape.keeps_results(step)
        results = ", ".join(
            f"t{n}" if kept else text.name(Tensor._of(self.shape.ghost(n))) for n in step.results
        )
        text.add(
            depth,
            f"parts = by_node({text.name(like)}, [{args}], [{results}], [{', '.join(grads)}])",
        )
        for place, end in enumerate(step.ends):
            if end in ends:
                self._arrives(depth, end.value, f"parts[{place}]")

    def _argument(self, step: Did, at: int) -> str:
        """An argument as a tensor, one without memory if it is not kept."""
        keeps = self.shape.keeps(step)

        def shown(value: Any) -> str:
            if type(value) is At:
                if at in keeps:
                    return f"t{value.number}"
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
            has_tensor = any(True for _ in _numbers([step.args[at]]))
            if found[1] == "kept" and has_tensor and at not in keeps:
                return "None"
            return self._argument(step, at)

        def about(found: re.Match[str]) -> str:
            return text.name(self._about(step.args[int(found[1])], found[2]))

        def results(found: re.Match[str]) -> str:
            if found[1] == "None":
                return f"[{', '.join(f't{n}' for n in step.results)}]"
            return f"t{step.results[int(found[1])]}"

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

    def _about(self, value: Any, word: str) -> Any:
        if type(value) is list:
            return [self._about(each, word) for each in value]
        if type(value) is not At:
            return None
        known = self.shape.values[value.number]
        return known.shape if word == "sizes" else of_numpy(known.dtype)


class _Like:
    """What nodes are made like."""

    def __init__(self, shape: CallShape, step: Did, ends: Sequence[End]) -> None:
        self.bound = step.bound
        edge: Edge = Node(()), 0
        edges = [edge if end in ends else None for end in step.ends]
        places = [(end.at, end.inner) for end in step.ends]
        sizes = []
        for end in step.ends:
            value = shape.values[end.value]
            sizes += [value.shape, value.dtype]
        self.traced: Any = edges, places, sizes, shape.keeps(step)


def _by_node(
    like: _Like, args: list[Any], results: list[Tensor], grads: list[Tensor | None]
) -> list[Tensor | None]:
    """The gradients of arguments by a node that is made for them."""
    edges, places, sizes, kept = like.traced
    node = RowNode(like.bound, args, None, ([*edges], places, sizes, kept))
    node.set_results(results)
    return node.apply(grads)


def _part(text: str, inner: int | None) -> str:
    return text if inner is None else f"({text} and {text}[{inner}])"


def _numbers(args: Iterable[Any]) -> Iterable[int]:
    for value in args:
        if type(value) is At:
            yield value.number
        elif type(value) is list:
            yield from _numbers(value)
