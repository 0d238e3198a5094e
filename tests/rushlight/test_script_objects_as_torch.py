"""Modules and objects in script do what torch's do: definitions, properties, tasks, states."""

from __future__ import annotations

import io
import math
import types
import warnings
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import pytest

import rushlight as torch
from rushlight.jit.annotations import BroadcastingList2

# ruff: noqa: UP006, UP035, UP045

Pair = BroadcastingList2[int]


def loaded(scripted: Any) -> Any:
    buffer = io.BytesIO()
    torch.jit.save(scripted, buffer)
    buffer.seek(0)
    return torch.jit.load(buffer)


class OfText(torch.jit.ScriptModule):
    def __init__(self, number: int) -> None:
        super().__init__()
        self.define(f"def forward(self, x: int) -> int:\n    return x + {number}\n")


def test_methods_from_text_belong_to_their_module() -> None:
    one, two = OfText(1), OfText(2)
    assert (one(1), two(1), loaded(one)(1), loaded(two)(1)) == (2, 3, 2, 3)
    with pytest.raises(RuntimeError, match="Can't redefine method: forward on class: __torch__"):
        one.define("def forward(self, x: int) -> int:\n    return x\n")
    assert one(1) == 2


class Plus(torch.nn.Module):
    def forward(self, x):  # type: ignore[no-untyped-def]
        return x + 1


def plus_ten(self, x):  # type: ignore[no-untyped-def]
    return x + 10


def test_forward_may_be_replaced_on_the_object() -> None:
    plain, patched = Plus(), Plus()
    patched.forward = types.MethodType(plus_ten, patched)
    x = torch.ones(1)
    for module, wanted in ((plain, 2), (patched, 11), (torch.nn.Sequential(plain, patched), 12)):
        assert torch.jit.script(module)(x).item() == wanted


def warning(x: int):
    warnings.warn("careful")  # noqa: B028
    return x


