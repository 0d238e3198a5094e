"""Training loops that use more of gradients than `backward`, or more of data than a tensor."""

import rushlight as torch
from rushlight import nn

F = nn.functional


def lbfgs(prepared):
    torch.manual_seed(21)
    model = prepared(nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1)))
    x = torch.randn(64, 4)
    y = torch.sin(x.sum(1, keepdim=True))
    optimizer = torch.optim.LBFGS(
        model.parameters(), lr=0.5, max_iter=5, line_search_fn="strong_wolfe"
    )

    def closure():
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        return loss

    return lambda: optimizer.step(closure)


def physics(prepared):
    """u'' = -sin, with second derivatives by the input."""
    torch.manual_seed(22)
    layers = nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1)
    model = prepared(nn.Sequential(*layers))
    x = torch.linspace(0, 3.0, 64).unsqueeze(1).requires_grad_()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    def step():
        optimizer.zero_grad()
        u = model(x)
        (first,) = torch.autograd.grad(u.sum(), x, create_graph=True)
        (second,) = torch.autograd.grad(first.sum(), x, create_graph=True)
        loss = ((second + torch.sin(x)) ** 2).mean() + u[0].pow(2).sum() + u[-1].pow(2).sum()
        loss.backward()
        optimizer.step()
        return loss

    return step


def predicted(weights: list[torch.Tensor], x: torch.Tensor) -> torch.Tensor:
    hidden = torch.relu(F.linear(x, weights[0], weights[1]))
    hidden = torch.relu(F.linear(hidden, weights[2], weights[3]))
    return F.linear(hidden, weights[4], weights[5])


def maml(prepared):
    """Steps inside of steps over four tasks: by `torch.func`, or through `autograd.grad`."""
    torch.manual_seed(23)
    shapes = [(24, 1), (24,), (24, 24), (24,), (1, 24), (1,)]
    weights = [(torch.randn(*shape) * 0.3).requires_grad_() for shape in shapes]
    model = prepared(predicted)
    scripted = model is not predicted
    tasks = [(torch.randn(10, 1), torch.randn(1), torch.randn(1)) for _ in range(4)]
    optimizer = torch.optim.Adam(weights, lr=1e-3)

    def inner(given, x, y):
        return F.mse_loss(model(given, x), y)

    def adapted(x, y):
        if scripted:
            grads = torch.autograd.grad(inner(weights, x, y), weights, create_graph=True)
        else:
            grads = torch.func.grad(inner)(weights, x, y)
        return [w - 0.1 * g for w, g in zip(weights, grads, strict=True)]

    def step():
        optimizer.zero_grad()
        loss = torch.zeros(())
        for x, height, phase in tasks:
            y = height * torch.sin(x + phase)
            loss = loss + inner(adapted(x, y), x, y)
        loss.backward()
        optimizer.step()
        return loss

    return step


def loader_epoch(prepared):
    """An epoch of 1,000 rows in batches of 32."""
    torch.manual_seed(24)
    x = torch.randn(1000, 20)
    data = torch.utils.data.TensorDataset(x, (x.sum(1) > 0).long())
    loader = torch.utils.data.DataLoader(data, batch_size=32, shuffle=True)
    model = prepared(nn.Linear(20, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step():
        total = torch.zeros(())
        for rows, labels in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(rows), labels)
            loss.backward()
            optimizer.step()
            total += loss.detach()
        return total / len(loader)

    return step


LOOPS = {"lbfgs": lbfgs, "physics": physics, "maml": maml, "loader_epoch": loader_epoch}
