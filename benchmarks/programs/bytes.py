"""Layers of eight bits, beside the same layers in float32."""

import warnings

import rushlight as torch

warnings.simplefilter("ignore")


class _Numbers(torch.nn.Module):
    """A quantized layer's whole numbers."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return self.layer(x).int_repr()


def _float(layer, *sizes):
    x = torch.rand(*sizes) * 4 - 2
    model = torch.nn.Sequential(layer).eval()
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    return model, torch.jit.script(model), (x,)


def _static(layer, *sizes):
    """Whole numbers in and out: the layer alone is timed."""
    model, _, (x,) = _float(layer, *sizes)
    quantization = torch.ao.quantization
    model = torch.nn.Sequential(quantization.QuantStub(), model[0]).eval()
    model.qconfig = quantization.default_qconfig
    prepared = quantization.prepare(model)
    prepared(x)
    made = quantization.convert(prepared)
    layers = _Numbers(made[1])
    return layers, torch.jit.script(layers), (made[0](x),)


def _dynamic(layer, *sizes):
    model, _, given = _float(layer, *sizes)
    made = torch.ao.quantization.quantize_dynamic(model)
    return made, torch.jit.script(made), given


_LAYERS = {
    "linear1024": (lambda: torch.nn.Linear(1024, 1024), 1, 1024),
    "linear768": (lambda: torch.nn.Linear(768, 3072), 256, 768),
    "conv64": (lambda: torch.nn.Conv2d(64, 64, 3, padding=1), 1, 64, 56, 56),
    "conv256": (lambda: torch.nn.Conv2d(256, 256, 3, padding=1), 1, 256, 14, 14),
    "conv3to64": (lambda: torch.nn.Conv2d(3, 64, 7, 2, 3), 1, 3, 224, 224),
    "conv1x1": (lambda: torch.nn.Conv2d(256, 64, 1), 1, 256, 28, 28),
    "depthwise96": (lambda: torch.nn.Conv2d(96, 96, 3, padding=1, groups=96), 1, 96, 28, 28),
}


def _program(make, name):
    layer, *sizes = _LAYERS[name]

    def made():
        torch.manual_seed(12)
        return make(layer(), *sizes)

    return made


_FORMS = {"float32": _float, "int8": _static}
PROGRAMS = {f"{n}_{form}": _program(make, n) for n in _LAYERS for form, make in _FORMS.items()}
PROGRAMS |= {f"{n}_dynamic": _program(_dynamic, n) for n in ("linear1024", "linear768")}
