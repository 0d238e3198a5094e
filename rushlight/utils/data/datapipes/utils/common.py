"""What pipes of several kinds ask of functions, files and streams."""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatch
from functools import partial
from importlib.util import find_spec
from io import IOBase
from typing import Any, ClassVar, NoReturn, TypeVar

__all__ = [
    "StreamWrapper",
    "get_file_binaries_from_pathnames",
    "get_file_pathnames_from_root",
    "match_masks",
    "validate_input_col",
    "validate_pathname_binary_tuple",
]

T = TypeVar("T")


def validate_input_col(fn: Callable[..., object], input_col: object) -> None:
    """Check that a function can be called with the columns of a sample.

    Args:
        fn: the function; one whose signature Python does not know is taken as it is.
        input_col: the number or key of a column, a list or tuple of several, or None: the sample.

    Raises:
        ValueError: it takes fewer or more arguments, or needs keywords.
    """
    try:
        signature = inspect.signature(fn)
    except ValueError:
        return
    wanted = len(input_col) if isinstance(input_col, list | tuple) else 1
    kinds = inspect.Parameter
    parameters = list(signature.parameters.values())
    placed = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    keywords = [p for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is p.empty]
    inner = fn.func if isinstance(fn, partial) else fn
    name = getattr(inner, "__name__", repr(inner))
    if keywords:
        raise ValueError(
            f"The function {name} takes {len(keywords)} non-default keyword-only parameters, which "
            "is not allowed."
        )
    takes_more = any(p.kind is kinds.VAR_POSITIONAL for p in parameters)
    too_few = len(placed) < wanted and not takes_more
    if too_few or any(p.default is p.empty for p in placed[wanted:]):
        short = len(parameters) < wanted
        told = f"{len(parameters)}" if short else f"{len(placed)} positional"
        raise ValueError(f"The function {name} takes {told} parameters, but {wanted} are required.")


def checked_function(fn: T) -> T:
    """A function, with a warning if pickle could not write it.

    Raises:
        TypeError: it is none.
    """
    if not callable(fn):
        raise TypeError(f"A callable function is expected, but {type(fn)} is provided.")
    inner = fn.func if isinstance(fn, partial) else fn
    code = getattr(inner, "__code__", None)
    if code is not None:
        local = bool(code.co_flags & inspect.CO_NESTED)
    else:
        named = inner if hasattr(inner, "__qualname__") else type(inner)
        local = "<locals>" in named.__qualname__
    is_lambda = getattr(inner, "__name__", "") == "<lambda>"
    if (local or is_lambda) and find_spec("dill") is None:
        warnings.warn(
            f"{'Local' if local else 'Lambda'} function is not supported by pickle, please use "
            "regular python function or functools.partial instead.",
            stacklevel=3,
        )
    return fn


def length_of(pipe: object, sources: Iterable[Any]) -> list[int]:
    """How many samples the sources of a pipe have.

    Raises:
        TypeError: one of them does not know; the pipe is named.
    """
    sources = list(sources)
    if not all(hasattr(type(source), "__len__") for source in sources):
        raise without_length(pipe)
    return [len(source) for source in sources]


def without_length(pipe: object) -> TypeError:
    """What a pipe that cannot know its length raises."""
    return TypeError(f"{type(pipe).__name__} instance doesn't have valid length")


def match_masks(name: str, masks: str | list[str]) -> bool:
    """Whether a file's name fits a pattern, or one of several; every name fits no pattern."""
    return not masks or any(
        fnmatch(name, m) for m in ([masks] if isinstance(masks, str) else masks)
    )


def get_file_pathnames_from_root(
    root: str,
    masks: str | list[str],
    recursive: bool = False,
    abspath: bool = False,
    non_deterministic: bool = False,
) -> Iterator[str]:
    """The paths of the files in a folder, or of a file.

    Args:
        masks: patterns of their names.
        recursive: files in folders below it as well.
        abspath: give whole paths.
        non_deterministic: in the order of the file system; otherwise they are sorted.

    Raises:
        OSError: the folder cannot be read; a warning says which.
    """

    def unreadable(error: OSError) -> NoReturn:
        warnings.warn(f"{error.filename} : {error.strerror}", stacklevel=2)
        raise error

    if os.path.isfile(root):
        if match_masks(os.path.basename(root), masks):
            yield os.path.abspath(root) if abspath else root
        return
    for folder, below, files in os.walk(root, onerror=unreadable):
        if not non_deterministic:
            files.sort()
            below.sort()
        start = os.path.abspath(folder) if abspath else folder
        yield from (os.path.join(start, name) for name in files if match_masks(name, masks))
        if not recursive:
            return


