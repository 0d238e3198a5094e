"""The table's families, a file each; importing them fills it."""

from . import arithmetic as arithmetic
from . import attention as attention
from . import bags as bags
from . import comparisons as comparisons
from . import complex_numbers as complex_numbers
from . import convolutions as convolutions
from . import detection as detection
from . import factories as factories
from . import indexing as indexing
from . import losses as losses
from . import norms as norms
from . import numbers as numbers
from . import pointwise as pointwise
from . import pools as pools
from . import products as products
from . import quantized as quantized
from . import recurrent as recurrent
from . import reductions as reductions
from . import resizing as resizing
from . import shapes as shapes
from . import sorting as sorting
from . import transforms as transforms
from . import views as views
from . import windows as windows
