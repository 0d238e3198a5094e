"""Training loops of texts and pictures as projects write them: a language model with a schedule and
clipping, a segmenting U-Net, two towers, diffusion, residual networks, taggers."""

import math

from makers import trained

import rushlight as torch
from rushlight import nn

F = nn.functional


class Attention(nn.Module):
    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)

    def forward(self, x):
        batch, length, width = x.size()
        q, k, v = self.qkv(x).split(width, dim=2)
        q = q.view(batch, length, self.heads, width // self.heads).transpose(1, 2)
        k = k.view(batch, length, self.heads, width // self.heads).transpose(1, 2)
        v = v.view(batch, length, self.heads, width // self.heads).transpose(1, 2)
        seen = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(seen.transpose(1, 2).contiguous().view(batch, length, width))


class Layer(nn.Module):
    def __init__(self, width: int, heads: int):
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(approximate="tanh"), nn.Linear(4 * width, width)
        )

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class Writer(nn.Module):
    def __init__(self, words: int, length: int, width: int, layers: int):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.places = nn.Embedding(length, width)
        self.layers = nn.ModuleList([Layer(width, 4) for _ in range(layers)])
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, words, bias=False)
        self.head.weight = self.words.weight

    def forward(self, tokens, wanted):
        x = self.words(tokens) + self.places(torch.arange(tokens.size(1)))
        for layer in self.layers:
            x = layer(x)
        logits = self.head(self.norm(x))
        loss = F.cross_entropy(logits.view(-1, logits.size(-1)), wanted.reshape(-1))
        return logits, loss


def language_model(prepared):
    """AdamW with and without decay, a warm-up that falls as a cosine, gradients clipped."""
    torch.manual_seed(61)
    model = Writer(65, 32, 64, 2)
    decayed = [p for p in model.parameters() if p.dim() >= 2]
    others = [p for p in model.parameters() if p.dim() < 2]
    groups = [{"params": decayed, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=1e-3, betas=(0.9, 0.95))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda n: min((n + 1) / 5, 0.5 * (1 + math.cos(math.pi * min(n, 100) / 100)))
    )
    network = prepared(model)
    text = torch.randint(0, 65, (400,))

    def step():
        begins = torch.randint(0, 400 - 33, (8,)).tolist()
        tokens = torch.stack([text[b : b + 32] for b in begins])
        wanted = torch.stack([text[b + 1 : b + 33] for b in begins])
        _, loss = network(tokens, wanted)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        return loss

    return step


class Twice(nn.Module):
    def __init__(self, inward: int, outward: int):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(inward, outward, 3, padding=1, bias=False),
            nn.BatchNorm2d(outward),
            nn.ReLU(inplace=True),
            nn.Conv2d(outward, outward, 3, padding=1, bias=False),
            nn.BatchNorm2d(outward),
            nn.ReLU(inplace=True),
        )

    def forward(self, x):
        return self.layers(x)


class UNet(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.down1 = Twice(3, width)
        self.down2 = Twice(width, 2 * width)
        self.bottom = Twice(2 * width, 4 * width)
        self.pool = nn.MaxPool2d(2)
        self.up2 = nn.ConvTranspose2d(4 * width, 2 * width, 2, stride=2)
        self.join2 = Twice(4 * width, 2 * width)
        self.up1 = nn.ConvTranspose2d(2 * width, width, 2, stride=2)
        self.join1 = Twice(2 * width, width)
        self.last = nn.Conv2d(width, 1, 1)

    def forward(self, x):
        one = self.down1(x)
        two = self.down2(self.pool(one))
        x = self.up2(self.bottom(self.pool(two)))
        x = self.up1(self.join2(torch.cat([two, x], dim=1)))
        return self.last(self.join1(torch.cat([one, x], dim=1)))


def dice(made, wanted):
    made = torch.sigmoid(made).flatten(1)
    wanted = wanted.flatten(1)
    both = (made * wanted).sum(1)
    return 1 - ((2 * both + 1) / (made.sum(1) + wanted.sum(1) + 1)).mean()


def unet_dice(prepared):
    torch.manual_seed(62)
    model = prepared(UNet(8))
    x = torch.randn(4, 3, 32, 32)
    y = (x.mean(1, keepdim=True) > 0).float()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    def loss():
        made = model(x)
        return 0.5 * F.binary_cross_entropy_with_logits(made, y) + 0.5 * dice(made, y)

    return trained(optimizer, loss)


class Towers(nn.Module):
    """Pictures and texts meet in one space."""

    def __init__(self):
        super().__init__()
        self.pictures = nn.Sequential(
            nn.Conv2d(3, 16, 4, stride=4), nn.GELU(), nn.Flatten(), nn.Linear(16 * 16, 32)
        )
        self.words = nn.Embedding(50, 32)
        self.texts = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
        self.out = nn.Linear(32, 32, bias=False)
        self.scale = nn.Parameter(torch.ones([]) * math.log(1 / 0.07))

    def forward(self, pictures, tokens):
        one = F.normalize(self.pictures(pictures), dim=-1)
        other = F.normalize(self.out(self.texts(self.words(tokens)).mean(1)), dim=-1)
        logits = self.scale.exp() * one @ other.t()
        return logits, logits.t()


def two_towers(prepared):
    torch.manual_seed(63)
    model = prepared(Towers())
    pictures, tokens = torch.randn(16, 3, 16, 16), torch.randint(0, 50, (16, 10))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.2)

    def loss():
        by_picture, by_text = model(pictures, tokens)
        wanted = torch.arange(len(pictures))
        return (F.cross_entropy(by_picture, wanted) + F.cross_entropy(by_text, wanted)) / 2

    return trained(optimizer, loss)


