"""`torch.utils.tensorboard`: writing of logs for TensorBoard, which is not here."""

from __future__ import annotations

from ..refused_names import refusing

try:
    import tensorboard  # type: ignore[import-not-found,import-untyped,unused-ignore]
except ImportError as error:
    raise ModuleNotFoundError("No module named 'tensorboard'", name="tensorboard") from error

_NAMES = "FileWriter SummaryWriter"
__all__ = _NAMES.split()
_REFUSED: dict[str, object] = refusing(
    __name__, _NAMES, "rushlight writes no logs for TensorBoard; tensorboardX does"
)
globals().update(_REFUSED)
_FOUND = tensorboard
