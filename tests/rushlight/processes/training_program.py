"""Training of a module by as many processes as there are, each with its rows of the batches."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import rushlight as torch
from rushlight import distributed as dist
from rushlight import nn
from rushlight.nn.parallel import DistributedDataParallel
from rushlight.utils.data import DataLoader, DistributedSampler, TensorDataset

TOLD: dict[str, Any] = {}


class Branches(nn.Module):
    """Rows of one process alone go the second way; one parameter is never used."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(4, 3)
        self.second = nn.Linear(4, 3)
        self.never = nn.Linear(4, 3)

    def forward(self, x: torch.Tensor, second: bool) -> torch.Tensor:
        return self.second(x) if second else self.first(x)


def data(rows: int = 24) -> TensorDataset:
    torch.manual_seed(5)
    x = torch.randn(rows, 6)
    return TensorDataset(x, (x[:, :1] * x[:, 1:2]).tanh())


def model() -> nn.Module:
    torch.manual_seed(100 + dist.get_rank())  # those of the first process are taken
    layers = [nn.Linear(6, 100), nn.Tanh(), nn.Linear(100, 100), nn.ReLU(), nn.Linear(100, 1)]
    return nn.Sequential(*layers)


def normalising() -> nn.Module:
    net = model()
    net[1] = nn.Sequential(nn.BatchNorm1d(100), nn.Tanh())
    return nn.SyncBatchNorm.convert_sync_batchnorm(net)


def trained(name: str, make: Any, accumulate: int = 1, **options: Any) -> None:
    net = DistributedDataParallel(make(), bucket_cap_mb=0.01, **options)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    sampler: Any = DistributedSampler(data(), shuffle=False)
    loader = DataLoader(data(), batch_size=8 // dist.get_world_size(), sampler=sampler)
    losses = []
    for _ in range(2):
        for step, (x, y) in enumerate(loader):
            last = step % accumulate == accumulate - 1
            if accumulate > 1 and not last:
                with net.no_sync():
                    loss = nn.functional.mse_loss(net(x), y)
                    loss.backward()
            else:
                loss = nn.functional.mse_loss(net(x), y)
                loss.backward()
            if last:
                optimizer.step()
                optimizer.zero_grad()
            shown = loss.detach().clone()
            dist.all_reduce(shown, dist.ReduceOp.AVG)
            losses.append(shown.item())
    TOLD[name] = losses
    sums = torch.stack([each.double().sum() for each in net.parameters()])
    TOLD[f"{name} parameters"] = sums.tolist()


def branches(rank: int) -> None:
    net = DistributedDataParallel(Branches(), find_unused_parameters=True)
    for parameter in net.parameters():
        nn.init.ones_(parameter)
    for _ in range(2):
        net.zero_grad()
        net(torch.ones(2, 4) * (rank + 1), rank == 1).sum().backward()
    grads = {name: p.grad for name, p in net.named_parameters()}
    TOLD["branches"] = {n: None if g is None else g[0].tolist() for n, g in grads.items()}


def unannounced(rank: int) -> None:
    net = DistributedDataParallel(Branches())
    net(torch.ones(2, 4), False).sum().backward()
    try:
        net(torch.ones(2, 4), False)
    except RuntimeError as error:
        TOLD["unannounced"] = str(error)


def buffers(rank: int) -> None:
    net = DistributedDataParallel(nn.BatchNorm1d(2))
    net(torch.arange(8.0).reshape(4, 2) + 100 * rank)
    net(torch.ones(4, 2))
    TOLD["buffers"] = net.module.running_mean.tolist()


def differ(rank: int) -> None:
    for name, make in (
        ("another size", lambda: nn.Linear(3, 2 + rank)),
        ("another number", lambda: nn.Linear(3, 2, bias=rank == 0)),
    ):
        try:
            DistributedDataParallel(make())
        except RuntimeError as error:
            TOLD[name] = str(error)


def refused() -> None:
    net = DistributedDataParallel(nn.Embedding(3, 2, sparse=True))
    for name, call in (
        ("join", lambda: net.join()),
        ("comm hook", lambda: net.register_comm_hook(None, None)),
        ("sparse", lambda: net(torch.tensor([1])).sum().backward()),
        ("option", lambda: DistributedDataParallel(nn.Linear(1, 1), mixed_precision=1)),
    ):
        try:
            call()
        except NotImplementedError as error:
            TOLD[name] = str(error)


def main() -> None:
    dist.init_process_group("mpi")
    rank = dist.get_rank()
    trained("plain", model)
    trained("views", model, gradient_as_bucket_view=True)
    trained("scripted", lambda: torch.jit.script(model()))
    trained("accumulated", model, accumulate=3)
    trained("static", model, static_graph=True)
    trained("normalised", normalising)
    if dist.get_world_size() > 1:
        branches(rank)
        unannounced(rank)
        buffers(rank)
        differ(rank)
        refused()
    dist.barrier()
    Path(sys.argv[1], f"{rank}.json").write_text(json.dumps(TOLD))


main()
