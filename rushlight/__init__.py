"""TorchScript without PyTorch; `import rushlight as torch`."""

from pathlib import Path

# In a checkout the parts lie beside this folder, not in it: ir/ is rushlight.ir.
if not (Path(__file__).parent / "ir").is_dir():
    __path__.append(str(Path(__file__).parent.parent))
