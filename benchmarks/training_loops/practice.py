"""Training loops with what scripts use besides layers: policies, averages of weights, mixed
precision, quantization, checkpoints, sparse tables, other optimizers and losses."""

import copy
import io

from makers import trained

import rushlight as torch
from rushlight import nn

F = nn.functional


class Translator(nn.Module):
    """A sequence is read by one GRU and written by another."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(20, 12)
        self.reader = nn.GRU(12, 16, batch_first=True)
        self.writer = nn.GRUCell(12, 16)
        self.last = nn.Linear(16, 20)

    def forward(self, source, target):
        _, state = self.reader(self.words(source))
        hidden, found = state[0], []
        for place in range(target.size(1)):
            hidden = self.writer(self.words(target[:, place]), hidden)
            found.append(self.last(hidden))
        return torch.stack(found, 1)


def seq2seq(prepared):
    torch.manual_seed(41)
    model = prepared(Translator())
    source, target = torch.randint(0, 20, (8, 7)), torch.randint(0, 20, (8, 6))
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)

    def loss():
        made = model(source, target[:, :-1])
        return F.cross_entropy(made.flatten(0, 1), target[:, 1:].flatten())

    return trained(optimizer, loss)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(6, 24)
        self.actor = nn.Linear(24, 3)
        self.critic = nn.Linear(24, 1)

    def forward(self, x):
        hidden = torch.tanh(self.trunk(x))
        return self.actor(hidden), self.critic(hidden).squeeze(-1)


def actor_critic(prepared):
    torch.manual_seed(42)
    model = prepared(Policy())
    states, rewards = torch.randn(32, 6), torch.randn(32, 3)
    optimizer = torch.optim.RMSprop(model.parameters(), 1e-3)

    def loss():
        logits, values = model(states)
        policy = torch.distributions.Categorical(logits=logits)
        action = policy.sample()
        gain = rewards.gather(1, action.unsqueeze(1)).squeeze(1) - values
        chosen = -(policy.log_prob(action) * gain.detach()).mean()
        return chosen + 0.5 * gain.pow(2).mean() - 0.01 * policy.entropy().mean()

    return trained(optimizer, loss)


def continuous_policy(prepared):
    torch.manual_seed(43)
    model = prepared(nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 4)))
    states = torch.randn(24, 5)
    optimizer = torch.optim.NAdam(model.parameters(), 1e-2)

    def loss():
        mean, spread = model(states).chunk(2, 1)
        policy = torch.distributions.Normal(mean, F.softplus(spread) + 0.1)
        action = policy.rsample()
        prior = torch.distributions.Normal(torch.zeros(2), torch.ones(2))
        return action.pow(2).sum(1).mean() + torch.distributions.kl_divergence(policy, prior).mean()

    return trained(optimizer, loss)


def averaged_weights(prepared):
    """Stochastic weight averaging, with the schedule that goes with it."""
    torch.manual_seed(44)
    model = prepared(nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1)))
    x = torch.randn(32, 8)
    y = x.sum(1, keepdim=True)
    optimizer = torch.optim.SGD(model.parameters(), 0.05)
    mean = torch.optim.swa_utils.AveragedModel(
        nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
    )
    mean.module.load_state_dict(model.state_dict())
    schedule = torch.optim.swa_utils.SWALR(optimizer, swa_lr=0.01, anneal_epochs=5)

    def step():
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        mean.update_parameters(model)
        schedule.step()
        with torch.no_grad():
            return loss.detach() + F.mse_loss(mean(x), y)

    return step


def mixed_precision(prepared):
    torch.manual_seed(45)
    model = prepared(nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 4)))
    x, y = torch.randn(32, 16), torch.randint(0, 4, (32,))
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)

    def loss():
        with torch.autocast("cpu", dtype=torch.bfloat16):
            made = model(x)
        return F.cross_entropy(made.float(), y)

    return trained(optimizer, loss)


def scaled_gradients(prepared):
    torch.manual_seed(46)
    model = prepared(nn.Sequential(nn.Linear(8, 8), nn.SiLU(), nn.Linear(8, 1)))
    x, y = torch.randn(16, 8), torch.randn(16, 1)
    optimizer = torch.optim.Adagrad(model.parameters(), 0.05)
    scaler = torch.amp.GradScaler("cpu", init_scale=256.0, growth_interval=4)

    def step():
        optimizer.zero_grad()
        loss = F.smooth_l1_loss(model(x), y)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        scaler.step(optimizer)
        scaler.update()
        return loss

    return step


class Recomputed(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(10, 20)
        self.second = nn.Linear(20, 1)

    def forward(self, x):
        return self.second(torch.sigmoid(self.first(x)))


def checkpointed(prepared):
    """What lies between is computed anew on the way back."""
    torch.manual_seed(47)
    model = Recomputed()  # torch cannot checkpoint a scripted one
    x, y = torch.randn(16, 10, requires_grad=True), torch.randn(16, 1)
    optimizer = torch.optim.Adamax(model.parameters(), 1e-2)

    def loss():
        made = torch.utils.checkpoint.checkpoint(model, x, use_reentrant=False)
        return F.huber_loss(made, y)

    return trained(optimizer, loss)


def resumed(prepared):
    """Every third step goes on from what was saved."""
    torch.manual_seed(48)
    model = prepared(nn.Sequential(nn.Linear(6, 12), nn.ELU(), nn.Linear(12, 2)))
    x, y = torch.randn(20, 6), torch.randint(0, 2, (20,))
    optimizer = torch.optim.RAdam(model.parameters(), 1e-2)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10)
    count = [0]

    def step():
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y, label_smoothing=0.1)
        loss.backward()
        optimizer.step()
        schedule.step()
        count[0] += 1
        if count[0] % 3 == 0:
            file = io.BytesIO()
            state = [each.state_dict() for each in (model, optimizer, schedule)]
            torch.save(state, file)
            file.seek(0)
            for each, saved in zip((model, optimizer, schedule), torch.load(file), strict=True):
                each.load_state_dict(saved)
        return loss

    return step


class Skipgram(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Embedding(50, 8, sparse=True)
        self.outer = nn.Embedding(50, 8, sparse=True)

    def forward(self, word, near, others):
        x = self.inner(word)
        good = F.logsigmoid((x * self.outer(near)).sum(-1))
        bad = F.logsigmoid(-torch.bmm(self.outer(others), x.unsqueeze(2)).squeeze(2)).sum(-1)
        return -(good + bad).mean()


def skipgram(prepared):
    torch.manual_seed(49)
    model = prepared(Skipgram())
    word, near = torch.randint(0, 50, (16,)), torch.randint(0, 50, (16,))
    others = torch.randint(0, 50, (16, 5))
    optimizer = torch.optim.SparseAdam(list(model.parameters()), 1e-2)
    return trained(optimizer, lambda: model(word, near, others))


def muon(prepared):
    torch.manual_seed(50)
    model = prepared(
        nn.Sequential(nn.Linear(12, 12, bias=False), nn.Tanh(), nn.Linear(12, 12, bias=False))
    )
    x = torch.randn(24, 12)
    optimizer = torch.optim.Muon(model.parameters(), 1e-2)
    return trained(optimizer, lambda: F.mse_loss(model(x), x.roll(1, 1)))


def adafactor(prepared):
    torch.manual_seed(51)
    model = prepared(nn.Sequential(nn.Linear(12, 16), nn.Hardswish(), nn.Linear(16, 3)))
    x, y = torch.randn(24, 12), torch.randint(0, 3, (24,))
    optimizer = torch.optim.Adafactor(model.parameters(), 1e-2)
    return trained(optimizer, lambda: F.cross_entropy(model(x), y))


class Speaker(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(6, 12, 3, padding=1)
        self.last = nn.Linear(12, 5)

    def forward(self, x):
        return self.last(F.relu(self.conv(x)).transpose(1, 2)).log_softmax(-1)


def speech(prepared):
    """Connectionist temporal classification."""
    torch.manual_seed(52)
    model = prepared(Speaker())
    x, words = torch.randn(4, 6, 12), torch.randint(1, 5, (4, 4))
    lengths, sizes = torch.full((4,), 12), torch.tensor([4, 3, 4, 2])
    optimizer = torch.optim.SGD(model.parameters(), 0.05, momentum=0.9)
    return trained(optimizer, lambda: F.ctc_loss(model(x).transpose(0, 1), words, lengths, sizes))


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.inward = nn.utils.parametrizations.weight_norm(nn.Linear(6, 18))
        self.up = nn.ConvTranspose2d(2, 4, 2, stride=2)
        self.norm = nn.GroupNorm(2, 4)
        self.out = nn.Conv2d(4, 1, 3, padding=1)

    def forward(self, x):
        wide = self.inward(x).view(-1, 2, 3, 3)
        return torch.tanh(self.out(F.relu(self.norm(self.up(wide)))))


def weight_norm(prepared):
    torch.manual_seed(53)
    model = Generator()  # what parametrizes it cannot be scripted
    x, y = torch.randn(5, 6), torch.randn(5, 1, 6, 6).tanh()
    optimizer = torch.optim.Rprop(model.parameters(), 1e-2)
    return trained(optimizer, lambda: F.l1_loss(model(x), y))


def marginal(x: torch.Tensor, y: torch.Tensor, raw: list[torch.Tensor]) -> torch.Tensor:
    height, length, noise = raw[0].exp(), raw[1].exp(), raw[2].exp() + 0.05
    near = height * torch.exp(-torch.cdist(x, x).pow(2) / (2 * length * length))
    lower = torch.linalg.cholesky(near + noise * torch.eye(x.size(0)))
    solved = torch.cholesky_solve(y.unsqueeze(1), lower)
    return 0.5 * (y.unsqueeze(1) * solved).sum() + lower.diagonal().log().sum()


def process(prepared):
    """A Gaussian process whose kernel is trained by its marginal likelihood."""
    torch.manual_seed(54)
    x = torch.linspace(0, 1, 12).unsqueeze(1)
    y = torch.sin(6 * x).squeeze(1)
    raw = [torch.tensor(v, requires_grad=True) for v in (0.0, -1.0, -2.0)]

    model = prepared(marginal)
    optimizer = torch.optim.Adam(raw, 0.05)
    return trained(optimizer, lambda: model(x, y, raw))


class Metric(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 16), nn.PReLU(), nn.LayerNorm(16), nn.Linear(16, 4))

    def forward(self, anchor, good, bad):
        return self.net(anchor), self.net(good), self.net(bad)


def triplets(prepared):
    torch.manual_seed(55)
    model = prepared(Metric())
    given = [torch.randn(16, 8) for _ in range(3)]
    optimizer = torch.optim.ASGD(model.parameters(), 0.05)

    def loss():
        anchor, good, bad = model(*given)
        return F.triplet_margin_loss(anchor, good, bad, margin=0.5)

    return trained(optimizer, loss)


def moving_teacher(prepared):
    """A network follows a teacher whose weights follow the network's slowly."""
    torch.manual_seed(56)
    plain = nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.BatchNorm1d(20), nn.Linear(20, 6))
    teacher = copy.deepcopy(plain)
    model = prepared(plain)
    x = torch.randn(24, 10)
    noise = [0.1 * torch.randn(24, 10) for _ in range(2)]
    optimizer = torch.optim.AdamW(model.parameters(), 1e-2, amsgrad=True)

    def step():
        optimizer.zero_grad()
        with torch.no_grad():
            wanted = (teacher(x + noise[0]) / 0.5).softmax(-1)
        loss = F.kl_div(model(x + noise[1]).log_softmax(-1), wanted, reduction="batchmean")
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            pairs = zip(teacher.parameters(), model.parameters(), strict=True)
            for slow, fast in pairs:
                slow.mul_(0.9).add_(fast, alpha=0.1)
        return loss

    return step


