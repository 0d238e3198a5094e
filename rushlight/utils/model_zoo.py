"""`torch.utils.model_zoo`: the old name of what `torch.hub` does."""

from __future__ import annotations

from ..hub import load_state_dict_from_url, tqdm

__all__ = ["load_url", "tqdm"]

load_url = load_state_dict_from_url
