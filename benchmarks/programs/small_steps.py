"""Loops over small tensors: filters, cells, steps of physics, decoders with caches."""

from typing import List, Tuple

from makers import network

import rushlight as torch
from rushlight import Tensor, nn


def kalman(z: Tensor, F: Tensor, H: Tensor, Q: Tensor, R: Tensor) -> Tensor:
    x = torch.zeros(4)
    P = torch.eye(4)
    out: List[Tensor] = []
    one = torch.eye(4)
    for t in range(z.size(0)):
        x = F @ x
        P = F @ P @ F.t() + Q
        y = z[t] - H @ x
        S = H @ P @ H.t() + R
        K = P @ H.t() @ torch.inverse(S)
        x = x + K @ y
        P = (one - K @ H) @ P
        out.append(x)
    return torch.stack(out)


def rk4(y: Tensor, A: Tensor, steps: int, h: float) -> Tensor:
    for _ in range(steps):
        k1 = torch.tanh(A @ y)
        k2 = torch.tanh(A @ (y + 0.5 * h * k1))
        k3 = torch.tanh(A @ (y + 0.5 * h * k2))
        k4 = torch.tanh(A @ (y + h * k3))
        y = y + h / 6.0 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y


def gru_by_hand(
    xs: Tensor, h: Tensor, Wz: Tensor, Uz: Tensor, Wr: Tensor, Ur: Tensor, Wh: Tensor, Uh: Tensor
) -> Tensor:
    for t in range(xs.size(0)):
        x = xs[t]
        z = torch.sigmoid(x @ Wz + h @ Uz)
        r = torch.sigmoid(x @ Wr + h @ Ur)
        n = torch.tanh(x @ Wh + (r * h) @ Uh)
        h = (1 - z) * h + z * n
    return h


def attention_cache(qs: Tensor, ks: Tensor, vs: Tensor) -> Tensor:
    keys = ks[:1]
    values = vs[:1]
    out: List[Tensor] = []
    for t in range(1, qs.size(0)):
        keys = torch.cat([keys, ks[t : t + 1]], dim=0)
        values = torch.cat([values, vs[t : t + 1]], dim=0)
        scores = (keys @ qs[t]) / 4.0
        out.append(torch.softmax(scores, dim=0) @ values)
    return torch.stack(out)


def ema(x: Tensor, a: float) -> Tensor:
    s = x[0]
    out: List[Tensor] = [s]
    for i in range(1, x.size(0)):
        s = a * x[i] + (1 - a) * s
        out.append(s)
    return torch.stack(out)


def bouncing(p: Tensor, v: Tensor, steps: int) -> Tensor:
    g = torch.tensor([0.0, -9.8])
    for _ in range(steps):
        v = v + g * 0.01
        p = p + v * 0.01
        hit = p[:, 1] < 0.0
        v = torch.where(hit.unsqueeze(1), v * torch.tensor([1.0, -0.9]), v)
        p = torch.clamp(p, min=0.0)
    return p


def nbody(p: Tensor, v: Tensor, m: Tensor, steps: int) -> Tensor:
    for _ in range(steps):
        d = p.unsqueeze(0) - p.unsqueeze(1)
        r2 = (d * d).sum(-1) + 0.01
        a = (d * (m / r2**1.5).unsqueeze(-1)).sum(1)
        v = v + a * 0.01
        p = p + v * 0.01
    return p


def greedy_item(logits: Tensor) -> List[int]:
    out: List[int] = []
    last = -1
    for t in range(logits.size(0)):
        k = int(logits[t].argmax().item())
        if k != last and k != 0:
            out.append(k)
        last = k
    return out


