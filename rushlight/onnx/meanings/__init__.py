"""What ONNX operators mean, a file a family; importing them fills the table."""

from . import detection as detection
from . import layers as layers
from . import pointwise as pointwise
from . import reductions as reductions
from . import shapes as shapes
from . import transforms as transforms
