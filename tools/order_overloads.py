"""Write tests/ops/data/overload_order.txt: in which order torch tries the overloads of a name.

    PYTHON_WITH_TORCH tools/order_overloads.py > tests/ops/data/overload_order.txt

The order decides which overload a call means, so it is part of the language; declarations say it
(`order=`), and a test compares.
"""

from __future__ import annotations

import torch


def main() -> None:
    """Print a line for every operator name with several overloads; `-` is the nameless one."""
    names = sorted({schema.name for schema in torch._C._jit_get_all_schemas()})
    for name in names:
        overloads = [s.overload_name for s in torch._C._jit_get_schemas_for_operator(name)]
        if len(overloads) > 1 and name.startswith(
            ("aten::", "prim::", "profiler::", "quantized::")
        ):
            print(name, *(overload or "-" for overload in overloads))


if __name__ == "__main__":
    main()
