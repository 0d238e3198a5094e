"""The language server, asked by a client over standard input and output."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from rushlight.lsp import worker
from rushlight.lsp.facts import facts_of, no_facts
from rushlight.lsp.kept import outline_of

ROOT = Path(__file__).parents[2]

PROGRAM = """\
import rushlight as torch


def helper(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@torch.jit.script
def f(x, size: int):
    größe = helper(x)
    return größe.view({name}, 2)
"""


class Client:
    """A client that speaks the protocol itself."""

    def __init__(self, folder: Path) -> None:
        self.uri = (folder / "program.py").as_uri()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "rushlight", "lsp", "--stdio"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        self.number = 0
        self.published: list[Any] = []

    def send(self, **message: Any) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self.process.stdin.flush()

    def read(self) -> Any:
        stream, length = self.process.stdout, 0
        assert stream is not None
        while line := stream.readline().strip():
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        message = json.loads(stream.read(length))
        if message.get("method") == "textDocument/publishDiagnostics":
            self.published.append(message["params"])
        return message

    def ask(self, method: str, **params: Any) -> Any:
        self.number += 1
        self.send(id=self.number, method=method, params=params)
        while (message := self.read()).get("id") != self.number:
            pass
        assert "error" not in message, message
        return message["result"]

    def about(self, method: str, line: int = 0, column: int = 0, **more: Any) -> Any:
        at = {"line": line, "character": column}
        return self.ask(method, textDocument={"uri": self.uri}, position=at, **more)

    def tell(self, method: str, **params: Any) -> None:
        self.send(method=method, params=params)

    def diagnostics(self, version: int) -> Any:
        while not self.published or self.published[-1].get("version") != version:
            self.read()
        return self.published[-1]["diagnostics"]


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    if find_spec("pygls") is None:
        pytest.skip("pygls is not installed")
    client = Client(tmp_path)
    patience = threading.Timer(200, client.process.kill)
    patience.start()
    try:
        able = client.ask("initialize", processId=None, rootUri=None, capabilities={})
        assert able["capabilities"]["hoverProvider"]
        client.tell("initialized")
        yield client
        client.ask("shutdown")
        client.tell("exit")
        assert client.process.wait(20) == 0, client.process.returncode
    finally:
        patience.cancel()
        client.process.kill()
        for stream in (client.process.stdin, client.process.stdout):
            assert stream is not None
            stream.close()
        client.process.wait()


WHOLE = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}


def test_a_client_is_told_and_answered(client: Client) -> None:
    document = {"uri": client.uri, "languageId": "python", "version": 1}
    client.tell(
        "textDocument/didOpen", textDocument={**document, "text": PROGRAM.format(name="sizee")}
    )
    (found,) = client.diagnostics(1)
    assert (found["code"], found["severity"]) == ("undefined-name", 1)
    assert found["range"] == {
        "start": {"line": 10, "character": 22},
        "end": {"line": 10, "character": 27},
    }
    (fix,) = client.about(
        "textDocument/codeAction", range=found["range"], context={"diagnostics": []}
    )
    (edit,) = fix["edit"]["changes"][client.uri]
    assert edit == {"range": found["range"], "newText": "size"}

    client.tell(
        "textDocument/didChange",
        textDocument={"uri": client.uri, "version": 2},
        contentChanges=[{"range": edit["range"], "text": edit["newText"]}],
    )
    assert client.diagnostics(2) == []
    assert "Tensor" in client.about("textDocument/hover", 10, 13)["contents"]["value"]
    assert "int" in client.about("textDocument/hover", 10, 23)["contents"]["value"]
    assert client.about("textDocument/hover", 0, 0) is None
    target = client.about("textDocument/definition", 9, 13)
    assert (target["uri"], target["range"]["start"]["line"]) == (client.uri, 3)
    target = client.about("textDocument/definition", 10, 23)
    assert target["range"]["start"] == {"line": 8, "character": 9}
    (hint,) = client.about("textDocument/inlayHint", range=WHOLE)
    assert (hint["label"], hint["position"]) == (": Tensor", {"line": 8, "character": 7})
    lenses = client.about("textDocument/codeLens")
    assert [lens["range"]["start"]["line"] for lens in lenses] == [3, 8]
    command = {"command": "rushlight.graph", "arguments": lenses[1]["command"]["arguments"]}
    assert client.ask("workspace/executeCommand", **command).startswith("graph(%x")


def test_a_file_that_cannot_go_on_says_where(client: Client) -> None:
    document = {"uri": client.uri, "languageId": "python", "version": 1}
    client.tell("textDocument/didOpen", textDocument={**document, "text": "x = 1\n1 / 0\n"})
    (found,) = client.diagnostics(1)
    assert found["code"] == "file-stopped"
    assert found["range"]["start"]["line"] == 1
    client.tell("textDocument/didClose", textDocument={"uri": client.uri})


def _saying(functions: list[Any], **more: Any) -> str:
    """A program that answers in place of its check."""
    told = {"code": "x", "severity": "error", "message": "", "notes": [], "fixes": []}
    told |= {"place": [0] * 4, "related": []}
    facts: Any = {"diagnostics": [told | more], "types": [], "inlays": [], "functions": []}
    return f"""\
import os
for descriptor in range(3, 64):
    try:
        os.write(descriptor, {json.dumps([facts, functions])!r}.encode())
    except OSError:
        pass
os._exit(0)
"""


HOSTILE = {
    "half a character": 'import rushlight as torch\n"\ud800"; torch.jit.script(lambda: nothing)\n',
    "what is written to every descriptor": """\
import os
for descriptor in range(3, 64):
    try:
        os.write(descriptor, b"garbage\\n")
    except OSError:
        pass
""",
    "what is almost an answer": _saying([[5]], notes=[5]),
    "what is told of at no place": _saying(
        [], related=[["\ud800", [0] * 4, ""], ["//", [0] * 4, ""]]
    ),
    "what reads questions": "import sys\nsys.stdin.buffer.read()\n",
    "what ends the process": "import os\nos._exit(0)\n",
    "what ends the process before it": "import os\nos.kill(os.getppid(), 9)\n",
    "nothing but brackets": "(" * 100_000,
    "null characters": "x = 1\0\n",
}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="checks run in the process itself here")
def test_what_a_program_does_leaves_the_server_at_work(client: Client) -> None:
    if find_spec("pygls") is None:
        pytest.skip("pygls is not installed")
    document = {"uri": client.uri, "languageId": "python", "version": 1, "text": "x = 1\n"}
    client.tell("textDocument/didOpen", textDocument=document)
    version = 1
    for text in (*HOSTILE.values(), PROGRAM.format(name="sise")):
        version += 1
        client.tell(
            "textDocument/didChange",
            textDocument={"uri": client.uri, "version": version},
            contentChanges=[{"text": text}],
        )
        found = client.diagnostics(version)
    assert [each["code"] for each in found] == ["undefined-name"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="checks run in the process itself here")
def test_a_check_that_tells_without_end_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "SECONDS", 1.0)
    text = """\
import os, stat, time
if not os.fork():
    time.sleep(60)  # who holds what the check writes to
descriptors = map(int, os.listdir("/dev/fd"))
pipes = [each for each in sorted(descriptors) if os.path.exists(f"/dev/fd/{each}")
         and stat.S_ISFIFO(os.fstat(each).st_mode)]
while True:
    os.write(pipes[-1], b"x")
    time.sleep(0.01)
"""
    began = time.monotonic()
    answered = worker._in_child({"path": str(tmp_path / "endless.py"), "text": text})
    assert time.monotonic() - began < 30
    facts, functions = json.loads(answered)
    assert (facts["diagnostics"][0]["code"], functions) == ("file-stopped", [])


def test_without_pygls_the_command_says_what_it_needs(tmp_path: Path) -> None:
    (tmp_path / "pygls.py").write_text("raise ModuleNotFoundError('no', name='pygls')\n")
    (tmp_path / "lsprotocol.py").write_text("raise ModuleNotFoundError('no', name='lsprotocol')\n")
    paths = os.pathsep.join([str(tmp_path), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "-m", "rushlight", "lsp"],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "pip install rushlight[lsp]" in done.stderr


def test_facts_are_plain_values(tmp_path: Path) -> None:
    from rushlight.cli.checked_file import check_unsaved

    path = str(tmp_path / "unsaved.py")
    checked = check_unsaved(path, PROGRAM.format(name="size"))
    facts, functions = facts_of(checked, path)
    assert [each["calls"] for each in functions] == [[], [4]]
    assert json.loads(json.dumps(facts))["inlays"] == [[8, 7, "Tensor"]]
    assert [name for _, name, _ in facts["functions"]] == ["helper", "f"]
    assert no_facts()["diagnostics"] == facts["diagnostics"] == []


def test_types_stand_where_something_is_written(tmp_path: Path) -> None:
    from rushlight.cli.checked_file import check_unsaved

    text = (
        "import rushlight as torch\n\n\n@torch.jit.script\ndef f(x: torch.Tensor, n: int):\n"
        "    y = x.sum()\n    for k in range(n):\n        y = y + k\n    return y\n"
    )
    path = str(tmp_path / "unsaved.py")
    facts, _ = facts_of(check_unsaved(path, text), path)
    lines = text.splitlines()
    assert all(place[0] == place[2] for place, _, _ in facts["types"])
    told = {(lines[a[0]][a[1] : a[3]], a[0], type) for a, type, _ in facts["types"]}
    assert {("y", 5, "Tensor"), ("k", 6, "int"), ("y", 7, "Tensor"), ("k", 7, "int")} <= told
    assert not any("for" in word for word, _, _ in told)


CHAIN = """\
import rushlight as torch


def first(x: torch.Tensor):
    return {first}


@torch.jit.script
def second(x: torch.Tensor) -> torch.Tensor:
    return first(x) + 1


@torch.jit.script
def third(x: torch.Tensor, n: int) -> torch.Tensor:
    return x * {third}


SIZE = {size}
"""


def test_only_what_a_change_concerns_is_compiled_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled: list[str] = []
    check = worker.check_unsaved

    def watched(*given: Any) -> Any:
        checked = check(*given)
        compiled[:] = [function.name for function in checked.functions]
        return checked

    monkeypatch.setattr(worker, "check_unsaved", watched)

    def asked(**parts: str) -> tuple[list[str], list[str], int]:
        text = CHAIN.format(**{"first": "x", "third": "n", "size": "1", **parts})
        question = {"path": str(tmp_path / "chain.py"), "text": text}
        facts, functions = worker.answer(question)
        worker._keep(question, facts, functions)
        codes = [each["code"] for each in facts["diagnostics"]]
        return sorted(compiled), codes, len(facts["functions"])

    assert asked() == (["first", "second", "third"], [], 3)
    assert asked() == ([], [], 3)
    assert asked(third="(n + 1)") == (["third"], [], 3)
    assert asked(third="m") == (["third"], ["undefined-name"], 2)
    assert asked(third="m") == (["third"], ["undefined-name"], 2)
    assert asked() == (["third"], [], 3)
    assert asked(first="[x]") == (["first", "second"], ["no-matching-overload"], 2)
    assert asked() == (["first", "second"], [], 3)
    assert asked(size="2") == (["first", "second", "third"], [], 3)


def test_the_extension_asks_for_what_the_server_has() -> None:
    folder = ROOT / "editors" / "vscode"
    package = json.loads((folder / "package.json").read_text(encoding="utf-8"))
    script = (folder / "extension.js").read_text(encoding="utf-8")
    server = (ROOT / "rushlight" / "lsp" / "server.py").read_text(encoding="utf-8")
    for command in ("rushlight.graph", "rushlight.showGraph"):
        assert f'"{command}"' in script
        assert f'"{command}"' in server
    assert package["main"] == "./extension.js"
    assert '["-m", "rushlight", "lsp"]' in script


def test_texts_that_python_cannot_parse_have_no_outline() -> None:
    for text in ("1**" * 90_000 + "1", "[" * 90_000, "x = '\0'", "def f("):
        assert outline_of(text) is None


def test_names_that_may_be_meant_are_read_before_anything_is_asked() -> None:
    question = {"path": os.devnull + ".py", "text": worker._WARM}
    facts, _ = worker.answer(question)
    told = [each["code"] for each in facts["diagnostics"]]
    assert told == ["missing-attribute", "missing-attribute", "unknown-keyword", "undefined-name"]