def beam_search(logp: Tensor, width: int) -> Tuple[List[List[int]], Tensor]:
    empty: List[int] = []
    seqs: List[List[int]] = [empty]
    scores = torch.zeros(1)
    for t in range(logp.size(0)):
        total = scores.unsqueeze(1) + logp[t].unsqueeze(0)
        best, at = total.flatten().topk(min(width, total.numel()))
        new: List[List[int]] = []
        n = logp.size(1)
        for j in range(at.size(0)):
            k = int(at[j])
            new.append(seqs[k // n] + [k % n])
        seqs = new
        scores = best
    return seqs, scores


def decode_boxes(anchors: Tensor, deltas: Tensor) -> Tensor:
    w = anchors[:, 2] - anchors[:, 0]
    h = anchors[:, 3] - anchors[:, 1]
    cx = anchors[:, 0] + 0.5 * w
    cy = anchors[:, 1] + 0.5 * h
    dx, dy, dw, dh = deltas.unbind(1)
    px = dx * w + cx
    py = dy * h + cy
    pw = torch.exp(dw.clamp(max=4.0)) * w
    ph = torch.exp(dh.clamp(max=4.0)) * h
    return torch.stack([px - 0.5 * pw, py - 0.5 * ph, px + 0.5 * pw, py + 0.5 * ph], dim=1)


def sinkhorn(c: Tensor, steps: int) -> Tensor:
    k = torch.exp(-c)
    u = torch.ones(c.size(0))
    v = torch.ones(c.size(1))
    for _ in range(steps):
        u = 1.0 / (k @ v)
        v = 1.0 / (k.t() @ u)
    return u.unsqueeze(1) * k * v


def conjugate_gradient(A: Tensor, b: Tensor, steps: int) -> Tensor:
    x = torch.zeros_like(b)
    r = b - A @ x
    p = r
    rs = torch.dot(r, r)
    for _ in range(steps):
        Ap = A @ p
        alpha = rs / torch.dot(p, Ap)
        x = x + alpha * p
        r = r - alpha * Ap
        new = torch.dot(r, r)
        if float(new) < 1e-10:
            break
        p = r + (new / rs) * p
        rs = new
    return x


def gradient_descent(X: Tensor, y: Tensor, steps: int, lr: float) -> Tensor:
    w = torch.zeros(X.size(1))
    for _ in range(steps):
        e = torch.sigmoid(X @ w) - y
        w = w - lr * (X.t() @ e) / X.size(0)
    return w


def kmeans(x: Tensor, c: Tensor, steps: int) -> Tensor:
    for _ in range(steps):
        d = torch.cdist(x, c)
        at = d.argmin(dim=1)
        new: List[Tensor] = []
        for k in range(c.size(0)):
            mask = (at == k).to(x.dtype).unsqueeze(1)
            new.append((x * mask).sum(0) / mask.sum().clamp(min=1.0))
        c = torch.stack(new)
    return c


def top_p(logits: Tensor, p: float) -> Tensor:
    out: List[Tensor] = []
    for t in range(logits.size(0)):
        probs = torch.softmax(logits[t], dim=-1)
        s, i = torch.sort(probs, descending=True)
        cum = torch.cumsum(s, dim=0)
        s = s.masked_fill(cum - s > p, 0.0)
        s = s / s.sum()
        out.append(torch.zeros_like(probs).scatter(0, i, s))
    return torch.stack(out)


def repetition_penalty(logits: Tensor, seen: List[int], penalty: float) -> Tensor:
    out = logits.clone()
    for i in seen:
        v = out[i]
        if bool(v > 0):
            out[i] = v / penalty
        else:
            out[i] = v * penalty
    return out


def pad_batch(seqs: List[Tensor], value: float) -> Tuple[Tensor, Tensor]:
    longest = 0
    for s in seqs:
        longest = max(longest, s.size(0))
    out = torch.full((len(seqs), longest), value)
    lengths = torch.zeros(len(seqs), dtype=torch.int64)
    for i, s in enumerate(seqs):
        out[i, : s.size(0)] = s
        lengths[i] = s.size(0)
    return out, lengths


class CachedDecoder(nn.Module):
    def __init__(self, v: int = 40, d: int = 16, n: int = 32):
        super().__init__()
        self.emb = nn.Embedding(v, d)
        self.q = nn.Linear(d, d)
        self.k = nn.Linear(d, d)
        self.v = nn.Linear(d, d)
        self.out = nn.Linear(d, v)
        self.d = d

    def forward(self, start: int, steps: int) -> List[int]:
        keys: List[Tensor] = []
        values: List[Tensor] = []
        token = start
        found: List[int] = []
        for _ in range(steps):
            x = self.emb(torch.tensor([token]))
            keys.append(self.k(x))
            values.append(self.v(x))
            K = torch.cat(keys)
            V = torch.cat(values)
            w = torch.softmax(self.q(x) @ K.t() / self.d**0.5, dim=-1)
            token = int(self.out(x + w @ V).argmax(-1))
            found.append(token)
        return found


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))

    def forward(self, steps: int) -> float:
        s = torch.tensor([0.01, 0.02, -0.01, 0.03])
        total = 0.0
        for _ in range(steps):
            a = self.net(s).argmax().item()
            force = 10.0 if a == 1 else -10.0
            th = float(s[2])
            s = s + 0.02 * torch.stack(
                [s[1], torch.tensor(force * 0.1), s[3], torch.sin(s[2]) * 9.8]
            )
            total += 1.0
            if abs(th) > 2.0:
                break
        return total


