"""Quantized layers in rare shapes and modes, and what they refuse; run here and under torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from values import plain, said, wave


def _filled(torch: Any, module: Any) -> Any:
    for place, each in enumerate(module.parameters()):
        each.data = wave(torch, *each.shape, step=0.3 + 0.1 * place) / 4 + 0.1
    return module


def _quantized(torch: Any, *sizes: int, dtype: str = "quint8") -> Any:
    return torch.quantize_per_tensor(wave(torch, *sizes), 0.05, 60, getattr(torch, dtype))


def _weight(torch: Any, *sizes: int) -> Any:
    return torch.quantize_per_tensor(wave(torch, *sizes) / 4, 0.02, 0, torch.qint8)


def _or_said(function: Callable[[], Any]) -> Any:
    """What a function gives, as plain values, or what it says."""
    made: list[Any] = []
    text = said(lambda: made.append(plain(function())))
    return made[0] if made else text


def shapes(torch: Any) -> Any:
    """Layers of each count of dimensions with inputs of others; modes of padding."""
    fixed, fused = torch.ao.nn.quantized, torch.ao.nn.intrinsic.quantized
    rows: list[Any] = []
    for dims in (1, 2, 3):
        for lib in (fixed, fused):
            name = f"Conv{dims}d" if lib is fixed else f"ConvReLU{dims}d"
            for mode in ("zeros", "reflect"):
                made: list[Any] = []
                make = getattr(lib, name)
                text = said(
                    lambda m=make, p=mode, made=made: made.append(
                        m(2, 2, 2, padding=1, padding_mode=p)
                    )
                )
                rows.append(text)
                for layer in made:
                    layer.set_weight_bias(_weight(torch, 2, 2, *[2] * dims), wave(torch, 2) / 2)
                    layer.scale, layer.zero_point = 0.1, 30
                    for more in (-1, 0, 1):
                        x = _quantized(torch, 1, 2, *[3] * (dims + more))
                        rows.append(_or_said(lambda f=layer, v=x: f(v)))
    for kind, dims in (("BNReLU2d", 2), ("BNReLU3d", 3), ("BatchNorm2d", 2), ("BatchNorm3d", 3)):
        layer = getattr(fused if "ReLU" in kind else fixed, kind)(2).eval()
        layer.scale, layer.zero_point = torch.tensor(0.1), torch.tensor(30)
        for more in (-1, 0, 1) if "ReLU" in kind else (0,):
            x = _quantized(torch, 1, 2, *[2] * (dims + more))
            rows.append(_or_said(lambda f=layer, v=x: f(v)))
    for dims in (1, 2, 3):
        make = getattr(fixed, f"ConvTranspose{dims}d")
        rows.append(said(lambda m=make: m(2, 2, 2, padding_mode="reflect")))
        layer = make(2, 2, 2)
        layer.set_weight_bias(_weight(torch, 2, 2, *[2] * dims), None)
        layer.scale, layer.zero_point = 0.1, 30
        for more in (-1, 0) if dims < 3 else (-1,):
            x = _quantized(torch, 1, 2, *[3] * (dims + more))
            rows.append(_or_said(lambda f=layer, v=x: f(v)))
    return rows


def added(torch: Any) -> Any:
    """Convolutions with sums."""
    fused = torch.ao.nn.intrinsic.quantized
    rows: list[Any] = []
    for kind in (fused.ConvAdd2d, fused.ConvAddReLU2d):
        for mode in ("zeros", "reflect"):
            layer = kind(2, 2, 3, padding=1, padding_mode=mode)
            layer.set_weight_bias(_weight(torch, 2, 2, 3, 3), None)
            layer.scale, layer.zero_point = 0.1, 30
            rows.append(said(lambda f=layer: f(_quantized(torch, 2, 3), _quantized(torch, 2, 3))))
    return rows


def dynamic(torch: Any) -> Any:
    """Dynamic layers: shapes, modes, dtypes."""
    lib = torch.ao.nn.quantized.dynamic
    rows: list[Any] = []
    for kind in ("Conv", "ConvTranspose"):
        for dims in (1, 2, 3):
            layer = getattr(lib, f"{kind}{dims}d")(2, 2, 2)
            layer.set_weight_bias(_weight(torch, 2, 2, *[2] * dims), None)
            for more in (-1, 0) if dims < 3 else (-1,):
                # The numbers depend on the engine that the processor allows.
                x = wave(torch, 1, 2, *[3] * (dims + more))
                rows.append(said(lambda f=layer, v=x: print(end=str(f(v))[:0])))
    relu = torch.ao.nn.intrinsic.quantized.dynamic.LinearReLU
    for dtype in (torch.qint8, torch.float16):
        for make in (relu, lib.Linear):
            layer = make(3, 2, dtype=dtype)
            weight = wave(torch, 2, 3) / 4 if dtype is torch.float16 else _weight(torch, 2, 3)
            layer.set_weight_bias(weight, wave(torch, 2))
            rows.append([repr(layer), plain(layer(wave(torch, 2, 3)))])
            state = {k: v for k, v in layer.state_dict().items() if "dtype" not in k}
            rows.append([list(state), plain(layer.weight())])
            again = make(3, 2, dtype=dtype)
            again.load_state_dict(layer.state_dict())
            rows.append(plain(again(wave(torch, 1, 3))))
            layer.version = None
            rows.append(_or_said(lambda f=layer: f(wave(torch, 1, 3))))
            layer._packed_params.dtype = torch.qint32
            rows.append(said(lambda f=layer: f(wave(torch, 1, 3))))
    return rows


def _quantized_part(torch: Any, module: Any, dtype: Any) -> Any:
    lib = torch.ao.quantization
    config = {torch.qint8: lib.default_dynamic_qconfig, torch.float16: lib.float16_dynamic_qconfig}
    module.qconfig = config[dtype]
    kinds = torch.ao.nn.quantized.dynamic
    return getattr(kinds, type(module).__name__).from_float(module)


def recurrent(torch: Any) -> Any:
    """Dynamic recurrent layers and cells: directions, batches, packed rows, mistakes."""
    nn, lib = torch.nn, torch.ao.nn.quantized.dynamic
    rows: list[Any] = []
    x = wave(torch, 3, 2, 3)
    settings: list[dict[str, Any]] = [
        {},
        {"bidirectional": True},
        {"batch_first": True, "num_layers": 2},
        {"num_layers": 2, "bidirectional": True},
    ]
    for kind in ("LSTM", "GRU"):
        for place, options in enumerate(settings):
            dtype = torch.float16 if place == 1 else torch.qint8
            float_one = _filled(torch, getattr(nn, kind)(3, 2, **options))
            layer = _quantized_part(torch, float_one, dtype)
            out, state = layer(x)
            rows.append([repr(layer), plain(out), plain(state)])
            rows.append(plain(layer(x, state)[0]))
            rows.append(sorted(layer.get_weight()) + sorted(layer.get_bias()))
        lengths = torch.tensor([2, 3])
        first = bool(options.get("batch_first"))
        packed = nn.utils.rnn.pack_padded_sequence(x, lengths, first, enforce_sorted=False)
        out, state = layer(packed)
        rows.append([plain(out.data), plain(state), plain(layer(packed, state)[0].data)])
        bad = x[0], wave(torch, 3, 2, 4)
        rows += [said(lambda v=v, f=layer: f(v)) for v in bad]
        short = wave(torch, 1, 2, 2)
        state = (short, short) if kind == "LSTM" else short
        rows.append(said(lambda f=layer, s=state: f(x, s)))
        if kind == "LSTM":
            rows.append(said(lambda f=layer, s=short: f(x, (x, s))))
    rows += [
        said(lambda: lib.LSTM(2, 2, dropout=2)),
        said(lambda: lib.LSTM(2, 2, dropout=True)),
        said(lambda: lib.LSTM(2, 2, dtype=torch.int8)),
        said(lambda: lib.GRU.from_float(nn.Linear(2, 2))),
        said(lambda: lib.LSTM.from_float(nn.LSTM(2, 2))),
    ]
    for kind in ("LSTMCell", "GRUCell", "RNNCell"):
        for place, options in enumerate([{}, {"bias": False}, {"nonlinearity": "relu"}]):
            if "nonlinearity" in options and kind != "RNNCell":
                continue
            dtype = torch.float16 if place == 1 else torch.qint8
            float_one = _filled(torch, getattr(nn, kind)(3, 2, **options))
            if options.get("bias") is False:
                rows.append(said(lambda m=float_one, d=dtype: _quantized_part(torch, m, d)))
                continue
            cell = _quantized_part(torch, float_one, dtype)
            out = cell(x[0])
            rows.append([repr(cell), plain(out), plain(cell(x[0], out))])
            rows += [list(cell.get_weight()), list(cell.get_bias())]
        state = wave(torch, 3, 2)
        rows += [said(lambda c=cell: c(wave(torch, 2, 4))), said(lambda c=cell: c(x[0, 0]))]
        given = (state, state) if kind == "LSTMCell" else state
        rows.append(said(lambda c=cell, s=given: c(x[0], s)))
        wide = wave(torch, 2, 5)
        given = (wide, wide) if kind == "LSTMCell" else wide
        rows.append(said(lambda c=cell, s=given: c(x[0], s)))
    rows += [said(lambda: lib.RNNCell.from_float(nn.Linear(2, 2)))]
    rows += [said(lambda: lib.RNNCell.from_float(nn.RNNCell(2, 2)))]
    wrong = lib.RNNCell(3, 2)
    wrong.nonlinearity = "no"
    return [*rows, said(lambda: wrong(x[0]))]


def functions(torch: Any) -> Any:
    """Functions of quantized tensors: defaults and refusals."""
    f = torch.ao.nn.quantized.functional
    x, line = _quantized(torch, 1, 2, 4, 4), _quantized(torch, 1, 2, 4)
    plain_x, weight = wave(torch, 1, 2, 4, 4), _weight(torch, 2, 2, 2, 2)
    calls: list[Any] = [
        lambda: f.conv2d(x, weight, None),
        lambda: f.conv2d(x, weight, None, padding_mode="reflect"),
        lambda: f.conv2d(_quantized(torch, 1, 2, 4, 4, dtype="qint8"), weight, None),
        lambda: f.conv2d(x, x, None),
        lambda: f.conv2d(line, weight, None),
        lambda: f.conv1d(x, _weight(torch, 2, 2, 2), None),
        lambda: f.conv1d(line, _weight(torch, 2, 2, 2), None, scale=0.1, zero_point=2),
        lambda: f.conv3d(line, _weight(torch, 2, 2, 2), None),
        lambda: f.linear(_quantized(torch, 2, 3), _weight(torch, 2, 3)),
        lambda: f.linear(_quantized(torch, 2, 3), _weight(torch, 2, 3), wave(torch, 2), 0.2, 9),
        lambda: f.max_pool1d(line, 2),
        lambda: f.max_pool1d(line, 2, 1),
        lambda: f.max_pool1d(line, 2, return_indices=True),
        lambda: f.max_pool2d(x, 2),
        lambda: f.max_pool2d(x, 2, 1),
        lambda: f.max_pool2d(x, 2, return_indices=True),
        lambda: f.leaky_relu(line, 0.1),
        lambda: f.leaky_relu(line, 0.1, scale=0.2, zero_point=5),
        lambda: f.leaky_relu(line, 0.1, scale=0.2),
        lambda: f.threshold(line, 0.5, 1.0),
        lambda: f.threshold(line, None, 1.0),
        lambda: f.threshold(line, 0.5, None),
        lambda: f.hardtanh(line, -0.5, 0.5),
        lambda: f.hardtanh(line, -0.5, 0.5, True),
        lambda: f.clamp(line, -0.5, 0.5),
        lambda: f.celu(line, 0.1, 5),
        lambda: f.elu(line, 0.1, 5, alpha=0.5),
        lambda: f.hardsigmoid(line),
        lambda: f.hardswish(line, 0.1, 5),
        lambda: f.avg_pool2d(x, 2),
        lambda: f.avg_pool2d(plain_x, 2),
        lambda: f.adaptive_avg_pool2d(x, 2),
        lambda: f.interpolate(x, scale_factor=2),
        lambda: f.interpolate(plain_x, scale_factor=2),
        lambda: f.upsample_nearest(x, scale_factor=0.5),
        lambda: f.hardtanh(plain_x),
        lambda: f.clamp(plain_x, 0, 1),
        lambda: f.threshold(plain_x, 0, 1),
        lambda: f.hardswish(plain_x, 1.0, 1),
    ]
    return [_or_said(each) for each in calls]


def activations(torch: Any) -> Any:
    """Activations with and without a dimension."""
    fixed = torch.ao.nn.quantized
    rows: list[Any] = []
    for dims in (1, 2, 3):
        x = _quantized(torch, *[2] * dims)
        for dim in (None, 0, -1):
            layer = fixed.Softmax(dim, 0.01, 1)
            rows.append(_or_said(lambda f=layer, v=x: f(v)))
    layers = fixed.LeakyReLU(0.1, 5), fixed.ELU(0.1, 5), fixed.Hardswish(0.1, 5), fixed.ReLU6()
    layers += (fixed.Sigmoid(0.01, 1),)
    rows += [[repr(f), _or_said(lambda f=f: f(_quantized(torch, 2, 3)))] for f in layers]
    return rows


def refused(torch: Any) -> Any:
    """What cannot be made of what."""
    nn, lib = torch.nn, torch.ao.quantization
    fixed, learned, fused = torch.ao.nn.quantized, torch.ao.nn.qat, torch.ao.nn.intrinsic
    trained, able = fused.qat, torch.ao.nn.quantizable
    config, whole = lib.get_default_qat_qconfig("fbgemm"), nn.Linear(2, 2)
    flat = nn.Linear(2, 2)
    flat.qconfig = lib.QConfig(lib.default_observer, lib.default_observer)
    table = nn.Embedding(3, 2)
    table.qconfig = lib.default_qconfig
    four = lib.QConfig(lib.default_observer, lib.default_weight_observer)
    images = nn.Conv2d(1, 1, 1)
    images.qconfig = four
    norm = nn.BatchNorm1d(2, affine=False)
    still = nn.BatchNorm1d(2, track_running_stats=False)
    tried: list[Any] = [
        lambda: learned.Conv1d.from_float(whole),
        lambda: learned.Conv2d(1, 1, 1),
        lambda: learned.Linear.from_float(images),
        lambda: learned.Linear.from_float(nn.Linear(2, 2)),
        lambda: learned.Embedding.from_float(table),
        lambda: learned.Embedding(2, 2),
        lambda: learned.EmbeddingBag.from_float(nn.Embedding(2, 2)),
        lambda: learned.dynamic.Linear(2, 2, qconfig=config),
        lambda: trained.ConvBn1d(1, 1, 1),
        lambda: trained.ConvBn2d.from_float(images),
        lambda: trained.LinearBn1d(2, 2),
        lambda: trained.LinearBn1d.from_float(whole),
        lambda: trained.LinearReLU.from_float(whole),
        lambda: fixed.Linear.from_float(nn.Bilinear(1, 1, 1)),
        lambda: fixed.Linear.from_float(nn.Linear(2, 2)),
        lambda: fixed.Conv2d.from_float(whole),
        lambda: fixed.Conv2d.from_float(nn.Conv2d(1, 1, 1)),
        lambda: fixed.Conv1d(3, 2, 1, groups=2),
        lambda: fixed.Conv1d(2, 3, 1, groups=2),
        lambda: fixed.Embedding(2, 2, dtype=torch.qint8),
        lambda: fixed.Embedding(2, 2, _weight=torch.ones(3, 2)),
        lambda: fixed.Embedding.from_float(nn.Embedding(2, 2)),
        lambda: fixed.EmbeddingBag.from_float(table),
        lambda: fixed.Embedding.from_float(table),
        lambda: fixed.QFunctional.from_float(fixed.QFunctional()),
        lambda: fixed.dynamic.Linear.from_float(images),
        lambda: fixed.dynamic.Linear.from_float(nn.Linear(2, 2)),
        lambda: fixed.dynamic.Linear(2, 2, dtype=torch.int8),
        lambda: able.LSTM.from_float(whole),
        lambda: able.LSTM.from_float(nn.LSTM(2, 2)),
        lambda: able.LSTM(2, 2, dropout=2.0),
        lambda: able.LSTM(2, 2, dropout=True),
        lambda: able.LSTMCell.from_float(nn.LSTM(2, 2)),
        lambda: able.MultiheadAttention.from_float(whole),
        lambda: able.LSTMCell.from_params(torch.ones(4, 1), torch.ones(4, 1), torch.ones(4), None),
        lambda: lib.fuse_modules(nn.Sequential(whole, nn.ReLU()).train(), ["0", "1"]),
        lambda: lib.fuse_modules(nn.Sequential(nn.Tanh(), nn.ReLU()).eval(), ["0", "1"]),
        lambda: lib.fuse_linear_bn(False, whole, norm.eval()),
        lambda: lib.fuse_linear_bn(True, whole, norm),
        lambda: lib.fuse_linear_bn(True, whole, still),
        lambda: lib.fuse_linear_bn(True, whole, norm.eval()),
        lambda: lib.fuse_conv_bn(True, images, norm.eval()),
        lambda: lib.get_fuser_method((nn.Tanh, nn.ReLU)),
        lambda: fused.ConvReLU2d(whole, nn.ReLU()),
        lambda: fused.LinearBn1d(whole, nn.ReLU()),
    ]
    return [said(each) for each in tried]


CASES = {
    **{"shapes": shapes, "added": added, "dynamic": dynamic, "recurrent": recurrent},
    **{"functions": functions, "activations": activations, "refused": refused},
}
