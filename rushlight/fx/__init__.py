"""`torch.fx`: modules and functions as graphs of calls that Python code can read and change.

traced = rushlight.fx.symbolic_trace(model)   # a GraphModule
print(traced.graph)                           # the nodes
print(traced.code)                            # the Python code made of them
"""

from __future__ import annotations

from ..module_names import names_of
from ._symbolic_trace import PH as PH
from ._symbolic_trace import ProxyableClassMeta as ProxyableClassMeta
from ._symbolic_trace import Tracer, symbolic_trace, wrap
from .graph import CodeGen as CodeGen
from .graph import Graph
from .graph_module import GraphModule
from .interpreter import Interpreter, Transformer
from .node import Node, has_side_effect, map_arg
from .proxy import Proxy
from .subgraph_rewriter import replace_pattern

__all__ = [
    "Graph",
    "GraphModule",
    "Interpreter",
    "Node",
    "Proxy",
    "Tracer",
    "Transformer",
    "has_side_effect",
    "map_arg",
    "replace_pattern",
    "symbolic_trace",
    "wrap",
]

__getattr__ = names_of(
    __name__,
    *(
        "_compatibility",
        "annotate",
        "config",
        "experimental",
        "operator_schemas",
        "passes",
        "tensor_type",
    ),
)