def test_warnings_name_the_line_of_the_script() -> None:
    scripted = torch.jit.script(warning)
    line = warning.__code__.co_firstlineno + 1
    for one in (scripted, scripted, loaded(scripted)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            one(1)
        assert [(w.filename, w.lineno) for w in caught] == [(__file__, line)]


def tenth(x: int) -> int:
    return 10 // x


def forked_tenth(x: int):
    return torch.jit.fork(tenth, x)


def test_futures(capsys: pytest.CaptureFixture[str]) -> None:
    scripted = torch.jit.script(forked_tenth)
    future, failed = scripted(5), scripted(0)
    assert type(future) is torch.Future is torch._C.Future
    assert repr(future).startswith("<rushlight.Future object at 0x")
    assert (future.wait(), future.value(), torch.jit.wait(future), future.done()) == (2, 2, 2, True)
    assert future.then(lambda f: f.wait() + 1).wait() == 3
    assert failed.then(lambda f: 7).wait() == 7
    running = "Got the following error when running the callback: "
    with pytest.raises(RuntimeError, match=f"^{running}ZeroDivisionError: .* by zero$"):
        future.then(lambda f: 1 // 0).wait()
    future.add_done_callback(lambda f: print(f.wait()))
    future.add_done_callback(lambda f: 1 // 0)
    out, err = capsys.readouterr()
    assert out == "2\n"
    assert err.startswith(f"{running}ZeroDivisionError: ")
    with pytest.raises(RuntimeError, match="Attempting to mark a completed Future as complete"):
        future.set_result(3)
    with pytest.raises(RuntimeError, match="division by 0"):
        failed.wait()
    with pytest.raises(TypeError, match="Invoked with: 3"):
        torch.jit.wait(3)
    with pytest.raises(RuntimeError, match=r"^Future can.t be None"):
        torch.jit.wait(None)


def warnings_in_a_loop(n: int):
    for i in range(n):
        warnings.warn(f"careful {i}")  # noqa: B028
        for j in range(2):
            if i + j > 1:
                warnings.warn("large", stacklevel=2)
    return n


def test_a_line_warns_once_in_a_call() -> None:
    scripted = torch.jit.script(warnings_in_a_loop)
    for one in (scripted, scripted, loaded(scripted)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert one(4) == 4
        assert [str(w.message) for w in caught] == ["careful 0", "large"]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(UserWarning, match=r"^careful 0$"):
                one(4)


class Stateful(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.w = torch.nn.Parameter(torch.ones(2))

    def forward(self, x: int):
        return x

    @torch.jit.export
    def _save_to_state_dict(
        self, destination: Dict[str, torch.Tensor], prefix: str, keep_vars: bool
    ) -> None:
        print("saving", prefix)

    @torch.jit.export
    def _load_from_state_dict(
        self,
        state_dict: Dict[str, torch.Tensor],
        prefix: str,
        local_metadata: Dict[str, int],
        strict: bool,
        missing_keys: List[str],
        unexpected_keys: List[str],
        error_msgs: List[str],
    ) -> None:
        print("loading", prefix)


def test_exported_methods_of_states_are_called(capsys: pytest.CaptureFixture[str]) -> None:
    scripted = torch.jit.script(torch.nn.Sequential(Stateful()))
    assert list(scripted.state_dict()) == []
    scripted.load_state_dict({"0.w": torch.zeros(2)}, strict=False)
    assert capsys.readouterr().out == "saving 0.\nloading 0.\n"


class Holder(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.numbers = [1]

    def forward(self, x: int):
        return self.numbers

    @torch.jit.export
    def add(self, x: int):
        self.numbers.append(x)
        return self.numbers is self.numbers


def test_a_frozen_module_shares_its_lists() -> None:
    scripted = torch.jit.script(Holder().eval())
    frozen = torch.jit.freeze(scripted)
    kept = torch.jit.freeze(scripted, preserved_attrs=["add"])
    assert scripted.add(2)
    assert kept.add(3)
    assert frozen(0) == scripted(0) == kept(0) == [1, 2, 3]


@torch.jit.script
class Doubled:
    def __init__(self, a: int):
        self.a = a

    @property
    def prop(self) -> int:
        return self.a

    @prop.setter
    def prop(self, v: int) -> None:
        self.a = v * 2

    @property
    def fixed(self) -> int:
        return self.a


def augmented(x: int):
    t = Doubled(x)
    t.prop += 1
    held = [t]
    held[0].prop -= t.prop - 2
    return t.prop


def not_augmented(x: int):
    t = Doubled(x)
    t.fixed += 1
    return t


def test_properties_are_augmented() -> None:
    assert torch.jit.script(augmented)(3) == augmented(3) == 4
    with pytest.raises(RuntimeError, match="Tried to set read-only attribute: fixed"):
        torch.jit.script(not_augmented)


def forked(x: torch.Tensor):
    tasks = [torch.jit.fork(torch.neg, x), torch.jit.fork(x.add, 2)]
    tasks.append(torch.jit.fork(torch.add, x, x, alpha=3))
    root = torch.jit.fork(math.sqrt, 4)
    size = torch.jit.fork(len, [1, 2])
    return [torch.jit.wait(t) for t in tasks], root.wait(), torch.jit.wait(size)


def failing(x: int) -> int:
    raise ValueError("no")
    return x


def waiting(x: int):
    return torch.jit.wait(torch.jit.fork(failing, x))


def not_waiting(x: int):
    return torch.jit.fork(failing, x)


def test_tasks_of_operators_and_the_errors_of_tasks() -> None:
    for one in (torch.jit.script(forked), loaded(torch.jit.script(forked))):
        tensors, root, size = one(torch.ones(1))
        assert ([t.item() for t in tensors], root, size) == ([-1, 3, 4], 2.0, 2)
    wait, fork = torch.jit.script(waiting), torch.jit.script(not_waiting)
    for call in (lambda: wait(1), fork(1).wait, lambda: torch.jit.wait(fork(1))):
        with pytest.raises(RuntimeError, match=r"in <forked function>\n(.*\n)*builtins.ValueError"):
            call()


class Left(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.k = 5

    @torch.jit.ignore
    def forward(self, x):  # type: ignore[no-untyped-def]
        return x + self.k


class Calls(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.one = Left()
        self.more = torch.nn.Sequential(Left(), Left())

    def forward(self, x):  # type: ignore[no-untyped-def]
        return self.more(self.one(x))


def test_submodules_may_leave_forward_to_python() -> None:
    assert torch.jit.script(Calls())(torch.ones(1)).item() == 16


def sublists(x: torch.Tensor, y: torch.Tensor):
    one = torch.einsum(x, [0, 1], y, [1, 2], [0, 2])
    return one, torch.einsum(x, [0, 1], y, [1, 2]), torch.einsum("ij,jk->ik", x, y)


def retyped(x: torch.Tensor, d: torch.dtype):
    return x.type(d), x.type(dtype=torch.int32), x.type()


def test_einsum_of_sublists_and_type_as_a_method() -> None:
    x, y = torch.arange(6.0).view(2, 3), torch.arange(12.0).view(3, 4)
    for one in (torch.jit.script(sublists), loaded(torch.jit.script(sublists))):
        assert all(torch.equal(part, x @ y) for part in one(x, y))
    a = torch.ones(2, 3, requires_grad=True)
    torch.jit.script(sublists)(a, y)[0].sum().backward()
    assert torch.equal(a.grad, y.sum(1).expand(2, 3))
    dtypes = [t.dtype for t in torch.jit.script(retyped)(x, torch.float64)]
    assert dtypes == [torch.float64, torch.int32, torch.float32]


def test_lists_of_floats_index_as_whole_numbers() -> None:
    x = torch.arange(3)
    assert x[[0.0, 2.9]].tolist() == [0, 2]
    with pytest.raises(TypeError, match=r"new\(\): invalid data type 'str'"):
        x["a"]


def of_alias(x: Pair):
    return x


def optional_pair(x: Optional[BroadcastingList2[int]] = None):
    return x


def test_broadcasting_lists() -> None:
    with pytest.raises(RuntimeError, match="Unknown type name 'Pair'"):
        torch.jit.script(of_alias)
    assert torch.jit.script(optional_pair)(3) == [3, 3]


class WithDict(NamedTuple):
    a: int
    d: Dict[str, int] = {"a": 1}  # noqa: RUF012


class WithTensor(NamedTuple):
    t: torch.Tensor = torch.ones(1)


def defaults(x: int) -> Tuple[int, Dict[str, int]]:
    return WithDict(x).a, WithDict(x).d


def of_tensor() -> torch.Tensor:
    return WithTensor().t


def test_defaults_of_named_tuples() -> None:
    assert torch.jit.script(defaults)(2) == (2, {"a": 1})
    with pytest.raises(RuntimeError, match="Tensors are not supported as default NamedTuple"):
        torch.jit.script(of_tensor)


class WithLists(NamedTuple):
    a: List[int]
    b: List[int]
    c: List[float]
    d: Optional[List[int]] = None


def told(n: int, seen: List[int]) -> int:
    seen.append(n)
    return n


def of_numbers(n: int):
    seen: List[int] = []
    made = WithLists(told(1, seen), b=told(2, seen), d=told(n, seen), c=0.5)
    return made.a, made.b, made.c, made.d, seen


def of_a_text():
    return WithLists([], "a", [])


def test_a_number_for_a_list_in_a_named_tuple_is_repeated_to_the_place_of_the_field() -> None:
    """As torch has it, which takes the field's place for the size of the list."""
    scripted = torch.jit.script(of_numbers)
    for function in (scripted, loaded(scripted)):
        assert function(3) == ([], [2], [0.5, 0.5], [3, 3, 3], [1, 2, 3])
    with pytest.raises(RuntimeError) as caught:
        torch.jit.script(of_a_text)
    assert "WithLists(int[0] a, int[1] b, float[2] c, int[3]? d=None) -> ()" in str(caught.value)


def relu_of(x: torch.Tensor):
    return torch.relu(x).tanh()


class Nested(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        return relu_of(x) + self.more(x)

    def more(self, x: torch.Tensor):
        return x.exp()


class Forking(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        return torch.jit.wait(torch.jit.fork(relu_of, x))


def test_the_names_of_operators_follow_calls() -> None:
    names = torch.jit.export_opnames(torch.jit.script(Nested()))
    assert sorted(names) == ["aten::add.Tensor", "aten::exp", "aten::relu", "aten::tanh"]
    with pytest.raises(RuntimeError, match="FORK is not supported in mobile module"):
        torch.jit.export_opnames(torch.jit.script(Forking()))


@torch.jit.script
class Entered:
    def __init__(self) -> None:
        self.count = 0

    def __enter__(self) -> int:
        self.count += 10
        return self.count

    def __exit__(self, kind: Any, value: Any, traceback: Any) -> None:
        self.count -= 1


def context_after_return(total: int, n: int):
    c = Entered()
    if total > 35:
        return total
    with c as k:
        if n > 3:
            total += k
        total += 1
    return total + c.count


def test_a_context_after_an_early_return() -> None:
    scripted = torch.jit.script(context_after_return)
    assert [scripted(*a) for a in ((1, 5), (1, 2), (40, 2))] == [21, 11, 40]


def asks_whether_it_is_a_tensor(x: torch.Tensor) -> bool:
    return torch.is_tensor(x)


def test_is_tensor_is_no_operator_of_scripts() -> None:
    with pytest.raises(RuntimeError, match="Unknown builtin op: aten::is_tensor"):
        torch.jit.script(asks_whether_it_is_a_tensor)


def test_the_class_of_scripted_modules_has_their_methods() -> None:
    buffer = io.BytesIO()
    torch.jit.ScriptModule.save(torch.jit.script(torch.nn.ReLU()), buffer)
    buffer.seek(0)
    assert torch.jit.load(buffer)(torch.tensor(-1.0)).item() == 0
    assert torch.jit.ScriptModule.save is torch.jit.RecursiveScriptModule.save
