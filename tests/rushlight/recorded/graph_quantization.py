"""Scripted modules whose graphs are quantized; run here and under torch."""

from __future__ import annotations

import linecache
import re
from typing import Any

from values import plain, said, wave

NET = "self.linear(F.adaptive_avg_pool2d(F.relu(self.norm(a)), [1, 1]).flatten(1))"
EXPRESSIONS = {
    "image": [
        NET,
        *("F.relu(a)", "F.relu6(a)", "F.leaky_relu(a)", "F.elu(a)", "F.hardswish(a)"),
        *("F.hardsigmoid(a)", "torch.sigmoid(a)", "torch.tanh(a)", "torch.clamp(a, 0., 1.)"),
        *("a.mean(1)", "a.sum(1)", "torch.max(a, 1)[0]", "torch.sort(a)[0]"),
        *("F.max_pool2d(a, 2)", "F.avg_pool2d(a, 2)"),
        *("a.permute(0, 2, 3, 1)", "a.flatten()", "a.transpose(1, 2)", "a.unsqueeze(0)"),
        *("torch.chunk(a, 2, 1)[0]", "a[0]", "a.repeat(1, 1, 1, 2)", "torch.stack([a, a])"),
        *("torch.cat([a, a])", "torch.cat([a, x])", "a + x", "a * x", "x * a + a"),
        *("a + 1", "a * 2", "a - 1", "a / 2", "F.relu(a + 1)", "F.relu(a * 2)", "F.relu(a + x)"),
        *("F.relu(torch.cat([a, a]))", "torch.add(a, a, alpha=2)", "F.layer_norm(a, [5, 5])"),
        *("a.relu_()", "(a, F.relu(a))", "a + F.relu(a)"),
        *("self.normal(a)", "F.relu(self.norm(F.relu(a)))", "F.dropout(a, 0.5, False)"),
        *("self.branches(a)", "F.relu(self.branches(a))"),
    ],
    "rows": [
        *(
            "self.linear(x)",
            "F.relu(self.linear(x))",
            "self.linear(torch.softmax(self.wide(x), 1)[:, :4])",
        ),
        *("self.linear(self.wide(x).view(-1, 4))", "self.linear(torch.sigmoid(x))", "x + 1"),
        "(self.linear(x), x)",
    ],
}


def _filled(torch: Any, model: Any) -> Any:
    for place, parameter in enumerate(model.parameters()):
        parameter.data = wave(torch, *parameter.shape, step=0.3 + 0.1 * place) / 4 + 0.1
    for name, buffer in model.named_buffers():
        if "running" in name:
            buffer.data = wave(torch, *buffer.shape).abs() / 2 + 0.5
    return model.eval()


def _scripted(torch: Any, kind: str, text: str) -> Any:
    """A scripted module with some layers that gives what a text says."""
    nn = torch.nn
    first = "    a = self.conv(x)\n" if kind == "image" else ""
    source = f"def forward(self, x):\n{first}    return {text}\n"
    name = f"<{kind}: {text}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    held: dict[str, Any] = {"F": nn.functional, "torch": torch, "__name__": __name__}
    exec(compile(source, name, "exec"), held)

    class Model(nn.Module):  # type: ignore[misc, name-defined]
        forward = held["forward"]

        def __init__(self) -> None:
            super().__init__()
            self.conv, self.norm = nn.Conv2d(4, 4, 1), nn.BatchNorm2d(4)
            self.linear, self.wide = nn.Linear(4, 3), nn.Linear(4, 8)
            self.normal = nn.GroupNorm(2, 4)

        def branches(self, x):  # type: ignore[no-untyped-def]
            if bool(x.max() > 0):
                return self.norm(x)
            return nn.functional.relu(self.norm(x))

    return torch.jit.script(_filled(torch, Model()))


def _told(made: Any, x: Any) -> list[Any]:
    """The quantized operators of a module, and what it gives."""
    kinds = re.findall(r"(?:quantized::|aten::quantize_per)\w+", str(made.graph))
    return [sorted(kinds), plain(made(x))]


