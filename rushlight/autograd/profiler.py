"""`torch.autograd.profiler`: labelled blocks of code.  Labels are kept, nothing is measured."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Optional

__all__ = ["record_function"]


class record_function:
    """A block, or with `@record_function("label")` a function, with a label; also in script."""

    _jit_override_qualname = "__torch__.torch.autograd.profiler.record_function"

    def __init__(self, name: str, args: Optional[str] = None) -> None:  # noqa: UP045
        self.name: str = name
        self.args: Optional[str] = args  # noqa: UP045
        self.run_callbacks_on_exit: bool = True

    def __enter__(self):  # type: ignore[no-untyped-def]
        return self

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:  # read by script
        pass

    def __call__(self, function: Callable[..., object]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*args: object, **kwargs: object) -> Any:
            with record_function(self.name, self.args):
                return function(*args, **kwargs)

        return call

    __call__._torchscript_modifier = (  # type: ignore[attr-defined]
        "_drop (function is fully ignored, declaration can be unscriptable)"
    )
