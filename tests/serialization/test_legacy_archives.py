"""Archives in the `model.json` format; what they mean follows the description of the format."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.serialization.archives.audit import audit
from rushlight.serialization.archives.load import load_archive
from rushlight.serialization.files.errors import ArchiveError
from rushlight.serialization.files.limits import Limits

from .legacy_archives import (
    Archive,
    Attributes,
    attribute,
    example,
    model_json,
    parameter,
    small,
    text,
)


def load(data: bytes, **more: Any) -> Any:
    return torch.jit.load(io.BytesIO(data), **more)


def test_the_sample_is_the_example() -> None:
    """The file is there for those who look for archives, such as the fuzzer."""
    assert (Path(__file__).parent / "data" / "legacy.pt").read_bytes() == model_json()


@pytest.mark.parametrize("trust", ["full", "none"])
def test_everything_at_once(trust: str) -> None:
    extra = {"notes": ""}
    module = load(model_json(), trust=trust, _extra_files=extra)
    assert module(torch.tensor([[1.0, 1.0]])).tolist() == [[16.0, 23.0]]
    assert module.numbers() == ([2, -1], [5], (-3, "x"), True)
    assert module.halves(torch.tensor([25, -25])).tolist() == [2, -2]  # as before 1.5
    assert module.original_name == "net"
    assert list(dict(module.named_parameters())) == ["tied"]
    assert module.tied is getattr(module, "0").weight
    assert module.tied.requires_grad
    assert list(dict(module.named_buffers())) == ["0.bias"]
    assert extra["notes"] in (b"kept", "kept")


def test_saved_again_it_is_an_archive_of_today() -> None:
    module = load(model_json())
    again = load(module.save_to_buffer())
    x = torch.tensor([[0.5, -1.0]])
    assert again(x).tolist() == module(x).tolist()
    assert again.numbers() == module.numbers()


def test_numbers_and_members_as_protocol_buffers_allow_them() -> None:
    made, main = example()
    for tensor in made.tensors:
        tensor["dims"] = [int(n) for n in tensor["dims"]]
        tensor["requires_grad"] = tensor.pop("requiresGrad")
        tensor["data_type"] = {"FLOAT": 1, "INT64": 10}[tensor.pop("dataType")]
        tensor["unknown"] = {"member": None}
    main["torchscript_arena"] = main.pop("torchscriptArena")
    data = made.write({"proto_version": 3, "main_module": main, "tensors": made.tensors})
    assert load(data)(torch.tensor([[1.0, 1.0]])).tolist() == [[16.0, 23.0]]


@pytest.mark.parametrize(("version", "read"), [(3, -1), (5, 255)])
def test_small_integers_were_signed_at_first(version: int, read: int) -> None:
    made = Archive(version=version)
    values = Attributes()
    index = values.add(small(-1))
    made.records["attributes.pkl"] = values.finish()
    main = {"name": "net", "attributes": [attribute("n", "int", index)]}
    assert load(made.write(made.model(main))).n == read


def test_every_element_type() -> None:
    made = Archive()
    names = "float32 int32 uint8 bool int8 int16 int64 float16 float64".split()
    parameters = []
    for name in names:
        index = made.tensor(np.array([1, 0, 1], name))
        parameters.append(parameter(name, index, is_buffer=True))
    numbers = np.array([3, 5], np.int8)
    index = made.tensor(numbers, isQuantized=True, scale=0.5, zeroPoint="1")
    parameters.append(parameter("quantized", index, is_buffer=True))
    module = load(made.write(made.model({"name": "net", "parameters": parameters})))
    for name in names:
        assert str(getattr(module, name).dtype) == f"torch.{name}"
        assert [float(n) for n in getattr(module, name).tolist()] == [1.0, 0.0, 1.0]
    assert module.quantized.dequantize().tolist() == [1.0, 2.0]


def test_state_is_set_by_the_module_itself() -> None:
    made = Archive(version=5)
    values = Attributes()
    state = values.add(b"(", b"K\x07", text("seven"), b"t")
    made.records["attributes.pkl"] = values.finish()
    code = (
        "def __getstate__(self) -> Tuple[int, str]:\n  return (self.n, self.name)\n"
        "def __setstate__(self,\n    state: Tuple[int, str]) -> None:\n"
        "  self.n = (state)[0]\n  self.name = (state)[1]\n"
        "  self.weight = torch.ones([2])\n"
    )
    main = {
        "name": "net",
        "torchscriptArena": made.code("net", code),
        "parameters": [parameter("weight", -1)],
        "attributes": [attribute("n", "int", -1), attribute("name", "str", -1)],
        "getStateAttributeId": str(state),
    }
    module = load(made.write(made.model(main)))
    assert (module.n, module.name) == (7, "seven")
    assert module.weight.tolist() == [1.0, 1.0]
    del main["getStateAttributeId"]
    with pytest.raises(ArchiveError, match="another type than `Tensor` for `weight`"):
        load(made.write(made.model(main)))


def test_classes_in_libraries() -> None:
    made = Archive(version=5)
    values = Attributes()
    index = values.add(b"c__torch__.shapes\nPoint\n)\x81}(", text("x"), b"K\x04ub")
    made.records["attributes.pkl"] = values.finish()
    made.records["libs/__torch__/shapes.py"] = (
        b"op_version_set = 1\nclass Point:\n  x : int\n"
        b"  def twice(self: __torch__.shapes.Point) -> int:\n    return torch.mul(self.x, 2)\n"
    )
    code = (
        "import __torch__.shapes\ndef forward(self) -> int:\n"
        "  p = self.point\n  return (p).twice()\n"
    )
    main = {
        "name": "net",
        "torchscriptArena": made.code("net", code),
        "attributes": [attribute("point", "__torch__.shapes.Point", index)],
    }
    assert load(made.write(made.model(main)))() == 8
    assert load(made.write(made.model(main)), trust="none")() == 8


def test_names_that_no_class_can_have() -> None:
    made = Archive()
    inner = [{"name": name} for name in ("0", "class", "a.b", "a b", "a-b", "")]
    module = load(made.write(made.model({"name": "my net-1", "submodules": inner})))
    assert [name for name, _ in module.named_children()] == ["0", "class", "a.b", "a b", "a-b", ""]
    names = [child.original_name for _, child in module.named_children()]
    assert names == ["_0", "_class", "b", "a_b", "a_b", "_"]
    assert len({child._c._type().qualified_name() for _, child in module.named_children()}) == 6


def test_modules_without_code() -> None:
    module = load(Archive().write({"mainModule": {"name": "net"}}))
    module.eval()
    with pytest.raises((AttributeError, NotImplementedError, RuntimeError), match="forward"):
        module()


def test_first_library_files() -> None:
    made, main = example()
    made.records["libs.py"] = b"op_version_set = 0\n"
    libraries = {"torchscriptArena": {"key": "libs.py"}}
    assert load(made.write(made.model(main, libs=libraries))) is not None
    made.records["libs.py"] += b"class Foo:\n  x : int\n"
    with pytest.raises(ArchiveError, match=r"defines classes in `libs\.py`") as info:
        load(made.write(made.model(main, libs=libraries)))
    assert info.value.code == "unsupported-value"


# --------------------------------------------------------------------------- damage


def changed(path: str, value: Any) -> bytes:
    """The example with one member of `model.json` changed."""
    made, main = example()
    model = made.model(main)
    place: Any = model
    *steps, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    for step in steps:
        place = place[step]
    place[last] = value
    return made.write(model)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("protoVersion", "6", "of version 6"),
        ("protoVersion", "x", "wrong `protoVersion`"),
        ("protoVersion", True, "wrong `protoVersion`"),
        ("mainModule", None, "no message for `mainModule`"),
        ("mainModule", [], "no message for `mainModule`"),
        ("mainModule.name", 5, "wrong `name`"),
        ("mainModule.submodules", {}, "wrong `submodules`"),
        ("mainModule.submodules", [3], "no message for `submodules`"),
        ("mainModule.submodules.0.name", "tied", "two members of one name"),
        ("mainModule.torchscriptArena.key", "code/none.py", "no record `code/none.py`"),
        ("mainModule.parameters.0.tensorId", "9", "no tensor 9"),
        ("mainModule.parameters.0.tensorId", "-2", "no tensor -2"),
        ("mainModule.parameters.0.tensorId", str(1 << 80), "wrong `tensorId`"),
        ("mainModule.parameters.0.isBuffer", "true", "wrong `isBuffer`"),
        ("mainModule.attributes.0.id", "77", "refers to value 77"),
        ("mainModule.attributes.0.id", "-1", "another type than"),
        ("mainModule.attributes.0.type", "int", "another type than"),
        ("mainModule.getStateAttributeId", "0", "takes none"),
        ("tensors", {}, "wrong `tensors`"),
        ("tensors.0.dataType", "STRING", "wrong `dataType`"),
        ("tensors.0.dataType", [1], "wrong `dataType`"),
        ("tensors.0.dataType", "DOUBLE", "reaches outside storage"),
        ("tensors.0.data", {}, "tensor without a record"),
        ("tensors.0.data.key", "tensors/9", "no record `tensors/9`|reaches outside"),
        ("tensors.0.dims", ["2"], "impossible sizes"),
        ("tensors.0.dims", ["2", "x"], "wrong `dims`"),
        ("tensors.0.dims", ["3", "2"], "reaches outside storage"),
        ("tensors.0.strides", ["-2", "1"], "impossible sizes"),
        ("tensors.0.offset", "-1", "impossible sizes"),
        ("tensors.0.isQuantized", True, "quantized tensor of Float"),
        ("tensors.3.dims", ["9223372036854775807"], "reaches outside storage"),
    ],
)
def test_damaged_descriptions(path: str, value: Any, message: str) -> None:
    with pytest.raises(ArchiveError, match=message):
        load(changed(path, value))


@pytest.mark.parametrize(
    "model",
    [b"", b"{", b"[]", b"\xff\xfe", b"5", b'{"mainModule": ' * 100_000, b"[" * 100_000],
)
def test_what_is_no_model(model: bytes) -> None:
    with pytest.raises(ArchiveError):
        load(Archive().write(model))


def test_modules_that_lie_too_deep() -> None:
    main: dict[str, Any] = {"name": "m"}
    for _ in range(20):
        main = {"name": "m", "submodules": [main]}
    data = Archive().write(Archive().model(main))
    assert load_archive(data) is not None
    with pytest.raises(ArchiveError, match="20 deep") as info:
        load_archive(data, limits=Limits(depth=20))
    assert info.value.code == "limit-exceeded"


@pytest.mark.parametrize(
    "values",
    [
        b"",
        b"\x80\x02}.",
        b"\x80\x02(ctorch.jit._pickle\nbuild_tensor_from_id\n(K\x63tRt.",
        b"\x80\x02(ctorch.jit._pickle\nbuild_tensor_from_id\n)Rt.",
        b"\x80\x02(c__main__\nTensorID\n)\x81Nbt.",
        b"\x80\x02(cos\nsystem\n(X\x04\x00\x00\x00truetRt.",
    ],
)
def test_damaged_attributes(values: bytes) -> None:
    made, main = example()
    made.records["attributes.pkl"] = values
    with pytest.raises(ArchiveError):
        load(made.write(made.model(main)))


def test_code_is_looked_at_before_it_runs() -> None:
    made, main = example()
    made.records["code/net_0.py"] = b"def forward(self, x: Tensor) -> Tensor:\n  return torch.oh(x)"
    with pytest.raises(ArchiveError, match=r"torch\.oh"):
        load(made.write(made.model(main)))
    made.records["code/net_0.py"] = b"def forward(self, x: Tensor) -> Tensor:\n  return self.gone\n"
    module = load(made.write(made.model(main)))
    with pytest.raises(RuntimeError, match="gone"):
        module(torch.ones(1, 2))
    with pytest.raises(RuntimeError, match="gone"):
        load(made.write(made.model(main)), trust="none")


@pytest.mark.parametrize("code", [b"\x80\xff", b"  \x80def f(self):\n  pass", b"x = (", b"\0"])
def test_code_that_is_none(code: bytes) -> None:
    made, main = example()
    made.records["code/net_0.py"] = code
    with pytest.raises(RuntimeError) as info:
        load(made.write(made.model(main)), trust="none")
    assert getattr(info.value, "diagnostics", None)


def test_audit() -> None:
    found = audit(model_json(), "m.pt")
    assert found.severity in ("", "note")
    assert found.kind.startswith("a TorchScript archive in the `model.json` format")


def test_a_thousand_modules_of_one_name_are_named_at_once() -> None:
    made, main = example()
    main["submodules"] = [{"name": "", "submodules": []}] * 2000
    with pytest.raises(ArchiveError, match="two members of one name"):
        load(made.write(made.model(main)))
