"""Two processes that do not begin the same; each says what it hears of it."""

import rushlight as torch
from rushlight import distributed as dist

dist.init_process_group("mpi")
dist.barrier()
x = torch.ones(4, dtype=torch.int32 if dist.get_rank() == 0 else torch.float32)
try:
    dist.all_reduce(x)
except dist.DistBackendError as error:
    print(f"{error}\n", flush=True)
else:
    print(f"no error: {x}\n", flush=True)
