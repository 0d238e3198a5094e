"""Training loops of daily work besides texts and pictures: clipped policies, messages over graphs,
tables of factors, coders with transposed convolutions, mixed precision, gradients of several
batches, students, triplets."""

from makers import trained

import rushlight as torch
from rushlight import nn

F = nn.functional


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh())
        self.mean = nn.Linear(32, 2)
        self.spread = nn.Parameter(torch.zeros(2))
        self.value = nn.Linear(32, 1)

    def forward(self, x):
        hidden = self.trunk(x)
        return self.mean(hidden), self.spread.exp().expand(x.size(0), 2), self.value(hidden)[:, 0]


def clipped_policy(prepared):
    """PPO: four sweeps in shuffled parts over what an older policy did."""
    torch.manual_seed(71)
    model = prepared(Actor())
    states, gains = torch.randn(64, 8), torch.randn(64)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-4, eps=1e-5)

    def step():
        with torch.no_grad():
            mean, spread, values = model(states)
            older = torch.distributions.Normal(mean, spread)
            actions = older.sample()
            before = older.log_prob(actions).sum(-1)
            wanted = gains + values
        for rows in torch.randperm(64).split(16):
            mean, spread, values = model(states[rows])
            policy = torch.distributions.Normal(mean, spread)
            ratio = (policy.log_prob(actions[rows]).sum(-1) - before[rows]).exp()
            gain = gains[rows]
            gain = (gain - gain.mean()) / (gain.std() + 1e-8)
            held = torch.clamp(ratio, 0.8, 1.2)
            loss = -torch.min(ratio * gain, held * gain).mean()
            loss = loss + 0.5 * F.mse_loss(values, wanted[rows])
            loss = loss - 0.01 * policy.entropy().sum(-1).mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            optimizer.step()
        return loss

    return step


class Messages(nn.Module):
    def __init__(self, inward: int, outward: int):
        super().__init__()
        self.message = nn.Linear(2 * inward, outward)
        self.update = nn.Linear(inward + outward, outward)

    def forward(self, x, edges):
        source, target = edges[0], edges[1]
        sent = F.relu(self.message(torch.cat([x[source], x[target]], dim=1)))
        found = torch.zeros(x.size(0), sent.size(1)).index_add_(0, target, sent)
        counts = torch.zeros(x.size(0)).scatter_add_(0, target, torch.ones(target.size(0)))
        found = found / counts.clamp(min=1).unsqueeze(1)
        return self.update(torch.cat([x, found], dim=1))


