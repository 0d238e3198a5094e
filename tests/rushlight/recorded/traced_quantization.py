"""Models that are traced, prepared and converted; run here and under torch."""

from __future__ import annotations

import copy
import linecache
from importlib import import_module
from typing import Any

from values import plain, said, wave

EXPRESSIONS = {
    "image": [
        *(
            "self.fc(self.relu(self.bn(self.conv(x))))",
            "self.conv(x) + x",
            "F.relu(self.conv(x) + 1)",
        ),
        *("F.relu(self.conv(x) * x)", "self.conv(x) * 2", "torch.cat([self.conv(x), x], 1)"),
        *("self.sigmoid(self.seq(x)).mean(1)", "torch.tanh(F.hardsigmoid(self.conv(x)))"),
        *("torch.matmul(x, x)", "F.max_pool2d(x, 2)", "F.softmax(self.conv(x), 1)", "x.sum()"),
        *("self.fc(F.hardswish(self.conv(x)))", "F.leaky_relu(self.conv(x), 0.1)", "F.elu(x)"),
        *("self.hardswish(self.normal(self.drop(x)))", "self.bn(x)", "F.relu(self.bn(x))"),
        *("self.group(self.instance(x))", "F.adaptive_avg_pool2d(self.conv(x), 1).flatten(1)"),
        *(
            "self.conv(x).permute(0, 2, 3, 1).reshape(-1, 4)",
            "F.interpolate(self.conv(x), (10, 10))",
        ),
        *(
            "self.conv(x).reshape(x.size(0), -1)",
            "torch.stack([x, x])",
            "F.relu6(self.conv(x)).clamp(0, 1)",
        ),
        *("self.again(self.conv(x)) + x", "self.conv(x)[:, 1:]", "x - self.conv(x)"),
    ],
    "rows": [
        *(
            "self.fc(x)",
            "F.relu(self.fc(x))",
            "F.linear(x, self.w)",
            "F.relu(F.linear(x, self.w, self.b))",
        ),
        *("self.fc(torch.sigmoid(x))", "self.line(x.unsqueeze(1))"),
    ],
}


def _filled(torch: Any, model: Any) -> Any:
    for place, parameter in enumerate(model.parameters()):
        parameter.data = wave(torch, *parameter.shape, step=0.3 + 0.1 * place) / 4 + 0.1
    for name, buffer in model.named_buffers():
        if "running" in name:
            buffer.data = wave(torch, *buffer.shape).abs() / 2 + 0.5
    return model


def _model(torch: Any, text: str) -> Any:
    nn = torch.nn
    source = f"def forward(self, x):\n    return {text}\n"
    name = f"<traced: {text}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    held: dict[str, Any] = {"F": nn.functional, "torch": torch, "__name__": __name__}
    exec(compile(source, name, "exec"), held)

    class Model(nn.Module):  # type: ignore[misc, name-defined]
        forward = held["forward"]

        def __init__(self) -> None:
            super().__init__()
            self.conv, self.bn, self.relu = nn.Conv2d(4, 4, 1), nn.BatchNorm2d(4), nn.ReLU()
            self.fc, self.sigmoid, self.again = nn.Linear(5, 3), nn.Sigmoid(), nn.Conv2d(4, 4, 1)
            self.seq = nn.Sequential(nn.Conv2d(4, 4, 3), nn.ReLU())
            self.hardswish, self.normal, self.drop = nn.Hardswish(), nn.LayerNorm(5), nn.Dropout()
            self.group, self.instance = nn.GroupNorm(2, 4), nn.InstanceNorm2d(4, affine=True)
            self.w, self.b = nn.Parameter(torch.ones(3, 5)), nn.Parameter(torch.ones(3))
            self.prelu, self.line = nn.PReLU(), nn.Conv1d(1, 2, 3)

    return _filled(torch, Model())


def _lib(torch: Any) -> Any:
    return import_module(f"{torch.__name__}.ao.quantization.quantize_fx")


def _calls(model: Any) -> list[str]:
    """What a graph calls, in order."""
    made = []
    for node in model.graph.nodes:
        if node.op == "call_module":
            made.append(type(model.get_submodule(node.target)).__name__)
        elif node.op in ("call_function", "call_method"):
            made.append(getattr(node.target, "__name__", str(node.target)))
    return made


def static(torch: Any) -> Any:
    """Programs: the calls of all three forms, and numbers."""
    lib, fx = torch.ao.quantization, _lib(torch)
    inputs = {"image": wave(torch, 1, 4, 5, 5), "rows": wave(torch, 3, 5)}
    made = []
    for kind, texts in EXPRESSIONS.items():
        x = inputs[kind]
        for place, text in enumerate(texts):
            mapping = lib.get_default_qconfig_mapping("fbgemm" if place % 3 else "qnnpack")
            prepared = fx.prepare_fx(_model(torch, text).eval(), mapping, (x,))
            seen = _calls(prepared)
            prepared(x), prepared(x / 2 - 1)
            reference = fx.convert_to_reference_fx(copy.deepcopy(prepared))
            done = fx.convert_fx(prepared)
            numbers = [plain(reference(x).sum()), plain(done(x))]
            made.append([text, seen, _calls(reference), sorted(_calls(done)), *numbers])
    return made


