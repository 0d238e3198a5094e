"""Attacks on the language server and on `check`: messages that are none, texts and places far
outside, projects that hold pipes, devices and settings of another kind."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

from attacks_on_container import FAMILY
from harness import ROOT, Broken
from odd_commands import _command

__all__: list[str] = []

SCRIPT = "import rushlight as torch\n@torch.jit.script\ndef f(x):\n    return "
PATIENCE = 60.0


def _messages(stream: IO[bytes]) -> Iterator[Any]:
    length = 0
    while line := stream.readline():
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
        elif not line.strip():
            yield json.loads(stream.read(length))


class Editor:
    """What speaks with a language server, which must go on answering."""

    def __init__(self) -> None:
        self.server = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "rushlight", "lsp"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        self.told: queue.Queue[Any] = queue.Queue()
        self.count = 0
        threading.Thread(target=self._listen, daemon=True).start()
        self.say(id="first", method="initialize", params={"capabilities": {}, "processId": None})
        self.say(method="initialized", params={})

    def _listen(self) -> None:
        assert self.server.stdout is not None
        for message in _messages(self.server.stdout):
            self.told.put(message)
        self.told.put(None)

    def send(self, content: bytes) -> None:
        assert self.server.stdin is not None
        self.server.stdin.write(content)
        self.server.stdin.flush()

    def body(self, content: bytes) -> None:
        self.send(b"Content-Length: %d\r\n\r\n%b" % (len(content), content))

    def say(self, **message: Any) -> None:
        self.body(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def open(self, uri: str, text: str) -> None:
        document = {"uri": uri, "languageId": "python", "version": 1, "text": text}
        self.say(method="textDocument/didOpen", params={"textDocument": document})

    def heard(self, wanted: Callable[[Any], bool]) -> Any:
        while True:
            try:
                message = self.told.get(timeout=PATIENCE)
            except queue.Empty:
                raise Broken("the server answers no more") from None
            if message is None:
                raise Broken("the server has ended")
            if wanted(message):
                return message

    def check(self) -> None:
        """A new text is checked, and a question about it answered."""
        self.count += 1
        uri = f"file:///nowhere/{self.count}.py"
        self.open(uri, SCRIPT + "nothing\n")
        told = self.heard(lambda m: m.get("params", {}).get("uri") == uri)
        if [each["code"] for each in told["params"]["diagnostics"]] != ["undefined-name"]:
            raise Broken(f"another check than that of the text: {told}")
        place = {"line": 2, "character": 6}
        about = {"textDocument": {"uri": uri}, "position": place}
        self.say(id=self.count, method="textDocument/hover", params=about)
        self.heard(lambda m: m.get("id") == self.count)

    def close(self) -> None:
        self.server.kill()
        self.server.wait()


def _goes_on(acts: dict[str, Callable[[Editor], None]]) -> Callable[[], None]:
    """After each act the server answers as before."""

    def run() -> None:
        if find_spec("pygls") is None:
            return
        editor = Editor()
        try:
            editor.check()
            for name, act in acts.items():
                act(editor)
                try:
                    editor.check()
                except Broken as broken:
                    raise Broken(f"{name}: {broken}") from None
        finally:
            editor.close()

    return run


def _body(content: bytes) -> Callable[[Editor], None]:
    return lambda editor: editor.body(content)


def _sent(content: bytes) -> Callable[[Editor], None]:
    return lambda editor: editor.send(content)


NO_MESSAGES = {
    "half an object": _body(b'{"jsonrpc": "2.0", "id": 5, '),
    "a list": _body(b"[1, 2, 3]"),
    "null": _body(b"null"),
    "a text": _body(b'"x"'),
    "nothing in it": _body(b"{}"),
    "an id that is an object": _body(b'{"jsonrpc": "2.0", "id": {}, "method": "shutdown"}'),
    "a method that is a number": _body(b'{"jsonrpc": "2.0", "id": 9, "method": 5}'),
    "no such method": _body(b'{"jsonrpc": "2.0", "id": -3, "method": "no/such", "params": {}}'),
    "an answer that nobody asked for": _body(b'{"jsonrpc": "2.0", "id": "x", "result": {}}'),
    "latin-1": _body('{"jsonrpc": "2.0", "method": "größe"}'.encode("latin-1")),
    "UTF-16": _body('{"jsonrpc": "2.0", "method": "x"}'.encode("utf-16")),
    "zeros": _body(bytes(1000)),
    "lists 100,000 deep": _body(b"[" * 100_000 + b"]" * 100_000),
    "objects 100,000 deep": _body(b'{"a":' * 100_000 + b"1" + b"}" * 100_000),
    "a number of 10,000 digits": _body(b'{"id":' + b"9" * 10_000 + b"}"),
    "infinity": _body(b'{"jsonrpc": "2.0", "id": 1e999, "method": "x", "params": NaN}'),
    "lines that are no header": _sent(b"hello\r\n\r\n"),
    "a length of nothing": _sent(b"Content-Length: \r\n\r\n"),
    "a length of zero": _sent(b"Content-Length: 0\r\n\r\n"),
    "a length below zero": _sent(b"Content-Length: -5\r\n\r\n"),
    "a thousand headers": _sent(b"Content-Type: x\r\n" * 1000),
}
FAMILY.attack("editor: messages that are none", seconds=120.0, long=True)(_goes_on(NO_MESSAGES))


def _opened(uri: str, text: str = SCRIPT + "x\n") -> Callable[[Editor], None]:
    return lambda editor: editor.open(uri, text)


def _changed(start: tuple[int, int], end: tuple[int, int]) -> Callable[[Editor], None]:
    def act(editor: Editor) -> None:
        editor.open("file:///nowhere/changed.py", SCRIPT + "x\n")
        places = [{"line": line, "character": column} for line, column in (start, end)]
        change = {"range": dict(zip(("start", "end"), places, strict=True)), "text": "x"}
        document = {"uri": "file:///nowhere/changed.py", "version": 2}
        given = {"textDocument": document, "contentChanges": [change]}
        editor.say(method="textDocument/didChange", params=given)

    return act


FAR = {
    "a name that is no URI": _opened("http://[x"),
    "an empty name": _opened(""),
    "a name with NUL": _opened("file:///a%00b.py"),
    "a name of no letters": _opened("file:///%ff%fe.py"),
    "a name of half a letter": _opened("file:///\ud800.py"),
    "a name of 100,000 letters": _opened(f"file:///{'a' * 100_000}.py"),
    "a device": _opened("file:///dev/zero"),
    "half a letter": _opened("file:///nowhere/a.py", 's = "\ud800"\n'),
    "other ends of lines": _opened("file:///nowhere/a.py", (SCRIPT + "x\n").replace("\n", "\r")),
    "a coding of nobody's": _opened("file:///nowhere/a.py", "# coding: no-such\n"),
    "brackets 100,000 deep": _opened("file:///nowhere/a.py", "(" * 100_000),
    "a change far outside": _changed((9999, 9999), (2**31 - 1, 2**31 - 1)),
    "a change whose end is before it": _changed((3, 5), (0, 0)),
    "a change below nothing": _changed((-3, -5), (0, 0)),
    "a text that is closed, and never was open": lambda editor: editor.say(
        method="textDocument/didClose", params={"textDocument": {"uri": "file:///nowhere/b.py"}}
    ),
}
FAMILY.attack("editor: texts and places far outside", seconds=120.0, long=True)(_goes_on(FAR))


def _answering(content: str) -> Callable[[Editor], None]:
    """A program that writes to whatever is open, and ends."""
    lines = ["import os", "for descriptor in range(3, 64):", "    try:"]
    lines += [f"        os.write(descriptor, {content.encode()!r})", "    except OSError:"]
    return _opened("file:///nowhere/a.py", "\n".join([*lines, "        pass", "os._exit(0)\n"]))


def _facts(functions: object = (), **more: Any) -> str:
    told = {"code": "x", "severity": "error", "message": "", "notes": [], "fixes": []}
    told |= {"place": [0] * 4, "related": []}
    facts: Any = {"diagnostics": [told | more], "types": [], "inlays": [], "functions": []}
    return json.dumps([facts, functions])


ANSWERS = {
    "no JSON": _answering("garbage\n"),
    "a list": _answering("[[], []]"),
    "functions that are numbers": _answering(_facts([5])),
    "functions that are a number": _answering(_facts(5)),
    "notes that are numbers": _answering(_facts(notes=[5])),
    "a place at infinity": _answering(_facts(place=[1e999, 0, 0, 0])),
    "a place beyond what the protocol has": _answering(_facts(place=[2**40] * 4)),
    "a place of one number": _answering(_facts(place=[0])),
    "another file of half a letter": _answering(_facts(related=[["\ud800", [0] * 4, ""]])),
    "another file of another machine": _answering(_facts(related=[["//", [0] * 4, ""]])),
}
FAMILY.attack("editor: programs that answer in place of their check", seconds=120.0, long=True)(
    _goes_on(ANSWERS)
)


# --------------------------------------------------------------------------- projects


@FAMILY.attack("project: pipes, devices and circles in a folder", seconds=60.0)
def walked() -> None:
    Path("good.py").write_text(SCRIPT + "x\n")
    os.mkfifo("pipe.py")
    os.mkdir("folder.py")
    os.symlink("/dev/zero", "endless.py")
    os.symlink("circle.py", "circle.py")
    os.symlink("nothing", "hanging.py")
    os.symlink(".", "again")
    status, told = _command("check", ".")
    if (status, "1 file" in told) != (0, True):
        raise Broken(f"status {status}: {told[:300]}")


SETTINGS = {
    "lists 100,000 deep": "x = " + "[" * 100_000,
    "no letters": "\udcff\udcfe",
    "a setting of escapes": '[tool.rushlight]\n"\\u001b]0;evil\\u0007" = ["x"]\n',
    "a code of escapes": '[tool.rushlight]\nignore = ["\\u001b[31m\\u202e"]\n',
    "a path of escapes": '[tool.rushlight]\npaths = ["\\u001b[31m.py"]\n',
    "a path with NUL": '[tool.rushlight]\npaths = ["a\\u0000b"]\n',
    "a number": "[tool.rushlight]\npaths = 5\n",
    "a number of 5,000 digits": f"[tool.rushlight]\npaths = {'9' * 5000}\n",
    "no table": "tool = 5\n",
    "patterns of many stars": f'[tool.rushlight]\npaths = ["."]\nexclude = ["{"*a" * 200}b", "["]\n',
}


@FAMILY.attack("project: settings of another kind", seconds=60.0)
def settings() -> None:
    Path("a" * 200 + ".py").write_text(SCRIPT + "x\n")
    for name, content in SETTINGS.items():
        Path("pyproject.toml").write_text(content, "utf-8", "surrogateescape")
        status, told = _command("check")
        if not told.strip() or (status == 0) != ("stars" in name):
            raise Broken(f"{name}: status {status}, {told[:200]!r}")
        if bad := [c for c in told if c != "\n" and (not c.isprintable() or c == "\u202e")]:
            raise Broken(f"{name}: {bad[:5]} reached the terminal")
