"""Write what PyTorch says of loaded archives; run in this folder with a Python that has torch 2.13:

python record.py > expected.txt
"""

from __future__ import annotations

import io

import callers
import torch

for name in ("Calls", "Deep", "Refuses", "Leaves"):
    buffer = io.BytesIO()
    torch.jit.save(torch.jit.script(getattr(callers, name)()), buffer)
    buffer.seek(0)
    loaded = torch.jit.load(buffer)
    try:
        loaded(torch.ones(2), torch.ones(3))
    except Exception as error:
        text = str(error)
    print(f"==== {name}\n{loaded.graph}---- inlined\n{loaded.inlined_graph}---- error\n{text}")
