"""Write down the graph and code text of small programs; run by a Python that has torch 2.13.

    python tools/record_printed_code.py tests/serialization/cases/printed_code.txt

The file is read and written in place.  A case is a line `=== name` and the program, which defines
a function of that name; the tool fills in what follows: `--- schema`, `--- graph` (without
comments) and `--- code`.  The head of the file lists the schemas of the operators in the graphs.
"""

from __future__ import annotations

import linecache
import re
import sys
from pathlib import Path
from typing import Any

import torch

HEAD = "# torch's graphs and code; written by tools/record_printed_code.py\n"


def script(name: str, source: str) -> Any:
    """The compiled function `name` of a program."""
    filename = f"<{name}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    module = {"torch": torch, "__name__": "cases"}
    exec(compile("from typing import *\nfrom torch import Tensor\n", "<head>", "exec"), module)
    exec(compile(source, filename, "exec"), module)
    return torch.jit.script(module[name])


def schemas(graph: Any) -> set[str]:
    """The schemas of all operators in a graph."""
    nodes = [n for kind in ("aten", "prim") for n in all_nodes(graph) if n.kind().startswith(kind)]
    return {n.schema() for n in nodes if n.schema() not in ("", "(no schema)")}


def all_nodes(block: Any) -> list[Any]:
    """The nodes of a graph or block, inner ones included."""
    found = []
    for node in block.nodes():
        found.append(node)
        for inner in node.blocks():
            found += all_nodes(inner)
    return found


def record(name: str, source: str, operators: set[str]) -> str:
    """One case, written anew."""
    function = script(name, source)
    operators |= schemas(function.graph)
    graph = re.sub(r" # <?[^\n]*:\d+:\d+$", "", str(function.graph), flags=re.MULTILINE)
    parts = [f"=== {name}\n{source}--- schema\n{function.schema}\n"]
    parts.append(f"--- graph\n{graph.strip()}\n--- code\n{function.code}")
    return "".join(parts)


def main() -> None:
    path = Path(sys.argv[1])
    cases = re.findall(r"^=== (\w+)\n(.*?)(?=^===|\Z)", path.read_text(), re.M | re.S)
    operators: set[str] = set()
    done = [record(name, body.split("--- schema\n")[0], operators) for name, body in cases]
    path.write_text(HEAD + "".join(f"{s}\n" for s in sorted(operators)) + "".join(done))


if __name__ == "__main__":
    main()
