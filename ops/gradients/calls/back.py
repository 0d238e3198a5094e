"""The way back through a call of scripted code, written for the shape of the call.

It is one function over arrays: what operators' formulas compute of single elements is joined into
kernels, what calls do most has a form on arrays (`call_forms`), and for the rest the operators' own
forms and formulas run on tensors.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from ...memory.dims import expands_to
from ...memory.dtype import Array, DType, of_numpy
from ...reductions.reduce import sum_over
from ...table.direct import direct_form
from ...table.table import TABLE
from ...tensors.tensor import Tensor
from ..nodes.fitting import fit
from .forms import FORMS
from .formulas import OnTensors
from .fused import LONGEST, MOST_WORDS, Fused, Learnt
from .shapes import At, CallShape, Did, End, Value, numbers_in
from .symbols import NotPointwise, Symbol, Writing
from .texts import Text

__all__ = ["back_of"]

Back = Callable[[Sequence[Any], Sequence[Tensor | None]], list[Tensor | None]]


def back_of(shape: CallShape, asked: Sequence[bool], given: Sequence[bool]) -> Back:
    """The way back through a call, for the edges that are asked for and the gradients that are
    given: `back(saved arrays, gradients of what went out)` gives the gradients of the edges."""
    return _Back(shape, asked, given).written()


class _Run:
    """Pointwise operators that are written together: all of one shape and dtype."""

    def __init__(self, value: Value) -> None:
        self.value = value
        self.writing = Writing()
        self.given: dict[str, Symbol] = {}

    def symbol(self, text: str) -> Symbol:
        """The symbol of an array from outside."""
        found = self.given.get(text)
        if found is None:
            found = self.given[text] = Symbol(self.writing)
        return found

    def text_of(self, symbol: Symbol) -> str | None:
        """The text of a symbol from outside."""
        return next((text for text, each in self.given.items() if each is symbol), None)

    @property
    def is_full(self) -> bool:
        """Whether another operator might be too much for one kernel."""
        numbers = sum(
            type(task.args[place]) is not Symbol
            for task in self.writing.tasks
            for place in task.formula.operands
        )
        return len(self.writing.tasks) > LONGEST - 14 or len(self.given) + numbers > MOST_WORDS - 12


class _Hole(NamedTuple):
    """Where in the gradient of a value that of the view is missing which was written over."""

    whole: int
    view: int
    key: str


class _Back:
    """The writing of a way back.

    `_grads` holds for each value whose gradient is known so far its text, or its symbol in the run
    that is being written; of those in `_own` nobody else knows the array.
    """

    def __init__(self, shape: CallShape, asked: Sequence[bool], given: Sequence[bool]) -> None:
        self.shape = shape
        self.text = text = Text("def back(values, gs):")
        text.space |= {"tensor": Tensor._of, "fit": fit, "bare": _bare, "together": _together}
        self._asked = {n for n, each in zip(shape.edges, asked, strict=True) if each}
        self._wanted = set(self._asked)
        self._given_out = given
        for step, useful in zip(shape.steps, shape.useful, strict=True):
            if useful and any(end.value in self._wanted for end in step.ends):
                self._wanted |= shape.active.intersection(step.results)
        self._grads: dict[int, str | Symbol] = {}
        self._thin: dict[int, str] = {}
        """The texts of sparse tensors, which are parts of gradients as well."""
        self._own: set[int] = set()
        self._put_into: _Hole | None = None
        self._run: _Run | None = None
        self._done: list[str] = []
        self._count = 0

    def written(self) -> Back:
        """The function."""
        text, shape = self.text, self.shape
        first: dict[int, int] = {}
        for index, step in enumerate(shape.steps):
            for number in self._read_by(step):
                first.setdefault(number, index)
        if shape.saved:
            text.add(1, "".join(f"v{n}, " for n in shape.saved) + "= values")
        text.add(1, "values = None")
        for place, number in enumerate(shape.outward):
            if number in self._wanted and self._given_out[place]:
                self._arrives(number, f"gs[{place}]._array")
        text.add(1, "gs = None")
        hole: _Hole | None = None
        for index in range(len(shape.steps) - 1, -1, -1):
            step = shape.steps[index]
            if index in shape.puts:
                hole = self._taken_out(index) if shape.useful[index] else None
            elif shape.useful[index] and any(e.value in self._wanted for e in step.ends):
                self._put_into = hole
                self._step(step)
                self._put_into = None
            if hole is not None and index not in shape.puts:
                self._fill(hole)
                hole = None
            self._done += [f"v{n}" for n in sorted(self._read_by(step)) if first[n] == index]
            made = step.results if step.active else ()  # others may give what they were given
            for number in set(made).difference(self._asked):
                found = self._grads.pop(number, None)
                if type(found) is str and found.isidentifier():
                    self._done.append(found)
            self._tidy()
        self._finish_run()
        text.add(1, f"return [{', '.join(map(self._result, shape.edges))}]")
        return text.function("back")  # type: ignore[no-any-return]

    def _result(self, number: int) -> str:
        """What is given for an edge."""
        grad, thin = self._grads.get(number), self._thin.get(number)
        if number not in self._asked or (grad is None and thin is None):
            return "None"
        shown = "" if grad is None else f"tensor({grad})"
        return shown if thin is None else f"together({thin}, {shown or 'None'})"

    def _tidy(self) -> None:
        """Let go of what nobody needs any more."""
        if self._run is not None or not self._done:
            return
        alive = {each for each in self._grads.values() if type(each) is str}
        gone = [each for each in dict.fromkeys(self._done) if each not in alive]
        self._done = []
        if gone:
            self.text.add(1, " = ".join(gone) + " = None")

    def _read_by(self, step: Did) -> set[int]:
        """The saved values that a step reads."""
        shape = self.shape
        if not step.active:
            return set()
        found = set(numbers_in(step.args[at] for at in shape.keeps(step)))
        if shape.keeps_results(step):
            found.update(step.results)
        return found.intersection(shape.saved)

    # ------------------------------------------------------------------ written views

    def _taken_out(self, index: int) -> _Hole | None:
        """Go back through what puts a part into a value: the gradient of the part is a copy, that
        of the rest has a hole, which is filled when the gradient of what stood there is known."""
        put, step = self.shape.puts[index], self.shape.steps[index]
        made, (whole, part) = step.results[0], [end.value for end in step.ends]
        self._finish_run()
        grad = self._grads.get(made)
        if grad is None:
            return None
        key = self.name(put.key)
        if part in self._wanted:
            self._arrives(part, f"{grad}[{key}].copy()")
            self._own.add(part)
        if whole not in self._wanted:
            return None
        if made not in self._own:
            grad = self._named(f"{grad}.copy()")
        self._grads.pop(made)
        self._arrives(whole, str(grad))
        self._own.add(whole)
        return _Hole(whole, put.view, key)

    def _fill(self, hole: _Hole) -> None:
        self._finish_run()
        found = self._grads.pop(hole.view, None)
        self.text.add(1, f"{self._grads[hole.whole]}[{hole.key}] = {0 if found is None else found}")
        if found is not None:
            self._done.append(str(found))

    @property
    def fills_a_hole(self) -> bool:
        """Whether what an operator wrote over needs no gradient where that is zero."""
        return self._put_into is not None

    # ------------------------------------------------------------------ what forms ask

    def name(self, thing: object) -> str:
        """The name of a thing in the text."""
        return self.text.name(thing)

    def line(self, text: str) -> None:
        """Another line, which gives a name something or writes to what it stands for."""
        self.text.add(1, text)
        name = text.partition(" = ")[0]
        self._done += [name] if name.isidentifier() else []

    def array(self, step: Did, at: int) -> str | None:
        """An argument that is an array; None if it is not kept."""
        value = step.args[at]
        is_kept = type(value) is At and at in self.shape.keeps(step)
        return f"v{value.number}" if is_kept else None

    def value(self, number: int) -> Value:
        """What is known of a value."""
        return self.shape.values[number]

    # ------------------------------------------------------------------ gradients that arrive

    def _arrives(self, number: int, grad: str) -> None:
        """The gradient of a value from one of those that read it, of its sizes and dtype."""
        before = self._grads.get(number)
        if type(before) is Symbol:
            self._finish_run()
            before = self._grads[number]
        if before is None:
            self._grads[number] = self._named(grad)
        elif number in self._own:
            self.text.add(1, f"{self.name(np.add)}({before}, {grad}, {before})")
        else:
            entry = TABLE.operator("aten::add.Tensor")
            assert entry is not None
            add = self.name(direct_form(entry))
            self._grads[number] = self._named(f"{add}({before}, {grad}, 1)")
            self._done.append(str(before))
            if self.value(number).dtype.char in "fd":
                self._own.add(number)

    def _named(self, grad: str) -> str:
        name = f"g{self._count}"
        self._count += 1
        self.text.add(1, f"{name} = {grad}")
        return name

    def _arrives_unfit(self, number: int, grad: str, result: Value | None = None) -> None:
        """The same for one that may have other sizes or another dtype, mostly those of `result`."""
        value = self.value(number)
        kind, sizes = self.name(value.dtype), repr(value.shape)
        self.text.add(1, f"r = {grad}")
        if result is not None and result.dtype is value.dtype and result.shape != value.shape:
            summed = self._summed(result.shape, value.shape)
            if summed is not None:
                self.text.add(
                    1,
                    f"if r.shape == {result.shape!r} and r.dtype is {kind}: r = {summed}(r)",
                )
        self.text.add(
            1,
            f"if r.dtype is not {kind} or r.shape != {sizes}:",
            f" r = fit(tensor(r), {sizes}, {self.name(of_numpy(value.dtype))})._array",
        )
        self._arrives(number, "r")
        self._done.append("r")

    def _summed(self, sizes: tuple[int, ...], wanted: tuple[int, ...]) -> str | None:
        """What sums up an array along the dimensions that broadcasting has made."""
        if not expands_to(wanted, sizes):
            return None
        new = len(sizes) - len(wanted)
        full = (1,) * new + wanted
        axes = [dim for dim, n in enumerate(sizes) if dim < new or full[dim] != n]
        if not wanted or not axes or 0 in sizes:
            return None
        learnt = Learnt(lambda array: sum_over(array, axes, True, None).reshape(wanted))
        self.name(learnt)
        return self.name(learnt.call)

    # ------------------------------------------------------------------ operators

    def _step(self, step: Did) -> None:
        smooth = [n for n in step.results if self.value(n).is_smooth]
        ends = [end for end in step.ends if end.value in self._wanted]
        if not any(n in self._grads for n in smooth):
            return
        if len(smooth) == 1 and self._is_pointwise(step) and self._in_run(step, smooth[0], ends):
            return
        self._finish_run()
        grads = [self._grads.get(n) for n in smooth]
        form = FORMS.get(step.bound.entry.name) if len(smooth) == len(step.results) == 1 else None
        found = None if form is None else form(self, step, ends, str(grads[0]))
        if found is not None:
            for end, grad in zip(ends, found, strict=True):
                if grad is not None:
                    self._arrives_unfit(end.value, grad)
        elif len(smooth) > 1 or not self._pointwise_apart(step, smooth[0], ends):
            self._on_tensors(step, ends, [None if g is None else f"tensor({g})" for g in grads])

    def _is_pointwise(self, step: Did) -> bool:
        """Whether all that formulas read are arrays of the result's sizes and dtype, or masks."""
        value = self.value(step.results[0])
        if value.dtype.char not in "fd" or not value.shape or 0 in value.shape:
            return False
        keeps = self.shape.keeps(step)
        read = set(numbers_in(step.args[at] for at in keeps)) | {end.value for end in step.ends}
        others = [self.value(n) for n in read]
        return all(
            each.shape == value.shape and (each.dtype is value.dtype or each.dtype.char == "?")
            for each in others
        )

    def _in_run(self, step: Did, result: int, ends: Sequence[End]) -> bool:
        """Add a pointwise operator to the run; False where a formula does something else."""
        value, run = self.value(result), self._run
        if run is None or run.value != value or run.is_full:
            self._finish_run()
            run = self._run = _Run(value)
        before, given = len(run.writing.tasks), dict(run.given)
        grad = self._grads[result]
        try:
            g = run.symbol(grad) if type(grad) is str else grad
            found = [self._symbolic(lambda n: run.symbol(f"v{n}"), step, end, g) for end in ends]
        except NotPointwise:
            del run.writing.tasks[before:]
            run.given = given
            return False
        for end, symbol in zip(ends, found, strict=True):
            old = self._grads.get(end.value)
            if old is not None:
                other = run.symbol(old) if type(old) is str else old
                self._done += [old] if type(old) is str else []
                symbol = run.writing.call("aten::add", (other, symbol))
            self._own.discard(end.value)
            self._grads[end.value] = symbol
        return True

    def _symbolic(self, array: Callable[[int], object], step: Did, end: End, g: object) -> Symbol:
        """The gradient of an argument by symbols.

        Raises:
            NotPointwise: the formula does something else.
        """
        bound = step.bound
        rule = bound.formulas.get(end.at)
        row = bound.row
        if rule is None or end.inner is not None or row is None or row.moves or bound.lays:
            raise NotPointwise(bound.entry.name)
        keeps, given = self.shape.keeps(step), dict[str, object]()
        for name, reader in rule.readers.items():
            place = _VALUE.fullmatch(reader)
            if reader == "gs[0]":
                given[name] = g
            elif reader == "node.results(0)":
                given[name] = array(step.results[0])
            elif place is None:
                raise NotPointwise(reader)
            else:
                at = int(place[1])
                value = step.args[at]
                if type(value) is At:
                    if at not in keeps:
                        raise NotPointwise(reader)
                    given[name] = array(value.number)
                elif value is None or type(value) in (int, float, bool, str):
                    given[name] = value
                else:
                    raise NotPointwise(reader)
        try:
            found = rule.formula(**given)
        except (TypeError, ValueError, AttributeError, RuntimeError) as error:
            raise NotPointwise(str(error)) from None
        if type(found) is not Symbol:
            raise NotPointwise(bound.entry.name)
        return found

    def _finish_run(self) -> None:
        """Write the kernel of the run."""
        run, self._run = self._run, None
        if run is None:
            return
        tasks = run.writing.tasks
        made = {id(task.result) for task in tasks}
        for number, grad in self._grads.items():
            if type(grad) is Symbol and id(grad) not in made:
                text = run.text_of(grad)
                assert text is not None
                self._grads[number] = text
        wanted = [each for each in self._grads.values() if type(each) is Symbol]
        wanted = list({id(each): each for each in wanted}.values())
        if not wanted:
            self._tidy()
            return
        names = [f"g{self._count + i}" for i in range(len(wanted))]
        self._count += len(names)
        given = list(run.given)
        if len(tasks) == 1:
            args = ", ".join(
                str(run.text_of(a)) if type(a) is Symbol else self.name(a) for a in tasks[0].args
            )
            call = f"{self.name(direct_form(tasks[0].entry))}({args})"
        else:
            fused = Fused(tasks, [run.given[text] for text in given], wanted)
            self.name(fused)
            call = f"{self.name(fused.call)}({', '.join(given)})"
        self.text.add(1, f"{', '.join(names)} = {call}")
        known = {id(symbol): name for symbol, name in zip(wanted, names, strict=True)}
        for number, grad in self._grads.items():
            if type(grad) is Symbol:
                self._grads[number] = known[id(grad)]
        self._tidy()

    def _pointwise_apart(self, step: Did, result: int, ends: Sequence[End]) -> bool:
        """The calls of formulas of single elements one by one, where sizes or dtypes differ."""
        if any(self.value(end.value).dtype.char not in "fd" for end in ends):
            return False
        writing, texts = Writing(), dict[int, str]()

        def array(number: int) -> Symbol:
            symbol = Symbol(writing)
            kept.append(symbol)
            texts[id(symbol)] = f"v{number}"
            return symbol

        kept: list[Symbol] = []
        g = Symbol(writing)
        texts[id(g)] = str(self._grads[result])
        try:
            found = [self._symbolic(array, step, end, g) for end in ends]
        except NotPointwise:
            return False
        for task in writing.tasks:
            args = (texts[id(a)] if type(a) is Symbol else self.name(a) for a in task.args)
            call = f"{self.name(direct_form(task.entry))}({', '.join(args)})"
            texts[id(task.result)] = self._named(call)
        for end, symbol in zip(ends, found, strict=True):
            self._arrives_unfit(end.value, texts[id(symbol)], self.value(result))
        self._done += [texts[id(task.result)] for task in writing.tasks]
        return True

    def _on_tensors(self, step: Did, ends: list[End], grads: list[str | None]) -> None:
        """The way back through an operator by its forms and formulas."""
        names = [f"y{i}" for i in range(len(ends))]
        OnTensors(self.shape, self.text).write(step, ends, grads, names)
        for end, name in zip(ends, names, strict=True):
            if self.shape.is_thin(step, end):
                before = self._thin.get(end.value, "None")
                self._thin[end.value] = self._named(f"together({name}, {before})")
                continue
            value = self.value(end.value)
            like = f"{value.shape!r}, {self.name(of_numpy(value.dtype))}"
            self._arrives_unfit(end.value, f"bare({name}, {like})")
        self.text.add(1, f"parts = part = {' = '.join(names)} = None")


_VALUE: Final = re.compile(r"node\.value\((\d+)\)")


def _bare(grad: Tensor | None, sizes: tuple[int, ...], dtype: DType) -> Array:
    """The array of a gradient; of none zeros."""
    if grad is None:
        return np.zeros(sizes, dtype.numpy)
    return grad._array if type(grad) is Tensor else fit(grad, sizes, dtype)._array


def _together(grad: Tensor | None, other: Tensor | None) -> Tensor | None:
    """The sum of gradients, of which some are not there and some are sparse."""
    if grad is None or other is None:
        return other if grad is None else grad
    found: Tensor = other + grad
    return found
