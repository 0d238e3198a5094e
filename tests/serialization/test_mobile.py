"""Archives of the lite interpreter, both ways."""

from __future__ import annotations

import io
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.interpreter.running.invoking import invoke
from rushlight.jit.mobile import (
    _backport_for_mobile,
    _get_model_bytecode_version,
    _load_for_lite_interpreter,
)
from rushlight.serialization.files.errors import ArchiveError
from rushlight.serialization.mobile.code import MobileCode, check_code
from rushlight.serialization.mobile.types import mobile_type
from rushlight.typecheck.types.types import ANY


class Sums(torch.nn.Module):
    """Loops, branches, containers, an error, a buffer that changes."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(3, 2)
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, x: torch.Tensor, rounds: int = 3) -> tuple[torch.Tensor, list[int]]:
        self.calls.add_(1)
        found: list[int] = []
        for i in range(rounds):
            if i == 2:
                continue
            found.append(i * 10)
            x = x + i
        if rounds < 0:
            raise ValueError("no rounds")
        return self.linear(x), found

    @torch.jit.export
    def words(self, names: dict[str, int], key: str | None = None) -> str:
        if key is None:
            return "none"
        return f"{key}={names[key]}"


def lite(module: Any) -> Any:
    data = torch.jit.script(module)._save_to_buffer_for_lite_interpreter()
    assert _get_model_bytecode_version(io.BytesIO(data)) == 8
    torch.jit.load(io.BytesIO(data))  # an ordinary archive as well
    return _load_for_lite_interpreter(io.BytesIO(data))


def test_runs_as_the_script_does() -> None:
    module = Sums()
    made = lite(module)
    x = torch.ones(1, 3)
    for rounds in (0, 1, 5):
        mine, found = made(x, rounds)
        wanted, expected = module(x, rounds)
        assert torch.equal(mine, wanted)
        assert found == expected
    assert made(x)[1] == [0, 10]
    assert made.run_method("words", {"a": 4}, "a") == "a=4"
    assert made.run_method("words", {"a": 4}) == "none"
    assert made.calls.item() == 4


def test_errors() -> None:
    made = lite(Sums())
    with pytest.raises(torch.jit.Error, match=r"^no rounds$"):
        made(torch.ones(1, 3), -1)
    with pytest.raises(RuntimeError, match="is missing value for argument 'x'"):
        made()
    with pytest.raises(RuntimeError, match="Method 'nothing' is not defined"):
        made.run_method("nothing")
    with pytest.raises(RuntimeError, match="KeyError: b"):
        made.run_method("words", {"a": 4}, "b")
    assert not made.find_method("nothing")


def test_an_ordinary_archive_is_none() -> None:
    data = torch.jit.script(Sums()).save_to_buffer()
    with pytest.raises(ArchiveError, match="no archive of the lite interpreter"):
        _load_for_lite_interpreter(io.BytesIO(data))


class Holder(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            return x * 2


@torch.jit.interface
class Scale:
    def by(self, x: torch.Tensor) -> torch.Tensor:
        pass


@torch.jit.script
class Twice:
    def __init__(self) -> None:
        self.n = 2

    def by(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.n


class Scaled(torch.nn.Module):
    behind: Scale

    def __init__(self) -> None:
        super().__init__()
        self.behind = Twice()
        self.itself = Twice()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.behind.by(x) + self.itself.by(x)


class Making(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return Twice().by(x)


def test_objects_of_script_classes_are_held_but_not_made() -> None:
    assert lite(Scaled())(torch.ones(2)).tolist() == [4, 4]
    with pytest.raises(RuntimeError, match=r"not supported in lite interpreter.*Twice"):
        lite(Making())


def test_what_the_lite_interpreter_cannot_do_is_refused() -> None:
    with pytest.raises(RuntimeError, match="cannot be saved for mobile"):
        torch.jit.script(Holder())._save_to_buffer_for_lite_interpreter()


@pytest.mark.parametrize(
    ("instructions", "wrong"),
    [
        ([], "does not end"),
        ([("LOADC", 1, 0), ("RET", 0, 0)], "not there"),
        ([("LOAD", 9, 0), ("RET", 0, 0)], "registers"),
        ([("JMP", 7, 0), ("RET", 0, 0)], "jumps out"),
        ([("FORK", 0, 0), ("RET", 0, 0)], "does not exist"),
        ([("TUPLE_CONSTRUCT", -1, 0), ("RET", 0, 0)], "negative"),
        ([("STOREN", 1, -1), ("RET", 0, 0)], "negative"),
    ],
)
def test_operands_are_checked(instructions: list[tuple[str, int, int]], wrong: str) -> None:
    code = MobileCode("f", tuple(instructions), (), (1,), (), 2)
    assert wrong in check_code(code)


@pytest.mark.parametrize(
    ("text", "spelling"),
    [
        ("List[int]", "List[int]"),
        ("Dict[str,int]", "Dict[str, int]"),
        ("Optional[Tuple[Tensor, float]]", "Optional[Tuple[Tensor, float]]"),
        ("Tuple[()]", "Tuple[()]"),
    ],
)
def test_types(text: str, spelling: str) -> None:
    assert mobile_type(text, lambda name: None).annotation_str == spelling


@pytest.mark.parametrize(
    "text", ["", "List[int", "List(int)", "List[int)", "Dict[int int]", "Tuple[int;int]", "int]"]
)
def test_texts_that_are_no_types(text: str) -> None:
    with pytest.raises(ArchiveError, match="type"):
        mobile_type(text, lambda name: None)


def test_named_tuples_and_unknown_classes() -> None:
    made = mobile_type("__torch__.P[NamedTuple, [[a, int],[b, str]]]", lambda name: None)
    assert getattr(made, "fields", ()) == ("a", "b")
    assert mobile_type("__torch__.Q", lambda name: None) == ANY
    with pytest.raises(ArchiveError):
        mobile_type("List[int", lambda name: None)


DATA = Path(__file__).parent / "data"
WHERE = """shape '[2, 2]' is invalid for input of size 5
{blank}
  Module hierarchy:top(Reshaped)::<unknown>.rows(Rows)::forward.aten::view
