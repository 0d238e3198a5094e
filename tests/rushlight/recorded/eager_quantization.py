"""Models that are quantized statically, dynamically and in training; run here and under torch."""

from __future__ import annotations

from typing import Any

from values import plain, said, wave


def _filled(torch: Any, model: Any) -> Any:
    """The model with weights and statistics that are the same everywhere."""
    for place, parameter in enumerate(model.parameters()):
        parameter.data = wave(torch, *parameter.shape, step=0.3 + 0.1 * place) / 4 + 0.1
    for name, buffer in model.named_buffers():
        if "running" in name:
            buffer.data = wave(torch, *buffer.shape).abs() / 2 + 0.5
    return model


def _net(torch: Any, *layers: Any) -> Any:
    lib = torch.ao.quantization
    inner = torch.nn.Sequential(*layers)
    return _filled(torch, torch.nn.Sequential(lib.QuantStub(), inner, lib.DeQuantStub()))


def _static(torch: Any, layers: list[Any], x: Any, config: Any, fused: Any = None) -> Any:
    lib = torch.ao.quantization
    model = _net(torch, *layers).eval()
    model.qconfig = config
    if fused:
        model = lib.fuse_modules(model, fused)
    prepared = lib.prepare(model)
    prepared(x), prepared(x / 2 - 1)
    made = lib.convert(prepared)
    norms = "BNReLU" in repr(made)  # which torch cannot run in script
    again = made(x) if norms else torch.jit.script(made)(x)
    state = plain({key: value for key, value in made.state_dict().items() if "pack" not in key})
    inside = plain(made[1](made[0](x)))
    return [type(made[1][0]).__name__, inside, bool((again == made(x)).all()), state]


def static(torch: Any) -> Any:
    """Layer by layer: numbers, scales, states, and whether script gives the same."""
    nn, lib = torch.nn, torch.ao.quantization
    rows, image = wave(torch, 3, 6), wave(torch, 1, 4, 5, 5)
    line, room = wave(torch, 1, 4, 7), wave(torch, 1, 4, 3, 3, 3)
    first = lib.default_qconfig
    by_channels = lib.get_default_qconfig("fbgemm")
    norm = nn.BatchNorm2d
    pair, triple = [["1.0", "1.1"]], [["1.0", "1.1", "1.2"]]
    cases = [
        ([nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 2)], rows, first, None),
        ([nn.Linear(6, 5), nn.ReLU()], rows, by_channels, pair),
        ([nn.Conv1d(4, 2, 3, padding=1)], line, by_channels, None),
        ([nn.Conv2d(4, 2, 3, groups=2, stride=2), nn.ReLU()], image, by_channels, pair),
        ([nn.Conv2d(4, 2, 2, padding=1, padding_mode="reflect")], image, first, None),
        ([nn.Conv3d(4, 2, 2), nn.ReLU()], room, first, pair),
        ([nn.Conv2d(4, 2, 3), norm(2), nn.ReLU()], image, by_channels, triple),
        ([nn.ConvTranspose2d(4, 2, 3, stride=2, output_padding=1)], image, first, None),
        ([nn.BatchNorm3d(4), nn.ReLU()], room, first, pair),
        ([nn.LayerNorm(6)], rows, first, None),
        ([nn.GroupNorm(2, 4)], image, first, None),
        ([nn.InstanceNorm2d(4, affine=True)], image, first, None),
        ([nn.ELU(), nn.Hardswish(), nn.LeakyReLU(0.2), nn.ReLU6()], rows, first, None),
        ([nn.Conv2d(4, 2, 1), nn.MaxPool2d(2), nn.Flatten(), nn.Sigmoid()], image, first, None),
    ]
    return [_static(torch, *case) for case in cases]


def dynamic(torch: Any) -> Any:
    """Linear, recurrent and embedding layers with quantized weights."""
    nn, lib = torch.nn, torch.ao.quantization
    rows, steps = wave(torch, 3, 6), wave(torch, 4, 2, 6)
    places = torch.tensor([[1, 2, 0], [3, 1, 1]])
    made = []
    for dtype in (torch.qint8, torch.float16):
        for layer, x in (
            (nn.Linear(6, 5), rows),
            (nn.LSTM(6, 3, 2, bidirectional=True), steps),
            (nn.GRU(6, 3, batch_first=True), steps),
            (nn.LSTMCell(6, 3), rows),
            (nn.GRUCell(6, 3), rows),
            (nn.RNNCell(6, 3, nonlinearity="relu"), rows),
        ):
            model = lib.quantize_dynamic(_filled(torch, nn.Sequential(layer)), dtype=dtype)
            y, again = model(x), torch.jit.script(model)(x)
            same = [
                bool((a == b).all()) for a, b in zip(y, again, strict=True) if hasattr(a, "shape")
            ]
            made.append([repr(model), plain(y), all(same), list(model.state_dict())])
    table = _filled(torch, nn.Sequential(nn.Embedding(5, 8)))
    model = lib.quantize_dynamic(table, dtype=torch.quint8)
    return [*made, [repr(model), plain(model(places))]]