def dynamic(torch: Any) -> Any:
    """Linear, recurrent and embedding layers with quantized weights."""
    nn, lib, fx = torch.nn, torch.ao.quantization, _lib(torch)

    class Words(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.table, self.lstm, self.head = nn.Embedding(7, 6), nn.LSTM(6, 4), nn.Linear(4, 2)

        def forward(self, words: Any) -> Any:
            rows, _ = self.lstm(self.table(words))
            return self.head(rows)

    words = torch.tensor([[1, 2], [0, 6], [3, 3]])
    made = []
    for config in (lib.default_dynamic_qconfig, lib.float16_dynamic_qconfig):
        mapping = lib.QConfigMapping().set_global(config)
        if config is lib.default_dynamic_qconfig:
            mapping.set_object_type(nn.Embedding, lib.float_qparams_weight_only_qconfig)
        prepared = fx.prepare_fx(_filled(torch, Words()).eval(), mapping, (words,))
        seen = _calls(prepared)
        done = fx.convert_fx(prepared)
        made.append([seen, _calls(done), plain(done(words))])
    return made


def trained(torch: Any) -> Any:
    """Losses of steps with rounded weights and values, and what is converted then."""
    nn, lib, fx = torch.nn, torch.ao.quantization, _lib(torch)
    made = []
    layers = [nn.Conv2d(4, 3, 3), nn.BatchNorm2d(3), nn.ReLU(), nn.Flatten(), nn.Linear(27, 2)]
    image = wave(torch, 2, 4, 5, 5)
    for version in (0, 1):
        mapping = lib.get_default_qat_qconfig_mapping("fbgemm", version)
        model = _filled(torch, nn.Sequential(*copy.deepcopy(layers))).train()
        prepared = fx.prepare_qat_fx(model, mapping, (image,))
        steps = torch.optim.SGD(prepared.parameters(), lr=0.001)
        losses = []
        for turn in range(3):
            steps.zero_grad()
            loss = (prepared(image * (1 + turn / 9)) ** 2).mean()
            loss.backward()
            steps.step()
            losses.append(float(loss))
        seen = _calls(prepared)
        done = fx.convert_fx(prepared.eval())
        made.append([seen, plain(losses), sorted(_calls(done)), plain(done(image).mean())])
    return made


def mappings(torch: Any) -> Any:
    """Configurations by kind, name, pattern and place."""
    nn, lib, fx = torch.nn, torch.ao.quantization, _lib(torch)
    x = wave(torch, 3, 5)

    def fresh() -> Any:
        pair = nn.Sequential(nn.Linear(5, 5), nn.ReLU())
        return _filled(torch, nn.Sequential(pair, nn.Linear(5, 5), nn.Linear(5, 2))).eval()

    one = lib.default_qconfig
    tried = [
        lib.QConfigMapping(),
        lib.QConfigMapping().set_object_type(nn.Linear, one).set_object_type(nn.ReLU, one),
        lib.QConfigMapping().set_global(one).set_module_name("0", None),
        lib.QConfigMapping().set_module_name_regex("[12]", one),
        lib.QConfigMapping()
        .set_global(one)
        .set_object_type(nn.Linear, None)
        .set_object_type(nn.ReLU, None),
        lib.QConfigMapping().set_module_name_object_type_order("", nn.Linear, 1, one),
        {"": one, "module_name": [("2", None)]},
    ]
    made = []
    for mapping in tried:
        prepared = fx.prepare_fx(fresh(), mapping, (x,))
        prepared(x)
        seen = _calls(prepared)
        done = fx.convert_fx(prepared)
        made.append([seen, sorted(_calls(done)), plain(done(x))])
    fused = fx.fuse_fx(nn.Sequential(nn.Conv1d(1, 2, 2), nn.BatchNorm1d(2), nn.ReLU()).eval())
    return [*made, [_calls(fused)]]


def refusals(torch: Any) -> Any:
    """What is said of what does not go."""
    fx = _lib(torch)
    nn, lib = torch.nn, torch.ao.quantization
    pair = nn.Sequential(nn.Linear(2, 2), nn.ReLU()).eval()
    mapping = lib.QConfigMapping().set_object_type(nn.Linear, lib.default_qconfig)
    tried = [
        lambda: fx.convert_fx(torch.nn.Linear(2, 2)),
        lambda: fx.prepare_fx(pair, mapping, (torch.ones(1, 2),)),
    ]
    return [said(each) for each in tried]


CASES = {
    **{"static": static, "dynamic": dynamic, "trained": trained},
    **{"mappings": mappings, "refusals": refusals},
}