def program(function, arguments, seed=0):
    """A function, and what makes the arguments that it is called with."""

    def made():
        torch.manual_seed(seed)
        return function, torch.jit.script(function), arguments()

    return made


def boxes(count):
    """Boxes by their corners."""
    corners = torch.rand(count, 4) * 50
    corners[:, 2:] = corners[:, :2] + 5 + torch.rand(count, 2) * 20
    return corners


def definite(size):
    """A symmetric matrix whose eigenvalues are positive."""
    some = torch.randn(size, size)
    return some @ some.t() + size * torch.eye(size)


def of(*shapes):
    """What makes random tensors of some shapes."""
    return lambda: tuple(torch.randn(*shape) for shape in shapes)


PROGRAMS = {
    "kalman": program(
        kalman,
        lambda: (
            *(torch.randn(30, 2), torch.eye(4) + 0.1 * torch.randn(4, 4), torch.randn(2, 4)),
            *(0.01 * torch.eye(4), 0.1 * torch.eye(2)),
        ),
    ),
    "rk4": program(rk4, lambda: (torch.randn(8), torch.randn(8, 8), 30, 0.05)),
    "gru_by_hand": program(gru_by_hand, of((30, 8), (16,), *[(8, 16), (16, 16)] * 3)),
    "attention_cache": program(attention_cache, of((30, 16), (30, 16), (30, 16))),
    "smoothed": program(ema, lambda: (torch.randn(60), 0.3)),
    "bouncing": program(bouncing, lambda: (torch.rand(10, 2), torch.randn(10, 2), 30)),
    "nbody": program(nbody, lambda: (torch.randn(8, 3), torch.randn(8, 3), torch.rand(8), 20)),
    "greedy_item": program(greedy_item, of((50, 20))),
    "beam_of_lists": program(beam_search, lambda: (torch.log_softmax(torch.randn(12, 20), 1), 4)),
    "decoded_boxes": program(decode_boxes, lambda: (boxes(100), torch.randn(100, 4))),
    "sinkhorn": program(sinkhorn, lambda: (torch.rand(12, 10), 40)),
    "conjugate_gradient": program(conjugate_gradient, lambda: (definite(16), torch.randn(16), 30)),
    "logistic_steps": program(
        gradient_descent, lambda: (torch.randn(64, 8), torch.rand(64).round(), 50, 0.1)
    ),
    "kmeans": program(kmeans, lambda: (torch.randn(60, 3), torch.randn(4, 3), 8)),
    "top_p": program(top_p, lambda: (torch.randn(10, 50), 0.9)),
    "repetition_penalty": program(
        repetition_penalty, lambda: (torch.randn(50), [3, 5, 7, 3, 20, 11, 49], 1.2)
    ),
    "padded": program(pad_batch, lambda: ([torch.randn(n) for n in (3, 7, 5, 9, 2, 8)], 0.0)),
    "cached_decoder": network(CachedDecoder, lambda: (1, 20), 0),
    "policy": network(Policy, lambda: (30,), 0),
}
