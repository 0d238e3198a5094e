"""Filters whose outputs depend on earlier ones, sample by sample.

A. V. Oppenheim and R. W. Schafer, "Discrete-Time Signal Processing", section 6.1: the difference
equation of a recursive filter.  The overdrive is that of SoX.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from ..kernels import family
from ..memory.dtype import Array, dtype_of
from ..memory.versions import written
from ..table.refusals import not_implemented
from .declaring import audio, require, require_contiguous

_FLOATS: Final = (np.dtype(np.float32), np.dtype(np.float64))


@audio(
    "_lfilter_core_loop(Tensor input_signal_windows, Tensor a_coeff_flipped, "
    "Tensor(a!) padded_output_waveform) -> Tensor(a!)"
)
def lfilter_core_loop(
    input_signal_windows: Array, a_coeff_flipped: Array, padded_output_waveform: Array
) -> Array:
    """Take from inputs (batch, channel, time) what earlier outputs add to them.

    The outputs, (batch, channel, order - 1 + time), begin with `order - 1` that are known.
    """
    inputs, coefficients, outputs = input_signal_windows, a_coeff_flipped, padded_output_waveform
    _check_filter(inputs, coefficients, outputs)
    written(outputs)
    recursions = family("sequences.recursions")
    if recursions is not None:
        recursions.filtered(inputs, coefficients, outputs)
        return outputs
    order = coefficients.shape[1]
    for time in range(inputs.shape[2]):
        sample = inputs[:, :, time].copy()
        for place in range(order):
            sample -= outputs[:, :, time + place] * coefficients[:, place]
        outputs[:, :, time + order - 1] = sample
    return outputs


def _check_filter(inputs: Array, coefficients: Array, outputs: Array) -> None:
    require_contiguous(
        input_signal_windows=inputs,
        a_coeff_flipped=coefficients,
        padded_output_waveform=outputs,
    )
    if inputs.dtype not in _FLOATS:
        raise not_implemented("_lfilter_core_loop", inputs.dtype)
    _require_dtype_of(inputs, coefficients, outputs)
    require(inputs.ndim == 3 and outputs.ndim == 3, "waveforms must be 3-D (batch, channel, time)")
    require(
        coefficients.ndim == 2 and coefficients.shape[0] == inputs.shape[1],
        "a_coeff_flipped must be 2-D (channel, order)",
    )
    batch, channels, samples = inputs.shape
    order = coefficients.shape[1]
    require(
        order > 0 and outputs.shape == (batch, channels, samples + order - 1),
        "padded_output_waveform must have order - 1 samples more than input_signal_windows",
    )


@audio(
    "_overdrive_core_loop(Tensor waveform, Tensor temp, Tensor(a!) last_in, Tensor(b!) last_out, "
    "Tensor(c!) output_waveform) -> (Tensor(a!), Tensor(b!), Tensor(c!))"
)
def overdrive_core_loop(
    waveform: Array, temp: Array, last_in: Array, last_out: Array, output_waveform: Array
) -> tuple[Array, Array, Array]:
    """Half a waveform (channel, time), and three quarters of what distorts it without its mean.

    Sums are of float64, whatever the waveform is of.
    """
    _check_overdrive(waveform, temp, last_in, last_out, output_waveform)
    arrays = (waveform, temp, last_in, last_out, output_waveform)
    for each in arrays[2:]:
        written(each)
    recursions = family("sequences.recursions")
    if recursions is not None and all(each.flags.c_contiguous for each in arrays):
        recursions.overdriven(*arrays)
        return last_in, last_out, output_waveform
    wide = np.float64
    for time in range(waveform.shape[1]):
        step = temp[:, time] - last_in
        last_out[...] = step.astype(wide) + 0.995 * last_out.astype(wide)
        last_in[...] = temp[:, time]
        output_waveform[:, time] = (
            waveform[:, time].astype(wide) * 0.5 + last_out.astype(wide) * 0.75
        )
    return last_in, last_out, output_waveform


def _check_overdrive(
    waveform: Array, temp: Array, last_in: Array, last_out: Array, output_waveform: Array
) -> None:
    if waveform.dtype not in _FLOATS:
        raise not_implemented("overdrive_cpu", waveform.dtype)
    require(waveform.ndim == 2, "waveform must be 2-D (channel, time)")
    for name, each in (("temp", temp), ("output_waveform", output_waveform)):
        require(each.shape == waveform.shape, f"{name} must have the shape of waveform")
    for name, each in (("last_in", last_in), ("last_out", last_out)):
        require(each.shape == waveform.shape[:1], f"{name} must be 1-D (channel,)")
    _require_dtype_of(waveform, temp, last_in, last_out, output_waveform)


def _require_dtype_of(first: Array, *others: Array) -> None:
    for each in others:
        require(
            each.dtype == first.dtype,
            f"expected scalar type {dtype_of(first).scalar_name} but found "
            f"{dtype_of(each).scalar_name}",
        )
