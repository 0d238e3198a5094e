"""The language server: what the checking process finds out, in the words of the protocol.

Checks run in a thread, the newest text first; a question about a text waits for its check.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from .. import __version__
from .facts import Facts, no_facts
from .kept import Place, Told

__all__ = ["serve"]

PATIENCE = 5.0
"""Seconds that a question waits for the check of its text."""


class _Worker:
    """The process that checks; one that has ended is started anew."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, path: str, text: str) -> Facts:
        """The facts of a text; none if the process ends over it."""
        process = self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps({"path": path, "text": text}).encode() + b"\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except OSError:
            line = b""
        if not line:
            self.close()
            return no_facts()
        found: Facts = json.loads(line)
        return found

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "rushlight.lsp.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
        return self._process

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


@dataclass
class _Document:
    """A text of the editor's and what is known of it; `checked` says for which version."""

    uri: str
    text: str
    version: int
    facts: Facts = field(default_factory=no_facts)
    checked: int = -1

    @property
    def path(self) -> str:
        return to_fs_path(self.uri) or self.uri

    def place(self, place: Place) -> lsp.Range:
        """A place in the protocol's terms, which counts in units of UTF-16."""
        lines = self.text.split("\n")
        ends = (place[0], place[1]), (place[2], place[3])
        start, end = (lsp.Position(line, _units(lines, line, column)) for line, column in ends)
        return lsp.Range(start, end)

    def column(self, position: lsp.Position) -> tuple[int, int]:
        """The line, and the column in characters, of a position."""
        lines = self.text.split("\n")
        line = lines[position.line] if position.line < len(lines) else ""
        units = line.encode("utf-16-le", "surrogatepass")[: 2 * position.character]
        return position.line, len(units.decode("utf-16-le", errors="ignore"))


def _uri(path: str) -> str:
    """A file in the protocol's terms; its path, where that has half characters or is no path."""
    try:
        return from_fs_path(path) or path
    except ValueError:
        return path


def _units(lines: list[str], line: int, column: int) -> int:
    text = lines[line][:column] if line < len(lines) else ""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


class _Server:
    """The documents, the process that checks them and the connection to the editor."""

    def __init__(self) -> None:
        self.connection = LanguageServer("rushlight", __version__)
        self.documents: dict[str, _Document] = {}
        self.changed = threading.Condition()
        self.worker = _Worker()
        threading.Thread(target=self._check_all, name="rushlight-check", daemon=True).start()

    def put(self, uri: str, text: str, version: int) -> None:
        """Take a text, which is checked as soon as may be."""
        with self.changed:
            old = self.documents.get(uri)
            facts = old.facts if old is not None else no_facts()
            self.documents[uri] = _Document(uri, text, version, facts)
            self.changed.notify_all()

    def drop(self, uri: str) -> None:
        """Forget a text."""
        with self.changed:
            self.documents.pop(uri, None)
        self._publish(_Document(uri, "", 0))

    def known(self, uri: str) -> _Document | None:
        """A text with what is known of it, when it is checked; None if that takes too long."""
        with self.changed:
            found = self.documents.get(uri)
            if found is None:
                return None
            done = self.changed.wait_for(lambda: self._is_checked(uri), PATIENCE)
            return self.documents.get(uri) if done else None

    def _is_checked(self, uri: str) -> bool:
        document = self.documents.get(uri)
        return document is None or document.checked == document.version

    def _waiting(self) -> list[_Document]:
        return [d for d in self.documents.values() if d.checked != d.version]

    def _check_all(self) -> None:
        while True:
            with self.changed:
                self.changed.wait_for(self._waiting)
                document = self._waiting()[-1]
            facts = self.worker.ask(document.path, document.text)
            with self.changed:
                document.facts, document.checked = facts, document.version
                is_newest = self.documents.get(document.uri) is document
                self.changed.notify_all()
            if is_newest:
                self._publish(document)

    def _publish(self, document: _Document) -> None:
        found = [_diagnostic(document, each) for each in document.facts["diagnostics"]]
        parameters = lsp.PublishDiagnosticsParams(document.uri, found, document.version)
        self.connection.text_document_publish_diagnostics(parameters)


def _diagnostic(document: _Document, told: Told) -> lsp.Diagnostic:
    is_warning = told["severity"] == "warning"
    message = "\n".join([told["message"], *told["notes"]])
    related = [
        lsp.DiagnosticRelatedInformation(
            lsp.Location(_uri(path), _place_in(document, path, place)), text
        )
        for path, place, text in told["related"]
    ]
    return lsp.Diagnostic(
        range=document.place(told["place"]),
        message=message,
        severity=lsp.DiagnosticSeverity.Warning if is_warning else lsp.DiagnosticSeverity.Error,
        code=told["code"],
        source="rushlight",
        related_information=related,
    )


def _place_in(document: _Document, path: str, place: Place) -> lsp.Range:
    """A place of this or another file."""
    if path == document.path:
        return document.place(place)
    return lsp.Range(lsp.Position(place[0], place[1]), lsp.Position(place[2], place[3]))


def _holds(place: Place, line: int, column: int) -> bool:
    return (place[0], place[1]) <= (line, column) < (place[2], place[3])


