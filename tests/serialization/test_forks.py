"""Archives whose forked functions are more than a call: traced, inlined and frozen modules."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import pytest

import rushlight as torch
from rushlight.serialization.files.container_writer import ContainerWriter
from rushlight.serialization.pickles.nodes import DictNode, Global, ObjectNode
from rushlight.serialization.pickles.writer import write_pickle

HEAD = "class M(Module):\n  n : int\n  def forward(self: __torch__.M,\n    x: Tensor) -> Tensor:\n"


def load(body: str, version: int = 10, **more: Any) -> Any:
    sink = io.BytesIO()
    writer = ContainerWriter(sink, "archive")
    root = ObjectNode(Global("__torch__", "M"), DictNode([("n", 3)]))
    writer.add("data.pkl", write_pickle(root))
    writer.add("code/__torch__.py", (HEAD + body).encode())
    writer.add("constants.pkl", b"\x80\x02).")
    writer.add("version", str(version).encode())
    writer.finish()
    return torch.jit.load(io.BytesIO(sink.getvalue()), **more)


OPERATORS = """    y = torch.neg(x)
    def __forked_function():
      _0 = torch.mul(x, self.n)
      return torch.add(_0, y)
    _1 = fork(__forked_function)
    return torch.wait(_1)
"""
CONTROL = """    y = torch.neg(x)
    def __forked_function():
      if bool(torch.gt(torch.sum(x), 0)):
        z = torch.mul(x, 10)
      else:
        z = x
      for i in range(self.n):
        z = torch.add(z, i)
      x = torch.add(z, y)
      return x
    _1 = fork(__forked_function)
    return torch.add(torch.wait(_1), x)
"""
NESTED = """    def __forked_function():
      _0 = torch.mul(x, 2)
      def __forked_function0():
        return torch.add(_0, x)
      _1 = fork(__forked_function0)
      return torch.wait(_1)
    _2 = fork(__forked_function)
    return torch.wait(_2)
"""
SEVERAL = """    def __forked_function():
      return (torch.mul(x, 2), self.n)
    _0 = fork(__forked_function)
    a, b, = torch.wait(_0)
    return torch.add(a, b)
"""


@pytest.mark.parametrize(
    ("body", "wanted"),
    [(OPERATORS, [2.0, 4.0]), (CONTROL, [13.0, 23.0]), (NESTED, [3.0, 6.0]), (SEVERAL, [5.0, 7.0])],
)
@pytest.mark.parametrize("trust", ["full", "none"])
def test_bodies(body: str, wanted: list[float], trust: str) -> None:
    x = torch.tensor([1.0, 2.0])
    loaded = load(body, trust=trust)
    assert loaded(x).tolist() == wanted
    again = torch.jit.load(io.BytesIO(loaded.save_to_buffer()))
    assert again(x).tolist() == wanted


def test_the_graph() -> None:
    text = str(load(OPERATORS).graph)
    assert "prim::fork_0(%x.1, %self, %y.1)" in text or "prim::fork_0(%x" in text
    task = text[text.index("with prim::fork_0") :]
    assert task.count("aten::") == 2
    assert "prim::Store" not in text
    assert "prim::Load" not in text


def test_old_operators_in_tasks() -> None:
    body = (
        "    def __forked_function():\n      return torch.div(x, 2)\n"
        "    return torch.wait(fork(__forked_function))\n"
    )
    x = torch.tensor([7, -7])
    assert load(body, version=3)(x).tolist() == [3, -3]
    assert load(body)(x).tolist() == [3.5, -3.5]


def test_tasks_are_looked_at_as_well() -> None:
    body = (
        '    def __forked_function():\n      _0 = ops.aten.save(x, "f")\n      return x\n'
        "    return torch.wait(fork(__forked_function))\n"
    )
    with pytest.raises(RuntimeError, match=r"aten::save|torch\.save|aten\.save"):
        load(body, trust="none")


@pytest.mark.parametrize(
    ("statement", "message"),
    [("return torch.mul(x, gone)", "gone"), ("return self.gone", "gone")],
)
def test_faults_are_told(statement: str, message: str) -> None:
    body = (
        f"    def __forked_function():\n      {statement}\n"
        "    return torch.wait(fork(__forked_function))\n"
    )
    with pytest.raises(RuntimeError, match=message):
        load(body)(torch.ones(1))


def helper_of_tasks(x: int, y: int = 2, z: int = 0) -> int:
    return x * y - z


helper_of_tasks.__module__ = "m"  # the call is long, the name alone is not


def waits_amid_a_call(found: tuple[int, list[int]], n: int) -> list[int]:
    for _ in range(2):
        found[1].append(torch.jit.fork(helper_of_tasks, n).wait())
    return found[1]


def test_what_stands_before_a_task_in_a_line_is_not_written_into_it() -> None:
    scripted: Any = torch.jit.script(waits_amid_a_call)
    sink = io.BytesIO()
    torch.jit.save(scripted, sink)
    with zipfile.ZipFile(sink) as archive:
        code = archive.read("archive/code/__torch__.py").decode()
    assert "found" not in code[code.index("def __forked") : code.index("fork(")]
    sink.seek(0)
    assert torch.jit.load(sink)((1, [5]), 3) == [5, 6, 6]
