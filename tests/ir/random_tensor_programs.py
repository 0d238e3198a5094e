"""Random programs over tensors, views of them, lists of them, and changes in place."""

from __future__ import annotations

from hypothesis import strategies as st

VALUES = (
    "x + y",
    "x * 2",
    "y.relu()",
    "z - x",
    "x.view([4])",
    "y.t()",
    "z.t()",
    "x.select(0, 1)",
    "torch.cat([x, y], 0)",
    "torch.zeros([2, 2])",
    "torch.ones([2, 2]) + x",
    "items[0]",
    "x.clone()",
    "pair[0]",
    "pair[1] + 1",
)
CHANGES = (
    "x.add_(1)",
    "y.mul_(2)",
    "z.relu_()",
    "w.zero_()",
    "w.fill_(3)",
    "v.add_(v)",
    "items.append(x)",
    "items.append(torch.ones([2, 2]))",
    "items[0].add_(1)",
    "numbers.append(3)",
    "numbers[0] = numbers[0] + 1",
)
RESULT = "(x, y, z, w, v, items, numbers, pair)"


@st.composite
def tensor_programs(draw: st.DrawFn) -> str:
    """`def f(x, y, n: int)`, its text."""
    lines = [
        "def f(x: torch.Tensor, y: torch.Tensor, n: int):",
        "    z = x + y",
        "    w = torch.zeros([2, 2])",
        "    v = x.view([2, 2])",
        "    items = [x, y]",
        "    numbers = [1, 2]",
        "    pair = (x, z)",
    ]
    lines += draw(_statements(1, 6))
    lines.append(f"    return {RESULT}")
    return "\n".join(lines)


@st.composite
def _statements(draw: st.DrawFn, depth: int, most: int) -> list[str]:
    lines: list[str] = []
    indent = "    " * depth
    for _ in range(draw(st.integers(1, most))):
        form = draw(st.sampled_from(["value", "value", "change", "change", "pair", "if", "for"]))
        if form == "value":
            lines.append(
                f"{indent}{draw(st.sampled_from('zwv'))} = {draw(st.sampled_from(VALUES))}"
            )
        elif form == "change":
            lines.append(indent + draw(st.sampled_from(CHANGES)))
        elif form == "pair":
            lines.append(f"{indent}pair = (w, z)")
        elif depth < 3:
            head = "if n > 1:" if form == "if" else f"for i in range({draw(_rounds)}):"
            lines += [indent + head, *draw(_statements(depth + 1, 3))]
    return lines or [f"{indent}z = z + 1"]


_rounds = st.sampled_from(["2", "n", "3"])
