"""`torch.utils.tensorboard`: logs for TensorBoard, which need not be here to write them."""

from __future__ import annotations

from .records import RecordWriter
from .writer import FileWriter, SummaryWriter

__all__ = ["FileWriter", "RecordWriter", "SummaryWriter"]
