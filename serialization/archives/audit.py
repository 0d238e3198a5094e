"""What an archive could do, without running any of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field

from ...frontend.diagnostics.diagnostics import Collector
from ...frontend.syntax.from_text import module_trees
from ..files.container import ArchiveReader
from ..files.errors import ArchiveError, within_limits
from ..files.file_bytes import OpenedFile, Readable
from ..files.identify import MOBILE_FLATBUFFER
from ..files.limits import DEFAULT_LIMITS, Limits
from ..loading.archive_table import ARCHIVE_TABLE
from ..loading.operator_kinds import REFUSED, kind_of
from ..loading.unknown_operators import operators_in
from ..mobile.flatbuffer import is_flatbuffer, read_mobile_flatbuffer
from ..mobile.load import load_mobile
from ..pickles.nodes import class_names
from ..pickles.reader import read_record
from .load import load_archive

__all__ = ["Audit", "Finding", "SEVERITIES", "audit"]

SEVERITIES = ("note", "odd", "danger", "unreadable")
"""From harmless to worst: what is worth knowing, what no writer writes, what is refused when not
trusted, and what keeps the archive from being read at all."""

_RECORDS = re.compile(
    r"(data|constants|traced_inputs|bytecode|mobile_debug_handles|callstack_debug_map"
    r"|version|byteorder|producer_info\.json|model\.json|attributes|delegated_backends"
    r"|\.data|\.format_version|\.storage_alignment|archive_format)"
    r"([./].*)?$|(code|libs)/.*\.py(\.debug_pkl)?$|extra/.*|tensors/.*|backends/.*"
)


@dataclass(frozen=True, slots=True)
class Finding:
    """Something found: how bad it is, the code of the error if it is one, and what it is."""

    severity: str
    code: str
    text: str


@dataclass
class Audit:
    """All that was found; `operators` are the names used in any code of the archive, by kind."""

    title: str
    kind: str = ""
    findings: list[Finding] = field(default_factory=list)
    operators: dict[str, list[str]] = field(default_factory=dict)
    classes: list[str] = field(default_factory=list)
    records: int = 0

    def add(self, severity: str, code: str, text: str) -> None:
        """Note a finding."""
        finding = Finding(severity, code, text)
        if finding not in self.findings:
            self.findings.append(finding)

    @property
    def severity(self) -> str:
        """The worst there is; empty if nothing was found."""
        worst = max((SEVERITIES.index(f.severity) for f in self.findings), default=-1)
        return SEVERITIES[worst] if worst >= 0 else ""


def audit(source: Readable, title: str, limits: Limits = DEFAULT_LIMITS) -> Audit:
    """Look at everything in an archive.

    Raises:
        OSError: the file cannot be opened.
    """
    found = Audit(title)
    try:
        with closing(OpenedFile(source)) as file:
            look = _flatbuffer if is_flatbuffer(file) else _archive
            is_program, is_mobile = look(file, found, limits)
    except ArchiveError as error:
        _failed(found, error)
        return found
    _operators(found)
    try:
        if is_mobile:
            load_mobile(source, limits=limits, trusted=False, restores=False)
        if is_program:
            load_archive(source, limits=limits, trusted=False, restores=False)
    except ArchiveError as error:
        _failed(found, error)
    except RuntimeError as error:
        codes = [d.code for d in getattr(error, "diagnostics", ())]
        danger = "danger" if "unsafe-op" in codes or "limit-exceeded" in codes else "unreadable"
        found.add(danger, codes[0] if codes else "", _one_line(error))
    return found


@within_limits("the archive")
def _archive(file: OpenedFile, found: Audit, limits: Limits) -> tuple[bool, bool]:
    """Look at an archive; whether it is to be loaded as a program, and as a mobile module."""
    archive = ArchiveReader(file, limits)
    found.kind = archive.kind().description
    found.records = len(archive.entries)
    _container(archive, found)
    unread = _pickles(archive, found, limits)
    _code(_texts(archive, found, limits), found)
    is_mobile = "constants.pkl" not in archive and "bytecode.pkl" in archive
    needed = {"data.pkl", "bytecode.pkl" if is_mobile else "constants.pkl"}
    if unread & needed:  # loading would read them once more and say the same
        return False, False
    return not is_mobile, is_mobile


@within_limits("the archive")
def _flatbuffer(file: OpenedFile, found: Audit, limits: Limits) -> tuple[bool, bool]:
    """Look at a flatbuffer; the same."""
    contents = read_mobile_flatbuffer(file)
    found.kind = MOBILE_FLATBUFFER.description
    found.records = len(contents.code) + len(contents.extra)
    found.classes += class_names([contents.root()])
    if contents.extra:
        found.add("note", "", f"holds extra files: {', '.join(contents.extra)}")
    texts = ((f"code/{n.replace('.', '/')}.py", text) for n, text in contents.code.items())
    called = (name for function in contents.functions for name, _, _ in function.operators)
    _code(texts, found, called)
    return bool(contents.code), True


_DANGERS = frozenset({"unsafe-op", "unsafe-pickle", "limit-exceeded"})


def _failed(found: Audit, error: ArchiveError) -> None:
    for diagnostic in error.diagnostics:
        severity = "danger" if diagnostic.code in _DANGERS else "unreadable"
        found.add(severity, diagnostic.code, diagnostic.message)


def _one_line(error: Exception) -> str:
    diagnostics = getattr(error, "diagnostics", ())
    return diagnostics[0].message if diagnostics else str(error).strip().split("\n")[-1]


# --------------------------------------------------------------------------- the container


def _container(archive: ArchiveReader, found: Audit) -> None:
    for oddity in archive.oddities():
        found.add("odd", "", oddity)
    for record, entry in archive.entries.items():
        parts = record.split("/")
        if ".." in parts or "\\" in record or record.startswith("/") or "\0" in record:
            found.add("danger", "", f"record `{record}` is named like a path to other folders")
        elif not _RECORDS.match(record):
            found.add("odd", "", f"record `{record}` is none that PyTorch writes")
        if entry.method == 8 and entry.size > 1000 * max(entry.compressed, 1):
            found.add("odd", "", f"record `{record}` inflates to {entry.size} bytes")
        try:
            archive.check(record)
        except ArchiveError as error:
            _failed(found, error)
    extras = [r.removeprefix("extra/") for r in archive.records("extra/")]
    if extras:
        found.add("note", "", f"holds extra files: {', '.join(extras)}")


# --------------------------------------------------------------------------- data and code


def _pickles(archive: ArchiveReader, found: Audit, limits: Limits) -> set[str]:
    """Look at the pickles; the records that cannot be read."""
    unread = set()
    for record in ("data.pkl", "constants.pkl", "bytecode.pkl"):
        if record not in archive:
            continue
        try:
            root = read_record(archive, record, limits)
        except ArchiveError as error:
            _failed(found, error)
            unread.add(record)
            continue
        for name in class_names([root]):
            if name not in found.classes:
                found.classes.append(name)
    return unread


_CODE = ("code/", "libs/", ".data/ts_code/code/")


def _texts(archive: ArchiveReader, found: Audit, limits: Limits) -> Iterator[tuple[str, str]]:
    """The code files."""
    records = (r for folder in _CODE for r in archive.records(folder) if r.endswith(".py"))
    for record in records:
        if archive.size(record) > limits.code:
            found.add("danger", "limit-exceeded", f"`{record}` has {archive.size(record)} bytes")
            continue
        yield record, archive.read(record).decode("utf-8", "surrogateescape")


def _code(texts: Iterable[tuple[str, str]], found: Audit, operators: Iterable[str] = ()) -> None:
    """Look at code files; `operators` are used besides."""
    used = dict.fromkeys(operators)
    for record, text in texts:
        collector = Collector()
        for definition in module_trees(text, record, collector, None):
            used.update(dict.fromkeys(operators_in(definition)))
            for hidden in ("__setstate__", "__getstate__", "__enter__"):
                if any(m.name == hidden for m in getattr(definition, "methods", ())):
                    found.add("note", "", f"`{definition.name}` in `{record}` has a `{hidden}`")
        for diagnostic in collector.found:
            found.add("unreadable", diagnostic.code, f"`{record}`: {diagnostic.message}")
    for operator in sorted(used):
        kind = kind_of(operator, ARCHIVE_TABLE.has(operator))
        found.operators.setdefault(kind, []).append(operator)


def _operators(found: Audit) -> None:
    for kind, names in found.operators.items():
        listed = ", ".join(f"`{name}`" for name in names)
        if kind in REFUSED:
            found.add("danger", "unsafe-op", f"uses what {REFUSED[kind]}: {listed}")
        elif kind == "unknown":
            found.add("unreadable", "unknown-op", f"uses operators unknown here: {listed}")
        elif kind == "state":
            found.add("note", "", f"changes settings of the whole process: {listed}")
