"""A process that ends in some way while another one waits for it."""

import os
import signal
import sys

from rushlight import distributed as dist

dist.init_process_group("mpi")
dist.barrier()
if dist.get_rank() == 1:
    if sys.argv[1] == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if sys.argv[1] == "raises":
        raise ValueError("a reason")
    sys.exit(7)
dist.barrier()