def _size(place: Place) -> tuple[int, int]:
    return place[2] - place[0], place[3] - place[1]


SERVER = _Server()


def _opened(given: lsp.DidOpenTextDocumentParams) -> None:
    document = given.text_document
    SERVER.put(document.uri, document.text, document.version)


def _changed(given: lsp.DidChangeTextDocumentParams) -> None:
    uri, version = given.text_document.uri, given.text_document.version
    SERVER.put(uri, SERVER.connection.workspace.get_text_document(uri).source, version)


def _closed(given: lsp.DidCloseTextDocumentParams) -> None:
    SERVER.drop(given.text_document.uri)


def _hover(given: lsp.HoverParams) -> lsp.Hover | None:
    document = SERVER.known(given.text_document.uri)
    if document is None:
        return None
    line, column = document.column(given.position)
    found = [each for each in document.facts["types"] if _holds(each[0], line, column)]
    if not found:
        return None
    place, type, _ = min(found, key=lambda each: _size(each[0]))
    content = lsp.MarkupContent(lsp.MarkupKind.Markdown, f"```python\n{type}\n```")
    return lsp.Hover(content, document.place(place))


def _definition(given: lsp.DefinitionParams) -> lsp.Location | None:
    document = SERVER.known(given.text_document.uri)
    if document is None:
        return None
    line, column = document.column(given.position)
    found = [e for e in document.facts["types"] if e[2] and _holds(e[0], line, column)]
    if not found:
        return None
    _, _, target = min(found, key=lambda each: _size(each[0]))
    assert target is not None
    path, place = target
    return lsp.Location(_uri(path), _place_in(document, path, place))


def _actions(given: lsp.CodeActionParams) -> list[lsp.CodeAction]:
    document = SERVER.known(given.text_document.uri)
    found: list[lsp.CodeAction] = []
    for told in document.facts["diagnostics"] if document is not None else ():
        assert document is not None
        place = document.place(told["place"])
        if place.end.line < given.range.start.line or place.start.line > given.range.end.line:
            continue
        for fix in told["fixes"]:
            changes: dict[str, list[lsp.TextEdit]] = {}
            for path, where, text in fix["edits"]:
                edit = lsp.TextEdit(_place_in(document, path, where), text)
                uri = document.uri if path == document.path else _uri(path)
                changes.setdefault(uri, []).append(edit)
            found.append(
                lsp.CodeAction(
                    title=fix["title"],
                    kind=lsp.CodeActionKind.QuickFix,
                    diagnostics=[_diagnostic(document, told)],
                    is_preferred=fix["sure"],
                    edit=lsp.WorkspaceEdit(changes=changes),
                )
            )
    return found


def _inlays(given: lsp.InlayHintParams) -> list[lsp.InlayHint]:
    document = SERVER.known(given.text_document.uri)
    if document is None:
        return []
    wanted = range(given.range.start.line, given.range.end.line + 1)
    return [
        lsp.InlayHint(
            document.place([line, column, line, column]).start,
            f": {type}",
            lsp.InlayHintKind.Type,
        )
        for line, column, type in document.facts["inlays"]
        if line in wanted
    ]


def _lenses(given: lsp.CodeLensParams) -> list[lsp.CodeLens]:
    document = SERVER.known(given.text_document.uri)
    found = document.facts["functions"] if document is not None else []
    return [
        lsp.CodeLens(
            _place_in(document, document.path, place),
            lsp.Command(
                title="show graph",
                command="rushlight.showGraph",
                arguments=[document.uri, place[0]],
            ),
        )
        for place, _, _ in found
        if document is not None
    ]


def _graph(uri: str, line: int) -> str:
    """The graph of the function whose name is on a line."""
    document = SERVER.known(uri)
    found = document.facts["functions"] if document is not None else []
    return next((graph for place, _, graph in found if place[0] == line), "")


_TOLD: Final[dict[str, Callable[..., None]]] = {
    lsp.TEXT_DOCUMENT_DID_OPEN: _opened,
    lsp.TEXT_DOCUMENT_DID_CHANGE: _changed,
    lsp.TEXT_DOCUMENT_DID_CLOSE: _closed,
}
_ASKED: Final[dict[str, Callable[..., object]]] = {
    lsp.TEXT_DOCUMENT_HOVER: _hover,
    lsp.TEXT_DOCUMENT_DEFINITION: _definition,
    lsp.TEXT_DOCUMENT_CODE_ACTION: _actions,
    lsp.TEXT_DOCUMENT_INLAY_HINT: _inlays,
    lsp.TEXT_DOCUMENT_CODE_LENS: _lenses,
}


def serve() -> None:
    """Answer an editor over standard input and output until it ends."""
    connection = SERVER.connection
    for name, told in _TOLD.items():
        connection.feature(name)(told)
    for name, asked in _ASKED.items():  # in threads, since they may have to wait
        connection.feature(name)(connection.thread()(asked))
    connection.command("rushlight.graph")(connection.thread()(_graph))
    try:
        # which the connection closes
        connection.start_io(os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb"))
    finally:
        SERVER.worker.close()