Traceback of TorchScript (most recent call last):
  File "sample_module.py", line 114, in <unknown>
    def forward(self, x: torch.Tensor, n: int) -> torch.Tensor:
        y = self.rows(x, n)
            ~~~~~~~~~ <--- HERE
        if n > 5:
            raise ValueError("too many")
  File "sample_module.py", line 105, in forward
    def forward(self, x: torch.Tensor, n: int) -> torch.Tensor:
        return x.view(n, 2)
               ~~~~~~ <--- HERE

{blank}"""


def test_failures_name_their_place_where_the_archive_knows_it() -> None:
    module = _load_for_lite_interpreter(DATA / "mobile_debug.ptl")
    with pytest.raises(RuntimeError) as found:
        module(torch.ones(5), 2)
    assert str(found.value) == WHERE.format(blank="  ")
    with pytest.raises(RuntimeError, match=r"::<unknown>\.aten::add\n"):
        module(torch.ones(6), 3)
    with pytest.raises(torch.jit.Error, match=r"^too many$"):
        module(torch.ones(12), 6)


def test_packed_weights_are_asked_for_parts_where_no_type_tells_of_them() -> None:
    """PyTorch's files hold the methods that save them, whose attributes may be anything."""
    module = _load_for_lite_interpreter(DATA / "mobile_quantized.ptl")
    given = torch.tensor([0.25, 0.75]).reshape(1, 2, 1, 1)
    wanted = torch.tensor([0.27128204703330994, 0.02855600416660309, 0.014278002083301544])
    assert module(given).flatten().equal(wanted)
    root = module._c.root
    conv = root.slots[list(root.cls.attributes).index("1")]
    state = invoke(conv.cls.methods["__getstate__"], [conv])
    shapes = {each.shape for each in state if isinstance(each, np.ndarray)}
    assert shapes == {(3, 2, 1, 1), (3,)}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_empty_lists_of_packed_weights_say_what_they_would_hold() -> None:
    """PyTorch's lite interpreter looks at the kinds of lists, and refuses others."""
    kinds = {torch.nn.LSTM: torch.quantization.default_dynamic_qconfig}
    module = torch.nn.Sequential(torch.nn.LSTM(2, 2)).eval()
    scripted = torch.jit.script(torch.quantization.quantize_dynamic(module, kinds))
    buffer = io.BytesIO()
    scripted._save_for_lite_interpreter(buffer)
    archive = zipfile.ZipFile(buffer)
    pickled = archive.read(next(n for n in archive.namelist() if n.endswith("/data.pkl")))
    assert b"build_doublelist\n" in pickled
    x = torch.rand(3, 1, 2)
    assert _load_for_lite_interpreter(io.BytesIO(buffer.getvalue()))(x)[0].equal(scripted(x)[0])


