"""Random programs over ints and one list, full of exits, that always end."""

from __future__ import annotations

from hypothesis import strategies as st

EXPRESSIONS = ("a", "b", "c", "a + b", "a - 1", "c * 2", "len(xs)", "3", "-1", "xs[0]")
TESTS = ("a > b", "b < 3", "c == 2", "a > 1 and b > 2", "a < 0 or c == a", "not (a > 3)")


@st.composite
def programs(draw: st.DrawFn) -> str:
    """`def f(a: int, b: int, xs: List[int]) -> int`, its text."""
    lines = ["def f(a: int, b: int, xs: List[int]) -> int:", "    c = 0"]
    lines += draw(blocks(1, False))
    lines.append(f"    return {draw(st.sampled_from(EXPRESSIONS))}")
    return "\n".join(lines)


@st.composite
def blocks(draw: st.DrawFn, depth: int, in_loop: bool) -> list[str]:
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        indent = "    " * depth
        forms = ["assign", "assign", "append"]
        if depth < 4:
            forms += ["if", "if", "for", "while"]
        if depth > 1:
            forms += ["return", "raise", "break", "continue"] if in_loop else ["return", "raise"]
        form = draw(st.sampled_from(forms))
        if form == "assign":
            target = draw(st.sampled_from("abc"))
            operator = draw(st.sampled_from(("=", "+=", "-=")))
            lines.append(f"{indent}{target} {operator} {draw(st.sampled_from(EXPRESSIONS))}")
        elif form == "append":
            lines.append(f"{indent}xs.append(a)")
        elif form == "if":
            lines.append(f"{indent}if {draw(st.sampled_from(TESTS))}:")
            lines += draw(blocks(depth + 1, in_loop))
            if draw(st.booleans()):
                lines.append(f"{indent}else:")
                lines += draw(blocks(depth + 1, in_loop))
        elif form == "for":
            head = ("range(3)", "range(1, 6, 2)", "[4, 5]")
            lines.append(f"{indent}for i in {draw(st.sampled_from(head))}:")
            lines += [f"{indent}    b += i", *draw(blocks(depth + 1, True))]
        elif form == "while":
            lines += [f"{indent}n{depth} = 3", f"{indent}while n{depth} > 0:"]
            lines += [f"{indent}    n{depth} -= 1", *draw(blocks(depth + 1, True))]
        else:
            value = draw(st.sampled_from(EXPRESSIONS))
            texts = {"return": f"return {value}", "raise": 'raise ValueError("x")'}
            lines.append(indent + texts.get(form, form))
            break
    return lines
