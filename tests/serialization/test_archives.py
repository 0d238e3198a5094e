"""Whole archives: loading what torch wrote, saving it again, running it."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rushlight.interpreter.running.calling import call
from rushlight.interpreter.values.objects import ScriptObject
from rushlight.ops.memory.dtype import Device
from rushlight.ops.tensors.tensor import Parameter, Tensor
from rushlight.serialization.archives.load import load_archive
from rushlight.serialization.files.container import ArchiveReader
from rushlight.serialization.files.container_writer import ContainerWriter
from rushlight.serialization.files.errors import ArchiveError
from rushlight.serialization.files.limits import Limits
from rushlight.serialization.pickles.nodes import DictNode, Global, ListNode, Node, ObjectNode
from rushlight.serialization.pickles.writer import write_pickle
from rushlight.serialization.saving.save import (
    save_archive,
    save_function_to_buffer,
    save_to_buffer,
)

DATA = Path(__file__).parent / "data"


def records_of(data: bytes) -> dict[str, bytes]:
    with ArchiveReader(data) as archive:
        return {record: archive.read(record) for record in archive.records()}


def made(
    code: str,
    state: Mapping[str, Node] | None = None,
    version: int = 10,
    extra: Mapping[str, bytes] | None = None,
) -> bytes:
    """An archive of a class `__torch__.M` with this code and these attributes."""
    sink = io.BytesIO()
    writer = ContainerWriter(sink, "archive")
    root = ObjectNode(Global("__torch__", "M"), DictNode(list((state or {}).items())))
    writer.add("data.pkl", write_pickle(root))
    writer.add("code/__torch__.py", code.encode())
    writer.add("constants.pkl", b"\x80\x02).")
    writer.add("version", str(version).encode())
    for name, content in (extra or {}).items():
        writer.add(name, content)
    writer.finish()
    return sink.getvalue()


def run(target: ScriptObject, *arguments: object, method: str = "forward") -> object:
    function = target.cls.method(method)
    assert function is not None
    return call(function, arguments, self=target)


def tensor(*values: float, dtype: str = "float32") -> Tensor:
    return Tensor._of(np.array(values, dtype))


# -- what torch wrote


def test_the_values_of_a_torch_archive() -> None:
    loaded = load_archive(DATA / "sample.pt")
    assert loaded.cls.qualified_name == "__torch__.sample_module.Sample"
    assert (loaded.sizes, loaded.names, loaded.rates) == ([1, 2, 300], ["a", "b"], [])
    assert (loaded.limit, loaded.pair, loaded.z) == (None, (1, "a"), 1 + 2j)
    assert loaded.device == Device("cpu")
    affine = loaded.affine
    assert isinstance(affine, ScriptObject)
    assert isinstance(affine.w, Parameter)
    assert affine.w.requires_grad
    assert affine.w._array.tolist() == [[0, 3], [1, 4], [2, 5]]
    assert not isinstance(affine.b, Parameter)


def test_sharing_in_a_torch_archive() -> None:
    loaded = load_archive(DATA / "sample.pt")
    base, view, tensors = loaded.base, loaded.view, loaded.tensors
    assert isinstance(base, Tensor)
    assert isinstance(view, Tensor)
    assert isinstance(tensors, list)
    base._array[2] = 77
    assert view._array[0] == 77
    assert tensors[0] is base._array


def test_a_torch_archive_runs() -> None:
    result = run(load_archive(DATA / "sample.pt"), Tensor._of(np.ones((1, 3), np.float32)))
    assert isinstance(result, tuple)
    value, text = result
    assert value._array.tolist() == [[3 + 1 + 1.5 + 3, 12 + 1 + 1.5 + 3]]
    assert text == "caf\u00e9"


@pytest.mark.parametrize("name", ["sample", "function"])
def test_a_torch_archive_is_saved_as_torch_saved_it(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.pt"
    save_archive(load_archive(DATA / f"{name}.pt"), path)
    torch, ours = records_of((DATA / f"{name}.pt").read_bytes()), records_of(path.read_bytes())
    assert list(ours) == list(torch)
    differ = {record for record in torch if torch[record] != ours[record]}
    assert {r for r in differ if not r.endswith((".debug_pkl", "serialization_id"))} == set()


@pytest.mark.parametrize("name", ["sample", "function"])
def test_saved_again_the_bytes_are_the_same(name: str) -> None:
    first = save_to_buffer(load_archive(DATA / f"{name}.pt"))
    assert save_to_buffer(load_archive(first)) == first


def test_a_function_is_saved_as_a_placeholder_module() -> None:
    code = (
        "class M(Module):\n  def forward(self, x: Tensor) -> Tensor:\n    return __torch__.f(x)\n"
    )
    code += "def f(x: Tensor, n: int=2) -> Tensor:\n  return torch.mul(x, n)\n"
    forward = load_archive(made(code)).cls.method("forward")
    assert forward is not None
    loaded = load_archive(save_function_to_buffer(forward))
    assert loaded.cls.qualified_name == "__torch__.PlaceholderModule"


def test_two_archives_with_equal_class_names_live_side_by_side() -> None:
    text = "class M(Module):\n  def forward(self, x: int) -> int:\n    return torch.add(x, {})\n"
    one, two = load_archive(made(text.format(1))), load_archive(made(text.format(2)))
    assert one.cls is not two.cls
    assert (run(one, 10), run(two, 10)) == (11, 12)


def test_a_namespace_may_have_the_name_of_a_class() -> None:
    code = (
        "class M(Module):\n  inner : __torch__.M.Inner\n"
        "  def forward(self: __torch__.M) -> int:\n"
        "    made = __torch__.M.Inner(__torch__.M.three())\n"
        "    return torch.add(made.n, (self.inner).n)\n"
    )
    inner = (
        b"class Inner:\n  n : int\n"
        b"  def __init__(self: __torch__.M.Inner,\n    n: int) -> None:\n    self.n = n\n"
        b"    return None\n"
        b"def three() -> int:\n  return 3\n"
    )
    state = ObjectNode(Global("__torch__.M", "Inner"), DictNode([("n", 4)]))
    data = made(code, {"inner": state}, extra={"code/__torch__/M.py": inner})
    loaded = load_archive(data)
    assert run(loaded) == 7
    assert run(load_archive(save_to_buffer(loaded))) == 7


def test_extra_files(tmp_path: Path) -> None:
    wanted = {"a/b.txt": "", "absent": "stays"}
    loaded = load_archive(DATA / "function.pt", wanted)
    assert wanted == {"a/b.txt": "", "absent": "stays"}
    data = save_to_buffer(loaded, {"a/b.txt": "text", "c": b"\0"})
    load_archive(data, wanted)
    assert wanted == {"a/b.txt": b"text", "absent": "stays"}
    assert next(iter(records_of(data))) == "extra/a/b.txt"


# -- what is refused


MODULE = "class M(Module):\n  def forward(self, x: Tensor) -> Tensor:\n    return {}\n"


def refused(data: bytes, limits: Limits | None = None) -> ArchiveError:
    with pytest.raises(ArchiveError) as caught:
        load_archive(data, limits=limits or Limits())
    return caught.value


def test_a_later_version_is_refused() -> None:
    error = refused(made(MODULE.format("x"), version=11))
    assert error.code == "version-too-new"
    assert "maximum supported version for reading is 10" in str(error)


def test_all_unknown_operators_are_told_together() -> None:
    error = refused(made(MODULE.format("torch.not_here(ops.nor.here(x))")))
    assert [d.code for d in error.diagnostics] == ["unknown-op", "unknown-op"]
    places = [str(d.primary.span) for d in error.diagnostics if d.primary is not None]
    assert places == ["code/__torch__.py:3:12", "code/__torch__.py:3:27"]


def test_tensors_without_a_program_are_told_to_be_that() -> None:
    sink = io.BytesIO()
    writer = ContainerWriter(sink, "archive")
    writer.add("data.pkl", b"\x80\x02}.")
    writer.finish()
    error = refused(sink.getvalue())
    assert error.code == "not-an-archive"
    assert "a `torch.save` file that holds tensors only" in str(error)
    assert "load_state_dict" in error.diagnostics[0].helps[0].text


@pytest.mark.parametrize(
    ("code", "state", "message"),
    [
        ("class N(Module):\n  x : int\n", {}, "which no code file defines"),
        ("class M(Module):\n  x : int\n", {}, "no value for attribute `x`"),
        ("class M(Enum):\n  A = 1\n", {}, "which no code file defines"),
    ],
)
def test_code_and_data_must_agree(code: str, state: Mapping[str, Node], message: str) -> None:
    error = refused(made(code, state))
    assert error.code == "damaged-archive"
    assert message in str(error)


def test_values_that_contain_themselves_are_refused() -> None:
    sink = io.BytesIO()
    writer = ContainerWriter(sink, "archive")
    loop = b"]q\x00(h\x00eX\x09\x00\x00\x00List[Any]\x86"
    writer.add(
        "data.pkl",
        b"\x80\x02c__torch__\nM\n)\x81}(X\x01\x00\x00\x00xctorch.jit._pickle\nrestore_type_tag\n"
        + loop
        + b"Rub.",
    )
    writer.add("code/__torch__.py", b"class M(Module):\n  x : List[Any]\n")
    writer.add("constants.pkl", b"\x80\x02).")
    writer.add("version", b"3")
    writer.finish()
    assert "contains itself" in str(refused(sink.getvalue()))


def test_depth_is_limited() -> None:
    node: Node = 1
    for _ in range(300):
        node = ListNode([node], "List[Any]")
    error = refused(made("class M(Module):\n  x : Any\n", {"x": node}))
    assert error.code == "limit-exceeded"


def test_a_failed_save_leaves_the_old_file(tmp_path: Path) -> None:
    loaded = load_archive(made("class M(Module):\n  x : Any\n", {"x": 1}))
    loaded.slots[0] = object()
    path = tmp_path / "m.pt"
    path.write_bytes(b"old")
    with pytest.raises(ArchiveError, match="cannot be saved"):
        save_archive(loaded, path)
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["m.pt"]


def test_a_method_with_a_fault_fails_alone_and_every_time() -> None:
    code = MODULE.format("x") + "  def bad(self, x: Tensor) -> str:\n    return x\n"
    loaded = load_archive(made(code))
    for _ in range(2):
        with pytest.raises(RuntimeError, match="annotated as having type str"):
            run(loaded, tensor(1), method="bad")
        assert isinstance(run(loaded, tensor(1)), Tensor)


# -- older versions


@pytest.mark.parametrize(("version", "result"), [(3, [2.0, 3.0]), (4, [2.5, 3.5])])
def test_division_of_integers_before_version_4(version: int, result: list[float]) -> None:
    loaded = load_archive(made(MODULE.format("torch.div(x, 2)"), version=version))
    found = run(loaded, tensor(5, 7, dtype="int64"))
    assert isinstance(found, Tensor)
    assert found._array.tolist() == result
    floats = run(loaded, tensor(5, 7))
    assert isinstance(floats, Tensor)
    assert floats._array.tolist() == [2.5, 3.5]


@pytest.mark.parametrize(("version", "dtype"), [(4, "float32"), (5, "int64")])
def test_full_before_version_5(version: int, dtype: str) -> None:
    loaded = load_archive(made(MODULE.format("torch.full([2], 3)"), version=version))
    found = run(loaded, tensor(1))
    assert isinstance(found, Tensor)
    assert found._array.dtype == dtype


def test_what_replaces_an_operator_is_simplified_for_the_call() -> None:
    loaded = load_archive(made(MODULE.format("torch.full([2], 3)"), version=4))
    forward = loaded.cls.methods["forward"]
    forward.ensure_defined()
    text = str(forward.graph)
    assert "prim::If" not in text
    assert "prim::isinstance" not in text
    assert text.count("aten::full") == 1


def test_linspace_without_steps_before_version_8() -> None:
    loaded = load_archive(made(MODULE.format("torch.linspace(0, 1, None)"), version=7))
    found = run(loaded, tensor(1))
    assert isinstance(found, Tensor)
    assert found._array.shape == (100,)


@pytest.mark.parametrize("name", ["linspace", "logspace"])
def test_steps_are_left_out_where_the_result_is_written(name: str) -> None:
    loaded = load_archive(made(MODULE.format(f"torch.{name}(0, 1, out=x)"), version=7))
    out = tensor(1, 2, 3)
    run(loaded, out)
    assert out._array.shape == (100,)
    today = load_archive(made(MODULE.format(f"torch.{name}(0, 1, 3, out=x)"), version=7))
    run(today, out)
    assert out._array.shape == (3,)


@pytest.mark.parametrize(
    ("version", "dtype", "result"),
    [(3, "int64", [3, -3]), (3, "float32", [3.5, -3.5]), (4, "float32", [3.5, -3.5])],
)
def test_division_into_a_tensor(version: int, dtype: str, result: list[float]) -> None:
    code = (
        "class M(Module):\n  def forward(self: __torch__.M,\n    x: Tensor,\n    out: Tensor)"
        " -> Tensor:\n    return torch.div(x, torch.full([1], 2, dtype=4), out=out)\n"
    )
    out = tensor(0, 0, dtype=dtype)
    run(load_archive(made(code, version=version)), tensor(7, -7, dtype="int64"), out)
    assert out._array.tolist() == result


# -- mutations


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_mutated_archives_fail_as_documented(data: st.DataObject) -> None:
    """Checksums made right again, so that the change reaches the parts behind the container."""
    records = records_of((DATA / "sample.pt").read_bytes())
    record = data.draw(st.sampled_from(["data.pkl", "constants.pkl", "version"]))
    content = bytearray(records[record])
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    sink = io.BytesIO()
    writer = ContainerWriter(sink, "sample")
    for name, original in records.items():
        writer.add(name, bytes(content) if name == record else original)
    writer.finish()
    try:
        load_archive(sink.getvalue())
    except ArchiveError as error:
        found = error.diagnostics
    else:
        found = []
    assert all(d.message for d in found)
