"""Writes the archives beside this file; run it with a Python that has PyTorch 2.13."""

import linecache
import os
import warnings

import torch

os.chdir(os.path.dirname(os.path.abspath(__file__)))
warnings.simplefilter("ignore")
NAME = "sample_module.py"
with open(NAME) as file:
    text = file.read()
# under a plain name, so that no path of this machine gets into the debug records
linecache.cache[NAME] = (len(text), None, text.splitlines(True), NAME)
space = {"__name__": "sample_module"}
exec(compile(text, NAME, "exec"), space)
import sys  # noqa: E402
import types  # noqa: E402

module = sys.modules["sample_module"] = types.ModuleType("sample_module")
vars(module).update(space)
module.__file__ = NAME
torch.jit.script(space["Sample"]()).save("sample.pt")
torch.jit.script(space["scale"]).save("function.pt")
torch.jit.save_jit_module_to_flatbuffer(
    torch.jit.script(space["Mobile"]()), "mobile.ff", _extra_files={"note": "hi"}
)
scaled = torch.jit.script(space["Reshaped"]())
scaled._save_for_lite_interpreter("mobile_debug.ptl", _save_mobile_debug_info=True)
torch.jit.script(space["Sparse"]()).save("sparse.pt")

tools = torch.ao.quantization
torch.manual_seed(0)
torch.backends.quantized.engine = "fbgemm"
quantized = torch.nn.Sequential(
    tools.QuantStub(), torch.nn.Conv2d(2, 3, 1), tools.DeQuantStub()
).eval()
quantized.qconfig = tools.get_default_qconfig("fbgemm")
tools.prepare(quantized, inplace=True)
quantized(torch.rand(1, 2, 4, 4))
tools.convert(quantized, inplace=True)
# the file here was deflated afterwards, and its debug records left out
torch.jit.script(quantized)._save_for_lite_interpreter("mobile_quantized.ptl")
