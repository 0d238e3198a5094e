"""The layers of `torch.ao.nn.quantizable`."""

from __future__ import annotations

from .activation import MultiheadAttention
from .rnn import LSTM, LSTMCell

__all__ = ["LSTM", "LSTMCell", "MultiheadAttention"]
