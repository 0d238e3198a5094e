"""Training loops of networks that join, choose and scatter: pairs of networks, experts, flows,
graphs, planes of several sizes."""

from makers import trained

import rushlight as torch
from rushlight import nn

F = nn.functional


def gan_with_penalty(prepared):
    """Two networks, one of which is held to slopes of 1 between what is made and what is real."""
    torch.manual_seed(31)
    maker = prepared(nn.Sequential(nn.Linear(4, 16), nn.LeakyReLU(0.2), nn.Linear(16, 2)))
    judge = prepared(nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1)))
    first = torch.optim.Adam(maker.parameters(), 1e-3, betas=(0.5, 0.9))
    second = torch.optim.Adam(judge.parameters(), 1e-3, betas=(0.5, 0.9))

    def step():
        real, noise, share = torch.randn(16, 2) + 2, torch.randn(16, 4), torch.rand(16, 1)
        made = maker(noise).detach()
        between = (share * real + (1 - share) * made).requires_grad_()
        (slope,) = torch.autograd.grad(judge(between).sum(), between, create_graph=True)
        second.zero_grad()
        loss = judge(made).mean() - judge(real).mean()
        loss = loss + 10 * ((slope.norm(2, dim=1) - 1) ** 2).mean()
        loss.backward()
        second.step()
        first.zero_grad()
        (-judge(maker(noise)).mean()).backward()
        first.step()
        return loss

    return step


class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(8, 4)
        self.experts = nn.ModuleList([nn.Linear(8, 8) for _ in range(4)])

    def forward(self, x):
        weights, chosen = torch.topk(self.gate(x), 2, dim=-1)
        weights = torch.softmax(weights, -1)
        out = torch.zeros_like(x)
        for number, expert in enumerate(self.experts):
            share = (weights * (chosen == number)).sum(-1, keepdim=True)
            out = out + share * expert(x)
        return out


def experts(prepared):
    torch.manual_seed(32)
    model = prepared(Experts())
    x = torch.randn(32, 8)
    y = x.flip(1)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
    return trained(optimizer, lambda: F.mse_loss(model(x), y))


class Coupling(nn.Module):
    def __init__(self):
        super().__init__()
        self.inward = nn.Linear(2, 16)
        self.outward = nn.Linear(16, 4)

    def forward(self, x):
        kept, moved = x.chunk(2, 1)
        size, shift = self.outward(torch.tanh(self.inward(kept))).chunk(2, 1)
        size = torch.tanh(size)
        return torch.cat([kept, moved * torch.exp(size) + shift], 1).flip(1), size.sum(1)


def flow(prepared):
    torch.manual_seed(33)
    layers = [prepared(Coupling()) for _ in range(3)]
    optimizer = torch.optim.Adam([p for layer in layers for p in layer.parameters()], 1e-2)
    x = torch.randn(64, 4) * torch.tensor([1.0, 2.0, 0.5, 3.0]) + 1
    normal = torch.distributions.Normal(0.0, 1.0)

    def loss():
        z, change = x, torch.zeros(64)
        for layer in layers:
            z, more = layer(z)
            change = change + more
        return -(normal.log_prob(z).sum(1) + change).mean()

    return trained(optimizer, loss)


class Graph(nn.Module):
    def __init__(self):
        super().__init__()
        self.inward = nn.Linear(6, 12)
        self.last = nn.Linear(12, 3)

    def forward(self, x, ends):
        hidden = torch.relu(self.inward(x))
        sums = torch.zeros_like(hidden).index_add(0, ends[1], hidden[ends[0]])
        ones = torch.ones(ends.size(1))
        counts = torch.zeros(x.size(0)).scatter_add(0, ends[1], ones).clamp(min=1.0)
        return self.last(sums / counts.unsqueeze(1) + hidden)


def graph(prepared):
    torch.manual_seed(34)
    model = prepared(Graph())
    x, ends, y = torch.randn(20, 6), torch.randint(0, 20, (2, 60)), torch.randint(0, 3, (20,))
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9, nesterov=True)
    return trained(optimizer, lambda: F.cross_entropy(model(x, ends), y))


class Planes(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(1, 4, 3, padding=1)
        self.norm = nn.InstanceNorm2d(4, affine=True)
        self.second = nn.Conv2d(4, 8, 3, padding=1)
        self.up = nn.ConvTranspose2d(8, 4, 2, stride=2)
        self.last = nn.Conv2d(8, 1, 1)

    def forward(self, x):
        wide = F.relu(self.norm(self.first(x)))
        deep = F.relu(self.second(F.max_pool2d(wide, 2)))
        return self.last(torch.cat([self.up(deep), wide], 1))


def segmentation(prepared):
    torch.manual_seed(35)
    model = prepared(Planes())
    x = torch.randn(2, 1, 16, 16)
    y = (x > 0).float()
    optimizer = torch.optim.Adadelta(model.parameters(), 1.0)

    def loss():
        made = model(x)
        share = made.sigmoid()
        overlap = (2 * (share * y).sum() + 1) / (share.sum() + y.sum() + 1)
        return F.binary_cross_entropy_with_logits(made, y) + 1 - overlap

    return trained(optimizer, loss)


LOOPS = {
    "gan_with_penalty": gan_with_penalty,
    "experts": experts,
    "flow": flow,
    "graph": graph,
    "segmentation": segmentation,
}