def get_file_binaries_from_pathnames(
    pathnames: object, mode: str, encoding: str | None = None
) -> Iterator[tuple[str, StreamWrapper]]:
    """Paths, each with its open file.

    Args:
        pathnames: the paths, or one thing that is none.
        mode: as of `open`; `"b"` and `"t"` stand for `"rb"` and `"rt"`.

    Raises:
        TypeError: a path is no text.
    """
    mode = f"r{mode}" if mode in ("b", "t") else mode
    for path in pathnames if isinstance(pathnames, Iterable) else [pathnames]:
        if not isinstance(path, str):
            raise TypeError(f"Expected string type for pathname, but got {type(path)}")
        # Who reads it closes it.
        yield path, StreamWrapper(open(path, mode, encoding=encoding))  # noqa: SIM115


def validate_pathname_binary_tuple(data: object) -> None:
    """Check that something is a path with a stream.

    Raises:
        TypeError: it is not.
    """
    if not isinstance(data, tuple):
        raise TypeError(f"pathname binary data should be tuple type, but it is type {type(data)}")
    if len(data) != 2:
        raise TypeError(f"pathname binary stream tuple length should be 2, but got {len(data)}")
    path, stream = data
    if not isinstance(path, str):
        raise TypeError(
            "pathname within the tuple should have string type pathname, but it is type "
            f"{type(path)}"
        )
    if not isinstance(stream, IOBase | StreamWrapper):
        raise TypeError(
            "binary stream within the tuple should have IOBase orits subclasses as type, but it is "
            f"type {type(stream)}"
        )


class StreamWrapper:
    """A stream that is closed when nobody holds it, or when the last stream made of it is.

    Args:
        file_obj: the stream.
        parent_stream: the one that it was made of.
        name: what it is called when it is printed.

    Raises:
        RuntimeError: the parent is none of these.
    """

    session_streams: ClassVar[dict[StreamWrapper, int]] = {}
    debug_unclosed_streams = False

    def __init__(
        self, file_obj: Any, parent_stream: StreamWrapper | None = None, name: str | None = None
    ) -> None:
        self.file_obj, self.name = file_obj, name
        self.child_counter, self.parent_stream = 0, parent_stream
        self.close_on_last_child, self.closed = False, False
        if parent_stream is not None:
            if not isinstance(parent_stream, StreamWrapper):
                raise RuntimeError(
                    f"Parent stream should be StreamWrapper, {type(parent_stream)} was given"
                )
            parent_stream.child_counter += 1
        if StreamWrapper.debug_unclosed_streams:
            StreamWrapper.session_streams[self] = 1

    @classmethod
    def close_streams(cls, v: object, depth: int = 0) -> None:
        """Close the streams in something, ten levels of lists, tuples and dicts deep."""
        if isinstance(v, StreamWrapper):
            v.close()
        elif depth < 10 and isinstance(v, dict | list | tuple):
            for each in v.values() if isinstance(v, dict) else v:
                cls.close_streams(each, depth + 1)

    def __getattr__(self, name: str) -> Any:
        if name not in self.__dict__ and "file_obj" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self.__dict__["file_obj"], name)

    def close(self, *args: object, **kwargs: object) -> None:
        """Close the stream, and its parent if that only waits for this one."""
        if self.__dict__.get("closed", True):
            return
        if StreamWrapper.debug_unclosed_streams:
            StreamWrapper.session_streams.pop(self, None)
        parent = self.parent_stream
        if parent is not None:
            parent.child_counter -= 1
            if not parent.child_counter and parent.close_on_last_child:
                parent.close()
        if hasattr(self.file_obj, "close"):
            self.file_obj.close(*args, **kwargs)
        self.closed = True

    def autoclose(self) -> None:
        """Close it as soon as no stream made of it is open."""
        self.close_on_last_child = True
        if not self.child_counter:
            self.close()

    def __dir__(self) -> list[str]:
        return sorted({*self.__dict__, *StreamWrapper.__dict__, *dir(self.file_obj)})

    def __del__(self) -> None:
        self.close()

    def __iter__(self) -> Iterator[object]:
        yield from self.file_obj

    def __next__(self) -> Any:
        return next(self.file_obj)

    def __repr__(self) -> str:
        named = "" if self.name is None else f"{self.name},"
        return f"StreamWrapper<{named}{self.file_obj!r}>"

    def __getstate__(self) -> object:
        return self.file_obj

    def __setstate__(self, obj: object) -> None:
        self.__init__(obj)  # type: ignore[misc]
