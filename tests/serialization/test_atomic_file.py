"""Files that are written: whole or not at all, whatever happens to the process or the disk."""

from __future__ import annotations

import errno
import io
import os
import signal
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import rushlight as torch
from rushlight.serialization.files import atomic_file as module
from rushlight.serialization.files.atomic_file import atomic_file, write_all

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="POSIX files")


@pytest.fixture(params=["nameless", "named"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways to write: without a name, and with one where there is no such thing."""
    if request.param == "named":
        monkeypatch.setattr(module, "_NAMELESS", 0)
    return str(request.param)


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def write(path: object, content: bytes = b"new") -> None:
    with atomic_file(path) as file:  # type: ignore[arg-type]
        file.write(content)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_is_private_until_it_is_complete(way: str, tmp_path: Path) -> None:
    os.umask(0o027)
    with atomic_file(tmp_path / "f") as file:
        file.write(b"secret")
        file.flush()
        assert stat.S_IMODE(os.fstat(file.fileno()).st_mode) == 0o600
        assert len(os.listdir(tmp_path)) == (way == "named")
    assert mode_of(tmp_path / "f") == 0o640
    assert os.listdir(tmp_path) == ["f"]


def test_a_replaced_file_keeps_what_it_had(way: str, tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"old")
    path.chmod(0o604)
    owner = (12345, 54321) if os.geteuid() == 0 else (os.getuid(), os.getgid())
    os.chown(path, *owner)
    attributes = True
    try:
        os.setxattr(path, "user.origin", b"somewhere")
    except OSError:
        attributes = False  # not on this file system
    with atomic_file(path) as file:
        file.write(b"new")
        assert stat.S_IMODE(os.fstat(file.fileno()).st_mode) == 0o600
        assert path.read_bytes() == b"old"
    found = path.stat()
    assert (path.read_bytes(), mode_of(path)) == (b"new", 0o604)
    assert (found.st_uid, found.st_gid) == owner
    assert not attributes or os.getxattr(path, "user.origin") == b"somewhere"
    assert os.listdir(tmp_path) == ["f"]


def test_another_group_gets_no_more_than_everybody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: object) -> None:
        raise PermissionError(errno.EPERM, "no")

    path = tmp_path / "f"
    path.write_bytes(b"old")
    path.chmod(0o660)
    before = path.stat()
    other = os.stat_result((*before[:4], before.st_uid + 1, before.st_gid + 1, *before[6:]))
    monkeypatch.setattr(module, "_what_is_there", lambda name: other)
    monkeypatch.setattr(os, "fchown", refuse)
    write(path)
    assert mode_of(path) == 0o600


@pytest.mark.parametrize("name", ["n" * 255, "é" * 127, "caf\udce9.pt", b"caf\xe9.pt"])
def test_any_name_works(way: str, name: str | bytes, tmp_path: Path) -> None:
    path = os.path.join(os.fsencode(tmp_path), os.fsencode(name))
    for content in (b"one", b"two"):
        write(path if isinstance(name, bytes) else os.fsdecode(path), content)
        with open(path, "rb") as file:
            assert file.read() == content
    assert os.listdir(os.fsencode(tmp_path)) == [os.fsencode(name)]


def test_archives_of_any_name_load(tmp_path: Path) -> None:
    for name in ("caf\udce9.pt", "a\x1b[2J\n.pt", "n" * 252 + ".pt"):
        path = str(tmp_path / name)
        torch.save({"a": torch.ones(2)}, path)
        assert torch.load(path)["a"].tolist() == [1.0, 1.0]
        torch.jit.save(torch.jit.script(Doubled()), path)
        assert torch.jit.load(path)(torch.ones(1)).item() == 2.0


class Doubled(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2


def code_of(path: object) -> int | None:
    with pytest.raises(OSError) as caught:  # noqa: PT011
        write(path)
    assert caught.value.filename == os.fsdecode(path)  # type: ignore[arg-type]
    return caught.value.errno


def test_links_are_followed_to_their_end(way: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for target in ("there", "missing"):
        end = tmp_path / "folder" / target
        link, second = tmp_path / f"link-{target}", tmp_path / f"second-{target}"
        link.symlink_to(f"folder/{target}")
        second.symlink_to(link)
        if target == "there":
            end.write_bytes(b"old")
        write(second)
        assert (link.is_symlink(), second.is_symlink()) == (True, True)
        assert end.read_bytes() == b"new"


def test_what_cannot_be_written_is_told(way: str, tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    assert code_of(tmp_path / "a") == errno.ELOOP
    assert code_of(tmp_path) == errno.EISDIR
    assert code_of(tmp_path / "none" / "f") == errno.ENOENT
    assert code_of("") == errno.ENOENT
    assert code_of("a\0b") == errno.EINVAL
    (tmp_path / "file").write_bytes(b"old")
    assert code_of(tmp_path / "file" / "f") == errno.ENOTDIR
    assert code_of(tmp_path / ("n" * 256)) == errno.ENAMETOOLONG
    assert sorted(os.listdir(tmp_path)) == ["a", "b", "file"]


def test_pipes_and_devices_are_written_directly(tmp_path: Path) -> None:
    write("/dev/null")
    with pytest.raises(OSError) as caught:  # noqa: PT011
        write("/dev/full")
    assert caught.value.errno == errno.ENOSPC
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert code_of(pipe) == errno.ENXIO  # nobody reads
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write(pipe)
    assert os.read(reader, 10) == b"new"
    os.close(reader)


def drop_rights() -> None:
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)


def in_child(*actions: Callable[[], object]) -> int:
    """The exit status of a process that does something: the number of its error."""
    child = os.fork()
    if child == 0:
        try:
            for action in actions:
                action()
            os._exit(0)
        except OSError as error:
            os._exit(error.errno or 255)
        finally:
            os._exit(254)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_rights_are_heeded(way: str, tmp_path: Path) -> None:
    above = Path(tempfile.gettempdir()).resolve()
    for folder in (tmp_path, *(each for each in tmp_path.parents if above in each.parents)):
        folder.chmod(0o755)
    open_folder = tmp_path / "open"
    open_folder.mkdir()
    open_folder.chmod(0o777)
    path = open_folder / "kept"
    path.write_bytes(b"old")
    path.chmod(0o444)
    assert in_child(drop_rights, lambda: write(path)) == errno.EACCES
    assert path.read_bytes() == b"old"
    if os.geteuid() == 0:
        assert in_child(drop_rights, lambda: write(tmp_path / "f")) == errno.EACCES
    open_folder.chmod(0o333)  # can be written, not listed
    assert in_child(drop_rights, lambda: write(open_folder / "f")) == 0
    open_folder.chmod(0o777)
    assert sorted(os.listdir(open_folder)) == ["f", "kept"]


@pytest.mark.parametrize("before", [None, b"old"])
def test_a_full_disk_leaves_what_was_there(way: str, before: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "f"
    if before is not None:
        path.write_bytes(before)

    def fill() -> None:
        import resource

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        torch.save({"a": torch.ones(1_000_000)}, path)

    assert in_child(fill) == errno.EFBIG
    assert os.listdir(tmp_path) == ([] if before is None else ["f"])
    assert before is None or path.read_bytes() == before


KILLED = """
import os, sys
from rushlight.serialization.files import atomic_file as module
if sys.argv[2] == "named":
    module._NAMELESS = 0
if sys.argv[2] == "linked":  # killed between its name and its place
    os.replace = lambda *a, **k: os.kill(os.getpid(), 9)
with module.atomic_file(sys.argv[1]) as file:
    file.write(b"half")
    file.flush()
    if sys.argv[2] != "linked":
        os.kill(os.getpid(), 9)
"""


@pytest.mark.parametrize("where", ["nameless", "named", "linked"])
def test_a_killed_write_leaves_nothing_for_ever(where: str, tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"old")
    status = subprocess.run([sys.executable, "-c", KILLED, str(path), where]).returncode
    assert status == -signal.SIGKILL
    assert path.read_bytes() == b"old"
    assert len(os.listdir(tmp_path)) == (1 if where == "nameless" else 2)
    write(tmp_path / "other")
    assert sorted(os.listdir(tmp_path)) == ["f", "other"]


def test_only_what_is_abandoned_and_ours_is_swept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_NAMELESS", 0)
    others = [".rl-0123456789ab.tmp.pt", ".rl-0123456789AB.tmp", "x.rl-0123456789ab.tmp"]
    for name in others:
        (tmp_path / name).write_bytes(b"kept")
    (tmp_path / ".rl-000000000000.tmp").symlink_to(others[0])
    os.mkfifo(tmp_path / ".rl-111111111111.tmp")
    with atomic_file(tmp_path / "slow") as file:
        file.write(b"slow")
        write(tmp_path / "fast")
    assert (tmp_path / "slow").read_bytes() == b"slow"
    kept = {".rl-000000000000.tmp", ".rl-111111111111.tmp", "slow", "fast", *others}
    assert set(os.listdir(tmp_path)) == kept


def test_one_of_several_writers_wins(way: str, tmp_path: Path) -> None:
    path = tmp_path / "f"
    contents = [bytes([n]) * 300_000 for n in range(8)]
    seen: list[bytes] = []

    def work(content: bytes) -> None:
        for _ in range(5):
            write(path, content)
            seen.append(path.read_bytes())

    threads = [threading.Thread(target=work, args=(content,)) for content in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 40
    assert set(seen) <= set(contents)
    assert os.listdir(tmp_path) == ["f"]


# -- file objects


class Short(io.RawIOBase):
    """Takes a little at a time, and nothing beyond a limit."""

    def __init__(self, limit: int = 1 << 40) -> None:
        self.taken = bytearray()
        self.limit = limit

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int | None:  # type: ignore[override]
        part = bytes(data)[: min(1000, self.limit - len(self.taken))]  # type: ignore[call-overload]
        self.taken += part
        return len(part) if part else None


def test_all_is_written_to_a_file_that_takes_little() -> None:
    values = {"a": torch.arange(5000)}
    sink, whole = Short(), io.BytesIO()
    torch.save(values, sink)
    torch.save(values, whole)
    assert bytes(sink.taken) == whole.getvalue()
    torch.jit.save(torch.jit.script(Doubled()), sink := Short())
    assert torch.jit.load(io.BytesIO(sink.taken))(torch.ones(1)).item() == 2.0
    with pytest.raises(BlockingIOError):
        torch.save(values, Short(5000))


def test_what_an_object_says_of_its_writing() -> None:
    class Silent:
        def write(self, data: bytes) -> None:
            self.taken = bytes(data)

    silent = Silent()
    write_all(silent, b"abc")  # type: ignore[arg-type]
    assert silent.taken == b"abc"
