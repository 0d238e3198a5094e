"""What freezing adds: each frozen program, and as `eager` the scripted one that it is made of."""

import importlib

import rushlight as torch


def frozen(file: str, name: str):
    """A program of another file, scripted, and frozen."""
    _, scripted, args = importlib.import_module(file).PROGRAMS[name]()
    return scripted, torch.jit.optimize_for_inference(scripted.eval()), args


PROGRAMS = {
    "mlp_frozen": lambda: frozen("sequences", "mlp_batch1"),
    "lstm64_frozen": lambda: frozen("sequences", "lstm64"),
    "decoder_frozen": lambda: frozen("streams", "gru_decoder"),
    "voice_frozen": lambda: frozen("streams", "voice_chunk"),
    "resnet18_frozen": lambda: frozen("vision", "resnet18_b1"),
    "mobilenetv2_frozen": lambda: frozen("vision", "mobilenetv2_b1"),
    "encoder_frozen": lambda: frozen("matrices", "encoder_layer"),
}
