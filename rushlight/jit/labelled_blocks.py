"""`record_function` as scripted code sees it, with torch's fields and methods."""

from __future__ import annotations

from typing import Any, Optional

from .. import ops
from ..ops.python_values.labels import Label
from .decorators import annotate

__all__ = ["record_function"]


class record_function:
    """A block with a label."""

    _jit_override_qualname = "__torch__.torch.autograd.profiler.record_function"

    def __init__(self, name: str, args: Optional[str] = None) -> None:  # noqa: UP045
        self.name: str = name
        self.args: Optional[str] = args  # noqa: UP045
        self.run_callbacks_on_exit: bool = True
        self.record = annotate(Optional[Label], None)  # noqa: UP045

    def __enter__(self):  # type: ignore[no-untyped-def]
        self.record = ops.profiler._record_function_enter_new(self.name, self.args)
        return self

    # scripts ask for Any
    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        record = self.record
        if record is not None:
            ops.profiler._record_function_exit(record)  # type: ignore[unreachable]