class Denoiser(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.width = width
        self.time = nn.Sequential(nn.Linear(width, width), nn.SiLU(), nn.Linear(width, width))
        self.inward = nn.Conv2d(1, width, 3, padding=1)
        self.norm = nn.GroupNorm(4, width)
        self.middle = nn.Conv2d(width, width, 3, padding=1)
        self.last = nn.Conv2d(width, 1, 3, padding=1)

    def forward(self, x, t):
        half = self.width // 2
        rates = torch.exp(-math.log(10000.0) * torch.arange(half, dtype=torch.float32) / half)
        angles = t.float().unsqueeze(1) * rates.unsqueeze(0)
        when = self.time(torch.cat([angles.sin(), angles.cos()], dim=1))
        x = self.inward(x)
        x = x + self.middle(F.silu(self.norm(x + when[:, :, None, None])))
        return self.last(F.silu(x))


def diffusion(prepared):
    """Noise is to be told from pictures; a mean of the weights is kept."""
    torch.manual_seed(64)
    model = prepared(Denoiser(16))
    mean = [p.detach().clone() for p in model.parameters()]
    kept = torch.cumprod(1 - torch.linspace(1e-4, 0.02, 100), dim=0)
    x = torch.rand(8, 1, 16, 16) * 2 - 1
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-4)

    def step():
        t = torch.randint(0, 100, (x.shape[0],))
        noise = torch.randn_like(x)
        share = kept[t].view(-1, 1, 1, 1)
        noisy = share.sqrt() * x + (1 - share).sqrt() * noise
        loss = F.mse_loss(model(noisy, t), noise)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for average, p in zip(mean, model.parameters(), strict=True):
                average.mul_(0.99).add_(p, alpha=0.01)
        return loss

    return step


class Residual(nn.Module):
    def __init__(self, inward: int, outward: int, stride: int):
        super().__init__()
        self.conv1 = nn.Conv2d(inward, outward, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outward)
        self.conv2 = nn.Conv2d(outward, outward, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outward)
        self.short = nn.Sequential()
        if stride != 1 or inward != outward:
            self.short = nn.Sequential(
                nn.Conv2d(inward, outward, 1, stride, bias=False), nn.BatchNorm2d(outward)
            )

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        return F.relu(self.bn2(self.conv2(y)) + self.short(x))


def augmented(x):
    """Pictures cut anew out of padded ones, every second one turned around, on the average."""
    padded = F.pad(x, (2, 2, 2, 2), mode="reflect")
    top, left = torch.randint(0, 5, (2,)).tolist()
    x = padded[:, :, top : top + x.size(2), left : left + x.size(3)]
    turned = torch.rand(x.size(0), 1, 1, 1) < 0.5
    x = torch.where(turned, x.flip(3), x)
    return (x - x.mean((2, 3), keepdim=True)) / (x.std((2, 3), keepdim=True) + 1e-5)


def resnet_augmented(prepared):
    torch.manual_seed(65)
    layers = [nn.Conv2d(3, 8, 3, 1, 1, bias=False), nn.BatchNorm2d(8), nn.ReLU()]
    layers += [Residual(8, 8, 1), Residual(8, 16, 2), Residual(16, 32, 2)]
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10)]
    model = prepared(nn.Sequential(*layers))
    x, y = torch.rand(16, 3, 16, 16), torch.randint(0, 10, (16,))
    optimizer = torch.optim.SGD(model.parameters(), 0.05, 0.9, weight_decay=5e-4, nesterov=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=1_000_000)
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)

    def step():
        optimizer.zero_grad()
        loss = criterion(model(augmented(x)), y)
        loss.backward()
        optimizer.step()
        schedule.step()
        return loss

    return step


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(40, 16, padding_idx=0)
        self.lstm = nn.LSTM(16, 16, bidirectional=True, batch_first=True)
        self.last = nn.Linear(32, 6)

    def forward(self, tokens, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(
            self.words(tokens), lengths, batch_first=True, enforce_sorted=False
        )
        found, _ = self.lstm(packed)
        padded, _ = nn.utils.rnn.pad_packed_sequence(found, batch_first=True)
        return self.last(padded)


def packed_tagger(prepared):
    torch.manual_seed(66)
    model = prepared(Tagger())
    lengths = torch.tensor([9, 4, 7, 12, 2, 5, 8, 12])
    real = torch.arange(12).unsqueeze(0) < lengths.unsqueeze(1)
    tokens = torch.randint(1, 40, (8, 12)) * real
    tags = torch.randint(0, 6, (8, 12)).masked_fill(~real, -100)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

    def loss():
        made = model(tokens, lengths)
        return F.cross_entropy(made.transpose(1, 2), tags, ignore_index=-100)

    return trained(optimizer, loss)


LOOPS = {
    **{"language_model": language_model, "unet_dice": unet_dice, "two_towers": two_towers},
    **{"diffusion": diffusion, "resnet_augmented": resnet_augmented},
    **{"packed_tagger": packed_tagger},
}
