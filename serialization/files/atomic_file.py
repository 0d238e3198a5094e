"""Files that are written whole or not at all.

What is written goes into a file without a name, readable by its owner alone, and gets its name when
it is complete and on the disk; killed before that, nothing is left.  Replacing a file needs a name
beside it for a moment, and some file systems have no nameless files: such a name is locked by its
writer, and the next writer in the folder removes those whose lock is free.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import re
import secrets
import stat
from collections.abc import Iterator
from typing import IO, BinaryIO

from typing_extensions import TypeIs

from .errors import NoDirectory

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

__all__ = ["FilePath", "atomic_file", "is_path", "write_all"]

FilePath = str | bytes | os.PathLike[str] | os.PathLike[bytes]

_TEMPORARY = re.compile(r"\.rl-[0-9a-f]{12}\.tmp")
_DIRECTORY = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0)
_NAMELESS = getattr(os, "O_TMPFILE", 0)
_NO_NAMELESS = {errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT, errno.EINVAL}
"""What systems say that have no files without a name."""
_BINARY = getattr(os, "O_BINARY", 0)
_HAS_FOLDERS = os.open in os.supports_dir_fd
"""Whether names can be looked up in an opened folder, as everywhere but on Windows."""


def is_path(file: object) -> TypeIs[FilePath]:
    """Whether a file is given by its name, and not as an object to write to."""
    return isinstance(file, str | bytes | os.PathLike)


def write_all(file: IO[bytes], data: bytes | memoryview) -> None:
    """Write all of `data`, however little the file takes at once.

    Raises:
        OSError: the file takes no more; some of it may be written.
    """
    view = memoryview(data).cast("B")
    while len(view):
        count: object = file.write(view)
        if count is None and isinstance(file, io.RawIOBase):
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        if not isinstance(count, int) or isinstance(count, bool) or not 0 <= count < len(view):
            return  # not all that can be written to says how much it took
        if count == 0:
            raise OSError(errno.EIO, "the file takes no more")
        view = view[count:]


@contextlib.contextmanager
def atomic_file(path: FilePath) -> Iterator[BinaryIO]:
    """A file to write, which takes its place at `path` when the block ends without an error.

    A link is followed.  A file that is there keeps its mode, and its owner, group, attributes and
    access list where the system lets us; a new one gets the mode that any new file gets.  Until
    then only its owner can read it.  Pipes and devices are written directly.

    Raises:
        OSError: the file cannot be written; what was there before is as it was.
    """
    name = os.fsdecode(path)
    if "\0" in name:
        raise OSError(errno.EINVAL, "a NUL in the name of a file", name)
    with contextlib.ExitStack() as stack:
        with _told_by(name):
            found = _what_is_there(name)
            if found is not None and not stat.S_ISREG(found.st_mode):
                file: BinaryIO = stack.enter_context(open(name, "wb", opener=_opened_at_once))
                new = None
            else:
                new = _NewFile(os.path.realpath(name), found)
                stack.callback(new.close)
                file = new.file
        yield file
        if new is not None:
            with _told_by(name):
                new.publish()


@contextlib.contextmanager
def _told_by(name: str) -> Iterator[None]:
    """Let errors speak of the name that was given, and not of our own names."""
    try:
        yield
    except OSError as error:
        folder = os.path.dirname(name)
        if isinstance(error, FileNotFoundError) and folder and not os.path.lexists(folder):
            raise NoDirectory(error.errno, error.strerror, name) from None
        raise type(error)(error.errno, error.strerror, name) from None


def _what_is_there(name: str) -> os.stat_result | None:
    """The state of the file at the end of all links; None if there is none.

    Raises:
        OSError: it must not be replaced, or links lead to each other.
    """
    try:
        found = os.stat(name)
    except FileNotFoundError:
        if os.path.basename(name):
            return None
        raise
    code = 0
    if stat.S_ISDIR(found.st_mode):
        code = errno.EISDIR
    elif not os.access(name, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        code = errno.EACCES  # as when it was opened to be written
    if code:
        raise OSError(code, os.strerror(code))
    return found


def _opened_at_once(path: str, flags: int) -> int:
    """Open a pipe without waiting for a reader: that there is none is an error."""
    without_waiting = getattr(os, "O_NONBLOCK", 0)
    descriptor = os.open(path, flags & ~os.O_CREAT & ~os.O_TRUNC | without_waiting)
    if without_waiting:
        os.set_blocking(descriptor, True)
    return descriptor


class _NewFile:
    """A file being written that has no name yet, or a name that only we use.

    `target` is where it goes, `before` what is there.
    """

    def __init__(self, target: str, before: os.stat_result | None) -> None:
        self.folder_name, self.name = os.path.split(target)
        self.before = before
        self.temporary = ""
        self.fresh_mode = 0o600
        self.descriptor = -1
        self.file: BinaryIO = io.BytesIO()  # until there is one
        self.folder: int | None = None
        if _HAS_FOLDERS:
            self.folder = os.open(self.folder_name, _DIRECTORY)
        try:
            self._sweep()
            self.descriptor = self._nameless() if _has_nameless() else -1
            if self.descriptor < 0:
                self.descriptor = self._named()
            self.file = os.fdopen(self.descriptor, "wb", closefd=False)
        except BaseException:
            self.close()
            raise

    # -- names in the folder

    def _place(self, name: str) -> str:
        return name if self.folder is not None else os.path.join(self.folder_name, name)

    def _open(self, name: str, flags: int, mode: int = 0o600) -> int:
        return os.open(self._place(name), flags | _BINARY, mode, dir_fd=self.folder)

    def _remove(self, name: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._place(name), dir_fd=self.folder)

    def _sweep(self) -> None:
        """Remove what writers left that were killed."""
        try:
            with os.scandir(self.folder_name) as entries:
                old = [entry.name for entry in entries if _TEMPORARY.fullmatch(entry.name)]
        except OSError:
            return  # folders can be written that cannot be listed
        for name in old:
            with contextlib.suppress(OSError):  # another writer was faster, or it is not ours
                descriptor = self._open_old(name)
                try:
                    if _is_abandoned(descriptor):
                        self._remove(name)
                finally:
                    os.close(descriptor)

    def _open_old(self, name: str) -> int:
        flags = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        try:
            return self._open(name, os.O_RDWR | flags)  # locks want it, over a network
        except PermissionError:
            return self._open(name, os.O_RDONLY | flags)

    # -- making it

    def _nameless(self) -> int:
        try:
            # made with the mode it will have, as the system alone knows umask and default lists
            descriptor = os.open(self.folder_name, _NAMELESS | os.O_RDWR, 0o666)
        except OSError as error:
            if error.errno in _NO_NAMELESS and os.path.isdir(self.folder_name):
                return -1
            raise
        self.fresh_mode = os.fstat(descriptor).st_mode & 0o777
        os.fchmod(descriptor, 0o600)
        _lock(descriptor)
        return descriptor

    def _named(self) -> int:
        probe = self._new_name()
        descriptor = self._open(probe, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        self.fresh_mode = os.fstat(descriptor).st_mode & 0o777
        os.close(descriptor)
        self._remove(probe)
        while True:
            self.temporary = self._new_name()
            descriptor = self._open(self.temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL)
            _lock(descriptor)
            if os.fstat(descriptor).st_nlink:
                return descriptor
            os.close(descriptor)  # swept between its making and its lock

    def _new_name(self) -> str:
        return f".rl-{secrets.token_hex(6)}.tmp"

    # -- its end

    def publish(self) -> None:
        """Give it its name."""
        self.file.flush()
        if hasattr(os, "fchmod"):
            self._dress()
        os.fsync(self.descriptor)
        if not self.temporary and not (self.before is None and self._link(self.name)):
            self.temporary = self._new_name()
            if not self._link(self.temporary):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), self.temporary)
        if self.temporary:
            if not _HAS_FOLDERS:
                self._close_file()  # Windows renames closed files only
            source, target = self._place(self.temporary), self._place(self.name)
            os.replace(source, target, src_dir_fd=self.folder, dst_dir_fd=self.folder)
            self.temporary = ""
        _sync_folder(self.folder_name)

    def _link(self, name: str) -> bool:
        """Give a nameless file a name; False if there is such a file."""
        try:
            source = f"/proc/self/fd/{self.descriptor}"
            os.link(source, name, src_dir_fd=self.folder, dst_dir_fd=self.folder)
        except FileExistsError:
            return False
        return True

    def close(self) -> None:
        """Let go of everything; what has no name by now is gone."""
        self._close_file()
        if self.temporary:
            self._remove(self.temporary)
        if self.folder is not None:
            os.close(self.folder)
            self.folder = None

    def _close_file(self) -> None:
        with contextlib.suppress(OSError):  # after a failure nobody wants what it still buffers
            self.file.close()
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1

    # -- what it takes over

    def _dress(self) -> None:
        """Give it the mode it is to have, and what else the file it replaces has, as far as the
        system lets us."""
        if self.before is None:
            os.fchmod(self.descriptor, self.fresh_mode)
            return
        os.fchmod(self.descriptor, self._take_owner(self.before))
        if hasattr(os, "listxattr"):
            self._take_attributes(os.path.join(self.folder_name, self.name))

    def _take_owner(self, before: os.stat_result) -> int:
        """Take over owner and group; the mode for those that it has then."""
        mode = before.st_mode & 0o777
        now = os.fstat(self.descriptor)
        if (now.st_uid, now.st_gid) == (before.st_uid, before.st_gid):
            return mode
        for owner in (before.st_uid, -1):
            with contextlib.suppress(OSError):
                os.fchown(self.descriptor, owner, before.st_gid)
                return mode
        return mode & 0o707 | (mode & 0o007) << 3  # another group gets what everybody gets

    def _take_attributes(self, target: str) -> None:
        with contextlib.suppress(OSError):  # a file system without them, or without ours
            for name in os.listxattr(target):
                if name.startswith(("user.", "system.posix_acl_")):
                    os.setxattr(self.descriptor, name, os.getxattr(target, name))


def _lock(descriptor: int) -> None:
    """Say that the file is being written, for as long as it is open."""
    if fcntl is not None:
        with contextlib.suppress(OSError):  # not all file systems have locks: nobody sweeps then
            fcntl.flock(descriptor, fcntl.LOCK_EX)


def _is_abandoned(descriptor: int) -> bool:
    """Whether a temporary file is ours, and its writer is gone."""
    found = os.fstat(descriptor)
    if fcntl is None or not stat.S_ISREG(found.st_mode) or os.geteuid() not in (0, found.st_uid):
        return False
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return True


def _has_nameless() -> bool:
    return _HAS_FOLDERS and _NAMELESS != 0 and os.path.isdir("/proc/self/fd")


def _sync_folder(folder: str) -> None:
    """Make the new name last through a power failure, where folders can be synced."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        with contextlib.suppress(OSError):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