class Attended(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0, batch_first=True)
        self.last = nn.Linear(16, 2)

    def forward(self, x, hidden):
        return self.last(self.layer(x, src_key_padding_mask=hidden)[:, 0])


def encoder(prepared):
    torch.manual_seed(57)
    model = prepared(Attended())
    x, hidden = torch.randn(6, 5, 16), torch.zeros(6, 5, dtype=torch.bool)
    hidden[2:, 3:] = True
    y = torch.randint(0, 2, (6,))
    optimizer = torch.optim.Adadelta(model.parameters(), 0.5)
    return trained(optimizer, lambda: F.cross_entropy(model(x, hidden), y))


def trained_quantized(prepared):
    """Quantization-aware training of a model in eager mode."""
    torch.manual_seed(58)
    model = nn.Sequential(
        torch.ao.quantization.QuantStub(),
        nn.Linear(8, 12),
        nn.ReLU(),
        nn.Linear(12, 3),
        torch.ao.quantization.DeQuantStub(),
    )
    model.qconfig = torch.ao.quantization.get_default_qat_qconfig("fbgemm")
    torch.ao.quantization.prepare_qat(model.train(), inplace=True)
    x, y = torch.randn(24, 8), torch.randint(0, 3, (24,))
    optimizer = torch.optim.SGD(model.parameters(), 0.05)
    return trained(optimizer, lambda: F.cross_entropy(model(x), y))


