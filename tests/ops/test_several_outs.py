"""Operators with several results write them into tensors they are given, in scripts as well.

`several_outs.txt` says how torch's schemas name those tensors: the operator, letter and name of
each, and the names of the results where these have any.
"""

from __future__ import annotations

import io
from pathlib import Path

import pytest

import rushlight as torch
from rushlight.ops.table.table import TABLE
from rushlight.typecheck.definitions.schema_text import parse_schema

LINES = (Path(__file__).parent / "several_outs.txt").read_text("utf-8").splitlines()


def _forms() -> dict[str, str]:
    """The forms with several outs, as lines of the file."""
    found = {}
    for name in TABLE.names():
        for entry in TABLE.operators(name):
            if entry.is_out_form and len(entry.signature.returns) > 1:
                returned = entry.signature.returns
                outs = entry.signature.arguments[-len(returned) :]
                words = [entry.full_name.removeprefix("aten::")]
                for out in outs:
                    assert out.alias is not None
                    words.append(f"{''.join(out.alias.sets)}:{out.name}")
                names = [each.name for each in returned]
                words += ["->", *map(str, names)] if any(names) else []
                found[entry.full_name] = " ".join(words)
    return found


def test_forms_are_named_as_in_torch() -> None:
    assert sorted(_forms().values()) == sorted(LINES)


@pytest.mark.parametrize("line", LINES, ids=lambda line: line.split()[0])
def test_signatures_are_what_the_schemas_say(line: str) -> None:
    entry = TABLE.operator(f"aten::{line.split()[0]}")
    assert entry is not None
    assert entry.signature == parse_schema(entry.schema)
    outs = entry.signature.arguments[-len(entry.signature.returns) :]
    assert all(each.keyword_only and each.alias and each.alias.is_write for each in outs)


def largest(x: torch.Tensor, a: torch.Tensor, b: torch.Tensor):
    return torch.max(x, 0, max=a, max_values=b)


def first_two(x: torch.Tensor, a: torch.Tensor, b: torch.Tensor):
    return torch.topk(x, 2, values=a, indices=b)


def in_order(x: torch.Tensor, a: torch.Tensor, b: torch.Tensor):
    return torch.sort(x, values=a, indices=b)


def stably(x: torch.Tensor, a: torch.Tensor, b: torch.Tensor):
    return torch.sort(x, stable=True, values=a, indices=b)


def second(x: torch.Tensor, a: torch.Tensor, b: torch.Tensor):
    return torch.kthvalue(x, 2, values=a, indices=b)


def middle(x: torch.Tensor, a: torch.Tensor, b: torch.Tensor):
    return torch.median(x, 1, values=a, indices=b)


def so_far(x: torch.Tensor, a: torch.Tensor, b: torch.Tensor):
    return torch.cummax(x, 0, values=a, indices=b)


def parts(x: torch.Tensor, a: torch.Tensor, b: torch.Tensor):
    return torch.frexp(x, mantissa=a, exponent=b)


def ends(x: torch.Tensor, a: torch.Tensor, b: torch.Tensor):
    return torch.aminmax(x, min=a, max=b)


def spread(x: torch.Tensor, a: torch.Tensor, b: torch.Tensor):
    return torch.var_mean(x, [0], out0=a, out1=b)


def factors(x: torch.Tensor, a: torch.Tensor, b: torch.Tensor):
    return torch.linalg.qr(x, Q=a, R=b)


PROGRAMS = {
    largest: lambda x: torch.max(x, 0),
    first_two: lambda x: torch.topk(x, 2),
    in_order: torch.sort,
    stably: lambda x: torch.sort(x, stable=True),
    second: lambda x: torch.kthvalue(x, 2),
    middle: lambda x: torch.median(x, 1),
    so_far: lambda x: torch.cummax(x, 0),
    parts: torch.frexp,
    ends: torch.aminmax,
    spread: lambda x: torch.var_mean(x, [0]),
    factors: torch.linalg.qr,
}


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_scripts_and_archives_write_into_outs(program: object) -> None:
    scripted = torch.jit.script(program)
    buffer = io.BytesIO()
    torch.jit.save(scripted, buffer)
    buffer.seek(0)
    x = torch.tensor([[0.5, -2.0, 7.0], [3.0, 1.25, -0.5]])
    wanted = PROGRAMS[program](x)  # type: ignore[index]
    for called in (scripted, torch.jit.load(buffer), scripted):
        outs = [torch.empty(0, dtype=each.dtype) for each in wanted]
        given = called(x, *outs)
        for one, out, result in zip(given, outs, wanted, strict=True):
            assert one.equal(result)
            assert out.equal(result)
            assert one.data_ptr() == out.data_ptr()