def static(torch: Any) -> Any:
    """Programs: what is observed, the operators that come of it, and numbers."""
    lib = torch.ao.quantization
    made = []
    inputs = {"image": wave(torch, 1, 4, 5, 5), "rows": wave(torch, 3, 4)}
    for kind, texts in EXPRESSIONS.items():
        x = inputs[kind]
        for place, text in enumerate(texts):
            config = lib.get_default_qconfig("fbgemm") if place < 2 else lib.default_qconfig
            prepared = lib.prepare_jit(_scripted(torch, kind, text), {"": config})
            prepared(x), prepared(x / 2 - 1)
            seen = sum("_observer_" in name for name, _ in prepared.named_modules())
            made.append([text, seen, *_told(lib.convert_jit(prepared), x)])
    return made


def layers(torch: Any) -> Any:
    """Layers of other dimensions, parts that are left out, and the form between quantizers."""
    nn, lib = torch.nn, torch.ao.quantization
    line, room = wave(torch, 1, 4, 7), wave(torch, 1, 4, 3, 3, 3)
    rows, image = wave(torch, 3, 6), wave(torch, 1, 4, 5, 5)
    by_channels = {"": lib.get_default_qconfig("fbgemm")}
    pair = nn.Sequential(nn.Sequential(nn.Linear(6, 6), nn.ReLU()), nn.Linear(6, 2))
    cases = [
        (nn.Sequential(nn.Conv1d(4, 3, 3), nn.ReLU(inplace=True)), line, by_channels),
        (nn.Sequential(nn.Conv3d(4, 3, 2), nn.BatchNorm3d(3), nn.ReLU()), room, by_channels),
        (nn.Sequential(nn.Conv2d(4, 4, 3, 2, 1, 1, 2), nn.ReLU()), image, by_channels),
        (nn.Sequential(nn.Flatten(), nn.Linear(100, 3)), image, by_channels),
        (pair, rows, {"": lib.default_qconfig, "0.0": None}),
        (pair, rows, {"1": lib.default_qconfig}),
        (pair, rows, {"0": lib.default_qconfig}),
    ]
    made = []
    for model, x, configs in cases:
        scripted = torch.jit.script(_filled(torch, model))
        done = lib.quantize_jit(scripted, configs, lambda m, x: (m(x), m(-x)), [x])
        rounded = lib.quantize_jit(scripted, configs, lambda m, x: (m(x), m(-x)), [x], debug=True)
        made.append([*_told(done, x), *_told(rounded, x)])
    return made


def dynamic(torch: Any) -> Any:
    """Linear layers that quantize their inputs by the range of each call."""
    nn, lib = torch.nn, torch.ao.quantization
    rows = wave(torch, 3, 6)
    made = []
    model = nn.Sequential(nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 2, bias=False))
    for config in (
        *(lib.default_dynamic_qconfig, lib.per_channel_dynamic_qconfig),
        lib.float16_dynamic_qconfig,
    ):
        for configs in ({"": config}, {"": config, "0": None}):
            scripted = torch.jit.script(_filled(torch, model))
            done = lib.quantize_dynamic_jit(scripted, configs)
            made.append(_told(done, rows))
            prepared = lib.prepare_dynamic_jit(scripted, configs)
            made.append(plain(lib.convert_dynamic_jit(prepared, debug=True)(rows)))
    return made


def refusals(torch: Any) -> Any:
    """What is said of what does not go."""
    lib, layer = torch.ao.quantization, torch.nn.Linear(2, 2).eval()
    scripted = torch.jit.script(layer)
    config = {"": lib.default_qconfig}
    tried = [
        lambda: lib.prepare_jit(layer, config),
        lambda: lib.prepare_jit(scripted, {1: lib.default_qconfig}),
        lambda: lib.convert_jit(layer),
        lambda: lib.quantize_jit(scripted, config, None, []),
        lambda: lib.prepare_dynamic_jit(layer, config),
    ]
    return [said(each) for each in tried]


CASES = {"static": static, "layers": layers, "dynamic": dynamic, "refusals": refusals}