def trained(torch: Any) -> Any:
    """Losses of three steps with rounded weights and values, and what is converted then."""
    nn, lib = torch.nn, torch.ao.quantization
    rows, image, line = wave(torch, 5, 6), wave(torch, 2, 4, 5, 5), wave(torch, 2, 4, 7)
    cases = [
        ([nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 3)], rows, [["1.0", "1.1"]]),
        ([nn.Linear(6, 5), nn.BatchNorm1d(5)], rows, [["1.0", "1.1"]]),
        ([nn.Conv2d(4, 3, 3), nn.Sigmoid()], image, None),
        ([nn.Conv2d(4, 3, 3), nn.BatchNorm2d(3), nn.ReLU()], image, [["1.0", "1.1", "1.2"]]),
        ([nn.Conv1d(4, 3, 3), nn.BatchNorm1d(3)], line, [["1.0", "1.1"]]),
    ]
    made = []
    for version in (0, 1):
        for layers, x, fused in cases:
            model = _net(torch, *layers).train()
            model.qconfig = lib.get_default_qat_qconfig("fbgemm", version)
            model = lib.fuse_modules_qat(model, fused) if fused else model
            model = lib.prepare_qat(model)
            steps = torch.optim.SGD(model.parameters(), lr=0.001)
            losses = []
            for turn in range(3):
                steps.zero_grad()
                loss = (model(x * (1 + turn / 9)) ** 2).mean()
                loss.backward()
                steps.step()
                losses.append(float(loss))
            names = list(model.state_dict())
            done = lib.convert(model.eval())
            made.append([plain(losses), names, plain(done[1](done[0](x)).dequantize().mean())])
    return made


def functional(torch: Any) -> Any:
    """Sums, products and joins that are observed."""
    lib, pieces = torch.ao.quantization, torch.ao.nn.quantized

    class Sums(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.first, self.last = lib.QuantStub(), lib.DeQuantStub()
            self.a, self.b, self.c = (pieces.FloatFunctional() for _ in range(3))

        def forward(self, x: Any) -> Any:
            x = self.first(x)
            return self.last(self.c.cat([self.a.add(x, x), self.b.mul(x, x)], 1))

    model = Sums().eval()
    model.qconfig = lib.default_qconfig
    prepared = lib.prepare(model)
    prepared(wave(torch, 3, 4))
    made = lib.convert(prepared)
    return [repr(made), plain(made(wave(torch, 3, 4))), plain(made.state_dict())]


def refusals(torch: Any) -> Any:
    """What is said of modules that do not go."""
    nn, lib = torch.nn, torch.ao.quantization
    fixed, learned = torch.ao.nn.quantized, torch.ao.nn.qat
    plain_layer = nn.Linear(2, 2)
    tried = [
        lambda: fixed.Linear.from_float(nn.Bilinear(2, 2, 2)),
        lambda: fixed.Linear.from_float(plain_layer),
        lambda: fixed.Conv2d.from_float(nn.Bilinear(2, 2, 2)),
        lambda: fixed.Embedding.from_float(nn.Embedding(2, 2)),
        lambda: fixed.Linear(2, 2, dtype=torch.quint8),
        lambda: fixed.Conv2d(3, 2, 3, groups=2),
        lambda: fixed.Conv2d(3, 2, 3, padding_mode="circular"),
        lambda: fixed.dynamic.LSTM.from_float(plain_layer),
        lambda: learned.Linear(2, 2),
        lambda: learned.Conv2d.from_float(nn.Conv2d(1, 1, 1)),
        lambda: torch.ao.nn.intrinsic.LinearReLU(plain_layer, nn.Tanh()),
        lambda: lib.quantize_dynamic(plain_layer, dtype=torch.int32),
        lambda: lib.prepare_qat(nn.Linear(2, 2).eval()),
        lambda: fixed.FloatFunctional()(1),
        lambda: fixed.functional.avg_pool2d(torch.ones(1, 1, 2, 2), 2),
    ]
    return [said(each) for each in tried]


CASES = {
    **{"static": static, "dynamic": dynamic, "trained": trained},
    **{"functional": functional, "refusals": refusals},
}
