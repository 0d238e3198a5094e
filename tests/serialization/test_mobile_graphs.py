"""Byte code becomes graphs: structure, types, and what runs, trains and saves for that."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.interpreter.bounds.guard import LimitExceeded
from rushlight.ir.graphs.verify import verify
from rushlight.jit.mobile import _load_for_lite_interpreter
from rushlight.serialization.files.errors import ArchiveError
from rushlight.serialization.mobile.code import MobileCode, check_code
from rushlight.serialization.mobile.decode import Undecodable, decode
from rushlight.serialization.mobile.inference import graph_in
from rushlight.serialization.mobile.load import opened_mobile
from rushlight.typecheck.types.types import INT, ListType


class Model(torch.nn.Module):
    """An attribute that is None at first, nested loops and branches, containers."""

    cache: torch.Tensor | None
    seen: list[int]

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)
        self.cache = None
        self.seen = []

    def forward(self, x: torch.Tensor, rounds: int = 2) -> torch.Tensor:
        total = torch.zeros(3)
        for i in range(rounds):
            j = 0
            while j < i:
                j += 1
                x = x + j if j % 2 == 0 else self.linear(x)
            total = total + x.sum(0)
            self.seen.append(i)
        cache = self.cache
        if cache is not None:
            total = total + cache
        self.cache = total.detach()
        return total

    @torch.jit.export
    def shape(self, x: torch.Tensor) -> tuple[int, str]:
        table = {"a": [x.dim()], "b": list(x.shape)}
        names = [f"{key}{len(value)}" for key, value in table.items()]
        rows, *_ = x.shape[0], 1
        return rows, ",".join(names)


def both(flatbuffer: bool = False, **options: Any) -> tuple[Any, Any]:
    """The script, and what the lite interpreter makes of its file."""
    torch.manual_seed(0)
    module: Any = torch.jit.script(Model())
    data = module._save_to_buffer_for_lite_interpreter(_use_flatbuffer=flatbuffer)
    return module, _load_for_lite_interpreter(io.BytesIO(data), **options)


@pytest.mark.parametrize("trust", ["full", "none"])
@pytest.mark.parametrize("flatbuffer", [False, True])
def test_results_are_those_of_the_script(flatbuffer: bool, trust: str) -> None:
    module, lite = both(flatbuffer, trust=trust)
    x = torch.arange(6.0).reshape(2, 3)
    for rounds in (0, 1, 4, 5):  # more than once: the machine, then plans
        assert torch.equal(lite(x, rounds), module(x, rounds))
    assert lite.run_method("shape", x) == module.shape(x)
    assert lite.seen == module.seen
    for function in lite._c.root.cls.methods.values():
        verify(graph_in(function))


@torch.jit.interface
class Step(torch.nn.Module):
    def grow(self, x: torch.Tensor) -> torch.Tensor: ...


class Twice(torch.nn.Module):
    def grow(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2


class Steps(torch.nn.Module):
    """Methods that are found by name, in classes of which not all have them."""

    step: Step

    def __init__(self) -> None:
        super().__init__()
        self.step = Twice()
        self.norm = torch.nn.BatchNorm1d(2, affine=False)

    @torch.jit.export
    def grow(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(self.step.grow(self.step.grow(x)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.grow(x) + self.step.grow(x)


@pytest.mark.parametrize("flatbuffer", [False, True])
def test_methods_behind_interfaces_are_written_once(flatbuffer: bool) -> None:
    module: Any = torch.jit.script(Steps().eval())
    data = module._save_to_buffer_for_lite_interpreter(_use_flatbuffer=flatbuffer)
    lite = _load_for_lite_interpreter(io.BytesIO(data))
    x = torch.arange(6.0).reshape(3, 2)
    assert torch.equal(lite(x), module(x))
    assert torch.equal(lite.run_method("grow", x), module.grow(x))
    found = lite.scripted().named_buffers()
    assert [name for name, _ in found] == [name for name, _ in module.named_buffers()]
    with opened_mobile(io.BytesIO(data)) as contents:
        functions = [function.name for function in contents.functions]
    assert len(functions) == len(set(functions)) == 3


def test_gradients_are_those_of_the_script() -> None:
    module, lite = both()
    x = torch.ones(2, 3)
    for each in (module, lite):
        each(x, 4).sum().backward()
    grads = [p.grad for p in lite.parameters() if p.requires_grad]
    assert len(grads) == 2
    for mine, parameter in zip(grads, module.parameters(), strict=True):
        assert torch.equal(mine, parameter.grad)


def test_the_module_is_one_of_scripts_as_well() -> None:
    module, lite = both()
    scripted = lite.scripted()
    x = torch.arange(6.0).reshape(2, 3)
    again = torch.jit.load(io.BytesIO(scripted.save_to_buffer()))
    frozen = torch.jit.freeze(torch.jit.load(io.BytesIO(scripted.save_to_buffer())).eval())
    wanted = module(x, 4)
    for kind in ("named_parameters", "named_buffers"):
        assert [n for n, _ in getattr(scripted, kind)()] == [n for n, _ in getattr(module, kind)()]
    for each in (scripted, again, frozen):
        assert torch.equal(each(x, 4), wanted)
    assert "prim::Loop" in str(lite.graph)
    assert "while" in lite.code


def test_guarded_modules_are_bounded() -> None:
    from rushlight.interpreter.bounds.guard import Bounds
    from rushlight.serialization.files.limits import Limits

    _, lite = both(trust="none", limits=Limits(running=Bounds(instructions=2000)))
    with pytest.raises(RuntimeError, match="more than 2000 instructions") as found:
        lite(torch.ones(2, 3), 1000)
    assert isinstance(found.value, LimitExceeded) or found.value.diagnostics


def test_failures_have_diagnostics() -> None:
    _, lite = both()
    with pytest.raises(RuntimeError) as found:
        lite(torch.ones(2, 4), 2)
    (diagnostic,) = found.value.diagnostics
    assert diagnostic.primary.span.text == "OP aten::add.Tensor"


def graph_of(*instructions: tuple[str, int, int], arguments: int = 1) -> str:
    code = MobileCode(
        "__torch__.M.f",
        instructions,
        (),
        (0, True, "f", np.ones(2)),
        (ListType(INT),),
        4,
        None,
        None,
    )
    assert not check_code(code)
    return str(decode(code, arguments))


RETURN = (("LOADC", 0, 0), ("RET", 0, 0))


@pytest.mark.parametrize(
    ("instructions", "place", "why"),
    [
        ((("DROP", 0, 0), ("DROP", 0, 0), *RETURN), 1, "takes values from the stack"),
        ((("LOAD", 2, 0), ("RET", 0, 0)), 0, "register 2, which holds nothing"),
        ((("MOVE", 1, 0), *RETURN), 0, "register 1, which holds nothing"),
        ((("JMP", 2, 0), ("DROP", 0, 0), *RETURN), 0, "no branch or loop ends"),
        ((("JMP", 0, 0), *RETURN), 0, "no branch or loop ends"),
        ((("RET", 0, 0), *RETURN), 0, "from the middle"),
        ((("JF", 0, 0), *RETURN), 0, "jumps out"),
        ((("JF", 2, 0), ("LOADC", 0, 0), *RETURN), 2, "different numbers of values"),
        ((("LOADC", 1, 0), ("JF", 2, 0), ("DROP", 0, 0), *RETURN), 2, "takes values"),
        ((("LOOP", 2, 2), ("JMP", -1, 0), *RETURN), 0, "takes values from the stack"),
        (
            (("LOADC", 3, 0), *[("LOADC", 1, 0)] * 2, ("LOOP", 2, 2), ("JMP", -1, 0), *RETURN),
            3,
            "does not begin at 0",
        ),
        (
            (("LOADC", 0, 0), ("LOADC", 1, 0), ("LOOP", 2, 2), ("JMP", -1, 0), *RETURN),
            2,
            "does not begin at 0",
        ),
        (
            (*[("LOADC", 0, 0)] * 2, ("LOADC", 1, 0), ("LOOP", 3, 2), ("JMP", -1, 0), *RETURN),
            3,
            "does not lead back",
        ),
        (
            (*[("LOADC", 0, 0)] * 3, ("LOOP", 3, 2), ("LOADC", 1, 0), ("JMP", -2, 0), *RETURN),
            5,
            "another number of values",
        ),
        ((("INTERFACE_CALL", 0, 1), *RETURN), 0, "without a name"),
        ((("DICT_CONSTRUCT", 0, 1), *RETURN), 0, "a key without a value"),
        ((("FORMAT", 0, 0), *RETURN), 0, "is called with 0 arguments"),
        ((("TUPLE_SLICE", 0, 1 << 17), *RETURN), 0, "more than"),
        ((("TUPLE_SLICE", 0, 1 << 40), *RETURN), 0, "more than"),
        ((("LIST_UNPACK", 1 << 40, 0), *RETURN), 0, "more than"),
    ],
)
def test_code_without_structure_is_refused(
    instructions: tuple[tuple[str, int, int], ...], place: int, why: str
) -> None:
    with pytest.raises(Undecodable, match=why) as found:
        graph_of(*instructions)
    assert found.value.place == place


def test_a_branch_that_raises_may_leave_what_it_likes_on_the_stack() -> None:
    raising = (*[("LOADC", 2, 0)] * 4, ("RAISE_EXCEPTION", 0, 0))
    text = graph_of(("JF", 7, 0), *raising, ("JMP", 2, 0), ("LOADC", 0, 0), *RETURN)
    assert text.count("prim::RaiseException") == text.count("prim::Uninitialized") == 1
    text = graph_of(("JF", 3, 0), ("LOADC", 0, 0), ("JMP", 6, 0), *raising, *RETURN)
    assert text.count("prim::RaiseException") == text.count("prim::Uninitialized") == 1


def test_registers_and_stack_places_become_values() -> None:
    text = graph_of(
        *(("STOREN", 1, 2), ("LOAD", 1, 0), ("JF", 5, 0)),
        *(("LOADC", 0, 0), ("STORE", 2, 0), ("LOADC", 1, 0), ("JMP", 2, 0)),
        *(("LOADC", 2, 0), ("LOAD", 2, 0), ("TUPLE_CONSTRUCT", 2, 0), ("RET", 0, 0)),
        arguments=2,
    )
    assert "%5 : <unknown>, %6 : <unknown> = prim::If(%0)" in text
    assert "-> (%3, %2)" in text
    assert "-> (%4, %1)" in text
    assert "prim::TupleConstruct(%5, %6)" in text


def test_deep_branches_are_read() -> None:
    deep = 3000
    branches = [("LOAD", 1, 0), ("JF", 0, 0)] * deep
    for level in range(deep):
        branches[2 * level + 1] = ("JF", 2 * (deep - level) - 1, 0)
    graph = graph_of(("STORE", 1, 0), *branches, *RETURN)
    assert graph.count("prim::If") == deep


def test_a_method_that_calls_itself_is_refused() -> None:
    class Calling(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + 1

    module: Any = torch.jit.script(Calling())
    data = module._save_to_buffer_for_lite_interpreter()
    from rushlight.serialization.mobile import load

    before = load.MobileCode

    def recursive(name: str, instructions: Any, *rest: Any) -> MobileCode:
        operators, _, *others = rest
        calls = (("STOREN", 1, 2), ("LOAD", 1, 0), ("LOAD", 2, 0), ("INTERFACE_CALL", 0, 2))
        return before(name, (*calls, ("RET", 0, 0)), operators, ("forward",), *others)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(load, "MobileCode", recursive)
        lite = _load_for_lite_interpreter(io.BytesIO(data))
        for _ in range(2):  # code that is trusted is looked at when it is needed
            with pytest.raises(ArchiveError, match="calls itself"):
                lite(torch.ones(1))
        with pytest.raises(ArchiveError, match="calls itself"):
            _load_for_lite_interpreter(io.BytesIO(data), trust="none")


def test_a_slice_of_a_tuple_is_its_parts() -> None:
    text = graph_of(
        *(("LOADC", 0, 0), ("LOADC", 1, 0), ("LOADC", 2, 0), ("TUPLE_CONSTRUCT", 3, 0)),
        *(("TUPLE_SLICE", 1, 2), ("RET", 0, 0)),
        arguments=0,
    )
    assert text.count("prim::TupleIndex") == 2
    assert text.count("prim::TupleConstruct") == 2