def test_damaged_records_of_places_only_cost_the_place() -> None:
    source = zipfile.ZipFile(DATA / "mobile_debug.ptl")
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as target:
        for name in source.namelist():
            content = source.read(name)
            target.writestr(name, b"" if name.endswith("callstack_debug_map.pkl") else content)
    module = _load_for_lite_interpreter(io.BytesIO(sink.getvalue()))
    with pytest.raises(RuntimeError) as found:
        module(torch.ones(5), 2)
    assert str(found.value) == "shape '[2, 2]' is invalid for input of size 5"


class Adds(torch.nn.Module):
    def forward(self, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return x + w


class Calls(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.adds = Adds()

    def add(self, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return self.adds(x, w)

    def forward(self, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return self.add(x * 2, w)


def _failure(module: Any, debug: bool) -> str:
    made = module._save_to_buffer_for_lite_interpreter(_save_mobile_debug_info=debug)
    loaded = _load_for_lite_interpreter(io.BytesIO(made))
    assert loaded(torch.ones(2), torch.ones(2)).tolist() == [3.0, 3.0]
    with pytest.raises(RuntimeError) as found:
        loaded(torch.ones(2), torch.ones(3))
    return str(found.value)


def test_archives_tell_where_their_code_is_from_if_asked() -> None:
    scripted = torch.jit.script(Calls())
    told = _failure(scripted, True)
    path = "top(Calls)::<unknown>.SELF(Calls)::add.adds(Adds)::forward.aten::add"
    assert f"Module hierarchy:{path}\nTraceback of TorchScript" in told
    assert told.count(f'File "{__file__}", line ') == 3
    assert "~~~~~ <--- HERE" in told
    assert __file__ not in _failure(scripted, False)
    traced = torch.jit.trace(Calls(), (torch.ones(2), torch.ones(2)))
    assert "top(Calls)::<unknown>.adds(Adds)::forward.aten::add" in _failure(traced, True)


def test_archives_loaded_before_tell_it_too() -> None:
    file = io.BytesIO()
    torch.jit.save(torch.jit.script(Calls()), file)
    file.seek(0)
    told = _failure(torch.jit.load(file), True)
    assert told.count(f'File "{__file__}", line ') == 3


class Listed(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.adds = Adds()

    def forward(self) -> int:
        return len(self.all())

    def all(self) -> list[Adds]:
        return [self.adds]


def test_lists_of_objects_are_no_results() -> None:
    scripted = torch.jit.script(Listed())
    with pytest.raises(
        RuntimeError, match=r"^Returning a list or dictionary .*List\[Adds\] or Dict"
    ):
        scripted._save_to_buffer_for_lite_interpreter()


class Gelus(torch.nn.Module):
    def forward(self, x: torch.Tensor, n: int) -> torch.Tensor:
        if n < 0:
            raise ValueError("no rounds")
        return x + torch.nn.functional.gelu(x)


BEFORE_COUNTS = (
    *(("STOREN", 1, 3), ("LOAD", 3, 0), ("LOADC", 0, 0), ("OP", 0, 0), ("STORE", 4, 0)),
    *(("LOAD", 4, 0), ("JF", 4, 0), ("LOADC", 1, 0), ("OP", 1, 0), ("JMP", 1, 0)),
    *(("LOAD", 2, 0), ("LOAD", 2, 0), ("OP", 2, 0), ("LOADC", 4, 0), ("OP", 3, 0)),
    *(("STORE", 6, 0), ("LOAD", 6, 0), ("RET", 0, 0)),
)
"""Neither the class of the error nor the kind of approximation is pushed: there were none."""


def test_code_that_does_not_say_how_many_arguments_it_pushes(tmp_path: Path) -> None:
    """Version 5, from when operators had fewer arguments than today."""
    sink = io.BytesIO()
    made = torch.jit.script(Gelus())._save_to_buffer_for_lite_interpreter()
    (tmp_path / "new.ptl").write_bytes(made)
    _backport_for_mobile(str(tmp_path / "new.ptl"), str(tmp_path / "five.ptl"), 5)
    with zipfile.ZipFile(tmp_path / "five.ptl") as five, zipfile.ZipFile(sink, "w") as changed:
        for name in five.namelist():
            data = five.read(name)
            if name.endswith("bytecode.pkl"):
                version, (function, (_, *tables), schema) = pickle.loads(data)
                code = ("instructions", BEFORE_COUNTS)
                data = pickle.dumps((version, (function, (code, *tables), schema)), 2)
            changed.writestr(name, data)
    run = _load_for_lite_interpreter(io.BytesIO(sink.getvalue()))
    x = torch.linspace(-1, 1, 5)
    assert torch.equal(run(x, 1), Gelus()(x, 1))
    with pytest.raises(torch.jit.Error, match=r"^no rounds$"):
        run(x, -1)