def solved_by_second_order(prepared):
    """Hessian-vector products in a truncated Newton method."""
    torch.manual_seed(59)
    model = prepared(nn.Sequential(nn.Linear(3, 8), nn.Softplus(), nn.Linear(8, 1)))
    x = torch.randn(20, 3)
    y = x.prod(1, keepdim=True)
    parameters = list(model.parameters())

    def step():
        loss = F.mse_loss(model(x), y)
        grads = torch.autograd.grad(loss, parameters, create_graph=True)
        direction = [g.detach() for g in grads]
        curved = torch.autograd.grad(grads, parameters, direction)
        size = sum((g * g).sum() for g in direction)
        bent = sum((g * c).sum() for g, c in zip(direction, curved, strict=True))
        length = (size / bent.abs().clamp(min=1e-3)).clamp(max=0.2)
        with torch.no_grad():
            for parameter, grad in zip(parameters, direction, strict=True):
                parameter.sub_(length * grad)
        return loss.detach()

    return step


LOOPS = {
    **{"seq2seq": seq2seq, "actor_critic": actor_critic, "continuous_policy": continuous_policy},
    **{"averaged_weights": averaged_weights, "mixed_precision": mixed_precision},
    **{"scaled_gradients": scaled_gradients, "checkpointed": checkpointed, "resumed": resumed},
    **{"skipgram": skipgram, "muon": muon, "adafactor": adafactor, "speech": speech},
    **{"weight_norm": weight_norm, "process": process, "triplets": triplets},
    **{"moving_teacher": moving_teacher, "encoder": encoder},
    **{"trained_quantized": trained_quantized, "newton": solved_by_second_order},
}
