"""Every collective between two processes; each writes what it has got to a file of JSON."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import rushlight as torch
from rushlight import distributed as dist

RESULTS: dict[str, Any] = {}
OP = dist.ReduceOp


def note(name: str, *values: Any) -> None:
    shown = [value.tolist() if isinstance(value, torch.Tensor) else value for value in values]
    RESULTS[name] = shown[0] if len(shown) == 1 else shown


def refused(name: str, call: Callable[[], object]) -> None:
    try:
        call()
    except Exception as error:
        RESULTS[name] = f"{type(error).__name__}: {error}"
    else:
        RESULTS[name] = "done"


def reductions(rank: int) -> None:
    for op in (OP.SUM, OP.AVG, OP.PRODUCT, OP.MIN, OP.MAX):
        x = torch.tensor([1.0, 2.0, -3.0]) * (rank + 2)
        dist.all_reduce(x, op)
        note(f"all_reduce {op.name}", x)
    for op in (OP.BAND, OP.BOR, OP.BXOR):
        y = torch.tensor([12, 5 + rank])
        dist.all_reduce(y, op)
        note(f"all_reduce {op.name}", y)
    for dtype in ("float16", "bfloat16", "float64", "int8", "uint8", "int16", "int32", "bool"):
        z = torch.ones(3).to(getattr(torch, dtype))
        dist.all_reduce(z)
        note(f"all_reduce {dtype}", str(z.dtype), z.float())
    c = torch.tensor([1 + 2j, 3j * rank])
    dist.all_reduce(c)
    note("all_reduce complex", torch.view_as_real(c))
    t = (torch.arange(6.0).reshape(2, 3) + rank).t()
    dist.all_reduce(t)
    note("all_reduce of what is not contiguous", t)
    leaf = torch.full((2,), float(rank), requires_grad=True)
    dist.all_reduce(leaf)
    note("all_reduce of a leaf", leaf.detach(), leaf.requires_grad)
    mean = torch.tensor([3 + rank, -3 - rank])
    dist.all_reduce(mean, OP.AVG)
    note("all_reduce AVG of whole numbers", mean)
    kept = torch.tensor([1.0 + rank])
    dist.reduce(kept, dst=1)
    note("reduce", kept)
    several = [torch.ones(2), torch.full((1,), float(rank))]
    dist.all_reduce_coalesced(several)
    note("all_reduce_coalesced", several[0], several[1])


def moves(rank: int) -> None:
    x = torch.arange(3) + 10 * rank
    dist.broadcast(x, 1)
    note("broadcast", x)
    out = [torch.zeros(2), torch.zeros(2)]
    dist.all_gather(out, torch.tensor([1.0, 2.0]) + rank)
    note("all_gather", *out)
    whole = torch.zeros(2, 2, dtype=torch.bfloat16)
    dist.all_gather_into_tensor(whole, torch.ones(2, dtype=torch.bfloat16) * rank)
    note("all_gather_into_tensor", whole.float())
    given = [torch.zeros(1), torch.zeros(1)] if rank == 1 else None
    dist.gather(torch.tensor([5.0 + rank]), given, dst=1)
    note("gather", *(given or [None, None]))
    mine = torch.zeros(2)
    dist.scatter(mine, [torch.ones(2), torch.full((2,), 2.0)] if rank == 0 else None, src=0)
    note("scatter", mine)
    part = torch.zeros(2)
    dist.reduce_scatter(part, [torch.ones(2) * rank, torch.tensor([3.0, 4.0])])
    note("reduce_scatter", part)
    half = torch.zeros(1, dtype=torch.float16)
    dist.reduce_scatter_tensor(half, torch.tensor([1.0, 2.0]).half() + rank, OP.AVG)
    note("reduce_scatter_tensor", half.float())
    got = [torch.zeros(1), torch.zeros(2)] if rank == 0 else [torch.zeros(3), torch.zeros(1)]
    sent = [torch.ones(1), torch.full((3,), 7.0)] if rank == 0 else [torch.zeros(2) - 1, got[1] + 9]
    dist.all_to_all(got, sent)
    note("all_to_all", *got)
    single = torch.zeros(4)
    dist.all_to_all_single(single, torch.arange(4.0) + 10 * rank)
    note("all_to_all_single", single)
    uneven = torch.zeros(2 if rank == 0 else 4)
    received = [1, 1] if rank == 0 else [2, 2]
    dist.all_to_all_single(uneven, torch.arange(3.0) + 10 * rank, received, [1, 2])
    note("all_to_all_single uneven", uneven)


def messages(rank: int) -> None:
    x = torch.tensor([1.0 + rank])
    if rank == 0:
        dist.send(x, 1, tag=3)
        note("recv", None)
    else:
        got = torch.zeros(1)
        note("recv", dist.recv(got, tag=3), got)
    out = torch.zeros(1)
    works = dist.batch_isend_irecv(
        [dist.P2POp(dist.isend, x, 1 - rank), dist.P2POp(dist.irecv, out, 1 - rank)]
    )
    note("exchanged", [work.wait() for work in works], out, works[1].source_rank())
    work = dist.all_reduce(x, async_op=True)
    assert work is not None
    note("work", work.wait(), work.is_completed(), work.is_success(), x, work.result()[0])


def objects(rank: int) -> None:
    places: list[Any] = [None, None]
    dist.all_gather_object(places, {"rank": rank, "long": "x" * (rank * 1000)})
    note("all_gather_object", [(each["rank"], len(each["long"])) for each in places])
    given: list[Any] | None = [None, None] if rank == 0 else None
    dist.gather_object(("from", rank), given)
    note("gather_object", given)
    shared: list[Any] = [1, "two"] if rank == 0 else [None, None]
    dist.broadcast_object_list(shared)
    note("broadcast_object_list", shared)
    mine: list[Any] = [None]
    dist.scatter_object_list(mine, [{"a": 1}, "b"] if rank == 0 else None)
    note("scatter_object_list", mine)
    sent: list[Any] = [{"a": rank}, rank] if rank == 0 else [None, None]
    if rank == 0:
        dist.send_object_list(sent, 1)
    else:
        note("recv_object_list", dist.recv_object_list(sent, 0), sent)


def groups(rank: int) -> None:
    second = dist.new_group([1])
    backwards = dist.new_group([1, 0])
    note("ranks", dist.get_rank(second), dist.get_world_size(second))
    note("members", dist.get_process_group_ranks(backwards), dist.get_backend())
    x = torch.tensor([1.0])
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        dist.all_reduce(x, group=second)
    note("outside", x, [str(each.message) for each in heard])
    mine, every = dist.new_subgroups(1)
    note("subgroups", dist.get_process_group_ranks(mine), len(every))


def with_gradients(rank: int) -> None:
    from rushlight.distributed import _functional_collectives as functional
    from rushlight.distributed.nn import functional as nn

    weight = torch.tensor([1.0, 2.0], requires_grad=True)

    def told(name: str, made: Any, factor: Any = 1.0) -> None:
        weight.grad = None
        parts = made if isinstance(made, tuple) else (made,)
        sum((part * factor).sum() * (at + 1) for at, part in enumerate(parts)).backward()
        note(name, [part.detach().tolist() for part in parts], weight.grad.tolist())

    mine = weight * (rank + 1)
    told("nn.all_reduce", nn.all_reduce(mine), rank + 1.0)
    told("nn.broadcast", nn.broadcast(weight * (rank + 1), 1), rank + 1.0)
    told("nn.reduce", nn.reduce(weight * (rank + 1), 0), rank + 1.0)
    told("nn.all_gather", nn.all_gather(weight * (rank + 1)), rank + 1.0)
    told("nn.gather", nn.gather(weight * (rank + 1), 1), rank + 1.0)
    told("nn.scatter", nn.scatter([weight * 3, weight * 5], 0), rank + 1.0)
    room = torch.zeros(2)
    told("nn.reduce_scatter", nn.reduce_scatter(room, [weight, weight * 4]), rank + 1.0)
    world = dist.group.WORLD
    rows = torch.arange(4.0).reshape(2, 2) + 10 * rank
    note("functional.all_reduce", functional.all_reduce(rows, "avg", world))
    note("functional.all_gather_tensor", functional.all_gather_tensor(rows, 1, world))
    note("functional.reduce_scatter", functional.reduce_scatter_tensor(rows, "sum", 1, world))
    note("functional.permute_tensor", functional.permute_tensor(rows, [1, 0], world))
    note("functional.all_to_all", functional.all_to_all_single(rows, None, None, world))


def refusals(rank: int) -> None:
    x = torch.zeros(4)
    refused("send to itself", lambda: dist.send(x, rank))
    refused("send to nobody", lambda: dist.send(x, 7))
    refused("send a list", lambda: dist.send([1.0], 1 - rank))
    refused("send across", lambda: dist.send(torch.zeros(3, 2).t(), 1 - rank))
    refused("send a tag", lambda: dist.send(x, 1 - rank, tag=-1))
    refused("broadcast from nobody", lambda: dist.broadcast(x))
    refused("list of one", lambda: dist.all_gather([x], x))
    refused("list of sizes", lambda: dist.all_gather([x, torch.zeros(3)], x))
    refused("list of dtypes", lambda: dist.all_gather([x, x.int()], x))
    refused("too short", lambda: dist.all_gather_into_tensor(torch.zeros(7), x))
    refused("no equal parts", lambda: dist.all_to_all_single(torch.zeros(3), torch.zeros(3)))
    refused("parts", lambda: dist.all_to_all_single(x, x, [1, 2], [2, 2]))
    refused("complex", lambda: dist.all_reduce(torch.zeros(2, dtype=torch.complex64), OP.MAX))
    refused("bits of floats", lambda: dist.all_reduce(x, OP.BAND))
    refused("op", lambda: dist.all_reduce(x, "sum"))
    refused("sparse", lambda: dist.all_reduce(torch.eye(2).to_sparse()))
    refused("float8", lambda: dist.all_reduce(x.to(torch.float8_e4m3fn)))
    refused("gather list", lambda: dist.gather(x, [x, x] if rank else None, dst=0))
    refused("twice", lambda: dist.init_process_group("mpi"))
    refused("new_group", lambda: dist.new_group([0, 0]))
    short = dist.new_group(timeout=timedelta(milliseconds=300))
    refused("timeout", lambda: dist.recv(x, 1 - rank, group=short))
    dist.barrier()
    if rank == 0:
        dist.send(torch.zeros(9), 1)
    else:
        refused("longer than the tensor", lambda: dist.recv(x, 0))
    if rank == 0:
        dist.send(torch.zeros(2), 1)
    else:
        refused("shorter than the tensor", lambda: dist.recv(x, 0))


def main() -> None:
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        dist.init_process_group("gloo", init_method="env://")
    rank = dist.get_rank()
    note("note", [str(each.message) for each in heard])
    note(
        "environment",
        [os.environ[name] for name in ("RANK", "LOCAL_RANK", "WORLD_SIZE")],
        dist.get_world_size(),
        dist.get_node_local_rank(),
        dist.is_torchelastic_launched(),
    )
    for part in (reductions, moves, messages, objects, groups, with_gradients, refusals):
        part(rank)
    dist.barrier()
    dist.destroy_process_group()
    Path(sys.argv[1], f"{rank}.json").write_text(json.dumps(RESULTS))


main()