class Molecules(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Messages(8, 16)
        self.second = Messages(16, 16)
        self.last = nn.Linear(16, 1)

    def forward(self, x, edges, owners):
        x = F.relu(self.first(x, edges))
        x = F.relu(self.second(x, edges))
        whole = torch.zeros(6, 16).scatter_reduce(
            0, owners.unsqueeze(1).expand_as(x), x, "amax", include_self=False
        )
        return self.last(whole)[:, 0]


def messages(prepared):
    torch.manual_seed(72)
    model = prepared(Molecules())
    x, edges = torch.randn(60, 8), torch.randint(0, 60, (2, 200))
    owners, y = torch.arange(60) // 10, torch.randn(6)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2, weight_decay=5e-4)
    return trained(optimizer, lambda: F.mse_loss(model(x, edges, owners), y))


class Factors(nn.Module):
    def __init__(self, users: int, items: int, width: int):
        super().__init__()
        self.users = nn.Embedding(users, width, sparse=True)
        self.items = nn.Embedding(items, width, sparse=True)
        self.user_bias = nn.Embedding(users, 1, sparse=True)
        self.item_bias = nn.Embedding(items, 1, sparse=True)

    def forward(self, user, item):
        near = (self.users(user) * self.items(item)).sum(1)
        return near + self.user_bias(user).squeeze(1) + self.item_bias(item).squeeze(1)


def factors(prepared):
    torch.manual_seed(73)
    model = prepared(Factors(500, 300, 16))
    users, items = torch.randint(0, 500, (256,)), torch.randint(0, 300, (256,))
    stars = torch.randint(1, 6, (256,)).float()
    optimizer = torch.optim.SparseAdam(list(model.parameters()), lr=1e-2)
    return trained(optimizer, lambda: F.mse_loss(model(users, items), stars))


class Pictures(nn.Module):
    def __init__(self):
        super().__init__()
        self.reader = nn.Sequential(
            nn.Conv2d(1, 8, 4, 2, 1),
            nn.LeakyReLU(0.2),
            nn.Conv2d(8, 16, 4, 2, 1),
            nn.LeakyReLU(0.2),
        )
        self.mean = nn.Linear(16 * 16, 8)
        self.spread = nn.Linear(16 * 16, 8)
        self.inward = nn.Linear(8, 16 * 16)
        self.writer = nn.Sequential(
            nn.ConvTranspose2d(16, 8, 4, 2, 1),
            nn.BatchNorm2d(8),
            nn.ReLU(),
            nn.ConvTranspose2d(8, 1, 4, 2, 1),
            nn.Sigmoid(),
        )

    def forward(self, x):
        hidden = self.reader(x).flatten(1)
        mean, spread = self.mean(hidden), self.spread(hidden)
        code = mean + torch.randn_like(mean) * torch.exp(0.5 * spread)
        made = self.writer(self.inward(code).view(-1, 16, 4, 4))
        return made, mean, spread


def picture_coder(prepared):
    """A variational coder of convolutions, and transposed ones on the way out."""
    torch.manual_seed(74)
    model = prepared(Pictures())
    x = torch.rand(16, 1, 16, 16)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    def loss():
        made, mean, spread = model(x)
        away = F.mse_loss(made, x, reduction="sum")
        return (away - 0.5 * (1 + spread - mean.pow(2) - spread.exp()).sum()) / x.size(0)

    return trained(optimizer, loss)


class Mixed(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.wide = nn.Linear(8 * 64, 64)
        self.layer_norm = nn.LayerNorm(64)
        self.last = nn.Linear(64, 5)

    def forward(self, x):
        x = F.relu(self.norm(self.conv(x))).flatten(1)
        return self.last(F.gelu(self.layer_norm(self.wide(x))))


def bfloat16_network(prepared):
    torch.manual_seed(75)
    model = prepared(Mixed())
    x, y = torch.randn(16, 3, 8, 8), torch.randint(0, 5, (16,))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

    def loss():
        with torch.autocast(device_type="cpu", dtype=torch.bfloat16):
            return F.cross_entropy(model(x), y)

    return trained(optimizer, loss)


class Deep(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList(
            [nn.Sequential(nn.Linear(32, 32), nn.LayerNorm(32), nn.SiLU()) for _ in range(4)]
        )
        self.last = nn.Linear(32, 4)

    def forward(self, x):
        for part in self.parts:
            x = x + torch.utils.checkpoint.checkpoint(part, x, use_reentrant=False)
        return self.last(x)


def accumulated(prepared):
    """Gradients of four small batches make a step; what lies between is computed anew."""
    torch.manual_seed(76)
    model = Deep()  # torch cannot script a checkpoint
    x, y = torch.randn(32, 32), torch.randint(0, 4, (32,))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

    def step():
        total = torch.zeros(())
        for rows, labels in zip(x.chunk(4), y.chunk(4), strict=True):
            loss = F.cross_entropy(model(rows), labels) / 4
            loss.backward()
            total += loss.detach()
        nn.utils.clip_grad_value_(model.parameters(), 0.1)
        optimizer.step()
        optimizer.zero_grad()
        return total

    return step


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(1, 8, 3), nn.PReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3), nn.PReLU(),
            nn.AdaptiveMaxPool2d(2), nn.Flatten(), nn.Dropout(0.2), nn.Linear(64, 16),
        )  # fmt: skip

    def forward(self, anchor, same, other):
        return self.layers(anchor), self.layers(same), self.layers(other)


def siamese(prepared):
    torch.manual_seed(77)
    model = prepared(Encoder())
    anchor, other = torch.randn(12, 1, 14, 14), torch.randn(12, 1, 14, 14)
    same = anchor + 0.1 * torch.randn(12, 1, 14, 14)
    criterion = nn.TripletMarginLoss(margin=1.0)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    return trained(optimizer, lambda: criterion(*model(anchor, same, other)))


def distilled(prepared):
    """A student learns from labels and from what a teacher says."""
    torch.manual_seed(78)
    teacher = prepared(nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 5))).eval()
    student = prepared(nn.Sequential(nn.Linear(20, 12), nn.ReLU(), nn.Linear(12, 5)))
    x, y = torch.randn(32, 20), torch.randint(0, 5, (32,))
    optimizer = torch.optim.SGD(student.parameters(), lr=0.1, momentum=0.9)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 50, 0.99)

    def step():
        with torch.no_grad():
            said = teacher(x)
        made = student(x)
        soft = F.kl_div(
            F.log_softmax(made / 3, dim=1), F.softmax(said / 3, dim=1), reduction="batchmean"
        )
        loss = 0.7 * soft * 9 + 0.3 * F.cross_entropy(made, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        return loss

    return step


LOOPS = {
    **{"clipped_policy": clipped_policy, "messages": messages, "factors": factors},
    **{"picture_coder": picture_coder, "bfloat16_network": bfloat16_network},
    **{"accumulated": accumulated, "siamese": siamese, "distilled": distilled},
}
