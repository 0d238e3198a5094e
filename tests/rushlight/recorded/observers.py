"""What observers and fake quantizers make of some values; run here and under torch."""

from __future__ import annotations

from typing import Any

from values import plain, said, wave


def ranges(torch: Any) -> Any:
    """Scales and zero points by dtype, scheme and range."""
    kinds = ["quint8", "qint8", "qint32", "quint4x2", "int8", "uint8", "int16", "uint16"]
    made = []
    for kind in kinds:
        for scheme in ("per_tensor_affine", "per_tensor_symmetric"):
            for low, high in ((None, None), (0, 127), (-127, 127), (-8, 7)):
                observer = torch.ao.quantization.MinMaxObserver(
                    dtype=getattr(torch, kind),
                    qscheme=getattr(torch, scheme),
                    quant_min=low,
                    quant_max=high,
                )
                observer(wave(torch, 2, 3))
                made.append(plain([kind, scheme, low, high, observer.calculate_qparams()]))
    return made


def histories(torch: Any) -> Any:
    """What each observer has seen after three calls, and what follows."""
    lib = torch.ao.quantization
    channels = {"qscheme": torch.per_channel_symmetric, "dtype": torch.qint8, "ch_axis": 1}
    floats = {"qscheme": torch.per_channel_affine_float_qparams}
    makers = [
        *(lib.MinMaxObserver, lib.MovingAverageMinMaxObserver, lib.PerChannelMinMaxObserver),
        *(lib.MovingAveragePerChannelMinMaxObserver, lib.HistogramObserver),
        *(lib.PerChannelMinMaxObserver.with_args(**channels), lib.default_histogram_observer),
        *(lib.MovingAveragePerChannelMinMaxObserver.with_args(**floats), lib.default_observer),
        lib.HistogramObserver.with_args(bins=64, qscheme=torch.per_tensor_symmetric),
        *(lib.FakeQuantize, lib.default_weight_fake_quant, lib.default_embedding_fake_quant),
        *(lib.default_per_channel_weight_fake_quant, lib.default_histogram_fake_quant),
        *(lib.default_fused_act_fake_quant, lib.default_fused_per_channel_wt_fake_quant),
        lib.default_fixed_qparams_range_neg1to1_fake_quant,
    ]
    made = []
    for maker in makers:
        observer = maker()
        values = [observer(wave(torch, 3, 4) * (1 + turn / 3) + turn) for turn in range(3)]
        kept = {key: value for key, value in observer.state_dict().items() if "hist" not in key}
        made.append([plain(values[-1]), plain(observer.calculate_qparams()), plain(kept)])
    return made


def refusals(torch: Any) -> Any:
    """What is said of settings that do not go."""
    lib = torch.ao.quantization
    channels, whole = torch.per_channel_affine, torch.per_tensor_affine
    tried = [
        lambda: lib.MinMaxObserver(dtype=torch.float32),
        lambda: lib.MinMaxObserver(qscheme=channels),
        lambda: lib.MovingAverageMinMaxObserver(qscheme=channels),
        lambda: lib.PerChannelMinMaxObserver(qscheme=whole),
        lambda: lib.HistogramObserver(qscheme=channels),
        lambda: lib.MovingAverageMinMaxObserver(is_dynamic=True),
        lambda: lib.HistogramObserver(is_dynamic=True),
        lambda: lib.MinMaxObserver(quant_min=5, quant_max=300),
        lambda: lib.MinMaxObserver(quant_min=-200, quant_max=100, dtype=torch.qint8),
        lambda: lib.NoopObserver().calculate_qparams(),
        lambda: lib.FakeQuantize(quant_min=5, quant_max=3),
        lambda: lib.FakeQuantize(quant_min=0, quant_max=300),
        lambda: lib.FusedMovingAvgObsFakeQuantize(observer=lib.MinMaxObserver),
        lambda: lib.FixedQParamsFakeQuantize(observer=lib.MinMaxObserver),
        lambda: lib.QConfig(lib.MinMaxObserver(), lib.default_weight_observer),
        lambda: lib.get_default_qconfig("zz"),
        lambda: lib.get_default_qat_qconfig("x86", 2),
    ]
    return [said(each) for each in tried]


def shown(torch: Any) -> Any:
    """How they print."""
    lib = torch.ao.quantization
    observer, fake = lib.PerChannelMinMaxObserver(), lib.default_fused_act_fake_quant()
    observer(wave(torch, 2, 3)), fake(wave(torch, 2, 3))
    wrapped = torch.ao.quantization.QuantWrapper(torch.nn.Linear(2, 2))
    return [repr(each) for each in (observer, fake, lib.PlaceholderObserver(), wrapped)]


CASES = {"ranges": ranges, "histories": histories, "refusals": refusals, "shown": shown}
