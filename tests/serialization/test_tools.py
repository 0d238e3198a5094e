"""The commands over archives: what, audit, show, diff, convert; and code that is not trusted."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.__main__ import main
from rushlight.interpreter.bounds.guard import Bounds
from rushlight.serialization.archives import audit as audits
from rushlight.serialization.files.limits import Limits

DATA = b"\x80\x02c__torch__\nM\n)\x81}(X\x08\x00\x00\x00training\x89ub."


def archive(body: str, before: str = "", more: dict[str, bytes] | None = None) -> bytes:
    """An archive of a module whose `forward` has this body."""
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    code = (
        f"{before}class M(Module):\n  training : bool\n"
        f"  def forward(self: __torch__.M, x: Tensor) -> Tensor:\n{lines}"
    )
    records = {
        "version": b"3\n",
        "constants.pkl": b"\x80\x02).",
        "data.pkl": DATA,
        "code/__torch__.py": code.encode(),
        **(more or {}),
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name, content in records.items():
            file.writestr(f"a/{name}", content)
    return buffer.getvalue()


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(2, 3)
        self.register_buffer("count", torch.zeros((), dtype=torch.int64))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.linear(x))


@pytest.fixture
def saved(tmp_path: Path) -> str:
    path = str(tmp_path / "net.pt")
    torch.jit.script(Net()).save(path, _extra_files={"a.txt": "hello"})
    return path


# --------------------------------------------------------------------------- untrusted code

BOUNDS = Limits(running=Bounds(instructions=200_000, memory=1 << 26, seconds=20))

GREEDY = {
    "endless": "c = True\nwhile c:\n  x = torch.add(x, 1)\nreturn x",
    "long": "n = 0\nfor i in range(9223372036854775807):\n  n = torch.add(n, i)\nreturn x + n",
    "ones": "return torch.ones([100000, 100000, 100])",
    "outer": "y = torch.ones([1000000])\nreturn torch.outer(y, y)",
    "broadcast": "y = torch.ones([1000000])\nreturn torch.add(torch.reshape(y, [1000000, 1]), y)",
    "product": "y = torch.ones([100000, 1])\nreturn torch.mm(y, torch.t(y))",
    "string": 's = "a"\nfor i in range(100):\n  s = torch.add(s, s)\nreturn x + torch.len(s)',
    "list": "s = [x]\nfor i in range(100):\n  s = torch.add(s, s)\nreturn s[0]",
    "padding": "return torch.constant_pad_nd(x, [0, 10000000000])",
    "numbers": "return torch.arange(10000000000)",
}


@pytest.mark.parametrize("name", GREEDY)
def test_untrusted_code_is_bounded(name: str) -> None:
    module = torch.jit.load(io.BytesIO(archive(GREEDY[name])), trust="none", limits=BOUNDS)
    with pytest.raises(RuntimeError) as caught:
        module(torch.ones(3))
    assert [d.code for d in caught.value.diagnostics] == ["limit-exceeded"]  # type: ignore[attr-defined]


def test_many_calls_of_calls_are_refused() -> None:
    functions = "".join(
        f"def f{i}(x: Tensor) -> Tensor:\n"
        f"  return torch.add(__torch__.f{i + 1}(x, ), __torch__.f{i + 1}(x, ))\n"
        for i in range(40)
    )
    last = "def f40(x: Tensor) -> Tensor:\n  return x\n"
    data = archive("return __torch__.f0(x, )", functions + last)
    with pytest.raises(RuntimeError, match=r"too large|nodes once"):
        torch.jit.load(io.BytesIO(data))(torch.ones(1))


@pytest.mark.parametrize(
    "body",
    [
        "return torch.neg(" * 3000 + "x" + ")" * 3000,
        "\n".join("  " * i + "if True:" for i in range(300))
        + "\n"
        + "  " * 300
        + "x = x\nreturn x",
        "return (self).forward(x, )",
        "return torch.as_strided(x, [1000000], [1], 5)",
        "return torch.zeros([0]).set_(x, 1000, [100], [1])",
    ],
)
def test_hostile_code_ends_in_an_error(body: str) -> None:
    with pytest.raises(RuntimeError):
        torch.jit.load(io.BytesIO(archive(body)), trust="none")(torch.ones(3))


HIDING = {
    "branch": ('if False:\n  torch.save(x, "f")\nelse:\n  pass\nreturn x', ""),
    "function": (
        "return __torch__.g(x, )",
        'def g(x: Tensor) -> Tensor:\n  return torch.from_file("f")\n',
    ),
    "operator": ('y = ops.image.read_file("f")\nreturn x', ""),
    "network": ('y = ops.rpc.remote("f")\nreturn x', ""),
    "memory": ("return ops.inductor._reinterpret_tensor(x, [9], [1], 5)", ""),
}
REASONS = {"network": "reaches other machines", "memory": "reaches memory that is no tensor's own"}
"""What is said of operators; of others that it reads or writes files."""


@pytest.mark.parametrize("name", HIDING)
def test_operators_that_reach_outside_are_refused(name: str) -> None:
    reason = REASONS.get(name, "reads or writes files")
    with pytest.raises(RuntimeError, match=f"which {reason}") as caught:
        torch.jit.load(io.BytesIO(archive(*HIDING[name])), trust="none")
    assert "unsafe-op" in [d.code for d in caught.value.diagnostics]  # type: ignore[attr-defined]


def test_what_is_trusted_may_write_files(tmp_path: Path) -> None:
    path = tmp_path / "written"
    data = archive(f'torch.save(x, "{path}")\nreturn x')
    with pytest.raises(RuntimeError, match="which reads or writes files"):
        torch.jit.load(io.BytesIO(data), trust="none")
    torch.jit.load(io.BytesIO(data))(torch.ones(2))
    assert torch.load(path).tolist() == [1.0, 1.0]


def test_untrusted_code_computes_the_same(saved: str) -> None:
    x = torch.ones(4, 2)
    wanted = torch.jit.load(saved)(x)
    assert torch.equal(torch.jit.load(saved, trust="none")(x), wanted)
    with pytest.raises(ValueError, match="trust"):
        torch.jit.load(saved, trust="some")


# --------------------------------------------------------------------------- commands


def run(capsys: Any, *words: str) -> tuple[int, str]:
    status = main(words)
    return status, capsys.readouterr().out


def test_audit_reads_a_pickle_that_cannot_be_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[object] = []
    monkeypatch.setattr(audits, "load_archive", lambda source, **_: loaded.append(source))
    whole = archive("return x")
    assert audits.audit(whole, "whole").severity == ""
    assert loaded == [whole]
    bad = audits.audit(archive("return x", more={"data.pkl": b"\x80\x02((."}), "bad")
    assert bad.severity == "unreadable"
    assert len(bad.findings) == 1
    assert loaded == [whole]
    # a record that a program does not need keeps nothing from being looked at
    audits.audit(archive("return x", more={"bytecode.pkl": b"\x80\x02((."}), "odd")
    assert len(loaded) == 2


def test_audit(tmp_path: Path, saved: str, capsys: Any) -> None:
    status, text = run(capsys, "audit", saved)
    assert (status, "extra files: a.txt" in text) == (0, True)
    bad = tmp_path / "bad.pt"
    bad.write_bytes(archive(*HIDING["branch"]))
    status, text = run(capsys, "audit", "--json", str(bad))
    found = json.loads(text)
    assert (status, found["severity"]) == (3, "danger")
    assert found["operators"]["files"] == ["aten::save"]
    bad.write_bytes(archive("return x", more={"../../x": b"1", "strange": b"2"}))
    status, text = run(capsys, "audit", str(bad))
    assert status == 3
    assert "path to other folders" in text
    assert "`strange` is none that PyTorch writes" in text
    bad.write_text("no archive")
    assert run(capsys, "audit", str(bad))[0] == 2


def test_show(saved: str, capsys: Any) -> None:
    status, text = run(capsys, "show", "--modules", "--json", saved)
    outline = json.loads(text)["modules"]
    assert (status, outline["parameters"], outline["bytes"]) == (0, 9, 44)
    assert "linear: Linear  (9 parameters" in run(capsys, "show", "--modules", saved)[1]
    assert run(capsys, "show", "--extra", saved)[1] == "a.txt: 5 bytes\n"
    assert "torch.relu" in json.loads(run(capsys, "show", "--json", saved)[1])["code"]


def test_diff(tmp_path: Path, saved: str, capsys: Any) -> None:
    module = torch.jit.load(saved)
    assert run(capsys, "diff", saved, saved) == (0, "no differences\n")
    module.linear.bias.data[1] += 1
    other = str(tmp_path / "other.pt")
    module.save(other)
    status, text = run(capsys, "diff", "--json", saved, other)
    (change,) = json.loads(text)["weights"]
    assert (status, change["name"], change["elements"]) == (1, "linear.bias", 1)
    assert change["largest difference"] == pytest.approx(1)


def test_convert(tmp_path: Path, saved: str, capsys: Any) -> None:
    weight = torch.jit.load(saved).linear.weight.detach().numpy()
    for suffix in (".npz", ".safetensors", ".py", ".ptl", ".pt"):
        assert run(capsys, "convert", "--force", saved, str(tmp_path / f"made{suffix}"))[0] == 0
    assert np.array_equal(np.load(tmp_path / "made.npz")["linear.weight"], weight)
    data = (tmp_path / "made.safetensors").read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    start, end = header["linear.weight"]["data_offsets"]
    assert data[8 + length :][start:end] == weight.tobytes()
    assert (
        header["count"] == {"dtype": "I64", "shape": [], "data_offsets": [36, 44]}
        or header["count"]["shape"] == []
    )
    assert "class Net(Module):" in (tmp_path / "made.py").read_text()
    assert run(capsys, "show", "--bytecode", str(tmp_path / "made.ptl"))[0] == 0
    assert run(capsys, "convert", saved, str(tmp_path / "made.xyz"))[0] == 2
    assert not [p for p in tmp_path.iterdir() if p.name.endswith(".tmp")]


def test_what(tmp_path: Path, saved: str, capsys: Any) -> None:
    status, text = run(capsys, "what", "--json", saved)
    assert (status, json.loads(text)["kind"]) == (0, "torchscript")
