"""`torch._dynamo.eval_frame`: the class of what `torch.compile` makes of modules."""

from __future__ import annotations

from typing import Any, Final

from ..nn.modules.module import Module

__all__ = ["OptimizedModule", "is_dynamo_supported"]


def is_dynamo_supported() -> bool:
    """Whether torch's compiler of Python's byte code is there: no."""
    return False


class OptimizedModule(Module):
    """A module around another, which runs as it is written.

    Packages ask for this class and for `_orig_mod`, and names in state dicts begin with it.  What
    is read and written is the module's own, hooks apart; `torch.jit.script` compiles that module.
    """

    _orig_mod: Module

    _OWN: Final = frozenset({"_orig_mod", "_torchdynamo_orig_callable", "forward"})

    def __init__(self, mod: Module, dynamo_ctx: object = None) -> None:
        super().__init__()
        self._orig_mod = mod
        self.__dict__["dynamo_ctx"] = dynamo_ctx
        del self.__dict__["training"]

    def forward(self, *args: object, **kwargs: object) -> Any:
        """What the module gives."""
        return self._orig_mod(*args, **kwargs)

    @property
    def _torchdynamo_orig_callable(self) -> Module:
        return self._orig_mod

    @property
    def training(self) -> bool:
        """Whether the module is in training."""
        return self._orig_mod.training

    @training.setter
    def training(self, value: bool) -> None:
        self._orig_mod.training = value

    def __prepare_scriptable__(self) -> Module:
        return self._orig_mod

    def __len__(self) -> int:
        """The module's length, if it has one.

        Raises:
            TypeError: it has none.
        """
        return len(self._orig_mod)

    def __getattr__(self, name: str) -> Any:
        inner = self.__dict__.get("_modules", {}).get("_orig_mod")
        if inner is None or name == "_orig_mod":
            return super().__getattr__(name)
        return getattr(inner, name)

    def __setattr__(self, name: str, value: object) -> None:
        if name in self._OWN or name in self.__dict__ or "_orig_mod" not in self._modules:
            super().__setattr__(name, value)
        else:
            setattr(self._orig_mod, name, value)

    def __delattr__(self, name: str) -> None:
        if name in self._OWN or name in self.__dict__:
            super().__delattr__(name)
        else:
            delattr(self._orig_mod, name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(self._orig_mod)})