def test_names_of_results_stay_those_of_the_other_form() -> None:
    text = str(torch.jit.script(largest).graph)
    assert "NamedTuple(values : Tensor, indices : Tensor)" in text
    assert "aten::max(%x.1, " in text


def test_outs_of_another_dtype_are_refused_before_any_is_written() -> None:
    kept = torch.ones(3)
    with pytest.raises(
        RuntimeError, match="Expected out tensor to have dtype long int, but got float"
    ):
        torch.ops.aten.sort.values(torch.arange(3.0), values=kept, indices=torch.empty(3))
    assert kept.tolist() == [1, 1, 1]


def test_operators_by_name_take_outs_and_give_plain_tuples() -> None:
    x = torch.tensor([[0.5, -2.0], [3.0, 1.25]])
    a, b = torch.empty(0), torch.empty(0, dtype=torch.int64)
    for call in (torch.ops.aten.max.dim_max, torch.ops.aten.max):
        made = call(x, 0, max=a, max_values=b)
        assert type(made) is tuple
        assert made[0] is a
        assert made[1] is b
    assert type(torch.ops.aten.max.dim(x, 0)) is tuple
    assert type(torch.ops.aten.max(x, 0)) is tuple
    with pytest.raises(RuntimeError, match="Unknown keyword argument 'out'"):
        torch.ops.aten.max(x, 0, out=(a, b))


def test_traces_hear_of_the_form_with_outs() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        a, b = torch.empty(0), torch.empty(0, dtype=torch.int64)
        torch.max(x, 0, out=(a, b))
        return a + b

    traced = torch.jit.trace(program, (torch.tensor([[0.5, 2.0], [3.0, 1.0]]),))
    assert traced(torch.tensor([[5.0, 2.0], [3.0, 4.0]])).tolist() == [5, 5]
    assert "aten::copy_" not in str(traced.graph)


def written_before_read(x: torch.Tensor, a: torch.Tensor) -> torch.Tensor:
    b = torch.empty(0, dtype=torch.int64)
    made = a * a
    torch.max(x, 0, max=a, max_values=b)
    return made


def largest_in_script(x: torch.Tensor, a: torch.Tensor) -> torch.Tensor:
    torch.max(x, x, out=a)
    return a * 2


def test_gradients_are_refused_in_scripts_and_by_name() -> None:
    x = torch.ones(2, 3, requires_grad=True)
    outs = torch.empty(0), torch.empty(0, dtype=torch.int64)
    message = r"max\(\): functions with out=... arguments don't support automatic differentiation"
    script = torch.jit.script(largest)
    for _ in range(3):
        with pytest.raises(RuntimeError, match=message):
            script(x, *outs)
    with pytest.raises(RuntimeError, match=message):
        torch.jit.script(largest_in_script)(x, outs[0])
    with pytest.raises(RuntimeError, match=message):
        torch.ops.aten.max.dim_max(x, 0, max=outs[0], max_values=outs[1])
    with torch.no_grad():
        assert script(x, *outs)[0].tolist() == [1, 1, 1]


def test_what_is_written_counts_as_changed() -> None:
    x = torch.ones(2, 3)
    weight = torch.ones(3, requires_grad=True)
    made = (weight * weight).sum()
    with torch.no_grad():
        torch.ops.aten.max.dim_max(x, 0, max=weight, max_values=torch.empty(0, dtype=torch.int64))
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        made.backward()
    inner = torch.ones(3, requires_grad=True) * 1
    with torch.no_grad():
        result = torch.jit.script(written_before_read)(x, inner.detach())
    assert result.tolist() == [1, 1, 1]
